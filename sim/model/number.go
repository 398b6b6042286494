package model

// numbers gives out queue pair numbers in turn, as rxe does (rxe_pool.c,
// xa_alloc_cyclic): one is used again only after all the others, and never while
// its queue pair lives. Each node of a Bench has every n-th number, so that one
// of a node means nothing on another.
type numbers struct {
	rows []*qp // by slot; it grows to the last slot that was given out
	next int
}

// Queue pair numbers have 24 bits; the last is that of multicast. rxe ends at
// 1 << 20 (rxe_param.h RXE_MAX_QP_INDEX).
const (
	lastQPN    = psnMask - 1
	lastQPNRXE = 1 << 20
)

// slots is how many numbers a node has.
func (n *node) slots() int {
	last := lastQPN
	if n.prof.CapacityLessOne {
		last = lastQPNRXE
	}
	nodes := len(n.bench.nodes)
	return (last-firstQPN-n.index)/nodes + 1
}

// number gives a queue pair the next number that is free; there is one, since
// max_qp is below what a node has unless very many nodes share them.
func (n *node) number(q *qp) bool {
	t, slots := &n.numbers, n.slots()
	for range slots {
		at := t.next
		t.next = (t.next + 1) % slots
		if at >= len(t.rows) {
			t.rows = append(t.rows, make([]*qp, at+1-len(t.rows))...)
		}
		if t.rows[at] == nil {
			t.rows[at] = q
			q.num = firstQPN + uint32(at*len(n.bench.nodes)+n.index)
			return true
		}
	}
	return false
}

// slot is where a number stands, -1 if it is none of this node's.
func (n *node) slot(num uint32) int {
	nodes := uint32(len(n.bench.nodes))
	i := num - firstQPN
	if num < firstQPN || i%nodes != uint32(n.index) || int(i/nodes) >= len(n.numbers.rows) {
		return -1
	}
	return int(i / nodes)
}

// qpOfNum finds a queue pair by its number on the wire.
func (n *node) qpOfNum(num uint32) *qp {
	n.qps.looks++
	if at := n.slot(num); at >= 0 {
		return n.numbers.rows[at]
	}
	return nil
}
