package plain

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/lessons"
	"rdmaprep/quiz"
)

// asker walks a quiz session with its learner.
type asker struct {
	*lines
	keeping
	svc  *study.Service
	sess *quiz.Session
	now  func() time.Time
	seen *lessons.Observation // of the last proof
	told int                  // the number of the question whose verdict was shown last
}

// Quiz walks a session to its end, or to the end of the input. The session's
// progress is kept under study.QuizKey.
func Quiz(ctx context.Context, svc *study.Service, sess *quiz.Session, st Streams) error {
	a := &asker{lines: newLines(ctx, st), svc: svc, sess: sess, now: svc.Now}
	a.printf("%s: %s. Type ? for the commands.\n", sess.View().Title, count(sess.View().Total, "question"))
	a.step(quiz.Begin{})
	err := a.walk()
	a.step(quiz.Leave{})
	if errors.Is(err, errEnd) {
		err = nil
	}
	a.summary()
	return errors.Join(err, a.lines.err, a.lost("answer", a.sess.View().Pending))
}

// step hands an event to the session and carries out what it asks for.
func (a *asker) step(ev quiz.Event) {
	r, err := a.svc.PumpQuiz(a.ctx, study.QuizKey, a.sess, ev)
	if r.Proof != nil {
		a.seen = &r.Proof.Observation
	}
	a.note(a.lines, r, err)
}

func (a *asker) walk() error {
	for {
		if err := a.stopped(a.ctx); err != nil {
			return err
		}
		v := a.sess.View()
		if v.Total == 0 || v.Finished && (v.Phase != quiz.Done || a.told == v.Number) {
			return nil
		}
		var err error
		switch v.Phase {
		case quiz.Asking:
			err = a.question(v)
		case quiz.Marking:
			err = a.mark(v)
		case quiz.Done:
			err = a.verdict(v)
		case quiz.Proving:
			err = fmt.Errorf("question %s: its proof gave no result", v.Instance.ID())
		}
		if err != nil {
			return err
		}
	}
}

func (a *asker) question(v quiz.View) error {
	in := v.Instance
	a.seen, a.told = nil, 0
	a.printf("\nQuestion %d of %d. Topic %s. %s.\n", v.Number, v.Total, in.Question.Topic, kindText(in))
	if v.Limit > 0 {
		a.limit(v)
	}
	a.prose(in.Question.Prompt)
	if p := in.Question.Proof; p != nil && in.Question.Kind == "predict" {
		a.printf("\nThe script:\n%s\n", indent(p.Script))
	}
	for i, c := range in.Choices {
		a.hang(fmt.Sprintf("  %d) ", i+1), c.Text, "     ")
	}
	if v.Draft != "" {
		a.printf("You typed this before and did not give it; enter gives it:\n%s\n", indent(v.Draft))
	}
	for {
		line, err := a.ask("%s", howTo(in))
		if err != nil {
			return err
		}
		if done, err := a.command(line); done || err != nil {
			return err
		}
		if line == "h" || line == "?" {
			continue
		}
		if line == "" {
			line = a.sess.View().Draft
		}
		ans, err := parseAnswer(in, line)
		if err != nil {
			a.printf("%v\n", err)
			continue
		}
		if ans.Text != "" {
			a.step(quiz.Draft{Text: ans.Text}) // whoever leaves now finds it again
		}
		if in.Input() == quiz.Speak {
			a.timed(v)
		}
		if done, err := a.sure(); done || err != nil {
			return err
		}
		a.step(quiz.Give{Answer: ans})
		if w := a.sess.View(); w.Phase == quiz.Asking {
			a.printf("%s\n", w.Message)
			continue
		}
		return nil
	}
}

// kindText says what sort of answer is wanted.
func kindText(in *quiz.Instance) string {
	switch in.Input() {
	case quiz.PickOne:
		return "Choose one"
	case quiz.PickMany:
		return "Choose all that are right"
	case quiz.PickOrder:
		return "Put in order"
	case quiz.Speak:
		return "Open question"
	}
	if in.Question.Kind == "number" {
		return "Give a number"
	}
	return "Fill in"
}

// howTo is the prompt of an instance.
func howTo(in *quiz.Instance) string {
	switch in.Input() {
	case quiz.PickOne:
		return fmt.Sprintf("Your answer, 1 to %d, or ?:", len(in.Choices))
	case quiz.PickMany:
		return fmt.Sprintf("All that are right of 1 to %d, such as 1 3, or 0 for none, or ?:", len(in.Choices))
	case quiz.PickOrder:
		return fmt.Sprintf("The order, first step first, such as %s, or ?:", anOrder(len(in.Choices)))
	case quiz.Speak:
		return "Say your answer aloud and press enter, or type it in one line, or ?:"
	}
	if u := in.Question.Unit; u != "" {
		return fmt.Sprintf("Your answer in %s, or ?:", u)
	}
	return "Your answer, or ?:"
}

