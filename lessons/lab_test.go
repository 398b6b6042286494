package lessons

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/content"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/quiz/fsrs"
	"rdmaprep/sim/script"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// testLab has a part of two steps, the second with a prediction, and an
// adversarial part of one step with a prediction.
func testLab() *content.Lab {
	predict := func() *content.Prediction {
		return &content.Prediction{Prompt: "what?", Options: []content.Option{{Text: "ERR"}, {Text: "RTS"}, {Text: "either"}}}
	}
	return &content.Lab{
		ID: "lab1", Topic: "t1", Title: "A lab", Seed: 7,
		Parts: []content.Part{{Title: "part one", Setup: "script 1\n", Steps: []content.Step{
			{Title: "look", Script: "a"},
			{Title: "send", Script: "b", Predict: predict(), Hints: []string{"nudge"}, Notice: "so"},
		}}},
		Adversarial: content.Part{Title: "the worst", Setup: "script 1\n", Steps: []content.Step{
			{Title: "lose", Script: "c", Predict: predict()},
		}},
		Scale: content.Scale{Prompt: "and with 1000?", Rubric: []content.Point{{Text: "memory", Must: true}, {Text: "time"}}},
		Record: content.Record{
			Question: "which?", Default: "this", Alternative: "that", CannotShow: "hardware", NextCheck: "on a NIC",
			Workload: content.Workload{Metric: "latency", Unit: "us", OutOf: "sends", Target: "10"},
		},
		Refs: []content.Ref{{Source: &content.Source{Title: "man", Where: "v44", Layer: content.Official}, Place: "x"}},
	}
}

func counter(prefix string) func() quiz.ID {
	n := 0
	return func() quiz.ID {
		n++
		return quiz.ID(fmt.Sprintf("%s%031d", prefix, n))
	}
}

func start(t *testing.T) *Lab {
	t.Helper()
	l, err := NewLab(Config{Lab: testLab(), ID: "run", NewID: counter("a")})
	if err != nil {
		t.Fatal(err)
	}
	l.Step(noon, Begin{})
	return l
}

// seen is what a step showed: which options hold.
func seen(name string, right ...bool) Observation {
	return Observation{
		Right: right, Device: "model", Profile: "spec", Seed: 7, Digest: "d-" + name, TraceDigest: "t-" + name,
		Completions: []string{"a.cq1: " + name}, Bytes: []string{"a.mr1[0:8]: u64=1"},
		Objects: []script.Object{{Node: "a", Name: "qp1", Fields: []script.Field{{Key: "state", Value: "RTS"}}}},
	}
}

func ran(es []Effect) []RunStep {
	var out []RunStep
	for _, e := range es {
		if r, ok := e.(RunStep); ok {
			out = append(out, r)
		}
	}
	return out
}

func attempts(es []Effect) []quiz.Attempt {
	var out []quiz.Attempt
	for _, e := range es {
		if s, ok := e.(SaveAttempt); ok {
			out = append(out, s.Attempt)
		}
	}
	return out
}

// runStep runs the step that is next and reports what it showed.
func runStep(t *testing.T, l *Lab, o Observation) []Effect {
	t.Helper()
	r := ran(l.Step(noon, Run{}))
	if len(r) != 1 {
		t.Fatalf("%d runs: %s", len(r), l.View().Message)
	}
	return l.Step(noon, StepRan{r[0].Seq, o})
}

// predicted locks a prediction and runs the step.
func predicted(t *testing.T, l *Lab, option, sure int, o Observation) []Effect {
	t.Helper()
	l.Step(noon, Pick{option})
	l.Step(noon, SetConfidence{sure})
	return runStep(t, l, o)
}

