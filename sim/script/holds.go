package script

import (
	"context"
	"errors"

	"rdmaprep/sim/verbs"
)

// Holds says whether a claim is true of the state after the run. It takes
// nothing: the next unread completion is always the one after the script's
// last line. got is what was seen.
func (s *Session) Holds(ctx context.Context, e *Expect) (ok bool, got string, err error) {
	return s.HoldsAll(ctx, []*Expect{e})
}

// HoldsAll is Holds of several lines, which read on from each other. got is
// what the first line that fails saw, or the last one. Lines of another
// profile are passed over.
func (s *Session) HoldsAll(ctx context.Context, es []*Expect) (ok bool, got string, err error) {
	if err := s.drain(ctx); err != nil {
		return false, "", err
	}
	cur := s.cur.clone()
	for _, e := range es {
		if !s.applies(e, es) {
			continue
		}
		v, err := s.check(ctx, e, cur)
		var stop *stopError
		if errors.As(err, &stop) {
			return false, stop.why, nil
		}
		if err != nil {
			return false, "", err
		}
		got = v.got
		if !v.ok {
			return false, got, nil
		}
	}
	return true, got, nil
}

// Value is what a path names after the run, once all is quiet. It takes
// nothing.
func (s *Session) Value(ctx context.Context, p *Path) (Value, error) {
	if err := s.drain(ctx); err != nil {
		return Value{}, err
	}
	return s.pathValue(p)
}

// pathValue reads a value as things are now.
func (s *Session) pathValue(p *Path) (Value, error) {
	b := p.subj
	switch b.kind {
	case onRet:
		res, ok := s.last, true
		if b.name != "" {
			res, ok = s.labels[b.name]
		}
		if !ok {
			return Value{}, stopf("the line labelled %s has not run", b.name)
		}
		if p.field == "ret" {
			return nameOf(errnoEnum, res.errno), nil
		}
		return number(uint64(res.posted)), nil
	case onSince:
		return s.since(p.field)
	case onWire:
		return s.packets(b)
	}
	dev := s.bench.Node(b.node)
	if dev == nil {
		return Value{}, stopf("this device has no node %q", b.node)
	}
	switch b.kind {
	case onCounter:
		all, err := dev.Counters()
		if err != nil {
			return Value{}, err
		}
		n, ok := all[p.field]
		if !ok {
			return Value{}, s.noCounter(p.field, all)
		}
		return number(n), nil
	case onEvent:
		return s.eventValue(b, p.field)
	}
	o, err := s.find(ref{b.node, b.name})
	if err != nil {
		return Value{}, err
	}
	if !b.hasIndex {
		return s.objectField(o, b.rng, p.field)
	}
	return s.indexedValue(o, b.index, p)
}

func (s *Session) indexedValue(o *object, i int, p *Path) (Value, error) {
	switch {
	case o.kind == kChannel && i < len(o.evs):
		return text(o.evs[i]), nil
	case o.kind == kCQ && i < len(o.wcs):
		v, why := s.wcField(o.node, o.wcs[i], p.field)
		if why != "" {
			return Value{}, stopf("%s: %s", p, why)
		}
		return v, nil
	}
	return Value{}, stopf("%s: there are only %d", p, max(len(o.wcs), len(o.evs)))
}

func (s *Session) eventValue(b subject, field string) (Value, error) {
	list := s.events[b.node]
	if !b.hasIndex {
		return number(uint64(len(list))), nil
	}
	if b.index >= len(list) {
		return Value{}, stopf("%s: node %s raised only %d events", b, b.node, len(list))
	}
	if field == "on" {
		return text(list[b.index].on), nil
	}
	return nameOf(eventEnum, uint64(list[b.index].typ)), nil
}

func (s *Session) noCounter(name string, all map[string]uint64) error {
	names := make(map[string]int, len(all))
	for n := range all {
		names[n] = 0
	}
	list := sortedKeys(names)
	if near := nearest(name, list); near != "" {
		return stopf("this device has no counter %s; did you mean %s?", name, near)
	}
	return stopf("this device has no counter %s; it has %v", name, list)
}

func (s *Session) since(mark string) (Value, error) {
	clock, ok := s.bench.(verbs.Clock)
	if !ok {
		return Value{}, &MissingError{What: "clock of its own (mark, advance, since)"}
	}
	t0, ok := s.marks[mark]
	if !ok {
		return Value{}, stopf("the line that marks %s has not run", mark)
	}
	return Value{Kind: ValueDuration, Dur: clock.Now() - t0}, nil
}

// packets counts what one node put on the wire for another.
func (s *Session) packets(b subject) (Value, error) {
	t, ok := s.bench.(verbs.Tracer)
	if !ok {
		return Value{}, &MissingError{What: "count of packets (wire)"}
	}
	n := uint64(0)
	for _, ev := range t.Trace() {
		if ev.Kind == verbs.TracePacket && ev.Node == b.from && ev.Peer == b.to &&
			(b.opcode == "" || ev.Packet.Is(b.opcode)) {
			n++
		}
	}
	return number(n), nil
}
