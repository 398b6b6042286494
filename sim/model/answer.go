package model

import (
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// What a responder answers: acknowledgements, NAKs, and the results that it
// keeps for repeated requests.

// result is kept so that a repeated atomic gets its first answer; of a READ,
// which is executed again, only the PSNs.
type result struct {
	psn, last uint32
	original  uint64
	msn       uint32
	read      bool
}

// keep remembers the results of as many READs and atomics as the requester may
// have outstanding.
func (q *qp) keep(x result) {
	r := &q.resp
	n := max(1, int(q.attr.MaxDestRDAtomic))
	if len(r.results) < n {
		r.results = append(r.results, x)
	} else {
		r.resultAt %= n
		r.results[r.resultAt] = x
	}
	r.resultAt = (r.resultAt + 1) % n
}

// kept finds the result that a repeated request asks for.
func (q *qp) kept(psn uint32, read bool) *result {
	for i := range q.resp.results {
		x := &q.resp.results[i]
		if x.read == read && psnDiff(psn, x.psn) >= 0 && psnDiff(psn, x.last) <= 0 {
			return x
		}
	}
	return nil
}

// How long an acknowledgement waits for others to go out with it, and how many.
const (
	ackWait  = 250 * time.Nanosecond
	acksMost = 16
)

// ack answers a request that asked for it. One acknowledgement stands for
// everything before it, so that those of a burst go out as one (IBTA 9.7.5.1.2,
// coalesced acknowledge messages).
func (q *qp) ack(psn uint32) {
	r := &q.resp
	if q.prof.AckAtOnce {
		q.answer(synACK, psn)
		return
	}
	if r.acks == 0 {
		q.setTimer(timerReply, ackWait)
		r.ackPSN = psn
	}
	r.ackPrev, r.ackPSN, r.ackCause = r.ackPSN, psn, q.cause
	if r.acks++; r.acks == acksMost {
		q.sendAck()
	}
}

// sendAck sends what waits to be acknowledged.
func (q *qp) sendAck() {
	r := &q.resp
	if r.acks == 0 {
		return
	}
	cause := q.cause
	q.cause = r.ackCause
	q.answer(q.ackSyndrome(), r.ackPSN)
	q.cause = cause
}

// unack takes back the latest acknowledgement that waits: its message's
// completion was lost.
func (q *qp) unack() {
	r := &q.resp
	if r.acks == 0 {
		return
	}
	if r.acks--; r.acks > 0 {
		r.ackPSN = r.ackPrev
		return
	}
	q.setTimer(timerReply, 0)
}

// ackSyndrome is an ACK with the receives that are posted; a queue pair with
// an SRQ counts none (IBTA 9.7.7.2, as rvt_compute_aeth of the kernel).
func (q *qp) ackSyndrome() uint8 {
	if q.prof.NoCredits || q.srq != nil {
		return synACK
	}
	return wire.CreditCode(q.rq.len())
}

// answer sends an acknowledgement or NAK.
func (q *qp) answer(syndrome uint8, psn uint32) {
	p := q.responsePacket(opAcknowledge, psn)
	p.syndrome = syndrome
	q.respond(p)
}

func (q *qp) responsePacket(op uint8, psn uint32) *packet {
	p := q.pool.get()
	p.op = op
	p.from, p.to, p.far = int16(q.node.index), q.peer, wire.Addr(q.attr.AV.DGID)
	p.srcQP, p.dstQP, p.tos = q.num, q.attr.DestQPN, q.attr.AV.TrafficClass
	p.sport = q.flowPort()
	p.psn, p.base = psn, q.attr.RQPSN
	p.msn = q.resp.msn
	return p
}

// respond keeps responses in the order of their PSNs: behind a READ that is
// still being answered they wait.
func (q *qp) respond(p *packet) {
	switch {
	case q.resp.acks == 0:
	case psnDiff(p.psn, q.resp.ackPSN) < 0: // the answer to a repeated request
		q.sendAck()
	default: // it acknowledges what those would
		q.resp.acks = 0
		q.setTimer(timerReply, 0)
	}
	if q.resp.job.active {
		p.trace = q.cause
		q.resp.answers = append(q.resp.answers, p)
		return
	}
	q.emit(fxSend).pkt = p
}

// reject is a NAK of class C: the request fails at the peer, this side goes to
// ERR. A held receive request completes with status; without one there is an
// asynchronous event.
func (q *qp) reject(syndrome uint8, status verbs.WCStatus, event verbs.EventType) {
	q.rejectAt(q.resp.epsn, syndrome, status, event)
}

func (q *qp) rejectAt(psn uint32, syndrome uint8, status verbs.WCStatus, event verbs.EventType) {
	if q.resp.job.active { // its answer must not overtake the READ's
		q.finishReadNow()
	}
	q.answer(syndrome, psn)
	if q.resp.have {
		q.completeRecv(verbs.WC{Status: status}, q.resp.solicited)
	} else if !q.prof.NoAccessEvent {
		q.async(event)
	}
	q.toError("it rejected a request")
}

// noReceive answers a request that finds no receive request.
func (q *qp) noReceive() {
	q.resp.rnrWait = true
	q.node.counters.add(cntOutOfBuffer)
	q.node.counters.add(cntSentRNR)
	q.answer(synRNR|q.attr.MinRNRTimer&31, q.resp.epsn)
}
