package model

import (
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// Answers that no correct responder gives: what a requester makes of them.

// ghost is an answer past everything that was sent. The IBTA has it dropped; rxe
// compares it with the last PSN of the oldest request before it looks at what it
// says, and takes it for an acknowledgement of all that was sent whole.
func (q *qp) ghost(p *packet) {
	end, any := uint32(0), false
	for i := q.sq.head; q.prof.GhostAcknowledges && i < q.sq.tail; i++ {
		w := q.sq.at(i)
		if w.localOp() {
			continue
		}
		if w.phase != sent && w.phase != done {
			break
		}
		end, any = w.last, true
	}
	if !any {
		q.node.bench.traceRefused(q, p, "it answers nothing that is outstanding")
		return
	}
	if !q.ackThrough(end) {
		q.askAgain()
	}
	if q.live() {
		q.pump()
	}
}

// askAgain is rxe's retry of a READ or an atomic that something later answers: it
// costs one of the retries even where everything was answered already and nothing
// is sent again (rxe_comp.c COMPST_ERROR_RETRY).
func (q *qp) askAgain() {
	c := &q.comp
	switch {
	case psnDiff(c.una, q.req.top) < 0:
		q.missingResponse()
	case c.retrying || q.attr.RetryCnt == 7 && c.retries > 0:
	case c.retries > 0:
		c.retries--
	default:
		q.node.counters.add(cntRetryExceeded)
		q.failOldest(q.sq.front(), verbs.WCRetryExcErr)
	}
}

// reserved takes a syndrome that means nothing: the kinds 2 and from 4 on, and
// the NAK codes from 4 on. The IBTA keeps them back; hfi1 drops such an answer
// (rc.c do_rc_ack), and so does spec.
func (q *qp) reserved(p *packet) (taken bool) {
	syn := wire.Syndrome(p.syndrome)
	switch {
	case syn.IsAck(), syn.IsRNR(), syn.IsNak() && p.syndrome <= synNAKOperational:
		return false
	case !q.prof.ErrorKeepsStatus:
		q.node.bench.traceRefused(q, p, "its syndrome is reserved")
		return true
	case syn.IsNak():
		return false // rxe: REM_OP_ERR
	}
	q.badAnswer()
	return true
}

// badAnswer ends the oldest request because of a response that does not fit it.
// On rxe its status is what it was before, SUCCESS.
func (q *qp) badAnswer() {
	if q.sq.len() == 0 || q.sq.front().phase == posted {
		return
	}
	status := verbs.WCBadRespErr
	if q.prof.ErrorKeepsStatus {
		status = verbs.WCSuccess
	}
	q.failOldest(q.sq.front(), status)
}

// continues tells whether a response of a READ follows the one before it: FIRST
// or ONLY where none has begun, MIDDLE or LAST after FIRST and MIDDLE
// (rxe_comp.c check_ack).
func (q *qp) continues(p *packet, w *sendWQE) bool {
	op := p.op & operationBits
	begins := op == opReadFirst || op == opReadOnly
	if !q.comp.within {
		return begins
	}
	return !begins || p.psn == w.first && op == opReadFirst || w.first == w.last && op == opReadOnly
}

// ackOfRead is an acknowledgement that has reached a READ or an atomic, whose
// response alone can complete it (IBTA 9.7.5.1.2). On rxe one under its last PSN
// completes it, with nothing in the buffer (rxe_comp.c check_ack,
// COMPST_WRITE_SEND); one in the middle of a READ passes for that packet of it, one
// before its turn for nothing.
func (q *qp) ackOfRead(psn uint32) (taken bool) {
	if !q.prof.AckCompletesReads || q.sq.len() == 0 || !q.live() {
		return false
	}
	w := q.sq.front()
	if !w.reads() || w.phase == posted || w.phase == failed || psnDiff(psn, w.last) > 0 {
		return false
	}
	if psn != q.comp.una {
		return true
	}
	q.comp.una = psnAdd(psn, 1)
	q.comp.within = false
	if w.wr.Opcode == verbs.WRRDMARead {
		w.rnext = q.comp.una
	}
	if psn == w.last && w.phase == sent {
		w.phase = done
	}
	q.progress()
	q.retire()
	return true
}
