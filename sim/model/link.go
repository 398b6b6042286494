package model

import (
	"fmt"
	"slices"
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
	maxFaults    = 1024
)

// link is one direction.
type link struct{ free time.Duration }

// fault is a fault line in force.
type fault struct {
	verbs.Fault
	from, to int // node, -1 for any
	seen     int
	used     int
}

// Inject puts a fault line in force.
func (b *Bench) Inject(f verbs.Fault) error {
	switch f.Kind {
	case verbs.FaultLinkDown, verbs.FaultLinkUp:
		n := b.node(f.Node)
		if n == nil {
			return fmt.Errorf("fault: no node %q", f.Node)
		}
		b.setLink(n, f.Kind == verbs.FaultLinkUp)
		return nil
	case verbs.FaultDrop, verbs.FaultDelay:
	default:
		return fmt.Errorf("fault: unknown kind %d", f.Kind)
	}
	x := &fault{Fault: f, from: -1, to: -1}
	for _, end := range []struct {
		name string
		at   *int
	}{{f.From, &x.from}, {f.To, &x.to}} {
		if end.name == "" {
			continue
		}
		n := b.node(end.name)
		if n == nil {
			return fmt.Errorf("fault: no node %q", end.name)
		}
		*end.at = n.index
	}
	if !knownMatch(f.Match) {
		return fmt.Errorf("fault: %q is no kind of packet (%v) and no opcode such as SEND_ONLY", f.Match, verbs.PacketKinds())
	}
	if f.Kind == verbs.FaultDelay && f.Delay <= 0 {
		return fmt.Errorf("fault: a delay must be above 0, not %s", f.Delay)
	}
	if len(b.faults) >= maxFaults {
		return fmt.Errorf("fault: at most %d fault lines", maxFaults)
	}
	b.faults = append(b.faults, x)
	return nil
}

func knownMatch(match string) bool {
	if slices.Contains(verbs.PacketKinds(), match) {
		return true
	}
	for op := range 256 {
		if wire.Opcode(op).Known() && wire.Opcode(op).Operation() == match {
			return true
		}
	}
	return false
}

func (f *fault) matches(p *packet) bool {
	if f.from >= 0 && f.from != int(p.from) || f.to >= 0 && f.to != int(p.to) {
		return false
	}
	if f.HasPSN && p.psn != psnAdd(p.base, f.PSN) {
		return false
	}
	info := p.info()
	return info.Is(f.Match)
}

// setLink is link_down and link_up. A port that goes down does not move a
// queue pair.
func (b *Bench) setLink(n *node, up bool) {
	if n.up == up {
		return
	}
	n.up = up
	e := verbs.AsyncEvent{Type: verbs.EventPortErr, Port: 1}
	if up {
		e.Type = verbs.EventPortActive
	}
	b.traceFault(n, up)
	b.raise(n, e, nil, b.trace.count-1)
}

// transmit puts a packet on the wire.
func (b *Bench) transmit(q *qp, p *packet, cause int) {
	q.node.counters.add(cntSentPackets)
	p.trace = -1
	if b.tracing {
		b.tracePacket(q, p, cause)
	}
	if p.to < 0 {
		b.lost(p, "nobody has the address")
		return
	}
	if !b.nodes[p.from].up {
		b.lost(p, "the link is down")
		return
	}
	l := &b.links[p.from][p.to]
	bits := time.Duration(frameHeaders+frameGap+len(p.payload)) * 8
	l.free = max(l.free, b.now) + bits/linkGigabits
	at := l.free + linkLatency
	for _, f := range b.faults {
		if !f.matches(p) || (f.Count > 0 && f.used >= f.Count) {
			continue
		}
		if f.seen++; f.seen <= f.Skip {
			continue
		}
		f.used++
		if f.Kind == verbs.FaultDrop {
			b.lost(p, "a fault line drops it")
			return
		}
		at += f.Delay
		b.traceDelayed(p, f.Delay)
	}
	b.queue.Push(at, event{kind: evArrive, pkt: p})
}

// lost ends a packet on the wire.
func (b *Bench) lost(p *packet, why string) {
	b.traceDrop(p, why)
	b.pool.put(p)
}

// arrive hands a packet to the queue pair that it names.
func (b *Bench) arrive(p *packet) {
	n := b.nodes[p.to]
	if !n.up {
		b.lost(p, "the link is down")
		return
	}
	n.counters.add(cntReceivedPackets)
	q := n.qpOfNum(p.dstQP)
	if q == nil {
		b.lost(p, "no queue pair has that number")
		return
	}
	if q.typ != verbs.UD && q.state != verbs.RESET && q.state != verbs.INIT && p.from != q.peer {
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
