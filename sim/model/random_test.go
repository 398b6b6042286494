package model

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rdmaprep/sim/verbs"
)

// Places in the memory of both sides of a random program.
const (
	srcArea  = 0     // a: what is sent and written, never changed
	landArea = 8192  // a: where READs and atomics land, one slot a request
	dstArea  = 0     // z: target of WRITEs, source of READs
	wordArea = 8192  // z: target of atomics
	recvArea = 12288 // z: receive buffers
	areaSize = 8192
	slotSize = 2048
	memSize  = 128 << 10
)

// program is a random valid program and what it must lead to.
type program struct {
	wrs   []verbs.SendWR
	recvs int
	reads bool
	want  struct{ a, z []byte }
	// stale are the places of atomics that a repeated request's acknowledgement
	// may complete without their result, where the profile says so.
	stale []int
}

func drawProgram(t *rapid.T, b *Bench, a, z *side, src []byte) *program {
	p := &program{}
	p.want.a, p.want.z = make([]byte, memSize), make([]byte, memSize)
	copy(p.want.a, src)
	n := rapid.IntRange(1, 24).Draw(t, "requests")
	for i := range n {
		op := rapid.SampledFrom([]verbs.WROpcode{
			verbs.WRSend, verbs.WRSendWithImm, verbs.WRRDMAWrite, verbs.WRRDMAWriteWithImm,
			verbs.WRRDMARead, verbs.WRAtomicFetchAdd, verbs.WRAtomicCmpAndSwp,
		}).Draw(t, "opcode")
		length := rapid.IntRange(0, slotSize).Draw(t, "length")
		from := rapid.IntRange(0, areaSize-slotSize).Draw(t, "from")
		to := rapid.IntRange(0, areaSize-slotSize).Draw(t, "to")
		wr := verbs.SendWR{
			ID: uint64(i), Opcode: op, SGL: a.sge(srcArea+from, length), RKey: z.mr.RKey,
			RemoteVA: z.mr.Addr + dstArea + uint64(to), Imm: uint32(i),
		}
		if rapid.Bool().Draw(t, "signaled") {
			wr.Flags |= verbs.SendSignaled
		}
		if rapid.IntRange(0, 3).Draw(t, "fence") == 0 {
			wr.Flags |= verbs.SendFence
		}
		// A READ that is repeated is executed again and sees later WRITEs, and
		// under a seed everything without a fence may pass it.
		if p.reads && (b.mayReorder() || op == verbs.WRRDMAWrite || op == verbs.WRRDMAWriteWithImm) {
			wr.Flags |= verbs.SendFence
		}
		p.reads = p.reads || op == verbs.WRRDMARead
		if length > 1 && rapid.Bool().Draw(t, "two SGEs") {
			cut := rapid.IntRange(0, length).Draw(t, "cut")
			wr.SGL = append(a.sge(srcArea+from, cut), a.sge(srcArea+from+cut, length-cut)...)
		}
		p.apply(&wr, i, a, z, from, to, length, t)
		p.wrs = append(p.wrs, wr)
	}
	return p
}

// apply carries a request out on the reference memory, as program order has it.
func (p *program) apply(wr *verbs.SendWR, i int, a, z *side, from, to, length int, t *rapid.T) {
	land := landArea + i*slotSize
	data := p.want.a[srcArea+from : srcArea+from+length]
	switch wr.Opcode {
	case verbs.WRSend, verbs.WRSendWithImm:
		copy(p.want.z[recvArea+p.recvs*slotSize:], data)
		p.recvs++
	case verbs.WRRDMAWrite:
		copy(p.want.z[dstArea+to:], data)
	case verbs.WRRDMAWriteWithImm:
		copy(p.want.z[dstArea+to:], data)
		p.recvs++
	case verbs.WRRDMARead:
		wr.SGL = a.sge(land, length)
		copy(p.want.a[land:land+length], p.want.z[dstArea+to:])
	default:
		at := wordArea + 8*rapid.IntRange(0, 3).Draw(t, "word")
		wr.SGL = a.sge(land, 8)
		wr.RemoteVA = z.mr.Addr + uint64(at)
		wr.CompareAdd = uint64(rapid.IntRange(0, 2).Draw(t, "operand"))
		wr.Swap = 7
		word := p.want.z[at : at+8]
		old := binary.LittleEndian.Uint64(word)
		p.stale = append(p.stale, land)
		binary.LittleEndian.PutUint64(p.want.a[land:], old)
		if wr.Opcode == verbs.WRAtomicFetchAdd {
			binary.LittleEndian.PutUint64(word, old+wr.CompareAdd)
		} else if old == wr.CompareAdd {
			binary.LittleEndian.PutUint64(word, wr.Swap)
		}
	}
}

