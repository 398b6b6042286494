package model

import (
	"time"

	"rdmaprep/sim/verbs"
)

// executeRead checks a READ and begins its answer. The key of a READ of no
// bytes is not looked at (IBTA C9-88).
func (q *qp) executeRead(p *packet) {
	r := &q.resp
	if p.length > 0 {
		if _, ok := q.node.remote(q, p.rkey, p.va, uint64(p.length), verbs.AccessRemoteRead); !ok {
			q.rejectAccess()
			return
		}
	}
	r.msn = psnAdd(r.msn, 1) // at the start of execution, C9-148
	r.epsn = psnAdd(p.psn, q.packetsOf(p.length))
	if q.prof.NoDestRDAtomicLimit {
		q.keep(result{psn: p.psn, last: psnAdd(r.epsn, psnMask), read: true})
	}
	q.beginRead(p, r.msn)
}

func (q *qp) packetsOf(length uint32) uint32 {
	if length <= q.mtu {
		return 1
	}
	return (length + q.mtu - 1) / q.mtu
}

// beginRead starts an answer; its first byte is fetched after the READ latency,
// or later if a seed says so.
func (q *qp) beginRead(p *packet, msn uint32) {
	q.sendAck() // of what came before: it would wait behind the READ
	d := readLatency
	more, late := q.drawLate()
	d += readLatency * time.Duration(more)
	q.resp.job = readJob{
		active: true, late: late, psn: p.psn, first: p.psn, last: psnAdd(p.psn, q.packetsOf(p.length)-1),
		va: p.va, rkey: p.rkey, left: p.length, msn: msn, cause: q.cause,
	}
	q.setTimer(timerRead, d)
}

func (q *qp) readReady() {
	q.resp.job.ready = true
	q.cause = q.resp.job.cause
	q.pumpRead()
}

// pumpRead sends response packets of the READ in hand.
func (q *qp) pumpRead() {
	j := &q.resp.job
	if !j.active || !j.ready || q.state == verbs.ERR || q.state == verbs.RESET {
		return
	}
	for range burst {
		if !q.readPacket() {
			return
		}
		if !j.active {
			q.afterRead()
			return
		}
	}
	q.emit(fxPump).pump = pumpResponses
}

// readPacket sends one response packet; false if the region is gone.
func (q *qp) readPacket() bool {
	j := &q.resp.job
	n := min(j.left, q.mtu)
	q.node.settle()
	var src []byte
	if n > 0 {
		var ok bool
		if src, ok = q.node.remote(q, j.rkey, j.va, uint64(n), verbs.AccessRemoteRead); !ok {
			psn := j.psn
			if q.prof.ReadNAKNamesRequest {
				psn = j.first
			}
			j.active = false
			q.rejectAt(psn, synNAKAccess, verbs.WCLocAccessErr, verbs.EventQPAccessErr)
			return false
		}
	}
	op := uint8(opReadMiddle)
	switch {
	case j.psn == j.first && j.psn == j.last:
		op = opReadOnly
	case j.psn == j.first:
		op = opReadFirst
	case j.psn == j.last:
		op = opReadLast
	}
	p := q.responsePacket(op, j.psn)
	p.syndrome, p.msn = q.ackSyndrome(), j.msn
	copy(p.room(int(n)), src)
	fx := q.emit(fxSend)
	fx.pkt, fx.cause = p, j.cause
	j.va += uint64(n)
	j.left -= n
	if j.psn == j.last {
		j.active = false
	}
	j.psn = psnAdd(j.psn, 1)
	return true
}

// afterRead lets go what waited behind the READ.
func (q *qp) afterRead() {
	r := &q.resp
	for _, p := range r.answers {
		cause := p.trace
		fx := q.emit(fxSend)
		fx.pkt, fx.cause = p, cause
		p.trace = -1
	}
	r.answers = r.answers[:0]
	q.drainHeld()
}

// finishReadNow ends the READ in hand at once.
func (q *qp) finishReadNow() {
	for q.resp.job.active {
		if !q.readPacket() {
			return
		}
	}
	r := &q.resp
	for _, p := range r.answers {
		q.emit(fxSend).pkt = p
	}
	r.answers = r.answers[:0]
}
