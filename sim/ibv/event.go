//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"syscall"

	"rdmaprep/sim/verbs"
)

// eventElement says what the element of an event points at (enum ibv_event_type).
type eventElement uint8

const (
	ofPort eventElement = iota
	ofQP
	ofCQ
	ofSRQ
)

func elementOf(t verbs.EventType) eventElement {
	switch t {
	case verbs.EventQPFatal, verbs.EventQPReqErr, verbs.EventQPAccessErr, verbs.EventCommEst, verbs.EventSQDrained,
		verbs.EventPathMig, verbs.EventPathMigErr, verbs.EventQPLastWQEReached:
		return ofQP
	case verbs.EventCQErr:
		return ofCQ
	case verbs.EventSRQErr, verbs.EventSRQLimitReached:
		return ofSRQ
	}
	return ofPort
}

func (d *device) GetAsyncEvent() (verbs.AsyncEvent, bool, error) {
	if err := d.open("get_async_event"); err != nil {
		return verbs.AsyncEvent{}, false, err
	}
	if !readable(at[cContext](d.ctx).asyncFD) {
		return verbs.AsyncEvent{}, false, nil
	}
	e := &d.ws.event
	*e = cAsyncEvent{}
	errno := d.lib.status(d.lib.fn[symGetAsyncEvent], d.ctx, addr(e))
	switch errno {
	case 0:
	case syscall.EAGAIN, syscall.EINTR:
		return verbs.AsyncEvent{}, false, nil
	default:
		return verbs.AsyncEvent{}, false, refuse("get_async_event", errno, "")
	}
	ev := verbs.AsyncEvent{Type: verbs.EventType(e.kind)}
	switch elementOf(ev.Type) {
	case ofQP:
		ev.QP = verbs.QP(d.qps.find(func(q *qpObject) bool { return q.ptr == e.element }))
		if q := d.qps.get(uint32(ev.QP)); q != nil {
			q.async++
		}
	case ofCQ:
		ev.CQ = verbs.CQ(d.cqs.find(func(c *cqObject) bool { return c.ptr == e.element }))
		if c := d.cqs.get(uint32(ev.CQ)); c != nil {
			c.async++
		}
	case ofSRQ:
		ev.SRQ = verbs.SRQ(d.srqs.find(func(s *srqObject) bool { return s.ptr == e.element }))
		if s := d.srqs.get(uint32(ev.SRQ)); s != nil {
			s.async++
		}
	default:
		ev.Port = uint8(e.element)
		d.portEvents++
	}
	return ev, true, nil
}

// AckAsyncEvent acknowledges an event that GetAsyncEvent gave; an object cannot
// be destroyed before.
func (d *device) AckAsyncEvent(ev verbs.AsyncEvent) error {
	var taken *int
	var element uintptr
	switch elementOf(ev.Type) {
	case ofQP:
		if q := d.qps.get(uint32(ev.QP)); q != nil {
			taken, element = &q.async, q.ptr
		}
	case ofCQ:
		if c := d.cqs.get(uint32(ev.CQ)); c != nil {
			taken, element = &c.async, c.ptr
		}
	case ofSRQ:
		if s := d.srqs.get(uint32(ev.SRQ)); s != nil {
			taken, element = &s.async, s.ptr
		}
	default:
		taken, element = &d.portEvents, uintptr(ev.Port)
	}
	if taken == nil || *taken == 0 {
		return refuse("ack_async_event", syscall.EINVAL, fmt.Sprintf("no %s was taken of that object", ev.Type))
	}
	d.ackAsync(ev.Type, element)
	*taken--
	return nil
}

func (d *device) ackAsync(t verbs.EventType, element uintptr) {
	d.ws.event = cAsyncEvent{element: element, kind: uint32(t)}
	d.lib.call(symAckAsyncEvent, addr(&d.ws.event))
}
