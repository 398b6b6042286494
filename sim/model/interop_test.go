package model

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

// The interoperation of the model with the Soft-RoCE device of a real Linux
// kernel: the guest of interop_guest_test.go runs testdata/interop/agent.c, and
// everything that is asked of either end is decided here. What must come out is
// verbs semantics: bytes arrive as sent, each request completes once, in order,
// with the status that IBTA vol. 1, 9.9 gives for the fault.

const (
	bufSize  = 4 << 20
	half     = 2 << 20
	kernelIP = "192.168.77.1"
	modelIP  = "192.168.77.2"
)

// peering is a queue pair of the model connected to one of the kernel.
type peering struct {
	*guest
	side
	farQPN  uint32
	farVA   uint64
	farRKey uint32
	rd      uint8
}

type peerOptions struct {
	mtu     verbs.MTU
	rnr     uint8
	psn     uint32
	timeout uint8 // 17 is 0.5 s: an emulated guest on a busy host stands still for 0.3 s, longer than all retries at 14
	v6      bool
}

func (g *guest) connect(o peerOptions) *peering {
	g.t.Helper()
	p := &peering{guest: g, rd: 4}
	d := g.device
	p.dev, p.pd, p.mr = d, g.domain, g.region
	p.cq = must(d.CreateCQ(4096, 0)).CQ
	p.qp = must(d.CreateQP(p.pd, verbs.QPInitAttr{
		Type: verbs.RC, SendCQ: p.cq, RecvCQ: p.cq,
		Cap: verbs.QPCap{MaxSendWR: 256, MaxRecvWR: 256, MaxSendSGE: 1, MaxRecvSGE: 1},
	}))
	if _, err := fmt.Sscan(g.call("create"), &p.farQPN, &p.farVA, &p.farRKey); err != nil {
		g.t.Fatalf("create: %v", err)
	}
	dgid, index, own := verbs.GID(netip.MustParseAddr(kernelIP).As16()), 1, modelIP
	if o.v6 {
		dgid, index, own = verbs.GID(g.linkLocal.As16()), 0, netip.AddrFrom16(must(d.QueryGID(1, 0))).String()
	}
	for _, step := range []struct {
		attr verbs.QPAttr
		mask verbs.QPAttrMask
	}{
		{
			verbs.QPAttr{State: verbs.INIT, Port: 1, Access: verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic},
			verbs.MaskState | verbs.MaskPKeyIndex | verbs.MaskPort | verbs.MaskAccessFlags,
		},
		{
			verbs.QPAttr{
				State: verbs.RTR, AV: verbs.AHAttr{DGID: dgid, SGIDIndex: index, Port: 1}, PathMTU: o.mtu,
				DestQPN: p.farQPN, RQPSN: o.psn, MaxDestRDAtomic: p.rd, MinRNRTimer: 12,
			},
			verbs.MaskState | verbs.MaskAV | verbs.MaskPathMTU | verbs.MaskDestQPN | verbs.MaskRQPSN |
				verbs.MaskMaxDestRDAtomic | verbs.MaskMinRNRTimer,
		},
		{
			verbs.QPAttr{State: verbs.RTS, Timeout: o.timeout, RetryCnt: 6, RNRRetry: o.rnr, SQPSN: o.psn, MaxRDAtomic: p.rd},
			verbs.MaskState | verbs.MaskSQPSN | verbs.MaskTimeout | verbs.MaskRetryCnt | verbs.MaskRNRRetry | verbs.MaskMaxQPRDAtomic,
		},
	} {
		check(g.t, d.ModifyQP(p.qp.QP, step.attr, step.mask))
	}
	g.ok("connect %d %d %d %d %d %d 6 %d 12 %s", p.qp.Num, o.psn, o.psn, o.mtu, p.rd, o.timeout, o.rnr, own)
	return p
}

// finished is a completion, of either end.
type finished struct {
	id     uint64
	status verbs.WCStatus
	op     verbs.WCOpcode
	n, imm uint32
}

