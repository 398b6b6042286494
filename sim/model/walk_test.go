package model

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"rdmaprep/sim"
	"rdmaprep/sim/verbs"
)

const (
	walks     = 40
	walkSteps = 600
	walkMost  = 24 // objects of a kind
)

// walker makes, uses and destroys objects at random, as the random walks of
// rdma-unit-test do, and keeps a count of who uses what: the reference for EBUSY.
type walker struct {
	t     *testing.T
	b     *Bench
	r     *sim.Rand
	nodes []*walkNode
	next  uint64 // wr_id
}

type walkNode struct {
	d     verbs.Device
	addr  uint64
	gid   verbs.GID
	pds   []verbs.PD
	cqs   []verbs.CQ
	mrs   []walkMR
	mws   []walkOf[verbs.MW]
	srqs  []walkOf[verbs.SRQ]
	ahs   []walkOf[verbs.AH]
	qps   []walkQP
	users map[any]int // of PDs, CQs and SRQs
}

// walkOf is an object and the protection domain that it holds.
type walkOf[H any] struct {
	h  H
	pd verbs.PD
}

type walkMR struct {
	verbs.MRInfo
	pd verbs.PD
}

type walkQP struct {
	verbs.QPInfo
	pd       verbs.PD
	scq, rcq verbs.CQ
	srq      verbs.SRQ
}

// TestRandomWalk: RandomWalkTest.SingleNodeSingleClientControlPath,
// RandomWalkTest.SingleNodeSingleClientRdma, RandomWalkTest.SingleNodeTwoClientsRdma,
// RandomWalkTest.MultiNodeTwoClientsRdma. What is in use is EBUSY and nothing else is, posted
// requests on live queue pairs complete in their order, and the invariants hold
// after every step.
func TestRandomWalk(t *testing.T) {
	for seed := uint64(1); seed <= walks; seed++ {
		w := &walker{t: t, r: sim.NewRand(seed, 7)}
		names := []string{"a", "b", "c"}[:1+seed%3]
		w.b = must(Open(context.Background(), Options{Profile: ProfileNames()[seed%2], Seed: seed, Nodes: names}))
		w.b.Watch(func(err error) { t.Fatalf("seed %d: %v", seed, err) })
		for _, name := range names {
			d := w.b.Node(name)
			n := &walkNode{d: d, addr: must(d.Alloc(1 << 16)), gid: must(d.QueryGID(1, 1)), users: map[any]int{}}
			w.nodes = append(w.nodes, n)
		}
		for range walkSteps {
			w.step()
		}
		w.end()
	}
}

func (w *walker) pick(n int) int { return int(w.r.Below(uint32(n))) }

// busy holds a refusal against the reference.
func (w *walker) busy(err error, users int, what string) bool {
	w.t.Helper()
	if users > 0 != errors.Is(err, syscall.EBUSY) || err != nil && users == 0 {
		w.t.Fatalf("%s: %v, and %d use it", what, err, users)
	}
	return err == nil
}

func (w *walker) step() {
	n := w.nodes[w.pick(len(w.nodes))]
	if w.pick(3) == 0 {
		w.destroy(n)
		return
	}
	if len(n.pds) == 0 || w.pick(12) == 0 && len(n.pds) < walkMost {
		n.pds = append(n.pds, must(n.d.AllocPD()))
		return
	}
	pd := n.pds[w.pick(len(n.pds))]
	switch w.pick(10) {
	case 0:
		if len(n.cqs) < walkMost {
			n.cqs = append(n.cqs, must(n.d.CreateCQ(1<<10, 0)).CQ)
		}
	case 1:
		if len(n.mrs) < walkMost {
			info := must(n.d.RegMR(pd, n.addr, 1<<16, verbs.AccessLocalWrite|verbs.AccessRemoteWrite|verbs.AccessRemoteRead|verbs.AccessMWBind))
			n.mrs, n.users[pd] = append(n.mrs, walkMR{info, pd}), n.users[pd]+1
		}
	case 2:
		if len(n.mws) < walkMost {
			info := must(n.d.AllocMW(pd, verbs.MWType1+verbs.MWType(w.pick(2))))
			n.mws, n.users[pd] = append(n.mws, walkOf[verbs.MW]{info.MW, pd}), n.users[pd]+1
		}
	case 3:
		if len(n.srqs) < walkMost {
			info := must(n.d.CreateSRQ(pd, verbs.SRQAttr{MaxWR: 16, MaxSGE: 1}))
			n.srqs, n.users[pd] = append(n.srqs, walkOf[verbs.SRQ]{info.SRQ, pd}), n.users[pd]+1
		}
	case 4:
		if len(n.ahs) < walkMost {
			to := w.nodes[w.pick(len(w.nodes))]
			h := must(n.d.CreateAH(pd, verbs.AHAttr{DGID: to.gid, SGIDIndex: 1, Port: 1}))
			n.ahs, n.users[pd] = append(n.ahs, walkOf[verbs.AH]{h, pd}), n.users[pd]+1
		}
	case 5, 6:
		w.makeQP(n, pd)
	default:
		w.use(n)
	}
}

