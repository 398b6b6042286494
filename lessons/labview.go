package lessons

import (
	"slices"
)

// View is what is to be drawn.
func (l *Lab) View() View {
	v := View{
		Lab: l.cfg.Lab, Phase: l.phase, Profile: l.cfg.Profile, Seed: l.cfg.Seed,
		Number: l.cursor + 1, Total: len(l.places), Step: l.stepView(l.cursor),
		Current: l.cursor == l.at, CanBack: l.cursor > 0, CanForward: l.cursor < l.at,
		Pick: l.pick, Sure: l.sure, Message: l.msg, Pending: l.pending(), SavedOK: l.phase == Finished,
		Replaying: l.replay >= 0, Elapsed: l.spent,
	}
	switch l.phase {
	case Scaling, Marking, Recording, Finished:
		v.Scale, v.ScaleAnswer, v.Marked = l.cfg.Lab.Scale, l.answer, slices.Clone(l.marked)
		if l.phase != Scaling {
			v.Points = slices.Clone(v.Scale.Rubric[:min(len(l.marked)+1, len(v.Scale.Rubric))])
		}
	}
	if l.phase == Recording || l.phase == Finished {
		v.Record, v.Problems, v.Findings = l.record, l.record.Validate(), l.record.Redact()
	}
	return v
}

func (l *Lab) stepView(i int) StepView {
	p, run := l.places[i], l.runs[i]
	part, step := l.parts[p.part], l.content(i)
	v := StepView{
		Part: p.part, Step: p.step, Place: p.String(), PartTitle: part.Title,
		Adversarial: p.part == len(l.parts)-1, Content: step,
		Hints: slices.Clone(step.Hints[:run.hints]), HintsLeft: len(step.Hints) - run.hints,
		Observation: run.obs, Tried: run.tried,
	}
	if p.step == 0 {
		v.Setup = part.Setup
	}
	if run.locked != nil {
		locked := *run.locked
		v.Locked = &locked
	}
	return v
}
