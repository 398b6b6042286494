package model

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"rdmaprep/sim/verbs"
)

// firstQPN is the first number that rxe gives out: 16 is kept back, and 0 and
// 1 are special everywhere.
const firstQPN = 17

// capacity is how many requests a queue asked for n gets.
func (n *node) capacity(asked int) int {
	if n.prof.CapacityLessOne {
		return roundUp(asked+1) - 1
	}
	return roundUp(asked)
}

// sendSGE is the room that a send request of rxe shares between SGEs (16 bytes
// each) and inline data.
const sgeBytes = 16

func (n *node) queueCaps(c verbs.QPCap) verbs.QPCap {
	c.MaxSendWR, c.MaxRecvWR = n.capacity(c.MaxSendWR), n.capacity(c.MaxRecvWR)
	if n.prof.InlineRaisesSGE {
		room := max(c.MaxSendSGE*sgeBytes, c.MaxInline)
		c.MaxSendSGE, c.MaxInline = room/sgeBytes, room
	}
	return c
}

func (n *node) checkCaps(c verbs.QPCap, srq bool) error {
	l := n.limits
	for _, x := range []struct {
		name       string
		value, max int
	}{
		{"max_send_wr", c.MaxSendWR, l.MaxQPWR},
		{"max_send_sge", c.MaxSendSGE, l.MaxSGE},
		{"max_inline_data", c.MaxInline, l.MaxInline},
		{"max_recv_wr", c.MaxRecvWR, l.MaxQPWR},
		{"max_recv_sge", c.MaxRecvSGE, l.MaxSGE},
	} {
		if srq && (x.name == "max_recv_wr" || x.name == "max_recv_sge") {
			continue
		}
		if x.value < 0 || x.value > x.max {
			return refuse("create_qp", syscall.EINVAL, fmt.Sprintf("%s is %d, it may be 0 to %d", x.name, x.value, x.max))
		}
	}
	return nil
}

func (n *node) CreateQP(pd verbs.PD, init verbs.QPInitAttr) (verbs.QPInfo, error) {
	d := n.pds.get(uint32(pd))
	scq, rcq := n.cqs.get(uint32(init.SendCQ)), n.cqs.get(uint32(init.RecvCQ))
	var s *srq
	switch {
	case d == nil:
		return verbs.QPInfo{}, refuse("create_qp", syscall.EINVAL, "no such protection domain")
	case scq == nil || rcq == nil:
		return verbs.QPInfo{}, refuse("create_qp", syscall.EINVAL, "no such completion queue")
	case init.Type != verbs.RC && init.Type != verbs.UC && init.Type != verbs.UD:
		return verbs.QPInfo{}, refuse("create_qp", syscall.EOPNOTSUPP, fmt.Sprintf("QP type %s", init.Type))
	}
	if init.SRQ != 0 {
		if s = n.srqs.get(uint32(init.SRQ)); s == nil {
			return verbs.QPInfo{}, refuse("create_qp", syscall.EINVAL, "no such shared receive queue")
		}
	}
	if err := n.checkCaps(init.Cap, s != nil); err != nil {
		return verbs.QPInfo{}, err
	}
	if n.qps.count >= n.limits.MaxQP {
		return verbs.QPInfo{}, refuse("create_qp", syscall.ENOMEM, fmt.Sprintf("max_qp is %d", n.limits.MaxQP))
	}
	q := &qp{
		node: n, prof: n.prof, pd: d, typ: init.Type, rc: init.Type == verbs.RC,
		sendCQ: scq, recvCQ: rcq, srq: s, sigAll: init.SQSigAll, peer: -1, pool: &n.bench.pool, cause: -1,
	}
	q.op = map[verbs.QPType]uint8{verbs.RC: transportRC, verbs.UC: transportUC, verbs.UD: transportUD}[init.Type]
	caps := &q.attr.Cap
	*caps = n.queueCaps(init.Cap)
	if s != nil {
		caps.MaxRecvWR, caps.MaxRecvSGE = 0, 0
	}
	q.sq.limit, q.rq.limit = caps.MaxSendWR, caps.MaxRecvWR
	if q.typ == verbs.UD {
		q.mtu = n.portMTU()
	}
	if !n.number(q) {
		return verbs.QPInfo{}, refuse("create_qp", syscall.ENOMEM, "every queue pair number is in use")
	}
	q.handle = verbs.QP(n.qps.add(q))
	d.users++
	scq.users++
	rcq.users++
	if s != nil {
		s.users++
	}
	told := *caps
	if n.prof.CapacityUntold {
		told.MaxSendWR, told.MaxRecvWR = init.Cap.MaxSendWR, init.Cap.MaxRecvWR
		if s != nil {
			told.MaxRecvWR = 0
		}
	}
	return verbs.QPInfo{QP: q.handle, Num: q.num, Cap: told}, nil
}

