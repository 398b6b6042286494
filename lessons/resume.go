package lessons

import (
	"fmt"
	"slices"
)

// State is the lab as data, to be kept and resumed.
func (l *Lab) State() LabState {
	st := LabState{
		Format: labFormat, ID: l.cfg.ID, Lab: l.cfg.Lab.ID, Profile: l.cfg.Profile, Seed: l.cfg.Seed, Phase: l.phase,
		Answer: l.answer, Marked: slices.Clone(l.marked), Record: l.record, Unsaved: slices.Clone(l.unsaved), Spent: l.spent,
		ReadFrom: l.readFrom,
	}
	for i := 0; i <= l.at; i++ {
		run, p := l.runs[i], l.places[i]
		kept := LabStep{
			Part: l.parts[p.part].Title, Step: l.content(i).Title,
			Hints: run.hints, Took: run.took, Ran: run.obs != nil || i < l.upTo && run.tried == "", Tried: run.tried,
		}
		if run.locked != nil {
			locked := *run.locked
			kept.Locked = &locked
		}
		st.Steps = append(st.Steps, kept)
	}
	return st
}

// ResumeLab makes the lab that a state was taken from. cfg.ID, Profile and Seed
// are taken from the state. After Begin it runs the steps that were run before
// once more, without saving them again. Where the lab was edited since, it goes
// on from the last step that is still the same.
func ResumeLab(cfg Config, st LabState) (*Lab, error) {
	switch {
	case st.Format != labFormat:
		return nil, fmt.Errorf("this lab was kept in format %d and this version of rdmaprep reads %d: start the lab again", st.Format, labFormat)
	case st.Lab != cfg.Lab.ID:
		return nil, fmt.Errorf("the state is of lab %s, not of %s", st.Lab, cfg.Lab.ID)
	}
	cfg.ID, cfg.Profile, cfg.Seed = st.ID, st.Profile, st.Seed
	l, err := NewLab(cfg)
	if err != nil {
		return nil, err
	}
	l.cfg.Seed = st.Seed // 0 too: the lab's own may have changed since
	l.unsaved, l.spent, l.readFrom = slices.Clone(st.Unsaved), max(0, st.Spent), max(0, st.ReadFrom)
	n := l.adopt(st.Steps)
	l.settle(st, n)
	l.cursor = l.at
	for i := range l.runs[:l.at+1] {
		if l.runs[i].obs != nil {
			l.upTo = i + 1
			l.runs[i].obs = nil // comes again with the replay
		}
	}
	return l, nil
}

// adopt takes over the steps that are still the same and returns how many of
// them were done with.
func (l *Lab) adopt(steps []LabStep) int {
	for i, k := range steps {
		if i >= len(l.places) {
			return i
		}
		step := l.content(i)
		switch {
		case k.Part != l.parts[l.places[i].part].Title || k.Step != step.Title,
			k.Locked != nil && (step.Predict == nil || k.Locked.Option < 0 || k.Locked.Option >= len(step.Predict.Options)),
			k.Ran && step.Predict != nil && k.Locked == nil:
			return i
		}
		run := stepRun{hints: max(0, min(k.Hints, len(step.Hints))), took: max(0, k.Took)}
		if k.Locked != nil {
			locked := *k.Locked
			run.locked = &locked
		}
		switch {
		case k.Ran:
			run.obs = &Observation{} // stands for the one that the replay brings
		case k.Tried != "":
			run.tried = k.Tried
		default:
			l.runs[i] = run
			return i
		}
		l.runs[i] = run
	}
	return len(steps)
}

// settle finds where the lab stands when n steps were done with.
func (l *Lab) settle(st LabState, n int) {
	l.at = min(n, len(l.places)-1)
	if n < len(l.places) {
		// Short of the end; the state's own last step may be one of them.
		if n > 0 && n == len(st.Steps) && (st.Phase == Observing || st.Phase == Reading) {
			l.at = n - 1
		}
		l.phase = Reading
		if l.runs[l.at].obs != nil {
			l.phase = Observing
		}
		return
	}
	rubric := len(l.cfg.Lab.Scale.Rubric)
	l.phase = Observing
	if l.runs[l.at].obs == nil {
		l.phase = Reading
	}
	switch st.Phase {
	case Scaling, Marking:
		l.phase = Scaling
		if len(st.Answer) <= maxAnswer {
			l.answer = st.Answer
		}
		if st.Phase == Marking && len(st.Marked) <= rubric {
			l.phase, l.answer, l.marked = Marking, st.Answer, slices.Clone(st.Marked)
		}
	case Recording, Finished:
		l.phase, l.answer, l.record = st.Phase, st.Answer, st.Record
		if len(st.Marked) <= rubric {
			l.marked = slices.Clone(st.Marked)
		}
	}
}

// pending counts the saves that were not confirmed.
func (l *Lab) pending() int {
	n := len(l.unsaved)
	if l.saving {
		n++
	}
	return n
}
