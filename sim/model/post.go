package model

import (
	"fmt"
	"syscall"

	"rdmaprep/sim/verbs"
)

func (w *recvWQE) set(wr *verbs.RecvWR) {
	w.id = wr.ID
	w.sgl = append(w.sgl[:0], wr.SGL...)
	w.length = 0
	for i := range wr.SGL {
		w.length += wr.SGL[i].Length
	}
}

// PostRecv posts receive requests.
func (n *node) PostRecv(h verbs.QP, wrs []verbs.RecvWR) (int, error) {
	q := n.qps.get(uint32(h))
	switch {
	case q == nil:
		return 0, refuse("post_recv", syscall.EINVAL, "no such queue pair")
	case q.srq != nil:
		return 0, refuse("post_recv", syscall.EINVAL, "the QP takes its receives from an SRQ: use post_srq_recv")
	case q.state == verbs.RESET:
		return 0, refuse("post_recv", syscall.EINVAL, "the QP is in RESET; receives may be posted from INIT on")
	}
	for i := range wrs {
		if len(wrs[i].SGL) > q.attr.Cap.MaxRecvSGE {
			n.ring(q)
			return i, refuse("post_recv", syscall.EINVAL,
				fmt.Sprintf("%d SGEs, max_recv_sge is %d", len(wrs[i].SGL), q.attr.Cap.MaxRecvSGE))
		}
		if !q.recvRoom() {
			n.ring(q)
			return i, refuse("post_recv", syscall.ENOMEM, fmt.Sprintf("all %d slots are in use", q.rq.limit))
		}
		q.rq.push().set(&wrs[i])
		if n.bench.tracing {
			n.bench.tracePost(q, wrs[i].ID, "post RECV")
		}
	}
	if q.state == verbs.ERR {
		n.ring(q)
	}
	return len(wrs), nil
}

// PostSend posts send requests.
func (n *node) PostSend(h verbs.QP, wrs []verbs.SendWR) (int, error) {
	return n.postSend(h, wrs, "post_send")
}

func (n *node) postSend(h verbs.QP, wrs []verbs.SendWR, op string) (int, error) {
	q := n.qps.get(uint32(h))
	if q == nil {
		return 0, refuse(op, syscall.EINVAL, "no such queue pair")
	}
	early := q.state == verbs.RESET || q.state == verbs.INIT || q.state == verbs.RTR
	if early && !n.prof.EarlyPostStays {
		return 0, refuse(op, syscall.EINVAL, fmt.Sprintf(
			"the QP is in %s; sends may be posted in RTS, SQD, SQE and ERR", q.state))
	}
	for i := range wrs {
		if errno, why := q.checkPost(&wrs[i]); errno != 0 {
			n.ring(q)
			return i, refuse(op, errno, why)
		}
		if !q.sendRoom() {
			n.ring(q)
			return i, refuse(op, syscall.ENOMEM, fmt.Sprintf("all %d slots are in use", q.sq.limit))
		}
		q.push(&wrs[i])
	}
	if early {
		return 0, refuse(op, syscall.EINVAL, fmt.Sprintf(
			"the QP is in %s: the doorbell was refused, and the requests stay queued", q.state))
	}
	n.ring(q)
	return len(wrs), nil
}

// push copies a request into the send queue.
func (q *qp) push(wr *verbs.SendWR) {
	w := q.sq.push()
	sgl, inline := w.sgl[:0], w.inline[:0]
	*w = sendWQE{wr: *wr, sgl: append(sgl, wr.SGL...), inline: inline, trace: -1}
	w.wr.SGL = nil
	for i := range w.sgl {
		w.length += w.sgl[i].Length
		if wr.Flags&verbs.SendInline != 0 && !w.reads() {
			s := &w.sgl[i] // copied now: the buffer is the application's again
			b := q.node.mem.span(s.Addr, uint64(s.Length))
			w.inline = append(w.inline, b...)
		}
	}
	if q.node.bench.tracing {
		w.trace = q.node.bench.tracePost(q, wr.ID, postNames[wr.Opcode])
	}
}

// checkPost finds what libibverbs refuses before the request is queued.
func (q *qp) checkPost(wr *verbs.SendWR) (syscall.Errno, string) {
	if wr.Opcode > verbs.WRSendWithInv {
		return syscall.EINVAL, fmt.Sprintf("no send opcode has the value %d", wr.Opcode)
	}
	if len(wr.SGL) > q.attr.Cap.MaxSendSGE {
		return syscall.EINVAL, fmt.Sprintf("%d SGEs, max_send_sge is %d", len(wr.SGL), q.attr.Cap.MaxSendSGE)
	}
	var length uint64
	for i := range wr.SGL {
		length += uint64(wr.SGL[i].Length)
	}
	if length > maxMessage {
		return syscall.EINVAL, fmt.Sprintf("%d bytes, a message has at most %d", length, uint64(maxMessage))
	}
	reads := wr.Opcode == verbs.WRRDMARead
	atomic := wr.Opcode == verbs.WRAtomicCmpAndSwp || wr.Opcode == verbs.WRAtomicFetchAdd
	if wr.Flags&verbs.SendInline != 0 {
		if length > uint64(q.attr.Cap.MaxInline) {
			return syscall.EINVAL, fmt.Sprintf("%d inline bytes, max_inline_data is %d", length, q.attr.Cap.MaxInline)
		}
		if (reads || atomic) && !q.prof.InlineReadAccepted {
			return syscall.EINVAL, "INLINE is for SEND and RDMA_WRITE"
		}
		for i := range wr.SGL {
			s := &wr.SGL[i]
			if s.Length > 0 && q.node.mem.span(s.Addr, uint64(s.Length)) == nil && !reads && !atomic {
				return syscall.EFAULT, fmt.Sprintf("inline data at %#x is not mapped (a program would crash here)", s.Addr)
			}
		}
	}
	if atomic && q.prof.AtomicCheckedAtPost {
		if length < 8 {
			return syscall.EINVAL, "an atomic needs 8 bytes for its result"
		}
		if wr.RemoteVA%8 != 0 {
			return syscall.EINVAL, "the remote address of an atomic must be a multiple of 8"
		}
	}
	if q.typ == verbs.UD && (wr.Opcode == verbs.WRSend || wr.Opcode == verbs.WRSendWithImm) && wr.AH == 0 {
		return syscall.EINVAL, "a UD send needs an address handle (rxe's library would crash here)"
	}
	if wr.Opcode == verbs.WRBindMW {
		return q.checkBindPost(wr)
	}
	return 0, ""
}

// checkBindPost is what rdma-core's providers refuse of a BIND_MW
// (providers/rxe/rxe.c validate_send_wr). A region that is not there fails the
// bind in its turn (MwGeneralTest.BindInvalidMr).
func (q *qp) checkBindPost(wr *verbs.SendWR) (syscall.Errno, string) {
	switch {
	case q.node.mws.get(uint32(wr.MW)) == nil:
		return syscall.EINVAL, "no such memory window"
	case len(wr.SGL) > 0:
		return syscall.EINVAL, "a BIND_MW has no SGE"
	case q.typ == verbs.UD:
		return syscall.EINVAL, "a UD queue pair binds no window"
	}
	return 0, ""
}

// ring is the doorbell.
func (n *node) ring(q *qp) { n.bench.kick(q) }
