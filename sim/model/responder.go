package model

import (
	"time"

	"rdmaprep/sim/verbs"
)

// readLatency is how long the responder takes to fetch a READ's first byte.
const readLatency = 500 * time.Nanosecond

// recvWQE is a receive request in its slot.
type recvWQE struct {
	id     uint64
	sgl    []verbs.SGE
	length uint32
}

// responder executes a peer's requests in the order of their PSNs.
type responder struct {
	epsn    uint32 // the PSN that must come next
	msn     uint32
	nakSent bool // one NAK for a gap
	rnrWait bool // after an RNR NAK, until the expected PSN comes
	skip    bool // UC: the rest of a message is dropped
	kind    uint8
	off     uint32 // bytes of the message so far
	va      uint64
	rkey    uint32
	left    uint32 // WRITE: bytes still to come

	heard    bool   // COMM_EST was raised
	executed uint32 // the PSN after the latest SEND, WRITE or atomic; a reset leaves it

	// An error of the packet in hand is a solicited event.
	solicited bool

	have     bool // a receive request is held
	wqe      recvWQE
	slot     uint64
	job      readJob
	held     []*packet // requests that wait behind a READ
	heldHead int
	answers  []*packet // responses that wait behind a READ
	results  []result  // of the latest READs and atomics
	resultAt int

	acks     int    // acknowledgements that wait to go out as one
	ackPSN   uint32 // what they acknowledge
	ackPrev  uint32 // what all but the latest acknowledge
	ackCause int
}

// readJob is a READ that is being answered.
type readJob struct {
	active, ready, late bool
	again               bool // a repeated READ
	psn, last           uint32
	first               uint32
	va                  uint64
	rkey                uint32
	left                uint32
	msn                 uint32
	cause               int
}

// stop lets go of everything that waits.
func (r *responder) stop(pool *packetPool) {
	for _, p := range r.held[r.heldHead:] {
		pool.put(p)
	}
	for _, p := range r.answers {
		pool.put(p)
	}
	r.held, r.heldHead, r.answers = r.held[:0], 0, r.answers[:0]
	r.job = readJob{}
}

func (r *responder) clear(pool *packetPool) {
	r.stop(pool)
	*r = responder{held: r.held, answers: r.answers, wqe: recvWQE{sgl: r.wqe.sgl[:0]}, executed: r.executed}
}

// request takes one RC request packet, or lets it wait behind a READ.
func (q *qp) request(p *packet) {
	r := &q.resp
	if opClass[p.op&operationBits]&(isRead|isAtomic) != 0 && !q.prof.NoDestRDAtomicLimit {
		n := 1
		if r.job.active && !r.job.again {
			n++
		}
		for _, h := range r.held[r.heldHead:] {
			if opClass[h.op&operationBits]&(isRead|isAtomic) != 0 && psnDiff(h.psn, r.epsn) >= 0 {
				n++
			}
		}
		p.tooMany = n > int(q.attr.MaxDestRDAtomic)
	}
	if len(r.held) > r.heldHead || q.mustWait(p) {
		r.held = append(r.held, p)
		return
	}
	q.execute(p)
	q.pool.put(p)
}

// mustWait tells whether p has to wait for the READ before it. A READ that a
// seed has made late lets SENDs, WRITEs and atomics pass, not another READ.
func (q *qp) mustWait(p *packet) bool {
	j := &q.resp.job
	return j.active && (!j.late || p.op&operationBits == opReadRequest)
}

func (q *qp) drainHeld() {
	r := &q.resp
	for r.heldHead < len(r.held) {
		p := r.held[r.heldHead]
		if q.mustWait(p) || q.state == verbs.ERR {
			return
		}
		r.heldHead++
		q.cause = p.trace
		q.execute(p)
		q.pool.put(p)
	}
	r.held, r.heldHead = r.held[:0], 0
}

// execute checks a request in the order of IBTA 9.7.4 and carries it out.
func (q *qp) execute(p *packet) {
	r := &q.resp
	r.solicited = p.se || !q.prof.ErrRecvAsPacket
	diff := psnDiff(p.psn, r.epsn)
	if diff != 0 {
		q.outOfOrder(p, diff)
		return
	}
	r.nakSent = false
	r.rnrWait = false
	class := opClass[p.op&operationBits]
	if class == 0 || !q.inSequence(class) {
		q.reject(synNAKInvalid, verbs.WCRemInvReqErr, verbs.EventQPReqErr)
		return
	}
	q.established()
	if !q.lengthFits(p, class) || !q.permitted(class) {
		q.reject(synNAKInvalid, verbs.WCRemInvReqErr, verbs.EventQPReqErr)
		return
	}
	if class&(isRead|isAtomic) != 0 && (p.tooMany || q.attr.MaxDestRDAtomic == 0) {
		q.reject(synNAKInvalid, verbs.WCRemInvReqErr, verbs.EventQPReqErr)
		return
	}
	switch {
	case class&isSend != 0:
		q.executeSend(p, class)
	case class&isWrite != 0:
		if class&isFirst != 0 {
			q.node.counters.add(cntWriteRequests)
		}
		q.executeWrite(p, class)
	case class&isRead != 0:
		q.node.counters.add(cntReadRequests)
		q.executeRead(p)
	default:
		q.node.counters.add(cntAtomicRequests)
		q.executeAtomic(p)
	}
}

