package model

import (
	"strings"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// The wire between two nodes.
const (
	linkLatency  = time.Microsecond
	linkGigabits = 100
	frameGap     = 24 // bytes: preamble, FCS and gap between frames
	frameHeaders = 14 + 20 + 8 + 12 + 4
)

// link is one direction.
type link struct {
	free time.Duration // when the sender can put the next frame on it
	held []held        // packets that a fault line holds back
}

// setLink is link_down and link_up. A port that goes down does not move a
// queue pair.
func (b *Bench) setLink(n *node, up bool) {
	if n.up == up {
		return
	}
	n.up = up
	if !up {
		n.counters.add(cntLinkDowned)
	}
	e, why := verbs.AsyncEvent{Type: verbs.EventPortErr, Port: 1}, "link down"
	if up {
		e.Type, why = verbs.EventPortActive, "link up"
	}
	b.traceFault(n, why)
	b.raise(n, e, nil, b.trace.count-1)
}

// transmit puts a packet on the wire.
func (b *Bench) transmit(q *qp, p *packet, cause int) {
	q.node.counters.add(cntSentPackets)
	p.trace = -1
	connected := p.to >= 0 && b.nodes[p.from].up
	var x fate
	if connected && len(b.faults) > 0 {
		x = b.fateOf(p)
		p.corrupt = x.corrupt
	}
	if b.tracing {
		b.tracePacket(q, p, cause)
	}
	switch {
	case p.to < 0:
		b.lost(p, "nobody has the address")
		return
	case !connected:
		b.lost(p, "the link is down")
		return
	}
	l := &b.links[p.from][p.to]
	bits := time.Duration(frameHeaders+frameGap+len(p.payload)) * 8
	l.free = max(l.free, b.now) + bits/linkGigabits
	at := l.free + linkLatency
	if b.mayReorder() {
		at = q.skewed(at)
	}
	b.carry(p, at, x)
}

// carry takes a packet to its destination at the time at, if the fault lines let it.
func (b *Bench) carry(p *packet, at time.Duration, x fate) {
	l := &b.links[p.from][p.to]
	if len(x.forged) > 0 {
		b.traceOnWire(p, "forged: "+strings.Join(x.forged, ", "), nil)
	}
	if x.drop {
		b.lost(p, "a fault line drops it")
		return
	}
	if x.corrupt {
		b.traceOnWire(p, "a bit is flipped on the way", nil)
	}
	if x.delay > 0 {
		at += x.delay
		b.traceOnWire(p, "delayed by "+x.delay.String(), nil)
	}
	if len(x.copies) > 0 {
		b.duplicate(p, at, x.copies)
	}
	if x.behind > 0 {
		b.hold(l, p, at, x.behind)
		return
	}
	b.queue.Push(at, event{kind: evArrive, pkt: p})
	if len(l.held) > 0 {
		b.passed(l, at)
	}
}

// lost ends a packet on the wire.
func (b *Bench) lost(p *packet, why string) {
	b.traceDrop(p, why)
	b.pool.put(p)
}

// arrive hands a packet to the queue pair that it names.
func (b *Bench) arrive(p *packet) {
	n := b.nodes[p.to]
	switch {
	case n.outside:
		b.leave(p)
		return
	case n.stopped:
		b.lost(p, "the host is stopped")
		return
	case !n.up:
		b.lost(p, "the link is down")
		return
	}
	if p.corrupt {
		n.counters.add(cntBadICRC)
		b.lost(p, "its ICRC does not match")
		return
	}
	q := n.qpOfNum(p.dstQP)
	if q == nil {
		b.lost(p, "no queue pair has that number")
		return
	}
	if q.typ != verbs.UD && q.state != verbs.RESET && q.state != verbs.INIT && !q.comesFromPeer(p) {
		b.lost(p, "it does not come from the address that the QP is connected to")
		return
	}
	cause := -1
	if b.tracing {
		cause = b.traceDeliver(q, p)
		p.trace = cause
	}
	b.step(q, input{kind: inPacket, pkt: p}, cause)
}

// comesFromPeer tells whether a packet has the address that the QP is connected to.
func (q *qp) comesFromPeer(p *packet) bool {
	return p.from == q.peer && (!q.node.bench.nodes[p.from].outside || p.far == wire.Addr(q.attr.AV.DGID))
}
