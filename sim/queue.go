package sim

import "time"

// Queue is a queue of events of a virtual clock. Events leave it in the order
// of their time; those of one time leave it in the order in which they were
// pushed. The zero Queue is empty and ready.
type Queue[E any] struct {
	heap []entry[E]
	seq  uint64
}

type entry[E any] struct {
	at  time.Duration
	seq uint64
	ev  E
}

func (a *entry[E]) before(b *entry[E]) bool {
	return a.at < b.at || (a.at == b.at && a.seq < b.seq)
}

// Len is the number of events that wait.
func (q *Queue[E]) Len() int { return len(q.heap) }

// Push adds an event at a time since the clock began.
func (q *Queue[E]) Push(at time.Duration, ev E) {
	q.heap = append(q.heap, entry[E]{at, q.seq, ev})
	q.seq++
	h := q.heap
	i := len(h) - 1
	e := h[i]
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

// Peek returns the first event without taking it; ok is false if there is none.
func (q *Queue[E]) Peek() (at time.Duration, ev *E, ok bool) {
	if len(q.heap) == 0 {
		return 0, nil, false
	}
	return q.heap[0].at, &q.heap[0].ev, true
}

// Pop takes the first event; the queue must not be empty.
func (q *Queue[E]) Pop() (at time.Duration, ev E) {
	h := q.heap
	top := h[0]
	n := len(h) - 1
	last := h[n]
	var zero entry[E]
	h[n] = zero
	h = h[:n]
	q.heap = h
	if n == 0 {
		return top.at, top.ev
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
	return top.at, top.ev
}
