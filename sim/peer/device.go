package peer

import (
	"errors"

	"rdmaprep/sim/verbs"
)

var _ verbs.Device = (*Remote)(nil)

// room is how many bytes of a datagram a list or a block may take.
func (r *Remote) room() int { return r.most - 512 }

// Name is the device's name on the other host.
func (r *Remote) Name() string { return r.theirs.Device }

// QueryDevice is a call of verbs.Device.
func (r *Remote) QueryDevice() (verbs.DeviceAttr, error) {
	return ask[verbs.DeviceAttr](r, opQueryDevice, "query_device", none{})
}

// QueryPort is a call of verbs.Device.
func (r *Remote) QueryPort(port uint8) (verbs.PortAttr, error) {
	return ask[verbs.PortAttr](r, opQueryPort, "query_port", port)
}

// QueryGID is a call of verbs.Device.
func (r *Remote) QueryGID(port uint8, index int) (verbs.GID, error) {
	return ask[verbs.GID](r, opQueryGID, "query_gid", argGID{int(port), index})
}

// Alloc gives memory on the other host.
func (r *Remote) Alloc(length int) (uint64, error) { return ask[uint64](r, opAlloc, "alloc", length) }

// Free is a call of verbs.Device.
func (r *Remote) Free(addr uint64) error { return tell(r, opFree, "free", addr) }

// span refuses a range that takes several datagrams as the device would refuse
// it whole, before a part of it is carried out.
func (r *Remote) span(name string, addr uint64, length int) error {
	if length <= r.room() || length > maxSpan {
		return nil
	}
	err := tell(r, opSpan, name, argSpan{addr, uint64(length)})
	var refused *verbs.Error
	if errors.As(err, &refused) {
		refused.Op = name
	}
	return err
}

// Load reads memory of the other host, in pieces if it is much.
func (r *Remote) Load(addr uint64, dst []byte) error {
	if err := r.span("load", addr, len(dst)); err != nil {
		return err
	}
	for {
		n := min(len(dst), r.room())
		b, err := ask[[]byte](r, opLoad, "load", argSpan{addr, uint64(n)})
		if err != nil {
			return err
		}
		if len(b) != n {
			return &CallError{Node: r.o.Node, Text: "it returned fewer bytes than were asked for"}
		}
		copy(dst, b)
		if addr, dst = addr+uint64(n), dst[n:]; len(dst) == 0 {
			return nil
		}
	}
}

// Store writes memory of the other host, in pieces if it is much.
func (r *Remote) Store(addr uint64, src []byte) error {
	if err := r.span("store", addr, len(src)); err != nil {
		return err
	}
	for {
		n := min(len(src), r.room())
		if err := tell(r, opStore, "store", argStore{addr, src[:n]}); err != nil {
			return err
		}
		if addr, src = addr+uint64(n), src[n:]; len(src) == 0 {
			return nil
		}
	}
}

// AllocPD is a call of verbs.Device.
func (r *Remote) AllocPD() (verbs.PD, error) { return ask[verbs.PD](r, opAllocPD, "alloc_pd", none{}) }

// DeallocPD is a call of verbs.Device.
func (r *Remote) DeallocPD(pd verbs.PD) error { return tell(r, opDeallocPD, "dealloc_pd", pd) }

// RegMR is a call of verbs.Device.
func (r *Remote) RegMR(pd verbs.PD, addr, length uint64, access verbs.AccessFlags) (verbs.MRInfo, error) {
	return ask[verbs.MRInfo](r, opRegMR, "reg_mr", argRegMR{pd, addr, length, access})
}

// ReregMR is a call of verbs.Device.
func (r *Remote) ReregMR(mr verbs.MR, change verbs.ReregFlags, pd verbs.PD, addr, length uint64, access verbs.AccessFlags) (verbs.MRInfo, error) {
	return ask[verbs.MRInfo](r, opReregMR, "rereg_mr", argReregMR{mr, change, argRegMR{pd, addr, length, access}})
}

// DeregMR is a call of verbs.Device.
func (r *Remote) DeregMR(mr verbs.MR) error { return tell(r, opDeregMR, "dereg_mr", mr) }

