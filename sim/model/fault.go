package model

import (
	"fmt"
	"slices"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

const maxFaults = 1024

// holdLimit is how long a packet that a reorder line holds back waits for
// others to pass: a path that holds for ever would be a drop.
const holdLimit = time.Millisecond

// fault is a fault line in force.
type fault struct {
	verbs.Fault
	from, to int // node, -1 for any
	seen     int
	used     int
}

// fate is what the fault lines make of one packet.
type fate struct {
	drop, corrupt bool
	delay         time.Duration
	copies        []time.Duration // how long after the packet each copy arrives
	behind        int             // packets that pass it first
	forged        []string        // the fields that were rewritten, from what to what
}

// Inject puts a fault line in force, or carries out one that is at once.
func (b *Bench) Inject(f verbs.Fault) error {
	switch f.Kind {
	case verbs.FaultLinkDown, verbs.FaultLinkUp, verbs.FaultPeerStop, verbs.FaultPeerRestart, verbs.FaultCQStall:
		n := b.node(f.Node)
		if n == nil {
			return fmt.Errorf("fault: no node %q", f.Node)
		}
		return b.injectAt(n, f)
	case verbs.FaultDrop, verbs.FaultDelay, verbs.FaultDuplicate, verbs.FaultReorder, verbs.FaultCorrupt, verbs.FaultForge:
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
	switch {
	case f.Kind == verbs.FaultDelay && f.Delay <= 0:
		return fmt.Errorf("fault: a delay must be above 0, not %s", f.Delay)
	case f.Delay < 0:
		return fmt.Errorf("fault: a copy comes after its packet, not %s before", -f.Delay)
	case f.Kind == verbs.FaultReorder && f.Behind < 1:
		return fmt.Errorf("fault: reorder lets at least one packet pass, not %d", f.Behind)
	case f.Kind == verbs.FaultForge && len(f.Forge) == 0:
		return fmt.Errorf("fault: forge rewrites at least one field of %v", verbs.HeaderFieldNames())
	case len(b.faults) >= maxFaults:
		return fmt.Errorf("fault: at most %d fault lines", maxFaults)
	}
	for _, set := range f.Forge {
		if err := set.Forgeable(f.Match); err != nil {
			return fmt.Errorf("fault: forge takes %w", err)
		}
	}
	b.faults = append(b.faults, x)
	return nil
}

// injectAt carries out a fault of one node.
func (b *Bench) injectAt(n *node, f verbs.Fault) error {
	switch f.Kind {
	case verbs.FaultLinkDown, verbs.FaultLinkUp:
		b.setLink(n, f.Kind == verbs.FaultLinkUp)
	case verbs.FaultPeerStop:
		if n.stopped {
			return fmt.Errorf("fault: %s is stopped already", n.name)
		}
		n.stop()
		b.traceFault(n, "the host stops: its queue pairs, keys and memory are gone")
	case verbs.FaultPeerRestart:
		if !n.stopped {
			return fmt.Errorf("fault: %s is not stopped", n.name)
		}
		n.stopped = false
		n.epoch++
		b.traceFault(n, fmt.Sprintf("the host is back, epoch %d: nothing of the last one is left", n.epoch))
	default:
		c := n.cqs.get(uint32(f.CQ))
		if c == nil {
			return fmt.Errorf("fault: no such completion queue on %s", n.name)
		}
		if f.Delay <= 0 {
			return fmt.Errorf("fault: a stall must be above 0, not %s", f.Delay)
		}
		c.stall(b, n, f.Delay)
		b.traceFault(n, fmt.Sprintf("a CQ shows nothing for %s", f.Delay))
	}
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
	return info.Is(f.Match) && (f.Kind != verbs.FaultForge || p.forgeable(f.Forge))
}

// fateOf applies the fault lines in their order, each to what those above it
// left; one that drops ends it.
func (b *Bench) fateOf(p *packet) (x fate) {
	for _, f := range b.faults {
		if (f.Count > 0 && f.used >= f.Count) || !f.matches(p) {
			continue
		}
		if f.seen++; f.seen <= f.Skip {
			continue
		}
		f.used++
		switch f.Kind {
		case verbs.FaultDrop:
			x.drop = true
			return x
		case verbs.FaultCorrupt:
			x.corrupt = true
		case verbs.FaultForge:
			x.forged = append(x.forged, p.forge(f.Forge)...)
		case verbs.FaultDuplicate:
			x.copies = append(x.copies, f.Delay)
		case verbs.FaultReorder:
			x.behind += f.Behind
		default:
			x.delay += f.Delay
		}
	}
	return x
}

// held is a packet that others must pass first.
type held struct {
	pkt   *packet
	left  int // packets still to pass
	until time.Duration
}

// hold keeps a packet back on its link.
func (b *Bench) hold(l *link, p *packet, at time.Duration, behind int) {
	until := at + holdLimit
	l.held = append(l.held, held{p, behind, until})
	b.queue.Push(until, event{kind: evRelease, pkt: p})
	b.traceOnWire(p, fmt.Sprintf("held back until %d later packets have passed", behind), nil)
}

// passed lets go what has waited for enough packets; the last of them arrives at at.
func (b *Bench) passed(l *link, at time.Duration) {
	kept := l.held[:0]
	for _, h := range l.held {
		if h.left--; h.left > 0 {
			kept = append(kept, h)
			continue
		}
		b.queue.Push(at, event{kind: evArrive, pkt: h.pkt})
	}
	l.held = kept
}

// release ends the wait of a packet that too few others have passed.
func (b *Bench) release(p *packet) {
	l := &b.links[p.from][p.to]
	for i := range l.held {
		if h := l.held[i]; h.pkt == p && h.until == b.now {
			l.held = slices.Delete(l.held, i, i+1)
			b.arrive(p)
			return
		}
	}
}

// duplicate puts copies of a packet on the wire behind it.
func (b *Bench) duplicate(p *packet, at time.Duration, after []time.Duration) {
	for _, d := range after {
		c := b.pool.get()
		payload := append(c.payload[:0], p.payload...)
		*c = *p
		c.payload, c.next = payload, nil
		if b.tracing {
			b.traceOnWire(c, "the network delivers a second copy", b.frame(c))
		}
		b.queue.Push(at+d, event{kind: evArrive, pkt: c})
	}
}

// stop is a host that loses its power. Handles, QP numbers, keys and addresses
// of a later epoch are others.
func (n *node) stop() {
	n.stopped = true
	for _, q := range n.qps.rows {
		if q != nil {
			n.bench.forget(q)
		}
	}
	n.pds.clear()
	n.mrs.clear()
	n.mws.clear()
	n.chans.clear()
	n.cqs.clear()
	n.srqs.clear()
	n.ahs.clear()
	n.qps.clear()
	clear(n.numbers.rows)
	for _, m := range n.mem.blocks {
		m.freed = true
	}
	n.mem.total = 0
	n.events, n.portAsyncs = nil, 0
	n.late = nil
	n.counters = counters{}
}
