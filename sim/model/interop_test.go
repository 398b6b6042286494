package model

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
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
	udQKey   = 0x11111111 // the agent's too

	allRemote = verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic

	// 268 ms. An emulated guest on a busy host stands still for longer than all
	// seven tries at 14 (67 ms) take.
	patience = 16
)

// peering is a queue pair of the model connected to one of the kernel.
type peering struct {
	*guest
	side
	peerOptions
	ah      verbs.AH
	farQPN  uint32
	farVA   uint64
	farRKey uint32
	failed  bool // a request ended in error that the packets explain
}

type peerOptions struct {
	typ     verbs.QPType // 0 is RC
	mtu     verbs.MTU
	rnr     uint8
	psn     uint32
	timeout uint8             // 0 is patience
	denied  verbs.AccessFlags // what both queue pairs do not permit
	v6      bool
}

const readsAtOnce = 4 // max_rd_atomic and max_dest_rd_atomic of both ends

func (g *guest) connect(o peerOptions) *peering {
	g.t.Helper()
	g.leave()
	if o.typ == 0 {
		o.typ = verbs.RC
	}
	if o.timeout == 0 {
		o.timeout = patience
	}
	p := &peering{guest: g, peerOptions: o}
	g.last = p
	d := g.device
	p.dev, p.pd, p.mr = d, g.domain, g.region
	p.cq = must(d.CreateCQ(4096, 0)).CQ
	p.qp = must(d.CreateQP(p.pd, verbs.QPInitAttr{
		Type: o.typ, SendCQ: p.cq, RecvCQ: p.cq,
		Cap: verbs.QPCap{MaxSendWR: 256, MaxRecvWR: 256, MaxSendSGE: 1, MaxRecvSGE: 1},
	}))
	if _, err := fmt.Sscan(g.call("create %d", o.typ), &p.farQPN, &p.farVA, &p.farRKey); err != nil {
		g.t.Fatalf("create: %v", err)
	}
	av, own := verbs.AHAttr{DGID: netip.MustParseAddr(kernelIP).As16(), SGIDIndex: 1, Port: 1}, modelIP
	if o.v6 {
		av.DGID, av.SGIDIndex, own = g.linkLocal.As16(), 0, netip.AddrFrom16(must(d.QueryGID(1, 0))).String()
	}
	p.modify(av)
	if o.typ == verbs.UD {
		p.ah = must(d.CreateAH(p.pd, av))
	}
	g.ok("connect %d %d %d %d %d %d 6 %d 12 %d %s", p.qp.Num, o.psn, o.psn, o.mtu, readsAtOnce, o.timeout, o.rnr, allRemote&^o.denied, own)
	return p
}

// modify takes the model's queue pair to RTS.
func (p *peering) modify(av verbs.AHAttr) {
	p.t.Helper()
	base := verbs.MaskState | verbs.MaskPKeyIndex | verbs.MaskPort | verbs.MaskAccessFlags
	rtr := verbs.MaskState | verbs.MaskAV | verbs.MaskPathMTU | verbs.MaskDestQPN | verbs.MaskRQPSN
	rts := verbs.MaskState | verbs.MaskSQPSN
	switch p.typ {
	case verbs.UD:
		base, rtr = base&^verbs.MaskAccessFlags|verbs.MaskQKey, verbs.MaskState
	case verbs.RC:
		rtr |= verbs.MaskMaxDestRDAtomic | verbs.MaskMinRNRTimer
		rts |= verbs.MaskTimeout | verbs.MaskRetryCnt | verbs.MaskRNRRetry | verbs.MaskMaxQPRDAtomic
	}
	d := p.dev
	check(p.t, d.ModifyQP(p.qp.QP, verbs.QPAttr{State: verbs.INIT, Port: 1, QKey: udQKey, Access: allRemote &^ p.denied}, base))
	check(p.t, d.ModifyQP(p.qp.QP, verbs.QPAttr{
		State: verbs.RTR, AV: av, PathMTU: p.mtu, DestQPN: p.farQPN, RQPSN: p.psn, MaxDestRDAtomic: readsAtOnce, MinRNRTimer: 12,
	}, rtr))
	check(p.t, d.ModifyQP(p.qp.QP, verbs.QPAttr{
		State: verbs.RTS, Timeout: p.timeout, RetryCnt: 6, RNRRetry: p.rnr, SQPSN: p.psn, MaxRDAtomic: readsAtOnce,
	}, rts))
}

