package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
)

// outbox carries saves out one at a time, in the order in which they were
// asked for. A save that fails stays at the head, and those behind it wait,
// until it is tried again: an answer must be in the store before what undoes
// it. Where one is, a save without an ID, goes to the end instead: no answer
// waits for it.
type outbox struct {
	queue   []nav.Save
	running bool
	failed  error // why the head could not be saved
}

// saveDone is the end of the save at the head.
type saveDone struct{ err error }

func (o *outbox) add(s nav.Save) tea.Cmd {
	n := len(o.queue) - 1
	if free := n > 0 || n == 0 && !o.running; free && s.ID == "" && o.queue[n].ID == "" && o.queue[n].What == s.What {
		o.queue[n] = s // where one is: only the newest matters
		return o.start()
	}
	o.queue = append(o.queue, s)
	return o.start()
}

// putBack moves a place that could not be kept behind everything else, or drops
// it if a newer one waits; false if nothing but places waits.
func (o *outbox) putBack() bool {
	head, rest := o.queue[0], o.queue[1:]
	if head.ID != "" || !slices.ContainsFunc(rest, func(s nav.Save) bool { return s.ID != "" }) {
		return false
	}
	if !slices.ContainsFunc(rest, func(s nav.Save) bool { return s.ID == "" && s.What == head.What }) {
		rest = append(rest, head)
	}
	o.queue = rest
	return true
}

// start carries out the head, if nothing is under way.
func (o *outbox) start() tea.Cmd {
	if o.running || len(o.queue) == 0 {
		return nil
	}
	o.running, o.failed = true, nil
	do := o.queue[0].Do
	// A save has no deadline of its own: the store has one for its lock.
	return func() tea.Msg { return saveDone{do(context.Background())} }
}

// done takes the end of a save, returns what the screen should be told and
// begins the next.
func (o *outbox) done(err error) (nav.Saved, tea.Cmd) {
	head := o.queue[0]
	o.running = false
	told := nav.Saved{Owner: head.Owner, ID: head.ID, Err: err}
	switch {
	case err == nil:
		o.queue = o.queue[1:]
	case !o.putBack():
		o.failed = err
		return told, nil
	}
	return told, o.start()
}

// busy says that something a person would miss is being saved.
func (o *outbox) busy() bool { return o.running && o.queue[0].ID != "" }

// idle says that nothing is under way and nothing will start by itself.
func (o *outbox) idle() bool { return !o.running && (len(o.queue) == 0 || o.failed != nil) }

// warning is the line that says what is not saved and what to do, "" if all
// is well.
func (o *outbox) warning() string {
	if o.failed == nil {
		return ""
	}
	n, more := "", 0
	for _, s := range o.queue[1:] {
		if s.ID != "" {
			more++
		}
	}
	if more > 0 {
		n = fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("NOT SAVED: %s%s. ctrl+r tries again. %v", o.queue[0].What, n, o.failed)
}
