package study

import (
	"context"
	"testing"

	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/lessons/decision"
)

// Every lab that is shipped can be walked from start to saved record on the
// model, meets its own expectations, and every prediction has an option that
// holds.
func TestEveryShippedLab(t *testing.T) {
	lib, problems := content.Load(content.Embedded())
	if len(problems) > 0 {
		t.Fatal(problems[0])
	}
	ctx := context.Background()
	for _, lab := range lib.Labs {
		t.Run(lab.ID, func(t *testing.T) {
			h := newHouse(t, lib)
			l, run, err := h.NewLab(lab.ID, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := run.Close(); err != nil {
					t.Error(err)
				}
			}()
			walk(t, h, ctx, l, run)
			v := l.View()
			if v.Phase != lessons.Finished {
				t.Fatalf("the lab ends in phase %s: %s %v %v", v.Phase, v.Message, v.Problems, v.Findings)
			}
			if len(v.Record.Evidence.Failed) > 0 {
				t.Errorf("expectations failed: %q", v.Record.Evidence.Failed)
			}
			for _, p := range v.Record.Predictions {
				if !p.Graded {
					t.Errorf("the prediction of step %s was not graded", p.Step)
				}
			}
			if len(h.mem.records) != 1 {
				t.Errorf("%d records were saved", len(h.mem.records))
			}
		})
	}
}

// walk plays a lab through, always with the first option and 80 percent sure.
func walk(t *testing.T, h *house, ctx context.Context, l *lessons.Lab, run *LabRun) {
	t.Helper()
	do := func(ev lessons.Event) {
		t.Helper()
		if _, err := h.PumpLab(ctx, run, l, ev); err != nil {
			t.Fatal(err)
		}
	}
	do(lessons.Begin{})
	for range 500 {
		switch v := l.View(); v.Phase {
		case lessons.Reading:
			if v.Step.Tried != "" {
				t.Fatalf("step %s: %s", v.Step.Place, v.Step.Tried)
			}
			if v.Step.Content.Predict != nil {
				do(lessons.Pick{Option: 0})
				do(lessons.SetConfidence{Percent: 80})
			}
			do(lessons.Run{})
		case lessons.Observing:
			do(lessons.Next{})
		case lessons.Scaling:
			do(lessons.Give{Text: "more of everything"})
		case lessons.Marking:
			if len(v.Marked) < len(v.Scale.Rubric) {
				do(lessons.Mark{Made: true})
			} else {
				do(lessons.Next{})
			}
		case lessons.Recording:
			do(lessons.Edit{Record: decided(v)})
			do(lessons.Save{})
			if l.View().Phase != lessons.Finished {
				return
			}
		default:
			return
		}
	}
}

// decided is the record form as pre-filled, with a provisional verdict made
// whole if that is what the run suggests.
func decided(v lessons.View) decision.Record {
	r := v.Record
	if r.Verdict == decision.Provisional {
		r.NextCheck, r.Owner, r.NextDate = "look again", "the learner", "2026-12-24"
	}
	return r
}