// leave ends the peering that is in use: nothing more may have completed on
// either end when the wire is quiet. The kernel's queue pair goes at the next create.
func (g *guest) leave() {
	g.t.Helper()
	if p := g.last; p != nil {
		if ok, err := g.bench.Wait(context.Background(), 20*time.Second, nil); !ok || err != nil {
			g.t.Fatalf("the wire does not become quiet: %v", err)
		}
		if !p.failed { // else the other end may have the whole message, or wait for more of it
			p.nothingMore()
		}
		check(g.t, p.dev.DestroyQP(p.qp.QP))
		check(g.t, p.dev.DestroyCQ(p.cq))
		g.last = nil
	}
}

// finished is a completion, of either end.
type finished struct {
	id     uint64
	status verbs.WCStatus
	op     verbs.WCOpcode
	n, imm uint32
	flags  verbs.WCFlags
	srcQP  uint32
}

// polled is what the kernel's queue shows; it is given a tenth of a second to
// show n completions.
func (p *peering) polled(n int) []finished {
	p.t.Helper()
	var got []finished
	for _, one := range strings.Split(p.call("poll %d", n), ";") {
		var d finished
		var status, op, flags uint
		if k, _ := fmt.Sscan(one, &d.id, &status, &op, &d.n, &d.imm, &flags, &d.srcQP); k == 7 {
			d.status, d.op, d.flags = verbs.WCStatus(status), verbs.WCOpcode(op), verbs.WCFlags(flags)
			got = append(got, d)
		}
	}
	return got
}

func (p *peering) modelPolled() []finished {
	p.t.Helper()
	var got []finished
	for _, wc := range p.poll(p.t) {
		got = append(got, finished{wc.ID, wc.Status, wc.Opcode, wc.ByteLen, wc.Imm, wc.Flags, wc.SrcQP})
	}
	return got
}

// done waits for n completions of one end, and wants no more than those.
func (p *peering) done(kernel bool, n int) []finished {
	p.t.Helper()
	var got []finished
	for range 400 {
		if len(got) >= n {
			break
		}
		if kernel {
			got = append(got, p.polled(n-len(got))...)
			continue
		}
		p.wait(100*time.Millisecond, func() bool {
			got = append(got, p.modelPolled()...)
			return len(got) >= n
		})
	}
	if len(got) != n {
		p.t.Fatalf("the %s completed %d requests, want %d: %+v", endName(kernel), len(got), n, got)
	}
	return got
}

