package study

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/lessons/decision"
	"rdmaprep/quiz"
	"rdmaprep/sim/script"
)

// rnr is a SEND that no receive waits for, with one retry: IBTA and ibv_poll_cq(3)
// call what follows RNR_RETRY_EXC_ERR, and the requester goes to ERR.
const rnr = "script 1\npair rc rnr_retry=1 min_rnr_timer=1\n" +
	"a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED\n"

func testLibrary() *content.Library {
	q := func(id string, kind content.Kind, change func(*content.Question)) *content.Question {
		q := &content.Question{ID: id, Topic: "t", Kind: kind, Prompt: id, Proof: &content.Proof{Script: rnr}}
		change(q)
		return q
	}
	return &content.Library{
		Topics: []*content.Topic{{ID: "t", Title: "Topic"}},
		Questions: []*content.Question{
			q("t.choice", content.Choice, func(q *content.Question) {
				q.Choices = []content.Option{
					{Text: "a in ERR", Holds: []string{"a.cq1 wr_id=1 status=RNR_RETRY_EXC_ERR", "a.qp1 state=ERR", "b.qp1 state=RTS"}},
					{Text: "both in ERR", Holds: []string{"a.qp1 state=ERR", "b.qp1 state=ERR"}},
					{Text: "a in RTS", Holds: []string{"a.qp1 state=RTS"}},
				}
			}),
			q("t.fill", content.Fill, func(q *content.Question) { q.Proof.Asks = "a.cq1[0].status" }),
			q("t.number", content.Number, func(q *content.Question) { q.Proof.Asks, q.Unit = "a.cq1.count", "count" }),
			q("t.order", content.Order, func(q *content.Question) {
				q.Proof.Script = "script 1\npair rc state=RESET\n"
				q.Steps = []content.OrderStep{
					{Text: "INIT", Do: "a: modify_qp qp1 state=INIT pkey_index=0 port=1 access=REMOTE_WRITE"},
					{Text: "RTR", Do: "a: modify_qp qp1 state=RTR av=b path_mtu=1024 dest=b.qp1 rq_psn=0x100 max_dest_rd_atomic=4 min_rnr_timer=12"},
					{Text: "RTS", Do: "a: modify_qp qp1 state=RTS timeout=14 retry_cnt=6 rnr_retry=6 sq_psn=0x100 max_rd_atomic=4"},
				}
			}),
			q("t.broken", content.Fill, func(q *content.Question) {
				q.Proof.Script, q.Proof.Asks = "script 1\npair rc\na: destroy_cq cq1\n", "a.qp1.state"
			}),
			q("t.notrun", content.Fill, func(q *content.Question) { q.Proof, q.NotRun, q.Answer = nil, "a GPU", "x" }),
		},
		Labs: []*content.Lab{{
			ID: "l", Topic: "t", Title: "Lab",
			Parts: []content.Part{{Title: "p", Setup: "script 1\npair rc rnr_retry=1 min_rnr_timer=1\n", Steps: []content.Step{
				{Title: "load", Script: "a: store mr1+0 u64=5\nexpect a.mr1[0:8] u64=6\nexpect a.mr1[0:8] u64=5\n"},
				{
					Title: "send", Script: "a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED\nexpect a.cq1 wr_id=1 status=RNR_RETRY_EXC_ERR\n",
					Predict: &content.Prediction{Options: []content.Option{
						{Text: "ERR", Holds: []string{"a.qp1 state=ERR"}}, {Text: "RTS", Holds: []string{"a.qp1 state=RTS"}},
					}},
				},
			}}},
		}},
	}
}