func (w *walker) makeQP(n *walkNode, pd verbs.PD) {
	if len(n.cqs) == 0 || len(n.qps) == walkMost {
		return
	}
	q := walkQP{pd: pd, scq: n.cqs[w.pick(len(n.cqs))], rcq: n.cqs[w.pick(len(n.cqs))]}
	init := verbs.QPInitAttr{
		Type: []verbs.QPType{verbs.RC, verbs.UC, verbs.UD}[w.pick(3)], SendCQ: q.scq, RecvCQ: q.rcq, SQSigAll: true,
		Cap: verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 1, MaxRecvSGE: 1},
	}
	if len(n.srqs) > 0 && w.pick(3) == 0 {
		q.srq = n.srqs[w.pick(len(n.srqs))].h
		init.SRQ = q.srq
		n.users[q.srq]++
	}
	q.QPInfo = must(n.d.CreateQP(pd, init))
	n.users[pd]++
	n.users[q.scq]++
	n.users[q.rcq]++
	n.qps = append(n.qps, q)
	// To whatever queue pair of another node, or to none: both are a peer.
	peer := w.nodes[w.pick(len(w.nodes))]
	o := defaults()
	o.typ, o.timeout, o.retry, o.rnr = init.Type, 1, 1, 1
	x, y := &side{dev: n.d, qp: q.QPInfo}, &side{gid: peer.gid}
	if len(peer.qps) > 0 {
		y.qp = peer.qps[w.pick(len(peer.qps))].QPInfo
	}
	connect(w.t, x, y, o)
}

// use posts something, lets time pass, or polls.
func (w *walker) use(n *walkNode) {
	if len(n.qps) == 0 || len(n.mrs) == 0 {
		return
	}
	q, mr := n.qps[w.pick(len(n.qps))], n.mrs[w.pick(len(n.mrs))]
	sge := []verbs.SGE{{Addr: mr.Addr + uint64(w.pick(1<<15)), Length: uint32(w.pick(3000)), LKey: mr.LKey}}
	w.next++
	switch w.pick(6) {
	case 0:
		_, _ = n.d.PostRecv(q.QP, []verbs.RecvWR{{ID: w.next, SGL: sge}})
	case 1:
		if q.srq != 0 {
			_, _ = n.d.PostSRQRecv(q.srq, []verbs.RecvWR{{ID: w.next, SGL: sge}})
		}
	case 2, 3:
		to := w.nodes[w.pick(len(w.nodes))]
		wr := verbs.SendWR{ID: w.next, Opcode: verbs.WROpcode(w.pick(8)), SGL: sge, RemoteVA: to.addr}
		if len(to.mrs) > 0 {
			wr.RKey = to.mrs[w.pick(len(to.mrs))].RKey
		}
		if len(n.ahs) > 0 {
			wr.AH = n.ahs[w.pick(len(n.ahs))].h
		}
		_, _ = n.d.PostSend(q.QP, []verbs.SendWR{wr})
	case 4:
		if _, err := w.b.Wait(context.Background(), 20*time.Microsecond, func() (bool, error) { return false, nil }); err != nil {
			w.t.Fatal(err)
		}
	default:
		w.poll(n)
	}
}