func TestStepWithoutPredictionJustRuns(t *testing.T) {
	l := start(t)
	r := ran(l.Step(noon, Run{}))
	if diff := cmp.Diff([]RunStep{{Seq: 1, Fresh: true, Profile: "spec", Seed: 7}}, r); diff != "" {
		t.Fatal(diff)
	}
	if v := l.View(); v.Phase != Running || v.Step.Setup == "" {
		t.Errorf("%s, setup %q", v.Phase, v.Step.Setup)
	}
	if es := l.Step(noon, StepRan{99, seen("x")}); len(es) != 0 || l.View().Phase != Running {
		t.Errorf("a run of another number: %v", es)
	}
	es := l.Step(noon, StepRan{1, seen("x")})
	if len(attempts(es)) != 0 || l.View().Phase != Observing || l.View().Step.Observation == nil {
		t.Errorf("after the run: %v in %s", es, l.View().Phase)
	}
	l.Step(noon, Next{})
	if v := l.View(); v.Phase != Reading || v.Number != 2 || v.Step.Place != "1.2" {
		t.Errorf("next: %s %d %s", v.Phase, v.Number, v.Step.Place)
	}
}

func TestPredictionIsLockedBeforeTheRun(t *testing.T) {
	l := start(t)
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	if es := l.Step(noon, Run{}); len(es) != 0 || !strings.Contains(l.View().Message, "predict first") {
		t.Fatalf("runs without a prediction: %v", es)
	}
	l.Step(noon, Pick{0})
	l.Step(noon, Pick{3})
	if es := l.Step(noon, Run{}); len(es) != 0 || !strings.Contains(l.View().Message, "how sure") {
		t.Fatalf("runs without a confidence: %v", es)
	}
	l.Step(noon, SetConfidence{65})
	l.Step(noon, Pick{1})
	l.Step(noon, Hint{})
	r := ran(l.Step(noon.Add(30*time.Second), Run{}))
	if len(r) != 1 || r[0].Fresh || r[0].Step != 1 {
		t.Fatalf("the second step shares the Bench of the part: %+v", r)
	}
	want := &Locked{Option: 1, Sure: 70}
	for _, ev := range []Event{Pick{0}, SetConfidence{100}, Hint{}, Back{}, Pick{0}, Forward{}, Pick{0}} {
		l.Step(noon, ev)
		if diff := cmp.Diff(want, l.runs[1].locked); diff != "" {
			t.Fatalf("%T changed the locked prediction: %s", ev, diff)
		}
	}
	got := attempts(l.Step(noon.Add(30*time.Second), StepRan{r[0].Seq, seen("y", true, false, true)}))
	if len(got) != 1 {
		t.Fatalf("%d attempts", len(got))
	}
	diff := cmp.Diff(quiz.Attempt{
		ID: got[0].ID, Session: "run", Kind: quiz.LabKind, Question: "lab/lab1/1.2", Variant: 7,
		At: noon.Add(30 * time.Second), Day: quiz.DayNumber(noon), Answer: quiz.Answer{Picks: []int{1}},
		Yours: "RTS", Right: "ERR; either", Graded: true, Sure: 70, Hints: 1, Took: 30 * time.Second, Rating: fsrs.Again,
	}, got[0])
	if diff != "" {
		t.Error(diff)
	}
	if cards := quiz.Fold(got); cards["lab/lab1/1.2"].Reps != 1 {
		t.Errorf("a wrong prediction is no card: %v", cards)
	}
}

func TestAnyOptionThatHoldsIsRight(t *testing.T) {
	for option, correct := range []bool{true, false, true} {
		l := start(t)
		runStep(t, l, seen("x"))
		l.Step(noon, Next{})
		got := attempts(predicted(t, l, option, 80, seen("y", true, false, true)))
		if got[0].Correct != correct || got[0].Rating == 0 {
			t.Errorf("option %d: %+v", option, got[0])
		}
	}
	l := start(t)
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	if got := attempts(predicted(t, l, 0, 80, seen("y", false, false, false))); got[0].Graded || got[0].Rating != 0 {
		t.Errorf("no option holds, and yet it is graded: %+v", got[0])
	}
}