// TestReliableStream: whatever few packets are lost or late, a valid program
// on RC leaves the bytes that doing one request after the other leaves, every
// signaled request completes once and in order, every receive once and in order.
// But on rxe an atomic may complete without its result (AckCompletesReads).
func TestReliableStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawPair(t)
		o.seed = uint64(rapid.IntRange(0, 20).Draw(t, "seed"))
		b, a, z := pairRapid(t, o)
		src := make([]byte, areaSize)
		for i := range src {
			src[i] = byte(i*31 + i>>8)
		}
		fatal(t, a.dev.Store(a.mr.Addr, src))
		p := drawProgram(t, b, a, z, src)
		faults := rapid.IntRange(0, 5).Draw(t, "faults")
		for range faults {
			fatal(t, b.Inject(drawFault(t)))
		}
		if faults == 0 || !b.prof.AckCompletesReads {
			p.stale = nil
		}
		for i := range p.recvs {
			_, err := z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: uint64(1000 + i), SGL: z.sge(recvArea+i*slotSize, slotSize)}})
			fatal(t, err)
		}
		_, err := a.dev.PostSend(a.qp.QP, p.wrs)
		fatal(t, err)
		if _, err := b.Wait(context.Background(), time.Hour, nil); err != nil {
			t.Fatal(err)
		}
		checkStream(t, p, a, z)
	})
}

func checkStream(t *rapid.T, p *program, a, z *side) {
	got := pollAll(t, a)
	for _, wr := range p.wrs {
		if wr.Flags&verbs.SendSignaled == 0 {
			continue
		}
		if len(got) == 0 {
			t.Fatalf("request %d did not complete", wr.ID)
		}
		if got[0].ID != wr.ID || got[0].Status != verbs.WCSuccess {
			t.Fatalf("request %d: the next completion is %+v", wr.ID, got[0])
		}
		got = got[1:]
	}
	if len(got) > 0 {
		t.Fatalf("completions too many: %+v", got)
	}
	recvd := pollAll(t, z)
	if len(recvd) != p.recvs {
		t.Fatalf("%d receives completed, want %d: %+v", len(recvd), p.recvs, recvd)
	}
	for i, wc := range recvd {
		if wc.ID != uint64(1000+i) || wc.Status != verbs.WCSuccess {
			t.Fatalf("receive %d is %+v", i, wc)
		}
	}
	for _, m := range []struct {
		s    *side
		want []byte
	}{{a, p.want.a}, {z, p.want.z}} {
		have := make([]byte, memSize)
		fatal(t, m.s.dev.Load(m.s.mr.Addr, have))
		for _, at := range p.stale {
			if m.s == a && bytes.Equal(have[at:at+8], make([]byte, 8)) {
				clear(m.want[at : at+8])
			}
		}
		if !bytes.Equal(have, m.want) {
			for i := range have {
				if have[i] != m.want[i] {
					t.Fatalf("%s: byte %d is %#x, the reference has %#x", m.s.dev.Name(), i, have[i], m.want[i])
				}
			}
		}
	}
}

func drawPair(t *rapid.T) pairOptions {
	o := defaults()
	o.profile = rapid.SampledFrom(ProfileNames()).Draw(t, "profile")
	o.mtu = rapid.SampledFrom([]verbs.MTU{verbs.MTU256, verbs.MTU512, verbs.MTU1024}).Draw(t, "mtu")
	o.psn = rapid.SampledFrom([]uint32{0, 0x100, psnMask - 3, psnMask / 2}).Draw(t, "psn")
	o.rd = uint8(rapid.IntRange(1, 4).Draw(t, "rd_atomic"))
	o.retry, o.rnr, o.timeout = 6, 6, 8
	o.mr, o.cqe, o.wr = memSize, 128, 32
	return o
}