// AllocMW is a call of verbs.Device.
func (r *Remote) AllocMW(pd verbs.PD, t verbs.MWType) (verbs.MWInfo, error) {
	return ask[verbs.MWInfo](r, opAllocMW, "alloc_mw", argMW{pd, t})
}

// DeallocMW is a call of verbs.Device.
func (r *Remote) DeallocMW(mw verbs.MW) error { return tell(r, opDeallocMW, "dealloc_mw", mw) }

// BindMW is a call of verbs.Device.
func (r *Remote) BindMW(qp verbs.QP, mw verbs.MW, id uint64, flags verbs.SendFlags, bind verbs.MWBind) (uint32, error) {
	return ask[uint32](r, opBindMW, "bind_mw", argBind{qp, mw, id, flags, bind})
}

// CreateChannel is a call of verbs.Device.
func (r *Remote) CreateChannel() (verbs.Channel, error) {
	return ask[verbs.Channel](r, opCreateChannel, "create_comp_channel", none{})
}

// DestroyChannel is a call of verbs.Device.
func (r *Remote) DestroyChannel(ch verbs.Channel) error {
	return tell(r, opDestroyChannel, "destroy_comp_channel", ch)
}

// CreateCQ is a call of verbs.Device.
func (r *Remote) CreateCQ(cqe int, ch verbs.Channel) (verbs.CQInfo, error) {
	return ask[verbs.CQInfo](r, opCreateCQ, "create_cq", argCQ{CQE: cqe, Ch: ch})
}

// ResizeCQ is a call of verbs.Device.
func (r *Remote) ResizeCQ(cq verbs.CQ, cqe int) (verbs.CQInfo, error) {
	return ask[verbs.CQInfo](r, opResizeCQ, "resize_cq", argCQ{CQ: cq, CQE: cqe})
}

// DestroyCQ is a call of verbs.Device.
func (r *Remote) DestroyCQ(cq verbs.CQ) error { return tell(r, opDestroyCQ, "destroy_cq", cq) }

// ReqNotifyCQ is a call of verbs.Device.
func (r *Remote) ReqNotifyCQ(cq verbs.CQ, solicitedOnly bool) error {
	return tell(r, opReqNotifyCQ, "req_notify_cq", argNotify{cq, solicitedOnly})
}

// GetCQEvent is a call of verbs.Device.
func (r *Remote) GetCQEvent(ch verbs.Channel) (verbs.CQ, bool, error) {
	e, err := ask[gotCQEvent](r, opGetCQEvent, "get_cq_event", ch)
	return e.CQ, e.Found, err
}

// AckCQEvents is a call of verbs.Device.
func (r *Remote) AckCQEvents(cq verbs.CQ, n int) error {
	return tell(r, opAckCQEvents, "ack_cq_events", argCQ{CQ: cq, CQE: n})
}

// PollCQ takes completions of the other host's queue, a datagram's worth at a
// time.
func (r *Remote) PollCQ(cq verbs.CQ, wc []verbs.WC) (int, error) {
	const wcBytes = 64 // more than one takes
	got := 0
	for {
		n := min(len(wc)-got, maxPoll, r.room()/wcBytes)
		some, err := ask[[]verbs.WC](r, opPollCQ, "poll_cq", argCQ{CQ: cq, CQE: n})
		got += copy(wc[got:], some)
		if err != nil && got > 0 {
			var refused *verbs.Error
			if errors.As(err, &refused) {
				return got, nil // the next poll says it again
			}
		}
		if err != nil || len(some) < n || got == len(wc) {
			return got, err
		}
	}
}

// CreateSRQ is a call of verbs.Device.
func (r *Remote) CreateSRQ(pd verbs.PD, attr verbs.SRQAttr) (verbs.SRQInfo, error) {
	return ask[verbs.SRQInfo](r, opCreateSRQ, "create_srq", argSRQ{PD: pd, Attr: attr})
}

// ModifySRQ is a call of verbs.Device.
func (r *Remote) ModifySRQ(srq verbs.SRQ, attr verbs.SRQAttr, mask verbs.SRQAttrMask) error {
	return tell(r, opModifySRQ, "modify_srq", argSRQ{SRQ: srq, Attr: attr, Mask: mask})
}

