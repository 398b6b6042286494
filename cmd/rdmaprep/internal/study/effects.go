package study

import (
	"context"
	"errors"

	"rdmaprep/lessons"
	"rdmaprep/quiz"
)

// Report is what carrying out an event brought that the session does not know.
type Report struct {
	// Proof is what the last proof that ran showed; nil if none did.
	Proof *ProofResult
	// Unsaved is why an answer or a record could not be saved; nil if all were.
	Unsaved error
	// Kept says that the place to go on from was kept; Place is why it was not.
	// The answers themselves are saved apart.
	Kept  bool
	Place error
}

// place notes how keeping the place went.
func (r *Report) place(err error) { r.Kept, r.Place = err == nil, err }

// PumpQuiz hands an event to a session and carries out what follows until
// nothing is left, for front ends that wait. key is where the session's place
// is kept, "" for nowhere. The end of ctx stops proofs; what was answered is
// saved all the same.
func (s *Service) PumpQuiz(ctx context.Context, key string, session *quiz.Session, ev quiz.Event) (Report, error) {
	var r Report
	saving := context.WithoutCancel(ctx)
	step := func(ev quiz.Event) []quiz.Effect { return session.Step(s.now(), ev) }
	err := pump(step, ev, func(e quiz.Effect) quiz.Event {
		switch e := e.(type) {
		case quiz.SaveAttempt:
			if err := s.store.SaveAttempt(saving, e.Attempt); err != nil {
				r.Unsaved = err
				return quiz.SaveFailed{ID: e.Attempt.ID, Why: err.Error()}
			}
			return quiz.Saved{ID: e.Attempt.ID}
		case quiz.RunProof:
			res, err := s.proofFor(ctx, e)
			if res.Observation.Live {
				r.Proof = &res // there is something to look at, whatever came of it
			}
			if err != nil {
				return quiz.ProofFailed{Seq: e.Seq, Why: err.Error()}
			}
			r.Proof = &res
			return quiz.ProofDone{Seq: e.Seq, Key: res.Key}
		case quiz.SaveState:
			if key != "" {
				r.place(s.KeepQuiz(saving, key, e.State))
			}
		}
		return nil
	})
	return r, err
}

// proofFor runs a proof on the model to grade by, or to look at on what was
// chosen.
func (s *Service) proofFor(ctx context.Context, e quiz.RunProof) (ProofResult, error) {
	if e.Why == quiz.ForEvidence {
		return s.Show(ctx, e.Instance, e.Order)
	}
	return s.Proof(ctx, e.Instance, "", e.Order)
}

// PumpLab is the same for a lab, whose steps run on run.
func (s *Service) PumpLab(ctx context.Context, run *LabRun, lab *lessons.Lab, ev lessons.Event) (Report, error) {
	var r Report
	saving := context.WithoutCancel(ctx)
	saved := func(id string, err error) lessons.Event {
		if err != nil {
			r.Unsaved = err
			return lessons.SaveFailed{ID: id, Why: err.Error()}
		}
		return lessons.Saved{ID: id}
	}
	step := func(ev lessons.Event) []lessons.Effect { return lab.Step(s.now(), ev) }
	err := pump(step, ev, func(e lessons.Effect) lessons.Event {
		switch e := e.(type) {
		case lessons.RunStep:
			obs, err := run.Step(ctx, e.Part, e.Step, e.Fresh)
			if err != nil {
				return lessons.StepFailed{Seq: e.Seq, Why: err.Error()}
			}
			return lessons.StepRan{Seq: e.Seq, Observation: obs}
		case lessons.SaveAttempt:
			return saved(string(e.Attempt.ID), s.store.SaveAttempt(saving, e.Attempt))
		case lessons.SaveRecord:
			return saved(e.Record.ID, s.SaveRecord(saving, e.Record))
		case lessons.SaveState:
			r.place(s.KeepLab(saving, e.State))
		}
		return nil
	})
	return r, err
}

// KeepQuiz keeps where a quiz stands under a key; of one that is finished,
// nothing stays.
func (s *Service) KeepQuiz(ctx context.Context, key string, st quiz.SessionState) error {
	return s.keep(ctx, key, st, st.Finished())
}

// KeepLab keeps where a lab stands; of one that is finished, nothing stays.
func (s *Service) KeepLab(ctx context.Context, st lessons.LabState) error {
	return s.keep(ctx, LabKey(st.Lab), st, st.Phase == lessons.Finished)
}

// maxPump is how many effects one event may lead to, replay of a lab included.
const maxPump = 10_000

// errPump is returned where effects lead to events without end.
var errPump = errors.New("more than 10000 effects followed one event; this is a mistake in rdmaprep: please report it")

// pump hands an event to step and carries out what follows until nothing is
// left. carry returns the event that an effect leads to, nil for none.
func pump[Event, Effect any](step func(Event) []Effect, ev Event, carry func(Effect) Event) error {
	queue := step(ev)
	for n := 0; len(queue) > 0; n++ {
		if n == maxPump {
			return errPump
		}
		back := carry(queue[0])
		queue = queue[1:]
		if any(back) != nil {
			queue = append(queue, step(back)...)
		}
	}
	return nil
}
