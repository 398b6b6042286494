package lessons

import (
	"slices"
	"testing"

	"rdmaprep/content"
	"rdmaprep/quiz"
)

func TestReaderAnswersChecksInPlace(t *testing.T) {
	q := func(id string) *content.Question {
		return &content.Question{ID: id, Kind: content.Fill, Answer: "RTS"}
	}
	lib := &content.Library{Questions: []*content.Question{q("t.one"), q("t.two")}}
	lesson := &content.Lesson{ID: "l", Title: "L", Blocks: []content.Block{
		{Markdown: "# A"}, {Check: lib.Questions[0]}, {Markdown: "B"}, {Check: lib.Questions[1]},
	}}
	r, err := NewReader(ReaderConfig{Lesson: lesson, Library: lib, ID: "s", NewID: counter("a")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Checks(), []int{1, 3}) {
		t.Fatalf("checks %v", r.Checks())
	}
	if es := r.Step(noon, 0, quiz.Give{Answer: quiz.Answer{Text: "RTS"}}); len(es) != 0 {
		t.Errorf("a block of text was answered: %v", es)
	}
	es := r.Step(noon, 3, quiz.Give{Answer: quiz.Answer{Text: "ibv_qps_rts"}})
	if len(es) == 0 || es[0].Block != 3 || !es[0].Effect.(quiz.SaveAttempt).Attempt.Correct {
		t.Fatalf("%+v", es)
	}
	if v, ok := r.Check(3); !ok || v.Phase != quiz.Done || r.Answered() != 1 || r.Finished() {
		t.Errorf("%d answered", r.Answered())
	}
	r.Step(noon, 1, quiz.Give{Answer: quiz.Answer{Text: "RTR"}})
	if !r.Finished() {
		t.Error("both checks are answered and the lesson is not finished")
	}
	missing := &content.Lesson{Blocks: []content.Block{{Check: q("t.gone")}}}
	r, err = NewReader(ReaderConfig{Lesson: missing, Library: lib, NewID: counter("a")})
	if err == nil || r == nil || len(r.Checks()) != 0 {
		t.Errorf("a check that is not in the library: %v", err)
	}
}
