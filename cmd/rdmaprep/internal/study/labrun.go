package study

import (
	"context"
	"fmt"
	"strings"

	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/sim/verbs"
)

// LabRun holds the Bench that the steps of a part share. It is for one
// goroutine at a time.
type LabRun struct {
	open    verbs.Opener
	lab     *content.Lab
	profile string
	seed    uint64

	st   *stage
	part int
	next int // the step that st is ready for
}

// Step runs a step of a part, both from 0 over AllParts. With fresh, or if the
// Bench that is open does not stand just before this step, a new one is opened
// and the part's setup and earlier steps are run first. The error says why no
// run came about; a failed expect line is no error but part of the observation.
func (r *LabRun) Step(ctx context.Context, part, step int, fresh bool) (lessons.Observation, error) {
	parts := r.lab.AllParts()
	if part < 0 || part >= len(parts) || step < 0 || step >= len(parts[part].Steps) {
		return lessons.Observation{}, fmt.Errorf("lab %s has no step %d.%d", r.lab.ID, part+1, step+1)
	}
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	var obs lessons.Observation
	if fresh || r.st == nil || r.part != part || r.next != step {
		if err := r.start(ctx, &parts[part], part, step, &obs); err != nil {
			_ = r.Close() // the first error says more
			return lessons.Observation{}, err
		}
	}
	if obs.Err == "" {
		if err := r.play(ctx, &parts[part].Steps[step], part, step, &obs); err != nil {
			_ = r.Close() // the first error says more
			return lessons.Observation{}, err
		}
	}
	r.st.observe(&obs)
	if obs.Err != "" {
		return obs, r.Close() // what comes next starts the part again
	}
	r.next = step + 1
	return obs, nil
}

// start opens a Bench and brings it to just before a step. Of what it runs only
// the setup of a first step is part of the observation.
func (r *LabRun) start(ctx context.Context, part *content.Part, p, step int, obs *lessons.Observation) error {
	if err := r.Close(); err != nil {
		return err
	}
	st, err := newStage(ctx, r.open, r.profile, r.seed)
	if err != nil {
		return err
	}
	r.st, r.part, r.next = st, p, step
	setup := part.Setup
	if strings.TrimSpace(setup) == "" {
		setup = "script 1\n"
	}
	name := fmt.Sprintf("%s, part %d, setup", r.lab.ID, p+1)
	if step == 0 {
		return st.play(ctx, name, setup, obs)
	}
	var before lessons.Observation
	if err := st.play(ctx, name, setup, &before); err != nil {
		return err
	}
	for i := range part.Steps[:step] {
		if before.Err != "" {
			break
		}
		if err := r.play(ctx, &part.Steps[i], p, i, &before); err != nil {
			return err
		}
	}
	if before.Err != "" {
		return fmt.Errorf("the steps before this one did not run: %s", before.Err)
	}
	st.mark()
	return nil
}

// play runs one step and says which options of its prediction hold.
func (r *LabRun) play(ctx context.Context, step *content.Step, part, i int, obs *lessons.Observation) error {
	if r.next == i && i > 0 {
		r.st.mark()
	}
	name := fmt.Sprintf("%s, step %d.%d", r.lab.ID, part+1, i+1)
	if err := r.st.play(ctx, name, step.Script, obs); err != nil {
		return err
	}
	if step.Predict == nil || obs.Err != "" {
		return nil
	}
	options := make([][]string, len(step.Predict.Options))
	for k, o := range step.Predict.Options {
		options[k] = o.Holds
	}
	right, err := r.st.holds(ctx, options)
	obs.Right = right
	return err
}

// Close closes the Bench; it is no error to close twice.
func (r *LabRun) Close() error {
	if r.st == nil {
		return nil
	}
	st := r.st
	r.st = nil
	return st.close()
}
