//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"syscall"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"rdmaprep/sim/verbs"
)

type chanObject struct{ ptr uintptr }

type cqObject struct {
	ptr     uintptr
	unacked int // events of its channel that were taken
	async   int // asynchronous events that were taken
}

func (d *device) CreateChannel() (verbs.Channel, error) {
	if err := d.open("create_comp_channel"); err != nil {
		return 0, err
	}
	p, errno := d.lib.pointer(d.lib.fn[symCreateChannel], d.ctx)
	if errno != 0 {
		return 0, refuse("create_comp_channel", errno, "")
	}
	if err := unix.SetNonblock(int(at[cChannel](p).fd), true); err != nil {
		d.lib.call(symDestroyChannel, p)
		return 0, fmt.Errorf("the descriptor of a completion channel: %w", err)
	}
	return verbs.Channel(d.chans.add(&chanObject{p})), nil
}

func (d *device) DestroyChannel(h verbs.Channel) error {
	o := d.chans.get(uint32(h))
	if o == nil {
		return refuse("destroy_comp_channel", syscall.ENOENT, "no such completion channel")
	}
	if errno := d.lib.status(d.lib.fn[symDestroyChannel], o.ptr); errno != 0 {
		return refuse("destroy_comp_channel", errno, why(errno, syscall.EBUSY, "completion queues use it"))
	}
	d.chans.remove(uint32(h))
	return nil
}

func (d *device) CreateCQ(cqe int, ch verbs.Channel) (verbs.CQInfo, error) {
	if err := d.open("create_cq"); err != nil {
		return verbs.CQInfo{}, err
	}
	var channel uintptr
	if ch != 0 {
		o := d.chans.get(uint32(ch))
		if o == nil {
			return verbs.CQInfo{}, refuse("create_cq", syscall.EINVAL, "no such completion channel")
		}
		channel = o.ptr
	}
	p, errno := d.lib.pointer(d.lib.fn[symCreateCQ], d.ctx, uintptr(cqe), 0, channel, 0)
	if errno != 0 {
		return verbs.CQInfo{}, refuse("create_cq", errno, fmt.Sprintf("cqe is %d; query_device tells max_cqe", cqe))
	}
	h := d.cqs.add(&cqObject{ptr: p})
	return verbs.CQInfo{CQ: verbs.CQ(h), CQE: int(at[cCQ](p).cqe)}, nil
}

func (d *device) ResizeCQ(h verbs.CQ, cqe int) (verbs.CQInfo, error) {
	o := d.cqs.get(uint32(h))
	if o == nil {
		return verbs.CQInfo{}, refuse("resize_cq", syscall.EINVAL, "no such completion queue")
	}
	if errno := d.lib.status(d.lib.fn[symResizeCQ], o.ptr, uintptr(cqe)); errno != 0 {
		return verbs.CQInfo{}, refuse("resize_cq", errno, fmt.Sprintf("%d entries: too many, or fewer than wait to be polled", cqe))
	}
	return verbs.CQInfo{CQ: h, CQE: int(at[cCQ](o.ptr).cqe)}, nil
}

// DestroyCQ refuses with EBUSY where ibv_destroy_cq would wait for ever: for
// events that were taken and not acknowledged.
func (d *device) DestroyCQ(h verbs.CQ) error {
	o := d.cqs.get(uint32(h))
	if o == nil {
		return refuse("destroy_cq", syscall.ENOENT, "no such completion queue")
	}
	if n := o.unacked + o.async; n > 0 {
		return refuse("destroy_cq", syscall.EBUSY, fmt.Sprintf(
			"%d events were taken and not acknowledged; libibverbs would wait here for ever", n))
	}
	if errno := d.lib.status(d.lib.fn[symDestroyCQ], o.ptr); errno != 0 {
		return refuse("destroy_cq", errno, why(errno, syscall.EBUSY, "queue pairs use it"))
	}
	d.cqs.remove(uint32(h))
	return nil
}

func (d *device) ReqNotifyCQ(h verbs.CQ, solicitedOnly bool) error {
	o := d.cqs.get(uint32(h))
	if o == nil {
		return refuse("req_notify_cq", syscall.EINVAL, "no such completion queue")
	}
	d.args[0], d.args[1] = o.ptr, 0
	if solicitedOnly {
		d.args[1] = 1
	}
	r, _, _ := purego.SyscallN(d.reqNotify, d.args[:2]...)
	if errno := errnoOf(r, 0); errno != 0 {
		return refuse("req_notify_cq", errno, "")
	}
	return nil
}