// nothingMore wants no completion on either end.
func (p *peering) nothingMore() {
	p.t.Helper()
	if got := p.modelPolled(); len(got) > 0 {
		p.t.Errorf("the model completed more than was posted: %+v", got)
	}
	if got := p.polled(0); len(got) > 0 {
		p.t.Errorf("the kernel completed more than was posted: %+v", got)
	}
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

// post posts a request: from the first half of one memory to the second of the
// other. It returns the request's ID.
func (p *peering) post(kernel bool, r request) uint64 {
	p.t.Helper()
	p.requests++
	id := p.requests
	if kernel {
		p.ok("%s", p.order(id, r))
		return id
	}
	_, err := p.dev.PostSend(p.qp.QP, []verbs.SendWR{p.work(id, r)})
	check(p.t, err)
	return id
}

// order is a request as the agent has it, work as the model has it.
func (p *peering) order(id uint64, r request) string {
	return fmt.Sprintf("send %d %d 0 %d %d %d %d %d %d", id, r.op, r.n, p.mr.Addr+half+r.offset, p.mr.RKey^r.badKey, r.imm, r.compare, r.swap)
}

func (p *peering) work(id uint64, r request) verbs.SendWR {
	return verbs.SendWR{
		ID: id, Opcode: r.op, Flags: verbs.SendSignaled, SGL: p.sge(0, r.n),
		RemoteVA: p.farVA + half + r.offset, RKey: p.farRKey ^ r.badKey, Imm: r.imm, CompareAdd: r.compare, Swap: r.swap,
		AH: p.ah, RemoteQPN: p.farQPN, RemoteQKey: udQKey,
	}
}

// receive posts a receive request of n bytes at the second half.
func (p *peering) receive(kernel bool, n int, badKey uint32) uint64 {
	p.t.Helper()
	p.requests++
	id := p.requests
	if kernel {
		p.ok("recv %d %d %d %d", id, half, n, badKey)
		return id
	}
	sgl := p.sge(half, n)
	sgl[0].LKey ^= badKey
	must(p.dev.PostRecv(p.qp.QP, []verbs.RecvWR{{ID: id, SGL: sgl}}))
	return id
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

// has tells whether one end's memory has the pattern.
func (p *peering) has(kernel bool, off, n, seed int) bool {
	p.t.Helper()
	want := pattern(n, seed)
	if !kernel {
		return bytes.Equal(p.memory(off, n), want)
	}
	h := uint64(0xcbf29ce484222325)
	for _, c := range want {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return p.call("sum %d %d", off, n) == fmt.Sprint(h)
}

func (p *peering) holds(kernel bool, off, n, seed int) {
	p.t.Helper()
	if !p.has(kernel, off, n, seed) {
		p.t.Errorf("the %s's %d bytes at %d differ", endName(kernel), n, off)
	}
}

// memory is a piece of the model's memory, show one of either.
func (p *peering) memory(off, n int) []byte {
	p.t.Helper()
	b := make([]byte, n)
	check(p.t, p.dev.Load(p.mr.Addr+uint64(off), b))
	return b
}

func (p *peering) show(kernel bool, off, n int) []byte {
	p.t.Helper()
	if !kernel {
		return p.memory(off, n)
	}
	return must(hex.DecodeString(p.call("show %d %d", off, n)))
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
		for i, c := range p.memory(off, 8) {
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

func (g *guest) wait(limit time.Duration, ready func() bool) {
	g.t.Helper()
	_, err := g.bench.Wait(context.Background(), limit, func() (bool, error) { return ready(), nil })
	check(g.t, err)
}

// TestLiveKernelPeer is the model against a real kernel, with each profile, and
// then the model that lies to it.
func TestLiveKernelPeer(t *testing.T) {
	g := bootGuest(t)
	for _, profile := range ProfileNames() {
		t.Run(profile, func(t *testing.T) {
			started := time.Now()
			g.enter(t, profile)
			if !strings.Contains(g.call("echo %s", strings.Repeat("x", 8000)), strings.Repeat("x", 8000)) {
				t.Error("a datagram of 8000 bytes did not come back")
			}
			count := g.everything() + g.datagrams() + g.provoke()
			count += g.lossy()
			g.leave()
			all := g.tally(0)
			t.Logf("%d operations and faults against the kernel, %d packets from the model and %d from the kernel, %s",
				count, all["m"].packets, all["k"].packets, time.Since(started).Round(100*time.Millisecond))
		})
	}
	lies := map[string]func(*guest){"forged answers": (*guest).forgedAnswers, "ACK of an atomic": (*guest).ackOfAtomic}
	for name, tell := range lies {
		t.Run(name, func(t *testing.T) {
			g.enter(t, "rxe-6.1") // the lies are told to the kernel: the profile is the model's own
			tell(g)
			g.leave()
		})
	}
}