// established tells once of the first packet in RTR that is in sequence (the
// kernel's rdmavt does so in rvt_comm_est, called by hfi1/rc.c and uc.c; IBTA
// ch. 11, communication established).
func (q *qp) established() {
	if q.state == verbs.RTR && !q.resp.heard && !q.prof.NoCommEst {
		q.resp.heard = true
		q.async(verbs.EventCommEst)
	}
}

// outOfOrder answers a PSN that is not the expected one.
func (q *qp) outOfOrder(p *packet, diff int32) {
	r := &q.resp
	if diff > 0 {
		if r.nakSent || (r.rnrWait && !q.prof.RNRKeepsNAKing) {
			q.node.bench.traceRefused(q, p, "a PSN after a gap")
			return
		}
		r.nakSent = true
		q.node.counters.add(cntOutOfSequence)
		q.node.counters.add(cntSentNAKSequence)
		q.answer(synNAKSequence, r.epsn)
		return
	}
	q.node.counters.add(cntDuplicate)
	q.duplicate(p)
}

// duplicate answers a request that was executed before.
func (q *qp) duplicate(p *packet) {
	r := &q.resp
	switch p.op & operationBits {
	case opReadRequest:
		x := q.kept(p.psn, true)
		if q.prof.NoDestRDAtomicLimit && x == nil {
			q.node.bench.traceRefused(q, p, "a repeated READ that is no longer remembered")
			return
		}
		if _, ok := q.node.remote(q, p.rkey, p.va, uint64(p.length), verbs.AccessRemoteRead); !ok && p.length > 0 {
			return
		}
		q.beginRead(p, r.msn)
		r.job.again = true
		if q.prof.ReplayGoesOn && x != nil {
			r.job.first = x.psn
		}
	case opCompareSwap, opFetchAdd:
		if x := q.kept(p.psn, false); x != nil {
			q.answerAtomic(x)
		}
	default:
		last := r.epsn
		if q.prof.RepeatAckSkipsReads {
			last = r.executed
		}
		q.answer(q.ackSyndrome(), psnAdd(last, psnMask))
	}
}

// inSequence tells whether a packet continues what went before.
func (q *qp) inSequence(class uint8) bool {
	if class&isFirst != 0 {
		return q.resp.kind == 0
	}
	return q.resp.kind != 0 && q.resp.kind&class != 0
}

// lengthFits compares the payload with the path MTU: FIRST and MIDDLE are
// full, LAST has at least one byte.
func (q *qp) lengthFits(p *packet, class uint8) bool {
	n := uint32(len(p.payload))
	if q.prof.NoLengthCheck || class&(isRead|isAtomic) != 0 {
		return true
	}
	switch {
	case class&isLast == 0:
		return n == q.mtu
	case class&isFirst == 0:
		return n > 0 && n <= q.mtu
	}
	return n <= q.mtu
}

// permitted applies the queue pair's own access flags.
func (q *qp) permitted(class uint8) bool {
	a := q.attr.Access
	switch {
	case class&isWrite != 0:
		return a&verbs.AccessRemoteWrite != 0
	case class&isRead != 0:
		return a&verbs.AccessRemoteRead != 0
	case class&isAtomic != 0:
		return a&verbs.AccessRemoteAtomic != 0
	}
	return true
}

func (q *qp) executeSend(p *packet, class uint8) {
	r := &q.resp
	if class&isFirst != 0 {
		if !q.takeRecv() {
			q.noReceive()
			return
		}
		r.kind, r.off = isSend, 0
	}
	if uint64(r.off)+uint64(len(p.payload)) > uint64(r.wqe.length) {
		if q.prof.RecvTooSmallIsOpErr {
			q.reject(synNAKOperational, verbs.WCLocQPOpErr, 0)
			return
		}
		q.reject(synNAKInvalid, verbs.WCLocLenErr, 0)
		return
	}
	if q.scatter(q.recvPD(), r.wqe.sgl, r.off, p.payload) != scatterOK {
		status := verbs.WCLocProtErr
		if q.prof.RecvProtIsOpErr {
			status = verbs.WCLocQPOpErr
		}
		q.reject(synNAKOperational, status, 0)
		return
	}
	r.off += uint32(len(p.payload))
	if class&hasInv != 0 && !q.invalidate(p.rkey) {
		q.badInvalidate(p)
		return
	}
	q.accepted(p, class)
}