// kernelDone waits for n completions of the kernel's queue.
func (p *peering) kernelDone(n int) []finished {
	p.t.Helper()
	var got []finished
	for range 400 {
		for _, one := range strings.Split(p.call("poll"), ";") {
			var d finished
			var status, op uint
			if k, _ := fmt.Sscan(one, &d.id, &status, &op, &d.n, &d.imm); k == 5 {
				d.status, d.op = verbs.WCStatus(status), verbs.WCOpcode(op)
				got = append(got, d)
			}
		}
		if len(got) >= n {
			return got
		}
		p.wait(50*time.Millisecond, func() bool { return false })
	}
	p.t.Fatalf("the kernel completed %d requests of %d: %+v", len(got), n, got)
	return nil
}

// modelDone waits for n completions of the model's queue.
func (p *peering) modelDone(n int) []finished {
	p.t.Helper()
	var got []finished
	p.wait(20*time.Second, func() bool {
		for _, wc := range p.poll(p.t) {
			got = append(got, finished{wc.ID, wc.Status, wc.Opcode, wc.ByteLen, wc.Imm})
		}
		return len(got) >= n
	})
	if len(got) < n {
		p.t.Fatalf("the model completed %d requests of %d: %+v", len(got), n, got)
	}
	return got
}

// request is one operation, told from its initiator.
type request struct {
	op            verbs.WROpcode
	n             int
	imm           uint32
	compare, swap uint64
	offset        uint64 // of the target in the half that is aimed at
	badKey        uint32 // flips bits of the rkey
}

// post posts a request: from the first half of one memory to the second of the other.
func (p *peering) post(kernel bool, id int, r request) {
	p.t.Helper()
	if kernel {
		p.ok("send %d %d 0 %d %d %d %d %d %d", id, r.op, r.n, p.mr.Addr+half+r.offset, p.mr.RKey^r.badKey, r.imm, r.compare, r.swap)
		return
	}
	_, err := p.dev.PostSend(p.qp.QP, []verbs.SendWR{{
		ID: uint64(id), Opcode: r.op, Flags: verbs.SendSignaled, SGL: p.sge(0, r.n),
		RemoteVA: p.farVA + half + r.offset, RKey: p.farRKey ^ r.badKey, Imm: r.imm, CompareAdd: r.compare, Swap: r.swap,
	}})
	check(p.t, err)
}

// receive posts a receive request of n bytes at the second half.
func (p *peering) receive(kernel bool, id, n int, badKey uint32) {
	p.t.Helper()
	if kernel {
		p.ok("recv %d %d %d %d", id, half, n, badKey)
		return
	}
	sgl := p.sge(half, n)
	sgl[0].LKey ^= badKey
	must(p.dev.PostRecv(p.qp.QP, []verbs.RecvWR{{ID: uint64(id), SGL: sgl}}))
}

func (p *peering) done(kernel bool, n int) []finished {
	p.t.Helper()
	if kernel {
		return p.kernelDone(n)
	}
	return p.modelDone(n)
}

// fill writes the pattern of a seed into one end's memory.
func (p *peering) fill(kernel bool, off, n, seed int) {
	p.t.Helper()
	if kernel {
		p.ok("fill %d %d %d", off, n, seed)
		return
	}
	check(p.t, p.dev.Store(p.mr.Addr+uint64(off), pattern(n, seed)))
}

func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i/251 + seed)
	}
	return b
}

// holds checks that one end's memory has the pattern.
func (p *peering) holds(kernel bool, off, n, seed int) {
	p.t.Helper()
	want := pattern(n, seed)
	if kernel {
		h := uint64(0xcbf29ce484222325)
		for _, c := range want {
			h = (h ^ uint64(c)) * 0x100000001b3
		}
		if got := p.call("sum %d %d", off, n); got != fmt.Sprint(h) {
			p.t.Errorf("the kernel's %d bytes at %d differ: sum %s, want %d", n, off, got, h)
		}
		return
	}
	have := make([]byte, n)
	check(p.t, p.dev.Load(p.mr.Addr+uint64(off), have))
	if !bytes.Equal(have, want) {
		p.t.Errorf("the model's %d bytes at %d differ", n, off)
	}
}

