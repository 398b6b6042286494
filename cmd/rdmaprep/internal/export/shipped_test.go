package export

import (
	"context"
	"strings"
	"testing"

	"rdmaprep/content"
	"rdmaprep/quiz"
)

// With the shipped content and every question and prediction missed, each has
// its section on its topic's page, and nothing of the content breaks a page.
func TestShippedContentAllMissed(t *testing.T) {
	lib, problems := content.Load(content.Embedded())
	if len(problems) > 0 {
		t.Fatal(problems[0])
	}
	d := Data{Now: now, Library: lib, Right: func(context.Context, string, uint64) (string, error) { return "as run", nil }}
	attemptNumber = 0
	want := map[string]int{}
	miss := func(id, topic string) {
		attemptNumber++
		d.Log = append(d.Log, quiz.Attempt{ID: quiz.ID(id), Kind: quiz.Answered, Question: id, Variant: 7, At: now, Day: today, Graded: true, Rating: 1})
		want[topic]++
	}
	for _, q := range lib.Questions {
		miss(q.ID, q.Topic)
	}
	(&notebook{Data: d}).eachPrediction(func(lab *content.Lab, part, step int) { miss(quiz.LabQuestion(lab.ID, part, step), lab.Topic) })
	d.Cards = quiz.Fold(d.Log)
	pages := render(t, d)
	for topic, n := range want {
		told := outline(t, pages["topics/"+topic+".md"])
		if len(told) != n {
			t.Errorf("%s: %d missed are told, want %d", topic, len(told), n)
		}
		for id, parts := range told {
			if parts["Question"] == "" || parts["Scope"] == "" || parts["Source"] == "" {
				t.Errorf("%s has no prompt, scope or source: %v", id, parts)
			}
		}
		for _, h := range headings(pages["topics/"+topic+".md"])[1:] {
			if h != "2 Studied" && h != "2 Missed" && !strings.HasPrefix(h, "3 ") {
				t.Errorf("%s: a heading that is not ours: %s", topic, h)
			}
		}
	}
}
