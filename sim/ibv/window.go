//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/ebitengine/purego"

	"rdmaprep/sim/verbs"
)

// window is a memory window. Of one of type 2 the program keeps what the
// kernel knows and does not tell, because two mistakes with it damage rxe:
//
// Invalidating a window that is free follows a null pointer with a lock held
// (rxe_mw.c rxe_do_invalidate_mw, Linux 6.1 and 6.12). The kernel compares the
// whole key first, and a key names a bound window only after the bind that gave
// it. So a key may be invalidated once after each bind that gave it.
//
// Destroying the queue pair that it is bound to waits 50 s.
type window struct {
	dev *device
	ptr uintptr
	pd  uintptr
	typ verbs.MWType

	key   uint32      // that the last bind gave, or ibv_alloc_mw
	armed bool        // key was given by a bind and has not been invalidated
	maybe []uint32    // earlier keys that hold if binds since then failed
	binds int         // posted, their completions not seen
	held  []*qpObject // that it may be bound to
}

// bindPost is a bind whose completion has not been seen.
type bindPost struct {
	w   *window
	id  uint64
	old uint32 // the key before
}

type invPost struct {
	w  *window
	id uint64
}

// maxUnseen is how many unseen binds or invalidations of a QP are remembered.
const maxUnseen = 1024

// windows are those of every device of a Bench: a node's SEND_WITH_INV frees
// another's window.
type windows struct {
	all  []*window
	gids []verbs.GID // of the nodes
}

func (ws *windows) ours(gid verbs.GID) bool { return slices.Contains(ws.gids, gid) }

func (d *device) AllocMW(pd verbs.PD, t verbs.MWType) (verbs.MWInfo, error) {
	o := d.pds.get(uint32(pd))
	if o == nil {
		return verbs.MWInfo{}, refuse("alloc_mw", syscall.EINVAL, "no such protection domain")
	}
	fn := at[cContext](d.ctx).ops[opAllocMW]
	if fn == 0 {
		return verbs.MWInfo{}, refuse("alloc_mw", syscall.EOPNOTSUPP, "the device has no memory windows")
	}
	p, errno := d.lib.pointer(fn, o.ptr, uintptr(t))
	if errno != 0 {
		return verbs.MWInfo{}, refuse("alloc_mw", errno, why(errno, syscall.EINVAL, "a window has type 1 or 2"))
	}
	w := &window{dev: d, ptr: p, pd: o.ptr, typ: t, key: at[cMW](p).rkey}
	d.windows.all = append(d.windows.all, w)
	return verbs.MWInfo{MW: verbs.MW(d.mws.add(w)), Type: t, RKey: w.key}, nil
}

func (d *device) DeallocMW(mw verbs.MW) error {
	w := d.mws.get(uint32(mw))
	if w == nil {
		return refuse("dealloc_mw", syscall.ENOENT, "no such memory window")
	}
	if errno := d.lib.status(at[cContext](d.ctx).ops[opDeallocMW], w.ptr); errno != 0 {
		return refuse("dealloc_mw", errno, "")
	}
	d.mws.remove(uint32(mw))
	d.windows.all = slices.DeleteFunc(d.windows.all, func(x *window) bool { return x == w })
	for _, q := range d.qps.rows {
		if q != nil {
			q.binds = slices.DeleteFunc(q.binds, func(b bindPost) bool { return b.w == w })
			q.invs = slices.DeleteFunc(q.invs, func(b invPost) bool { return b.w == w })
		}
	}
	return nil
}

// BindMW is ibv_bind_mw with the checks that the header makes inline.
func (d *device) BindMW(h verbs.QP, mw verbs.MW, id uint64, flags verbs.SendFlags, b verbs.MWBind) (uint32, error) {
	q, w := d.qps.get(uint32(h)), d.mws.get(uint32(mw))
	mr := d.regionPtr(b.MR)
	switch {
	case q == nil:
		return 0, refuse("bind_mw", syscall.ENOENT, "no such queue pair")
	case w == nil:
		return 0, refuse("bind_mw", syscall.ENOENT, "no such memory window")
	case w.typ != verbs.MWType1:
		return 0, refuse("bind_mw", syscall.EINVAL, "the window is of type 2: post a BIND_MW request")
	case mr == 0 && (b.Addr != 0 || b.Length != 0):
		return 0, refuse("bind_mw", syscall.EINVAL, "no such memory region")
	case mr != 0 && at[cMR](mr).pd != w.pd:
		return 0, refuse("bind_mw", syscall.EPERM, "region and window are of different protection domains")
	}
	d.ws.bind = cMWBind{
		id: id, flags: uint32(flags), mr: mr, addr: b.Addr, length: b.Length, access: uint32(b.Access),
	}
	old := at[cMW](w.ptr).rkey
	d.args[0], d.args[1], d.args[2] = q.ptr, w.ptr, addr(&d.ws.bind)
	r, _, _ := purego.SyscallN(at[cContext](d.ctx).ops[opBindMW], d.args[:3]...)
	if errno := errnoOf(r, 0); errno != 0 {
		return 0, refuse("bind_mw", errno, q.postWhy(errno, "binds", verbs.RTS))
	}
	w.key = at[cMW](w.ptr).rkey
	q.push(&verbs.SendWR{ID: id, Flags: flags})
	q.noteBind(bindPost{w, id, old})
	return w.key, nil
}

