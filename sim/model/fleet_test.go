package model

import (
	"context"
	"fmt"
	"time"

	"rdmaprep/sim/verbs"
)

// fleet is many connected pairs of RC queue pairs between two nodes. Each side
// has one completion queue and registers one or more regions.
type fleet struct {
	b     *Bench
	n     [2]*node
	cq    [2]verbs.CQ
	mrs   [2][]verbs.MRInfo
	qps   [2][]verbs.QP
	send  []verbs.SendWR
	recv  []verbs.RecvWR
	wc    []verbs.WC
	at    uint64 // bytes into the registered memory
	next  int    // queue pair whose turn it is
	msgs  uint64
	wrong int
}

// fleetSize is what a fleet is made of.
type fleetSize struct {
	qps     int
	batch   int // messages of one post
	region  int // bytes of a region
	regions int // of each side
}

const messageBytes = 64

func newFleet(tb failer, size fleetSize) *fleet {
	f := &fleet{b: must(Open(context.Background(), Options{}))}
	peer := [2]verbs.GID{}
	qp := [2][]verbs.QPInfo{}
	for i, n := range f.b.nodes {
		f.n[i] = n
		peer[1-i] = must(n.QueryGID(1, 1))
		pd := must(n.AllocPD())
		f.cq[i] = must(n.CreateCQ(2*max(size.batch, size.qps), 0)).CQ
		addr := must(n.Alloc(size.regions * size.region))
		for range size.regions {
			f.mrs[i] = append(f.mrs[i], must(n.RegMR(pd, addr, uint64(size.region), verbs.AccessLocalWrite)))
			addr += uint64(size.region)
		}
		for range size.qps {
			q := must(n.CreateQP(pd, verbs.QPInitAttr{
				Type: verbs.RC, SendCQ: f.cq[i], RecvCQ: f.cq[i],
				Cap: verbs.QPCap{MaxSendWR: max(16, size.batch), MaxRecvWR: max(16, size.batch), MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 64},
			}))
			qp[i] = append(qp[i], q)
			f.qps[i] = append(f.qps[i], q.QP)
		}
	}
	o := defaults()
	for i, n := range f.n {
		for k := range qp[i] {
			x, y := &side{dev: n, qp: qp[i][k]}, &side{gid: peer[i], qp: qp[1-i][k]}
			connect(tb, x, y, o)
		}
	}
	f.send = make([]verbs.SendWR, size.batch)
	f.recv = make([]verbs.RecvWR, size.batch)
	f.wc = make([]verbs.WC, size.batch)
	for i := range size.batch {
		f.send[i] = verbs.SendWR{Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGL: make([]verbs.SGE, 1)}
		f.recv[i] = verbs.RecvWR{SGL: make([]verbs.SGE, 1)}
	}
	return f
}

// stride is how far apart the buffers of successive messages are: a page and a
// cache line, so that every page of a region is visited.
const stride = pageSize + messageBytes

// buffer is the next place in the registered memory of a side.
func (f *fleet) buffer(side int, sge *verbs.SGE) {
	m := &f.mrs[side][f.msgs%uint64(len(f.mrs[side]))]
	off := f.at % (m.Length - messageBytes + 1) / messageBytes * messageBytes
	*sge = verbs.SGE{Addr: m.Addr + off, Length: messageBytes, LKey: m.LKey}
}

// post gives one batch to queue pair k.
func (f *fleet) post(k int) error {
	for i := range f.send {
		f.buffer(0, &f.send[i].SGL[0])
		f.buffer(1, &f.recv[i].SGL[0])
		f.at += stride
		f.msgs++
	}
	if _, err := f.n[1].PostRecv(f.qps[1][k], f.recv); err != nil {
		return err
	}
	_, err := f.n[0].PostSend(f.qps[0][k], f.send)
	return err
}

// finish waits for everything that was posted and polls it, a batch at a time;
// want is how many messages that was.
func (f *fleet) finish(want int) error {
	if _, err := f.b.Wait(context.Background(), time.Second, nil); err != nil {
		return err
	}
	for i, n := range f.n {
		got := 0
		for got < want {
			c, err := n.PollCQ(f.cq[i], f.wc)
			if err != nil {
				return err
			}
			for k := range f.wc[:c] {
				if f.wc[k].Status != verbs.WCSuccess {
					f.wrong++
				}
			}
			if got += c; c == 0 {
				break
			}
		}
		if got != want || f.wrong > 0 {
			return fmt.Errorf("node %d: %d completions of %d, %d not SUCCESS", i, got, want, f.wrong)
		}
	}
	return nil
}

// inTurn sends one batch on each of the next queue pairs, one after the other.
func (f *fleet) inTurn() error {
	for range min(500, len(f.qps[0])) {
		if err := f.post(f.next); err != nil {
			return err
		}
		f.next = (f.next + 1) % len(f.qps[0])
		if err := f.finish(len(f.send)); err != nil {
			return err
		}
	}
	return nil
}

// atOnce sends one batch on every queue pair, all in flight together.
func (f *fleet) atOnce() error {
	for k := range f.qps[0] {
		if err := f.post(k); err != nil {
			return err
		}
	}
	return f.finish(len(f.qps[0]) * len(f.send))
}

// lap runs rounds until every queue pair has had its turn.
func (f *fleet) lap(round func(*fleet) error) error {
	for end := f.msgs + uint64(len(f.qps[0])*len(f.send)); f.msgs < end; {
		if err := round(f); err != nil {
			return err
		}
	}
	return nil
}

// onFirst sends one batch on the first queue pair; the others are idle.
func (f *fleet) onFirst() error {
	if err := f.post(0); err != nil {
		return err
	}
	return f.finish(len(f.send))
}