func (q *qp) executeWrite(p *packet, class uint8) {
	r := &q.resp
	if class&hasImm != 0 && !q.takeRecv() {
		q.noReceive()
		return
	}
	if class&isFirst != 0 {
		r.va, r.rkey, r.left = p.va, p.rkey, p.length
		if r.left > 0 {
			if _, ok := q.node.remote(q, r.rkey, r.va, uint64(r.left), verbs.AccessRemoteWrite); !ok {
				q.rejectAccess()
				return
			}
		}
		r.kind, r.off = isWrite, 0
	}
	n := uint32(len(p.payload))
	if !q.writeFits(n, class) {
		status := verbs.WCLocLenErr
		if q.prof.NoLengthCheck { // rxe_resp.c RESPST_ERR_LENGTH
			status = verbs.WCRemInvReqErr
		}
		q.reject(synNAKInvalid, status, verbs.EventQPReqErr)
		return
	}
	if n > 0 {
		dst, ok := q.node.remote(q, r.rkey, r.va, uint64(n), verbs.AccessRemoteWrite)
		if !ok {
			q.rejectAccess()
			return
		}
		q.write(dst, p.payload, r.rkey)
	}
	r.va += uint64(n)
	r.left -= n
	r.off += n
	q.accepted(p, class)
}

// writeFits compares the n bytes of a WRITE's packet with what its RETH leaves
// and with the path MTU (rxe_resp.c check_rkey: all of the rest or one MTU).
func (q *qp) writeFits(n uint32, class uint8) bool {
	return n == min(q.resp.left, q.mtu) && (class&isLast == 0 || n == q.resp.left)
}

// rejectAccess is a remote access error.
func (q *qp) rejectAccess() {
	q.node.counters.add(cntRespRemoteAccess)
	status := verbs.WCLocAccessErr
	if q.prof.WriteImmErrIsRemAccess {
		status = verbs.WCRemAccessErr
	}
	q.reject(synNAKAccess, status, verbs.EventQPAccessErr)
}

// accepted follows a packet of a SEND or WRITE that was carried out.
func (q *qp) accepted(p *packet, class uint8) {
	r := &q.resp
	r.epsn = psnAdd(p.psn, 1)
	r.executed = r.epsn
	if class&isLast != 0 {
		r.msn = psnAdd(r.msn, 1)
		q.messageDone(p, class)
	}
	if p.ackReq && q.rc && q.state != verbs.ERR {
		q.ack(p.psn)
	}
}

// messageDone completes the receive request of a message, if it took one.
func (q *qp) messageDone(p *packet, class uint8) {
	r := &q.resp
	length := r.off
	r.kind, r.off = 0, 0
	// A UC message that lost its end leaves the receive for the next SEND; a
	// WRITE in between must not use it.
	if !r.have || class&isWrite != 0 && class&hasImm == 0 {
		return
	}
	wc := verbs.WC{Opcode: verbs.WCRecv, ByteLen: length}
	if class&isWrite != 0 {
		wc.Opcode = verbs.WCRecvRDMAWithImm
	}
	if class&hasImm != 0 {
		wc.Imm, wc.Flags = p.imm, verbs.WCWithImm
	}
	if class&hasInv != 0 {
		wc.InvalidRKey, wc.Flags = p.rkey, verbs.WCWithInv
		if q.prof.InvFlagIsCsum {
			wc.Flags = verbs.WCIPCsumOK
		}
	}
	if q.prof.RecvAlwaysGRH {
		wc.Flags |= verbs.WCGRH
	}
	q.completeRecv(wc, p.se)
}

// takeRecv takes the next receive request; false if there is none.
func (q *qp) takeRecv() bool {
	r := &q.resp
	if r.have {
		return true
	}
	rq := &q.rq
	if q.srq != nil {
		rq = &q.srq.queue
	}
	if rq.len() == 0 {
		return false
	}
	w := rq.front()
	r.wqe.id, r.wqe.length = w.id, w.length
	r.wqe.sgl = append(r.wqe.sgl[:0], w.sgl...)
	r.slot = rq.head
	rq.drop()
	r.have = true
	if q.srq != nil {
		q.srqTaken()
	}
	return true
}

// completeRecv completes the receive request that is held.
func (q *qp) completeRecv(wc verbs.WC, solicited bool) {
	r := &q.resp
	r.have = false
	fx := q.emit(fxComplete)
	fx.slot = r.slot
	fx.solicited = solicited
	fx.wc = wc
	fx.wc.ID, fx.wc.QPNum = r.wqe.id, q.num
}

type scatterResult uint8

const (
	scatterOK scatterResult = iota
	scatterBad
	scatterLong // more data than the list has room for
)

// recvPD is the protection domain of the receive requests.
func (q *qp) recvPD() *domain {
	if q.srq != nil && !q.prof.SRQUsesQPPD {
		return q.srq.pd
	}
	return q.pd
}

// scatter writes data into a list of SGEs, off bytes from its start.
func (q *qp) scatter(pd *domain, sgl []verbs.SGE, off uint32, data []byte) scatterResult {
	for i := range sgl {
		if len(data) == 0 {
			return scatterOK
		}
		s := &sgl[i]
		if off >= s.Length {
			off -= s.Length
			continue
		}
		n := min(uint32(len(data)), s.Length-off)
		dst, bad := q.node.local(pd, s.LKey, s.Addr+uint64(off), uint64(n), verbs.AccessLocalWrite)
		if bad != localOK {
			return scatterBad
		}
		q.write(dst, data[:n], s.LKey)
		data = data[n:]
		off = 0
	}
	if len(data) > 0 {
		return scatterLong
	}
	return scatterOK
}
