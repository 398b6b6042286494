package model

import (
	"context"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

var (
	_ verbs.Bench   = (*Bench)(nil)
	_ verbs.Clock   = (*Bench)(nil)
	_ verbs.Faulter = (*Bench)(nil)
	_ verbs.Tracer  = (*Bench)(nil)
	_ verbs.Device  = (*node)(nil)
)

// side is one end of a connected pair.
type side struct {
	dev verbs.Device
	pd  verbs.PD
	cq  verbs.CQ
	mr  verbs.MRInfo
	qp  verbs.QPInfo
	gid verbs.GID
}

// failer is what the helpers need of a test, Go's or rapid's.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

type pairOptions struct {
	profile    string
	seed       uint64
	trace      bool
	typ        verbs.QPType
	timeout    uint8
	retry, rnr uint8
	rd         uint8
	mr, cqe    int
	wr         int
	access     verbs.AccessFlags
	mtu        verbs.MTU
	psn        uint32
}

func defaults() pairOptions {
	return pairOptions{
		typ: verbs.RC, timeout: 14, retry: 6, rnr: 6, rd: 4, mr: 8192, cqe: 64, wr: 16, mtu: verbs.MTU1024, psn: 0x100,
		access: verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic,
	}
}

func check(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pair(t failer, o pairOptions) (*Bench, *side, *side) {
	t.Helper()
	b := must(Open(context.Background(), Options{Profile: o.profile, Seed: o.seed, Trace: o.trace}))
	s := make([]*side, 2)
	for i, name := range b.Nodes() {
		d := b.Node(name)
		x := &side{dev: d}
		s[i] = x
		x.pd = must(d.AllocPD())
		x.cq = must(d.CreateCQ(o.cqe, 0)).CQ
		addr := must(d.Alloc(o.mr))
		x.mr = must(d.RegMR(x.pd, addr, uint64(o.mr), verbs.AccessLocalWrite|o.access))
		x.gid = must(d.QueryGID(1, 1))
		x.qp = must(d.CreateQP(x.pd, verbs.QPInitAttr{
			Type: o.typ, SendCQ: x.cq, RecvCQ: x.cq,
			Cap: verbs.QPCap{MaxSendWR: o.wr, MaxRecvWR: o.wr, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 64},
		}))
	}
	for i, x := range s {
		connect(t, x, s[1-i], o)
	}
	return b, s[0], s[1]
}

// must is for calls that the test does not expect to fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func connect(t failer, x, peer *side, o pairOptions) {
	t.Helper()
	init := verbs.QPAttr{State: verbs.INIT, Port: 1, Access: o.access, QKey: 0x11111111}
	mask := verbs.MaskState | verbs.MaskPKeyIndex | verbs.MaskPort
	rtr := verbs.QPAttr{
		State: verbs.RTR, AV: verbs.AHAttr{DGID: peer.gid, SGIDIndex: 1, Port: 1}, PathMTU: o.mtu,
		DestQPN: peer.qp.Num, RQPSN: o.psn, MaxDestRDAtomic: o.rd, MinRNRTimer: 12,
	}
	rts := verbs.QPAttr{
		State: verbs.RTS, Timeout: o.timeout, RetryCnt: o.retry, RNRRetry: o.rnr, SQPSN: o.psn, MaxRDAtomic: o.rd,
	}
	rtrMask, rtsMask := verbs.MaskState, verbs.MaskState|verbs.MaskSQPSN
	switch o.typ {
	case verbs.UD:
		mask |= verbs.MaskQKey
	default:
		mask |= verbs.MaskAccessFlags
		rtrMask |= verbs.MaskAV | verbs.MaskPathMTU | verbs.MaskDestQPN | verbs.MaskRQPSN
	}
	if o.typ == verbs.RC {
		rtrMask |= verbs.MaskMaxDestRDAtomic | verbs.MaskMinRNRTimer
		rtsMask |= verbs.MaskTimeout | verbs.MaskRetryCnt | verbs.MaskRNRRetry | verbs.MaskMaxQPRDAtomic
	}
	check(t, x.dev.ModifyQP(x.qp.QP, init, mask))
	check(t, x.dev.ModifyQP(x.qp.QP, rtr, rtrMask))
	check(t, x.dev.ModifyQP(x.qp.QP, rts, rtsMask))
}

func (x *side) sge(off, n int) []verbs.SGE {
	return []verbs.SGE{{Addr: x.mr.Addr + uint64(off), Length: uint32(n), LKey: x.mr.LKey}}
}

func quiet(t failer, b *Bench) {
	t.Helper()
	if ok, err := b.Wait(context.Background(), time.Hour, nil); err != nil || !ok {
		t.Fatalf("not quiet: %v %v", ok, err)
	}
}

func (x *side) poll(t failer) []verbs.WC {
	t.Helper()
	wc := make([]verbs.WC, 256)
	n, err := x.dev.PollCQ(x.cq, wc)
	check(t, err)
	return wc[:n]
}

// TestFirstMessages sends one of each over RC: what arrives is what was sent.
func TestFirstMessages(t *testing.T) {
	for _, prof := range ProfileNames() {
		o := defaults()
		o.profile, o.trace = prof, true
		b, a, z := pair(t, o)
		text := make([]byte, 3000)
		for i := range text {
			text[i] = byte(i * 7)
		}
		check(t, a.dev.Store(a.mr.Addr, text))
		must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 100, SGL: z.sge(4096, 4096)}}))
		_, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{
			{ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGL: a.sge(0, 3000)},
			{ID: 2, Opcode: verbs.WRRDMAWrite, Flags: verbs.SendSignaled, SGL: a.sge(0, 3000), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
			{ID: 3, Opcode: verbs.WRRDMARead, Flags: verbs.SendSignaled, SGL: a.sge(4096, 3000), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
			{ID: 4, Opcode: verbs.WRAtomicFetchAdd, Flags: verbs.SendSignaled, SGL: a.sge(8000, 8), RemoteVA: z.mr.Addr + 8000, RKey: z.mr.RKey, CompareAdd: 5},
		})
		check(t, err)
		quiet(t, b)
		got := a.poll(t)
		if len(got) != 4 {
			t.Fatalf("%s: %d completions: %+v", prof, len(got), got)
		}
		for i, wc := range got {
			if wc.ID != uint64(i+1) || wc.Status != verbs.WCSuccess {
				t.Errorf("%s: completion %d is %+v", prof, i, wc)
			}
		}
		if got := z.poll(t); len(got) != 1 || got[0].ID != 100 || got[0].ByteLen != 3000 {
			t.Errorf("%s: receiver has %+v", prof, got)
		}
		for _, at := range []struct {
			s   *side
			off int
		}{{z, 4096}, {z, 0}, {a, 4096}} {
			mem := make([]byte, 3000)
			check(t, at.s.dev.Load(at.s.mr.Addr+uint64(at.off), mem))
			if string(mem) != string(text) {
				t.Errorf("%s: bytes at %d differ", prof, at.off)
			}
		}
		mem := make([]byte, 8)
		check(t, z.dev.Load(z.mr.Addr+8000, mem))
		if mem[0] != 5 {
			t.Errorf("%s: FETCH_ADD left %v", prof, mem)
		}
	}
}
