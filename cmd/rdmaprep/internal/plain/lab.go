package plain

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/lessons"
)

// walker walks a lab with its learner.
type walker struct {
	*lines
	keeping
	svc *study.Service
	lab *lessons.Lab
	run *study.LabRun
	now func() time.Time
}

// Lab walks a lab to its saved record, or to the end of the input. The lab's
// progress is kept; the caller closes run.
func Lab(ctx context.Context, svc *study.Service, lab *lessons.Lab, run *study.LabRun, st Streams) error {
	w := &walker{lines: newLines(ctx, st), svc: svc, lab: lab, run: run, now: svc.Now}
	v := lab.View()
	w.printf("Lab: %s\n", v.Lab.Title)
	w.hang("", v.Lab.Goal, "")
	w.printf("%s, about %s, %s.\n", count(v.Total, "step"), count(v.Lab.Minutes, "minute"), w.device(v))
	w.step(lessons.Begin{})
	err := w.walk()
	w.step(lessons.Leave{})
	if left(err) && w.place == nil {
		w.printf("\nLeft half-way. To go on: rdmaprep lab %s --plain --resume%s\n", v.Lab.ID, w.flag())
	}
	if errors.Is(err, errEnd) {
		err = nil
	}
	return errors.Join(err, w.lines.err, w.lost("answer or record", lab.View().Pending))
}

// device says what the lab runs on.
func (w *walker) device(v lessons.View) string {
	if live := w.svc.Chosen().Live; live != "" {
		return fmt.Sprintf("live on %s, and on the model (profile %s) what that cannot run", live, v.Profile)
	}
	return fmt.Sprintf("on the model, profile %s, seed %d", v.Profile, v.Seed)
}

// flag names the live device for another run, "" for the model.
func (w *walker) flag() string {
	if flags := w.svc.Flags(); flags != "" {
		return " " + flags
	}
	return ""
}

// step hands an event to the lab and carries out what it asks for.
func (w *walker) step(ev lessons.Event) {
	r, err := w.svc.PumpLab(w.ctx, w.run, w.lab, ev)
	w.note(w.lines, r, err)
}

