// Package nav is what the screens and the root model say to each other: the
// contract of a screen, the places one can go, requests and their results,
// saves, and the keys.
//
// It promises that two screens never need to know each other: going somewhere
// is a message with a Place in it. It draws nothing and starts nothing.
package nav

import (
	tea "charm.land/bubbletea/v2"
)

// Screen is one screen of the trainer. It does no I/O in Update or View: what
// takes time is a tea.Cmd made by Requests.Do, what must not be lost is a Save.
type Screen interface {
	// Update takes a message and returns what to do next, nil for nothing.
	Update(msg tea.Msg) tea.Cmd
	// View draws exactly the area that it is given, w columns by h lines, and
	// says where the terminal's cursor stands in it, nil for nowhere.
	View(w, h int) (string, *tea.Cursor)
	// Keys are the keys that work now, the most useful first.
	Keys() []Key
	// Title is the screen's part of the trail at the top left.
	Title() string
	// Strip is the device line at the top right; "" shows the default device.
	Strip() string
	// Typing says that letters go into an input, so that ? and q are text.
	Typing() bool
	// Owner tells this screen's results from those of the others.
	Owner() int
	// Close cancels what the screen started. Saves are not cancelled.
	Close()
}

// Holder is a screen that may hold something typed which no store has yet.
type Holder interface {
	// Hold takes it into the session and returns the saves that keep it.
	Hold() []Save
}

// Kind names a screen.
type Kind string

// The screens.
const (
	Home      Kind = "home"
	Quiz      Kind = "quiz"
	Topics    Kind = "topics"
	Interview Kind = "interview"
	Lessons   Kind = "lessons"
	Lesson    Kind = "lesson"
	Labs      Kind = "labs"
	Lab       Kind = "lab"
	Records   Kind = "records"
	Export    Kind = "export"
	Device    Kind = "device"
)

// Place is somewhere to go. ID is the topic of a quiz, or the lesson, lab or
// record to open; "" is the list of them.
type Place struct {
	Kind Kind
	ID   string
	// Due asks a quiz for what is due first.
	Due bool
	// Resume goes on with the session that was left.
	Resume bool
	// Questions restricts a quiz to these ids.
	Questions []string
}

// Go asks the root model to show a place on top of the present screen.
type Go struct{ Place Place }

// Swap asks the root model to leave the present screen and show a place
// instead of it.
type Swap struct{ Place Place }

// Back asks the root model to leave the present screen.
type Back struct{}

// Quit asks the root model to leave the program once the saves are done.
type Quit struct{}

// Shown tells a screen that it is on top again.
type Shown struct{}

// Themed tells a screen that the theme has changed.
type Themed struct{}

// Level says how a notice is meant.
type Level int

// The levels of a notice.
const (
	Info Level = iota
	Good
	Warn
	Bad
)

// Notice is one line shown above the footer until the next key.
type Notice struct {
	Level Level
	Text  string
}

// To returns the command that goes to a place.
func To(p Place) tea.Cmd { return func() tea.Msg { return Go{p} } }

// Instead returns the command that leaves for a place.
func Instead(p Place) tea.Cmd { return func() tea.Msg { return Swap{p} } }

// Leave is the command that goes back.
func Leave() tea.Msg { return Back{} }

// Tell returns the command that shows a notice.
func Tell(l Level, text string) tea.Cmd { return func() tea.Msg { return Notice{l, text} } }