func drawFault(t *rapid.T) verbs.Fault {
	f := verbs.Fault{
		Kind: rapid.SampledFrom([]verbs.FaultKind{
			verbs.FaultDrop, verbs.FaultDelay, verbs.FaultDuplicate, verbs.FaultReorder, verbs.FaultCorrupt,
		}).Draw(t, "fault"),
		Match: rapid.SampledFrom([]string{"any", "request", "response", "ack", "nak", "read_resp", "ATOMIC_ACKNOWLEDGE"}).Draw(t, "match"),
		Count: 1, Skip: rapid.IntRange(0, 20).Draw(t, "skip"),
	}
	f.Behind = rapid.IntRange(1, 5).Draw(t, "behind")
	if f.Kind == verbs.FaultDelay || f.Kind == verbs.FaultDuplicate {
		f.Delay = time.Duration(rapid.IntRange(1, 3000).Draw(t, "us")) * time.Microsecond
	}
	return f
}

func fatal(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// pairRapid is pair with the invariants looked at after every step.
func pairRapid(t *rapid.T, o pairOptions) (*Bench, *side, *side) {
	b, a, z := pair(t, o)
	b.Watch(func(err error) { t.Fatal(err) })
	return b, a, z
}

func pollAll(t *rapid.T, x *side) []verbs.WC {
	wc := make([]verbs.WC, 512)
	n, err := x.dev.PollCQ(x.cq, wc)
	fatal(t, err)
	return wc[:n]
}

// TestMisuse: programs with wrong keys, ranges, opcodes and states. Every
// request completes at most once and in its order, an error completes though
// unsignaled, after ERR exactly once, no byte outside what the rights give
// changes, and equal seeds give equal traces.
func TestMisuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawPair(t)
		o.typ = rapid.SampledFrom([]verbs.QPType{verbs.RC, verbs.RC, verbs.UC}).Draw(t, "type")
		o.seed = uint64(rapid.IntRange(0, 50).Draw(t, "seed"))
		o.retry, o.rnr = 2, 1
		o.trace = true
		plan := drawMisuse(t)
		first := plan.run(t, o)
		second := plan.run(t, o)
		if first != second {
			t.Fatal("equal seeds gave different traces")
		}
	})
}

type misuse struct {
	wrs    []verbs.SendWR
	signal []bool
	rights verbs.AccessFlags
	badKey []bool
	recvs  int
	faults []verbs.Fault
}

func drawMisuse(t *rapid.T) *misuse {
	m := &misuse{recvs: rapid.IntRange(0, 8).Draw(t, "receives")}
	m.rights = verbs.AccessFlags(rapid.IntRange(0, 7).Draw(t, "rights")) << 1
	for i := range rapid.IntRange(1, 16).Draw(t, "requests") {
		wr := verbs.SendWR{
			ID:       uint64(i),
			Opcode:   verbs.WROpcode(rapid.IntRange(0, 9).Draw(t, "opcode")),
			RemoteVA: rapid.SampledFrom([]uint64{0, 8, 4000, 4096, ^uint64(0) - 3}).Draw(t, "va"),
			SGL:      []verbs.SGE{{Length: uint32(rapid.SampledFrom([]int{0, 8, 100, 3000, 9000}).Draw(t, "length"))}},
			MW:       1,
		}
		wr.SGL[0].Addr = rapid.SampledFrom([]uint64{0, 4, 8000, ^uint64(0) - 10}).Draw(t, "addr")
		m.signal = append(m.signal, rapid.Bool().Draw(t, "signaled"))
		m.badKey = append(m.badKey, rapid.IntRange(0, 7).Draw(t, "bad key") == 0)
		m.wrs = append(m.wrs, wr)
	}
	for range rapid.IntRange(0, 3).Draw(t, "faults") {
		m.faults = append(m.faults, drawFault(t))
	}
	for range rapid.IntRange(0, 2).Draw(t, "lies") {
		m.faults = append(m.faults, drawForgery(t))
	}
	return m
}

// drawForgery lies about anything but keys and addresses, which would give rights
// that the program has not.
func drawForgery(t *rapid.T) verbs.Fault {
	f := verbs.Fault{Kind: verbs.FaultForge, Match: "any", Count: rapid.IntRange(0, 2).Draw(t, "count"), Skip: rapid.IntRange(0, 8).Draw(t, "skip")}
	f.Forge = []verbs.Forgery{rapid.SampledFrom([]verbs.Forgery{
		{Field: verbs.FieldSyndrome, Value: rapid.Uint64Range(0, 255).Draw(t, "syndrome")},
		{Field: verbs.FieldMSN, Value: rapid.Uint64Range(0, 64).Draw(t, "msn")},
		{Field: verbs.FieldPSN, Value: rapid.Uint64Range(0, 32).Draw(t, "psn")},
		{Field: verbs.FieldPKey, Value: 0x8001},
		{Field: verbs.FieldDestQP, Value: rapid.Uint64Range(0, 20).Draw(t, "qp")},
		{Field: verbs.FieldAckReq, Value: rapid.Uint64Range(0, 1).Draw(t, "ackreq")},
		{Field: verbs.FieldSolicited, Value: 1},
		{Field: verbs.FieldOpcode, Value: rapid.Uint64Range(0, opFetchAdd).Draw(t, "operation")},
	}).Draw(t, "field")}
	return f
}

