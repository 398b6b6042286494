package model

import (
	"syscall"

	"rdmaprep/sim/verbs"
)

// window is a memory window.
type window struct {
	handle verbs.MW
	pd     *domain
	typ    verbs.MWType
	rkey   uint32
	mr     *region // nil: not bound
	q      *qp     // type 2: the queue pair that it is bound to
	addr   uint64
	length uint64
	access verbs.AccessFlags
}

func (n *node) AllocMW(pd verbs.PD, t verbs.MWType) (verbs.MWInfo, error) {
	d := n.pds.get(uint32(pd))
	if d == nil {
		return verbs.MWInfo{}, refuse("alloc_mw", syscall.EINVAL, "no such protection domain")
	}
	if t != verbs.MWType1 && t != verbs.MWType2 {
		return verbs.MWInfo{}, refuse("alloc_mw", syscall.EINVAL, "a window has type 1 or 2")
	}
	if n.mws.count >= n.limits.MaxMW {
		return verbs.MWInfo{}, refuse("alloc_mw", syscall.ENOMEM, "max_mw is reached")
	}
	w := &window{pd: d, typ: t}
	h := n.mws.add(w)
	w.handle = verbs.MW(h)
	w.rkey = n.keyIndex(h, firstWindowIndex)<<8 | n.keyBits()
	d.users++
	return verbs.MWInfo{MW: w.handle, Type: t, RKey: w.rkey}, nil
}

func (n *node) DeallocMW(mw verbs.MW) error {
	w := n.mws.get(uint32(mw))
	if w == nil {
		return refuse("dealloc_mw", syscall.ENOENT, "no such memory window")
	}
	w.unbind()
	w.pd.users--
	n.mws.remove(uint32(mw))
	return nil
}

func (w *window) unbind() {
	if w.mr != nil {
		w.mr.windows--
	}
	if w.q != nil {
		w.q.windows--
	}
	w.mr, w.q = nil, nil
}

// throughWindow returns the bytes that a peer of q names by a window's rkey.
func (n *node) throughWindow(q *qp, rkey uint32, addr, length uint64, need verbs.AccessFlags) ([]byte, bool) {
	w := n.mws.get(n.handleOfKey(rkey, firstWindowIndex))
	if w == nil || w.rkey != rkey || w.mr == nil || w.access&need != need {
		return nil, false
	}
	if w.typ == verbs.MWType2 && w.q != q || w.pd != q.pd {
		return nil, false
	}
	base := w.addr
	if w.access&verbs.AccessZeroBased != 0 {
		base = 0
	}
	if !inside(addr, length, base, w.length) {
		whole := inside(addr+(w.addr-base), length, w.mr.addr, uint64(len(w.mr.bytes)))
		if !q.prof.WindowUnbounded || !whole {
			return nil, false
		}
	}
	off := addr - base + (w.addr - w.mr.addr)
	return w.mr.bytes[off : off+length], true
}

// bindError checks a bind; "" if it may be done.
func (q *qp) bindError(w *window, b *verbs.MWBind) string {
	m := q.node.mrs.get(uint32(b.MR))
	switch {
	case w == nil:
		return "no such window"
	case w.typ == verbs.MWType1 && b.Length == 0:
		return ""
	case m == nil:
		return "no such region"
	case w.pd != q.pd && (w.typ == verbs.MWType2 || !q.prof.BindAnyPD) || m.pd != q.pd && !q.prof.BindAnyPD:
		return "window, region and queue pair are of different protection domains"
	case m.access&verbs.AccessMWBind == 0:
		return "the region lacks MW_BIND"
	case m.access&verbs.AccessZeroBased != 0 && m.addr == 0:
		return "a window cannot be bound to a zero-based region"
	case b.Access&(verbs.AccessRemoteWrite|verbs.AccessRemoteAtomic) != 0 && m.access&verbs.AccessLocalWrite == 0:
		return "a writable window needs a region with LOCAL_WRITE"
	case !inside(b.Addr, b.Length, m.addr, uint64(len(m.bytes))):
		return "the window is not inside the region"
	case w.typ == verbs.MWType1 && b.Access&verbs.AccessZeroBased != 0:
		return "a type 1 window cannot be zero based"
	case w.typ == verbs.MWType2 && w.mr != nil:
		return "the type 2 window is bound; invalidate it first"
	case w.typ == verbs.MWType2 && b.Length == 0:
		return "a type 2 window of no bytes"
	}
	return ""
}