func TestRunThatDidNotComeAbout(t *testing.T) {
	l := start(t)
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	l.Step(noon, Pick{2})
	l.Step(noon, SetConfidence{50})
	r := ran(l.Step(noon, Run{}))
	l.Step(noon, StepFailed{r[0].Seq, "no device"})
	if v := l.View(); v.Phase != Reading || v.Step.Tried != "no device" || !strings.Contains(v.Message, "no device") || v.Step.Locked == nil {
		t.Fatalf("%s %q %q", v.Phase, v.Step.Tried, v.Message)
	}
	l.Step(noon, Pick{0})
	again := ran(l.Step(noon, Run{}))
	if len(again) != 1 || again[0].Seq == r[0].Seq || l.runs[1].locked.Option != 2 {
		t.Fatalf("the second try: %+v, %+v", again, l.runs[1].locked)
	}
	l.Step(noon, StepFailed{again[0].Seq, "no device"})
	l.Step(noon, Next{})
	if v := l.View(); v.Number != 3 || !v.Step.Adversarial {
		t.Errorf("the lab cannot go on: %+v", v.Number)
	}
}

// whole plays the lab to the record form: right at 60 percent, wrong at 90.
func whole(t *testing.T, l *Lab) {
	t.Helper()
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	predicted(t, l, 0, 60, seen("y", true, false, false))
	l.Step(noon, Next{})
	predicted(t, l, 1, 90, seen("z", true, false, false))
	l.Step(noon, Next{})
	l.Step(noon, Give{"much memory"})
	l.Step(noon, Mark{true})
	l.Step(noon, Mark{false})
	l.Step(noon.Add(2*time.Minute), Next{})
}

func TestRecordKnowsWhatTheRunKnows(t *testing.T) {
	l := start(t)
	whole(t, l)
	v := l.View()
	if v.Phase != Recording || len(v.Problems) != 0 {
		t.Fatalf("%s %q %v", v.Phase, v.Message, v.Problems)
	}
	want := decision.Record{
		Format: 1, ID: v.Record.ID, Lab: "lab1", Title: "A lab", At: noon.Add(2 * time.Minute), Question: "which?",
		Workload:    decision.Workload{Metric: "latency", Unit: "us", OutOf: "sends", Target: "10"},
		Sources:     []decision.Source{{Title: "man", Where: "v44", Place: "x", Layer: "official"}},
		Default:     "this",
		Alternative: "that",
		CannotShow:  "hardware",
		NextCheck:   "on a NIC",
		Predictions: []decision.Prediction{
			{Step: "1.2 send", Prompt: "what?", Predicted: "ERR", Sure: 60, Held: "ERR", Correct: true, Graded: true},
			{Step: "2.1 lose", Prompt: "what?", Predicted: "RTS", Sure: 90, Held: "ERR", Graded: true},
		},
		Evidence: decision.Evidence{
			Device: "model", Profile: "spec", Seed: 7,
			Completions: []string{"1.1 a.cq1: x", "1.2 a.cq1: y", "2.1 a.cq1: z"},
			States:      []string{"1.2 a.qp1 RTS", "2.1 a.qp1 RTS"},
			Bytes:       []string{"1.1 a.mr1[0:8]: u64=1", "1.2 a.mr1[0:8]: u64=1", "2.1 a.mr1[0:8]: u64=1"},
			Transcript:  joined([]string{"d-y", "d-z"}), Trace: joined([]string{"t-y", "t-z"}),
			Command: "rdmaprep lab lab1 --plain --seed 7 --profile spec",
		},
		Scale:   decision.Scale{Prompt: "and with 1000?", Answer: "much memory", Made: []string{"memory"}, Missed: []string{"time"}},
		Verdict: decision.Confirmed, Elapsed: 2 * time.Minute, Uncertainty: "1.2 send (60% sure)",
	}
	if diff := cmp.Diff(want, v.Record); diff != "" {
		t.Error(diff)
	}
}

