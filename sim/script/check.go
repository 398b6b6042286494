package script

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"rdmaprep/sim/verbs"
)

// verdict is what an expect line came to.
type verdict struct {
	ok    bool
	got   string // one line, for a person
	wcs   []verbs.WC
	lines []TranscriptLine
}

// seen is what one look at a subject gave: each clause's text, and whether it
// holds.
type seen struct {
	ok     bool
	failed []string // the clauses that do not hold
	shown  []string // for the transcript: key=got, or the clause where several values are permitted
	got    []string // key=got of every clause
	why    string   // something undefined
}

// check looks whether e holds, reading from cur and moving it on.
func (s *Session) check(ctx context.Context, e *Expect, cur cursor) (verdict, error) {
	if e.path && !e.subj.hasIndex {
		return s.checkPath(ctx, e)
	}
	switch e.subj.kind {
	case onRet:
		return s.checkRet(e)
	case onEvent:
		return s.checkEvent(ctx, e, cur)
	case onObject:
		o, err := s.find(ref{e.subj.node, e.subj.name})
		if err != nil {
			return verdict{}, err
		}
		switch {
		case o.kind == kCQ && e.clauses[0].key != "cqe":
			return s.checkCQ(ctx, e, o, cur)
		case o.kind == kChannel:
			return s.checkChannel(ctx, e, o, cur)
		}
	}
	return s.checkState(ctx, e)
}

// judge compares the clauses with what field gives.
func (s *Session) judge(e *Expect, field func(key string) (Value, string, error)) (seen, error) {
	out := seen{ok: true}
	for _, c := range e.clauses {
		got, why, err := field(c.key)
		if err != nil {
			return out, err
		}
		holds, err := false, error(nil)
		if why == "" {
			holds, err = s.compare(e, c, got)
		}
		if err != nil {
			return out, err
		}
		if why != "" {
			out.why = why
		} else {
			out.got = append(out.got, c.key+"="+got.String())
		}
		switch {
		case !holds:
			out.ok = false
			out.failed = append(out.failed, c.String())
		case c.op == "=" && c.val.set == nil && c.val.path == nil && got.Kind != ValueDuration && c.val.kind != vRemote:
			out.shown = append(out.shown, c.key+"="+c.val.text)
		default:
			out.shown = append(out.shown, c.String())
		}
	}
	return out, nil
}

// compare decides one clause.
func (s *Session) compare(e *Expect, c clause, got Value) (bool, error) {
	if c.val.set != nil {
		in := false
		for _, one := range c.val.set {
			eq, err := s.equal(e, c.key, one, got)
			if err != nil {
				return false, err
			}
			in = in || eq
		}
		return in == (c.op == "="), nil
	}
	want, err := s.want(e, c.val, got)
	if err != nil {
		return false, err
	}
	switch c.op {
	case "=", "!=":
		eq, err := s.equalValue(e, c.key, c.val, want, got)
		return eq == (c.op == "="), err
	}
	a, b := got.Num, want.Num
	if got.Kind == ValueDuration {
		a, b = uint64(got.Dur), uint64(want.Dur)
	}
	switch c.op {
	case "<":
		return a < b, nil
	case "<=":
		return a <= b, nil
	case ">":
		return a > b, nil
	}
	return a >= b, nil
}

func (s *Session) equal(e *Expect, key string, v value, got Value) (bool, error) {
	want, err := s.want(e, v, got)
	if err != nil {
		return false, err
	}
	return s.equalValue(e, key, v, want, got)
}

