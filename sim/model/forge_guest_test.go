package model

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

// forgedAnswer is a lie that a requester is told.
type forgedAnswer struct {
	name string
	op   verbs.WROpcode
	kind string // which answer
	set  []verbs.Forgery
	want []verbs.WCStatus // of rxe: of the request, and of the receive request that flushes in ERR
	sent int              // packets of the requester
}

func set(f verbs.HeaderField, v uint64) []verbs.Forgery {
	return []verbs.Forgery{{Field: f, Value: v}}
}

// forgedAnswers are those of testdata/forged.txt, with what Linux 6.1 makes of
// each by rxe_comp.c.
func forgedAnswers() []forgedAnswer {
	const (
		w, r, f = verbs.WRRDMAWrite, verbs.WRRDMARead, verbs.WRAtomicFetchAdd
		flush   = verbs.WCWRFlushErr
		ok      = verbs.WCSuccess
		readIs  = "RDMA_READ_RESPONSE_ONLY"
	)
	dead := func(s verbs.WCStatus) []verbs.WCStatus { return []verbs.WCStatus{s, flush} }
	alive := []verbs.WCStatus{ok}
	return []forgedAnswer{
		{"NAK 0x60", w, "ack", set(verbs.FieldSyndrome, 0x60), alive, 2},
		{"NAK 0x61", w, "ack", set(verbs.FieldSyndrome, 0x61), dead(verbs.WCRemInvReqErr), 1},
		{"NAK 0x62", w, "ack", set(verbs.FieldSyndrome, 0x62), dead(verbs.WCRemAccessErr), 1},
		{"NAK 0x63", w, "ack", set(verbs.FieldSyndrome, 0x63), dead(verbs.WCRemOpErr), 1},
		{"NAK 0x64", w, "ack", set(verbs.FieldSyndrome, 0x64), dead(verbs.WCRemOpErr), 1},
		{"reserved 0x40", w, "ack", set(verbs.FieldSyndrome, 0x40), dead(ok), 1},
		{"RNR", w, "ack", set(verbs.FieldSyndrome, 0x2c), alive, 2},
		{"ACK not sent", w, "ack", set(verbs.FieldPSN, 9), alive, 1},
		{"NAK not sent", w, "ack", append(set(verbs.FieldPSN, 9), set(verbs.FieldSyndrome, 0x62)...), alive, 1},
		{"ACK of before", w, "ack", set(verbs.FieldPSN, 1<<24-1), alive, 2},
		{"other P_Key", w, "ack", set(verbs.FieldPKey, 0x8001), alive, 2},
		{"limited P_Key", w, "ack", set(verbs.FieldPKey, 0x7fff), alive, 1},
		{"no such QP", w, "ack", set(verbs.FieldDestQP, 0xabcdef), alive, 2},
		{"READ response to WRITE", w, "ack", set(verbs.FieldOpcode, opReadOnly), dead(verbs.WCFatalErr), 1},
		{"READ not sent", r, readIs, set(verbs.FieldPSN, 9), alive, 2},
		{"READ LAST", r, readIs, set(verbs.FieldOpcode, opReadLast), dead(ok), 1},
		{"READ FIRST", r, readIs, set(verbs.FieldOpcode, opReadFirst), nil, 1},
		{"READ NAK", r, readIs, set(verbs.FieldSyndrome, 0x62), dead(ok), 1},
		{"atomic RNR", f, "ATOMIC_ACKNOWLEDGE", set(verbs.FieldSyndrome, 0x21), dead(ok), 1},
	}
}

// TestForgedAnswers has the model's requester under rxe-6.1 told every lie, with
// what TestLiveKernelPeer asks of the kernel.
func TestForgedAnswers(t *testing.T) {
	for _, c := range forgedAnswers() {
		o := defaults()
		o.profile, o.trace, o.timeout = "rxe-6.1", true, 12
		b, a, z := pair(t, o)
		check(t, b.Inject(c.fault("b", "a")))
		must(a.dev.PostRecv(a.qp.QP, []verbs.RecvWR{{ID: 9, SGL: a.sge(0, 8)}}))
		must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
			ID: 1, Opcode: c.op, Flags: verbs.SendSignaled, SGL: a.sge(0, 8), RemoteVA: z.mr.Addr, RKey: z.mr.RKey,
		}}))
		quiet(t, b)
		var got []verbs.WCStatus
		for _, wc := range a.poll(t) {
			got = append(got, wc.Status)
		}
		if sent := len(frames(t, b, "a")); !slices.Equal(got, c.want) || sent != c.sent {
			t.Errorf("%s: %v after %d packets, want %v after %d", c.name, got, sent, c.want, c.sent)
		}
	}
}

func (c *forgedAnswer) fault(from, to string) verbs.Fault {
	return verbs.Fault{Kind: verbs.FaultForge, From: from, To: to, Match: c.kind, Count: 1, Forge: c.set}
}

// forgedAnswers tells the lies to a real kernel: its requester is answered by
// the model, whose answers a forge line rewrites on the wire.
func (g *guest) forgedAnswers() {
	g.t.Helper()
	for _, c := range forgedAnswers() {
		p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 6, psn: 0x100})
		g.bench.faults = nil
		check(g.t, g.bench.Inject(c.fault("m", "k")))
		mark := g.bench.trace.count
		p.receive(true, 8, 0)
		p.post(true, request{op: c.op, n: 8})
		var got []verbs.WCStatus
		for _, d := range p.done(true, len(c.want)) {
			got = append(got, d.status)
		}
		p.wait(300*time.Millisecond, func() bool { return false })
		p.nothingMore()
		sent, forged := 0, 0
		for _, e := range g.bench.Trace()[mark:] {
			if e.Kind == verbs.TracePacket && e.Node == "k" {
				sent++
			}
			if e.Kind == verbs.TraceFault {
				forged++
			}
		}
		said := fmt.Sprintf("%s: %v after %d packets", c.name, got, sent)
		if !slices.Equal(got, c.want) || sent != c.sent || forged != 1 {
			g.t.Errorf("%s; want %v after %d", said, c.want, c.sent)
		}
		g.t.Log(said)
	}
}

// ackOfAtomic has a real kernel send a WRITE and an atomic whose answers are both
// lost: the model acknowledges the repeated WRITE under the atomic's PSN, as the
// IBTA permits, and the kernel takes that for the atomic's answer.
func (g *guest) ackOfAtomic() {
	g.t.Helper()
	p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 6, psn: 0x100})
	for _, match := range []string{"ack", "ATOMIC_ACKNOWLEDGE"} {
		check(g.t, g.bench.Inject(verbs.Fault{Kind: verbs.FaultDrop, From: "m", To: "k", Match: match, Count: 1}))
	}
	before, stale := uint64(40), uint64(0x5555)
	p.word(false, half, &before)
	p.word(true, 0, &stale)
	p.post(true, request{op: verbs.WRRDMAWrite, n: 8, offset: 64})
	p.post(true, request{op: verbs.WRAtomicFetchAdd, n: 8, compare: 2})
	if got := p.done(true, 2); got[0].status != verbs.WCSuccess || got[1].status != verbs.WCSuccess {
		g.t.Errorf("completions %+v, want two with SUCCESS", got)
	}
	if now := p.word(false, half, nil); now != 42 {
		g.t.Errorf("the word is %d, want 42: added once", now)
	}
	if have := p.word(true, 0, nil); have != stale {
		g.t.Errorf("the kernel's buffer holds %#x, want what it held, %#x: rxe_comp.c check_ack", have, stale)
	}
}
