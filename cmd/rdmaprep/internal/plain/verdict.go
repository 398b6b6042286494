package plain

import (
	"strconv"
	"strings"

	"rdmaprep/quiz"
)

// mark walks the rubric of an open question.
func (a *asker) mark(v quiz.View) error {
	if len(v.Points) == 0 {
		a.step(quiz.Reveal{})
		v = a.sess.View()
		a.printf("\nNow the points that a good answer makes, one at a time.\n")
	}
	for i := len(v.Points); i <= v.PointsTotal && v.Suggested == 0 && i > 0; i = len(v.Points) {
		p := v.Points[i-1]
		must := ""
		if p.Must {
			must = " (a must)"
		}
		yes, err := a.yes("  Point %d of %d: %s%s\n  Did you say it? y or n:", i, v.PointsTotal, fold(plainText(p.Text), width-6, "      "), must)
		if err != nil {
			return err
		}
		a.step(quiz.Mark{Made: yes})
		v = a.sess.View()
	}
	a.printf("\nOne model answer:\n")
	a.prose(v.Instance.Question.Model)
	for len(v.FollowUps) < v.FollowUpsIn {
		a.step(quiz.FollowUp{})
		v = a.sess.View()
		a.printf("\nAnd then: %s\n", v.FollowUps[len(v.FollowUps)-1])
		if _, err := a.ask("Answer aloud, then enter:"); err != nil {
			return err
		}
	}
	for {
		line, err := a.ask("Your own grade: 1 again, 2 hard, 3 good, 4 easy (enter for %d):", v.Suggested)
		if err != nil {
			return err
		}
		grade := v.Suggested
		if line != "" {
			if grade, err = strconv.Atoi(line); err != nil || grade < 1 || grade > 4 {
				a.printf("%q is no grade from 1 to 4.\n", line)
				continue
			}
		}
		a.step(quiz.GradeSelf{Grade: grade})
		return nil
	}
}

func (l *lines) yes(format string, args ...any) (bool, error) {
	for {
		line, err := l.ask(format, args...)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(line) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		case "quit", "q":
			return false, errEnd
		}
		format, args = "Type y or n:", nil
	}
}

func (a *asker) verdict(v quiz.View) error {
	a.say(v)
	for {
		line, err := a.ask("%s", onward(v))
		if err != nil {
			return err
		}
		if line == "x" {
			a.evidence(v)
			continue
		}
		if line == "" {
			a.step(quiz.Next{})
			if w := a.sess.View(); w.Number == v.Number && w.Phase == quiz.Done && !w.Finished {
				return a.elsewhere(w)
			}
			return nil
		}
		if line == "retry" {
			a.step(quiz.Retry{})
			v = a.sess.View()
			a.saved(v)
			continue
		}
		done, err := a.command(line)
		if done || err != nil {
			return err
		}
		if line != "?" && line != "h" {
			a.printf("%q is nothing I know here. Type ? for the commands.\n", line)
		}
	}
}

// onward is the prompt below a verdict.
func onward(v quiz.View) string {
	prompt := "Enter for the next question"
	if v.Instance.HasProof() {
		prompt += ", x to run it and see the packets"
	}
	if v.Save == quiz.Unsaved {
		prompt += ", retry to save again"
	}
	return prompt + ", undo, quit, or ?:"
}

// elsewhere goes to the first question that still waits, when the last one of
// the list was answered before others.
func (a *asker) elsewhere(v quiz.View) error {
	for n := 1; n <= v.Total; n++ {
		a.step(quiz.Jump{Number: n})
		if w := a.sess.View(); w.Phase != quiz.Done && !w.Skipped {
			return nil
		}
	}
	return errEnd
}

// say prints the verdict with all that stands behind it.
func (a *asker) say(v quiz.View) {
	q, d := v.Instance.Question, v.Verdict
	switch {
	case !d.Graded && q.Provisional:
		a.printf("\nNot graded: this is provisional.\n")
	case !d.Graded:
		a.printf("\nNot graded. %s\n", d.Note)
	case d.Correct:
		a.printf("\nRIGHT.\n")
	default:
		a.printf("\nWRONG.\n")
	}
	if d.Graded && d.Note != "" {
		a.printf("%s\n", d.Note)
	}
	if d.YoursText != "" {
		a.printf("Yours: %s\n", fold(plainText(d.YoursText), width, "  "))
	}
	if d.RightText != "" {
		a.printf("Right: %s\n", fold(plainText(d.RightText), width, "  "))
	}
	for i, c := range v.Instance.Choices {
		if c.Why != "" {
			a.printf("  %d, %s%s\n", i+1, marks(d, i), fold(plainText(c.Why), width-5, "     "))
		}
	}
	a.printf("\n")
	a.prose(q.Explain)
	a.printf("Scope: %s\n", fold(plainText(q.Scope), width, "  "))
	a.printf("Layer: %s\n", q.Layer)
	a.sources(q.Refs)
	if q.NotRun != "" {
		a.printf("Not run: %s\n", fold(q.NotRun, width, "  "))
	}
	a.saved(v)
}

// marks says of a choice whether it was right and whether it was picked.
func marks(d quiz.Verdict, i int) string {
	if i >= len(d.Choices) {
		return ""
	}
	text := "wrong"
	if d.Choices[i].Right {
		text = "right"
	}
	if d.Choices[i].Picked {
		text += ", yours"
	}
	return text + ": "
}

func (a *asker) saved(v quiz.View) {
	switch v.Save {
	case quiz.SavedSafe:
		a.printf("Saved.\n")
	case quiz.Unsaved:
		a.printf("NOT SAVED: %s\n", a.why)
	case quiz.NotSaved, quiz.Saving:
	}
}

func (a *asker) evidence(v quiz.View) {
	if !v.Instance.HasProof() {
		a.printf("Not run: %s\n", fold(v.Instance.Question.NotRun, width, "  "))
		return
	}
	a.step(quiz.Evidence{})
	if a.seen == nil {
		a.printf("The proof gave no result: %s\n", a.sess.View().Message)
		return
	}
	a.printf("\nThe script:\n%s\n", indent(v.Instance.Question.Proof.Script))
	a.observation(*a.seen)
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
}
