package quiz

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawEvent is any event, sensible or not. open are the runs that are under
// way, pending the saves.
func drawEvent(t *rapid.T, s *Session, open []int, pending []ID) Event {
	v := s.View()
	index := rapid.IntRange(-1, 5)
	seq := func() int {
		if len(open) > 0 && rapid.Bool().Draw(t, "known run") {
			return rapid.SampledFrom(open).Draw(t, "run")
		}
		return rapid.IntRange(0, 40).Draw(t, "any run")
	}
	id := func() ID {
		if len(pending) > 0 && rapid.Bool().Draw(t, "known save") {
			return rapid.SampledFrom(pending).Draw(t, "save")
		}
		return "nobody"
	}
	switch rapid.IntRange(0, 22).Draw(t, "event") {
	case 0:
		return Begin{}
	case 1:
		return SetConfidence{rapid.IntRange(-10, 120).Draw(t, "sure")}
	case 2:
		return Hint{}
	case 3, 4, 5:
		a := Answer{Text: rapid.SampledFrom([]string{"", "67.1 ms", "wr_flush_err"}).Draw(t, "text")}
		n := len(v.Instance.Choices)
		if n > 0 && rapid.IntRange(0, 5).Draw(t, "fit") > 0 {
			a.Picks = []int{rapid.IntRange(0, n-1).Draw(t, "pick")}
			a.Order = rapid.Permutation(indexesTo(n)).Draw(t, "order")
		} else {
			a.Picks = rapid.SliceOfN(index, 0, 4).Draw(t, "picks")
			a.Order = rapid.SliceOfN(index, 0, 4).Draw(t, "orders")
		}
		return Give{a}
	case 6:
		return Reveal{}
	case 7, 8:
		return Mark{rapid.Bool().Draw(t, "made")}
	case 9:
		return FollowUp{}
	case 10:
		return GradeSelf{index.Draw(t, "grade")}
	case 11:
		return TimeUp{"late"}
	case 12:
		return Skip{}
	case 13, 14:
		return Undo{}
	case 15:
		return Next{}
	case 16:
		return Prev{}
	case 17:
		return Jump{rapid.IntRange(-3, 20).Draw(t, "number")}
	case 18:
		return Search{rapid.SampledFrom([]string{"", "order", "t1 choice", "zzz"}).Draw(t, "words")}
	case 19:
		return rapid.SampledFrom([]Event{Evidence{}, Retry{}, Leave{}}).Draw(t, "other")
	case 20:
		return ProofDone{seq(), drawKey(t)}
	case 21:
		return rapid.SampledFrom([]Event{ProofFailed{seq(), "no device"}, Saved{id()}}).Draw(t, "report")
	}
	return SaveFailed{id(), "full"}
}

func drawKey(t *rapid.T) Key {
	return Key{
		Right: rapid.SliceOfN(rapid.Bool(), 0, 4).Draw(t, "right"),
		Value: rapid.SampledFrom([]string{"", "SUCCESS", "LOC_LEN_ERR"}).Draw(t, "value"),
		Order: rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(t, "ran"), OrderPasses: rapid.Bool().Draw(t, "passes"),
	}
}

// watch holds what every walk must keep to.
type watch struct {
	saved  map[ID]Attempt // asked for, by id
	failed map[ID]bool    // may be asked for once more
	open   []int
	log    []Attempt
}

func (w *watch) check(t *rapid.T, s *Session, ev Event, es []Effect) {
	if f, ok := ev.(SaveFailed); ok {
		if _, known := w.saved[f.ID]; known {
			w.failed[f.ID] = true
		}
	}
	for _, e := range es {
		switch e := e.(type) {
		case SaveAttempt:
			a := e.Attempt
			if old, again := w.saved[a.ID]; again {
				if !w.failed[a.ID] || cmp.Diff(old, a) != "" {
					t.Fatalf("attempt %s is saved twice", a.ID)
				}
				delete(w.failed, a.ID)
				continue
			}
			w.saved[a.ID] = a
			w.log = append(w.log, a)
			w.judge(t, a, ev)
		case RunProof:
			w.open = append(w.open, e.Seq)
		}
	}
	// At most one answer of a question stands, and it is the one that is shown.
	standing := map[string]ID{}
	for _, a := range Live(w.log) {
		if a.Kind != Answered {
			continue
		}
		if other, two := standing[a.Question]; two {
			t.Fatalf("two answers of %s stand: %s and %s", a.Question, other, a.ID)
		}
		standing[a.Question] = a.ID
	}
	for _, it := range s.State().Items {
		if id := standing[it.Question]; (it.Phase == Done) != (id != "") || it.Attempt != id {
			t.Fatalf("%s is in phase %s with attempt %q, and %q stands in the log", it.Question, it.Phase, it.Attempt, id)
		}
	}
}

