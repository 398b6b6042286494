// Package ask puts one question on the screen and takes its answer by
// keyboard: one of several, several, an order, a line or a text, and how sure
// the learner is.
//
// It promises that nothing is answered before the learner has said so on the
// confidence bar, with enter. It does not grade.
package ask

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/quiz"
)

// What a key did.
const (
	Ignored = iota // the key is not for the form
	Changed        // something on the form changed
	Sure           // the confidence changed
	Submit         // the learner gave the answer
)

// Form is the answer to one question while it is being given.
type Form struct {
	In    *quiz.Instance
	t     *theme.Theme
	md    *widget.Markdown
	onBar bool // the focus is on the confidence bar
	sure  int
	need  bool // confidence must be said

	list   widget.List
	picked []bool
	order  []int
	line   *widget.Line
	text   *widget.Text
	Note   string // why the last key was refused
}

// New returns an empty form. With mustBeSure, an answer without a confidence is
// refused.
func New(t *theme.Theme, md *widget.Markdown, in *quiz.Instance, mustBeSure bool) *Form {
	f := &Form{In: in, t: t, md: md, need: mustBeSure}
	n := len(in.Choices)
	f.list.Resize(n)
	f.picked = make([]bool, n)
	f.order = make([]int, n)
	for i := range f.order {
		f.order[i] = i
	}
	switch in.Input() {
	case quiz.TypeText:
		f.line = widget.NewLine("> ", "")
	case quiz.Speak:
		f.text = widget.NewText("")
	}
	return f
}

// Fill puts an answer that was given before into the form.
func (f *Form) Fill(a quiz.Answer, sure int) {
	f.sure = sure
	for _, i := range a.Picks {
		if i >= 0 && i < len(f.picked) {
			f.picked[i] = true
			f.list.At = i
		}
	}
	if len(a.Order) == len(f.order) {
		f.order = append([]int(nil), a.Order...)
	}
	if f.line != nil {
		f.line.Set(a.Text)
	}
	if f.text != nil && a.Text != "" {
		f.text = widget.NewText(a.Text)
	}
}

// Answer is what the form holds.
func (f *Form) Answer() quiz.Answer {
	switch f.In.Input() {
	case quiz.PickOne, quiz.PickMany:
		a := quiz.Answer{Picks: []int{}}
		for i, on := range f.picked {
			if on {
				a.Picks = append(a.Picks, i)
			}
		}
		return a
	case quiz.PickOrder:
		return quiz.Answer{Order: append([]int(nil), f.order...)}
	case quiz.TypeText:
		return quiz.Answer{Text: strings.TrimSpace(f.line.Value())}
	}
	return quiz.Answer{Text: f.text.Value()}
}

// Sure is how sure the learner is in per cent, 0 if it was not said.
func (f *Form) Sure() int { return f.sure }

// Typing says that letters go into an input.
func (f *Form) Typing() bool { return !f.onBar && (f.line != nil || f.text != nil) }

// Update takes a key or a paste.
func (f *Form) Update(msg tea.Msg) int {
	f.Note = ""
	key, isKey := msg.(tea.KeyPressMsg)
	if !isKey {
		if f.Typing() {
			f.enter(msg)
			return Changed
		}
		return Ignored
	}
	switch {
	case tabKey.Is(key):
		f.onBar = !f.onBar
		return Changed
	case f.onBar:
		return f.barKey(key)
	case f.line != nil && nav.EnterKey.Is(key):
		return f.toBar()
	case f.Typing():
		f.enter(msg)
		return Changed
	}
	return f.choiceKey(key)
}

func (f *Form) enter(msg tea.Msg) {
	if f.line != nil {
		f.line.Update(msg)
	} else {
		f.text.Update(msg)
	}
}

func (f *Form) toBar() int {
	f.onBar = true
	return Changed
}

func (f *Form) barKey(key tea.KeyPressMsg) int {
	switch {
	case nav.EnterKey.Is(key):
		if why := f.missing(); why != "" {
			f.Note = why
			return Changed
		}
		return Submit
	case lessKey.Is(key):
		f.sure = widget.NextLevel(f.sure, -1)
		return Sure
	case moreKey.Is(key):
		if f.sure == 0 {
			f.sure = 50
		} else {
			f.sure = widget.NextLevel(f.sure, 1)
		}
		return Sure
	case nav.UpKey.Is(key):
		f.onBar = false
		return Changed
	case levelKey.Is(key):
		n := int(key.String()[0] - '0')
		if n == 0 {
			n = 10
		}
		f.sure = n * 10
		return Sure
	}
	return Ignored
}

// missing says what is not filled in yet, "" for nothing.
func (f *Form) missing() string {
	switch f.In.Input() {
	case quiz.PickOne:
		if len(f.Answer().Picks) == 0 {
			return "Choose one first (↑, then a number)."
		}
	case quiz.TypeText:
		if f.Answer().Text == "" {
			return "Type an answer first (tab goes back to it)."
		}
	}
	if f.need && f.sure == 0 {
		return "Say how sure you are first: 5 to 9 for 50 to 90, 0 for 100."
	}
	return ""
}

func (f *Form) choiceKey(key tea.KeyPressMsg) int {
	many, order := f.In.Input() == quiz.PickMany, f.In.Input() == quiz.PickOrder
	switch {
	case order && moveDown.Is(key):
		f.move(1)
	case order && moveUp.Is(key):
		f.move(-1)
	case nav.UpKey.Is(key):
		f.list.Move(-1)
	case nav.DownKey.Is(key):
		if f.list.At == f.list.N-1 && (many || order) {
			return f.toBar()
		}
		f.list.Move(1)
	case many && toggleKey.Is(key):
		f.picked[f.list.At] = !f.picked[f.list.At]
	case nav.EnterKey.Is(key):
		if f.In.Input() == quiz.PickOne {
			f.pick(f.list.At)
		}
		return f.toBar()
	case numberKey.Is(key):
		return f.number(int(key.String()[0] - '1'))
	default:
		return Ignored
	}
	return Changed
}

func (f *Form) number(i int) int {
	if i >= f.list.N {
		f.Note = fmt.Sprintf("There are %d to choose from.", f.list.N)
		return Changed
	}
	f.list.At = i
	switch f.In.Input() {
	case quiz.PickOne:
		f.pick(i)
		return f.toBar()
	case quiz.PickMany:
		f.picked[i] = !f.picked[i]
	}
	return Changed
}

func (f *Form) pick(i int) {
	for k := range f.picked {
		f.picked[k] = k == i
	}
}

// move carries the step under the cursor up or down.
func (f *Form) move(n int) {
	i, j := f.list.At, f.list.At+n
	if j < 0 || j >= len(f.order) {
		return
	}
	f.order[i], f.order[j] = f.order[j], f.order[i]
	f.list.At = j
}
