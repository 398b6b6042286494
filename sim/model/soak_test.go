package model

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"rdmaprep/sim"
	"rdmaprep/sim/verbs"
)

const (
	soakSeeds    = 150
	soakPairs    = 3
	soakMessages = 12
	soakSlot     = 1536
)

// TestSeedSoak: several queue pairs of two nodes at once, into a region with
// RELAXED_ORDERING, over a bad wire and under many seeds. On each queue pair
// every request completes once and in order, every byte is where it was sent, the
// invariants hold after every step, and equal seeds give equal traces.
func TestSeedSoak(t *testing.T) {
	different := map[uint64]bool{}
	for seed := uint64(1); seed <= soakSeeds; seed++ {
		first, second := soak(t, seed), soak(t, seed)
		if first != second {
			t.Fatalf("seed %d gave two traces", seed)
		}
		different[first] = true
	}
	if len(different) != soakSeeds {
		t.Errorf("%d seeds gave %d traces", soakSeeds, len(different))
	}
}

// soak runs one seed and returns a digest of its trace.
func soak(t *testing.T, seed uint64) uint64 {
	t.Helper()
	draw := sim.NewRand(seed, 99)
	o := defaults()
	o.profile = ProfileNames()[seed%2]
	o.seed, o.trace, o.retry, o.rnr, o.timeout = seed, true, 6, 7, 8
	o.mr, o.cqe, o.access = 2*soakPairs*soakMessages*soakSlot, 512, o.access|verbs.AccessRelaxedOrdering
	b, a, z := pair(t, o)
	b.Watch(func(err error) { t.Fatalf("seed %d: %v", seed, err) })
	as, zs := []*side{a}, []*side{z}
	for range soakPairs - 1 {
		x, y := another(t, a, z, o)
		as, zs = append(as, x), append(zs, y)
	}
	src := make([]byte, soakPairs*soakMessages*soakSlot)
	for i := range src {
		src[i] = byte(draw.Uint32() | 1)
	}
	check(t, a.dev.Store(a.mr.Addr, src))
	for range draw.Below(6) {
		check(t, b.Inject(verbs.Fault{
			Kind:  verbs.FaultDrop + verbs.FaultKind(draw.Below(5)),
			Match: []string{"any", "request", "ack"}[draw.Below(3)], Count: 1, Skip: int(draw.Below(40)),
			Delay: time.Duration(1+draw.Below(900)) * time.Microsecond, Behind: 1 + int(draw.Below(4)),
		}))
	}
	want := make([]byte, len(src))
	for q := range soakPairs {
		for m := range soakMessages {
			at, n := (q*soakMessages+m)*soakSlot, 1+int(draw.Below(soakSlot))
			copy(want[at:at+n], src[at:at+n])
			wr := verbs.SendWR{ID: uint64(m), Opcode: verbs.WRRDMAWrite, Flags: verbs.SendSignaled, SGL: as[q].sge(at, n)}
			wr.RemoteVA, wr.RKey = z.mr.Addr+uint64(at), z.mr.RKey
			if draw.Below(2) == 0 {
				wr.Opcode = verbs.WRSend
				must(zs[q].dev.PostRecv(zs[q].qp.QP, []verbs.RecvWR{{ID: uint64(m), SGL: zs[q].sge(at, n)}}))
			}
			must(as[q].dev.PostSend(as[q].qp.QP, []verbs.SendWR{wr}))
		}
	}
	if ok, err := b.Wait(context.Background(), time.Hour, nil); !ok || err != nil {
		t.Fatalf("seed %d: %v %v", seed, ok, err)
	}
	inOrder(t, seed, a, as)
	got := make([]byte, len(want))
	check(t, z.dev.Load(z.mr.Addr, got))
	if !bytes.Equal(got, want) {
		t.Errorf("seed %d: the bytes are not those that were sent", seed)
	}
	h := fnv.New64a()
	fmt.Fprint(h, traceText(b))
	return h.Sum64()
}

// inOrder: on each queue pair the completions are 0, 1, 2 … and all SUCCESS.
func inOrder(t *testing.T, seed uint64, a *side, as []*side) {
	t.Helper()
	next := map[uint32]uint64{}
	for _, wc := range a.poll(t) {
		if wc.Status != verbs.WCSuccess || wc.ID != next[wc.QPNum] {
			t.Errorf("seed %d: completion %+v, want request %d", seed, wc, next[wc.QPNum])
		}
		next[wc.QPNum]++
	}
	for _, x := range as {
		if next[x.qp.Num] != soakMessages {
			t.Errorf("seed %d: QP %d completed %d of %d", seed, x.qp.Num, next[x.qp.Num], soakMessages)
		}
	}
}

// another connects a second pair of queue pairs beside a and z.
func another(t failer, a, z *side, o pairOptions) (x, y *side) {
	t.Helper()
	p, q := *a, *z
	for _, s := range []*side{&p, &q} {
		s.qp = must(s.dev.CreateQP(s.pd, verbs.QPInitAttr{
			Type: o.typ, SendCQ: s.cq, RecvCQ: s.cq,
			Cap: verbs.QPCap{MaxSendWR: o.wr, MaxRecvWR: o.wr, MaxSendSGE: 1, MaxRecvSGE: 1},
		}))
	}
	connect(t, &p, &q, o)
	connect(t, &q, &p, o)
	return &p, &q
}