func (p *peering) word(kernel bool, off int, set *uint64) uint64 {
	p.t.Helper()
	var v uint64
	switch {
	case kernel && set != nil:
		p.ok("store %d 8 %d", off, *set)
	case kernel:
		if _, err := fmt.Sscan(p.call("load %d 8", off), &v); err != nil {
			p.t.Fatal(err)
		}
	case set != nil:
		b := put64(*set)
		check(p.t, p.dev.Store(p.mr.Addr+uint64(off), b[:]))
	default:
		var b [8]byte
		check(p.t, p.dev.Load(p.mr.Addr+uint64(off), b[:]))
		for i, c := range b {
			v |= uint64(c) << (8 * i)
		}
	}
	return v
}

func endName(kernel bool) string {
	if kernel {
		return "kernel"
	}
	return "model"
}

// data moves n bytes with every operation that moves bytes, once each way.
func (p *peering) data(n, seed int) int {
	count := 0
	for _, from := range []bool{false, true} {
		for k, op := range []verbs.WROpcode{verbs.WRSend, verbs.WRSendWithImm, verbs.WRRDMAWrite, verbs.WRRDMAWriteWithImm, verbs.WRRDMARead} {
			tag := seed + k*3 + 1
			imm := uint32(0x12345600 + k)
			target := !from
			receives := op != verbs.WRRDMAWrite && op != verbs.WRRDMARead
			if receives {
				p.receive(target, 100+k, n, 0)
			}
			if op == verbs.WRRDMARead {
				p.fill(target, half, n, tag)
				p.fill(from, 0, n, tag+100)
			} else {
				p.fill(from, 0, n, tag)
				p.fill(target, half, n, tag+100)
			}
			p.post(from, 1+k, request{op: op, n: n, imm: imm})
			got := p.done(from, 1)
			if len(got) != 1 || got[0].id != uint64(1+k) || got[0].status != verbs.WCSuccess {
				p.t.Fatalf("%v of %d bytes from the %s: %+v", op, n, endName(from), got)
			}
			if receives {
				got = p.done(target, 1)
				withImm := op != verbs.WRSend
				if len(got) != 1 || got[0].id != uint64(100+k) || got[0].status != verbs.WCSuccess || int(got[0].n) != n || withImm && got[0].imm != imm {
					p.t.Fatalf("%v of %d bytes to the %s: %+v", op, n, endName(target), got)
				}
			}
			if op == verbs.WRRDMARead {
				p.holds(from, 0, n, tag)
			} else {
				p.holds(target, half, n, tag)
			}
			count++
		}
	}
	return count
}

// atomics does both atomics once each way.
func (p *peering) atomics() int {
	for _, from := range []bool{false, true} {
		v := uint64(1)<<40 + 5
		p.word(!from, half, &v)
		p.post(from, 11, request{op: verbs.WRAtomicFetchAdd, n: 8, compare: 7})
		p.post(from, 12, request{op: verbs.WRAtomicCmpAndSwp, n: 8, compare: v + 7, swap: 1 << 50})
		got := p.done(from, 2)
		if len(got) != 2 || got[0].id != 11 || got[1].id != 12 || got[0].status != verbs.WCSuccess || got[1].status != verbs.WCSuccess {
			p.t.Fatalf("atomics from the %s: %+v", endName(from), got)
		}
		if now := p.word(!from, half, nil); now != 1<<50 {
			p.t.Errorf("atomics from the %s left %d", endName(from), now)
		}
		if before := p.word(from, 0, nil); before != v+7 {
			p.t.Errorf("the second atomic from the %s returned %d, want %d", endName(from), before, v+7)
		}
	}
	return 4
}

