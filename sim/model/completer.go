package model

import (
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// completer reads the responses and finishes send requests in order.
type completer struct {
	una        uint32 // oldest PSN that is not acknowledged
	reading    int    // READs and atomics outstanding
	retries    uint8  // left before RETRY_EXC_ERR
	rnrRetries uint8
	timing     bool   // the ACK timer runs
	retrying   bool   // a retry has begun, no message acknowledged since
	gapSeen    bool   // a missing response was asked for again, no progress since
	within     bool   // between the FIRST and the LAST response of a READ
	limited    bool   // the responder tells of credits
	free       uint32 // the last message that began before it told of any
	lsn        uint32 // the last message that its credits allow
}

// completeSend takes the oldest send request off the queue; an error always
// gives a completion (IBA 10.7.3.1), success only if it was asked for.
func (q *qp) completeSend(w *sendWQE, status verbs.WCStatus) {
	slot := q.sq.head
	signaled := q.sigAll || w.wr.Flags&verbs.SendSignaled != 0
	if w.reads() && w.phase != posted && w.phase != failed {
		q.comp.reading--
	}
	q.sq.drop()
	if q.req.next < q.sq.head {
		q.req.next = q.sq.head
	}
	if completionOpcode(w.wr.Opcode) == verbs.WCSend { // signaled or not, rxe_comp.c do_complete
		q.node.counters.add(cntSends)
	}
	if status == verbs.WCSuccess && !signaled {
		return
	}
	fx := q.emit(fxComplete)
	fx.send, fx.slot = true, slot
	fx.solicited = status != verbs.WCSuccess && !q.prof.ErrSendNotSolicited
	fx.wc = verbs.WC{ID: w.wr.ID, Status: status, QPNum: q.num}
	if status != verbs.WCSuccess {
		return
	}
	fx.wc.Opcode = completionOpcode(w.wr.Opcode)
	fx.wc.ByteLen = w.length
	if q.prof.SendImmFlag && (w.wr.Opcode == verbs.WRSendWithImm || w.wr.Opcode == verbs.WRRDMAWriteWithImm) {
		fx.wc.Flags = verbs.WCWithImm
	}
}

func completionOpcode(o verbs.WROpcode) verbs.WCOpcode {
	switch o {
	case verbs.WRRDMAWrite, verbs.WRRDMAWriteWithImm:
		return verbs.WCRDMAWrite
	case verbs.WRRDMARead:
		return verbs.WCRDMARead
	case verbs.WRAtomicCmpAndSwp:
		return verbs.WCCompSwap
	case verbs.WRAtomicFetchAdd:
		return verbs.WCFetchAdd
	case verbs.WRLocalInv:
		return verbs.WCLocalInv
	case verbs.WRBindMW:
		return verbs.WCBindMW
	}
	return verbs.WCSend
}

// retire completes the oldest requests as far as they are done.
func (q *qp) retire() {
	for q.sq.len() > 0 {
		w := q.sq.front()
		switch w.phase {
		case done:
			q.completeSend(w, verbs.WCSuccess)
		case failed:
			if q.sq.len() > 0 && q.live() {
				q.failOldest(w, w.status)
			}
			return
		default:
			return
		}
	}
}

// failOldest ends the oldest request in error, and with it the queue.
func (q *qp) failOldest(w *sendWQE, status verbs.WCStatus) {
	q.completeSend(w, status)
	q.req.broken = false
	q.req.waitRNR = false
	if q.rc || q.prof.NoSQE {
		q.toError("a send request failed: " + status.String())
		return
	}
	q.setState(verbs.SQE, "a send request failed: "+status.String())
	q.flushSend()
}

// response takes one packet of the responder.
func (q *qp) response(p *packet) {
	// An answer to nothing that is outstanding: late, or of an earlier life.
	if psnDiff(p.psn, q.req.top) >= 0 {
		q.ghost(p)
		return
	}
	if psnDiff(p.psn, q.comp.una) < 0 {
		q.node.bench.traceRefused(q, p, "it answers nothing that is outstanding")
		return
	}
	q.credit(p)
	switch p.op & operationBits {
	case opAcknowledge:
		q.acknowledge(p)
	case opAtomicAck:
		q.atomicResponse(p)
	default:
		q.readResponse(p)
	}
	if q.live() {
		q.pump()
	}
}

// credit takes note of the receives that a response tells of; the limit never
// goes back. Until the first of them nothing is known, and nothing limited (where
// the IBTA begins with no credit, which NICs on RoCE are not seen to do).
func (q *qp) credit(p *packet) {
	syn := wire.Syndrome(p.syndrome)
	if p.op&operationBits == opReadMiddle || !syn.IsAck() {
		return
	}
	n := wire.Credits(syn.Value())
	if n < 0 {
		q.comp.limited = false
		return
	}
	if !q.comp.limited {
		q.comp.limited, q.comp.free = true, q.req.ssn
	}
	if lsn := psnAdd(p.msn, uint32(n)); psnDiff(lsn, q.comp.lsn) > 0 {
		q.comp.lsn = lsn
	}
}

func (q *qp) acknowledge(p *packet) {
	syn := wire.Syndrome(p.syndrome)
	if syn.IsAck() {
		if !q.ackThrough(p.psn) && !q.ackOfRead(p.psn) {
			q.missingResponse()
		}
		return
	}
	if q.reserved(p) {
		return
	}
	// A NAK acknowledges what came before its PSN.
	next := p.psn
	if syn.IsRNR() && q.prof.RNRAcksMessages {
		next = q.messageStart(p.psn)
	}
	moved, oldest, was := p.psn != q.comp.una, q.sq.head, q.comp
	if psnDiff(next, q.comp.una) > 0 && !q.ackThrough(psnAdd(next, psnMask)) {
		q.missingResponse()
		return
	}
	if !q.live() {
		return
	}
	if q.prof.OneRetryAtATime && oldest == q.sq.head { // rxe counts whole messages only
		q.comp.retries, q.comp.rnrRetries, q.comp.retrying = was.retries, was.rnrRetries, was.retrying
	}
	switch {
	case syn.IsRNR():
		q.rnrNAK(p)
	case p.syndrome == synNAKSequence:
		if !q.prof.SeqErrIfNewAck || moved {
			q.node.counters.add(cntPacketSeqErr)
		}
		if q.prof.OneRetryAtATime && q.comp.retrying {
			q.startAckTimer()
			return
		}
		q.retry(p.psn)
	default:
		q.remoteError(p)
	}
}

// messageStart is the first PSN of the message that psn belongs to.
func (q *qp) messageStart(psn uint32) uint32 {
	for i := q.sq.head; i < q.sq.tail; i++ {
		w := q.sq.at(i)
		if w.phase == posted || w.phase == failed {
			break
		}
		if !w.localOp() && psnDiff(psn, w.first) >= 0 && psnDiff(psn, w.last) <= 0 {
			return w.first
		}
	}
	return psn
}

// remoteError ends the request that a NAK is about.
func (q *qp) remoteError(p *packet) {
	if q.sq.len() == 0 || q.sq.front().phase == posted {
		return
	}
	status := verbs.WCRemOpErr
	switch p.syndrome {
	case synNAKInvalid:
		status = verbs.WCRemInvReqErr
		q.node.counters.add(cntReqRemoteInvalid)
	case synNAKAccess:
		status = verbs.WCRemAccessErr
		q.node.counters.add(cntReqRemoteAccess)
	default:
		q.node.counters.add(cntReqRemoteOp)
	}
	q.failOldest(q.sq.front(), status)
}

// ackThrough takes everything up to psn as acknowledged. It stops, and says
// false, at a READ or atomic whose response is still missing: an
// acknowledgement of something later does not complete it.
func (q *qp) ackThrough(psn uint32) bool {
	whole, moved := true, false
	for i := q.sq.head; i < q.sq.tail; i++ {
		w := q.sq.at(i)
		if w.phase == posted || w.phase == failed {
			break
		}
		if w.localOp() || w.phase == done {
			continue
		}
		if psnDiff(psn, w.first) < 0 {
			break
		}
		if w.reads() {
			whole = false
			break
		}
		end := psn
		if psnDiff(psn, w.last) >= 0 {
			end = w.last
			if w.phase == sent {
				w.phase = done
			}
		}
		if psnDiff(end, q.comp.una) >= 0 {
			q.comp.una = psnAdd(end, 1)
			moved = true
		}
	}
	if moved {
		q.progress()
	}
	q.retire()
	return whole
}

// progress follows every step forward: the counters start again (IBTA:
// retries count attempts without progress), and so does the timer.
func (q *qp) progress() {
	c := &q.comp
	c.retries, c.rnrRetries = q.attr.RetryCnt, q.attr.RNRRetry
	c.gapSeen, c.retrying = false, false
	if psnDiff(c.una, q.req.psn) > 0 { // acknowledged while it was being resent
		q.seek(c.una)
	}
	if q.req.waitRNR {
		return
	}
	if psnDiff(c.una, q.req.top) >= 0 {
		q.stopAckTimer()
	} else {
		q.startAckTimer()
	}
}

// missingResponse asks again for a response that a later one overtook; once,
// until there is progress.
func (q *qp) missingResponse() {
	if q.comp.gapSeen || !q.live() || q.prof.OneRetryAtATime && q.comp.retrying {
		return
	}
	q.comp.gapSeen = true
	q.node.counters.add(cntImpliedNAK)
	q.retry(q.comp.una)
}

// readResponse places one packet of a READ's data.
func (q *qp) readResponse(p *packet) {
	// It acknowledges the SENDs and WRITEs before the READ.
	w := q.answered(p.psn)
	if w == nil || !q.live() {
		return
	}
	op := p.op & operationBits
	at := psnDiff(p.psn, w.rnext)
	if w.wr.Opcode != verbs.WRRDMARead {
		status := verbs.WCBadRespErr
		if q.prof.ReadRespIsFatal {
			status = verbs.WCFatalErr
		}
		q.failOldest(w, status)
		return
	}
	if at < 0 {
		return
	}
	if at > 0 {
		if !q.prof.ReadHoleWaits {
			q.missingResponse()
		}
		return
	}
	if q.prof.ErrorKeepsStatus && !q.continues(p, w) || op != opReadMiddle && !wire.Syndrome(p.syndrome).IsAck() {
		q.badAnswer()
		return
	}
	q.comp.within = op == opReadFirst || op == opReadMiddle
	n := uint32(len(p.payload))
	lastOp := op == opReadLast || op == opReadOnly
	if !q.prof.NoLengthCheck && (n != min(w.length-w.placed, q.mtu) || lastOp != (p.psn == w.last)) {
		q.failOldest(w, verbs.WCBadRespErr)
		return
	}
	if bad := q.scatter(q.pd, w.sgl, w.placed, p.payload); bad != scatterOK || (n > 0 && w.wr.Flags&verbs.SendInline != 0) {
		q.failOldest(w, verbs.WCLocProtErr)
		return
	}
	w.placed += n
	w.rnext = psnAdd(w.rnext, 1)
	q.comp.una = w.rnext
	if lastOp && w.placed == w.length {
		w.phase = done
		if q.req.top == psnAdd(w.last, 1) { // fewer packets than were asked for
			q.req.psn, q.req.top = q.comp.una, q.comp.una
		}
	}
	q.progress()
	q.retire()
}

// answered acknowledges what came before psn and returns the request that a
// response with data of that PSN answers, nil if there is none: a READ or
// atomic, or another one whose turn it is, to which such a response is wrong.
func (q *qp) answered(psn uint32) *sendWQE {
	if psn != q.comp.una {
		q.ackThrough(psnAdd(psn, psnMask))
	}
	for i := q.sq.head; i < q.sq.tail; i++ {
		w := q.sq.at(i)
		if w.phase == posted || w.phase == failed {
			return nil
		}
		if w.phase == done || w.localOp() {
			continue
		}
		if psnDiff(psn, w.first) >= 0 && psnDiff(psn, w.last) <= 0 {
			return w
		}
		if !w.reads() {
			return nil
		}
		// A later one's response came first: this one's is lost.
		if psnDiff(psn, w.last) > 0 {
			q.missingResponse()
		}
		return nil
	}
	return nil
}

func (q *qp) atomicResponse(p *packet) {
	w := q.answered(p.psn)
	if w == nil || !q.live() {
		return
	}
	if !w.reads() || w.wr.Opcode == verbs.WRRDMARead || !wire.Syndrome(p.syndrome).IsAck() {
		q.badAnswer()
		return
	}
	b := put64(p.original)
	if q.scatter(q.pd, w.sgl, 0, b[:]) != scatterOK {
		q.failOldest(w, verbs.WCLocProtErr)
		return
	}
	q.comp.una = psnAdd(p.psn, 1)
	w.phase = done
	q.progress()
	q.retire()
}
