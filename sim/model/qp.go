package model

import (
	"time"

	"rdmaprep/sim/verbs"
)

// qp is a queue pair as a state machine: step is the only door in, and what it
// wants done comes out as effects. It reads no clock and starts nothing; of the
// node it uses the protection tables and memory only.
//
// Its fields stand in the order in which a message touches them: with thousands
// of queue pairs in turn, what a message costs is the cache lines that it needs.
type qp struct {
	node   *node
	prof   *Profile
	num    uint32
	life   uint32 // counts the resets
	sqFree uint64 // send slots before this one can be used again
	rqFree uint64
	mtu    uint32
	peer   int16 // node, -1 for none
	typ    verbs.QPType
	state  verbs.QPState
	op     uint8 // transport bits of its opcodes
	rc     bool
	sigAll bool
	kicked bool // a doorbell is on its way
	gone   bool // destroyed

	out   []effect // of the step that is under way
	cause int      // trace event that the step comes from
	pool  *packetPool
	pd    *domain

	sendCQ, recvCQ *cq
	srq            *srq

	attr verbs.QPAttr // Cap is what creation gave

	// The send side.
	sq     ring[sendWQE]
	req    requester
	comp   completer
	timers [numTimers]timerState

	// The receive side.
	rq   ring[recvWQE]
	resp responder

	handle    verbs.QP
	windows   int // type 2 windows bound to it
	asyncs    int // asynchronous events taken and not acknowledged
	pumpCause int
	skew      time.Duration // under a seed: how much longer its way is
	lastAt    time.Duration // when its last packet arrives
}

// effectKind is what an effect asks of the device.
type effectKind uint8

const (
	fxSend     effectKind = iota + 1 // put pkt on the wire
	fxComplete                       // add wc to a CQ
	fxAsync                          // raise an asynchronous event
	fxTimer                          // set timer to d from now, or stop it
	fxPump                           // come back when the link has room
	fxState                          // the state changed
	fxReorder                        // a permitted reordering was taken
)

// timerKind names a queue pair's timers.
type timerKind uint8

const (
	timerAck   timerKind = iota // the local ACK timeout
	timerRNR                    // the wait after an RNR NAK
	timerRead                   // the responder's READ latency
	timerReply                  // acknowledgements that go out together
	numTimers
)

type effect struct {
	kind      effectKind
	timer     timerKind
	send      bool // fxComplete: which CQ
	solicited bool
	pump      pumpKind
	pkt       *packet
	cause     int
	slot      uint64
	d         time.Duration // fxTimer: 0 stops it
	wc        verbs.WC
	event     verbs.EventType
	from, to  verbs.QPState
	why       string
}

type pumpKind uint8

const (
	pumpRequests pumpKind = iota
	pumpResponses
)

// inputKind is what happened to a queue pair.
type inputKind uint8

const (
	inDoorbell inputKind = iota + 1 // requests were posted
	inPacket
	inTimer
	inPump
	inModify // attr and mask, checked already
	inFatal  // its CQ died
	inDestroy
)

type input struct {
	kind  inputKind
	timer timerKind
	pump  pumpKind
	pkt   *packet
	attr  *verbs.QPAttr
	mask  verbs.QPAttrMask
}

// step takes one thing that happened. The effects are in q.out afterwards.
func (q *qp) step(in input) {
	switch in.kind {
	case inDoorbell:
		q.req.asleep = false
		q.doorbell()
	case inPacket:
		q.receive(in.pkt)
	case inTimer:
		switch in.timer {
		case timerAck:
			q.ackTimeout()
		case timerRNR:
			q.rnrTimeout()
		case timerRead:
			q.readReady()
		case timerReply:
			q.sendAck()
		}
	case inPump:
		if in.pump == pumpRequests {
			q.pump()
		} else {
			q.pumpRead()
		}
	case inModify:
		q.modify(in.attr, in.mask)
	case inFatal:
		if q.state != verbs.ERR && q.state != verbs.RESET {
			q.toError("its completion queue overflowed")
			if !q.prof.NoAccessEvent {
				q.async(verbs.EventQPFatal)
			}
		}
	case inDestroy:
		q.sendAck()
		q.letGo()
	}
}

func (q *qp) emit(kind effectKind) *effect {
	if len(q.out) < cap(q.out) {
		q.out = q.out[:len(q.out)+1]
	} else {
		q.out = append(q.out, effect{})
	}
	fx := &q.out[len(q.out)-1]
	*fx = effect{kind: kind, cause: q.cause}
	return fx
}

