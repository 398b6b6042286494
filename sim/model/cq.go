package model

import (
	"fmt"
	"syscall"
	"time"

	"rdmaprep/sim/verbs"
)

// entry is a completion in a CQ, with the request that it stands for.
type entry struct {
	wc   verbs.WC
	q    *qp
	life uint32 // of the QP
	slot uint64 // in the QP's send or receive queue
	send bool
}

// cq is a completion queue.
type cq struct {
	handle  verbs.CQ
	entries ring[entry]
	dead    bool // overflowed under a profile where that is fatal
	users   int  // queue pairs
	ch      *channel
	armed   arming
	asyncs  int           // asynchronous events that were taken and not acknowledged
	unacked int           // events that the application took and did not acknowledge
	queued  int           // events that wait in the channel
	stalled time.Duration // shows nothing before
	missed  arming        // what came meanwhile
}

type arming uint8

const (
	notArmed arming = iota
	armedSolicited
	armedAny
)

// channel is a completion channel: a queue of the CQs that have an event.
type channel struct {
	users  int
	events []*cq
}

func roundUp(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

func (n *node) CreateCQ(cqe int, ch verbs.Channel) (verbs.CQInfo, error) {
	if err := n.usable("create_cq"); err != nil {
		return verbs.CQInfo{}, err
	}
	if cqe < 1 || cqe > n.limits.MaxCQE {
		return verbs.CQInfo{}, refuse("create_cq", syscall.EINVAL,
			fmt.Sprintf("cqe is %d, it may be 1 to %d", cqe, n.limits.MaxCQE))
	}
	c := &cq{}
	if ch != 0 {
		if c.ch = n.chans.get(uint32(ch)); c.ch == nil {
			return verbs.CQInfo{}, refuse("create_cq", syscall.EINVAL, "no such completion channel")
		}
	}
	if n.cqs.count >= n.limits.MaxCQ {
		return verbs.CQInfo{}, refuse("create_cq", syscall.ENOMEM, fmt.Sprintf("max_cq is %d", n.limits.MaxCQ))
	}
	if c.ch != nil {
		c.ch.users++
	}
	// Both mlx5 and rxe keep a power of two of slots and use all but one.
	c.entries.limit = roundUp(cqe+1) - 1
	c.handle = verbs.CQ(n.cqs.add(c))
	return verbs.CQInfo{CQ: c.handle, CQE: c.entries.limit}, nil
}

func (n *node) ResizeCQ(h verbs.CQ, cqe int) (verbs.CQInfo, error) {
	c := n.cqs.get(uint32(h))
	if c == nil {
		return verbs.CQInfo{}, refuse("resize_cq", syscall.EINVAL, "no such completion queue")
	}
	if cqe < 1 || cqe > n.limits.MaxCQE {
		return verbs.CQInfo{}, refuse("resize_cq", syscall.EINVAL,
			fmt.Sprintf("cqe is %d, it may be 1 to %d", cqe, n.limits.MaxCQE))
	}
	if cqe < c.entries.len() {
		return verbs.CQInfo{}, refuse("resize_cq", syscall.EINVAL,
			fmt.Sprintf("%d completions wait to be polled, %d would not hold them", c.entries.len(), cqe))
	}
	c.entries.limit = roundUp(cqe+1) - 1
	return verbs.CQInfo{CQ: h, CQE: c.entries.limit}, nil
}

func (n *node) DestroyCQ(h verbs.CQ) error {
	c := n.cqs.get(uint32(h))
	switch {
	case c == nil:
		return refuse("destroy_cq", syscall.ENOENT, "no such completion queue")
	case c.users > 0:
		return refuse("destroy_cq", syscall.EBUSY, fmt.Sprintf("%d queue pairs use it", c.users))
	case c.unacked+c.asyncs > 0:
		return refuse("destroy_cq", syscall.EBUSY, unacked(c.unacked+c.asyncs))
	}
	if c.ch != nil {
		c.ch.users--
		c.ch.forget(c)
	}
	n.cqs.remove(uint32(h))
	n.forgetEvents(func(e *verbs.AsyncEvent) bool { return e.CQ == h })
	return nil
}

func (n *node) PollCQ(h verbs.CQ, wc []verbs.WC) (int, error) {
	c := n.cqs.get(uint32(h))
	if c == nil {
		return 0, refuse("poll_cq", syscall.EINVAL, "no such completion queue")
	}
	if n.bench.now < c.stalled {
		return 0, nil
	}
	got := 0
	for got < len(wc) && c.entries.len() > 0 {
		e := c.entries.front()
		wc[got] = e.wc
		if e.q != nil && !e.send && e.q.srq != nil {
			e.q.srq.taken--
		}
		if e.q != nil && e.q.life == e.life {
			e.q.reclaim(e.send, e.slot)
		}
		e.q = nil
		c.entries.drop()
		got++
	}
	return got, nil
}

// stall keeps the completions from view for d, as a device does whose writes
// to the host are held up.
func (c *cq) stall(b *Bench, n *node, d time.Duration) {
	c.stalled = max(c.stalled, b.now+d)
	b.queue.Push(c.stalled, event{kind: evUnstall, node: uint8(n.index), gen: uint32(c.handle)})
}

// unstall shows what came during a stall.
func (c *cq) unstall(now time.Duration) {
	if now < c.stalled || c.missed == notArmed {
		return
	}
	solicited := c.missed == armedSolicited
	c.missed = notArmed
	c.wake(solicited)
}

// added follows a completion that came into the queue.
func (c *cq) added(now time.Duration, solicited bool) {
	switch {
	case now >= c.stalled:
		c.wake(solicited)
	case solicited:
		c.missed = armedSolicited
	case c.missed == notArmed:
		c.missed = armedAny
	}
}

// wake tells the channel of a completion, once for each arming.
func (c *cq) wake(solicited bool) {
	if c.armed == notArmed || (c.armed == armedSolicited && !solicited) || c.ch == nil {
		return
	}
	c.armed = notArmed
	c.queued++
	c.ch.events = append(c.ch.events, c)
}

func (ch *channel) forget(c *cq) {
	kept := ch.events[:0]
	for _, e := range ch.events {
		if e != c {
			kept = append(kept, e)
		}
	}
	ch.events = kept
}

func (n *node) CreateChannel() (verbs.Channel, error) {
	if err := n.usable("create_comp_channel"); err != nil {
		return 0, err
	}
	return verbs.Channel(n.chans.add(&channel{})), nil
}

func (n *node) DestroyChannel(h verbs.Channel) error {
	ch := n.chans.get(uint32(h))
	if ch == nil {
		return refuse("destroy_comp_channel", syscall.ENOENT, "no such completion channel")
	}
	if ch.users > 0 {
		return refuse("destroy_comp_channel", syscall.EBUSY, fmt.Sprintf("%d completion queues use it", ch.users))
	}
	n.chans.remove(uint32(h))
	return nil
}

// ReqNotifyCQ arms a CQ. A CQ that is armed for any completion stays so.
func (n *node) ReqNotifyCQ(h verbs.CQ, solicitedOnly bool) error {
	c := n.cqs.get(uint32(h))
	if c == nil {
		return refuse("req_notify_cq", syscall.EINVAL, "no such completion queue")
	}
	if c.ch == nil && !n.prof.NotifyWithoutChannel {
		return refuse("req_notify_cq", syscall.EINVAL, "the completion queue has no channel")
	}
	if !solicitedOnly {
		c.armed = armedAny
	} else if c.armed == notArmed {
		c.armed = armedSolicited
	}
	return nil
}

func (n *node) GetCQEvent(h verbs.Channel) (verbs.CQ, bool, error) {
	ch := n.chans.get(uint32(h))
	if ch == nil {
		return 0, false, refuse("get_cq_event", syscall.EINVAL, "no such completion channel")
	}
	if len(ch.events) == 0 {
		return 0, false, nil
	}
	c := ch.events[0]
	ch.events = ch.events[1:]
	c.queued--
	c.unacked++
	return c.handle, true, nil
}

func (n *node) AckCQEvents(h verbs.CQ, count int) error {
	c := n.cqs.get(uint32(h))
	if c == nil {
		return refuse("ack_cq_events", syscall.EINVAL, "no such completion queue")
	}
	if count < 0 || count > c.unacked {
		return refuse("ack_cq_events", syscall.EINVAL,
			fmt.Sprintf("%d events to acknowledge, only %d were taken", count, c.unacked))
	}
	c.unacked -= count
	return nil
}
