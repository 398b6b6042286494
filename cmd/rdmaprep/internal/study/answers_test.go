package study

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rdmaprep/content"
	"rdmaprep/quiz"
)

// The answers that the runs give to every question with a proof and to every
// prediction of a lab, as a second reader has checked them against the sources.
// A change of the model or of a script that turns an answer is seen here: a
// pack's linter only sees that some choice holds. After a change that is meant,
// and read, RDMAPREP_REWRITE=1 writes the list anew.
func TestReviewedAnswers(t *testing.T) {
	lib, problems := content.Load(content.Embedded())
	if len(problems) > 0 {
		t.Fatal(problems[0])
	}
	h := newHouse(t, lib)
	var got strings.Builder
	for _, q := range lib.Questions {
		if q.Proof == nil {
			continue
		}
		in, err := quiz.Draw(q, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n%s\n", q.ID, answerOf(t, h, in))
	}
	for _, lab := range lib.Labs {
		for p, part := range lab.AllParts() {
			for s, step := range part.Steps {
				if step.Predict == nil {
					continue
				}
				in, err := quiz.ForLab(lab, p, s, 0)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "%s\n%s\n", quiz.LabQuestion(lab.ID, p, s), answerOf(t, h, in))
			}
		}
	}
	const path = "testdata/answers.txt"
	if os.Getenv("RDMAPREP_REWRITE") != "" {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("answers differ from the reviewed ones (- reviewed, + now):\n%s", lineDiff(string(want), got.String()))
	}
}

// answerOf is what is right of an instance, one indented line each, in the
// order of the content.
func answerOf(t *testing.T, h *house, in *quiz.Instance) string {
	t.Helper()
	var order []int
	if in.Input() == quiz.PickOrder {
		order = make([]int, len(in.Choices))
		for shown, c := range in.Choices {
			order[c.Origin] = shown
		}
	}
	res, err := h.Proof(context.Background(), in, "", order)
	if err != nil {
		t.Fatalf("%s: %v", in.ID(), err)
	}
	if order != nil {
		return fmt.Sprintf("  the content's order passes: %t", res.Key.OrderPasses)
	}
	if len(res.Key.Right) == 0 {
		return "  " + res.Key.Value
	}
	lines := make([]string, len(in.Choices))
	for shown, c := range in.Choices {
		if res.Key.Right[shown] {
			lines[c.Origin] = "  " + c.Text
		}
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// lineDiff lists the lines that only one of two texts has.
func lineDiff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out []string
	for _, l := range w {
		if !slices.Contains(g, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}
