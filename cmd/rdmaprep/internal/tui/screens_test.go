package tui_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/cockroachdb/datadriven"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/tuitest"
	"rdmaprep/content"
	"rdmaprep/quiz"
	"rdmaprep/sim/model"
	"rdmaprep/sim/verbs"
)

// counting is entropy that can be told apart: 1, 2, 3, …
type counting struct{ n byte }

func (c *counting) Read(p []byte) (int, error) {
	c.n++
	copy(p, bytes.Repeat([]byte{c.n}, len(p)))
	return len(p), nil
}

// world is one trainer with everything around it.
type world struct {
	*tuitest.Term
	model *tui.Model
	store *memory
	clock *tuitest.Clock
}

// packOf loads the tiny pack of the tests; it has at least one question of
// every kind, one lesson and one lab.
func packOf(tb testing.TB) *content.Library {
	tb.Helper()
	lib, problems := content.Load(os.DirFS("testdata/pack"))
	for _, p := range problems {
		tb.Errorf("testdata/pack: %+v", p)
	}
	return lib
}

func start(tb testing.TB, w, h int, place nav.Place) *world {
	tb.Helper()
	return startWith(tb, packOf(tb), w, h, place)
}

func startWith(tb testing.TB, lib *content.Library, w, h int, place nav.Place) *world {
	tb.Helper()
	clock, store := tuitest.NewClock(), newMemory()
	svc := study.New(lib, opener, store, clock.Now, &counting{})
	m := tui.New(tui.Config{
		Ctx: context.Background(), Backend: tui.NewBackend(svc), Device: "MODEL spec",
		Now: clock.Now, Tick: clock.Tick, Start: place,
	})
	return &world{Term: tuitest.New(tb, m, clock, w, h), model: m, store: store, clock: clock}
}

// sizes are the terminals on which every script is played. The golden screens
// are those of the size that the script names.
var sizes = [][2]int{{0, 0}, {120, 40}, {80, 24}, {60, 15}}

// TestScreens plays the scripts of testdata/screens. A script is keys and the
// screens after them; the harness checks every frame on the way, at each of
// the sizes.
func TestScreens(t *testing.T) {
	files, err := filepath.Glob("testdata/screens/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata/screens: %v", err)
	}
	for _, file := range files {
		for _, size := range sizes {
			name := strings.TrimSuffix(filepath.Base(file), ".txt")
			if size[0] > 0 {
				name += fmt.Sprintf("/%dx%d", size[0], size[1])
			}
			t.Run(name, func(t *testing.T) { play(t, file, size[0], size[1]) })
		}
	}
}

func play(t *testing.T, file string, w, h int) {
	var on *world
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "start" {
			on = startLine(t, d, w, h)
		} else {
			on.do(t, d)
		}
		keysAreListed(t, on.model.Keys())
		if w > 0 {
			return d.Expected // only the fit of the frames is checked
		}
		if on.Quit {
			return "(the program has ended)\n"
		}
		return on.Screen() + "\n"
	})
}

func startLine(t *testing.T, d *datadriven.TestData, w, h int) *world {
	t.Helper()
	place := nav.Place{}
	sw, sh := 80, 24
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "w":
			d.ScanArgs(t, "w", &sw)
		case "h":
			d.ScanArgs(t, "h", &sh)
		case "at":
			place.Kind = nav.Kind(a.Vals[0])
		case "id":
			place.ID = a.Vals[0]
		case "q":
			place.Questions = a.Vals
		default:
			t.Fatalf("%s: start does not take %s", d.Pos, a.Key)
		}
	}
	if w > 0 {
		sw, sh = w, h
	}
	return start(t, sw, sh, place)
}

// do carries out one line of a script:
//
//	key n n enter        press keys
//	type                 type the text below the line
//	paste                paste it
//	resize w=40 h=10
//	advance 5s           let time pass
//	disk full|free       make every save fail, or no longer
//	light                the terminal says that its background is light
func (on *world) do(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	switch d.Cmd {
	case "key":
		for _, a := range d.CmdArgs {
			on.Keys(a.Key)
		}
	case "type":
		on.Type(d.Input)
	case "paste":
		on.Send(tea.PasteMsg{Content: d.Input})
	case "resize":
		var w, h int
		d.ScanArgs(t, "w", &w)
		d.ScanArgs(t, "h", &h)
		on.Resize(w, h)
	case "advance":
		by, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		on.Advance(by)
	case "disk":
		on.store.Full = d.CmdArgs[0].Key == "full"
	case "light":
		on.Send(tea.BackgroundColorMsg{Color: white{}})
	default:
		t.Fatalf("%s: no such command %s", d.Pos, d.Cmd)
	}
}

