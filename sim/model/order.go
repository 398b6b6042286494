package model

import "rdmaprep/sim/verbs"

// The permitted reorderings of one send queue (IBTA table "Work Request
// Operation Ordering", the cells that need a fence), drawn from the seed. Seed
// 0 is program order: a request that would gather what an earlier READ or
// atomic is about to write waits for it, and READs execute in their turn.

// gatherDraw is what a request decided about an earlier READ into its payload.
type gatherDraw uint8

const (
	notDrawn gatherDraw = iota
	gatherWaits
	gatherEarly
)

// readsInto tells whether a READ or atomic that is outstanding writes where w
// gathers from.
func (q *qp) readsInto(w *sendWQE) bool {
	if q.comp.reading == 0 || w.wr.Flags&verbs.SendInline != 0 {
		return false
	}
	for i := q.sq.head; i < q.sq.tail; i++ {
		r := q.sq.at(i)
		if r == w {
			return false
		}
		if r.reads() && r.phase != posted && overlap(r.sgl, w.sgl) {
			return true
		}
	}
	return false
}

func overlap(a, b []verbs.SGE) bool {
	for i := range a {
		for k := range b {
			x, y := &a[i], &b[k]
			if x.Length > 0 && y.Length > 0 && x.Addr < y.Addr+uint64(y.Length) && y.Addr < x.Addr+uint64(x.Length) {
				return true
			}
		}
	}
	return false
}

// mayGather tells whether an unfenced request may read its payload now.
func (q *qp) mayGather(w *sendWQE) bool {
	if w.draw == gatherEarly || !q.readsInto(w) {
		return true
	}
	if w.draw == notDrawn {
		w.draw = gatherWaits
		if b := q.node.bench; b.mayReorder() && b.order.Below(2) == 1 {
			w.draw = gatherEarly
			fx := q.emit(fxReorder)
			fx.cause = w.trace
			fx.why = "a request without FENCE gathers its payload before an earlier READ or atomic has written it"
		}
	}
	return w.draw == gatherEarly
}

// drawLate tells whether the READ that begins is executed late, and by how
// many READ latencies.
func (q *qp) drawLate() (latencies uint32, late bool) {
	b := q.node.bench
	if !b.mayReorder() || b.order.Below(2) == 0 {
		return 0, false
	}
	q.emit(fxReorder).why = "a READ is executed late: SENDs, WRITEs and atomics after it may pass"
	return 1 + 4*b.order.Below(8), true
}