func TestVerdictIsProvisionalWhereTheDeviceDisagrees(t *testing.T) {
	l := start(t)
	bad := seen("x")
	bad.Failed = []Failure{{"expect a.qp1 state=RTS", "state=ERR"}}
	runStep(t, l, bad)
	if l.View().Phase != Observing {
		t.Fatal("the lab does not go on after a failed expectation")
	}
	l.Step(noon, Next{})
	predicted(t, l, 0, 60, seen("y", true, false, false))
	l.Step(noon, Next{})
	predicted(t, l, 0, 60, seen("z", true, false, false))
	l.Step(noon, Next{})
	l.Step(noon, Give{})
	l.Step(noon, Mark{true})
	l.Step(noon, Mark{true})
	l.Step(noon, Next{})
	v := l.View()
	if v.Record.Verdict != decision.Provisional || len(v.Problems) != 2 {
		t.Errorf("%s, problems %v: owner and date are missing", v.Record.Verdict, v.Problems)
	}
	if want := []string{"1.1 expect a.qp1 state=RTS: got state=ERR"}; !slices.Equal(v.Record.Evidence.Failed, want) {
		t.Errorf("failed %q", v.Record.Evidence.Failed)
	}
}

func TestSaveOfTheRecord(t *testing.T) {
	l := start(t)
	whole(t, l)
	r := l.View().Record
	r.Evidence.Device, r.Elapsed, r.ID = "forged", 1, "forged"
	r.Notes = "mail me@example.com"
	l.Step(noon, Edit{r})
	if got := l.View().Record; got.Evidence.Device != "model" || got.ID == "forged" || got.Notes == "" {
		t.Errorf("an edit changed what the run knows: %+v", got)
	}
	if es := l.Step(noon, Save{}); len(es) != 0 || !strings.Contains(l.View().Message, "mail address") {
		t.Fatalf("saved with a finding: %v %q", es, l.View().Message)
	}
	r.Verdict = "maybe"
	l.Step(noon, Edit{r})
	if es := l.Step(noon, Save{Anyway: true}); len(es) != 0 {
		t.Fatalf("saved with a problem: %v", es)
	}
	r.Verdict = decision.Refuted
	l.Step(noon, Edit{r})
	es := l.Step(noon, Save{Anyway: true})
	if len(es) != 1 {
		t.Fatalf("%v", es)
	}
	saved := es[0].(SaveRecord).Record
	if es := l.Step(noon, Save{Anyway: true}); len(es) != 0 {
		t.Errorf("a save under way is asked for again: %v", es)
	}
	l.Step(noon, SaveFailed{saved.ID, "full"})
	if v := l.View(); v.Phase != Recording || !strings.Contains(v.Message, "full") || v.SavedOK {
		t.Errorf("%s %q", v.Phase, v.Message)
	}
	if es := l.Step(noon, Save{Anyway: true}); len(es) != 1 {
		t.Fatalf("the second save: %v", es)
	}
	l.Step(noon, Saved{saved.ID})
	if v := l.View(); v.Phase != Finished || !v.SavedOK {
		t.Errorf("%s", v.Phase)
	}
}

func TestBackAndForward(t *testing.T) {
	l := start(t)
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	l.Step(noon, Back{})
	if v := l.View(); v.Number != 1 || v.Current || v.Step.Observation == nil || !v.CanForward || v.CanBack {
		t.Fatalf("back: %+v", v.Number)
	}
	l.Step(noon, Back{})
	if v := l.View(); v.Number != 1 || v.Message == "" {
		t.Errorf("back before the first step: %d", v.Number)
	}
	if es := l.Step(noon, Run{}); len(ran(es)) != 0 {
		t.Errorf("looking back runs a step: %v", es)
	}
	l.Step(noon, Forward{})
	l.Step(noon, Forward{})
	if v := l.View(); v.Number != 2 || !v.Current {
		t.Errorf("forward stops at the step that is next: %d", v.Number)
	}
}