// lose makes the wire drop one packet in a hundred, in either direction.
func (g *guest) lose(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for _, way := range [][2]string{{"m", "k"}, {"k", "m"}} {
		for i, skip := 0, 0; i < 250; i++ {
			skip += r.IntN(199)
			check(g.t, g.bench.Inject(verbs.Fault{Kind: verbs.FaultDrop, From: way[0], To: way[1], Match: "any", Count: 1, Skip: skip}))
		}
	}
}

// TestLiveKernelPeer is the model against a real kernel.
func TestLiveKernelPeer(t *testing.T) {
	for _, profile := range ProfileNames() {
		t.Run(profile, func(t *testing.T) {
			g := bootGuest(t, profile)
			count := 0
			defer func() { t.Logf("%d operations and faults against the kernel, %d packets dropped", count, g.dropped()) }()
			if !strings.Contains(g.call("echo %s", strings.Repeat("x", 8000)), strings.Repeat("x", 8000)) {
				t.Error("a datagram of 8000 bytes did not come back")
			}
			p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 6, psn: 0xfffff0, timeout: 17})
			for i, n := range []int{1, 3, 1024, 1025, 5000, 65536, 1 << 20} {
				count += p.data(n, i)
			}
			count += p.atomics()
			p = g.connect(peerOptions{mtu: verbs.MTU4096, rnr: 6, psn: 7, timeout: 17, v6: true})
			count += p.data(4097, 40) + p.atomics()
			count += g.provoke()
			g.bench.faults = nil
			g.lose(1)
			p = g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 6, psn: 0x100, timeout: 17})
			for i, n := range []int{1, 5000, 65536, 1 << 20} {
				count += p.data(n, 50+i) + p.atomics()
			}
		})
	}
}

