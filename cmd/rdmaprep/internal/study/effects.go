package study

import (
	"context"
	"errors"
	"fmt"

	"rdmaprep/lessons"
	"rdmaprep/quiz"
)

// QuizEffect carries out one effect of a quiz and returns the event to hand
// back to the session, nil if there is none, and for RunProof what the run
// showed. key is where SaveState keeps the session, "" for nowhere. Progress
// that cannot be kept is no event: the answers themselves are saved apart.
func (s *Service) QuizEffect(ctx context.Context, key string, e quiz.Effect) (quiz.Event, *ProofResult) {
	switch e := e.(type) {
	case quiz.SaveAttempt:
		if err := s.store.SaveAttempt(ctx, e.Attempt); err != nil {
			return quiz.SaveFailed{ID: e.Attempt.ID, Why: err.Error()}, nil
		}
		return quiz.Saved{ID: e.Attempt.ID}, nil
	case quiz.RunProof:
		res, err := s.Proof(ctx, e.Instance, "", e.Order)
		if err != nil {
			return quiz.ProofFailed{Seq: e.Seq, Why: err.Error()}, nil
		}
		return quiz.ProofDone{Seq: e.Seq, Key: res.Key}, &res
	case quiz.SaveState:
		if key != "" {
			_ = s.keep(ctx, key, e.State, e.State.Finished()) // see above
		}
	}
	return nil, nil
}

// LabEffect carries out one effect of a lab, whose steps run on run (nil where
// none are asked for), and returns the event to hand back, nil if there is
// none. Progress that cannot be kept is no event.
func (s *Service) LabEffect(ctx context.Context, run *LabRun, e lessons.Effect) lessons.Event {
	switch e := e.(type) {
	case lessons.RunStep:
		if run == nil {
			return lessons.StepFailed{Seq: e.Seq, Why: "this lab has no device to run on; open it again"}
		}
		obs, err := run.Step(ctx, e.Part, e.Step, e.Fresh)
		if err != nil {
			return lessons.StepFailed{Seq: e.Seq, Why: err.Error()}
		}
		return lessons.StepRan{Seq: e.Seq, Observation: obs}
	case lessons.SaveAttempt:
		return savedOr(string(e.Attempt.ID), s.store.SaveAttempt(ctx, e.Attempt))
	case lessons.SaveRecord:
		return savedOr(e.Record.ID, s.SaveRecord(ctx, e.Record))
	case lessons.SaveState:
		_ = s.keep(ctx, LabKey(e.State.Lab), e.State, e.State.Phase == lessons.Finished) // see above
	}
	return nil
}

func savedOr(id string, err error) lessons.Event {
	if err != nil {
		return lessons.SaveFailed{ID: id, Why: err.Error()}
	}
	return lessons.Saved{ID: id}
}

// maxPump is how many effects one event may lead to, replay of a lab included.
const maxPump = 10_000

// errPump is returned where effects lead to events without end.
var errPump = errors.New("more than 10000 effects followed one event; this is a mistake in rdmaprep: please report it")

// PumpQuiz hands an event to a session and carries out what follows until
// nothing is left: for front ends that wait. seen is called with what each
// proof showed; it may be nil.
func (s *Service) PumpQuiz(ctx context.Context, key string, session *quiz.Session, ev quiz.Event, seen func(ProofResult)) error {
	queue := session.Step(s.now(), ev)
	for n := 0; len(queue) > 0; n++ {
		if n == maxPump {
			return errPump
		}
		e := queue[0]
		back, res := s.QuizEffect(ctx, key, e)
		if res != nil && seen != nil {
			seen(*res)
		}
		queue = queue[1:]
		if back != nil {
			queue = append(queue, session.Step(s.now(), back)...)
		}
	}
	return ctx.Err()
}

// PumpLab is the same for a lab.
func (s *Service) PumpLab(ctx context.Context, run *LabRun, lab *lessons.Lab, ev lessons.Event) error {
	queue := lab.Step(s.now(), ev)
	for n := 0; len(queue) > 0; n++ {
		if n == maxPump {
			return errPump
		}
		back := s.LabEffect(ctx, run, queue[0])
		queue = queue[1:]
		if back != nil {
			queue = append(queue, lab.Step(s.now(), back)...)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the lab was left: %w", err)
	}
	return nil
}
