package plain

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/store"
	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/content"
	"rdmaprep/quiz"
)

// library has a question of each kind that needs no run; their ids order them.
func library() *content.Library {
	q := func(id string, kind content.Kind, change func(*content.Question)) *content.Question {
		q := &content.Question{ID: "t." + id, Topic: "t", Kind: kind, Prompt: "Prompt of " + id, NotRun: "a test", Layer: "official", Hints: []string{"a nudge"}}
		change(q)
		return q
	}
	some := []content.Option{{Text: "right", Right: true}, {Text: "wrong"}}
	return &content.Library{
		Topics: []*content.Topic{{ID: "t", Title: "Topic"}},
		Questions: []*content.Question{
			q("choice", content.Choice, func(q *content.Question) { q.Choices = some }),
			q("multi", content.Multi, func(q *content.Question) { q.Choices = some }),
			q("number", content.Number, func(q *content.Question) { q.Answer = "24" }),
			q("fill", content.Fill, func(q *content.Question) { q.Answer = "RTS" }),
			q("open", content.Open, func(q *content.Question) {
				q.Rubric = []content.Point{{Text: "one", Must: true}, {Text: "two"}}
				q.Model, q.FollowUps = "a model answer", []string{"and at scale?"}
			}),
		},
	}
}

// noPlace is a store that keeps answers and no place.
type noPlace struct{ study.Store }

func (noPlace) SaveProgress(context.Context, string, []byte) error {
	return errors.New("the place does not fit")
}

// table is a service over a store of its own, which wrap may change.
func table(t *testing.T, wrap func(study.Store) study.Store) *study.Service {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return study.New(library(), nil, wrap(st), func() time.Time { now = now.Add(time.Second); return now }, &counter{})
}

// counter is a stream of bytes in which no id comes twice.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	c.n++
	return copy(p, bytes.Repeat([]byte{c.n}, len(p))), nil
}

func asIs(st study.Store) study.Store { return st }

// ask is a session with one question, by its id.
func ask(t *testing.T, svc *study.Service, id string, interview bool) *quiz.Session {
	t.Helper()
	s, err := quiz.New(quiz.Config{
		Library: svc.Library(), Items: []quiz.Item{{Question: "t." + id, Variant: 1}}, ID: svc.NewID(), NewID: svc.NewID, Interview: interview, Title: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// talk holds a session with the lines typed, and returns what was said.
func talk(t *testing.T, svc *study.Service, s *quiz.Session, typed ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	var in io.Reader = strings.NewReader("")
	if len(typed) > 0 {
		in = strings.NewReader(strings.Join(typed, "\n") + "\n")
	}
	err := Quiz(t.Context(), svc, s, Streams{In: in, Out: &out, Echo: true})
	return out.String(), err
}

func contains(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("nothing says %q:\n%s", w, out)
		}
	}
}

// Whatever is typed where, nothing is graded that was not given; the end of the
// input at any prompt leaves a session that can be resumed.
func TestGarbageAndTheEndOfTheInput(t *testing.T) {
	for kind, garbage := range map[string]string{"choice": "7", "multi": "x", "number": "many", "fill": ""} {
		svc := table(t, asIs)
		out, err := talk(t, svc, ask(t, svc, kind, false), garbage, "")
		contains(t, out, "Prompt of "+kind, "0 answered", "rdmaprep quiz --plain --resume")
		if err != nil || strings.Contains(out, "How sure") {
			t.Errorf("%s: %v\n%s", kind, err, out)
		}
		s, err := svc.ResumeQuiz(t.Context(), study.QuizKey)
		if err != nil {
			t.Fatal(err)
		}
		if v := s.View(); v.Phase != quiz.Asking || v.Instance.ID() != "t."+kind {
			t.Errorf("%s: resumed in phase %s of %s", kind, v.Phase, v.Instance.ID())
		}
	}
	whole := []string{"said aloud", "80", "y", "n", "", "3", ""}
	for n := range whole {
		svc := table(t, asIs)
		if _, err := talk(t, svc, ask(t, svc, "open", false), whole[:n]...); err != nil {
			t.Errorf("after %q: %v", whole[:n], err)
		}
		if n == len(whole)-1 {
			continue // the grade was given: there is nothing left to resume
		}
		if _, err := svc.ResumeQuiz(t.Context(), study.QuizKey); err != nil {
			t.Errorf("after %q: %v", whole[:n], err)
		}
	}
}

func TestConfidenceAtItsPrompt(t *testing.T) {
	svc := table(t, asIs)
	out, err := talk(t, svc, ask(t, svc, "number", false), "24", "49", "sure", "undo", "24", "70%", "")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, out, `"49" is no number from 50 to 100`, `"sure" is no number from 50 to 100`, "The question again", "RIGHT.", "Saved.", "1 answered, 1 right")
	log, err := svc.Attempts(t.Context())
	if err != nil || len(log) != 1 || log[0].Sure != 70 || log[0].Answer.Text != "24" {
		t.Errorf("the log holds %+v, %v", log, err)
	}
}

