package model

import (
	"testing"

	"rdmaprep/sim/verbs"
)

// These tests hand a queue pair packets that no correct peer sends, so that no
// script can bring them about.

// hand gives a packet to a queue pair as the wire would.
func hand(b *Bench, q *qp, op uint8, psn uint32, payload int) {
	p := b.pool.get()
	p.op, p.psn, p.dstQP, p.syndrome = op, psn, q.num, synACK
	p.from, p.to = q.peer, int16(q.node.index)
	p.room(payload)
	b.step(q, input{kind: inPacket, pkt: p}, -1)
}

func machine(x *side) *qp { return x.dev.(*node).qps.get(uint32(x.qp.QP)) }

// TestBadResponse: a response whose opcode or length does not fit the request
// that its PSN belongs to is BAD_RESP_ERR; the queue pair goes to ERR, what is
// behind it flushes, the responder is not told (rdmamojo on
// IBV_WC_BAD_RESP_ERR: an unexpected transport layer opcode). On rxe a READ
// response to anything but a READ is FATAL_ERR (rxe_comp.c check_ack).
func TestBadResponse(t *testing.T) {
	send := verbs.SendWR{ID: 1, Opcode: verbs.WRSend}
	write := verbs.SendWR{ID: 1, Opcode: verbs.WRRDMAWrite}
	read := verbs.SendWR{ID: 1, Opcode: verbs.WRRDMARead}
	atomic := verbs.SendWR{ID: 1, Opcode: verbs.WRAtomicFetchAdd}
	for _, tc := range []struct {
		name    string
		profile string
		wr      verbs.SendWR
		length  int
		op      uint8
		payload int
		want    verbs.WCStatus
	}{
		{"READ response to a SEND", "spec", send, 8, opReadOnly, 8, verbs.WCBadRespErr},
		{"READ response to a SEND", "rxe-6.1", send, 8, opReadOnly, 8, verbs.WCFatalErr},
		{"READ response to a WRITE", "spec", write, 8, opReadOnly, 8, verbs.WCBadRespErr},
		{"READ response to a WRITE", "rxe-6.1", write, 8, opReadOnly, 8, verbs.WCFatalErr},
		{"READ response to an atomic", "spec", atomic, 8, opReadOnly, 8, verbs.WCBadRespErr},
		{"READ response to an atomic", "rxe-6.1", atomic, 8, opReadOnly, 8, verbs.WCFatalErr},
		{"atomic response to a READ", "spec", read, 8, opAtomicAck, 0, verbs.WCBadRespErr},
		{"atomic response to a SEND", "spec", send, 8, opAtomicAck, 0, verbs.WCBadRespErr},
		// rxe ends the request with the status that it has (rxe_comp.c COMPST_ERROR).
		{"atomic response to a READ", "rxe-6.1", read, 8, opAtomicAck, 0, verbs.WCSuccess},
		{"atomic response to a SEND", "rxe-6.1", send, 8, opAtomicAck, 0, verbs.WCSuccess},
		{"MIDDLE before FIRST", "rxe-6.1", read, 3000, opReadMiddle, 1024, verbs.WCSuccess},
		{"LAST before FIRST", "rxe-6.1", read, 3000, opReadLast, 952, verbs.WCSuccess},
		{"READ response too short", "spec", read, 64, opReadOnly, 60, verbs.WCBadRespErr},
		{"READ response too long", "spec", read, 64, opReadOnly, 68, verbs.WCBadRespErr},
		{"ONLY where there are three", "spec", read, 3000, opReadOnly, 1024, verbs.WCBadRespErr},
		{"FIRST where there is one", "spec", read, 64, opReadFirst, 64, verbs.WCBadRespErr},
	} {
		t.Run(tc.profile+" "+tc.name, func(t *testing.T) {
			o := defaults()
			o.profile = tc.profile
			b, a, z := pair(t, o)
			defer b.Close()
			check(t, b.Inject(verbs.Fault{Kind: verbs.FaultDrop, From: "b", To: "a", Match: "any"})) // the true answers
			wr := tc.wr
			wr.Flags = verbs.SendSignaled
			wr.SGL, wr.RemoteVA, wr.RKey = a.sge(0, tc.length), z.mr.Addr, z.mr.RKey
			must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 100, SGL: z.sge(0, 64)}}))
			must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{wr, {ID: 2, Opcode: verbs.WRSend, SGL: a.sge(0, 8)}}))
			q := machine(a)
			if _, err := b.Wait(t.Context(), linkLatency, func() (bool, error) { return q.inFlight(), nil }); err != nil || !q.inFlight() {
				t.Fatalf("nothing was sent: %v", err)
			}
			hand(b, q, tc.op, 0x100, tc.payload)
			got := a.poll(t)
			if len(got) != 2 || got[0].ID != 1 || got[0].Status != tc.want || got[1].ID != 2 || got[1].Status != verbs.WCWRFlushErr {
				t.Errorf("completions %+v, want wr_id 1 %s, wr_id 2 %s", got, tc.want, verbs.WCWRFlushErr)
			}
			if q.state != verbs.ERR || machine(z).state != verbs.RTS {
				t.Errorf("states %s %s, want ERR RTS", q.state, machine(z).state)
			}
		})
	}
}