func (q *qp) async(t verbs.EventType) { q.emit(fxAsync).event = t }

func (q *qp) setTimer(t timerKind, d time.Duration) {
	fx := q.emit(fxTimer)
	fx.timer, fx.d = t, d
}

func (q *qp) setState(to verbs.QPState, why string) {
	fx := q.emit(fxState)
	fx.from, fx.to, fx.why = q.state, to, why
	q.state = to
	q.attr.State = to
}

// live tells whether the requester may run.
func (q *qp) live() bool { return q.state == verbs.RTS || q.state == verbs.SQD }

// doorbell follows a post.
func (q *qp) doorbell() {
	switch q.state {
	case verbs.RTS, verbs.SQD:
		q.pump()
	case verbs.ERR:
		q.flushSend()
		if !q.prof.ErrRecvWaits {
			q.flushRecv()
		}
	case verbs.SQE:
		q.flushSend()
	}
}

// receive sorts a packet to the requester's side or the responder's.
func (q *qp) receive(p *packet) {
	if p.op&^operationBits != q.op || p.pkey&0x7fff != defaultPKey&0x7fff {
		q.drop(p, "wrong transport or partition")
		return
	}
	if isResponse(p.op) {
		if !q.rc || !q.live() || q.orphaned() {
			q.drop(p, "a response that the state does not take")
			return
		}
		q.node.counters.add(cntReceivedPackets)
		q.response(p)
		q.pool.put(p)
		return
	}
	if q.state < verbs.RTR || q.state == verbs.ERR {
		q.drop(p, "the QP is not ready to receive")
		return
	}
	if q.typ != verbs.UD { // whose Q_Key is looked at first
		q.node.counters.add(cntReceivedPackets)
	}
	switch q.typ {
	case verbs.RC:
		q.request(p)
	case verbs.UC:
		q.requestUC(p)
	default:
		q.requestUD(p)
	}
}

// drop refuses a packet without an answer.
func (q *qp) drop(p *packet, why string) {
	q.node.bench.traceRefused(q, p, why)
	q.pool.put(p)
}

// modify carries out a checked modify_qp.
func (q *qp) modify(a *verbs.QPAttr, mask verbs.QPAttrMask) {
	q.setAttrs(a, mask)
	if mask&verbs.MaskState == 0 {
		return
	}
	was := q.state
	if mask&verbs.MaskCurState != 0 && q.prof.CurStateTrusted {
		was = a.CurState
	}
	switch a.State {
	case verbs.RESET:
		q.reset()
	case verbs.ERR:
		if q.state == verbs.ERR {
			q.flushSend()
			q.flushRecv()
			return
		}
		q.toError("modify_qp")
	case verbs.RTS:
		if q.state != verbs.RTS {
			q.setState(verbs.RTS, "modify_qp")
		}
		if was == verbs.SQD && q.prof.SQDNeedsDoorbell {
			q.req.asleep = true
			return
		}
		if !q.prof.EarlyPostStays || was != verbs.RTR {
			q.pump()
		}
	case verbs.SQD:
		if q.state != verbs.SQD {
			q.req.drainTold = false
			q.setState(verbs.SQD, "modify_qp")
			q.pump()
		}
	default:
		if a.State != q.state {
			q.setState(a.State, "modify_qp")
		}
	}
}

