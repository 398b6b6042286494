package model

import (
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// What makes a requester send again: timers, NAKs and the counters that end it.

// seek makes psn the next PSN that the requester sends.
func (q *qp) seek(psn uint32) {
	q.req.psn = psn
	q.req.sinceReq = 0
	for i := q.sq.head; i < q.sq.tail; i++ {
		w := q.sq.at(i)
		if w.phase == posted || w.phase == failed {
			q.req.next = i
			return
		}
		if w.phase != done && !w.localOp() && psnDiff(psn, w.last) <= 0 {
			q.req.next = i
			return
		}
	}
	q.req.next = q.sq.tail
}

// retry goes back to psn, or gives up.
func (q *qp) retry(psn uint32) {
	c := &q.comp
	if q.sq.len() == 0 || q.sq.front().phase == posted {
		return
	}
	forever := q.prof.RetrySevenForever && q.attr.RetryCnt == 7
	if c.retries == 0 && !forever {
		q.node.counters.add(cntRetryExceeded)
		q.failOldest(q.sq.front(), verbs.WCRetryExcErr)
		return
	}
	if !forever {
		c.retries--
	}
	c.retrying = true
	q.node.counters.add(cntRetry)
	if q.req.waitRNR {
		return
	}
	q.seek(psn)
	q.startAckTimer()
	q.pump()
}

func (q *qp) startAckTimer() {
	d := q.ackTimerLength()
	q.comp.timing = d > 0
	if d > 0 {
		q.setTimer(timerAck, d)
	}
}

func (q *qp) stopAckTimer() {
	if q.comp.timing {
		q.comp.timing = false
		q.setTimer(timerAck, 0)
	}
}

// ackTimerLength is 4.096 us << timeout; 0 waits for ever.
func (q *qp) ackTimerLength() time.Duration {
	if q.attr.Timeout == 0 {
		return 0
	}
	return q.prof.ticks(4096 * time.Nanosecond << (q.attr.Timeout & 31))
}

// ticks is a timer's real length under the profile.
func (p *Profile) ticks(d time.Duration) time.Duration {
	if p.Jiffy == 0 {
		return d
	}
	n := max(1, d/p.Jiffy)
	return (n + 1) * p.Jiffy
}

// ticksUp is ticks of a timer that rxe rounds up: that of RNR (rxe_comp.c
// rnrnak_jiffies), where the ACK timer is rounded down (rxe_qp.c rxe_qp_from_attr).
func (p *Profile) ticksUp(d time.Duration) time.Duration {
	if p.Jiffy == 0 {
		return d
	}
	return p.ticks(d + p.Jiffy - 1)
}

// rnrTimer is the length of a timer code.
func (p *Profile) rnrTimer(code uint8) time.Duration {
	if p.RNR25Short && code == 25 {
		return 61410 * time.Microsecond
	}
	return wire.RNRTimer(code)
}

func (q *qp) ackTimeout() {
	q.comp.timing = false
	if !q.live() || q.sq.len() == 0 || q.req.waitRNR && !q.prof.RNRKeepsAckTimer || q.orphaned() {
		return
	}
	q.node.counters.add(cntLocalAckTimeout)
	q.comp.gapSeen = false
	q.retry(q.comp.una)
}

func (q *qp) rnrNAK(p *packet) {
	c := &q.comp
	if q.sq.len() == 0 || q.sq.front().phase == posted || q.req.waitRNR {
		return
	}
	q.node.counters.add(cntRNRNakReceived)
	if c.rnrRetries == 0 {
		q.node.counters.add(cntRNRExceeded)
		q.failOldest(q.sq.front(), verbs.WCRNRRetryExcErr)
		return
	}
	if q.attr.RNRRetry != 7 {
		c.rnrRetries--
	}
	if !q.prof.RNRKeepsAckTimer {
		q.stopAckTimer()
	}
	q.req.waitRNR = true
	q.setTimer(timerRNR, q.prof.ticksUp(q.prof.rnrTimer(p.syndrome&31)))
}

func (q *qp) rnrTimeout() {
	q.req.waitRNR = false
	if !q.live() {
		return
	}
	q.seek(q.comp.una)
	q.pump()
}
