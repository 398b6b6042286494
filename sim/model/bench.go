package model

import (
	"context"
	"fmt"
	"time"

	"rdmaprep/sim"
	"rdmaprep/sim/verbs"
)

// Limits of a run.
const (
	maxNodes    = 16
	maxEvents   = 100_000_000 // steps of one wait
	maxTrace    = 4_000_000   // trace events of one Bench
	ctxInterval = 1024        // steps between looks at ctx
)

// Options say what Open makes.
type Options struct {
	Profile string   // "" is spec
	Seed    uint64   // 0 is program order
	Nodes   []string // none is a and b
	Trace   bool
	Port    *Port // puts a node on a real Ethernet; the Bench then keeps the wire's time
}

// Bench is nodes on one network with a virtual clock. It implements
// verbs.Bench, verbs.Clock, verbs.Faulter and verbs.Tracer.
type Bench struct {
	prof   Profile
	seed   uint64
	nodes  []*node
	keys   *sim.Rand // low bits of keys
	order  *sim.Rand // permitted reorderings of one send queue
	paths  *sim.Rand // how long the way of each queue pair is
	places *sim.Rand // when relaxed-ordering data is in memory
	pool   packetPool
	queue  sim.Queue[event]
	now    time.Duration
	links  [][]link // from, to
	faults []*fault
	port   *port    // nil: the Bench is the whole network
	spare  []effect // the array that the next step fills

	popped  uint64    // events taken from the queue
	checker func(*qp) // tests look at a queue pair after every step
	tracing bool
	trace   traceLog
	cause   int
}

// event is something that will happen.
type event struct {
	kind  eventKind
	timer timerKind
	pump  pumpKind
	node  uint8  // evUnstall, evPlace
	gen   uint32 // of the timer; of a pump: the life of q; evUnstall: the CQ
	q     *qp
	pkt   *packet
}

type eventKind uint8

const (
	evKick eventKind = iota // the doorbell of q
	evArrive
	evTimer
	evPump
	evRelease // a packet that a fault line held back
	evUnstall // a CQ shows its completions again
	evPlace   // relaxed-ordering data becomes visible
)

