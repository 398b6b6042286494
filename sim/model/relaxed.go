package model

import (
	"fmt"
	"time"

	"rdmaprep/sim/verbs"
)

// Permitted reorderings between queue pairs, and between the bytes of a region
// with RELAXED_ORDERING. Both are drawn from the seed; without one everything
// happens in the order of the wire.

// placement is data on its way into memory.
type placement struct{ dst, data []byte }

// Relaxed placement: how many cache lines a payload can be torn at, and how
// long a part stays on its way if nothing makes it visible earlier.
const (
	cacheLine  = 64
	placeTicks = 16
	placeTick  = 250 * time.Nanosecond
)

// write puts a peer's data into memory. Into a region with RELAXED_ORDERING
// (ibv_reg_mr(3): writes of messages may be seen in another order, until a
// completion) each part of it may come late, and then in any order.
func (q *qp) write(dst, data []byte, key uint32) {
	n := q.node
	if !n.bench.mayReorder() || !n.relaxed(key) {
		copy(dst, data)
		return
	}
	r := n.bench.places
	for len(data) > 0 {
		part := len(data)
		if lines := (part - 1) / cacheLine; lines > 0 && r.Below(2) == 1 {
			part = cacheLine * (1 + int(r.Below(uint32(lines))))
		}
		if r.Below(2) == 0 {
			copy(dst[:part], data[:part])
		} else {
			q.writeLate(dst[:part], data[:part])
		}
		dst, data = dst[part:], data[part:]
	}
}

func (q *qp) writeLate(dst, data []byte) {
	n := q.node
	b := n.bench
	at := int(b.places.Below(uint32(len(n.late) + 1)))
	n.late = append(n.late, placement{})
	copy(n.late[at+1:], n.late[at:])
	n.late[at] = placement{dst, append([]byte(nil), data...)}
	b.queue.Push(b.now+placeTick*time.Duration(1+b.places.Below(placeTicks)), event{kind: evPlace, node: uint8(n.index)})
	q.emit(fxReorder).why = fmt.Sprintf("%d bytes for a RELAXED_ORDERING region are not in memory yet", len(data))
}

// settle puts everything that is on its way into memory: a completion, and the
// device's own reads, come after all data before them.
func (n *node) settle() {
	for i, p := range n.late {
		copy(p.dst, p.data)
		n.late[i] = placement{}
	}
	n.late = n.late[:0]
}

// relaxed tells whether a key's region lets data be placed in any order.
func (n *node) relaxed(key uint32) bool {
	m := n.regionOfKey(key)
	if key>>8 >= firstWindowIndex {
		m = nil
		if w := n.mws.get(n.handleOfKey(key, firstWindowIndex)); w != nil {
			m = w.mr
		}
	}
	return m != nil && m.access&verbs.AccessRelaxedOrdering != 0
}

// Paths of different queue pairs: how much longer one can be than another.
const (
	pathTicks = 16
	pathTick  = 250 * time.Nanosecond
)

// skewed is when a packet of q arrives that would arrive at at: where a node
// has several queue pairs each goes its own way, and that way's length changes
// now and then. Packets of one RC or UC queue pair keep their order.
func (q *qp) skewed(at time.Duration) time.Duration {
	b := q.node.bench
	if q.node.qps.count < 2 {
		return at
	}
	if b.paths.Below(4) == 0 {
		was := q.skew
		q.skew = pathTick * time.Duration(b.paths.Below(pathTicks))
		if b.tracing && q.skew > was {
			b.record(verbs.TraceEvent{
				Kind: verbs.TraceReordered, Cause: -1, Node: q.node.name, QPNum: q.num,
				Why: fmt.Sprintf("its packets now take %s longer: those of other queue pairs may pass", q.skew),
			})
		}
	}
	at += q.skew
	if q.typ != verbs.UD {
		at = max(at, q.lastAt)
		q.lastAt = at
	}
	return at
}