func (h *house) question(t *testing.T, id string) *quiz.Instance {
	t.Helper()
	for _, q := range h.lib.Questions {
		if q.ID == id {
			in, err := quiz.Draw(q, 3)
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
	}
	t.Fatalf("no question %s", id)
	return nil
}

func TestProofDecides(t *testing.T) {
	h := newHouse(t, testLibrary())
	ctx := context.Background()
	in := h.question(t, "t.choice")
	res, err := h.Proof(ctx, in, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range in.Choices {
		if want := c.Text == "a in ERR"; res.Key.Right[i] != want {
			t.Errorf("%s holds: %v", c.Text, res.Key.Right[i])
		}
	}
	o := res.Observation
	if len(o.Events) == 0 || len(o.Transcript) == 0 || len(o.Digest) != 64 || len(o.TraceDigest) != 64 || o.Profile != "spec" || o.At == 0 {
		t.Errorf("the evidence lacks something: %d events, %d lines, %q %q %q %v",
			len(o.Events), len(o.Transcript), o.Digest, o.TraceDigest, o.Profile, o.At)
	}
	before := h.benches.opened
	again, err := h.Proof(ctx, in, "", nil)
	if err != nil || !again.Cached || h.benches.opened != before {
		t.Errorf("the second look runs again: %v", err)
	}
	other, err := h.Proof(ctx, in, "rxe-6.1", nil)
	if err != nil || other.Cached || other.Observation.Profile != "rxe-6.1" {
		t.Errorf("another profile: %+v %v", other.Observation.Profile, err)
	}
	for id, want := range map[string]string{"t.fill": "RNR_RETRY_EXC_ERR", "t.number": "1"} {
		if res, err := h.Proof(ctx, h.question(t, id), "", nil); err != nil || res.Key.Value != want {
			t.Errorf("%s: %q %v, want %s", id, res.Key.Value, err, want)
		}
	}
}

func TestProofOfAnOrderRunsTheOrder(t *testing.T) {
	h := newHouse(t, testLibrary())
	in := h.question(t, "t.order")
	right := rightOrder(in)
	swapped := []int{right[1], right[0], right[2]}
	for _, c := range []struct {
		order  []int
		passes bool
	}{{right, true}, {swapped, false}, {nil, true}} {
		res, err := h.Proof(context.Background(), in, "", c.order)
		if err != nil {
			t.Fatal(err)
		}
		if res.Key.OrderPasses != c.passes || c.order != nil && !slices.Equal(res.Key.Order, c.order) {
			t.Errorf("order %v: %+v", c.order, res.Key)
		}
	}
}

func TestProofThatCannotRunSaysWhy(t *testing.T) {
	h := newHouse(t, testLibrary())
	ctx := context.Background()
	for id, want := range map[string]string{"t.broken": "EBUSY", "t.notrun": "a GPU"} {
		if _, err := h.Proof(ctx, h.question(t, id), "", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := h.Proof(ctx, h.question(t, "t.choice"), "no-such", nil); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("an unknown profile: %v", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := h.Proof(stopped, h.question(t, "t.fill"), "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that was cancelled: %v", err)
	}
}

func TestQuizFromAnswerToStore(t *testing.T) {
	h := newHouse(t, testLibrary())
	ctx := context.Background()
	s, err := h.NewQuiz(ctx, quiz.Filter{Mode: quiz.ByTopic, Topics: []string{"t"}}, 5)
	if err != nil {
		t.Fatal(err)
	}
	do := func(ev quiz.Event) {
		t.Helper()
		if _, err := h.PumpQuiz(ctx, QuizKey, s, ev); err != nil {
			t.Fatal(err)
		}
	}
	do(quiz.Begin{})
	do(quiz.Search{Words: "t.fill"})
	do(quiz.SetConfidence{Percent: 100})
	h.mem.fail = 1
	do(quiz.Give{Answer: quiz.Answer{Text: "ibv_wc_rnr_retry_exc_err"}})
	if v := s.View(); v.Phase != quiz.Done || !v.Verdict.Correct || v.Save != quiz.Unsaved || !strings.Contains(v.Message, "disk is full") {
		t.Fatalf("%s %+v %q %q", v.Phase, v.Verdict, v.Save, v.Message)
	}
	do(quiz.Retry{})
	if v := s.View(); v.Save != quiz.SavedSafe || len(h.mem.log) != 1 {
		t.Fatalf("%q, %d in the log", v.Save, len(h.mem.log))
	}
	again, err := h.ResumeQuiz(ctx, QuizKey)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.View().Verdict, again.View().Verdict); diff != "" || again.View().Instance.ID() != "t.fill" {
		t.Errorf("resumed: %s", diff)
	}
	home, err := h.Home(ctx)
	if err != nil || home.AnsweredNow != 1 || home.NewToday != 1 || home.Newcomer || !slices.Equal(home.Resume, []string{QuizKey}) || home.Calibration.N != 1 {
		t.Errorf("home %+v, %v", home, err)
	}
	card := quiz.Fold(h.mem.log)["t.fill"]
	if due, err := h.Due(ctx, card.Due); err != nil || !slices.Equal(due, []string{"t.fill"}) {
		t.Errorf("due on day %d: %v %v", card.Due, due, err)
	}
	do(quiz.Undo{})
	if cards, err := h.Cards(ctx); err != nil || len(cards) != 0 || len(h.mem.log) != 2 {
		t.Errorf("after undo: %v, %d in the log", cards, len(h.mem.log))
	}
	for i := range s.View().Total {
		do(quiz.Jump{Number: i + 1})
		do(quiz.Skip{})
	}
	if _, err := h.ResumeQuiz(ctx, QuizKey); !errors.Is(err, ErrNotFound) {
		t.Errorf("a finished quiz can be resumed: %v", err)
	}
	if _, err := h.NewQuiz(ctx, quiz.Filter{Topics: []string{"x"}}, 0); err == nil || !strings.Contains(err.Error(), "the topics are t") {
		t.Errorf("an unknown topic: %v", err)
	}
}

func TestLabGoesOnAfterAFailedExpectation(t *testing.T) {
	h := newHouse(t, testLibrary())
	ctx := context.Background()
	l, run, err := h.NewLab("l", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Close() }()
	do := func(l *lessons.Lab, run *LabRun, evs ...lessons.Event) {
		t.Helper()
		for _, ev := range evs {
			if _, err := h.PumpLab(ctx, run, l, ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	do(l, run, lessons.Begin{}, lessons.Run{})
	first := l.View().Step.Observation
	if first == nil || first.Err != "" {
		t.Fatalf("%+v %q", first, l.View().Message)
	}
	if len(first.Failed) != 1 || first.Failed[0].Line != "expect a.mr1[0:8] u64=6" || !strings.Contains(first.Failed[0].Got, "5") {
		t.Errorf("failed: %+v", first.Failed)
	}
	if len(first.Bytes) != 1 || first.Outcomes[len(first.Outcomes)-1].Kind != script.KindExpect {
		t.Errorf("the lines after the failed one did not run: %+v", first.Outcomes)
	}
	do(l, run, lessons.Next{}, lessons.Pick{Option: 1}, lessons.SetConfidence{Percent: 90}, lessons.Run{})
	second := l.View().Step
	if !slices.Equal(second.Observation.Right, []bool{true, false}) || second.Locked.Correct {
		t.Errorf("%v %+v", second.Observation.Right, second.Locked)
	}
	for _, line := range second.Observation.Transcript {
		if strings.Contains(line.Text, "store") {
			t.Errorf("the second observation holds what the first step did: %s", line)
		}
	}
	if _, ok := quiz.Fold(h.mem.log)["lab/l/1.2"]; !ok {
		t.Error("a wrong prediction made no card")
	}
	// Left here and resumed, the same steps show the same.
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	l2, run2, err := h.ResumeLab(ctx, "l")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run2.Close() }()
	do(l2, run2, lessons.Begin{})
	if diff := cmp.Diff(l.View().Step, l2.View().Step); diff != "" {
		t.Errorf("resumed: %s", diff)
	}
	// The card that it left is a question whose proof is the lab's own steps.
	s, err := h.NewQuiz(ctx, quiz.Filter{Mode: quiz.ByTopic}, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.PumpQuiz(ctx, "", s, quiz.Search{Words: "lab/l"}); err != nil {
		t.Fatal(err)
	}
	in := s.View().Instance
	i := slices.IndexFunc(in.Choices, func(c quiz.Shown) bool { return c.Text == "ERR" })
	if _, err := h.PumpQuiz(ctx, "", s, quiz.Give{Answer: quiz.Answer{Picks: []int{i}}}); err != nil {
		t.Fatal(err)
	}
	if v := s.View(); !v.Verdict.Graded || !v.Verdict.Correct {
		t.Errorf("%+v", v.Verdict)
	}
}

func TestStepsOutOfOrderReplayThePart(t *testing.T) {
	h := newHouse(t, testLibrary())
	ctx := context.Background()
	_, run, err := h.NewLab("l", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := run.Step(ctx, 0, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Step(ctx, 0, 0, true); err != nil {
		t.Fatal(err)
	}
	after, err := run.Step(ctx, 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, direct); diff != "" {
		t.Errorf("a step after a replay of those before it: %s", diff)
	}
	if _, err := run.Step(ctx, 4, 0, false); err == nil {
		t.Error("a step that is not there ran")
	}
	if err := errors.Join(run.Close(), run.Close()); err != nil {
		t.Error(err)
	}
}

func TestRecords(t *testing.T) {
	h := newHouse(t, testLibrary())
	ctx := context.Background()
	if _, err := h.LastRecord(ctx); !errors.Is(err, ErrNotFound) {
		t.Errorf("the last of none: %v", err)
	}
	if err := h.SaveRecord(ctx, decision.Record{}); !errors.Is(err, decision.ErrInvalid) {
		t.Errorf("an empty record: %v", err)
	}
	for _, id := range []string{"abcd1", "abcd2", "efgh1"} {
		r := decision.Record{ID: id, At: noon, Question: "q", Default: "d", Verdict: decision.Confirmed}
		if err := h.SaveRecord(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := h.LastRecord(ctx); err != nil || r.ID != "efgh1" {
		t.Errorf("the last is %s, %v", r.ID, err)
	}
	for id, want := range map[string]string{"abcd1": "abcd1", "efgh": "efgh1", "abcd": "", "zzzz": "", "ef": ""} {
		r, err := h.Record(ctx, id)
		if (err == nil) != (want != "") || want != "" && r.ID != want {
			t.Errorf("record %q: %q, %v", id, r.ID, err)
		}
	}
	if v, err := h.Setting(ctx, "x", "def"); err != nil || v != "def" {
		t.Errorf("a setting that was never set: %q %v", v, err)
	}
}

func TestVoid(t *testing.T) {
	h := newHouse(t, testLibrary())
	ctx := context.Background()
	a := quiz.Attempt{ID: "1", Kind: quiz.Answered, Question: "t.fill", At: noon, Day: quiz.DayNumber(noon), Graded: true, Rating: 3}
	if err := h.SaveAttempt(ctx, a); err != nil {
		t.Fatal(err)
	}
	v, err := h.Void(ctx, a)
	if err != nil || v.Voids != "1" || len(quiz.Fold(h.mem.log)) != 0 {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := h.Void(ctx, v); err == nil {
		t.Error("a void was voided")
	}
}

func TestDurationsInTheQuestionsUnit(t *testing.T) {
	d := 67*time.Millisecond + 108864*time.Nanosecond
	for unit, want := range map[string]string{
		"ns": "67108864 ns", "us": "67108.864 us", "ms": "67.108864 ms", "s": "0.067108864 s", "count": "67108864 ns",
	} {
		if got := valueText(script.Value{Kind: script.ValueDuration, Dur: d}, unit); got != want {
			t.Errorf("in %s: %s, want %s", unit, got, want)
		}
	}
}