// run carries the plan out and returns its trace.
func (m *misuse) run(t *rapid.T, o pairOptions) string {
	b, a, z := pairRapid(t, o)
	guard, err := z.dev.Alloc(memSize)
	fatal(t, err)
	target, err := z.dev.Alloc(4096)
	fatal(t, err)
	access := m.rights
	if access&(verbs.AccessRemoteWrite|verbs.AccessRemoteAtomic) != 0 {
		access |= verbs.AccessLocalWrite
	}
	mr, err := z.dev.RegMR(z.pd, target, 4096, access)
	fatal(t, err)
	fatal(t, a.dev.Store(a.mr.Addr, bytes.Repeat([]byte{0xee}, memSize)))
	for _, f := range m.faults {
		fatal(t, b.Inject(f))
	}
	for i := range m.recvs {
		_, err := z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: uint64(i), SGL: z.sge(i*512, 512)}})
		fatal(t, err)
	}
	posted := m.post(t, a, mr)
	_, err = b.Wait(context.Background(), time.Hour, nil)
	fatal(t, err)
	for _, x := range []*side{a, z} {
		fatal(t, x.dev.ModifyQP(x.qp.QP, verbs.QPAttr{State: verbs.ERR}, verbs.MaskState))
	}
	m.checkCompletions(t, posted, pollAll(t, a))
	if n := len(pollAll(t, z)); n != m.recvs {
		t.Fatalf("%d of %d receives completed after ERR", n, m.recvs)
	}
	for _, r := range []struct {
		addr   uint64
		n      int
		frozen bool
	}{
		{guard, memSize, true},
		{target, 4096, m.rights&(verbs.AccessRemoteWrite|verbs.AccessRemoteAtomic) == 0},
	} {
		mem := make([]byte, r.n)
		fatal(t, z.dev.Load(r.addr, mem))
		if r.frozen && !bytes.Equal(mem, make([]byte, r.n)) {
			t.Fatalf("bytes changed at %#x without the right", r.addr)
		}
	}
	return traceText(b)
}

func (m *misuse) post(t *rapid.T, a *side, mr verbs.MRInfo) (posted []int) {
	for i := range m.wrs {
		wr := m.wrs[i]
		wr.RemoteVA += mr.Addr
		wr.RKey, wr.InvRKey = mr.RKey, mr.RKey
		sge := wr.SGL[0]
		sge.Addr += a.mr.Addr
		sge.LKey = a.mr.LKey
		if m.badKey[i] {
			sge.LKey, wr.RKey = 0xdead00, 0xbeef00
		}
		wr.SGL = []verbs.SGE{sge}
		if m.signal[i] {
			wr.Flags |= verbs.SendSignaled
		}
		if _, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{wr}); err == nil {
			posted = append(posted, i)
		}
	}
	return posted
}

// checkCompletions: in order, none twice, none of the signaled ones missing,
// and only the last part of them in error.
func (m *misuse) checkCompletions(t *rapid.T, posted []int, got []verbs.WC) {
	failing := false
	for _, i := range posted {
		if len(got) > 0 && got[0].ID == uint64(i) {
			if failing && got[0].Status == verbs.WCSuccess {
				t.Fatalf("request %d succeeded after an error", i)
			}
			failing = failing || got[0].Status != verbs.WCSuccess
			got = got[1:]
			continue
		}
		if m.signal[i] || failing {
			t.Fatalf("request %d did not complete in its turn; next is %+v", i, got)
		}
	}
	if len(got) > 0 {
		t.Fatalf("completions too many or out of order: %+v", got)
	}
}

func traceText(b *Bench) string {
	var s bytes.Buffer
	for _, e := range b.Trace() {
		fmt.Fprintf(&s, "%d %d %s %d %s %s %d %d %x %+v %s %s %+v %+v %s\n", e.Seq, e.Cause, e.At, e.Kind, e.Node, e.Peer,
			e.QPNum, e.WRID, e.Frame, e.Packet, e.From, e.To, e.WC, e.Async, e.Why)
	}
	return s.String()
}
