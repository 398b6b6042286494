package quiz

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/quiz/fsrs"
)

// saves are the attempts that effects ask to be saved.
func saves(es []Effect) []Attempt {
	var out []Attempt
	for _, e := range es {
		if s, ok := e.(SaveAttempt); ok {
			out = append(out, s.Attempt)
		}
	}
	return out
}

func runs(es []Effect) []RunProof {
	var out []RunProof
	for _, e := range es {
		if r, ok := e.(RunProof); ok {
			out = append(out, r)
		}
	}
	return out
}

func TestAnswerIsGradedAndSavedAtOnce(t *testing.T) {
	s := session(t, "t1.choice", "t1.number")
	s.Step(noon, Begin{})
	s.Step(noon, SetConfidence{80})
	in := s.View().Instance
	es := s.Step(noon.Add(42*time.Second), Give{Answer{Picks: picks(in, "yes")}})
	got := saves(es)
	if len(got) != 1 || len(runs(es)) != 0 {
		t.Fatalf("effects %v: want one save and no run", es)
	}
	want := Attempt{
		ID: got[0].ID, Session: "s", Kind: Answered, Question: "t1.choice", Variant: VariantOf(1, "t1.choice"),
		At: noon.Add(42 * time.Second), Day: DayNumber(noon), Answer: Answer{Picks: picks(in, "yes")},
		Yours: "yes", Right: "yes", Score: 1, Correct: true, Graded: true, Sure: 80, Took: 42 * time.Second, Rating: fsrs.Good,
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	v := s.View()
	if v.Phase != Done || v.Save != Saving || v.Pending != 1 || !v.Verdict.Correct {
		t.Errorf("after the answer: %s, %q, %+v", v.Phase, v.Save, v.Verdict)
	}
	s.Step(noon, Saved{got[0].ID})
	if v := s.View(); v.Save != SavedSafe || v.Pending != 0 || v.Answered != 1 || v.Right != 1 {
		t.Errorf("after the save: %q, %d pending, %d of %d", v.Save, v.Pending, v.Right, v.Answered)
	}
	if es := s.Step(noon, Give{Answer{Picks: picks(in, "no")}}); len(es) != 0 {
		t.Errorf("a second answer has effects: %v", es)
	}
}

func TestNothingIsGradedBeforeItsProofRan(t *testing.T) {
	s := session(t, "t1.proof")
	in := s.View().Instance
	es := s.Step(noon, Give{Answer{Picks: []int{0}}})
	if len(saves(es)) != 0 || len(runs(es)) != 1 || s.View().Phase != Proving {
		t.Fatalf("before the run: %v in phase %s", es, s.View().Phase)
	}
	run := runs(es)[0]
	if run.Why != ForGrade || run.Instance != in {
		t.Errorf("the run is %+v", run)
	}
	if es := s.Step(noon, ProofDone{run.Seq + 1, Key{Right: []bool{true, false}}}); len(es) != 0 {
		t.Errorf("a run of another number has effects: %v", es)
	}
	es = s.Step(noon, ProofDone{run.Seq, Key{Right: []bool{false, true}}})
	got := saves(es)
	if len(got) != 1 || got[0].Correct || got[0].Rating != fsrs.Again || !got[0].Graded {
		t.Fatalf("choice 2 holds and choice 1 was given: %+v", got)
	}
	if es := s.Step(noon, ProofDone{run.Seq, Key{Right: []bool{true, false}}}); len(es) != 0 {
		t.Errorf("a run reported twice has effects: %v", es)
	}
}

func TestProofThatCannotRunLeavesTheAnswerUngraded(t *testing.T) {
	s := session(t, "t1.proof")
	run := runs(s.Step(noon, Give{Answer{Picks: []int{0}}}))[0]
	got := saves(s.Step(noon, ProofFailed{run.Seq, "no device"}))
	if len(got) != 1 || got[0].Graded || got[0].Rating != 0 || got[0].Yours == "" {
		t.Fatalf("%+v", got)
	}
	if v := s.View(); !strings.Contains(v.Verdict.Note, "no device") || v.Answered != 0 {
		t.Errorf("%+v", v.Verdict)
	}
}

func TestOrderIsRunAsGiven(t *testing.T) {
	s := session(t, "t1.sequence")
	in := s.View().Instance
	order := picks(in, "RTR", "INIT", "RTS")
	run := runs(s.Step(noon, Give{Answer{Order: order}}))[0]
	if !slices.Equal(run.Order, order) {
		t.Fatalf("order %v is run as %v", order, run.Order)
	}
	got := saves(s.Step(noon, ProofDone{run.Seq, Key{Order: order, OrderPasses: false}}))
	if len(got) != 1 || got[0].Correct || got[0].Score != 2.0/3 {
		t.Errorf("one of three pairs is swapped: %+v", got)
	}
}

func TestProvisionalIsNeverGraded(t *testing.T) {
	s := session(t, "t1.maybe")
	got := saves(s.Step(noon, Give{Answer{Picks: picks(s.View().Instance, "yes")}}))
	if len(got) != 1 || got[0].Graded || got[0].Correct || got[0].Rating != 0 {
		t.Errorf("%+v", got)
	}
	if cards := Fold(got); len(cards) != 0 {
		t.Errorf("it moved a card: %v", cards)
	}
}

func TestHintsCapTheRating(t *testing.T) {
	s := session(t, "t1.choice")
	s.Step(noon, SetConfidence{100})
	s.Step(noon, Hint{})
	if v := s.View(); !slices.Equal(v.Hints, []string{"nudge"}) || v.HintsLeft != 1 {
		t.Errorf("hints %v, %d left", v.Hints, v.HintsLeft)
	}
	got := saves(s.Step(noon, Give{Answer{Picks: picks(s.View().Instance, "yes")}}))
	if got[0].Rating != fsrs.Hard || got[0].Hints != 1 {
		t.Errorf("right, 100%% sure, with a hint: %+v", got[0])
	}
}

func TestMalformedAnswersAreRefused(t *testing.T) {
	for id, bad := range map[string][]Answer{
		"t1.choice": {{}, {Picks: []int{3}}, {Picks: []int{-1}}, {Picks: []int{0, 1}}},
		"t1.multi":  {{Picks: []int{0, 0}}, {Picks: []int{4}}},
		"t1.order":  {{}, {Order: []int{0, 1}}, {Order: []int{0, 1, 1}}, {Order: []int{0, 1, 3}}},
		"t1.number": {{}, {Text: "many"}, {Text: strings.Repeat("9", 500)}},
		"t1.fill":   {{Text: "  "}, {Text: strings.Repeat("x", 500)}},
	} {
		for _, a := range bad {
			s := session(t, id)
			if es := s.Step(noon, Give{a}); len(es) != 0 || s.View().Phase != Asking || s.View().Message == "" {
				t.Errorf("%s takes %+v: %v, %q", id, a, es, s.View().Message)
			}
		}
	}
}

func TestUndoVoidsAndShowsTheQuestionAgain(t *testing.T) {
	s := session(t, "t1.choice", "t1.number")
	in := s.View().Instance
	first := saves(s.Step(noon, Give{Answer{Picks: picks(in, "no")}}))[0]
	s.Step(noon, Next{})
	es := s.Step(noon, Undo{})
	void := saves(es)
	if len(void) != 1 || void[0].Kind != Voided || void[0].Voids != first.ID || void[0].ID == first.ID {
		t.Fatalf("undo asks for %+v", void)
	}
	v := s.View()
	if v.Number != 1 || v.Phase != Asking || len(v.Answer.Picks) != 0 || v.CanUndo {
		t.Errorf("after undo: number %d, %s, %+v", v.Number, v.Phase, v.Answer)
	}
	again := saves(s.Step(noon, Give{Answer{Picks: picks(in, "yes")}}))
	if len(again) != 1 || again[0].ID == first.ID || !again[0].Correct {
		t.Fatalf("the second answer: %+v", again)
	}
	// The card is what it would be had the first answer never been given.
	log := []Attempt{first, void[0], again[0]}
	if diff := cmp.Diff(Fold(again), Fold(log)); diff != "" {
		t.Error(diff)
	}
	if es := s.Step(noon, Undo{}); len(saves(es)) != 1 {
		t.Errorf("the second answer cannot be undone: %v", es)
	}
	if es := s.Step(noon, Undo{}); len(es) != 0 {
		t.Errorf("there is nothing left to undo: %v", es)
	}
}

func TestUndoOfWhatIsNotSavedYet(t *testing.T) {
	s := session(t, "t1.proof")
	run := runs(s.Step(noon, Give{Answer{Picks: []int{0}}}))[0]
	if es := s.Step(noon, Undo{}); len(saves(es)) != 0 || s.View().Phase != Asking {
		t.Errorf("undo while the proof runs: %v", es)
	}
	if es := s.Step(noon, ProofDone{run.Seq, Key{Right: []bool{true, false}}}); len(es) != 0 {
		t.Errorf("the run of an answer that was taken back: %v", es)
	}
}

func TestSkipJumpAndSearch(t *testing.T) {
	s := session(t, "t1.choice", "t1.number", "t2.open")
	got := saves(s.Step(noon, Skip{}))
	if len(got) != 1 || got[0].Kind != Skipped || got[0].Rating != 0 || s.View().Number != 2 {
		t.Fatalf("skip: %+v, then number %d", got, s.View().Number)
	}
	s.Step(noon, Jump{3})
	if s.View().Number != 3 {
		t.Errorf("jump to 3 shows %d", s.View().Number)
	}
	s.Step(noon, Jump{99})
	if v := s.View(); v.Number != 3 || v.Message == "" {
		t.Errorf("jump to 99 shows %d, %q", v.Number, v.Message)
	}
	s.Step(noon, Search{"PROMPT choice"})
	if v := s.View(); v.Number != 1 || !slices.Equal(v.Matches, []int{1}) || !v.Skipped {
		t.Errorf("search shows %d, matches %v", v.Number, v.Matches)
	}
	s.Step(noon, Search{"t1"})
	if v := s.View(); v.Number != 2 || !slices.Equal(v.Matches, []int{1, 2}) {
		t.Errorf("the next match after 1 is 2, not %d of %v", v.Number, v.Matches)
	}
	s.Step(noon, Search{"nowhere"})
	if v := s.View(); v.Number != 2 || v.Message == "" || len(v.Matches) != 0 {
		t.Errorf("no match: %d, %q", v.Number, v.Message)
	}
}

func TestFailedSaveIsKeptAndRetried(t *testing.T) {
	s := session(t, "t1.choice")
	a := saves(s.Step(noon, Give{Answer{Picks: []int{0}}}))[0]
	s.Step(noon, SaveFailed{a.ID, "the disk is full"})
	if v := s.View(); v.Save != Unsaved || !strings.Contains(v.Message, "disk is full") || v.Pending != 1 {
		t.Errorf("%q, %q", v.Save, v.Message)
	}
	if again := saves(s.Step(noon, Retry{})); len(again) != 1 || cmp.Diff(a, again[0]) != "" {
		t.Errorf("retry saves %+v, want the same attempt", again)
	}
	if again := saves(s.Step(noon, Retry{})); len(again) != 0 {
		t.Errorf("a save under way is sent again: %+v", again)
	}
}

func TestInterview(t *testing.T) {
	lib := library()
	s, err := New(Config{Library: lib, Items: items(lib, "t2.open"), NewID: counter("a"), Interview: true, Limit: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s.Step(noon, Begin{})
	s.Step(noon.Add(59*time.Second), TimeUp{"half"})
	if v := s.View(); v.Phase != Asking || !strings.Contains(v.Message, "1s left") {
		t.Fatalf("a second early: %s, %q", v.Phase, v.Message)
	}
	s.Step(noon.Add(time.Minute), TimeUp{"an answer"})
	v := s.View()
	if v.Phase != Marking || v.Answer.Text != "an answer" || len(v.Points) != 0 {
		t.Fatalf("time is up: %s, %d points", v.Phase, len(v.Points))
	}
	s.Step(noon, Mark{true})
	if len(s.View().Marked) != 0 {
		t.Error("a point was marked that was not shown")
	}
	s.Step(noon, FollowUp{})
	s.Step(noon, GradeSelf{4})
	s.Step(noon, Reveal{})
	for i, made := range []bool{true, false, true} {
		if v := s.View(); len(v.Points) != i+1 || len(v.FollowUps) != 0 || v.Phase != Marking {
			t.Fatalf("before mark %d: %d points are shown in phase %s", i+1, len(v.Points), v.Phase)
		}
		s.Step(noon, Reveal{})
		s.Step(noon, Mark{made})
	}
	s.Step(noon, FollowUp{})
	s.Step(noon, FollowUp{})
	s.Step(noon, FollowUp{})
	if v := s.View(); len(v.FollowUps) != 2 || v.Suggested != 3 || v.Message == "" {
		t.Errorf("follow-ups %v, suggested %d: two of three points with every must is 3", v.FollowUps, v.Suggested)
	}
	got := saves(s.Step(noon, GradeSelf{4}))
	if len(got) != 1 || got[0].Rating != fsrs.Easy || got[0].Took != time.Minute || got[0].Score != 2.0/3 {
		t.Errorf("%+v", got)
	}
	if !s.View().Finished {
		t.Error("the session is not finished")
	}
}

func TestEvidenceComesAfterTheAnswer(t *testing.T) {
	s := session(t, "t1.proof", "t1.choice")
	if es := s.Step(noon, Evidence{}); len(es) != 0 {
		t.Errorf("evidence before the answer: %v", es)
	}
	run := runs(s.Step(noon, Give{Answer{Picks: []int{0}}}))[0]
	s.Step(noon, ProofDone{run.Seq, Key{Right: []bool{true, false}}})
	ev := runs(s.Step(noon, Evidence{}))
	if len(ev) != 1 || ev[0].Why != ForEvidence {
		t.Fatalf("evidence: %v", ev)
	}
	if es := s.Step(noon, ProofDone{ev[0].Seq, Key{Right: []bool{false, true}}}); len(es) != 0 {
		t.Errorf("looking at the evidence changes the grade: %v", es)
	}
}

// A day begins at 04:00 where the learner is, whatever UTC says.
func TestDayNumber(t *testing.T) {
	east := time.FixedZone("", 9*3600)
	base := DayNumber(time.Date(2026, 11, 30, 12, 0, 0, 0, east))
	for _, c := range []struct {
		at   time.Time
		want int
	}{
		{time.Date(2026, 11, 30, 4, 0, 0, 0, east), base},
		{time.Date(2026, 11, 30, 3, 59, 59, 0, east), base - 1},
		{time.Date(2026, 12, 1, 3, 59, 0, 0, east), base},
		{time.Date(2026, 12, 1, 4, 0, 0, 0, east), base + 1},
		{time.Date(1970, 1, 1, 12, 0, 0, 0, time.UTC), 0},
		{time.Date(1970, 1, 2, 3, 0, 0, 0, time.UTC), 0},
	} {
		if got := DayNumber(c.at); got != c.want {
			t.Errorf("%v is day %d, want %d", c.at, got, c.want)
		}
	}
}

func TestTimeAwayDoesNotCount(t *testing.T) {
	s := session(t, "t1.choice")
	s.Step(noon, Begin{})
	s.Step(noon.Add(10*time.Second), Leave{})
	s = reopen(t, s, "b")
	s.Step(noon.Add(time.Hour), Begin{})
	got := saves(s.Step(noon.Add(time.Hour+5*time.Second), Give{Answer{Picks: []int{0}}}))
	if got[0].Took != 15*time.Second {
		t.Errorf("took %v, want 10 s before and 5 s after the hour away", got[0].Took)
	}
}

// reopen takes a session through its JSON.
func reopen(t interface{ Fatal(...any) }, s *Session, prefix string) *Session {
	raw, err := json.Marshal(s.State())
	if err != nil {
		t.Fatal(err)
	}
	var st SessionState
	if err := json.Unmarshal(raw, &st); err != nil {
		t.Fatal(err)
	}
	again, err := Resume(Config{Library: library(), NewID: counter(prefix)}, st)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestResumeAfterTheContentWasEdited(t *testing.T) {
	s := session(t, "t1.choice", "t1.proof", "t2.open", "t1.number")
	s.Step(noon, Give{Answer{Picks: picks(s.View().Instance, "no")}})
	s.Step(noon, Jump{2})
	s.Step(noon, Give{Answer{Picks: []int{0}}}) // waits for its proof
	s.Step(noon, Jump{4})
	lib := library()
	lib.Questions[0].Choices = lib.Questions[0].Choices[:2] // answered, and edited since
	lib.Questions[5].Prompt = "another prompt"              // half done, and edited since
	lib.Questions = slices.Delete(lib.Questions, 9, 10)     // t2.open is gone
	again, err := Resume(Config{Library: lib, NewID: counter("b")}, s.State())
	if again == nil || err == nil || !strings.Contains(err.Error(), "t2.open") {
		t.Fatalf("resume: %v", err)
	}
	v := again.View()
	if v.Total != 3 || v.Instance.ID() != "t1.number" {
		t.Errorf("shows %s of %d", v.Instance.ID(), v.Total)
	}
	again.Step(noon, Jump{1})
	if v := again.View(); v.Phase != Done || v.Verdict.YoursText != "no" || v.Verdict.Choices != nil {
		t.Errorf("the verdict of an edited question: %+v", v.Verdict)
	}
	again.Step(noon, Jump{2})
	if v := again.View(); v.Phase != Asking {
		t.Errorf("what was half done on an edited question is in phase %s", v.Phase)
	}
	if _, err := Resume(Config{Library: lib}, SessionState{Format: 99}); err == nil {
		t.Error("a state of another format was read")
	}
}

// What is typed is kept until it is given, over a resume too, and an answer
// that is taken back before its grade is there to be changed.
func TestDraft(t *testing.T) {
	s := session(t, "t2.open", "t1.number", "t1.choice")
	es := s.Step(noon, Draft{"half of it"})
	if len(es) != 1 || s.View().Draft != "half of it" || s.View().Phase != Asking {
		t.Fatalf("effects %v, draft %q", es, s.View().Draft)
	}
	if es := s.Step(noon, Draft{"half of it"}); len(es) != 0 {
		t.Errorf("the same text again: %v", es)
	}
	s.Step(noon, Jump{2})
	if s.View().Draft != "" {
		t.Error("another question shows the text too")
	}
	s.Step(noon, Jump{1})
	raw, err := json.Marshal(s.State())
	if err != nil {
		t.Fatal(err)
	}
	var st SessionState
	if err := json.Unmarshal(raw, &st); err != nil {
		t.Fatal(err)
	}
	s, err = Resume(Config{Library: library(), NewID: counter("again")}, st)
	if err != nil {
		t.Fatal(err)
	}
	if s.View().Draft != "half of it" {
		t.Errorf("resumed: %q", s.View().Draft)
	}
	s.Step(noon, Give{Answer{Text: "all of it"}})
	if v := s.View(); v.Draft != "" || v.Phase != Marking {
		t.Errorf("given: %q in %s", v.Draft, v.Phase)
	}
	s.Step(noon, Undo{})
	if v := s.View(); v.Draft != "all of it" || v.Phase != Asking || v.Answer.Text != "" {
		t.Errorf("taken back: %q in %s, %+v", v.Draft, v.Phase, v.Answer)
	}
	if es := s.Step(noon, Draft{strings.Repeat("x", maxOpenText+1)}); len(es) != 0 || !strings.Contains(s.View().Message, "longer than") {
		t.Errorf("a text too long: %v, %q", es, s.View().Message)
	}
	s.Step(noon, Jump{3})
	if es := s.Step(noon, Draft{"x"}); len(es) != 0 || s.View().Draft != "" {
		t.Errorf("a choice takes a text: %v", es)
	}
}