// Open makes a fresh Bench. An unknown profile is an error that lists them.
func Open(ctx context.Context, o Options) (*Bench, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := o.Profile
	if name == "" {
		name = "spec"
	}
	prof, err := findProfile(name)
	if err != nil {
		return nil, err
	}
	names := o.Nodes
	if len(names) == 0 {
		names = []string{"a", "b"}
	}
	if len(names) > maxNodes {
		return nil, &sim.LimitError{What: "nodes", Limit: maxNodes, Fix: "use fewer"}
	}
	b := &Bench{
		prof: prof, seed: o.Seed, tracing: o.Trace, cause: -1,
		keys: sim.NewRand(o.Seed, 1), order: sim.NewRand(o.Seed, 2),
		paths: sim.NewRand(o.Seed, 3), places: sim.NewRand(o.Seed, 4),
	}
	seen := map[string]bool{}
	for i, name := range names {
		if name == "" || seen[name] {
			return nil, fmt.Errorf("node %d has the name %q, which is empty or taken", i, name)
		}
		seen[name] = true
		b.nodes = append(b.nodes, &node{
			bench: b, index: i, name: name, prof: &b.prof, limits: deviceLimits(&b.prof),
			mem: memory{next: memoryBase + uint64(i)<<36}, up: true,
		})
		b.nodes[i].gids = [2]verbs.GID{
			{0xfe, 0x80, 8: 0x02, 11: 0xff, 12: 0xfe, 15: byte(i + 1)}, {10: 0xff, 11: 0xff, 12: 10, 15: byte(i + 1)},
		}
		b.links = append(b.links, make([]link, len(names)))
	}
	if o.Port != nil {
		if err := b.attach(o.Port); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *Bench) mayReorder() bool { return b.seed != 0 }

// Profile names the rules.
func (b *Bench) Profile() string { return b.prof.Name }

// Live is false: this is the model.
func (b *Bench) Live() bool { return false }

// Nodes are the names in order.
func (b *Bench) Nodes() []string {
	names := make([]string, 0, len(b.nodes))
	for _, n := range b.nodes {
		if !n.outside {
			names = append(names, n.name)
		}
	}
	return names
}

func (b *Bench) node(name string) *node {
	for _, n := range b.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// Node returns a node's device, nil if there is no such node.
func (b *Bench) Node(name string) verbs.Device {
	if n := b.node(name); n != nil && !n.outside {
		return n
	}
	return nil
}

// GIDIndex is the entry of the GID table that holds a node's IPv4 address.
func (b *Bench) GIDIndex(string) int { return 1 }

// Now is the virtual time since Open.
func (b *Bench) Now() time.Duration { return b.now }

// Close ends the Bench; it holds nothing outside the process's memory.
func (b *Bench) Close() error {
	for _, n := range b.nodes {
		_ = n.Close() // it cannot fail
	}
	return nil
}

// Wait lets the nodes work; see verbs.Bench.
func (b *Bench) Wait(ctx context.Context, limit time.Duration, ready func() (bool, error)) (bool, error) {
	return b.run(ctx, b.now+limit, ready)
}

// Advance lets exactly d pass.
func (b *Bench) Advance(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("advance %s: time goes forward only", d)
	}
	end := b.now + d
	_, err := b.run(ctx, end, nil)
	if err == nil {
		b.now = end
	}
	return err
}

// run takes events until ready, quiet or end.
func (b *Bench) run(ctx context.Context, end time.Duration, ready func() (bool, error)) (bool, error) {
	if b.port != nil {
		return b.pace(ctx, end, ready)
	}
	for i := 0; ; i++ {
		if i%ctxInterval == 0 {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		if ready != nil {
			if ok, err := ready(); ok || err != nil {
				return ok, err
			}
		}
		at, ok := b.upcoming()
		if !ok {
			return ready == nil, nil
		}
		if at > end {
			b.now = max(b.now, end)
			return false, nil
		}
		if err := b.within(i); err != nil {
			return false, err
		}
		b.next()
	}
}

// within checks the limits of a wait that has taken i events.
func (b *Bench) within(i int) error {
	if i >= maxEvents {
		return &sim.LimitError{What: "events in one wait", Limit: maxEvents, Fix: "wait for less"}
	}
	if b.trace.count >= maxTrace {
		return &sim.LimitError{What: "trace events", Limit: maxTrace, Fix: "wait for less, or turn the trace off"}
	}
	return nil
}

// next lets the first event happen.
func (b *Bench) next() {
	at, ev := b.queue.Pop()
	b.popped++
	b.now = max(b.now, at)
	b.happen(&ev)
}

// upcoming is the time of the next event that will have an effect.
func (b *Bench) upcoming() (time.Duration, bool) {
	for {
		at, ev, ok := b.queue.Peek()
		if !ok {
			return 0, false
		}
		if ev.kind != evTimer {
			return at, true
		}
		t := &ev.q.timers[ev.timer]
		if t.gen == ev.gen && t.deadline == at {
			return at, true
		}
		_, old := b.queue.Pop()
		b.popped++
		if t.gen != old.gen {
			continue
		}
		t.queued = false
		if t.deadline != 0 {
			b.queueTimer(old.q, old.timer)
		}
	}
}

// timerState is one timer of a queue pair. Only one event of it counts: setting
// the timer later leaves that event where it is, to be moved when it is met.
type timerState struct {
	deadline time.Duration // 0: stopped
	queuedAt time.Duration
	gen      uint32
	queued   bool
}

func (b *Bench) setTimer(q *qp, k timerKind, d time.Duration) {
	t := &q.timers[k]
	if d == 0 {
		t.deadline = 0
		return
	}
	t.deadline = b.now + d
	if t.queued && t.queuedAt <= t.deadline {
		return
	}
	b.queueTimer(q, k)
}

func (b *Bench) queueTimer(q *qp, k timerKind) {
	t := &q.timers[k]
	t.gen++
	t.queued, t.queuedAt = true, t.deadline
	b.queue.Push(t.deadline, event{kind: evTimer, timer: k, gen: t.gen, q: q})
}

// kick rings a queue pair's doorbell: it works at this very time, after the
// call returns.
func (b *Bench) kick(q *qp) {
	if q.kicked {
		return
	}
	q.kicked = true
	b.queue.Push(b.now, event{kind: evKick, q: q})
}

func (b *Bench) happen(ev *event) {
	q := ev.q
	switch ev.kind {
	case evKick:
		q.kicked = false
		if !q.gone {
			b.step(q, input{kind: inDoorbell}, -1)
		}
	case evArrive:
		b.arrive(ev.pkt)
	case evTimer:
		t := &q.timers[ev.timer]
		t.queued, t.deadline = false, 0
		if q.gone {
			return
		}
		cause := -1
		if ev.timer != timerReply { // its packet has a cause of its own
			cause = b.traceTimer(q, ev.timer)
		}
		b.step(q, input{kind: inTimer, timer: ev.timer}, cause)
	case evRelease:
		b.release(ev.pkt)
	case evUnstall:
		if c := b.nodes[ev.node].cqs.get(ev.gen); c != nil {
			c.unstall(b.now)
		}
	case evPlace:
		b.nodes[ev.node].settle()
	case evPump:
		if q.life == ev.gen && !q.gone {
			b.step(q, input{kind: inPump, pump: ev.pump}, q.pumpCause)
		}
	}
}

// forget makes the events of a destroyed queue pair do nothing.
func (b *Bench) forget(q *qp) {
	q.gone = true
	for k := range q.timers {
		q.timers[k].deadline = 0
	}
}

// modified carries out a checked modify_qp at once.
func (b *Bench) modified(q *qp, a *verbs.QPAttr, mask verbs.QPAttrMask) {
	b.step(q, input{kind: inModify, attr: a, mask: mask}, -1)
}

// step puts one input into a queue pair and carries out its effects in order.
// All queue pairs fill the same array; a step inside another's (the CQ that they
// share died) makes one of its own.
func (b *Bench) step(q *qp, in input, cause int) {
	outer := q.out
	q.out, b.spare = b.spare, nil
	q.cause = cause
	q.step(in)
	for i := 0; i < len(q.out); i++ {
		fx := &q.out[i]
		switch fx.kind {
		case fxSend:
			b.transmit(q, fx.pkt, fx.cause)
		case fxComplete:
			if !b.complete(q, fx) {
				b.overflowed(q, i)
			}
		case fxAsync:
			b.async(q, fx.event, fx.cause)
		case fxTimer:
			b.setTimer(q, fx.timer, fx.d)
		case fxPump:
			q.pumpCause = fx.cause
			at := b.now
			if q.peer >= 0 {
				at = max(at, b.links[q.node.index][q.peer].free)
			}
			b.queue.Push(at, event{kind: evPump, q: q, pump: fx.pump, gen: q.life})
		default:
			b.note(q, fx)
		}
	}
	q.out, b.spare = outer, q.out[:0]
	if b.checker != nil {
		b.checker(q)
	}
}

// complete adds a completion to its CQ; false if that stops the queue pair.
func (b *Bench) complete(q *qp, fx *effect) bool {
	c := q.recvCQ
	if fx.send {
		c = q.sendCQ
	}
	if c.dead {
		return true
	}
	if c.entries.full() {
		b.cqError(q, c, fx)
		return b.prof.SendOverflowSurvives && (fx.send || q.state == verbs.ERR)
	}
	q.node.settle() // a completion makes all data before it visible
	q.node.counters.completion(fx)
	*c.entries.push() = entry{wc: fx.wc, q: q, life: q.life, slot: fx.slot, send: fx.send}
	if b.tracing {
		b.traceComplete(q, fx)
	}
	c.added(b.now, fx.solicited)
	return true
}

// cqError is an overflow. Under spec the CQ is dead afterwards.
func (b *Bench) cqError(q *qp, c *cq, fx *effect) {
	if !b.prof.SendOverflowSurvives {
		c.dead = true
	}
	b.raise(q.node, verbs.AsyncEvent{Type: verbs.EventCQErr, CQ: c.handle}, q, fx.cause)
}

// overflowed stops a queue pair whose completion was lost: nothing that comes
// after effect i is sent. Under spec every other queue pair of the CQ dies too.
func (b *Bench) overflowed(q *qp, i int) {
	c := q.recvCQ
	if q.out[i].send {
		c = q.sendCQ
	}
	for k := i + 1; k < len(q.out); k++ {
		if fx := &q.out[k]; fx.kind == fxSend {
			b.pool.put(fx.pkt)
			*fx = effect{}
		}
	}
	if !q.out[i].send {
		q.unack()
	}
	q.step(input{kind: inFatal})
	if !c.dead {
		return
	}
	for _, other := range q.node.qps.rows {
		if other != nil && other != q && (other.sendCQ == c || other.recvCQ == c) {
			b.step(other, input{kind: inFatal}, q.cause)
		}
	}
}

func (b *Bench) async(q *qp, t verbs.EventType, cause int) {
	e := verbs.AsyncEvent{Type: t}
	if t == verbs.EventSRQLimitReached {
		e.SRQ = q.srq.handle
	} else {
		e.QP = q.handle
	}
	b.raise(q.node, e, q, cause)
}

// raise queues an asynchronous event; a full queue loses the newest.
func (b *Bench) raise(n *node, e verbs.AsyncEvent, q *qp, cause int) {
	if len(n.events) >= maxAsync {
		return
	}
	n.events = append(n.events, e)
	b.traceAsync(n, e, q, cause)
}

const maxAsync = 65536
