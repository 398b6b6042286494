package model

import (
	"testing"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// TestFramesSayWhatWasPosted: the fields of the headers, as decoded from the
// bytes, are those of the work request (IBTA 9.3: RETH, AtomicETH, ImmDt, IETH,
// DETH), and the responder's MSN counts the messages that it has completed.
func TestFramesSayWhatWasPosted(t *testing.T) {
	o := defaults()
	o.trace, o.profile = true, "rxe-6.1" // which acknowledges each message
	b, a, z := pair(t, o)
	recvs := make([]verbs.RecvWR, 3)
	for i := range recvs {
		recvs[i] = verbs.RecvWR{ID: uint64(i), SGL: z.sge(4096, 64)}
	}
	must(z.dev.PostRecv(z.qp.QP, recvs))
	wrs := []verbs.SendWR{
		{Opcode: verbs.WRRDMAWrite, SGL: a.sge(0, 48), RemoteVA: z.mr.Addr + 16, RKey: z.mr.RKey},
		{Opcode: verbs.WRRDMAWriteWithImm, SGL: a.sge(0, 5), RemoteVA: z.mr.Addr + 17, RKey: z.mr.RKey, Imm: 0xa1b2c3d4},
		{Opcode: verbs.WRRDMARead, SGL: a.sge(64, 24), RemoteVA: z.mr.Addr + 18, RKey: z.mr.RKey},
		{Opcode: verbs.WRSendWithImm, SGL: a.sge(0, 1), Imm: 0x01020304},
		{Opcode: verbs.WRAtomicFetchAdd, SGL: a.sge(128, 8), RemoteVA: z.mr.Addr + 8, RKey: z.mr.RKey, CompareAdd: 0x1122334455667788},
		{
			Opcode: verbs.WRAtomicCmpAndSwp, SGL: a.sge(136, 8), RemoteVA: z.mr.Addr + 24, RKey: z.mr.RKey,
			CompareAdd: 0x0102030405060708, Swap: 0x1112131415161718,
		},
	}
	for i := range wrs {
		wrs[i].ID, wrs[i].Flags = uint64(i), verbs.SendSignaled
		must(a.dev.PostSend(a.qp.QP, wrs[i:i+1]))
		quiet(t, b)
	}
	requests, answers := frames(t, b, "a"), frames(t, b, "b")
	if len(requests) != len(wrs) || len(answers) != len(wrs) {
		t.Fatalf("%d requests and %d answers of %d messages", len(requests), len(answers), len(wrs))
	}
	psn := o.psn
	for i, wr := range wrs {
		p := &requests[i]
		if p.BTH.DestQP != z.qp.Num || p.BTH.PSN != psn || !p.BTH.AckReq || p.BTH.Solicited {
			t.Errorf("%s: BTH %+v, want to QP %d, PSN %#x", wr.Opcode, p.BTH, z.qp.Num, psn)
		}
		psn++ // each of these messages and answers is one packet
		switch wr.Opcode {
		case verbs.WRAtomicFetchAdd:
			want := wire.AtomicETH{VA: wr.RemoteVA, RKey: wr.RKey, SwapAdd: wr.CompareAdd}
			if p.AtomicETH != want {
				t.Errorf("%s: %+v, want %+v", wr.Opcode, p.AtomicETH, want)
			}
		case verbs.WRAtomicCmpAndSwp:
			want := wire.AtomicETH{VA: wr.RemoteVA, RKey: wr.RKey, SwapAdd: wr.Swap, Compare: wr.CompareAdd}
			if p.AtomicETH != want {
				t.Errorf("%s: %+v, want %+v", wr.Opcode, p.AtomicETH, want)
			}
		case verbs.WRSendWithImm:
		default:
			want := wire.RETH{VA: wr.RemoteVA, RKey: wr.RKey, Len: wr.SGL[0].Length}
			if p.RETH != want {
				t.Errorf("%s: %+v, want %+v", wr.Opcode, p.RETH, want)
			}
		}
		if p.BTH.Opcode.HasImm() && p.ImmDt.Data != wr.Imm {
			t.Errorf("%s: immediate %#x, want %#x", wr.Opcode, p.ImmDt.Data, wr.Imm)
		}
		if r := &answers[i]; r.AETH.MSN != uint32(i+1) || r.BTH.PSN != p.BTH.PSN || r.BTH.DestQP != a.qp.Num || r.BTH.AckReq {
			t.Errorf("answer %d: MSN %d, BTH %+v", i+1, r.AETH.MSN, r.BTH)
		}
	}
}

// TestInvalidateKeyOnTheWire: the IETH is the key that SEND_WITH_INV names.
func TestInvalidateKeyOnTheWire(t *testing.T) {
	o := defaults()
	o.trace = true
	b, a, z := pair(t, o)
	must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 1, SGL: z.sge(0, 64)}}))
	must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{Opcode: verbs.WRSendWithInv, SGL: a.sge(0, 8), InvRKey: 0x00c0ffee}}))
	quiet(t, b)
	if got := frames(t, b, "a")[0]; got.IETH.RKey != 0x00c0ffee {
		t.Errorf("IETH %#x, want 0xc0ffee", got.IETH.RKey)
	}
}

// TestDatagramHeader: the DETH has the Q_Key of the request and the sender's
// number; the receiver's completion and GRH name the same.
func TestDatagramHeader(t *testing.T) {
	o := defaults()
	o.trace, o.typ = true, verbs.UD
	b, a, z := pair(t, o)
	ah := must(a.dev.CreateAH(a.pd, verbs.AHAttr{DGID: z.gid, SGIDIndex: 1, Port: 1, TrafficClass: 0x6a}))
	must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 1, SGL: z.sge(0, 64)}}))
	must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
		Opcode: verbs.WRSend, SGL: a.sge(0, 8), AH: ah, RemoteQPN: z.qp.Num, RemoteQKey: 0x11111111,
	}}))
	quiet(t, b)
	p := frames(t, b, "a")[0]
	if want := (wire.DETH{QKey: 0x11111111, SrcQP: a.qp.Num}); p.DETH != want || p.TOS != 0x6a {
		t.Errorf("DETH %+v TOS %#x, want %+v and 0x6a", p.DETH, p.TOS, want)
	}
	if wc := z.poll(t); len(wc) != 1 || wc[0].SrcQP != a.qp.Num {
		t.Errorf("completions %+v, want one from QP %d", wc, a.qp.Num)
	}
}

// frames are what a node put on the wire, decoded.
func frames(t *testing.T, b *Bench, node string) []wire.Packet {
	t.Helper()
	var out []wire.Packet
	for _, e := range b.Trace() {
		if e.Kind != verbs.TracePacket || e.Node != node {
			continue
		}
		var p wire.Packet
		if err := wire.Decode(e.Frame, &p); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}