func (q *qpObject) noteBind(b bindPost) {
	b.w.binds++
	if len(q.binds) < maxUnseen {
		q.binds = append(q.binds, b)
	}
}

// checkInvalidate refuses an invalidation that may meet a free window. remote
// is a SEND_WITH_INV, which acts at the peer.
func (ws *windows) checkInvalidate(q *qpObject, key uint32, remote bool) error {
	if remote && q.away {
		return nil // another host's window: nothing is known of it here
	}
	for _, w := range ws.all {
		if w.typ != verbs.MWType2 || w.key>>8 != key>>8 {
			continue
		}
		if key == w.key && !w.armed || slices.Contains(w.maybe, key) {
			return hurts("post_send", fmt.Sprintf("the type 2 window of rkey %#x may be free, and invalidating a free one "+
				"crashes rxe's kernel (null pointer in rxe_invalidate_mw, Linux 6.1 and 6.12): bind it first, invalidate it once", key))
		}
	}
	return nil
}

// posted keeps the books of a request that the library took.
func (ws *windows) posted(d *device, q *qpObject, wr *verbs.SendWR) {
	switch wr.Opcode {
	case verbs.WRBindMW:
		w := d.mws.get(uint32(wr.MW))
		old := at[cMW](w.ptr).rkey
		key := old&^0xff | wr.BindRKey&0xff // the index is the kernel's
		if !slices.Contains(w.maybe, w.key) {
			w.maybe = append(w.maybe, w.key)
		}
		w.key = key
		w.armed = !slices.Contains(w.maybe, key)
		if !slices.Contains(w.held, q) {
			w.held = append(w.held, q)
		}
		// The provider reads the key of the next bind here; what
		// ibv_bind_mw does for type 1 is the program's to do for type 2.
		at[cMW](w.ptr).rkey = key
		q.noteBind(bindPost{w, wr.ID, old})
	case verbs.WRLocalInv, verbs.WRSendWithInv:
		if wr.Opcode == verbs.WRSendWithInv && q.away {
			return
		}
		for _, w := range ws.all {
			if w.typ == verbs.MWType2 && w.key == wr.InvRKey {
				w.armed = false
				if wr.Opcode == verbs.WRLocalInv && len(q.invs) < maxUnseen {
					q.invs = append(q.invs, invPost{w, wr.ID})
				}
			}
		}
	}
}

// completed learns from a completion what became of a bind or an invalidation.
func (ws *windows) completed(q *qpObject, wc *verbs.WC) {
	if len(q.binds)+len(q.invs) == 0 {
		return
	}
	switch {
	case wc.Status == verbs.WCSuccess && wc.Opcode == verbs.WCBindMW:
		if b, ok := q.takeBind(wc.ID); ok && b.w.typ == verbs.MWType2 && b.w.binds == 0 {
			b.w.maybe = nil
		}
	case wc.Status == verbs.WCMWBindErr:
		if b, ok := q.takeBind(wc.ID); ok {
			ws.bindFailed(q, b)
		}
	case wc.Status == verbs.WCSuccess && wc.Opcode == verbs.WCLocalInv:
		for i, v := range q.invs {
			if v.id == wc.ID {
				q.invs = slices.Delete(q.invs, i, i+1)
				v.w.held = nil
				return
			}
		}
	}
}

// invalidated notes a receive that says which key the peer invalidated.
func (ws *windows) invalidated(key uint32) {
	for _, w := range ws.all {
		if w.key == key && w.typ == verbs.MWType2 {
			w.held = nil
		}
	}
}

func (q *qpObject) takeBind(id uint64) (bindPost, bool) {
	for i, b := range q.binds {
		if b.id == id {
			q.binds = slices.Delete(q.binds, i, i+1)
			b.w.binds--
			return b, true
		}
	}
	return bindPost{}, false
}

// bindFailed gives the window its key back, as a program must. Whether it is
// free or still bound by an earlier bind is not known, so its key stays one
// that may not be invalidated.
func (ws *windows) bindFailed(q *qpObject, b bindPost) {
	if len(b.w.maybe) <= 1 && len(b.w.held) == 1 && b.w.held[0] == q && b.w.binds == 0 {
		b.w.held = nil // it was free before, and is so again
	}
	b.w.key = b.old
	b.w.armed = false
	at[cMW](b.w.ptr).rkey = b.old
}

// held says whether a window may be bound to the queue pair.
func (ws *windows) held(q *qpObject) bool {
	return slices.ContainsFunc(ws.all, func(w *window) bool { return slices.Contains(w.held, q) })
}