// TestBadSequence: a request that does not continue what went before is NAK
// invalid request and kills the responder (rxe_resp.c check_op_seq, class C),
// with QP_REQ_ERR where no receive request is held and the profile raises it. A
// held one completes in error, on rxe with REM_INV_REQ_ERR (do_class_ac_error).
func TestBadSequence(t *testing.T) {
	for _, tc := range []struct {
		name  string
		ops   []uint8
		holds bool // a receive request is held by then
	}{
		{"MIDDLE first", []uint8{opSendMiddle}, false},
		{"LAST first", []uint8{opSendLast}, false},
		{"WRITE LAST first", []uint8{opWriteLast}, false},
		{"FIRST after FIRST", []uint8{opSendFirst, opSendFirst}, true},
		{"WRITE inside a SEND", []uint8{opSendFirst, opWriteMiddle}, true},
		{"READ inside a SEND", []uint8{opSendFirst, opReadRequest}, true},
		{"reserved opcode", []uint8{0x15}, false}, // rxe carries it out as if it were nothing
	} {
		for _, profile := range ProfileNames() {
			if profile != "spec" && tc.ops[0] == 0x15 {
				continue
			}
			t.Run(profile+" "+tc.name, func(t *testing.T) {
				o := defaults()
				o.profile, o.trace = profile, true
				b, _, z := pair(t, o)
				defer b.Close()
				must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 100, SGL: z.sge(0, 4096)}}))
				q := machine(z)
				for i, op := range tc.ops {
					hand(b, q, op, 0x100+uint32(i), 1024)
				}
				naks := 0
				for _, e := range b.Trace() {
					if e.Kind == verbs.TracePacket && e.Node == "b" {
						naks++
						if want := 0x100 + uint32(len(tc.ops)) - 1; !e.Packet.Is("nak_invalid") || e.Packet.PSN != want {
							t.Errorf("the answer is %+v, want NAK invalid request at PSN %#x", e.Packet, want)
						}
					}
				}
				if naks != 1 || q.state != verbs.ERR {
					t.Errorf("%d answers, state %s; want 1, ERR", naks, q.state)
				}
				got := z.poll(t)
				if len(got) != 1 || got[0].ID != 100 || got[0].Status == verbs.WCSuccess {
					t.Fatalf("completions %+v, want wr_id 100 in error", got)
				}
				want := verbs.WCWRFlushErr
				if tc.holds {
					want = verbs.WCRemInvReqErr
				}
				if got[0].Status != want && (!tc.holds || profile == "rxe-6.1") {
					t.Errorf("the receive has %s, want %s", got[0].Status, want)
				}
				ev, raised, _ := z.dev.GetAsyncEvent()
				if want := !tc.holds && profile == "spec"; raised != want || raised && ev.Type != verbs.EventQPReqErr {
					t.Errorf("event %v %v, want QP_REQ_ERR: %v", raised, ev.Type, want)
				}
			})
		}
	}
}

// TestDropped: a packet of another partition, another transport, or from an
// address that the queue pair is not connected to is dropped without an answer
// and changes nothing (IBTA 9.6; rxe_recv.c check_keys, check_type_state,
// check_addr). The full-member bit of the P_Key does not count.
func TestDropped(t *testing.T) {
	for _, tc := range []struct {
		name  string
		wrong func(p *packet)
		taken bool
	}{
		{"nothing wrong", func(*packet) {}, true},
		{"limited member of the same partition", func(p *packet) { p.pkey = 0x7fff }, true},
		{"another partition", func(p *packet) { p.pkey = 0x8001 }, false},
		{"UC to RC", func(p *packet) { p.op |= transportUC }, false},
		{"UD to RC", func(p *packet) { p.op |= transportUD }, false},
		{"from elsewhere", func(p *packet) { p.from = p.to }, false},
		{"a bit flipped", func(p *packet) { p.corrupt = true }, false},
	} {
		for _, profile := range ProfileNames() {
			t.Run(profile+" "+tc.name, func(t *testing.T) {
				o := defaults()
				o.profile, o.trace = profile, true
				b, _, z := pair(t, o)
				must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 100, SGL: z.sge(0, 64)}}))
				q := machine(z)
				p := b.pool.get()
				p.op, p.psn, p.dstQP, p.ackReq = opSendOnly, 0x100, q.num, true
				p.from, p.to = q.peer, int16(q.node.index)
				copy(p.room(8), "whatever")
				tc.wrong(p)
				b.arrive(p)
				quiet(t, b)
				if got := z.poll(t); (len(got) == 1) != tc.taken {
					t.Errorf("completions %+v, want one: %t", got, tc.taken)
				}
				if answers := len(frames(t, b, "b")); (answers == 1) != tc.taken || q.state != verbs.RTS {
					t.Errorf("%d answers in %s, want one: %t", answers, q.state, tc.taken)
				}
			})
		}
	}
}
