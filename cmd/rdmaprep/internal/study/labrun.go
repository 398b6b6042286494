package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"rdmaprep/content"
	"rdmaprep/lessons"
)

// LabRun holds the Bench that the steps of a part share. It is for one
// goroutine at a time, but for Where.
type LabRun struct {
	mu      sync.Mutex // guards why, which Where reads while a step runs
	svc     *Service
	lab     *content.Lab
	profile string
	seed    uint64
	why     map[onDevice]string // why the live device cannot run a part, "" if it can

	st     *stage
	shadow *stage // the same on the model, for its packets; nil if st is on the model
	part   int
	next   int // the step that st is ready for
}

// onDevice is a part of a lab on a device.
type onDevice struct {
	part int
	live string
}

// Where is what a part runs on.
type Where struct {
	Live    string // the name of a live device, "" for the model
	Profile string // of the model
	Why     string // why it runs on the model, where a live device was chosen
}

// Where says what a part, from 0 over AllParts, runs on as things are now.
func (r *LabRun) Where(part int) Where {
	live, why := r.device(part)
	w := Where{Profile: r.profile, Why: why}
	if live != nil {
		w.Live = live.Name
	}
	return w
}

// device is the live device that a part runs on; nil is the model, and why is
// set if a live device was chosen.
func (r *LabRun) device(part int) (live *Live, why string) {
	live = r.svc.live()
	parts := r.lab.AllParts()
	if live == nil || part < 0 || part >= len(parts) {
		return nil, ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := onDevice{part, live.Name}
	why, known := r.why[key]
	if !known {
		if why = live.partNeeds(&parts[part]); why == "" && r.seed != 0 {
			why = "only the model has seeded reordering"
		}
		r.why[key] = why
	}
	if why != "" {
		return nil, why
	}
	return live, ""
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
	obs, err := r.step(ctx, parts, part, step, fresh)
	var no *cannotError
	if errors.As(err, &no) {
		r.mu.Lock()
		r.why[onDevice{part, no.live}] = no.why
		r.mu.Unlock()
		obs, err = r.step(ctx, parts, part, step, true)
	}
	return obs, err
}

// step is Step on the device that the part runs on; a *cannotError says that
// it is for the model after all.
func (r *LabRun) step(ctx context.Context, parts []content.Part, part, step int, fresh bool) (lessons.Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	var obs lessons.Observation
	live, why := r.device(part)
	obs.ModelWhy = why
	if fresh || r.st == nil || r.part != part || r.next != step || r.st.on != live {
		if err := r.start(ctx, live, &parts[part], part, step, &obs); err != nil {
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
	r.observe(&obs)
	if obs.Err != "" {
		return obs, r.Close() // what comes next starts the part again
	}
	r.next = step + 1
	return obs, nil
}

// start opens a Bench and brings it to just before a step. Of what it runs only
// the setup of a first step is part of the observation.
func (r *LabRun) start(ctx context.Context, live *Live, part *content.Part, p, step int, obs *lessons.Observation) error {
	if err := r.Close(); err != nil {
		return err
	}
	st, err := r.stage(ctx, live)
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
		return r.both(ctx, name, setup, obs)
	}
	var before lessons.Observation
	if err := r.both(ctx, name, setup, &before); err != nil {
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
	r.mark()
	return nil
}

// stage opens the Bench of a part, and on a live device the model beside it.
func (r *LabRun) stage(ctx context.Context, live *Live) (*stage, error) {
	if live == nil {
		return newStage(ctx, r.svc.open, r.profile, r.seed)
	}
	st, err := newLiveStage(ctx, live)
	if err != nil {
		return nil, err
	}
	if live.Peer { // it has the packets themselves
		return st, nil
	}
	// Without the model there are no packets to look at, and all else is as it is.
	r.shadow, _ = newStage(ctx, r.svc.open, cmp.Or(live.Profile, r.profile), r.seed)
	return st, nil
}

// both plays a script on the Bench and on the model beside it, which is given
// up where it cannot go on.
func (r *LabRun) both(ctx context.Context, name, text string, obs *lessons.Observation) error {
	if err := r.st.play(ctx, name, text, obs); err != nil || r.shadow == nil {
		return err
	}
	var unseen lessons.Observation
	if err := r.shadow.play(ctx, name, text, &unseen); err != nil || unseen.Err != "" {
		_ = r.shadow.close() // it was only looked at
		r.shadow = nil
	}
	return nil
}

// mark begins a new observation on both.
func (r *LabRun) mark() {
	r.st.mark()
	if r.shadow != nil {
		r.shadow.mark()
	}
}

// observe completes an observation; the packets of a live run are the model's.
func (r *LabRun) observe(obs *lessons.Observation) {
	r.st.observe(obs)
	if r.shadow == nil {
		return
	}
	var unseen lessons.Observation
	r.shadow.observe(&unseen)
	obs.Events, obs.Wire = unseen.Events, unseen.Profile
}

// play runs one step and says which options of its prediction hold.
func (r *LabRun) play(ctx context.Context, step *content.Step, part, i int, obs *lessons.Observation) error {
	if r.next == i && i > 0 {
		r.mark()
	}
	name := fmt.Sprintf("%s, step %d.%d", r.lab.ID, part+1, i+1)
	if err := r.both(ctx, name, step.Script, obs); err != nil {
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
	st, shadow := r.st, r.shadow
	r.st, r.shadow = nil, nil
	if shadow != nil {
		return errors.Join(st.close(), shadow.close())
	}
	return st.close()
}
