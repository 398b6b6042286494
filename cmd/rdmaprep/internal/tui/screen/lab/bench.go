package lab

import (
	"context"
	"sync"

	"rdmaprep/lessons"
)

// bench is the run of an open lab. A Bench is for one goroutine, and a lab may
// be left while a step runs in another: closing waits for the step to end, and
// no step begins after it.
type bench struct {
	run  Runner
	mu   sync.Mutex
	left bool
}

func (b *bench) step(ctx context.Context, part, step int, fresh bool) (lessons.Observation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left || ctx.Err() != nil {
		return lessons.Observation{}, context.Canceled
	}
	return b.run.Step(ctx, part, step, fresh)
}

// leave closes the Bench once the step that runs, whose context is cancelled,
// has ended. It does not wait.
func (b *bench) leave() {
	go func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.left = true
		_ = b.run.Close() // nothing can be done about a device that will not close
	}()
}
