package model

import (
	"encoding/binary"

	"rdmaprep/sim/verbs"
)

// executeAtomic: alignment comes before the key (rdma-unit-test,
// FetchAddUnalignedInvalidRKey).
func (q *qp) executeAtomic(p *packet) {
	r := &q.resp
	if p.va%8 != 0 {
		q.reject(synNAKInvalid, verbs.WCRemInvReqErr, verbs.EventQPReqErr)
		return
	}
	mem, ok := q.node.remote(q, p.rkey, p.va, 8, verbs.AccessRemoteAtomic)
	if !ok {
		q.rejectAccess()
		return
	}
	old := binary.LittleEndian.Uint64(mem)
	switch {
	case p.op&operationBits == opFetchAdd:
		binary.LittleEndian.PutUint64(mem, old+p.swapAdd)
	case old == p.compare:
		binary.LittleEndian.PutUint64(mem, p.swapAdd)
	}
	r.epsn = psnAdd(p.psn, 1)
	r.msn = psnAdd(r.msn, 1)
	res := atomicResult{psn: p.psn, original: old, msn: r.msn}
	keep := max(1, int(q.attr.MaxDestRDAtomic))
	if len(r.atomics) < keep {
		r.atomics = append(r.atomics, res)
	} else {
		r.atomicAt %= keep
		r.atomics[r.atomicAt] = res
	}
	r.atomicAt = (r.atomicAt + 1) % keep
	q.answerAtomic(&res)
}

func (q *qp) answerAtomic(a *atomicResult) {
	p := q.responsePacket(opAtomicAck, a.psn)
	p.syndrome, p.original, p.msn = synACK, a.original, a.msn
	q.respond(p)
}
