package plain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rdmaprep/lessons"
	"rdmaprep/lessons/decision"
)

func (w *walker) scale(v lessons.View) error {
	w.printf("\nAt larger scale\n")
	w.prose(v.Scale.Prompt)
	if v.ScaleAnswer != "" {
		w.printf("You typed this before and did not give it; enter gives it:\n%s\n", indent(v.ScaleAnswer))
	}
	line, err := w.ask("Say your answer aloud and press enter, or type it in one line:")
	if err != nil {
		return err
	}
	if quits(line) {
		return errEnd
	}
	w.step(lessons.Give{Text: cmp.Or(line, v.ScaleAnswer)})
	return nil
}

// mark walks the rubric of the scale question.
func (w *walker) mark(v lessons.View) error {
	if len(v.Marked) >= len(v.Points) {
		w.printf("\nOne model answer:\n")
		w.prose(v.Scale.Model)
		w.step(lessons.Next{})
		if w.lab.View().Phase == lessons.Marking {
			return fmt.Errorf("lab %s does not go on after its question of scale: %s", v.Lab.ID, w.lab.View().Message)
		}
		return nil
	}
	p := v.Points[len(v.Marked)]
	w.hang("  ", p.Text, "  ")
	yes, err := w.yes("  Did you say it? y or n:")
	if err != nil {
		return err
	}
	w.step(lessons.Mark{Made: yes})
	return nil
}

// record asks for what a person must say, and saves.
func (w *walker) record(v lessons.View) error {
	r := v.Record
	w.printf("\nThe decision record\n")
	w.printf("Everything that the run knows is filled in. The question:\n")
	w.hang("  ", r.Question, "  ")
	w.printf("The guarantee, and its scope:\n")
	w.hang("  ", r.Guarantee, "  ")
	w.hang("  ", r.Scope, "  ")
	verdict, err := w.verdict(r.Verdict)
	if err != nil {
		return err
	}
	r.Verdict = verdict
	if verdict == decision.Provisional {
		if err := w.next(&r); err != nil {
			return err
		}
	}
	if r.Notes, err = w.keep("Notes, in one line (enter for none):", r.Notes); err != nil {
		return err
	}
	w.step(lessons.Edit{Record: r})
	return w.save()
}

func (w *walker) verdict(now decision.Verdict) (decision.Verdict, error) {
	for {
		line, err := w.ask("Verdict: confirmed, refuted or provisional (enter for %s):", now)
		if err != nil {
			return "", err
		}
		switch v := decision.Verdict(strings.ToLower(line)); v {
		case "":
			return now, nil
		case decision.Confirmed, decision.Refuted, decision.Provisional:
			return v, nil
		case "q", "quit":
			return "", errEnd
		}
		w.printf("%q is no verdict.\n", line)
	}
}

// next asks for what a provisional verdict needs.
func (w *walker) next(r *decision.Record) (err error) {
	if r.NextCheck, err = w.keep("The next check:", r.NextCheck); err != nil {
		return err
	}
	if r.Owner, err = w.keep("Who does it:", r.Owner); err != nil {
		return err
	}
	if r.NextDate == "" {
		r.NextDate = w.now().AddDate(0, 0, 7).Format(time.DateOnly)
	}
	r.NextDate, err = w.keep("Until when, as 2006-01-02:", r.NextDate)
	return err
}

// keep asks for a text; an empty line keeps what is there.
func (w *walker) keep(prompt, now string) (string, error) {
	if now != "" {
		prompt = strings.TrimSuffix(prompt, ":") + " (enter keeps: " + now + "):"
	}
	line, err := w.ask("%s", prompt)
	if err != nil || line == "" {
		return now, err
	}
	return line, nil
}

func (w *walker) save() error {
	w.step(lessons.Save{})
	v := w.lab.View()
	if !v.SavedOK && len(v.Findings) > 0 && len(v.Problems) == 0 {
		for _, f := range v.Findings {
			w.printf("Careful: %s %s.\n", f.Field, f.Why)
		}
		yes, err := w.yes("A record must not hold credentials or private assessment content. Save it all the same? y or n:")
		if err != nil {
			return err
		}
		if !yes {
			return nil
		}
		w.step(lessons.Save{Anyway: true})
		v = w.lab.View()
	}
	if v.SavedOK {
		w.printf("Saved as %s. To read it: rdmaprep records show %s\n", v.Record.ID, v.Record.ShortID())
		return nil
	}
	for _, p := range v.Problems {
		w.printf("NOT SAVED: %s %s.\n", p.Field, p.Text)
	}
	if v.Message != "" && len(v.Problems) == 0 {
		w.printf("NOT SAVED: %s\n", v.Message)
	}
	line, err := w.ask("Enter goes through it again, quit leaves it unsaved:")
	if err != nil {
		return err
	}
	if quits(line) {
		return errEnd
	}
	w.step(lessons.Retry{})
	return nil
}
