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
	q.node.settle()
	old := binary.LittleEndian.Uint64(mem)
	switch {
	case p.op&operationBits == opFetchAdd:
		binary.LittleEndian.PutUint64(mem, old+p.swapAdd)
	case old == p.compare:
		binary.LittleEndian.PutUint64(mem, p.swapAdd)
	}
	r.epsn = psnAdd(p.psn, 1)
	r.executed = r.epsn
	r.msn = psnAdd(r.msn, 1)
	x := result{psn: p.psn, last: p.psn, original: old, msn: r.msn}
	q.keep(x)
	q.answerAtomic(&x)
}

func (q *qp) answerAtomic(a *result) {
	p := q.responsePacket(opAtomicAck, a.psn)
	p.syndrome, p.original, p.msn = q.ackSyndrome(), a.original, a.msn
	q.respond(p)
}
