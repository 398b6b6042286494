package nav

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Result carries the answer to a request back to the screen that asked.
type Result struct {
	Owner int
	Slot  string
	ID    int
	Value tea.Msg
}

// Requests are the questions that a screen has asked and not yet had
// answered. A newer request in a slot makes the older one stale; Close makes
// all of them stale and cancels their context.
type Requests struct {
	owner  int
	ctx    context.Context
	cancel context.CancelFunc
	next   int
	live   map[string]int
	stops  map[string]context.CancelFunc
}

// NewRequests returns an empty set under ctx. Owner numbers come from the root
// model and are never used twice.
func NewRequests(ctx context.Context, owner int) *Requests {
	ctx, cancel := context.WithCancel(ctx)
	return &Requests{
		owner: owner, ctx: ctx, cancel: cancel,
		live: map[string]int{}, stops: map[string]context.CancelFunc{},
	}
}

// Owner is the number given to NewRequests.
func (r *Requests) Owner() int { return r.owner }

// Do returns a command that runs f away from the screen and answers with a
// Result. An earlier request in the same slot is cancelled.
func (r *Requests) Do(slot string, f func(context.Context) tea.Msg) tea.Cmd {
	r.Drop(slot)
	r.next++
	id, owner := r.next, r.owner
	ctx, stop := context.WithCancel(r.ctx)
	r.live[slot], r.stops[slot] = id, stop
	return func() tea.Msg { return Result{Owner: owner, Slot: slot, ID: id, Value: f(ctx)} }
}

// After returns a command that answers with value once d has passed on the
// given clock.
func (r *Requests) After(tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd, slot string, d time.Duration, value tea.Msg) tea.Cmd {
	r.Drop(slot)
	r.next++
	id, owner := r.next, r.owner
	r.live[slot] = id
	return tick(d, func(time.Time) tea.Msg { return Result{Owner: owner, Slot: slot, ID: id, Value: value} })
}

// Drop cancels the request in a slot, if there is one.
func (r *Requests) Drop(slot string) {
	if stop := r.stops[slot]; stop != nil {
		stop()
	}
	delete(r.stops, slot)
	delete(r.live, slot)
}

// Busy says whether the slot waits for an answer.
func (r *Requests) Busy(slot string) bool { return r.live[slot] != 0 }

// Take unwraps an answer; false means that it is stale and must be dropped.
func (r *Requests) Take(res Result) (tea.Msg, bool) {
	if res.Owner != r.owner || r.live[res.Slot] != res.ID || r.ctx.Err() != nil {
		return nil, false
	}
	r.Drop(res.Slot)
	return res.Value, true
}

// Close cancels everything.
func (r *Requests) Close() { r.cancel() }

// Save is something that must not be lost. The root model carries saves out
// one at a time, in order, and does not quit before they are done; leaving a
// screen does not cancel them.
type Save struct {
	Owner int
	ID    string // tells the screen which save was done
	What  string // such as "the answer", for a person
	Do    func(context.Context) error
}

// Saved tells the screen how a save went; Err is nil once the store has said
// that it is done.
type Saved struct {
	Owner int
	ID    string
	Err   error
}

// Keep returns the command that asks for a save.
func Keep(s Save) tea.Cmd { return func() tea.Msg { return s } }
