package sim

import (
	"math"
	"time"
)

// Queue is a queue of events of a virtual clock. Events leave it in the order
// of their time; those of one time leave it in the order in which they were
// pushed. The zero Queue is empty and ready.
//
// Most of what is pushed comes in a few streams that are sorted already: what
// happens now, what a link of constant latency carries, timers of one length.
// So an event goes to the end of a run that it keeps sorted, which costs the
// same however many events wait, and into a heap only if no run fits.
type Queue[E any] struct {
	runs  [maxRuns]run[E]
	ends  [maxRuns]ends
	heap  []entry[E]
	seq   uint64
	size  int
	first int // where the first event is, if known
	known bool
}

const (
	maxRuns = 4
	inHeap  = maxRuns
)

type entry[E any] struct {
	at  time.Duration
	seq uint64
	ev  E
}

func (a *entry[E]) before(b *entry[E]) bool {
	return a.at < b.at || (a.at == b.at && a.seq < b.seq)
}

// ends are copies of what the queue looks for in its runs, side by side.
type ends struct {
	used        bool
	first, last time.Duration
	seq         uint64 // of the first
}

// run is a ring of sorted entries.
type run[E any] struct {
	slots      []entry[E] // a power of two of them
	head, tail uint64
}

func (r *run[E]) at(i uint64) *entry[E] { return &r.slots[i&uint64(len(r.slots)-1)] }

func (r *run[E]) push() *entry[E] {
	if r.tail-r.head == uint64(len(r.slots)) {
		bigger := run[E]{slots: make([]entry[E], max(16, 2*len(r.slots))), head: r.head, tail: r.tail}
		for i := r.head; i != r.tail; i++ {
			*bigger.at(i) = *r.at(i)
		}
		*r = bigger
	}
	r.tail++
	return r.at(r.tail - 1)
}

// Len is the number of events that wait.
func (q *Queue[E]) Len() int { return q.size }

// Push adds an event at a time since the clock began.
func (q *Queue[E]) Push(at time.Duration, ev E) {
	to := q.runFor(at)
	if q.known && at < q.top().at {
		q.first = to
	}
	if to == inHeap {
		q.pushHeap(entry[E]{at, q.seq, ev})
	} else {
		*q.runs[to].push() = entry[E]{at, q.seq, ev}
		x := &q.ends[to]
		if !x.used {
			x.used, x.first, x.seq = true, at, q.seq
		}
		x.last = at
	}
	q.seq++
	q.size++
}

// runFor finds the run whose last event is the latest that is not after at,
// else one that is empty: so the fewest runs are used.
func (q *Queue[E]) runFor(at time.Duration) int {
	best, last := inHeap, time.Duration(-1)
	for i := range q.ends {
		x := &q.ends[i]
		if !x.used {
			if best == inHeap {
				best = i
			}
			continue
		}
		if x.last <= at && x.last > last {
			best, last = i, x.last
		}
	}
	return best
}

// top is the first event; the queue is not empty.
func (q *Queue[E]) top() *entry[E] {
	if !q.known {
		q.find()
	}
	if q.first == inHeap {
		return &q.heap[0]
	}
	r := &q.runs[q.first]
	return r.at(r.head)
}

func (q *Queue[E]) find() {
	at, seq := time.Duration(math.MaxInt64), uint64(math.MaxUint64)
	if len(q.heap) > 0 {
		q.first, at, seq = inHeap, q.heap[0].at, q.heap[0].seq
	}
	for i := range q.ends {
		x := &q.ends[i]
		if x.used && (x.first < at || x.first == at && x.seq < seq) {
			q.first, at, seq = i, x.first, x.seq
		}
	}
	q.known = true
}

// Peek returns the first event without taking it; ok is false if there is none.
func (q *Queue[E]) Peek() (at time.Duration, ev *E, ok bool) {
	if q.size == 0 {
		return 0, nil, false
	}
	e := q.top()
	return e.at, &e.ev, true
}

// Pop takes the first event; the queue must not be empty.
func (q *Queue[E]) Pop() (at time.Duration, ev E) {
	if !q.known {
		q.find()
	}
	q.known = false
	q.size--
	if q.first == inHeap {
		e := q.popHeap()
		return e.at, e.ev
	}
	r, x := &q.runs[q.first], &q.ends[q.first]
	e := r.at(r.head)
	at, ev = e.at, e.ev
	*e = entry[E]{}
	r.head++
	if x.used = r.head != r.tail; x.used {
		next := r.at(r.head)
		x.first, x.seq = next.at, next.seq
	}
	return at, ev
}

func (q *Queue[E]) pushHeap(e entry[E]) {
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (q *Queue[E]) popHeap() entry[E] {
	h := q.heap
	top := h[0]
	n := len(h) - 1
	last := h[n]
	h[n] = entry[E]{}
	h = h[:n]
	q.heap = h
	if n == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return top
}
