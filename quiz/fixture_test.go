package quiz

import (
	"fmt"
	"testing"
	"time"

	"rdmaprep/content"
)

// noon is a time in the middle of a learner's day.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// library has one question of every kind and of every way to be graded.
func library() *content.Library {
	q := func(id string, kind content.Kind, change func(*content.Question)) *content.Question {
		q := &content.Question{ID: id, Topic: "t1", Kind: kind, Prompt: "prompt of " + id, Hints: []string{"nudge", "nearly"}}
		change(q)
		return q
	}
	lib := &content.Library{
		Topics: []*content.Topic{{ID: "t1"}, {ID: "t2"}},
		Questions: []*content.Question{
			q("t1.choice", content.Choice, func(q *content.Question) {
				q.Choices = []content.Option{{Text: "yes", Right: true}, {Text: "no"}, {Text: "perhaps"}}
			}),
			q("t1.multi", content.Multi, func(q *content.Question) {
				q.Choices = []content.Option{{Text: "a", Right: true}, {Text: "b"}, {Text: "c", Right: true}, {Text: "d"}}
			}),
			q("t1.order", content.Order, func(q *content.Question) {
				q.Steps = []content.OrderStep{{Text: "one"}, {Text: "two"}, {Text: "three"}}
			}),
			q("t1.number", content.Number, func(q *content.Question) { q.Answer, q.Unit = "67.1", "ms" }),
			q("t1.fill", content.Fill, func(q *content.Question) { q.Answer, q.Accept = "WR_FLUSH_ERR", []string{"flush error"} }),
			q("t1.proof", content.Choice, func(q *content.Question) {
				q.Choices = []content.Option{{Text: "ERR", Holds: []string{"x"}}, {Text: "RTS", Holds: []string{"y"}}}
				q.Proof = &content.Proof{Script: "script 1\n"}
			}),
			q("t1.predict", content.Predict, func(q *content.Question) {
				q.Options = []string{"SUCCESS", "RNR_RETRY_EXC_ERR"}
				q.Proof = &content.Proof{Script: "script 1\n", Asks: "a.cq1[0].status"}
			}),
			q("t1.sequence", content.Order, func(q *content.Question) {
				q.Steps = []content.OrderStep{{Text: "INIT", Do: "i"}, {Text: "RTR", Do: "r"}, {Text: "RTS", Do: "s"}}
				q.Proof = &content.Proof{Script: "script 1\n"}
			}),
			q("t1.maybe", content.Choice, func(q *content.Question) {
				q.Provisional = true
				q.Choices = []content.Option{{Text: "yes", Right: true}, {Text: "no"}}
			}),
			q("t2.open", content.Open, func(q *content.Question) {
				q.Topic, q.Hints = "t2", nil
				q.Rubric = []content.Point{{Text: "must", Must: true}, {Text: "may"}, {Text: "also"}}
				q.FollowUps = []string{"and then?", "and if not?"}
			}),
		},
		Labs: []*content.Lab{{
			ID: "lab1", Topic: "t2", Title: "A lab",
			Parts: []content.Part{{Title: "p", Setup: "script 1\npair rc\n", Steps: []content.Step{
				{Title: "s1", Script: "a: query_qp qp1\n"},
				{Title: "s2", Script: "b: query_qp qp1\n", Predict: &content.Prediction{
					Prompt: "what?", Options: []content.Option{{Text: "o1", Holds: []string{"x"}}, {Text: "o2", Holds: []string{"y"}}},
				}},
			}}},
		}},
	}
	return lib
}

func items(lib *content.Library, ids ...string) []Item {
	var out []Item
	if len(ids) == 0 {
		for _, q := range lib.Questions {
			ids = append(ids, q.ID)
		}
	}
	for _, id := range ids {
		out = append(out, Item{Question: id, Variant: VariantOf(1, id)})
	}
	return out
}

// counter makes ids that are counted.
func counter(prefix string) func() ID {
	n := 0
	return func() ID {
		n++
		return ID(fmt.Sprintf("%s%031d", prefix, n))
	}
}

func session(t *testing.T, ids ...string) *Session {
	t.Helper()
	lib := library()
	s, err := New(Config{Library: lib, Items: items(lib, ids...), ID: "s", NewID: counter("a"), Title: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func draw(t *testing.T, id string) *Instance {
	t.Helper()
	for _, q := range library().Questions {
		if q.ID == id {
			in, err := Draw(q, 5)
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
	}
	t.Fatalf("no question %s", id)
	return nil
}

// shown is the index at which a choice of the content is shown.
func shown(in *Instance, text string) int {
	for i, c := range in.Choices {
		if c.Text == text {
			return i
		}
	}
	return -1
}

func picks(in *Instance, texts ...string) []int {
	out := []int{}
	for _, t := range texts {
		out = append(out, shown(in, t))
	}
	return out
}
