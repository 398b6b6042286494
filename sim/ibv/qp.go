//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"errors"
	"fmt"
	"syscall"

	"rdmaprep/sim/verbs"
)

type qpObject struct {
	ptr            uintptr
	num            uint32
	typ            verbs.QPType
	sendCQ, recvCQ *cqObject
	sigAll         bool
	cap            verbs.QPCap
	async          int  // events taken, not acknowledged
	away           bool // its peer is not a node of this Bench

	sent        []sentWR // a ring: what was posted and has not been seen to end
	head, count int
	timeout     uint8
	minRNR      uint8
	retryCnt    uint8
	rnrRetry    uint8

	binds []bindPost // BIND_MW requests whose completions have not been seen
	invs  []invPost  // LOCAL_INV requests, likewise
}

type sentWR struct {
	id       uint64
	signaled bool
}

// state is the library's own note of the QP's state; QueryQP asks the kernel.
func (q *qpObject) state() verbs.QPState { return verbs.QPState(at[cQP](q.ptr).state) }

func (q *qpObject) push(wr *verbs.SendWR) {
	if q.count == len(q.sent) { // the oldest must have ended: the queue had room
		q.head, q.count = (q.head+1)%len(q.sent), q.count-1
	}
	q.sent[(q.head+q.count)%len(q.sent)] = sentWR{wr.ID, q.sigAll || wr.Flags&verbs.SendSignaled != 0}
	q.count++
}

// retire notes the end of a request and of all before it.
func (q *qpObject) retire(wc *verbs.WC) {
	for i := range q.count {
		s := &q.sent[(q.head+i)%len(q.sent)]
		if s.id == wc.ID && (s.signaled || wc.Status != verbs.WCSuccess) {
			q.head, q.count = (q.head+i+1)%len(q.sent), q.count-i-1
			return
		}
	}
}

func (d *device) CreateQP(pd verbs.PD, init verbs.QPInitAttr) (verbs.QPInfo, error) {
	o := d.pds.get(uint32(pd))
	scq, rcq := d.cqs.get(uint32(init.SendCQ)), d.cqs.get(uint32(init.RecvCQ))
	switch {
	case o == nil:
		return verbs.QPInfo{}, refuse("create_qp", syscall.EINVAL, "no such protection domain")
	case scq == nil || rcq == nil:
		return verbs.QPInfo{}, refuse("create_qp", syscall.EINVAL, "no such completion queue")
	}
	a := &d.ws.qpInit
	*a = cQPInitAttr{sendCQ: scq.ptr, recvCQ: rcq.ptr, kind: uint32(init.Type), cap: cQPCap{
		uint32(init.Cap.MaxSendWR), uint32(init.Cap.MaxRecvWR),
		uint32(init.Cap.MaxSendSGE), uint32(init.Cap.MaxRecvSGE), uint32(init.Cap.MaxInline),
	}}
	if init.SQSigAll {
		a.sqSigAll = 1
	}
	if init.SRQ != 0 {
		s := d.srqs.get(uint32(init.SRQ))
		if s == nil {
			return verbs.QPInfo{}, refuse("create_qp", syscall.EINVAL, "no such shared receive queue")
		}
		a.srq = s.ptr
	}
	p, errno := d.lib.pointer(d.lib.fn[symCreateQP], o.ptr, addr(a))
	if errno != 0 {
		return verbs.QPInfo{}, refuse("create_qp", errno, createQPWhy(errno, init))
	}
	q := &qpObject{
		ptr: p, num: at[cQP](p).num, typ: init.Type, sendCQ: scq, recvCQ: rcq, sigAll: init.SQSigAll, cap: capOf(&a.cap),
	}
	if init.SRQ != 0 {
		q.cap.MaxRecvWR, q.cap.MaxRecvSGE = 0, 0
	}
	q.sent = make([]sentWR, min(max(q.cap.MaxSendWR, 1), maxList))
	d.byNum[q.num] = q
	return verbs.QPInfo{QP: verbs.QP(d.qps.add(q)), Num: q.num, Cap: q.cap}, nil
}