type white struct{}

func (white) RGBA() (r, g, b, a uint32) { return 0xffff, 0xffff, 0xffff, 0xffff }

// keysAreListed checks that every key which a screen offers is in the table of
// keys that the README prints.
func keysAreListed(t *testing.T, keys []nav.Key) {
	t.Helper()
	table := tui.KeyTable()
	for _, k := range keys {
		if !strings.Contains(table, "| `"+k.Name()+"` |") {
			t.Errorf("the key %q (%s) is offered and not in KeyTable", k.Name(), k.Does)
		}
	}
}

// The two themes say the same without their colours, and neither has an escape
// code that the other needs.
func TestThemesDifferInColourOnly(t *testing.T) {
	on := start(t, 120, 40, nav.Place{Kind: nav.Lab, ID: "first-write"})
	on.Keys("1", "9", "enter")
	dark, plain := on.Styled(), on.Screen()
	on.Send(tea.BackgroundColorMsg{Color: white{}})
	if on.Screen() != plain {
		t.Errorf("the light theme shows other words:\n%s", on.Screen())
	}
	if on.Styled() == dark {
		t.Error("a light background changes no colour")
	}
}

// A tour of the shipped content: every lab's first step and every lesson fits
// at every size, whatever its words.
func TestShippedContentFits(t *testing.T) {
	lib, _ := content.Load(content.Embedded())
	for _, size := range sizes[1:] {
		for _, l := range lib.Labs {
			on := startWith(t, lib, size[0], size[1], nav.Place{Kind: nav.Lab, ID: l.ID})
			for range 3 {
				on.Keys("tab", "tab", "space", "space", "space", "1", "9", "enter", "tab", "x", "tab", "tab", "esc", "enter")
			}
		}
		for _, l := range lib.Lessons {
			on := startWith(t, lib, size[0], size[1], nav.Place{Kind: nav.Lesson, ID: l.ID})
			on.Keys("space", "space", "space", "space", "enter", "1", "tab", "8", "enter", "enter", "space", "space")
		}
		for i, q := range lib.Questions {
			if size[0] == 80 && i%4 != 0 {
				continue // the size between the others: a sample is enough
			}
			on := startWith(t, lib, size[0], size[1], nav.Place{Kind: nav.Quiz, Questions: []string{q.ID}})
			on.answer(t, q)
			if text := on.Screen(); size[0] == 120 && !strings.Contains(text, "saved") || strings.Contains(text, "Not graded") != q.Provisional {
				t.Errorf("%s at %dx%d: answered by keys, and the verdict is not on the screen:\n%s", q.ID, size[0], size[1], text)
			}
			on.Keys("s", "x", "tab", "tab", "enter", "esc", "esc", "enter")
		}
	}
}

// answer answers a question of any kind by keys, after its hints.
func (on *world) answer(t *testing.T, q *content.Question) {
	t.Helper()
	in, err := quiz.Draw(q, 1)
	if err != nil {
		t.Fatal(err)
	}
	bar := []string{"h", "h", "h", "8", "enter"}
	switch in.Input() {
	case quiz.PickOne:
		on.Keys("1")
	case quiz.PickMany:
		on.Keys("1", "tab")
	case quiz.PickOrder:
		on.Keys("tab")
	case quiz.TypeText:
		on.Keys("1", "tab")
	case quiz.Speak:
		on.Keys("a", "tab")
	}
	on.Keys(bar...)
	if in.Input() == quiz.Speak {
		for range q.Rubric {
			on.Keys("y")
		}
		on.Keys("f", "f", "f", "enter")
	}
}

// opener makes benches of the model with the trace on.
func opener(ctx context.Context, profile string, seed uint64) (verbs.Bench, error) {
	return model.Open(ctx, model.Options{Profile: profile, Seed: seed, Trace: true})
}