func reopen(t interface{ Fatal(...any) }, l *Lab, lab *content.Lab) *Lab {
	raw, err := json.Marshal(l.State())
	if err != nil {
		t.Fatal(err)
	}
	var st LabState
	if err := json.Unmarshal(raw, &st); err != nil {
		t.Fatal(err)
	}
	again, err := ResumeLab(Config{Lab: lab, NewID: counter("b")}, st)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestResumeRunsTheStepsAgain(t *testing.T) {
	l := start(t)
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	saved := attempts(predicted(t, l, 0, 60, seen("y", true, false, false)))
	l.Step(noon, Saved{string(saved[0].ID)})
	l.Step(noon, Next{})
	l.Step(noon.Add(time.Minute), Leave{})

	l2 := reopen(t, l, testLab())
	es := l2.Step(noon.Add(time.Hour), Begin{})
	r := ran(es)
	if len(r) != 1 || r[0].Step != 0 || !r[0].Fresh || !l2.View().Replaying || len(attempts(es)) != 0 {
		t.Fatalf("begin after a resume: %v", es)
	}
	if es := l2.Step(noon, Run{}); len(es) != 0 {
		t.Errorf("a step runs while others are run again: %v", es)
	}
	r = ran(l2.Step(noon, StepRan{r[0].Seq, seen("x")}))
	if len(r) != 1 || r[0].Step != 1 || r[0].Fresh {
		t.Fatalf("the second replay: %+v", r)
	}
	es = l2.Step(noon, StepRan{r[0].Seq, seen("y", true, false, false)})
	v := l2.View()
	if len(attempts(es)) != 0 || v.Replaying || v.Phase != Reading || v.Number != 3 {
		t.Fatalf("after the replay: %v, %s at %d", es, v.Phase, v.Number)
	}
	l2.Step(noon, Back{})
	if v := l2.View(); v.Step.Observation == nil || v.Step.Locked.Option != 0 || !v.Step.Locked.Correct {
		t.Errorf("the second step after a resume: %+v", v.Step)
	}
	if l2.View().Elapsed != time.Minute {
		t.Errorf("elapsed %v: the time away counts", l2.View().Elapsed)
	}
}

func TestResumeSendsUnsavedAgain(t *testing.T) {
	l := start(t)
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	a := attempts(predicted(t, l, 0, 60, seen("y", true, false, false)))
	es := reopen(t, l, testLab()).Step(noon, Begin{})
	if diff := cmp.Diff(a, attempts(es)); diff != "" {
		t.Error(diff)
	}
}

func TestResumeAfterTheLabWasEdited(t *testing.T) {
	l := start(t)
	whole(t, l)
	edited := testLab()
	edited.Parts[0].Steps[1].Title = "send twice"
	l2 := reopen(t, l, edited)
	if v := l2.View(); v.Number != 2 || v.Phase != Reading || v.Step.Locked != nil {
		t.Errorf("goes on at %d in %s with %+v, want the step that was edited", v.Number, v.Phase, v.Step.Locked)
	}
	shorter := testLab()
	shorter.Adversarial.Steps = nil
	if v := reopen(t, l, shorter).View(); v.Number != 2 {
		t.Errorf("a lab that was shortened goes on at %d", v.Number)
	}
	if _, err := ResumeLab(Config{Lab: testLab()}, LabState{Format: labFormat, Lab: "other"}); err == nil {
		t.Error("the state of another lab was taken")
	}
	if _, err := NewLab(Config{Lab: &content.Lab{ID: "empty"}}); err == nil {
		t.Error("a lab without steps was made")
	}
}

// What is typed to the question of scale is kept over a resume.
func TestDraftOfTheScaleAnswer(t *testing.T) {
	l := start(t)
	if es := l.Step(noon, Draft{"too early"}); len(es) != 0 {
		t.Errorf("before the question: %v", es)
	}
	runStep(t, l, seen("x"))
	l.Step(noon, Next{})
	predicted(t, l, 0, 60, seen("y", true, false, false))
	l.Step(noon, Next{})
	predicted(t, l, 0, 60, seen("z", true, false, false))
	l.Step(noon, Next{})
	if l.View().Phase != Scaling {
		t.Fatal(l.View().Phase, l.View().Message)
	}
	l.Step(noon, Draft{"much mem"})
	l2 := reopen(t, l, testLab())
	if v := l2.View(); v.Phase != Scaling || v.ScaleAnswer != "much mem" {
		t.Errorf("resumed in %s with %q", v.Phase, v.ScaleAnswer)
	}
	l.Step(noon, Give{"much memory"})
	if v := l.View(); v.Phase != Marking || v.ScaleAnswer != "much memory" {
		t.Errorf("given: %q in %s", v.ScaleAnswer, v.Phase)
	}
}
