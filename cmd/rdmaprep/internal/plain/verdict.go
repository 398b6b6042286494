package plain

import (
	"fmt"
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
		a.hang(fmt.Sprintf("  Point %d of %d: ", i, v.PointsTotal), p.Text+must, "      ")
		yes, err := a.yes("  Did you say it? y or n:")
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
		a.printf("\n")
		a.hang("And then: ", v.FollowUps[len(v.FollowUps)-1], "  ")
		line, err := a.ask("Answer aloud, then enter:")
		if err != nil {
			return err
		}
		if quits(line) {
			return errEnd
		}
	}
	for {
		line, err := a.ask("Your own grade: 1 again, 2 hard, 3 good, 4 easy (enter for %d):", v.Suggested)
		if err != nil {
			return err
		}
		if quits(line) {
			return errEnd
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
		}
		if quits(line) {
			return false, errEnd
		}
		format, args = "Type y or n, or quit:", nil
	}
}

func (a *asker) verdict(v quiz.View) error {
	a.say(v)
	a.told = v.Number
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
	prompt := "Enter goes on"
	if v.Finished {
		prompt = "Enter ends the quiz"
	}
	if v.Instance.HasProof() {
		prompt += ", x runs it and shows the packets"
	}
	if v.Save == quiz.Unsaved {
		prompt += ", retry saves again"
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
	if v.Instance.Input() == quiz.Speak && d.Graded {
		a.missed(v)
	} else {
		a.yoursAndRight(d)
	}
	for i, c := range v.Instance.Choices {
		if c.Why != "" {
			a.hang(fmt.Sprintf("  %d, %s", i+1, marks(d, i)), c.Why, "     ")
		}
	}
	a.printf("\n")
	a.prose(q.Explain)
	a.hang("Scope: ", q.Scope, "  ")
	a.printf("Layer: %s\n", q.Layer)
	a.sources(q.Refs)
	if q.NotRun != "" {
		a.hang("Not run: ", q.NotRun, "  ")
	}
	a.saved(v)
}

// missed says how many points of an open answer were made, and which were not.
func (a *asker) missed(v quiz.View) {
	made := 0
	for _, m := range v.Marked {
		if m {
			made++
		}
	}
	a.printf("You made %d of %s.\n", made, count(v.PointsTotal, "point"))
	for i, m := range v.Marked {
		if !m && i < len(v.Points) {
			a.hang("  missed: ", v.Points[i].Text, "    ")
		}
	}
}

func (a *asker) yoursAndRight(d quiz.Verdict) {
	if d.YoursText != "" {
		a.hang("Yours: ", d.YoursText, "  ")
	}
	if d.RightText != "" {
		a.hang("Right: ", d.RightText, "  ")
	}
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
		a.hang("Not run: ", v.Instance.Question.NotRun, "  ")
		return
	}
	a.step(quiz.Evidence{})
	if a.seen == nil {
		a.printf("The proof gave no result: %s\n", a.sess.View().Message)
		return
	}
	a.printf("\nThe script:\n%s\n", indent(v.Instance.Question.Proof.Script))
	if len(v.Answer.Order) > 0 {
		a.printf("and behind it the steps in the order of your answer.\n")
	}
	a.observation(*a.seen)
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
}
