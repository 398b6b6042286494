package model

import (
	"fmt"

	"rdmaprep/sim/verbs"
)

// check looks for a broken invariant of a queue pair between two steps. Tests
// call it after every step.
func (q *qp) check() error {
	if err := q.checkQueues(); err != nil {
		return err
	}
	if q.rc && q.live() {
		if err := q.checkWindow(); err != nil {
			return err
		}
	}
	return q.checkResponder()
}

// checkQueues: indices in their order, nothing left in a dead queue.
func (q *qp) checkQueues() error {
	switch {
	case q.sq.head > q.req.next || q.req.next > q.sq.tail:
		return fmt.Errorf("send queue %d..%d has its turn at %d", q.sq.head, q.sq.tail, q.req.next)
	case q.sq.len() > q.sq.limit || q.rq.len() > q.rq.limit:
		return fmt.Errorf("a queue holds more than its capacity")
	case q.sqFree > q.sq.head || q.rqFree > q.rq.tail:
		return fmt.Errorf("a slot in use was given back")
	case (q.state == verbs.ERR || q.state == verbs.SQE) && q.sq.len() > 0 && !q.kicked:
		return fmt.Errorf("%d send requests wait in %s", q.sq.len(), q.state)
	case q.state == verbs.ERR && q.resp.have:
		return fmt.Errorf("a receive request is held in ERR")
	case q.state == verbs.ERR && q.rq.len() > 0 && !q.prof.ErrRecvWaits && !q.kicked:
		return fmt.Errorf("%d receive requests wait in ERR", q.rq.len())
	}
	begun, reading := true, 0
	for i := q.sq.head; i < q.sq.tail; i++ {
		w := q.sq.at(i)
		if w.phase == posted {
			begun = false
			continue
		}
		if !begun {
			return fmt.Errorf("request %d began before an older one", w.wr.ID)
		}
		if w.reads() && w.phase != failed {
			reading++
		}
	}
	if reading != q.comp.reading {
		return fmt.Errorf("%d READs and atomics are outstanding, counted are %d", reading, q.comp.reading)
	}
	if q.typ == verbs.RC && q.live() && reading > int(q.attr.MaxRDAtomic) {
		return fmt.Errorf("%d READs and atomics are outstanding, max_rd_atomic is %d", reading, q.attr.MaxRDAtomic)
	}
	return nil
}

// checkWindow: una, psn and top in their order, the timer runs if it should.
func (q *qp) checkWindow() error {
	una, psn, top := q.comp.una, q.req.psn, q.req.top
	if psnDiff(psn, una) < 0 || psnDiff(top, psn) < 0 {
		return fmt.Errorf("PSNs out of order: oldest %#x, next %#x, top %#x", una, psn, top)
	}
	outstanding := psnDiff(top, una) > 0
	if outstanding && q.attr.Timeout != 0 && !q.req.waitRNR && !q.comp.timing && !q.req.asleep {
		return fmt.Errorf("packets are outstanding and no timer runs")
	}
	if !outstanding && q.comp.timing {
		return fmt.Errorf("the timer runs and nothing is outstanding")
	}
	if q.req.waitRNR && q.comp.timing && !q.prof.RNRWaitKeepsTimer {
		return fmt.Errorf("the ACK timer runs during an RNR wait")
	}
	if psnDiff(top, una) > maxUnacked+int32(q.longestRead()) {
		return fmt.Errorf("%d PSNs are outstanding", psnDiff(top, una))
	}
	return q.checkCredits()
}

// longestRead is how many PSNs a READ may take beyond the window: it is sent
// whole as soon as its first PSN fits.
func (q *qp) longestRead() (psns uint32) {
	for i := q.sq.head; i < q.sq.tail; i++ {
		if w := q.sq.at(i); w.phase != posted && w.reads() {
			psns = max(psns, uint32(psnDiff(w.last, w.first)))
		}
	}
	return psns
}

// checkCredits: no message that takes a receive is more than one beyond what
// the responder has told of.
func (q *qp) checkCredits() error {
	if !q.comp.limited || q.prof.NoCredits {
		return nil
	}
	for i := q.sq.head; i < q.sq.tail; i++ {
		w := q.sq.at(i)
		if (w.phase == active || w.phase == sent) && w.takesReceive() && psnDiff(w.ssn, q.comp.free) > 0 && psnDiff(w.ssn, q.comp.lsn) > 1 {
			return fmt.Errorf("message %d went out, the credits end at %d", w.ssn, q.comp.lsn)
		}
	}
	return nil
}

// checkResponder: what waits behind a READ has a READ to wait for.
func (q *qp) checkResponder() error {
	r := &q.resp
	if !r.job.active && (len(r.answers) > 0 || len(r.held) > r.heldHead) {
		return fmt.Errorf("%d answers and %d requests wait for no READ", len(r.answers), len(r.held)-r.heldHead)
	}
	if r.acks == 0 && q.timers[timerReply].deadline != 0 {
		return fmt.Errorf("the timer of acknowledgements runs for none")
	}
	if r.acks > 0 && (q.state == verbs.ERR || q.state == verbs.RESET) {
		return fmt.Errorf("%d acknowledgements wait in %s", r.acks, q.state)
	}
	if q.rc && r.kind == isWrite && r.have {
		return fmt.Errorf("a WRITE in progress holds a receive request")
	}
	return nil
}