// provoke has each end refuse what it must refuse.
func (g *guest) provoke() int {
	cases := []struct {
		name     string
		recv     int    // bytes of the receive request that is posted, -1 for none
		badRecv  uint32 // flips bits of its lkey
		req      request
		model    verbs.WCStatus // what the kernel's requester gets from the model
		kernel   verbs.WCStatus // what the model's requester gets from the kernel
		syndrome uint8          // of the NAK, with the spec profile
	}{
		// IBTA 9.9.6: a bad rkey is a remote access error, NAK code 2 (0x62).
		{"bad rkey", -1, 0, request{op: verbs.WRRDMAWrite, n: 100, badKey: 0x5500}, verbs.WCRemAccessErr, verbs.WCRemAccessErr, 0x62},
		{"READ outside the region", -1, 0, request{op: verbs.WRRDMARead, n: 100, offset: half}, verbs.WCRemAccessErr, verbs.WCRemAccessErr, 0x62},
		// A SEND longer than the receive buffer is an invalid request, 0x61;
		// rxe answers 0x63 (rxe_resp.c send_data_in).
		{"SEND too long", 10, 0, request{op: verbs.WRSend, n: 100}, verbs.WCRemInvReqErr, verbs.WCRemOpErr, 0x61},
		// A receive request that the responder cannot use is its own fault, 0x63.
		{"bad lkey of a receive", 200, 0x5500, request{op: verbs.WRSend, n: 100}, verbs.WCRemOpErr, verbs.WCRemOpErr, 0x63},
		// RNR NAKs until rnr_retry (1) is used up.
		{"no receive", -1, 0, request{op: verbs.WRSend, n: 100}, verbs.WCRNRRetryExcErr, verbs.WCRNRRetryExcErr, 0x2c},
		// An atomic that is not aligned is an invalid request, 0x61 (rxe_resp.c, MISALIGNED_ATOMIC). The
		// kernel's own library refuses to post one.
		{"misaligned atomic", -1, 0, request{op: verbs.WRAtomicFetchAdd, n: 8, offset: 4}, 0, verbs.WCRemInvReqErr, 0x61},
	}
	count := 0
	for _, c := range cases {
		for _, from := range []bool{false, true} {
			want := c.kernel
			if from {
				want = c.model
			}
			if c.req.op == verbs.WRAtomicFetchAdd && (from || g.bench.prof.AtomicCheckedAtPost) {
				continue
			}
			if from && c.req.op == verbs.WRSend && c.recv == 10 && g.bench.prof.RecvTooSmallIsOpErr {
				want = verbs.WCRemOpErr
			}
			p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 1, psn: 0x200, timeout: 17})
			if c.recv >= 0 {
				p.receive(!from, 100, c.recv, c.badRecv)
			}
			mark := g.bench.trace.count
			p.post(from, 1, c.req)
			got := p.done(from, 1)
			if len(got) != 1 || got[0].id != 1 || got[0].status != want {
				g.t.Errorf("%s from the %s: %+v, want %v", c.name, endName(from), got, want)
			}
			seen := g.syndromes(mark)
			if g.bench.prof.Name == "spec" && from && !slices.Contains(seen, c.syndrome) {
				g.t.Errorf("%s from the %s: answers %#x, want %#x", c.name, endName(from), seen, c.syndrome)
			}
			g.t.Logf("%s from the %s: %v, answers %#x", c.name, endName(from), got[0].status, seen)
			count++
		}
	}
	// A lost packet in the middle draws a NAK sequence, 0x60, and is repeated.
	for _, from := range []bool{false, true} {
		p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 6, psn: 0x300, timeout: 18})
		way := [2]string{"m", "k"}
		if from {
			way = [2]string{"k", "m"}
		}
		check(g.t, g.bench.Inject(verbs.Fault{Kind: verbs.FaultDrop, From: way[0], To: way[1], Match: "RDMA_WRITE_MIDDLE", Count: 1}))
		mark := g.bench.trace.count
		p.fill(from, 0, 5000, 77)
		p.post(from, 1, request{op: verbs.WRRDMAWrite, n: 5000})
		got := p.done(from, 1)
		if len(got) != 1 || got[0].status != verbs.WCSuccess || !slices.Contains(g.syndromes(mark), 0x60) {
			g.t.Errorf("a lost packet from the %s: %+v, answers %#x", endName(from), got, g.syndromes(mark))
		}
		p.holds(!from, half, 5000, 77)
		// A receive that comes late: RNR NAK, then success.
		mark = g.bench.trace.count
		p.post(from, 2, request{op: verbs.WRSend, n: 10})
		p.wait(2*time.Second, func() bool { return len(g.syndromes(mark)) > 0 })
		p.receive(!from, 100, 10, 0)
		got = append(p.done(from, 1), p.done(!from, 1)...)
		if len(got) != 2 || got[0].status != verbs.WCSuccess || got[1].status != verbs.WCSuccess || !slices.Contains(g.syndromes(mark), 0x2c) {
			g.t.Errorf("a late receive for the %s: %+v, answers %#x", endName(from), got, g.syndromes(mark))
		}
		count += 2
	}
	return count
}

// syndromes are those of the acknowledgements on the wire since an event.
func (g *guest) syndromes(mark int) []uint8 {
	var out []uint8
	for _, e := range g.bench.Trace()[mark:] {
		if e.Kind == verbs.TracePacket && e.Packet.Opcode == "ACKNOWLEDGE" && e.Packet.Syndrome > 0x1f {
			out = append(out, e.Packet.Syndrome)
		}
	}
	return out
}

func (g *guest) dropped() int {
	n := 0
	for _, e := range g.bench.Trace() {
		if e.Kind == verbs.TraceDrop && strings.Contains(e.Why, "fault line") {
			n++
		}
	}
	return n
}

func (g *guest) wait(limit time.Duration, ready func() bool) {
	g.t.Helper()
	_, err := g.bench.Wait(context.Background(), limit, func() (bool, error) { return ready(), nil })
	check(g.t, err)
}