func createQPWhy(errno syscall.Errno, init verbs.QPInitAttr) string {
	switch errno {
	case syscall.ENOMEM:
		return "no memory, or all of the device's max_qp queue pairs are in use; " +
			"rdma resource show qp lists whose they are: end one of those programs"
	case syscall.EOPNOTSUPP:
		return fmt.Sprintf("the device has no QP of type %s", init.Type)
	case syscall.EINVAL:
		return fmt.Sprintf("a capacity is more than the device has: %+v", init.Cap)
	}
	return ""
}

func capOf(c *cQPCap) verbs.QPCap {
	return verbs.QPCap{
		MaxSendWR: int(c.maxSendWR), MaxRecvWR: int(c.maxRecvWR),
		MaxSendSGE: int(c.maxSendSGE), MaxRecvSGE: int(c.maxRecvSGE), MaxInline: int(c.maxInline),
	}
}

// queryMask asks for every attribute that verbs.QPAttr has.
const queryMask = verbs.MaskDestQPN<<1 - 1

func (d *device) QueryQP(h verbs.QP) (verbs.QPAttr, error) {
	q := d.qps.get(uint32(h))
	if q == nil {
		return verbs.QPAttr{}, refuse("query_qp", syscall.EINVAL, "no such queue pair")
	}
	a := &d.ws.qpAttr
	*a, d.ws.qpInit = cQPAttr{}, cQPInitAttr{}
	if errno := d.lib.status(d.lib.fn[symQueryQP], q.ptr, addr(a), uintptr(queryMask), addr(&d.ws.qpInit)); errno != 0 {
		return verbs.QPAttr{}, refuse("query_qp", errno, "")
	}
	return verbs.QPAttr{
		State: verbs.QPState(a.state), CurState: verbs.QPState(a.curState), PathMTU: verbs.MTU(a.pathMTU),
		QKey: a.qkey, RQPSN: a.rqPSN, SQPSN: a.sqPSN, DestQPN: a.destQPN,
		Access: verbs.AccessFlags(a.access), Cap: capOf(&a.cap), AV: addressOf(&a.av),
		PKeyIndex: a.pkeyIndex, EnSQDAsyncNotify: a.enSQDAsyncNotify != 0, SQDraining: a.sqDraining != 0,
		MaxRDAtomic: a.maxRDAtomic, MaxDestRDAtomic: a.maxDestRDAtomic, MinRNRTimer: a.minRNRTimer,
		Port: a.port, Timeout: a.timeout, RetryCnt: a.retryCnt, RNRRetry: a.rnrRetry,
		AltPort: a.altPort, AltPKeyI: uint8(a.altPKeyIndex),
	}, nil
}

func (d *device) ModifyQP(h verbs.QP, attr verbs.QPAttr, mask verbs.QPAttrMask) error {
	q := d.qps.get(uint32(h))
	if q == nil {
		return refuse("modify_qp", syscall.EINVAL, "no such queue pair")
	}
	if attr.State > verbs.ERR || attr.CurState > verbs.ERR {
		return refuse("modify_qp", syscall.EINVAL, "no such state")
	}
	before := q.state()
	a := &d.ws.qpAttr
	*a = cQPAttr{
		state: uint32(attr.State), curState: uint32(attr.CurState), pathMTU: uint32(attr.PathMTU),
		qkey: attr.QKey, rqPSN: attr.RQPSN, sqPSN: attr.SQPSN, destQPN: attr.DestQPN, access: uint32(attr.Access),
		cap: cQPCap{
			uint32(attr.Cap.MaxSendWR), uint32(attr.Cap.MaxRecvWR),
			uint32(attr.Cap.MaxSendSGE), uint32(attr.Cap.MaxRecvSGE), uint32(attr.Cap.MaxInline),
		},
		av: address(attr.AV), pkeyIndex: attr.PKeyIndex, altPKeyIndex: uint16(attr.AltPKeyI),
		maxRDAtomic: attr.MaxRDAtomic, maxDestRDAtomic: attr.MaxDestRDAtomic, minRNRTimer: attr.MinRNRTimer,
		port: attr.Port, timeout: attr.Timeout, retryCnt: attr.RetryCnt, rnrRetry: attr.RNRRetry, altPort: attr.AltPort,
	}
	if attr.EnSQDAsyncNotify {
		a.enSQDAsyncNotify = 1
	}
	if errno := d.lib.status(d.lib.fn[symModifyQP], q.ptr, addr(a), uintptr(mask)); errno != 0 {
		return refuse("modify_qp", errno, modifyWhy(errno, q.typ, before, attr, mask))
	}
	q.modified(attr, mask)
	if mask&verbs.MaskAV != 0 {
		q.away = !d.windows.ours(attr.AV.DGID)
	}
	return nil
}