// poll takes everything: of one queue pair, sends in the order of posting.
func (w *walker) poll(n *walkNode) {
	wc := make([]verbs.WC, 64)
	for _, cq := range n.cqs {
		last := map[[2]uint32]uint64{}
		for {
			got := must(n.d.PollCQ(cq, wc))
			if got == 0 {
				break
			}
			for _, c := range wc[:got] {
				if c.Status != verbs.WCSuccess { // sends and receives cannot be told apart
					continue
				}
				side := [2]uint32{c.QPNum, uint32(c.Opcode & verbs.WCRecv)}
				if c.ID <= last[side] {
					w.t.Fatalf("QP %d: request %d completed after %d", c.QPNum, c.ID, last[side])
				}
				last[side] = c.ID
			}
		}
	}
}

// destroy takes one object away.
func (w *walker) destroy(n *walkNode) {
	switch w.pick(7) {
	case 0:
		if i, ok := w.any(len(n.pds)); ok && w.busy(n.d.DeallocPD(n.pds[i]), n.users[n.pds[i]], "dealloc_pd") {
			n.pds = slices.Delete(n.pds, i, i+1)
		}
	case 1:
		if i, ok := w.any(len(n.cqs)); ok && w.busy(n.d.DestroyCQ(n.cqs[i]), n.users[n.cqs[i]], "destroy_cq") {
			n.cqs = slices.Delete(n.cqs, i, i+1)
		}
	case 2:
		if i, ok := w.any(len(n.mrs)); ok && w.busy(n.d.DeregMR(n.mrs[i].MR), 0, "dereg_mr") {
			n.users[n.mrs[i].pd]--
			n.mrs = slices.Delete(n.mrs, i, i+1)
		}
	case 3:
		if i, ok := w.any(len(n.mws)); ok && w.busy(n.d.DeallocMW(n.mws[i].h), 0, "dealloc_mw") {
			n.users[n.mws[i].pd]--
			n.mws = slices.Delete(n.mws, i, i+1)
		}
	case 4:
		if i, ok := w.any(len(n.srqs)); ok && w.busy(n.d.DestroySRQ(n.srqs[i].h), n.users[n.srqs[i].h], "destroy_srq") {
			n.users[n.srqs[i].pd]--
			n.srqs = slices.Delete(n.srqs, i, i+1)
		}
	case 5:
		if i, ok := w.any(len(n.ahs)); ok && w.busy(n.d.DestroyAH(n.ahs[i].h), 0, "destroy_ah") {
			n.users[n.ahs[i].pd]--
			n.ahs = slices.Delete(n.ahs, i, i+1)
		}
	default:
		if i, ok := w.any(len(n.qps)); ok && w.busy(n.d.DestroyQP(n.qps[i].QP), 0, "destroy_qp") {
			w.letGo(n, i)
		}
	}
}

func (w *walker) letGo(n *walkNode, i int) {
	q := n.qps[i]
	n.users[q.pd]--
	n.users[q.scq]--
	n.users[q.rcq]--
	if q.srq != 0 {
		n.users[q.srq]--
	}
	n.qps = slices.Delete(n.qps, i, i+1)
}

func (w *walker) any(n int) (int, bool) {
	if n == 0 {
		return 0, false
	}
	return w.pick(n), true
}

// end destroys everything, users first: nothing may be left in use.
func (w *walker) end() {
	for _, n := range w.nodes {
		for len(n.qps) > 0 {
			check(w.t, n.d.DestroyQP(n.qps[0].QP))
			w.letGo(n, 0)
		}
		for _, x := range n.mws {
			check(w.t, n.d.DeallocMW(x.h))
		}
		for _, x := range n.mrs {
			check(w.t, n.d.DeregMR(x.MR))
		}
		for _, x := range n.srqs {
			check(w.t, n.d.DestroySRQ(x.h))
		}
		for _, x := range n.ahs {
			check(w.t, n.d.DestroyAH(x.h))
		}
		for _, x := range n.cqs {
			check(w.t, n.d.DestroyCQ(x))
		}
		for _, x := range n.pds {
			check(w.t, n.d.DeallocPD(x))
		}
	}
	quiet(w.t, w.b)
}
