package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	ctx  context.Context
	svc  *study.Service
	sess *quiz.Session
	now  func() time.Time
	seen *lessons.Observation // of the last proof
}

// Quiz walks a session to its end, or to the end of the input. The session's
// progress is kept under study.QuizKey.
func Quiz(ctx context.Context, svc *study.Service, sess *quiz.Session, in io.Reader, out io.Writer) error {
	a := &asker{lines: newLines(ctx, in, out), ctx: ctx, svc: svc, sess: sess, now: svc.Now}
	a.printf("%s: %d questions. Commands at any prompt: h hint, skip, undo, go N, /WORD search, quit.\n",
		sess.View().Title, sess.View().Total)
	a.step(quiz.Begin{})
	err := a.walk()
	a.step(quiz.Leave{})
	if errors.Is(err, errEnd) {
		err = nil
	}
	a.summary()
	return errors.Join(err, a.lines.err, a.unsaved())
}

// step hands an event to the session and carries out what it asks for.
func (a *asker) step(ev quiz.Event) {
	queue := []quiz.Event{ev}
	for len(queue) > 0 {
		effects := a.sess.Step(a.now(), queue[0])
		queue = queue[1:]
		for _, e := range effects {
			next, proof := a.svc.QuizEffect(a.ctx, study.QuizKey, e)
			if proof != nil {
				a.seen = &proof.Observation
			}
			if next != nil {
				queue = append(queue, next)
			}
		}
	}
}

func (a *asker) unsaved() error {
	if v := a.sess.View(); v.Pending > 0 {
		return fmt.Errorf("%d answer(s) could not be saved: %s", v.Pending, v.Message)
	}
	return nil
}

func (a *asker) walk() error {
	for {
		v := a.sess.View()
		if v.Finished || v.Total == 0 {
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
	a.seen = nil
	a.printf("\n--- Question %d of %d: %s (%s)\n", v.Number, v.Total, in.Question.Topic, in.Question.Kind)
	a.prose(in.Question.Prompt)
	if p := in.Question.Proof; p != nil && in.Question.Kind == "predict" {
		a.printf("\nThe script:\n    %s\n", strings.ReplaceAll(strings.TrimSpace(p.Script), "\n", "\n    "))
	}
	for i, c := range in.Choices {
		a.printf("  %d) %s\n", i+1, fold(plainText(c.Text), width-5, "     "))
	}
	for {
		line, err := a.ask("%s", howTo(in))
		if err != nil {
			return err
		}
		if done, err := a.command(line); done || err != nil {
			return err
		}
		if line == "h" {
			continue
		}
		ans, err := parseAnswer(in, line)
		if err != nil {
			a.printf("%v\n", err)
			continue
		}
		if err := a.sure(); err != nil {
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

// howTo is the prompt of an instance.
func howTo(in *quiz.Instance) string {
	switch in.Input() {
	case quiz.PickOne:
		return fmt.Sprintf("Your answer (1-%d):", len(in.Choices))
	case quiz.PickMany:
		return fmt.Sprintf("All that are right, such as 1 3 (0 for none, 1-%d):", len(in.Choices))
	case quiz.PickOrder:
		return fmt.Sprintf("The order, first to last, such as 2 1 3 (%d numbers):", len(in.Choices))
	case quiz.Speak:
		return "Answer aloud or type, then enter:"
	}
	if u := in.Question.Unit; u != "" {
		return fmt.Sprintf("Your answer, in %s:", u)
	}
	return "Your answer:"
}

// sure asks for the confidence before the answer is locked.
func (a *asker) sure() error {
	for {
		line, err := a.ask("How sure, in percent (50-100, enter to leave it out):")
		if err != nil {
			return err
		}
		if line == "" {
			return nil
		}
		n, err := strconv.Atoi(strings.TrimSuffix(line, "%"))
		if err != nil || n < 50 || n > 100 {
			a.printf("%q is no number from 50 to 100.\n", line)
			continue
		}
		a.step(quiz.SetConfidence{Percent: n})
		return nil
	}
}

// command carries out a word that is no answer; done says that the question
// shown has changed.
func (a *asker) command(line string) (done bool, err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "quit" || line == "q":
		return true, errEnd
	case line == "h":
		a.step(quiz.Hint{})
		v := a.sess.View()
		if n := len(v.Hints); n > 0 {
			a.printf("Hint %d: %s (%d left)\n", n, fold(plainText(v.Hints[n-1]), width, "  "), v.HintsLeft)
		} else {
			a.printf("There is no hint for this one.\n")
		}
		return false, nil
	case line == "skip":
		a.step(quiz.Skip{})
	case line == "undo" || line == "u":
		a.step(quiz.Undo{})
	case word == "go":
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil {
			a.printf("go takes the number of a question, such as: go 7\n")
			return true, nil
		}
		a.step(quiz.Jump{Number: n})
	case strings.HasPrefix(line, "/"):
		a.step(quiz.Search{Words: line[1:]})
	default:
		return false, nil
	}
	if m := a.sess.View().Message; m != "" {
		a.printf("%s\n", m)
	}
	return true, nil
}

func (a *asker) summary() {
	v := a.sess.View()
	a.printf("\n%d answered, %d right.\n", v.Answered, v.Right)
	if !v.Finished && v.Total > 0 {
		a.printf("To go on where you left: rdmaprep quiz --plain --resume\n")
	}
}
