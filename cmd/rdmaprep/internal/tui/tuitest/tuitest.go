// Package tuitest drives the root model without a terminal, a goroutine or a
// wall clock: keys go in, commands run at once and in order, and the frame
// comes out as plain text.
//
// It promises that every frame it saw fits: as many lines as the terminal has,
// none wider, valid UTF-8, the cursor inside. Time passes only when a test
// says so.
package tuitest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Model is what the harness drives: tui.Model.
type Model interface {
	Init() tea.Cmd
	Update(tea.Msg) (tea.Model, tea.Cmd)
	Frame() (string, *tea.Cursor)
}

// stepLimit bounds how many messages one key may lead to.
const stepLimit = 2000

// Term is a terminal with a model on it.
type Term struct {
	tb      testing.TB
	m       Model
	w, h    int
	clock   *Clock
	Quit    bool // the program ended
	Suspend int  // how often it was suspended
	steps   int
}

// Clock is a wall clock that stands still until Advance.
type Clock struct {
	now   time.Time
	ticks []tick
}

type tick struct {
	at time.Time
	fn func(time.Time) tea.Msg
}

// NewClock begins on a Thursday at 09:00 UTC.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)} }

// Now is the time on the clock.
func (c *Clock) Now() time.Time { return c.now }

// Tick stands in for tea.Tick.
func (c *Clock) Tick(d time.Duration, fn func(time.Time) tea.Msg) tea.Cmd {
	return func() tea.Msg { return tick{c.now.Add(d), fn} }
}

// New puts a model on a terminal of w columns and h lines.
func New(tb testing.TB, m Model, clock *Clock, w, h int) *Term {
	tb.Helper()
	t := &Term{tb: tb, m: m, w: w, h: h, clock: clock}
	t.run(m.Init())
	t.Send(tea.WindowSizeMsg{Width: w, Height: h})
	return t
}

// Model is what is on the terminal.
func (t *Term) Model() Model { return t.m }

// Send hands a message to the model and runs what follows from it.
func (t *Term) Send(msg tea.Msg) {
	t.tb.Helper()
	t.steps = 0
	t.send(msg)
	t.check()
}

// Resize changes the size of the terminal.
func (t *Term) Resize(w, h int) {
	t.w, t.h = w, h
	t.Send(tea.WindowSizeMsg{Width: w, Height: h})
}

// Keys presses keys, named as tea names them: "a", "enter", "ctrl+c", "shift+tab".
func (t *Term) Keys(names ...string) {
	t.tb.Helper()
	for _, n := range names {
		t.Send(Press(n))
	}
}

// Type presses one key for each character of text.
func (t *Term) Type(text string) {
	t.tb.Helper()
	for _, r := range text {
		t.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// Advance lets d pass, and what was to happen meanwhile happen.
func (t *Term) Advance(d time.Duration) {
	t.tb.Helper()
	end := t.clock.now.Add(d)
	for {
		next := -1
		for i, k := range t.clock.ticks {
			if !k.at.After(end) && (next < 0 || k.at.Before(t.clock.ticks[next].at)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		k := t.clock.ticks[next]
		t.clock.ticks = append(t.clock.ticks[:next], t.clock.ticks[next+1:]...)
		t.clock.now = k.at
		t.Send(k.fn(k.at))
	}
	t.clock.now = end
	t.check()
}

func (t *Term) send(msg tea.Msg) {
	t.tb.Helper()
	if t.steps++; t.steps > stepLimit {
		t.tb.Fatalf("one key led to more than %d messages", stepLimit)
	}
	_, cmd := t.m.Update(msg)
	t.run(cmd)
}

func (t *Term) run(cmd tea.Cmd) {
	t.tb.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			t.run(c)
		}
	case tea.QuitMsg:
		t.Quit = true
	case tea.SuspendMsg:
		t.Suspend++
		t.send(tea.ResumeMsg{})
	case tick:
		t.clock.ticks = append(t.clock.ticks, msg)
	default:
		if ty := reflect.TypeOf(msg); strings.HasPrefix(ty.PkgPath(), "charm.land/bubbletea") {
			t.internal(ty.Name())
			return
		}
		t.send(msg)
	}
}

// internal knows the messages that only the runtime understands.
func (t *Term) internal(name string) {
	t.tb.Helper()
	switch name {
	case "backgroundColorMsg", "clearScreenMsg":
	default:
		t.tb.Fatalf("the harness cannot run the command that gave %s", name)
	}
}

// Screen is the frame as plain text, blanks at the ends of lines left out,
// with the place of the cursor below it if there is one.
func (t *Term) Screen() string {
	frame, cur := t.m.Frame()
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	out := strings.Join(lines, "\n")
	if cur != nil {
		out += fmt.Sprintf("\n(cursor %d,%d)", cur.X, cur.Y)
	}
	return out
}

// Styled is the frame with its escape codes.
func (t *Term) Styled() string {
	frame, _ := t.m.Frame()
	return frame
}

func (t *Term) check() {
	t.tb.Helper()
	if t.Quit {
		return
	}
	frame, cur := t.m.Frame()
	if frame == "" {
		return
	}
	if why := Misfit(frame, cur, t.w, t.h); why != "" {
		t.tb.Errorf("at %dx%d: %s\n%s", t.w, t.h, why, t.Screen())
	}
}

// Misfit says why a frame does not fit w columns by h lines, "" if it does.
func Misfit(frame string, cur *tea.Cursor, w, h int) string {
	if !utf8.ValidString(frame) {
		return "the frame is not valid UTF-8"
	}
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		return fmt.Sprintf("the frame has %d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			return fmt.Sprintf("line %d is %d columns wide, want at most %d: %q", i, n, w, ansi.Strip(l))
		}
		if strings.ContainsAny(ansi.Strip(l), "\t\r\a\x7f") {
			return fmt.Sprintf("line %d has a control character: %q", i, l)
		}
	}
	if cur != nil && (cur.X < 0 || cur.X >= w || cur.Y < 0 || cur.Y >= h) {
		return fmt.Sprintf("the cursor is at %d,%d, outside of %dx%d", cur.X, cur.Y, w, h)
	}
	return ""
}
