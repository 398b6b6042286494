package lab

import (
	"context"
	"errors"
	"testing"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/lessons"
)

// slow is a run whose step lasts until it is cancelled.
type slow struct {
	began  chan struct{}
	closed chan struct{}
	busy   bool
	t      *testing.T
}

func (s *slow) Step(ctx context.Context, _, _ int, _ bool) (lessons.Observation, error) {
	s.busy = true
	close(s.began)
	<-ctx.Done()
	s.busy = false
	return lessons.Observation{}, ctx.Err()
}

func (s *slow) Close() error {
	if s.busy {
		s.t.Error("closed while a step runs")
	}
	close(s.closed)
	return nil
}

// Leaving a lab while a step runs cancels it, and closes the Bench only after
// the step has ended; no step begins after that.
func TestLeavingWhileAStepRuns(t *testing.T) {
	run := &slow{began: make(chan struct{}), closed: make(chan struct{}), t: t}
	b := &bench{run: run}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := b.step(ctx, 0, 0, true)
		ended <- err
	}()
	<-run.began
	b.leave()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the step ended with %v, want cancelled", err)
	}
	<-run.closed
	if _, err := b.step(context.Background(), 0, 0, true); !errors.Is(err, context.Canceled) {
		t.Errorf("a step after leaving gave %v, want cancelled", err)
	}
}

func (*slow) Where(int) study.Where { return study.Where{} }