func (n *node) portMTU() uint32 {
	a, _ := n.QueryPort(1)
	return uint32(a.ActiveMTU.Bytes())
}

func (n *node) QueryQP(h verbs.QP) (verbs.QPAttr, error) {
	q := n.qps.get(uint32(h))
	if q == nil {
		return verbs.QPAttr{}, refuse("query_qp", syscall.EINVAL, "no such queue pair")
	}
	a := q.attr
	a.State = q.state
	a.SQPSN, a.RQPSN = q.req.psn, q.resp.epsn // of the next packets (rxe_qp.c rxe_qp_to_attr)
	if !n.prof.CurStateZero {
		a.CurState = q.state
	}
	a.SQDraining = q.state == verbs.SQD && !q.req.drainTold
	return a, nil
}

// ModifyQP checks a transition as the kernel's core does, then as the driver
// does, and carries it out.
func (n *node) ModifyQP(h verbs.QP, a verbs.QPAttr, mask verbs.QPAttrMask) error {
	q := n.qps.get(uint32(h))
	if q == nil {
		return refuse("modify_qp", syscall.EINVAL, "no such queue pair")
	}
	if mask&verbs.MaskRateLimit != 0 { // uverbs_cmd.c ib_uverbs_modify_qp
		return refuse("modify_qp", syscall.EOPNOTSUPP, "RATE_LIMIT is for ibv_modify_qp_rate_limit")
	}
	cur, next := q.state, q.state
	if mask&verbs.MaskCurState != 0 {
		if a.CurState > verbs.ERR {
			return refuse("modify_qp", syscall.EINVAL, "no such cur_qp_state")
		}
		if !n.prof.CurStateTrusted && a.CurState != q.state {
			return refuse("modify_qp", syscall.EINVAL, fmt.Sprintf("CUR_STATE says %s, the QP is in %s", a.CurState, q.state))
		}
		cur = a.CurState
	}
	if mask&verbs.MaskState != 0 {
		if a.State > verbs.ERR {
			return refuse("modify_qp", syscall.EINVAL, "no such qp_state")
		}
		next = a.State
	}
	if mask&verbs.MaskAV != 0 && mask&verbs.MaskPort == 0 && next != verbs.RTR {
		mask |= verbs.MaskPort // uverbs_cmd.c modify_qp adds it
		a.Port = a.AV.Port
		if a.Port == 0 {
			a.Port = 1
		}
	}
	if err := verbs.CheckModify(q.typ, cur, next, mask); err != nil {
		return err
	}
	if err := q.checkAttrs(&a, mask, next); err != nil {
		return err
	}
	if mask&verbs.MaskAV != 0 {
		to, err := n.resolve("modify_qp", a.AV)
		if err != nil {
			return err
		}
		q.peer = int16(to)
	}
	n.bench.modified(q, &a, mask)
	return nil
}