// limit says how much time there is for an open question in interview mode.
func (a *asker) limit(v quiz.View) {
	left := v.Limit - a.now().Sub(v.ShownAt).Round(time.Second)
	if left <= 0 {
		a.printf("The %s for it are over.\n", span(v.Limit))
		return
	}
	a.printf("You have %s, from now.\n", span(left))
}

// anOrder is an order of n things, not that in which they are shown.
func anOrder(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d ", (i+1)%n+1)
	}
	return strings.TrimSpace(b.String())
}

// timed says how long an open question took in interview mode.
func (a *asker) timed(v quiz.View) {
	if v.Limit <= 0 || v.ShownAt.IsZero() {
		return
	}
	took := a.now().Sub(v.ShownAt).Round(time.Second)
	if took > v.Limit {
		a.printf("Time was up %s ago: an interviewer would have stopped you.\n", span(took-v.Limit))
		return
	}
	a.printf("You took %s of %s.\n", span(took), span(v.Limit))
}

// sure asks for the confidence before the answer is locked; done says that the
// answer was taken back.
func (a *asker) sure() (done bool, err error) {
	for {
		line, err := a.ask("How sure, 50 to 100 percent? Enter leaves it out, undo changes the answer:")
		if err != nil {
			return false, err
		}
		switch {
		case line == "":
			return false, nil
		case line == "undo" || line == "u":
			a.printf("Not given. The question again.\n")
			return true, nil
		case quits(line):
			return false, errEnd
		}
		n, err := percent(line)
		if err != nil {
			a.printf("%v\n", err)
			continue
		}
		a.step(quiz.SetConfidence{Percent: n})
		return false, nil
	}
}

// percent reads a confidence.
func percent(line string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(line, "%")))
	if err != nil || n < 50 || n > 100 {
		return 0, fmt.Errorf("%q is no number from 50 to 100", line)
	}
	return n, nil
}

const commands = `h      a hint, before the answer
skip   leave this question out
x      after the answer, where it can be run: the run and its packets
undo   take the last answer back
go 7   question 7
/fence the next question that mentions the word fence
quit   leave; rdmaprep quiz --plain --resume goes on there
`

// command carries out a word that is no answer; done says that the question
// shown may have changed.
func (a *asker) command(line string) (done bool, err error) {
	before := a.sess.View()
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case quits(line):
		return true, errEnd
	case line == "?":
		a.printf("%s", commands)
		return false, nil
	case line == "h":
		a.hint()
		return false, nil
	case line == "skip":
		a.step(quiz.Skip{})
		if v := a.sess.View(); v.Skipped && v.Number == before.Number && !v.Finished {
			return true, a.elsewhere(v)
		}
	case line == "undo" || line == "u":
		a.step(quiz.Undo{})
	case word == "go":
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil && len(before.Instance.Choices) == 0 {
			return false, nil // a sentence that begins with this word
		}
		if err != nil {
			a.printf("go takes the number of a question, such as: go 7\n")
			return true, nil
		}
		a.step(quiz.Jump{Number: n})
	case strings.HasPrefix(line, "/"):
		a.step(quiz.Search{Words: line[1:]})
		if m := a.sess.View().Matches; len(m) > 1 {
			a.printf("Found in questions %s.\n", strings.Trim(fmt.Sprint(m), "[]"))
		}
	default:
		return false, nil
	}
	if m := a.sess.View().Message; m != "" {
		a.printf("%s\n", m)
	}
	return true, nil
}

func (a *asker) hint() {
	had := len(a.sess.View().Hints)
	a.step(quiz.Hint{})
	v := a.sess.View()
	if n := len(v.Hints); n > had {
		a.hang(fmt.Sprintf("Hint %d: ", n), fmt.Sprintf("%s (%d left)", v.Hints[n-1], v.HintsLeft), "  ")
		return
	}
	a.printf("%s\n", v.Message)
}

func (a *asker) summary() {
	v := a.sess.View()
	a.printf("\n%d answered, %d right.\n", v.Answered, v.Right)
	if !v.Finished && v.Total > 0 && a.place == nil {
		a.printf("To go on where you left: rdmaprep quiz --plain --resume\n")
	}
}