// An open answer that was typed and not given comes again, and enter gives it.
func TestTypedAnswerIsNotLost(t *testing.T) {
	svc := table(t, asIs)
	if _, err := talk(t, svc, ask(t, svc, "open", true), "READ is *not* a flush", "quit"); err != nil {
		t.Fatal(err)
	}
	s, err := svc.ResumeQuiz(t.Context(), study.QuizKey)
	if err != nil {
		t.Fatal(err)
	}
	out, err := talk(t, svc, s, "", "", "y", "n", "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, out, "You typed this before", "    READ is *not* a flush\n", "You made 1 of 2 points.", "missed: two", "And then: and at scale?", " of 3 minutes.")
	log, err := svc.Attempts(t.Context())
	if err != nil || len(log) != 1 || log[0].Answer.Text != "READ is *not* a flush" {
		t.Errorf("the log holds %+v, %v", log, err)
	}
}

// The verdict on the last question is shown like every other, and an undo there
// asks it again.
func TestLastVerdictIsShown(t *testing.T) {
	svc := table(t, asIs)
	out, err := talk(t, svc, ask(t, svc, "choice", false), "1", "", "undo", "2", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(out, "RIGHT.\n") != 1 || strings.Count(out, "WRONG.\n") != 1 || strings.Count(out, "Enter ends the quiz, undo, quit, or ?:") != 2 {
		t.Errorf("one right and one wrong verdict are expected:\n%s", out)
	}
	if _, err := svc.ResumeQuiz(t.Context(), study.QuizKey); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("a finished quiz can be resumed: %v", err)
	}
}

// Leaving is possible at every prompt of an open question.
func TestQuitAtEveryPrompt(t *testing.T) {
	whole := []string{"aloud", "80", "y", "n", "", "3", ""}
	for n := range whole {
		svc := table(t, asIs)
		out, err := talk(t, svc, ask(t, svc, "open", false), append(append([]string{}, whole[:n]...), "quit", "y", "y", "y", "y", "4")...)
		if err != nil || strings.Count(out, "quit\n") != 1 || !strings.Contains(out, "answered, ") {
			t.Errorf("after %q: %v\n%s", whole[:n], err, out)
		}
	}
}

// A place that cannot be kept is told once, the answers are saved all the same,
// and the end says what is lost.
func TestPlaceThatCannotBeKept(t *testing.T) {
	svc := table(t, func(st study.Store) study.Store { return noPlace{st} })
	out, err := talk(t, svc, ask(t, svc, "number", false), "h", "12", "80", "undo", "24", "", "quit")
	contains(t, out, "Saved.")
	if n := strings.Count(out, "NOT SAVED: where you are"); n != 1 {
		t.Errorf("told %d times:\n%s", n, out)
	}
	if err == nil || !strings.Contains(err.Error(), "where you are could not be saved: the place does not fit") {
		t.Errorf("the end says %v", err)
	}
	if strings.Contains(out, "--resume") {
		t.Errorf("it offers to resume what was not kept:\n%s", out)
	}
	if log, err := svc.Attempts(t.Context()); err != nil || len(log) != 3 {
		t.Errorf("%d in the log, want two answers and an undo (%v)", len(log), err)
	}
}