// QuerySRQ is a call of verbs.Device.
func (r *Remote) QuerySRQ(srq verbs.SRQ) (verbs.SRQAttr, error) {
	return ask[verbs.SRQAttr](r, opQuerySRQ, "query_srq", srq)
}

// DestroySRQ is a call of verbs.Device.
func (r *Remote) DestroySRQ(srq verbs.SRQ) error { return tell(r, opDestroySRQ, "destroy_srq", srq) }

// PostSRQRecv posts the list, in several datagrams if it is long.
func (r *Remote) PostSRQRecv(srq verbs.SRQ, wrs []verbs.RecvWR) (int, error) {
	return post(r, wrs, func(part []verbs.RecvWR) (int, error) {
		return ask[int](r, opPostSRQRecv, "post_srq_recv", argRecv{SRQ: srq, WRs: part})
	})
}

// CreateAH is a call of verbs.Device.
func (r *Remote) CreateAH(pd verbs.PD, attr verbs.AHAttr) (verbs.AH, error) {
	return ask[verbs.AH](r, opCreateAH, "create_ah", argAH{pd, attr})
}

// DestroyAH is a call of verbs.Device.
func (r *Remote) DestroyAH(ah verbs.AH) error { return tell(r, opDestroyAH, "destroy_ah", ah) }

// CreateQP is a call of verbs.Device.
func (r *Remote) CreateQP(pd verbs.PD, init verbs.QPInitAttr) (verbs.QPInfo, error) {
	return ask[verbs.QPInfo](r, opCreateQP, "create_qp", argCreateQP{pd, init})
}

// QueryQP is a call of verbs.Device.
func (r *Remote) QueryQP(qp verbs.QP) (verbs.QPAttr, error) {
	return ask[verbs.QPAttr](r, opQueryQP, "query_qp", qp)
}

// ModifyQP is a call of verbs.Device.
func (r *Remote) ModifyQP(qp verbs.QP, attr verbs.QPAttr, mask verbs.QPAttrMask) error {
	return tell(r, opModifyQP, "modify_qp", argModifyQP{qp, attr, mask})
}

// DestroyQP is a call of verbs.Device.
func (r *Remote) DestroyQP(qp verbs.QP) error { return tell(r, opDestroyQP, "destroy_qp", qp) }

// PostSend posts the list, in several datagrams if it is long.
func (r *Remote) PostSend(qp verbs.QP, wrs []verbs.SendWR) (int, error) {
	return post(r, wrs, func(part []verbs.SendWR) (int, error) {
		return ask[int](r, opPostSend, "post_send", argSend{qp, part})
	})
}

// PostRecv posts the list, in several datagrams if it is long.
func (r *Remote) PostRecv(qp verbs.QP, wrs []verbs.RecvWR) (int, error) {
	return post(r, wrs, func(part []verbs.RecvWR) (int, error) {
		return ask[int](r, opPostRecv, "post_recv", argRecv{QP: qp, WRs: part})
	})
}

// post posts a list in as few parts as the datagrams take.
func post[WR any](r *Remote, wrs []WR, one func([]WR) (int, error)) (int, error) {
	posted := 0
	for {
		rest, n, size := wrs[posted:], 0, 0
		for n < len(rest) {
			size += len(pack(nil, rest[n]))
			if n > 0 && size > r.room() {
				break
			}
			n++
		}
		got, err := one(rest[:n])
		posted += max(0, min(got, n))
		if err != nil || posted == len(wrs) || got < n {
			return posted, err
		}
	}
}

// GetAsyncEvent is a call of verbs.Device.
func (r *Remote) GetAsyncEvent() (verbs.AsyncEvent, bool, error) {
	e, err := ask[gotAsync](r, opGetAsyncEvent, "get_async_event", none{})
	return e.Event, e.Found, err
}

// AckAsyncEvent is a call of verbs.Device.
func (r *Remote) AckAsyncEvent(e verbs.AsyncEvent) error {
	return tell(r, opAckAsyncEvent, "ack_async_event", e)
}

// Counters are the other device's.
func (r *Remote) Counters() (map[string]uint64, error) {
	return ask[map[string]uint64](r, opCounters, "counters", none{})
}

// Close closes the other device; the other side's program goes on until End.
func (r *Remote) Close() error { return tell(r, opClose, "close_device", none{}) }
