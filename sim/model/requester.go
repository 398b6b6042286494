package model

import (
	"encoding/binary"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// The requester's bounds: un-acknowledged PSNs as in rxe_param.h, and packets
// that one turn may put on the link.
const (
	maxUnacked = 128
	ackEvery   = 64
	burst      = 64
	maxMessage = 1 << 31
)

// phase is how far a send request has come.
type phase uint8

const (
	posted phase = iota
	active       // its first packet went out
	sent         // its last packet went out once
	done         // it may complete as soon as it is the oldest
	failed       // it completes with status as soon as it is the oldest
)

// sendWQE is a send request in its slot.
type sendWQE struct {
	wr          verbs.SendWR
	sgl         []verbs.SGE
	inline      []byte
	length      uint32
	phase       phase
	status      verbs.WCStatus
	first, last uint32 // PSNs
	rnext       uint32 // READ: the response that comes next
	ssn         uint32 // number of the message, from 1
	placed      uint32 // READ: bytes that came
	draw        gatherDraw
	trace       int
}

func (w *sendWQE) reads() bool {
	switch w.wr.Opcode {
	case verbs.WRRDMARead, verbs.WRAtomicCmpAndSwp, verbs.WRAtomicFetchAdd:
		return true
	}
	return false
}

// takesReceive tells the messages that consume a receive request, and with it
// a credit.
func (w *sendWQE) takesReceive() bool {
	switch w.wr.Opcode {
	case verbs.WRSend, verbs.WRSendWithImm, verbs.WRSendWithInv, verbs.WRRDMAWriteWithImm:
		return true
	}
	return false
}

func (w *sendWQE) localOp() bool {
	return w.wr.Opcode == verbs.WRLocalInv || w.wr.Opcode == verbs.WRBindMW
}

// requester turns send requests into packets.
type requester struct {
	next      uint64 // the request whose packets go out now
	psn       uint32 // of the next packet
	ssn       uint32 // of the latest message that began
	top       uint32 // one above the highest PSN ever sent
	sinceReq  uint32 // packets since one asked for an acknowledgement
	waitRNR   bool
	asleep    bool // needs a doorbell
	broken    bool // a request failed locally; nothing more is sent
	drainTold bool
	pumping   bool // a pump is under way on the link
}

// orphaned is rxe's loss of older acknowledgements after a local error.
func (q *qp) orphaned() bool { return q.req.broken && q.prof.LocalErrOrphans && q.rc }

// pump sends what may be sent now.
func (q *qp) pump() {
	q.req.pumping = false
	if q.req.asleep {
		return
	}
	for range burst {
		if !q.live() || !q.sendOne() {
			q.retire()
			q.drainCheck()
			return
		}
	}
	q.retire()
	if q.live() && !q.req.pumping {
		q.req.pumping = true
		q.emit(fxPump).pump = pumpRequests
	}
}

// sendOne sends one packet, or does one local operation; false if nothing may
// go out now.
func (q *qp) sendOne() bool {
	r := &q.req
	if r.waitRNR || r.next >= q.sq.tail {
		return false
	}
	w := q.sq.at(r.next)
	if w.phase == posted && !q.start(w) {
		return false
	}
	if w.phase == failed {
		return false
	}
	if w.localOp() {
		r.next++
		return true
	}
	if q.rc && uint32(psnDiff(r.psn, q.comp.una)) >= maxUnacked {
		return false
	}
	switch {
	case w.reads():
		q.sendReading(w)
	case q.typ == verbs.UD:
		q.sendDatagram(w)
	default:
		q.sendData(w)
	}
	return w.phase != failed
}

// start checks a request whose turn has come and gives it its PSNs.
func (q *qp) start(w *sendWQE) bool {
	// Without a path there is no MTU: only a CUR_STATE that lies gets so far.
	if q.state == verbs.SQD || q.mtu == 0 {
		return false
	}
	if w.wr.Flags&verbs.SendFence != 0 && q.comp.reading > 0 {
		return false
	}
	if status := q.unsupported(w); status != verbs.WCSuccess {
		q.fail(w, status)
		return true
	}
	if w.localOp() {
		return q.startLocal(w)
	}
	if w.reads() && q.comp.reading >= int(q.attr.MaxRDAtomic) {
		return false
	}
	if !q.hasCredit(w, q.req.ssn+1) {
		return false
	}
	if !w.reads() && !q.mayGather(w) {
		return false
	}
	packets := uint32(1)
	if w.length > q.mtu && w.wr.Opcode != verbs.WRAtomicCmpAndSwp && w.wr.Opcode != verbs.WRAtomicFetchAdd {
		packets = (w.length + q.mtu - 1) / q.mtu
	}
	if w.reads() {
		q.comp.reading++
	} else if !q.prof.GatherByPacket {
		if status := q.checkGather(w); status != verbs.WCSuccess {
			q.fail(w, status)
			return true
		}
	}
	w.first = q.req.psn
	w.last = psnAdd(w.first, packets-1)
	w.rnext = w.first
	q.req.ssn++
	w.ssn = q.req.ssn
	if !w.takesReceive() {
		q.comp.lsn = psnAdd(q.comp.lsn, 1)
	}
	w.phase = active
	return true
}

// hasCredit applies the responder's end-to-end credits: a message that takes a
// receive request may be at most one beyond those that the responder has told
// of; that one goes out limited, and asks for news (IBTA 9.7.7.2, as
// rvt_rc_credit_avail of the kernel).
func (q *qp) hasCredit(w *sendWQE, ssn uint32) bool {
	return !q.rc || !q.comp.limited || q.prof.NoCredits || !w.takesReceive() ||
		psnDiff(ssn, psnAdd(q.comp.lsn, 1)) <= 0
}

// unsupported refuses what the queue pair's type cannot do.
func (q *qp) unsupported(w *sendWQE) verbs.WCStatus {
	ok := true
	switch q.typ {
	case verbs.UC:
		ok = !w.reads() && w.wr.Opcode != verbs.WRSendWithInv // rxe_req.c next_opcode_uc: the transport has no such packet
	case verbs.UD:
		ok = w.wr.Opcode == verbs.WRSend || w.wr.Opcode == verbs.WRSendWithImm
	}
	if !ok {
		return verbs.WCLocQPOpErr
	}
	if q.typ == verbs.UD {
		if a := q.node.ahs.get(uint32(w.wr.AH)); a == nil || a.pd != q.pd {
			return verbs.WCLocQPOpErr
		}
		if w.length > q.mtu && !q.prof.UDOversizeSilent {
			return verbs.WCLocLenErr
		}
	}
	if (w.wr.Opcode == verbs.WRAtomicCmpAndSwp || w.wr.Opcode == verbs.WRAtomicFetchAdd) &&
		w.length != 8 && !q.prof.AtomicCheckedAtPost {
		return verbs.WCLocLenErr
	}
	return verbs.WCSuccess
}

// fail marks a request; it completes when every older one is done.
func (q *qp) fail(w *sendWQE, status verbs.WCStatus) {
	w.phase, w.status = failed, status
	q.req.broken = true
}

// checkGather looks at every SGE of a SEND or WRITE before its first packet.
func (q *qp) checkGather(w *sendWQE) verbs.WCStatus {
	if w.wr.Flags&verbs.SendInline != 0 {
		return verbs.WCSuccess
	}
	for i := range w.sgl {
		s := &w.sgl[i]
		if s.Length == 0 {
			continue
		}
		if _, bad := q.node.local(q.pd, s.LKey, s.Addr, uint64(s.Length), 0); bad != localOK {
			return q.gatherStatus(bad)
		}
	}
	return verbs.WCSuccess
}

func (q *qp) gatherStatus(bad localError) verbs.WCStatus {
	if bad == localNoKey && q.prof.SendLKeyIsOpErr {
		return verbs.WCLocQPOpErr
	}
	return verbs.WCLocProtErr
}

// gather reads len(dst) bytes of a request from off on.
func (q *qp) gather(w *sendWQE, off uint32, dst []byte) verbs.WCStatus {
	if w.wr.Flags&verbs.SendInline != 0 {
		copy(dst, w.inline[off:])
		return verbs.WCSuccess
	}
	for i := range w.sgl {
		if len(dst) == 0 {
			break
		}
		s := &w.sgl[i]
		if off >= s.Length {
			off -= s.Length
			continue
		}
		n := min(uint32(len(dst)), s.Length-off)
		src, bad := q.node.local(q.pd, s.LKey, s.Addr+uint64(off), uint64(n), 0)
		if bad != localOK {
			return q.gatherStatus(bad)
		}
		copy(dst, src)
		dst = dst[n:]
		off = 0
	}
	return verbs.WCSuccess
}

// packetOf makes a request packet with the next PSN.
func (q *qp) packetOf(w *sendWQE, op uint8) *packet {
	p := q.pool.get()
	p.op = q.op | op
	p.from, p.to, p.far = int16(q.node.index), q.peer, wire.Addr(q.attr.AV.DGID)
	p.srcQP, p.dstQP, p.tos = q.num, q.attr.DestQPN, q.attr.AV.TrafficClass
	p.sport = q.flowPort()
	p.psn, p.base = q.req.psn, q.attr.SQPSN
	return p
}

// put hands a request packet to the wire.
func (q *qp) put(w *sendWQE, p *packet) {
	fx := q.emit(fxSend)
	fx.pkt = p
	if psnDiff(p.psn, q.req.top) >= 0 {
		fx.cause = w.trace
	}
}

// advance moves past the packets of a request that were just sent.
func (q *qp) advance(w *sendWQE, psn uint32, over bool) {
	q.req.psn = psn
	if psnDiff(psn, q.req.top) > 0 {
		q.req.top = psn
	}
	if over {
		if w.phase == active {
			w.phase = sent
		}
		q.req.next++
	}
	if q.rc && !q.comp.timing {
		q.startAckTimer()
	}
}

// sendData sends the next packet of a SEND or WRITE.
func (q *qp) sendData(w *sendWQE) {
	r := &q.req
	off := uint32(psnDiff(r.psn, w.first)) * q.mtu
	n := min(w.length-off, q.mtu)
	first, last := off == 0, off+n == w.length
	p := q.packetOf(w, dataOpcode(w.wr.Opcode, first, last))
	if status := q.gather(w, off, p.room(int(n))); status != verbs.WCSuccess {
		q.pool.put(p)
		q.fail(w, status)
		return
	}
	class := opClass[p.op&operationBits]
	if class&isWrite != 0 && first {
		p.va, p.rkey, p.length = w.wr.RemoteVA, w.wr.RKey, w.length
	}
	if class&hasImm != 0 {
		p.imm = w.wr.Imm
	}
	if class&hasInv != 0 {
		p.rkey = w.wr.InvRKey
	}
	p.se = last && w.wr.Flags&verbs.SendSolicited != 0 && class&(isSend|hasImm) != 0
	p.ackReq = q.rc && (r.sinceReq > ackEvery || last && q.asksAck(w)) // the 66th, rxe_req.c init_req_packet
	r.sinceReq++
	if p.ackReq {
		r.sinceReq = 0
	}
	q.put(w, p)
	q.advance(w, psnAdd(p.psn, 1), last)
	if last && !q.rc {
		w.phase = done
	}
}

// asksAck tells whether the last packet of a message asks to be acknowledged.
// An unsignaled one leaves that to the next request, if that goes out now.
func (q *qp) asksAck(w *sendWQE) bool {
	if q.prof.AckEveryMessage || q.sigAll || w.wr.Flags&verbs.SendSignaled != 0 ||
		psnDiff(q.req.psn, q.req.top) < 0 || q.req.next+1 >= q.sq.tail || q.state != verbs.RTS {
		return true
	}
	n := q.sq.at(q.req.next + 1)
	return n.reads() || !q.hasCredit(n, q.req.ssn+1) || n.localOp() || n.wr.Flags&verbs.SendFence != 0 || n.phase != posted ||
		q.unsupported(n) != verbs.WCSuccess || q.checkGather(n) != verbs.WCSuccess || q.readsInto(n)
}

func dataOpcode(o verbs.WROpcode, first, last bool) uint8 {
	base := uint8(opSendFirst)
	if o == verbs.WRRDMAWrite || o == verbs.WRRDMAWriteWithImm {
		base = opWriteFirst
	}
	imm := o == verbs.WRSendWithImm || o == verbs.WRRDMAWriteWithImm
	inv := o == verbs.WRSendWithInv
	switch {
	case first && last && inv:
		return opSendOnlyInv
	case last && inv:
		return opSendLastInv
	case first && last && imm:
		return base + opSendOnlyImm
	case first && last:
		return base + opSendOnly
	case first:
		return base
	case last && imm:
		return base + opSendLastImm
	case last:
		return base + opSendLast
	}
	return base + opSendMiddle
}

// sendReading sends the request of a READ, from the response that is missing
// on, or of an atomic.
func (q *qp) sendReading(w *sendWQE) {
	op := uint8(opReadRequest)
	switch w.wr.Opcode {
	case verbs.WRAtomicCmpAndSwp:
		op = opCompareSwap
	case verbs.WRAtomicFetchAdd:
		op = opFetchAdd
	}
	p := q.packetOf(w, op)
	p.ackReq = true
	p.va, p.rkey = w.wr.RemoteVA, w.wr.RKey
	if op == opReadRequest {
		skip := uint32(psnDiff(q.req.psn, w.first)) * q.mtu
		p.va += uint64(skip)
		p.length = w.length - skip
	} else {
		p.compare, p.swapAdd = w.wr.CompareAdd, w.wr.Swap
		if op == opFetchAdd {
			p.compare, p.swapAdd = 0, w.wr.CompareAdd
		}
	}
	q.req.sinceReq = 0
	q.put(w, p)
	q.advance(w, psnAdd(w.last, 1), true)
}

// drainCheck tells once that a queue pair in SQD has nothing in flight.
func (q *qp) drainCheck() {
	if q.state != verbs.SQD || q.req.drainTold || q.inFlight() {
		return
	}
	q.req.drainTold = true
	if q.attr.EnSQDAsyncNotify || q.prof.DrainedAlwaysTold {
		q.async(verbs.EventSQDrained)
	}
}

// inFlight tells whether the oldest request has begun.
func (q *qp) inFlight() bool { return q.sq.len() > 0 && q.sq.front().phase != posted }

// put64 is how an atomic's result is stored: in the host's order.
func put64(v uint64) [8]byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return b
}
