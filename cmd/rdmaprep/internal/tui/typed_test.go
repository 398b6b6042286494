package tui_test

import (
	"context"
	"strings"
	"testing"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/tuitest"
)

// again starts the trainer another time over the same store.
func (on *world) again(t *testing.T, place nav.Place) *world {
	t.Helper()
	svc := study.New(packOf(t), opener, on.store, on.clock.Now, &counting{n: 100})
	m := tui.New(tui.Config{
		Ctx: context.Background(), Backend: tui.NewBackend(svc), Device: "MODEL spec",
		Now: on.clock.Now, Tick: on.clock.Tick, Start: place,
	})
	return &world{Term: tuitest.New(t, m, on.clock, 120, 40), model: m, store: on.store, clock: on.clock}
}

func (on *world) shows(t *testing.T, text string) {
	t.Helper()
	if s := on.Screen(); !strings.Contains(s, text) {
		t.Errorf("the screen does not show %q:\n%s", text, s)
	}
}

// What was typed and not given is there again, however the question, the lab or
// the program was left.
func TestTypedTextIsNotLost(t *testing.T) {
	const text = "The adapter moves it."
	quiz := nav.Place{Kind: nav.Quiz, Questions: []string{"basics.talk", "basics.one-sided"}}
	for _, way := range []string{"esc", "ctrl+c"} {
		on := start(t, 120, 40, quiz)
		on.Type(text)
		on.Keys(way)
		on = on.again(t, nav.Place{Kind: nav.Quiz, Resume: true})
		on.shows(t, text)
		on.Keys("tab", "8", "enter", "y", "y", "y", "y", "enter")
		if len(on.store.log) != 1 || on.store.log[0].Answer.Text != text {
			t.Errorf("%s: given after the resume: %+v", way, on.store.log)
		}
	}
	// To another question and back; an undo before the grade.
	on := start(t, 120, 40, quiz)
	on.Type(text)
	on.Keys("tab", "n")
	if strings.Contains(on.Screen(), text) {
		t.Errorf("the text stays on another question:\n%s", on.Screen())
	}
	on.Keys("p")
	on.shows(t, text)
	on.Keys("tab", "enter", "u")
	on.shows(t, text)

	for _, way := range []string{"esc", "ctrl+c"} {
		on := start(t, 120, 40, nav.Place{Kind: nav.Lab, ID: "first-write"})
		on.Keys("1", "9", "enter", "enter", "1", "8", "enter", "enter", "1", "7", "enter", "enter")
		on.shows(t, "What changes at larger scale?")
		on.Type(text)
		on.Keys(way)
		on = on.again(t, nav.Place{Kind: nav.Lab, ID: "first-write"})
		on.shows(t, text)
	}
}

// A full disk does not make the text vanish in silence: the first ctrl+c says
// that it cannot be kept, and only a further one loses it.
func TestTypedTextOnAFullDisk(t *testing.T) {
	on := start(t, 120, 40, nav.Place{Kind: nav.Quiz, Questions: []string{"basics.talk"}})
	on.Type("The adapter")
	on.store.Full = true
	on.Keys("ctrl+c")
	if on.Quit {
		t.Fatal("the program has ended and the text is lost")
	}
	on.shows(t, "NOT SAVED: where you are in the quiz. ctrl+r tries again.")
	on.Keys("ctrl+c")
	on.shows(t, "Quit again to lose it")
	on.Keys("ctrl+c")
	if !on.Quit {
		t.Error("a third ctrl+c does not end the program")
	}
}

// A check of a lesson keeps what was typed while the lesson is open; leaving the
// lesson, which keeps no place, asks first.
func TestTypedTextInALesson(t *testing.T) {
	const text = "The adapter moves it."
	lib := packOf(t)
	for _, q := range lib.Questions {
		for i := range lib.Lessons[0].Blocks {
			if b := &lib.Lessons[0].Blocks[i]; b.Check != nil && q.ID == "basics.talk" {
				b.Check = q
			}
		}
	}
	on := startWith(t, lib, 120, 40, nav.Place{Kind: nav.Lesson, ID: lib.Lessons[0].ID})
	on.Keys("enter")
	on.Type(text)
	on.Keys("esc", "enter")
	on.shows(t, text)
	on.Keys("esc", "esc")
	on.shows(t, "An answer that you typed is not given yet")
	on.Keys("esc")
	on.shows(t, "What next")
}