func (q *qp) setAttrs(a *verbs.QPAttr, mask verbs.QPAttrMask) {
	set := func(m verbs.QPAttrMask) bool { return mask&m != 0 }
	at := &q.attr
	if set(verbs.MaskAccessFlags) {
		at.Access = a.Access
	}
	if set(verbs.MaskPKeyIndex) {
		at.PKeyIndex = a.PKeyIndex
	}
	if set(verbs.MaskPort) {
		at.Port = a.Port
	}
	if set(verbs.MaskQKey) {
		at.QKey = a.QKey
	}
	if set(verbs.MaskAV) {
		at.AV = a.AV
	}
	if set(verbs.MaskPathMTU) {
		at.PathMTU = a.PathMTU
		q.mtu = uint32(a.PathMTU.Bytes())
	}
	if set(verbs.MaskTimeout) {
		at.Timeout = a.Timeout
	}
	if set(verbs.MaskRetryCnt) {
		at.RetryCnt = a.RetryCnt
		q.comp.retries = a.RetryCnt
	}
	if set(verbs.MaskRNRRetry) {
		at.RNRRetry = a.RNRRetry
		q.comp.rnrRetries = a.RNRRetry
	}
	if set(verbs.MaskRQPSN) {
		at.RQPSN = a.RQPSN & psnMask
		q.resp.epsn = at.RQPSN
	}
	if set(verbs.MaskSQPSN) {
		at.SQPSN = a.SQPSN & psnMask
		q.req.psn, q.req.top, q.comp.una = at.SQPSN, at.SQPSN, at.SQPSN
	}
	if set(verbs.MaskMaxQPRDAtomic) {
		at.MaxRDAtomic = q.roundRD(a.MaxRDAtomic)
	}
	if set(verbs.MaskMaxDestRDAtomic) {
		at.MaxDestRDAtomic = q.roundRD(a.MaxDestRDAtomic)
	}
	if set(verbs.MaskMinRNRTimer) {
		at.MinRNRTimer = a.MinRNRTimer
	}
	if set(verbs.MaskDestQPN) {
		at.DestQPN = a.DestQPN & psnMask
	}
	if set(verbs.MaskEnSQDAsyncNotify) {
		at.EnSQDAsyncNotify = a.EnSQDAsyncNotify
	}
	if q.prof.CurStateZero {
		if set(verbs.MaskCurState) {
			at.CurState = a.State
		}
	}
}

func (q *qp) roundRD(n uint8) uint8 {
	if q.prof.RDAtomicPow2 && n > 0 {
		return uint8(min(roundUp(int(n)), 128))
	}
	return n
}

// reset forgets everything but the attributes of creation. Where the others are
// kept they are only told: on the way to RTS every one of them must be set anew.
func (q *qp) reset() {
	q.sendAck()
	q.letGo()
	if q.state != verbs.RESET {
		q.setState(verbs.RESET, "modify_qp")
	}
	q.life++
	for t := range numTimers {
		q.setTimer(t, 0)
	}
	q.sq.reset()
	q.rq.reset()
	q.sqFree, q.rqFree = 0, 0
	psn, epsn := q.req.psn, q.resp.epsn
	q.req = requester{}
	q.comp = completer{}
	q.resp.clear(q.pool)
	q.peer, q.mtu = -1, 0
	if q.prof.ResetKeepsAttrs {
		q.req.psn, q.resp.epsn = psn, epsn
	} else {
		q.attr = verbs.QPAttr{Cap: q.attr.Cap}
	}
	if q.typ == verbs.UD {
		q.mtu = q.node.portMTU()
	}
}

// letGo gives back a receive request of an SRQ that was taken and will not
// complete.
func (q *qp) letGo() {
	if q.srq != nil && q.resp.have {
		q.srq.taken--
	}
}

// toError is every way into ERR: what waits is flushed in order.
func (q *qp) toError(why string) {
	q.sendAck() // of what was executed before
	q.setState(verbs.ERR, why)
	q.setTimer(timerAck, 0)
	q.setTimer(timerRNR, 0)
	q.setTimer(timerRead, 0)
	q.resp.stop(q.pool)
	q.flushSend()
	q.flushRecv()
	if q.srq != nil && !q.prof.SRQNotLast {
		q.async(verbs.EventQPLastWQEReached)
	}
}

// flushSend completes every send request that waits.
func (q *qp) flushSend() {
	for q.sq.len() > 0 {
		q.completeSend(q.sq.front(), verbs.WCWRFlushErr)
	}
	q.req.next = q.sq.head
}

// flushRecv completes every receive request that waits; those of an SRQ stay.
func (q *qp) flushRecv() {
	if q.resp.have {
		q.completeRecv(verbs.WC{Status: verbs.WCWRFlushErr}, true)
	}
	for q.srq == nil && q.rq.len() > 0 {
		q.takeRecv()
		q.completeRecv(verbs.WC{Status: verbs.WCWRFlushErr}, true)
	}
}

// reclaim gives the slots up to one back to the application, when the
// completion of that one is polled.
func (q *qp) reclaim(send bool, slot uint64) {
	switch {
	case send:
		q.sqFree = max(q.sqFree, slot+1)
	case q.srq == nil:
		q.rqFree = max(q.rqFree, slot+1)
	}
}

func (q *qp) sendRoom() bool {
	if q.prof.SlotsFreedByDevice {
		return !q.sq.full()
	}
	return int(q.sq.tail-q.sqFree) < q.sq.limit
}

func (q *qp) recvRoom() bool {
	if q.prof.SlotsFreedByDevice {
		return !q.rq.full()
	}
	return int(q.rq.tail-q.rqFree) < q.rq.limit
}
