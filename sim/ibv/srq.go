//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"fmt"
	"math/bits"
	"syscall"

	"rdmaprep/sim/verbs"
)

type srqObject struct {
	ptr    uintptr
	async  int // events taken, not acknowledged
	posted int // requests that were ever posted
}

func (d *device) CreateSRQ(pd verbs.PD, attr verbs.SRQAttr) (verbs.SRQInfo, error) {
	o := d.pds.get(uint32(pd))
	if o == nil {
		return verbs.SRQInfo{}, refuse("create_srq", syscall.EINVAL, "no such protection domain")
	}
	a := &d.ws.srq
	*a = cSRQInitAttr{attr: cSRQAttr{uint32(attr.MaxWR), uint32(attr.MaxSGE), uint32(attr.Limit)}}
	p, errno := d.lib.pointer(d.lib.fn[symCreateSRQ], o.ptr, addr(a))
	if errno != 0 {
		return verbs.SRQInfo{}, refuse("create_srq", errno, fmt.Sprintf(
			"max_wr %d, max_sge %d; query_device tells max_srq_wr and max_srq_sge", attr.MaxWR, attr.MaxSGE))
	}
	h := d.srqs.add(&srqObject{ptr: p})
	return verbs.SRQInfo{SRQ: verbs.SRQ(h), Attr: srqAttr(&a.attr)}, nil
}

func srqAttr(a *cSRQAttr) verbs.SRQAttr {
	return verbs.SRQAttr{MaxWR: int(a.maxWR), MaxSGE: int(a.maxSGE), Limit: int(a.limit)}
}

// ModifySRQ refuses to make a queue smaller than what may be in it: rxe before
// Linux 6.1.191 drops the old queue when the new one is too small, and follows a
// null pointer at the next call on it (CVE-2025-68379).
func (d *device) ModifySRQ(h verbs.SRQ, attr verbs.SRQAttr, mask verbs.SRQAttrMask) error {
	o := d.srqs.get(uint32(h))
	if o == nil {
		return refuse("modify_srq", syscall.EINVAL, "no such shared receive queue")
	}
	// rxe makes room for the next power of two, less one (rxe_queue.c rxe_queue_init).
	if room := 1<<bits.Len(uint(max(attr.MaxWR, 0))) - 1; mask&verbs.MaskSRQMaxWR != 0 && attr.MaxWR > 0 && o.posted > room {
		return hurts("modify_srq", fmt.Sprintf("max_wr %d may be too small for the requests that are in the queue (%d were posted), and "+
			"rxe before Linux 6.1.191 then crashes (CVE-2025-68379): make a new queue", attr.MaxWR, o.posted))
	}
	a := &d.ws.srq.attr
	*a = cSRQAttr{uint32(attr.MaxWR), uint32(attr.MaxSGE), uint32(attr.Limit)}
	if errno := d.lib.status(d.lib.fn[symModifySRQ], o.ptr, addr(a), uintptr(mask)); errno != 0 {
		return refuse("modify_srq", errno, fmt.Sprintf("max_wr %d, limit %d", attr.MaxWR, attr.Limit))
	}
	return nil
}

func (d *device) QuerySRQ(h verbs.SRQ) (verbs.SRQAttr, error) {
	o := d.srqs.get(uint32(h))
	if o == nil {
		return verbs.SRQAttr{}, refuse("query_srq", syscall.EINVAL, "no such shared receive queue")
	}
	a := &d.ws.srq.attr
	*a = cSRQAttr{}
	if errno := d.lib.status(d.lib.fn[symQuerySRQ], o.ptr, addr(a)); errno != 0 {
		return verbs.SRQAttr{}, refuse("query_srq", errno, "")
	}
	return srqAttr(a), nil
}

func (d *device) DestroySRQ(h verbs.SRQ) error {
	o := d.srqs.get(uint32(h))
	switch {
	case o == nil:
		return refuse("destroy_srq", syscall.ENOENT, "no such shared receive queue")
	case o.async > 0:
		return refuse("destroy_srq", syscall.EBUSY, fmt.Sprintf(
			"%d events were taken and not acknowledged; libibverbs would wait here for ever", o.async))
	}
	if errno := d.lib.status(d.lib.fn[symDestroySRQ], o.ptr); errno != 0 {
		return refuse("destroy_srq", errno, why(errno, syscall.EBUSY, "queue pairs use it"))
	}
	d.srqs.remove(uint32(h))
	return nil
}
