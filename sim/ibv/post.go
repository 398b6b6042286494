//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"

	"rdmaprep/sim/verbs"
)

const (
	sendWRSize = unsafe.Sizeof(cSendWR{})
	recvWRSize = unsafe.Sizeof(cRecvWR{})
	sgeSize    = unsafe.Sizeof(cSGE{})
)

// PostSend makes one call of ibv_post_send for the list. Only a list that binds
// a window twice takes two: the provider reads the window's key from the struct
// ibv_mw, which the program sets between two binds.
func (d *device) PostSend(h verbs.QP, wrs []verbs.SendWR) (int, error) {
	q := d.qps.get(uint32(h))
	if q == nil {
		return 0, refuse("post_send", syscall.EINVAL, "no such queue pair")
	}
	for from := 0; from < len(wrs); {
		to := from
		var refused error
		for to < len(wrs) && !rebinds(wrs[from:to], &wrs[to]) {
			if refused = d.checkSend(q, &wrs[to]); refused != nil {
				break
			}
			to++
		}
		if to > from {
			if n, err := d.postSends(q, wrs[from:to]); err != nil {
				return from + n, err
			}
		}
		if refused != nil {
			return to, refused
		}
		from = to
	}
	return len(wrs), nil
}

// rebinds says whether wr binds a window that the list binds already.
func rebinds(list []verbs.SendWR, wr *verbs.SendWR) bool {
	if wr.Opcode != verbs.WRBindMW {
		return false
	}
	for i := range list {
		if list[i].Opcode == verbs.WRBindMW && list[i].MW == wr.MW {
			return true
		}
	}
	return false
}

// checkSend refuses what would make the provider follow a pointer that is none,
// and what would make the kernel do so.
func (d *device) checkSend(q *qpObject, wr *verbs.SendWR) error {
	switch {
	case wr.Opcode > verbs.WRSendWithInv:
		return refuse("post_send", syscall.EINVAL, fmt.Sprintf("no send opcode has the value %d", wr.Opcode))
	case wr.Opcode == verbs.WRBindMW:
		if d.mws.get(uint32(wr.MW)) == nil {
			return refuse("post_send", syscall.EINVAL, "no such memory window")
		}
		if d.regionPtr(wr.Bind.MR) == 0 {
			return refuse("post_send", syscall.EINVAL, "no such memory region")
		}
	case wr.Opcode == verbs.WRLocalInv:
		return d.windows.checkInvalidate(q, wr.InvRKey, false)
	case wr.Opcode == verbs.WRSendWithInv:
		if err := d.windows.checkInvalidate(q, wr.InvRKey, true); err != nil {
			return err
		}
	}
	if q.typ == verbs.UD {
		if send := wr.Opcode == verbs.WRSend || wr.Opcode == verbs.WRSendWithImm; send && wr.AH == 0 {
			return refuse("post_send", syscall.EINVAL, "a UD send needs an address handle (rxe's library would crash here)")
		}
		if wr.AH != 0 && d.ahs.get(uint32(wr.AH)) == nil {
			return refuse("post_send", syscall.EINVAL, "no such address handle")
		}
	}
	if wr.Flags&verbs.SendInline == 0 {
		return nil
	}
	var length uint64
	for i := range wr.SGL {
		length += uint64(wr.SGL[i].Length)
	}
	if length > uint64(q.cap.MaxInline) {
		return nil // the provider refuses it before it copies
	}
	for i := range wr.SGL {
		s := &wr.SGL[i]
		if s.Length > 0 && d.heap.span(s.Addr, uint64(s.Length)) == nil {
			return refuse("post_send", syscall.EFAULT, fmt.Sprintf("inline data at %#x is not mapped (a program would crash here)", s.Addr))
		}
	}
	return nil
}

// postSends posts a checked list.
func (d *device) postSends(q *qpObject, wrs []verbs.SendWR) (int, error) {
	sges := 0
	for i := range wrs {
		sges += len(wrs[i].SGL)
	}
	list, err := grow[cSendWR](&d.ws.sends, len(wrs))
	if err != nil {
		return 0, refuse("post_send", syscall.ENOMEM, err.Error())
	}
	sgl, err := grow[cSGE](&d.ws.sges, sges)
	if err != nil {
		return 0, refuse("post_send", syscall.ENOMEM, err.Error())
	}
	used := 0
	for i := range wrs {
		c := &list[i]
		*c = cSendWR{
			id: wrs[i].ID, sgList: d.ws.sges.addr + uintptr(used)*sgeSize, numSGE: int32(len(wrs[i].SGL)),
			opcode: uint32(wrs[i].Opcode), flags: uint32(wrs[i].Flags),
		}
		if i+1 < len(wrs) {
			c.next = d.ws.sends.addr + uintptr(i+1)*sendWRSize
		}
		used += copySGL(sgl[used:], wrs[i].SGL)
		d.fill(q, c, &wrs[i])
	}
	d.args[0], d.args[1], d.args[2] = q.ptr, d.ws.sends.addr, addr(&d.ws.bad)
	d.ws.bad = 0
	r, _, _ := purego.SyscallN(d.postSend, d.args[:3]...)
	n, errno := len(wrs), errnoOf(r, 0)
	if errno != 0 {
		n = posted(d.ws.bad, d.ws.sends.addr, sendWRSize, len(wrs))
	}
	for i := range wrs[:n] {
		q.push(&wrs[i])
		d.windows.posted(d, q, &wrs[i])
	}
	if errno != 0 {
		return n, refuse("post_send", errno, q.postWhy(errno, "sends", verbs.RTS))
	}
	return n, nil
}