// startLocal carries out LOCAL_INV or BIND_MW in its turn. LOCAL_INV waits for
// everything before it (IBA 10.6.5.1).
func (q *qp) startLocal(w *sendWQE) bool {
	w.first, w.last = q.req.psn, q.req.psn
	if w.wr.Opcode == verbs.WRBindMW {
		mw := q.node.mws.get(uint32(w.wr.MW))
		if q.bindError(mw, &w.wr.Bind) != "" {
			q.fail(w, verbs.WCMWBindErr)
			return true
		}
		q.bind(mw, &w.wr.Bind, w.wr.BindRKey)
		w.phase = done
		return true
	}
	for i := q.sq.head; i < q.req.next; i++ {
		if q.sq.at(i).phase != done {
			return false
		}
	}
	if q.prof.FreeWindowInvHangs && q.freeWindow(w.wr.InvRKey) {
		return false
	}
	if !q.localInvalidate(w.wr.InvRKey) {
		status := verbs.WCMWBindErr
		if q.prof.LocalInvErrIsOpErr {
			status = verbs.WCLocQPOpErr
		}
		q.fail(w, status)
		return true
	}
	w.phase = done
	return true
}

func (q *qp) bind(w *window, b *verbs.MWBind, key uint32) {
	w.unbind()
	if w.typ == verbs.MWType1 {
		w.rkey = key
	} else {
		w.rkey = w.rkey&^0xff | key&0xff
	}
	if b.Length == 0 {
		return
	}
	w.mr = q.node.mrs.get(uint32(b.MR))
	w.mr.windows++
	w.addr, w.length, w.access = b.Addr, b.Length, b.Access
	if w.typ == verbs.MWType2 {
		w.q = q
		q.windows++
	}
}

// freeWindow tells whether a key names a type 2 window that is not bound.
func (q *qp) freeWindow(rkey uint32) bool {
	w := q.node.mws.get(q.node.handleOfKey(rkey, firstWindowIndex))
	return w != nil && w.rkey == rkey && w.typ == verbs.MWType2 && w.mr == nil
}

func (q *qp) windowOf(rkey uint32) *window {
	w := q.node.mws.get(q.node.handleOfKey(rkey, firstWindowIndex))
	if w == nil || w.rkey != rkey || w.typ != verbs.MWType2 || w.mr == nil {
		return nil
	}
	return w
}

func (q *qp) localInvalidate(rkey uint32) bool {
	w := q.windowOf(rkey)
	if w == nil || (w.q != q && !q.prof.InvalidateAnyQP) {
		return false
	}
	w.unbind()
	return true
}

// invalidate is the responder's side of SEND_WITH_INV.
func (q *qp) invalidate(rkey uint32) bool {
	w := q.windowOf(rkey)
	if w == nil || w.q != q && !q.prof.InvalidateAnyQP {
		return false
	}
	w.unbind()
	return true
}

// badInvalidate is an error of class J: no NAK; the responder's request and
// queue pair fail, and the requester runs out of retries (rdma-unit-test,
// SendWithInvalidateBadRkey).
func (q *qp) badInvalidate(p *packet) {
	status := verbs.WCLocAccessErr
	if q.prof.InvalidateErrAcks {
		status = verbs.WCRemInvReqErr
		q.answer(synACK, p.psn)
	}
	q.completeRecv(verbs.WC{Status: status}, q.resp.solicited)
	q.toError("a SEND_WITH_INV named a key that cannot be invalidated")
}

// BindMW is ibv_bind_mw, for type 1.
func (n *node) BindMW(h verbs.QP, mw verbs.MW, id uint64, flags verbs.SendFlags, b verbs.MWBind) (uint32, error) {
	w := n.mws.get(uint32(mw))
	switch {
	case n.qps.get(uint32(h)) == nil: // MwGeneralTest.BindInvalidQp
		return 0, refuse("bind_mw", syscall.ENOENT, "no such queue pair")
	case w == nil:
		return 0, refuse("bind_mw", syscall.ENOENT, "no such memory window")
	}
	if w.typ != verbs.MWType1 {
		return 0, refuse("bind_mw", syscall.EINVAL, "the window is of type 2: post a BIND_MW request")
	}
	if b.Access&verbs.AccessZeroBased != 0 { // rdma-core, rxe_bind_mw and mlx5_bind_mw
		return 0, refuse("bind_mw", syscall.EINVAL, "a type 1 window cannot be zero based")
	}
	if b.MR == 0 && (b.Addr != 0 || b.Length != 0) {
		return 0, refuse("bind_mw", syscall.EINVAL, "no such memory region")
	}
	if m := n.mrs.get(uint32(b.MR)); b.Length > 0 && m != nil && m.pd != w.pd {
		return 0, refuse("bind_mw", syscall.EPERM, "region and window are of different protection domains")
	}
	key := w.rkey&^0xff | (w.rkey+1)&0xff
	wr := verbs.SendWR{ID: id, Opcode: verbs.WRBindMW, Flags: flags, MW: mw, BindRKey: key, Bind: b}
	if _, err := n.postSend(h, []verbs.SendWR{wr}, "bind_mw"); err != nil {
		return 0, err
	}
	return key, nil
}