func (q *qpObject) modified(attr verbs.QPAttr, mask verbs.QPAttrMask) {
	if mask&verbs.MaskTimeout != 0 {
		q.timeout = attr.Timeout
	}
	if mask&verbs.MaskRetryCnt != 0 {
		q.retryCnt = attr.RetryCnt
	}
	if mask&verbs.MaskRNRRetry != 0 {
		q.rnrRetry = attr.RNRRetry
	}
	if mask&verbs.MaskMinRNRTimer != 0 {
		q.minRNR = attr.MinRNRTimer
	}
	if mask&verbs.MaskState != 0 && attr.State == verbs.RESET {
		q.head, q.count = 0, 0
	}
}

// modifyWhy is what the state table of the kernel's core says of a refused
// modify; the kernel gives the errno alone.
func modifyWhy(errno syscall.Errno, t verbs.QPType, cur verbs.QPState, attr verbs.QPAttr, mask verbs.QPAttrMask) string {
	switch errno {
	case syscall.EINVAL:
	case syscall.EPERM:
		return "a Q_Key with the high bit set needs privilege"
	case syscall.ENETUNREACH:
		return "no route to the peer's address: the interface under the device is down or has lost its address; rdmaprep doctor says which command mends it"
	case syscall.ETIMEDOUT, syscall.EHOSTUNREACH:
		return "the peer's address does not resolve: ping it"
	default:
		return ""
	}
	next := cur
	if mask&verbs.MaskCurState != 0 {
		cur = attr.CurState
	}
	if mask&verbs.MaskState != 0 {
		next = attr.State
	}
	var e *verbs.Error
	if errors.As(verbs.CheckModify(t, cur, next, mask), &e) {
		return e.Why
	}
	return "an attribute is out of the device's range"
}

// DestroyQP refuses while a type 2 window may be bound to the queue pair: rxe
// then waits 50 s in the kernel for a reference that only the window gives back
// (rxe_pool.c __rxe_cleanup, Linux 6.1).
func (d *device) DestroyQP(h verbs.QP) error {
	q := d.qps.get(uint32(h))
	switch {
	case q == nil:
		return refuse("destroy_qp", syscall.ENOENT, "no such queue pair")
	case q.async > 0:
		return refuse("destroy_qp", syscall.EBUSY, fmt.Sprintf(
			"%d events were taken and not acknowledged; libibverbs would wait here for ever", q.async))
	case d.windows.held(q):
		return hurts("destroy_qp", "a type 2 window may be bound to it, and rxe would wait 50 s in the kernel: "+
			"dealloc_mw the window first, or invalidate it and poll that completion")
	}
	return d.destroyQP(h, q)
}

func (d *device) destroyQP(h verbs.QP, q *qpObject) error {
	if errno := d.lib.status(d.lib.fn[symDestroyQP], q.ptr); errno != 0 {
		return refuse("destroy_qp", errno, "")
	}
	delete(d.byNum, q.num)
	d.qps.remove(uint32(h))
	return nil
}

// hurts is a refusal of what would damage the kernel.
func hurts(op, reason string) error {
	return fmt.Errorf("%w: %w", ErrHurtsKernel, &verbs.Error{Op: op, Errno: syscall.EPERM, Why: "refused on a live device: " + reason})
}