// posted is the index of bad_wr. A provider that leaves it NULL has refused the
// whole list.
func posted(bad, list, size uintptr, n int) int {
	if bad < list || bad >= list+uintptr(n)*size {
		return 0
	}
	return int((bad - list) / size)
}

func copySGL(dst []cSGE, sgl []verbs.SGE) int {
	for i := range sgl {
		dst[i] = cSGE{sgl[i].Addr, sgl[i].Length, sgl[i].LKey}
	}
	return len(sgl)
}

// fill sets the fields that depend on the opcode and on the QP's type. For UD
// the union is always wr.ud: rxe's library follows ud.ah whatever the opcode is.
func (d *device) fill(q *qpObject, c *cSendWR, wr *verbs.SendWR) {
	switch wr.Opcode {
	case verbs.WRSendWithInv, verbs.WRLocalInv:
		c.immOrKey = wr.InvRKey
	case verbs.WRBindMW: // must be 0
	default:
		c.immOrKey = bigEndian(wr.Imm)
	}
	if q.typ == verbs.UD {
		c.union[0] = uint64(addr(&d.ws.noHandle))
		if a := d.ahs.get(uint32(wr.AH)); a != nil {
			c.union[0] = uint64(a.ptr)
		}
		c.union[1] = uint64(wr.RemoteQPN) | uint64(wr.RemoteQKey)<<32
		return
	}
	c.union[0], c.union[1] = wr.RemoteVA, uint64(wr.RKey)
	switch wr.Opcode {
	case verbs.WRAtomicCmpAndSwp, verbs.WRAtomicFetchAdd:
		c.union[1], c.union[2], c.union[3] = wr.CompareAdd, wr.Swap, uint64(wr.RKey)
	case verbs.WRBindMW:
		c.union = [4]uint64{}
		c.mw, c.bindRKey = d.mws.get(uint32(wr.MW)).ptr, wr.BindRKey
		c.mr, c.bindAddr, c.bindLength = d.regionPtr(wr.Bind.MR), wr.Bind.Addr, wr.Bind.Length
		c.bindAccess = uint32(wr.Bind.Access)
	}
}

// postWhy is what a refused post most likely means.
func (q *qpObject) postWhy(errno syscall.Errno, what string, from verbs.QPState) string {
	switch s := q.state(); {
	case errno == syscall.ENOMEM:
		return "all slots of the queue are in use"
	case s < from:
		return fmt.Sprintf("the QP is in %s; %s may be posted from %s on", s, what, from)
	case errno == syscall.EINVAL:
		return "too many SGEs, too much inline data, or a field that the opcode does not take"
	}
	return ""
}

func (d *device) PostRecv(h verbs.QP, wrs []verbs.RecvWR) (int, error) {
	q := d.qps.get(uint32(h))
	if q == nil {
		return 0, refuse("post_recv", syscall.EINVAL, "no such queue pair")
	}
	n, errno, err := d.postRecvs(d.postRecv, q.ptr, wrs)
	if errno != 0 {
		err = refuse("post_recv", errno, q.postWhy(errno, "receives", verbs.INIT))
	}
	return n, err
}

func (d *device) PostSRQRecv(h verbs.SRQ, wrs []verbs.RecvWR) (int, error) {
	s := d.srqs.get(uint32(h))
	if s == nil {
		return 0, refuse("post_srq_recv", syscall.EINVAL, "no such shared receive queue")
	}
	n, errno, err := d.postRecvs(d.postSRQRecv, s.ptr, wrs)
	s.posted += n
	if errno != 0 {
		err = refuse("post_srq_recv", errno, why(errno, syscall.ENOMEM, "all slots of the queue are in use"))
	}
	return n, err
}

func (d *device) postRecvs(fn, queue uintptr, wrs []verbs.RecvWR) (int, syscall.Errno, error) {
	if len(wrs) == 0 {
		return 0, 0, nil
	}
	sges := 0
	for i := range wrs {
		sges += len(wrs[i].SGL)
	}
	list, err := grow[cRecvWR](&d.ws.recvs, len(wrs))
	if err != nil {
		return 0, syscall.ENOMEM, nil
	}
	sgl, err := grow[cSGE](&d.ws.sges, sges)
	if err != nil {
		return 0, syscall.ENOMEM, nil
	}
	used := 0
	for i := range wrs {
		c := &list[i]
		*c = cRecvWR{id: wrs[i].ID, sgList: d.ws.sges.addr + uintptr(used)*sgeSize, numSGE: int32(len(wrs[i].SGL))}
		if i+1 < len(wrs) {
			c.next = d.ws.recvs.addr + uintptr(i+1)*recvWRSize
		}
		used += copySGL(sgl[used:], wrs[i].SGL)
	}
	d.args[0], d.args[1], d.args[2] = queue, d.ws.recvs.addr, addr(&d.ws.bad)
	d.ws.bad = 0
	r, _, _ := purego.SyscallN(fn, d.args[:3]...)
	if errno := errnoOf(r, 0); errno != 0 {
		return posted(d.ws.bad, d.ws.recvs.addr, recvWRSize, len(wrs)), errno, nil
	}
	return len(wrs), 0, nil
}