// want is the value that a clause names.
func (s *Session) want(e *Expect, v value, got Value) (Value, error) {
	if v.path != nil {
		return s.pathValue(v.path)
	}
	switch v.kind {
	case vDur:
		return Value{Kind: ValueDuration, Dur: v.dur}, nil
	case vText:
		return text(fmt.Sprintf("%q", trimZeros(v.bytes))), nil
	case vHex, vOn:
		return text(v.text), nil
	case vEnum:
		return Value{Kind: ValueName, Num: v.num, Text: v.text}, nil
	case vRemote, vRange:
		b, err := s.bytes(v.rng)
		return text(fmt.Sprintf("%x", b)), err
	}
	if v.ref.zero() {
		return number(v.num), nil
	}
	o, err := s.find(v.ref)
	if err != nil {
		return Value{}, err
	}
	switch {
	case got.Kind == ValueText:
		return text(o.name), nil
	case o.kind == kQP:
		return number(uint64(o.qp.Num)), nil
	}
	return number(uint64(o.rkey())), nil
}

func (s *Session) equalValue(e *Expect, key string, v value, want, got Value) (bool, error) {
	switch {
	case got.Kind == ValueText || want.Kind == ValueText:
		return got.String() == want.String(), nil
	case got.Kind == ValueDuration:
		return got.Dur == want.Dur, nil
	case key == "flags" && v.num&uint64(verbs.WCGRH) == 0 && v.path == nil:
		// Whether a provider notes the GRH of a connected QP is its own
		// affair; a line that does not name GRH does not look at it.
		return got.Num&^uint64(verbs.WCGRH) == want.Num, nil
	}
	return got.Num == want.Num, nil
}

// finish turns a look into a verdict. head is the subject as a transcript
// shows it, full all that was seen.
func (s *Session) finish(e *Expect, out seen, head, full string) verdict {
	v := verdict{ok: out.ok, got: full}
	shown := strings.Join(out.shown, " ")
	if !out.ok {
		v.got = "expected " + strings.Join(out.failed, " ") + ", got " + full
		if out.why != "" {
			v.got += " (" + out.why + ")"
		}
		shown = v.got
	}
	v.lines = []TranscriptLine{{Node: e.subj.node, Text: head + " -> " + shown, Racy: out.ok && e.Racy()}}
	return v
}

func (s *Session) checkRet(e *Expect) (verdict, error) {
	res := s.last
	if e.subj.name != "" {
		var ok bool
		if res, ok = s.labels[e.subj.name]; !ok {
			return verdict{}, stopf("the line labelled %s has not run", e.subj.name)
		}
	}
	out, err := s.judge(e, func(key string) (Value, string, error) {
		if key == "ret" {
			return nameOf(errnoEnum, res.errno), "", nil
		}
		return number(uint64(res.posted)), "", nil
	})
	v := s.finish(e, out, "", strings.Join(out.got, " "))
	v.lines = nil // the verb's own line says it
	return v, err
}

// checkCQ is every expect line on a CQ but that on its capacity.
func (s *Session) checkCQ(ctx context.Context, e *Expect, o *object, cur cursor) (verdict, error) {
	if k := e.clauses[0].key; k == "none" || k == "count" {
		return s.checkUnread(ctx, e, o, cur)
	}
	at := cur.read[o]
	if e.subj.hasIndex {
		at = e.subj.index
	}
	found, err := s.wait(ctx, e.within, func() (bool, error) {
		if missing := at + 1 - len(o.wcs); missing > 0 {
			_, err := s.poll(o, missing)
			return at < len(o.wcs), err
		}
		return true, nil
	})
	head := o.name + e.subj.indexText()
	if err != nil && !refused(err) {
		return verdict{}, err
	}
	if !found {
		out := seen{}
		for _, c := range e.clauses {
			out.failed = append(out.failed, c.String())
		}
		what := "no completion"
		if err != nil {
			what += ": " + err.Error()
		}
		return s.finish(e, out, head, what), nil
	}
	wc := o.wcs[at]
	out, err := s.judge(e, func(key string) (Value, string, error) {
		v, why := s.wcField(o.node, wc, key)
		return v, why, nil
	})
	if err != nil {
		return verdict{}, err
	}
	full := s.wcText(o.node, wc)
	v := s.finish(e, out, head, full)
	if !e.subj.hasIndex {
		cur.read[o] = at + 1
		v.wcs = []verbs.WC{wc}
		if out.ok && !e.Racy() {
			v.lines[0].Text = head + " -> " + full
		}
	}
	return v, nil
}