func (w *walker) walk() error {
	for {
		if err := w.stopped(w.ctx); err != nil {
			return err
		}
		v := w.lab.View()
		var err error
		switch v.Phase {
		case lessons.Reading:
			err = w.read(v)
		case lessons.Observing:
			err = w.observe(v)
		case lessons.Running:
			err = w.again(v)
		case lessons.Scaling:
			err = w.scale(v)
		case lessons.Marking:
			err = w.mark(v)
		case lessons.Recording:
			err = w.record(v)
		case lessons.Finished:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// command carries out a word that is no answer.
func (w *walker) command(line string) (done bool, err error) {
	switch line {
	case "quit", "q":
		return true, errEnd
	case "h":
		w.step(lessons.Hint{})
		if h := w.lab.View().Step.Hints; len(h) > 0 {
			w.hang(fmt.Sprintf("Hint %d: ", len(h)), h[len(h)-1], "  ")
		} else {
			w.printf("There is no hint here.\n")
		}
	case "back":
		w.step(lessons.Back{})
		w.show(w.lab.View())
	case "forward":
		w.step(lessons.Forward{})
		w.show(w.lab.View())
	default:
		return false, nil
	}
	return true, nil
}

// toCurrent brings the cursor back to the step that is next.
func (w *walker) toCurrent() {
	for v := w.lab.View(); !v.Current && v.CanForward; v = w.lab.View() {
		w.step(lessons.Forward{})
	}
}

// show prints an earlier step as it was.
func (w *walker) show(v lessons.View) {
	w.printf("\nLooking at step %s: %s\n", v.Step.Place, v.Step.Content.Title)
	if v.Step.Locked != nil && v.Step.Content.Predict != nil {
		w.hang(fmt.Sprintf("You predicted (%d %% sure): ", v.Step.Locked.Sure), v.Step.Content.Predict.Options[v.Step.Locked.Option].Text, "  ")
	}
	if v.Step.Observation != nil {
		w.observation(*v.Step.Observation)
	} else {
		w.printf("It was not run yet.\n")
	}
}

func (w *walker) read(v lessons.View) error {
	s := v.Step
	head := ""
	if s.Adversarial {
		head = "Adversarial case. "
	}
	w.printf("\n")
	w.hang(fmt.Sprintf("Step %d of %d. %s", v.Number, v.Total, head), fmt.Sprintf("Part: %s. Step: %s.", s.PartTitle, s.Content.Title), "  ")
	if s.Setup != "" {
		w.printf("Set-up of this part:\n%s\n", indent(s.Setup))
	}
	if why := w.run.Where(s.Part).Why; why != "" {
		w.hang("MODEL, not the live device: ", why+".", "  ")
	}
	w.prose(s.Content.Explain)
	if s.Content.Calls != "" {
		w.printf("The calls:\n%s\n", indent(s.Content.Calls))
	}
	if s.Content.Predict == nil {
		line, err := w.ask("Enter to run it, h for a hint, back, quit:")
		if err != nil {
			return err
		}
		if done, err := w.command(line); done || err != nil {
			w.toCurrent()
			return err
		}
		w.step(lessons.Run{})
		return w.refused()
	}
	return w.predict(v)
}

func (w *walker) predict(v lessons.View) error {
	p := v.Step.Content.Predict
	w.printf("\n")
	w.hang("Predict: ", p.Prompt, "  ")
	for i, o := range p.Options {
		w.hang(fmt.Sprintf("  %d) ", i+1), o.Text, "     ")
	}
	for {
		line, err := w.ask("Your prediction, 1 to %d, or h for a hint, back, quit:", len(p.Options))
		if err != nil {
			return err
		}
		if done, err := w.command(line); err != nil {
			return err
		} else if done {
			w.toCurrent()
			continue
		}
		n, err := strconv.Atoi(line)
		if err != nil || n < 1 || n > len(p.Options) {
			w.printf("%q is no choice: type a number from 1 to %d.\n", line, len(p.Options))
			continue
		}
		w.step(lessons.Pick{Option: n - 1})
		break
	}
	for {
		line, err := w.ask("How sure, 50 to 100 percent? Then it is locked and the step runs:")
		if err != nil {
			return err
		}
		if quits(line) {
			return errEnd
		}
		n, err := percent(line)
		if err != nil {
			w.printf("%v\n", err)
			continue
		}
		w.step(lessons.SetConfidence{Percent: n})
		break
	}
	w.step(lessons.Run{})
	return w.refused()
}

// refused prints why a step did not run, if it did not.
func (w *walker) refused() error {
	if v := w.lab.View(); v.Phase != lessons.Observing && v.Message != "" {
		w.printf("%s\n", v.Message)
	}
	return nil
}

// again offers another try after a run that did not come about.
func (w *walker) again(v lessons.View) error {
	w.printf("%s\n", v.Message)
	line, err := w.ask("Enter to try again, quit to leave:")
	if err != nil {
		return err
	}
	if quits(line) {
		return errEnd
	}
	w.step(lessons.Run{})
	return nil
}

func (w *walker) observe(v lessons.View) error {
	s := v.Step
	w.printf("\n")
	if s.Observation != nil {
		w.observation(*s.Observation)
	}
	if s.Locked != nil && s.Content.Predict != nil {
		w.compare(s)
	}
	w.printf("\n")
	w.prose(s.Content.Notice)
	for {
		line, err := w.ask("Enter to go on, back to look at an earlier step, forward, quit:")
		if err != nil {
			return err
		}
		if line == "" {
			break
		}
		done, err := w.command(line)
		if err != nil {
			return err
		}
		if !done {
			w.printf("%q is nothing I know here.\n", line)
		}
	}
	w.toCurrent()
	w.step(lessons.Next{})
	return nil
}

// compare holds the prediction against the run.
func (w *walker) compare(s lessons.StepView) {
	p := s.Content.Predict
	mine := p.Options[s.Locked.Option].Text
	switch {
	case !s.Locked.Graded:
		w.printf("\nYour prediction was not graded: the step did not run to its end.\n")
	case s.Locked.Correct:
		w.printf("\n")
		w.hang(fmt.Sprintf("As you predicted (%d %% sure): ", s.Locked.Sure), mine, "  ")
	default:
		w.printf("\n")
		w.hang(fmt.Sprintf("NOT as you predicted (%d %% sure): ", s.Locked.Sure), mine, "  ")
	}
	for i, o := range p.Options {
		held := "did not hold"
		if s.Observation != nil && i < len(s.Observation.Right) && s.Observation.Right[i] {
			held = "held"
		}
		w.hang(fmt.Sprintf("  %d, %s: ", i+1, held), o.Why, "     ")
	}
}
