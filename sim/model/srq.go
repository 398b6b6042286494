package model

import (
	"fmt"
	"syscall"

	"rdmaprep/sim/verbs"
)

// srq is a shared receive queue.
type srq struct {
	handle verbs.SRQ
	pd     *domain
	queue  ring[recvWQE]
	maxSGE int
	limit  int // 0: not armed
	taken  int // requests whose completion nobody has polled
	users  int
	asyncs int // asynchronous events taken and not acknowledged
}

func (n *node) CreateSRQ(pd verbs.PD, a verbs.SRQAttr) (verbs.SRQInfo, error) {
	d := n.pds.get(uint32(pd))
	if d == nil {
		return verbs.SRQInfo{}, refuse("create_srq", syscall.EINVAL, "no such protection domain")
	}
	if a.MaxWR < 1 || a.MaxWR > n.limits.MaxSRQWR || a.MaxSGE < 0 || a.MaxSGE > n.limits.MaxSRQSGE {
		return verbs.SRQInfo{}, refuse("create_srq", syscall.EINVAL, fmt.Sprintf(
			"max_wr may be 1 to %d, max_sge 0 to %d", n.limits.MaxSRQWR, n.limits.MaxSRQSGE))
	}
	if n.srqs.count >= n.limits.MaxSRQ {
		return verbs.SRQInfo{}, refuse("create_srq", syscall.ENOMEM, "max_srq is reached")
	}
	s := &srq{pd: d, maxSGE: max(1, a.MaxSGE)}
	s.queue.limit = n.capacity(a.MaxWR)
	if n.prof.SRQLimitAtCreate {
		s.limit = a.Limit
	}
	s.handle = verbs.SRQ(n.srqs.add(s))
	d.users++
	told := s.attr()
	if n.prof.CapacityUntold {
		told.MaxWR = a.MaxWR
	}
	return verbs.SRQInfo{SRQ: s.handle, Attr: told}, nil
}

func (s *srq) attr() verbs.SRQAttr {
	return verbs.SRQAttr{MaxWR: s.queue.limit, MaxSGE: s.maxSGE, Limit: s.limit}
}

func (n *node) ModifySRQ(h verbs.SRQ, a verbs.SRQAttr, mask verbs.SRQAttrMask) error {
	s := n.srqs.get(uint32(h))
	if s == nil {
		return refuse("modify_srq", syscall.EINVAL, "no such shared receive queue")
	}
	size := s.queue.limit
	if mask&verbs.MaskSRQMaxWR != 0 {
		if a.MaxWR < 1 || a.MaxWR > n.limits.MaxSRQWR || a.MaxWR < s.limit {
			return refuse("modify_srq", syscall.EINVAL, fmt.Sprintf(
				"max_wr %d: the limit is %d, and %d is the most", a.MaxWR, s.limit, n.limits.MaxSRQWR))
		}
		size = n.capacity(a.MaxWR)
		least := a.MaxWR
		if n.prof.CapacityLessOne { // rxe_queue.c resize_finish compares what was rounded up
			least = size
		}
		if least < s.queue.len() {
			return refuse("modify_srq", syscall.EINVAL, fmt.Sprintf("max_wr %d: %d requests are posted", a.MaxWR, s.queue.len()))
		}
	}
	if mask&verbs.MaskSRQLimit != 0 {
		if a.Limit < 0 || a.Limit > size {
			return refuse("modify_srq", syscall.EINVAL, fmt.Sprintf("limit %d is above max_wr %d", a.Limit, size))
		}
		s.limit = a.Limit
	}
	s.queue.limit = size
	return nil
}

func (n *node) QuerySRQ(h verbs.SRQ) (verbs.SRQAttr, error) {
	s := n.srqs.get(uint32(h))
	if s == nil {
		return verbs.SRQAttr{}, refuse("query_srq", syscall.EINVAL, "no such shared receive queue")
	}
	return s.attr(), nil
}

func (n *node) DestroySRQ(h verbs.SRQ) error {
	s := n.srqs.get(uint32(h))
	if s == nil {
		return refuse("destroy_srq", syscall.ENOENT, "no such shared receive queue")
	}
	if s.users > 0 {
		return refuse("destroy_srq", syscall.EBUSY, fmt.Sprintf("%d queue pairs use it", s.users))
	}
	if s.asyncs > 0 {
		return refuse("destroy_srq", syscall.EBUSY, unacked(s.asyncs))
	}
	s.pd.users--
	n.srqs.remove(uint32(h))
	n.forgetEvents(func(e *verbs.AsyncEvent) bool { return e.SRQ == h })
	return nil
}

func (n *node) PostSRQRecv(h verbs.SRQ, wrs []verbs.RecvWR) (int, error) {
	s := n.srqs.get(uint32(h))
	if s == nil {
		return 0, refuse("post_srq_recv", syscall.EINVAL, "no such shared receive queue")
	}
	for i := range wrs {
		if len(wrs[i].SGL) > s.maxSGE {
			return i, refuse("post_srq_recv", syscall.EINVAL,
				fmt.Sprintf("%d SGEs, max_sge is %d", len(wrs[i].SGL), s.maxSGE))
		}
		if s.queue.len()+s.inUse(n.prof) >= s.queue.limit {
			return i, refuse("post_srq_recv", syscall.ENOMEM, fmt.Sprintf("all %d slots are in use", s.queue.limit))
		}
		s.queue.push().set(&wrs[i])
	}
	return len(wrs), nil
}

// inUse counts the requests that were taken and whose completion nobody polled.
func (s *srq) inUse(prof *Profile) int {
	if prof.SlotsFreedByDevice {
		return 0
	}
	return s.taken
}

// srqTaken raises the limit event when fewer than the limit are left, once.
func (q *qp) srqTaken() {
	s := q.srq
	s.taken++
	if s.limit > 0 && s.queue.len() < s.limit {
		s.limit = 0
		fx := q.emit(fxAsync)
		fx.event = verbs.EventSRQLimitReached
	}
}