// judge checks one attempt against the rules.
func (w *watch) judge(t *rapid.T, a Attempt, ev Event) {
	switch {
	case a.Kind == Voided:
		if _, known := w.saved[a.Voids]; !known || w.saved[a.Voids].Kind == Voided {
			t.Fatalf("void of %q", a.Voids)
		}
		return
	case a.Graded != (a.Rating != 0):
		t.Fatalf("graded %v with rating %s: %+v", a.Graded, a.Rating, a)
	case a.Hints > 0 && a.Rating > 2:
		t.Fatalf("rating %s with hints", a.Rating)
	case a.Question == "t1.maybe" && a.Graded:
		t.Fatal("a provisional question was graded")
	case a.Took < 0, a.Score < 0, a.Score > 1:
		t.Fatalf("%+v", a)
	}
	switch a.Question {
	case "t1.proof", "t1.predict", "t1.sequence":
		if _, ran := ev.(ProofDone); a.Graded && !ran {
			t.Fatalf("%s was graded by %T, without a run", a.Question, ev)
		}
	}
}

// Whatever happens in whatever order, the session keeps its promises, and one
// that is taken through JSON at any moment goes on as if it had not been.
func TestAnyWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lib := library()
		interview := rapid.Bool().Draw(t, "interview")
		s, err := New(Config{Library: lib, Items: items(lib), ID: "s", NewID: counter("a"), Interview: interview, Limit: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		w := &watch{saved: map[ID]Attempt{}, failed: map[ID]bool{}}
		at := noon
		s.Step(at, Begin{})
		twin, ids := (*Session)(nil), 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if twin == nil && rapid.IntRange(0, 9).Draw(t, "reopen") == 0 {
				ids = len(w.log)
				twin = reopen(t, s, "a")
				next := counter("a")
				for range ids {
					next() // the same ids as the session that was not interrupted
				}
				twin.cfg.NewID = next
				twin.state.Started = true // no Begin: nothing is sent again
				twin.failed = s.failed
			}
			var pending []ID
			for _, a := range s.State().Unsaved {
				pending = append(pending, a.ID)
			}
			ev := drawEvent(t, s, w.open, pending)
			if _, begin := ev.(Begin); begin {
				continue
			}
			at = at.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second)
			var twinEffects []Effect
			if twin != nil {
				failed := map[ID]string{}
				for k, v := range s.failed {
					failed[k] = v
				}
				twin.failed = failed
				twinEffects = twin.Step(at, ev)
			}
			es := s.Step(at, ev)
			w.check(t, s, ev, es)
			if twin != nil {
				if diff := cmp.Diff(saves(es), saves(twinEffects)); diff != "" {
					t.Fatalf("after %T the resumed session saves something else: %s", ev, diff)
				}
				if diff := cmp.Diff(s.State(), twin.State()); diff != "" {
					t.Fatalf("after %T the resumed session differs: %s", ev, diff)
				}
			}
		}
	})
}

// A resumed session sends again what was not confirmed: the saves, and the
// proofs that answers wait for.
func TestBeginAfterResume(t *testing.T) {
	s := session(t, "t1.choice", "t1.proof")
	a := saves(s.Step(noon, Give{Answer{Picks: []int{0}}}))[0]
	s.Step(noon, Next{})
	old := runs(s.Step(noon, Give{Answer{Picks: []int{1}}}))[0]
	again := reopen(t, s, "b")
	es := again.Step(noon, Begin{})
	if got := saves(es); len(got) != 1 || cmp.Diff(a, got[0]) != "" {
		t.Errorf("saves %+v, want the attempt that was not confirmed", got)
	}
	run := runs(es)
	if len(run) != 1 || run[0].Seq == old.Seq {
		t.Fatalf("runs %+v, want the proof again under a new number", run)
	}
	if got := saves(again.Step(noon, ProofDone{run[0].Seq, Key{Right: []bool{false, true}}})); len(got) != 1 || !got[0].Correct {
		t.Errorf("%+v", got)
	}
	if es := again.Step(noon, Begin{}); len(saves(es)) != 0 || len(runs(es)) != 0 {
		t.Errorf("a second Begin sends again: %v", es)
	}
}

// A state that somebody changed by hand is refitted, and never panics.
func TestAnyState(t *testing.T) {
	phases := rapid.SampledFrom([]Phase{Asking, Proving, Marking, Done, "?"})
	small := rapid.IntRange(-3, 9)
	rapid.Check(t, func(t *rapid.T) {
		lib := library()
		st := SessionState{Format: stateFormat, Current: small.Draw(t, "current")}
		for _, it := range items(lib) {
			st.Items = append(st.Items, ItemState{
				Item: it, Phase: phases.Draw(t, "phase"), Sure: small.Draw(t, "sure") * 20, Hints: small.Draw(t, "hints"),
				Answer:   Answer{Picks: rapid.SliceOfN(small, 0, 3).Draw(t, "picks"), Order: rapid.SliceOfN(small, 0, 3).Draw(t, "order")},
				Revealed: small.Draw(t, "revealed"), Marked: make([]bool, max(0, small.Draw(t, "marked"))), Follow: small.Draw(t, "follow"),
			})
		}
		s, err := Resume(Config{Library: lib, NewID: counter("a")}, st)
		if err != nil {
			t.Fatal(err)
		}
		s.Step(noon, Begin{})
		for i := range st.Items {
			s.Step(noon, Jump{i + 1})
			s.View()
			s.Step(noon, Mark{true})
			s.Step(noon, GradeSelf{3})
			s.View()
		}
	})
}
