package lessons

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rdmaprep/quiz"
)

// drawEvent is any event, sensible or not.
func drawEvent(t *rapid.T, l *Lab, seqs []int) Event {
	seq := func() int {
		if len(seqs) > 0 && rapid.IntRange(0, 3).Draw(t, "known") > 0 {
			return seqs[len(seqs)-1]
		}
		return rapid.IntRange(0, 20).Draw(t, "any")
	}
	switch rapid.IntRange(0, 16).Draw(t, "event") {
	case 0, 1:
		return Pick{rapid.IntRange(-1, 3).Draw(t, "option")}
	case 2, 3:
		return SetConfidence{rapid.IntRange(40, 110).Draw(t, "sure")}
	case 4, 5:
		return Run{}
	case 6:
		return Hint{}
	case 7, 8:
		return Next{}
	case 9:
		return Back{}
	case 10:
		return Forward{}
	case 11:
		return rapid.SampledFrom([]Event{Give{"x"}, Mark{true}, Mark{false}}).Draw(t, "scale")
	case 12, 13:
		return StepRan{seq(), seen("o", rapid.SliceOfN(rapid.Bool(), 0, 3).Draw(t, "right")...)}
	case 14:
		return StepFailed{seq(), "no device"}
	case 15:
		id := "nobody"
		if len(l.unsaved) > 0 {
			id = string(l.unsaved[0].ID)
		} else if l.saving {
			id = l.record.ID
		}
		return rapid.SampledFrom([]Event{Saved{id}, SaveFailed{id, "full"}, Retry{}}).Draw(t, "save")
	}
	return rapid.SampledFrom([]Event{Edit{l.record}, Save{}, Save{Anyway: true}, Leave{}}).Draw(t, "record")
}

// Whatever happens in whatever order: a locked prediction never changes, none
// is unlocked, a step with a prediction runs only once it is locked, and no
// attempt is saved twice unless its save failed.
func TestAnyWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := NewLab(Config{Lab: testLab(), ID: "run", NewID: counter("a")})
		if err != nil {
			t.Fatal(err)
		}
		l.Step(noon, Begin{})
		at := noon
		var seqs []int
		saved := map[quiz.ID]quiz.Attempt{}
		failed := map[quiz.ID]bool{}
		byQuestion := map[string]int{}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			ev := drawEvent(t, l, seqs)
			before := make([]*Locked, len(l.runs))
			for i, r := range l.runs {
				if r.locked != nil {
					copied := *r.locked
					before[i] = &copied
				}
			}
			at = at.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second)
			es := l.Step(at, ev)
			if f, ok := ev.(SaveFailed); ok {
				failed[quiz.ID(f.ID)] = true
			}
			for i, b := range before {
				now := l.runs[i].locked
				if b != nil && (now == nil || now.Option != b.Option || now.Sure != b.Sure || b.Graded && *now != *b) {
					t.Fatalf("%T changed the locked prediction of step %d: %+v to %+v", ev, i, b, now)
				}
			}
			for _, r := range ran(es) {
				seqs = append(seqs, r.Seq)
				i := 0
				for l.places[i] != (place{r.Part, r.Step}) {
					i++
				}
				if l.content(i).Predict != nil && l.runs[i].locked == nil {
					t.Fatalf("step %d runs with an open prediction", i)
				}
			}
			for _, a := range attempts(es) {
				if old, again := saved[a.ID]; again {
					if !failed[a.ID] || cmp.Diff(old, a) != "" {
						t.Fatalf("attempt %s is saved twice", a.ID)
					}
					delete(failed, a.ID)
					continue
				}
				saved[a.ID] = a
				if byQuestion[a.Question]++; byQuestion[a.Question] > 1 {
					t.Fatalf("the prediction %s is saved as two attempts", a.Question)
				}
			}
			if l.cursor < 0 || l.cursor > l.at {
				t.Fatalf("the cursor is at %d, the lab at %d", l.cursor, l.at)
			}
			l.View()
		}
	})
}

// A lab that is left at any moment and resumed stands where it stood, once its
// steps were run again with the same outcome, and goes on in the same way.
func TestResumeEqualsTheUninterrupted(t *testing.T) {
	outcome := func(r RunStep) Observation {
		return seen(place{r.Part, r.Step}.String(), r.Part == 0, r.Part == 1, false)
	}
	script := []Event{
		Run{},
		Next{},
		Hint{},
		Pick{0},
		SetConfidence{70},
		Run{},
		Next{},
		Pick{2},
		SetConfidence{90},
		Run{},
		Next{},
		Give{"x"},
		Mark{true},
		Mark{false},
		Next{},
		Save{},
	}
	// play hands over events and answers every effect at once.
	play := func(l *Lab, events []Event) {
		for _, ev := range events {
			queue := l.Step(noon, ev)
			for len(queue) > 0 {
				e := queue[0]
				queue = queue[1:]
				switch e := e.(type) {
				case RunStep:
					queue = append(queue, l.Step(noon, StepRan{e.Seq, outcome(e)})...)
				case SaveAttempt:
					queue = append(queue, l.Step(noon, Saved{string(e.Attempt.ID)})...)
				case SaveRecord:
					queue = append(queue, l.Step(noon, Saved{e.Record.ID})...)
				}
			}
		}
	}
	for cut := range len(script) + 1 {
		straight, err := NewLab(Config{Lab: testLab(), ID: "run", NewID: counter("a")})
		if err != nil {
			t.Fatal(err)
		}
		play(straight, append([]Event{Begin{}}, script[:cut]...))
		resumed := reopen(t, straight, testLab())
		play(resumed, []Event{Begin{}})
		// A prediction that was chosen and not locked is chosen again.
		if straight.pick >= 0 {
			play(resumed, []Event{Pick{straight.pick}})
		}
		if straight.sure > 0 {
			play(resumed, []Event{SetConfidence{straight.sure}})
		}
		resumed.cfg.NewID = straight.cfg.NewID
		play(straight, script[cut:])
		straight.cfg.NewID, resumed.cfg.NewID = counter("c"), counter("c")
		play(resumed, script[cut:])
		a, b := straight.View(), resumed.View()
		// Only the id of the record is drawn anew.
		a.Record.ID, b.Record.ID = "", ""
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("left after %d events: %s", cut, diff)
		}
	}
}