// checkAttrs are the range checks of uverbs_cmd.c modify_qp and of the driver
// (rxe_qp.c rxe_qp_chk_attr).
func (q *qp) checkAttrs(a *verbs.QPAttr, mask verbs.QPAttrMask, next verbs.QPState) error {
	has := func(m verbs.QPAttrMask) bool { return mask&m != 0 }
	l := q.node.limits
	why := ""
	switch {
	case has(verbs.MaskPort) && a.Port != 1:
		why = fmt.Sprintf("port %d: the device has port 1 only", a.Port)
	case has(verbs.MaskPKeyIndex) && a.PKeyIndex != 0 && !q.prof.CapacityLessOne: // rxe looks at none
		why = fmt.Sprintf("pkey_index %d: the table has one entry", a.PKeyIndex)
	case has(verbs.MaskAltPath):
		why = "RoCE has no alternate path"
	case has(verbs.MaskPathMTU) && a.PathMTU.Bytes() == 0 && (a.PathMTU != 0 || !q.prof.CapacityLessOne):
		why = "path_mtu is not one of 256, 512, 1024, 2048, 4096"
	case has(verbs.MaskMaxQPRDAtomic) && int(a.MaxRDAtomic) > l.MaxQPInitRDAtom:
		why = fmt.Sprintf("max_rd_atomic is %d, the device has %d", a.MaxRDAtomic, l.MaxQPInitRDAtom)
	case has(verbs.MaskMaxDestRDAtomic) && int(a.MaxDestRDAtomic) > l.MaxQPRDAtom && !q.prof.CapacityLessOne:
		why = fmt.Sprintf("max_dest_rd_atomic is %d, the device has %d", a.MaxDestRDAtomic, l.MaxQPRDAtom)
	case has(verbs.MaskTimeout) && a.Timeout > 31:
		why = fmt.Sprintf("timeout is %d, it may be 0 to 31", a.Timeout)
	case has(verbs.MaskRetryCnt) && a.RetryCnt > 7 && !q.prof.CapacityLessOne:
		why = fmt.Sprintf("retry_cnt is %d, it may be 0 to 7", a.RetryCnt)
	case has(verbs.MaskRNRRetry) && a.RNRRetry > 7 && !q.prof.CapacityLessOne:
		why = fmt.Sprintf("rnr_retry is %d, it may be 0 to 7", a.RNRRetry)
	case has(verbs.MaskMinRNRTimer) && a.MinRNRTimer > 31 && !q.prof.CapacityLessOne:
		why = fmt.Sprintf("min_rnr_timer is %d, it may be 0 to 31", a.MinRNRTimer)
	case q.state == verbs.SQD && !q.req.drainTold && has(verbs.MaskState) && next != verbs.ERR &&
		(next != verbs.RESET || q.prof.CapacityLessOne):
		why = "the send queue is still draining: wait for SQ_DRAINED"
	}
	if why != "" {
		return refuse("modify_qp", syscall.EINVAL, why)
	}
	if has(verbs.MaskQKey) && a.QKey&(1<<31) != 0 {
		return refuse("modify_qp", syscall.EPERM, "a Q_Key with the high bit set needs privilege")
	}
	return nil
}

// windowWait is how long rxe waits for a window to let go of a queue pair
// (rxe_pool.c __rxe_cleanup).
const windowWait = 50 * time.Second

// DestroyQP takes a queue pair away; what it holds is discarded without a
// completion.
func (n *node) DestroyQP(h verbs.QP) error {
	q := n.qps.get(uint32(h))
	if q == nil {
		return refuse("destroy_qp", syscall.ENOENT, "no such queue pair")
	}
	if q.asyncs > 0 {
		return refuse("destroy_qp", syscall.EBUSY, unacked(q.asyncs))
	}
	if q.windows > 0 && n.prof.DestroyWaitsForWindow {
		if err := n.bench.Advance(context.Background(), windowWait); err != nil {
			return err
		}
	}
	for _, w := range n.mws.rows {
		if w != nil && w.q == q {
			w.unbind()
		}
	}
	n.bench.step(q, input{kind: inDestroy}, -1)
	q.life++
	q.resp.stop(q.pool)
	n.bench.forget(q)
	q.pd.users--
	q.sendCQ.users--
	q.recvCQ.users--
	if q.srq != nil {
		q.srq.users--
	}
	n.qps.remove(uint32(h))
	n.numbers.rows[n.slot(q.num)] = nil
	n.forgetEvents(func(e *verbs.AsyncEvent) bool { return e.QP == h })
	return nil
}