// checkUnread is none and count= on a CQ.
func (s *Session) checkUnread(ctx context.Context, e *Expect, o *object, cur cursor) (verdict, error) {
	if err := s.settle(ctx, e.within); err != nil {
		return verdict{}, err
	}
	if err := s.pollAll(o); err != nil {
		return verdict{}, err
	}
	var list []string
	for _, wc := range o.wcs[cur.read[o]:] {
		list = append(list, s.wcText(o.node, wc))
	}
	return s.unread(e, o.name, list)
}

// unread judges none and count= against what is unread.
func (s *Session) unread(e *Expect, head string, list []string) (verdict, error) {
	if e.clauses[0].key == "none" {
		v := verdict{ok: len(list) == 0, got: "none"}
		if !v.ok {
			v.got = "expected none, got " + strings.Join(list, "; ")
		}
		v.lines = []TranscriptLine{{Node: e.subj.node, Text: head + " -> " + v.got}}
		return v, nil
	}
	out, err := s.judge(e, func(string) (Value, string, error) { return number(uint64(len(list))), "", nil })
	full := fmt.Sprintf("count=%d", len(list))
	if len(list) > 0 {
		full += ": " + strings.Join(list, "; ")
	}
	return s.finish(e, out, head, full), err
}

func (s *Session) checkChannel(ctx context.Context, e *Expect, o *object, cur cursor) (verdict, error) {
	if k := e.clauses[0].key; k == "none" || k == "count" {
		if err := s.settle(ctx, e.within); err != nil {
			return verdict{}, err
		}
		if _, err := s.takeChannel(o, maxHistory); err != nil {
			return verdict{}, err
		}
		return s.unread(e, o.name, o.evs[cur.read[o]:])
	}
	at := cur.read[o]
	if e.subj.hasIndex {
		at = e.subj.index
	}
	found, err := s.wait(ctx, e.within, func() (bool, error) { return s.takeChannel(o, at+1) })
	if err != nil {
		return verdict{}, err
	}
	out := seen{failed: []string{e.clauses[0].String()}}
	full := "no event"
	if found {
		full = "event=" + o.evs[at]
		out, err = s.judge(e, func(string) (Value, string, error) { return text(o.evs[at]), "", nil })
		if !e.subj.hasIndex {
			cur.read[o] = at + 1
		}
	}
	return s.finish(e, out, o.name+e.subj.indexText(), full), err
}

func (s *Session) checkEvent(ctx context.Context, e *Expect, cur cursor) (verdict, error) {
	node := e.subj.node
	if s.bench.Node(node) == nil {
		return verdict{}, stopf("this device has no node %q", node)
	}
	if k := e.clauses[0].key; k == "none" || k == "count" {
		if err := s.settle(ctx, e.within); err != nil {
			return verdict{}, err
		}
		if err := s.takeAsync(node); err != nil {
			return verdict{}, err
		}
		var list []string
		for _, ev := range s.events[node][cur.ev[node]:] {
			list = append(list, ev.String())
		}
		return s.unread(e, "event", list)
	}
	at := cur.ev[node]
	if e.subj.hasIndex {
		at = e.subj.index
	}
	found, err := s.wait(ctx, e.within, func() (bool, error) {
		if at < len(s.events[node]) {
			return true, nil
		}
		err := s.takeAsync(node)
		return at < len(s.events[node]), err
	})
	if err != nil {
		return verdict{}, err
	}
	out, full := seen{}, "no event"
	for _, c := range e.clauses {
		out.failed = append(out.failed, c.String())
	}
	if found {
		ev := s.events[node][at]
		full = ev.String()
		out, err = s.judge(e, func(key string) (Value, string, error) {
			if key == "on" {
				return text(ev.on), "", nil
			}
			return nameOf(eventEnum, uint64(ev.typ)), "", nil
		})
		if !e.subj.hasIndex {
			cur.ev[node] = at + 1
		}
	}
	v := s.finish(e, out, "event"+e.subj.indexText(), full)
	if out.ok && !e.Racy() && !e.subj.hasIndex {
		v.lines[0].Text = "event -> " + full
	}
	return v, err
}

