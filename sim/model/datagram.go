package model

import (
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// sendDatagram sends a UD message, which is one packet. Its address comes from
// the request's handle.
func (q *qp) sendDatagram(w *sendWQE) {
	a := q.node.ahs.get(uint32(w.wr.AH))
	if a == nil {
		q.fail(w, verbs.WCLocQPOpErr)
		return
	}
	if w.length > q.mtu { // rxe: counted as sent, and not sent
		q.advance(w, psnAdd(q.req.psn, 1), true)
		w.phase = done
		return
	}
	op := uint8(opSendOnly)
	if w.wr.Opcode == verbs.WRSendWithImm {
		op = opSendOnlyImm
	}
	p := q.packetOf(w, op)
	p.to, p.dstQP, p.tos = int16(a.node), w.wr.RemoteQPN&psnMask, a.attr.TrafficClass
	p.far = wire.Addr(a.attr.DGID)
	p.imm = w.wr.Imm
	p.qkey = w.wr.RemoteQKey
	if p.qkey&(1<<31) != 0 && !q.prof.QKeyHighBitSent { // it asks for the QP's own
		p.qkey = q.attr.QKey
	}
	p.se = w.wr.Flags&verbs.SendSolicited != 0
	if status := q.gather(w, 0, p.room(int(w.length))); status != verbs.WCSuccess {
		q.pool.put(p)
		q.fail(w, status)
		return
	}
	q.put(w, p)
	q.advance(w, psnAdd(p.psn, 1), true)
	w.phase = done
}

// requestUD receives a datagram. The first 40 bytes of the buffer are the
// GRH's; on IPv4 the header is in the last 20 of them.
func (q *qp) requestUD(p *packet) {
	if p.op != transportUD|opSendOnly && p.op != transportUD|opSendOnlyImm {
		q.drop(p, "not a UD opcode")
		return
	}
	if p.qkey != q.attr.QKey {
		q.node.counters.add(cntQKeyViolation)
		q.drop(p, "the Q_Key does not match")
		return
	}
	q.node.counters.add(cntReceivedPackets)
	r := &q.resp
	if !q.takeRecv() {
		q.node.counters.add(cntOutOfBuffer)
		q.drop(p, "no receive request is posted")
		return
	}
	length := uint32(grhBytes + len(p.payload))
	if length > r.wqe.length {
		if q.prof.UDSmallRecvIsErr {
			q.completeRecv(verbs.WC{Status: verbs.WCLocQPOpErr}, p.se || !q.prof.ErrRecvAsPacket)
			q.toError("a datagram did not fit")
			q.pool.put(p)
			return
		}
		// The datagram is dropped and the request stays for the next one.
		q.untake()
		q.drop(p, "the receive buffer is too small")
		return
	}
	grh := q.node.bench.grh(p)
	bad := q.scatter(q.recvPD(), r.wqe.sgl, 0, grh[:])
	if bad == scatterOK {
		bad = q.scatter(q.recvPD(), r.wqe.sgl, grhBytes, p.payload)
	}
	if bad != scatterOK {
		status := verbs.WCLocProtErr
		if q.prof.RecvProtIsOpErr {
			status = verbs.WCLocQPOpErr
		}
		q.completeRecv(verbs.WC{Status: status}, p.se || !q.prof.ErrRecvAsPacket)
		q.toError("a receive buffer is not accessible")
		q.pool.put(p)
		return
	}
	wc := verbs.WC{Opcode: verbs.WCRecv, ByteLen: length, SrcQP: p.srcQP, Flags: verbs.WCGRH}
	if p.op&operationBits == opSendOnlyImm {
		wc.Imm = p.imm
		wc.Flags |= verbs.WCWithImm
	}
	q.completeRecv(wc, p.se)
	q.pool.put(p)
}

// untake puts the receive request that was just taken back.
func (q *qp) untake() {
	q.resp.have = false
	if q.srq != nil {
		q.srq.queue.head--
		q.srq.taken--
		return
	}
	q.rq.head--
}

// requestUC receives a UC packet: a gap drops the message, the next FIRST or
// ONLY begins anew; nothing is ever answered.
func (q *qp) requestUC(p *packet) {
	defer q.pool.put(p)
	r := &q.resp
	class := opClass[p.op&operationBits]
	if class&(isSend|isWrite) == 0 || class&hasInv != 0 && q.prof.NoSQE {
		q.node.bench.traceRefused(q, p, "not a UC opcode")
		return
	}
	begins := class&isFirst != 0
	if psnDiff(p.psn, r.epsn) != 0 {
		q.node.counters.add(cntOutOfSequence)
	}
	if (r.skip || psnDiff(p.psn, r.epsn) != 0) && !begins {
		r.skip = true
		if !q.prof.UCGapCostsNext {
			r.kind = 0
			r.epsn = psnAdd(p.psn, 1)
		}
		q.node.bench.traceRefused(q, p, "the message has a gap")
		return
	}
	if begins && r.kind != 0 && q.prof.UCGapCostsNext {
		// The receive request is kept; a WRITE's end stays awaited.
		if r.have {
			r.kind = 0
		}
		q.node.bench.traceRefused(q, p, "the end of the message before it never came")
		return
	}
	if begins && r.kind != 0 || r.skip || psnDiff(p.psn, r.epsn) != 0 {
		r.kind = 0 // the message that had begun is given up
	}
	r.skip = false
	r.epsn = psnAdd(p.psn, 1)
	if q.inSequence(class) {
		q.established()
	}
	if !q.inSequence(class) || !q.lengthFits(p, class) || !q.permitted(class) {
		q.skipMessage(p, "it is out of sequence, of a wrong length or not permitted")
		return
	}
	if class&isSend != 0 {
		q.receiveUC(p, class)
	} else {
		q.writeUC(p, class)
	}
}

func (q *qp) skipMessage(p *packet, why string) {
	r := &q.resp
	r.skip = opClass[p.op&operationBits]&isLast == 0
	r.kind = 0
	q.node.bench.traceRefused(q, p, why)
}

func (q *qp) receiveUC(p *packet, class uint8) {
	r := &q.resp
	if class&isFirst != 0 {
		if !q.takeRecv() {
			q.node.counters.add(cntOutOfBuffer)
			q.skipMessage(p, "no receive request is posted")
			return
		}
		r.kind, r.off = isSend, 0
	}
	if uint64(r.off)+uint64(len(p.payload)) > uint64(r.wqe.length) {
		status := verbs.WCLocLenErr
		if q.prof.RecvTooSmallIsOpErr {
			status = verbs.WCLocQPOpErr
		}
		q.completeRecv(verbs.WC{Status: status}, p.se || !q.prof.ErrRecvAsPacket)
		q.toError("a message did not fit")
		return
	}
	if q.scatter(q.recvPD(), r.wqe.sgl, r.off, p.payload) != scatterOK {
		status := verbs.WCLocProtErr
		if q.prof.RecvProtIsOpErr {
			status = verbs.WCLocQPOpErr
		}
		q.completeRecv(verbs.WC{Status: status}, p.se || !q.prof.ErrRecvAsPacket)
		q.toError("a receive buffer is not accessible")
		return
	}
	r.off += uint32(len(p.payload))
	if class&isLast != 0 {
		q.messageDone(p, class)
	}
}

func (q *qp) writeUC(p *packet, class uint8) {
	r := &q.resp
	if class&isFirst != 0 {
		r.va, r.rkey, r.left = p.va, p.rkey, p.length
		if r.left > 0 {
			if _, ok := q.node.remote(q, r.rkey, r.va, uint64(r.left), verbs.AccessRemoteWrite); !ok {
				q.skipMessage(p, "the rkey gives no access")
				return
			}
		}
		r.kind, r.off = isWrite, 0
	}
	n := uint32(len(p.payload))
	if !q.writeFits(n, class) {
		q.skipMessage(p, "the length does not match the RETH")
		return
	}
	if class&hasImm != 0 && !q.takeRecv() {
		q.node.counters.add(cntOutOfBuffer)
		q.skipMessage(p, "no receive request is posted")
		return
	}
	if n > 0 {
		dst, ok := q.node.remote(q, r.rkey, r.va, uint64(n), verbs.AccessRemoteWrite)
		if !ok {
			q.skipMessage(p, "the rkey gives no access")
			return
		}
		q.write(dst, p.payload, r.rkey)
	}
	r.va += uint64(n)
	r.left -= n
	r.off += n
	if class&isLast != 0 {
		q.messageDone(p, class)
	}
}
