package model

import (
	"fmt"
	"syscall"

	"rdmaprep/sim/verbs"
)

// GetAsyncEvent takes the oldest event; its object cannot be destroyed before it
// is acknowledged.
func (n *node) GetAsyncEvent() (verbs.AsyncEvent, bool, error) {
	if err := n.open("get_async_event"); err != nil || len(n.events) == 0 {
		return verbs.AsyncEvent{}, false, err
	}
	e := n.events[0]
	n.events = n.events[1:]
	if taken := n.taken(&e); taken != nil {
		*taken++
	}
	return e, true, nil
}

// AckAsyncEvent acknowledges an event that GetAsyncEvent gave. libibverbs waits
// for that where it destroys the object (ibv_get_async_event(3)); here destroying
// is refused with EBUSY.
func (n *node) AckAsyncEvent(e verbs.AsyncEvent) error {
	taken := n.taken(&e)
	if taken == nil || *taken == 0 {
		return refuse("ack_async_event", syscall.EINVAL, fmt.Sprintf("no %s was taken of that object", e.Type))
	}
	*taken--
	return nil
}

// taken is the count of unacknowledged events of an event's object, nil if there
// is no such object.
func (n *node) taken(e *verbs.AsyncEvent) *int {
	switch {
	case e.QP != 0:
		if q := n.qps.get(uint32(e.QP)); q != nil {
			return &q.asyncs
		}
	case e.CQ != 0:
		if c := n.cqs.get(uint32(e.CQ)); c != nil {
			return &c.asyncs
		}
	case e.SRQ != 0:
		if s := n.srqs.get(uint32(e.SRQ)); s != nil {
			return &s.asyncs
		}
	default:
		return &n.portAsyncs
	}
	return nil
}

// forgetEvents drops the events of an object that is destroyed
// (core/uverbs_std_types.c, ib_uverbs_release_uevent).
func (n *node) forgetEvents(of func(*verbs.AsyncEvent) bool) {
	kept := n.events[:0]
	for i := range n.events {
		if !of(&n.events[i]) {
			kept = append(kept, n.events[i])
		}
	}
	n.events = kept
}

// unacked says why an object cannot be destroyed.
func unacked(count int) string {
	return fmt.Sprintf("%d events were taken and not acknowledged; libibverbs would wait here for ever", count)
}