// readable says whether a read of the descriptor would find something, so that
// the library is asked only when a C program would ask it.
func readable(fd int32) bool {
	fds := [1]unix.PollFd{{Fd: fd, Events: unix.POLLIN}}
	n, err := unix.Poll(fds[:], 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}

func (d *device) GetCQEvent(h verbs.Channel) (verbs.CQ, bool, error) {
	o := d.chans.get(uint32(h))
	if o == nil {
		return 0, false, refuse("get_cq_event", syscall.EINVAL, "no such completion channel")
	}
	if !readable(at[cChannel](o.ptr).fd) {
		return 0, false, nil
	}
	errno := d.lib.status(d.lib.fn[symGetCQEvent], o.ptr, addr(&d.ws.cq), addr(&d.ws.ctx))
	switch errno {
	case 0:
	case syscall.EAGAIN, syscall.EINTR:
		return 0, false, nil
	default:
		return 0, false, refuse("get_cq_event", errno, "")
	}
	cq := d.cqs.find(func(c *cqObject) bool { return c.ptr == d.ws.cq })
	if cq == 0 {
		return 0, false, refuse("get_cq_event", syscall.EIO, "the event is of a completion queue that nobody made")
	}
	d.cqs.get(cq).unacked++
	return verbs.CQ(cq), true, nil
}

func (d *device) AckCQEvents(h verbs.CQ, n int) error {
	o := d.cqs.get(uint32(h))
	if o == nil {
		return refuse("ack_cq_events", syscall.EINVAL, "no such completion queue")
	}
	if n < 0 || n > o.unacked {
		return refuse("ack_cq_events", syscall.EINVAL, fmt.Sprintf("%d events to acknowledge, only %d were taken", n, o.unacked))
	}
	d.lib.call(symAckCQEvents, o.ptr, uintptr(n))
	o.unacked -= n
	return nil
}

func (d *device) PollCQ(h verbs.CQ, wcs []verbs.WC) (int, error) {
	o := d.cqs.get(uint32(h))
	if o == nil {
		return 0, refuse("poll_cq", syscall.EINVAL, "no such completion queue")
	}
	room, err := grow[cWC](&d.ws.wcs, min(len(wcs), maxPoll))
	if err != nil {
		return 0, refuse("poll_cq", syscall.ENOMEM, err.Error())
	}
	d.args[0], d.args[1], d.args[2] = o.ptr, uintptr(len(room)), d.ws.wcs.addr
	r, _, _ := purego.SyscallN(d.pollCQ, d.args[:3]...)
	n := int(int32(r))
	if n < 0 {
		return 0, refuse("poll_cq", syscall.EIO, "the completion queue is in error")
	}
	for i := range room[:min(n, len(room))] {
		wcs[i] = d.completion(&room[i])
		d.note(o, &wcs[i], room[i].immOrKey)
	}
	return n, nil
}

// maxPoll is how many completions one call takes.
const maxPoll = 4096

func (d *device) completion(c *cWC) verbs.WC {
	w := verbs.WC{
		ID: c.id, Status: verbs.WCStatus(c.status), Opcode: verbs.WCOpcode(c.opcode),
		VendorErr: c.vendorErr, ByteLen: c.byteLen, QPNum: c.qpNum, SrcQP: c.srcQP, Flags: verbs.WCFlags(c.flags),
	}
	switch {
	case w.Flags&verbs.WCWithInv != 0:
		w.InvalidRKey = c.immOrKey
	case w.Flags&verbs.WCWithImm != 0:
		w.Imm = bigEndian(c.immOrKey)
	}
	return w
}

// note keeps the books that a completion changes: what is outstanding, and
// which windows are bound.
func (d *device) note(cq *cqObject, wc *verbs.WC, key uint32) {
	q := d.byNum[wc.QPNum]
	if q == nil {
		return
	}
	if q.sendCQ == cq && wc.Opcode < verbs.WCRecv {
		q.retire(wc)
	}
	if q.sendCQ == cq {
		d.windows.completed(q, wc)
	}
	// rxe of Linux 6.1 gives the program the kernel's own flags, in which 4 is
	// WITH_INV (rxe_resp.c do_complete); in the header 4 is IP_CSUM_OK, which
	// an RC receive never has.
	const kernelWithInv = 4
	if wc.Opcode == verbs.WCRecv && wc.Flags&(verbs.WCWithInv|kernelWithInv) != 0 && q.typ == verbs.RC {
		d.windows.invalidated(key)
	}
}