// checkPath is PATH OP VALUE without an index. What counts completions or
// events counts them once all is quiet.
func (s *Session) checkPath(ctx context.Context, e *Expect) (verdict, error) {
	if e.subj.kind == onRet {
		return s.checkRet(e)
	}
	if e.clauses[0].key != "count" || (e.subj.kind != onObject && e.subj.kind != onEvent) {
		return s.checkState(ctx, e)
	}
	if err := s.settle(ctx, e.within); err != nil {
		return verdict{}, err
	}
	var err error
	if e.subj.kind == onEvent {
		if s.bench.Node(e.subj.node) == nil {
			return verdict{}, stopf("this device has no node %q", e.subj.node)
		}
		err = s.takeAsync(e.subj.node)
	} else {
		var o *object
		if o, err = s.find(ref{e.subj.node, e.subj.name}); err != nil {
			return verdict{}, err
		}
		switch o.kind {
		case kCQ:
			err = s.pollAll(o)
		case kChannel:
			_, err = s.takeChannel(o, maxHistory)
		}
	}
	if err != nil {
		return verdict{}, err
	}
	out, err := s.judge(e, func(key string) (Value, string, error) { return s.look(e, key) })
	head := strings.TrimPrefix(e.subj.String(), e.subj.node+".") + " so far"
	return s.finish(e, out, head, strings.Join(out.got, " ")), err
}

// checkState is everything that has no order: states, bytes, counters, time,
// packets. It holds if it is so now or becomes so before all is quiet.
func (s *Session) checkState(ctx context.Context, e *Expect) (verdict, error) {
	var out seen
	look := func() (bool, error) {
		var err error
		out, err = s.judge(e, func(key string) (Value, string, error) { return s.look(e, key) })
		return out.ok, err
	}
	var err error
	if s.quiet || e.subj.kind == onSince {
		_, err = look()
	} else {
		_, err = s.wait(ctx, e.within, look)
	}
	if err != nil {
		return verdict{}, err
	}
	head := strings.TrimPrefix(e.subj.String(), e.subj.node+".")
	v := s.finish(e, out, head, strings.Join(out.got, " "))
	if e.subj.kind != onObject || secret(e) {
		v.lines = nil
	}
	return v, nil
}

// secret says whether a line speaks of what differs from device to device.
func secret(e *Expect) bool {
	for _, c := range e.clauses {
		switch c.key {
		case "rkey", "lkey", "addr", "qp_num":
			return true
		}
	}
	return false
}

// look reads one value of a subject without order.
func (s *Session) look(e *Expect, key string) (Value, string, error) {
	if key == "equals" {
		b, err := s.bytes(e.subj.bytesOf())
		return text(fmt.Sprintf("%x", b)), "", err
	}
	if key == "fill" {
		b, err := s.bytes(e.subj.bytesOf())
		if err != nil || len(b) == 0 || bytes.Count(b, b[:1]) != len(b) {
			return text("mixed bytes"), "", err
		}
		return number(uint64(b[0])), "", nil
	}
	v, err := s.pathValue(&Path{subj: e.subj, field: key})
	return v, "", err
}

// bytesOf is the range that an object or a range stands for.
func (s subject) bytesOf() rangeRef {
	if s.rng.zero() {
		return rangeRef{ref: ref{s.node, s.name}}
	}
	return s.rng
}
