package model

import (
	"bytes"
	"slices"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// everything is every operation without a fault, over RC and UC, IPv4 and IPv6.
func (g *guest) everything() int {
	p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 6, psn: 0xfffff0})
	count := 0
	for i, n := range []int{1, 3, 1024, 1025, 5000, 65536, 1 << 20} {
		count += p.data(n, i)
	}
	count += p.atomics()
	p = g.connect(peerOptions{mtu: verbs.MTU4096, rnr: 6, psn: 7, v6: true})
	count += p.data(4097, 40) + p.atomics()
	p = g.connect(peerOptions{typ: verbs.UC, mtu: verbs.MTU1024, psn: 0xffffff})
	for i, n := range []int{1, 1024, 5001, 65536} {
		count += p.data(n, 60+i)
	}
	p = g.connect(peerOptions{typ: verbs.UC, mtu: verbs.MTU4096, psn: 9, v6: true})
	return count + p.data(10000, 70)
}

// data moves n bytes with every operation of the type that moves bytes, once each way.
func (p *peering) data(n, seed int) int {
	p.t.Helper()
	ops := []verbs.WROpcode{verbs.WRSend, verbs.WRSendWithImm, verbs.WRRDMAWrite, verbs.WRRDMAWriteWithImm, verbs.WRRDMARead}
	if p.typ == verbs.UC {
		ops = ops[:4]
	}
	count := 0
	for _, from := range []bool{false, true} {
		for k, op := range ops {
			p.move(from, op, n, seed+k*3+1, uint32(0x12345600+k))
			count++
		}
	}
	return count
}

// move moves n bytes by one operation. One that ends because rxe counts its
// retries as it does is a named exception, and is done again on new queue pairs.
func (p *peering) move(from bool, op verbs.WROpcode, n, tag int, imm uint32) {
	p.t.Helper()
	for range 8 {
		mark := p.bench.trace.count
		got := p.try(from, op, n, tag, imm)
		if got.status == verbs.WCSuccess {
			return
		}
		requester, why := "m", ""
		if from {
			requester = "k"
		}
		if from || p.bench.prof.OneRetryAtATime {
			why = gaveUpEarly(p.bench.Trace()[mark:], requester)
		}
		if got.status != verbs.WCRetryExcErr || why == "" {
			p.t.Fatalf("%v of %d bytes from the %s: %+v", op, n, endName(from), got)
		}
		p.t.Logf("exception RetriesNotRestored against the kernel: %v of %d bytes from the %s: %s", op, n, endName(from), why)
		p.exceptions++
		p.failed = true
		o := p.peerOptions
		o.psn = psnAdd(o.psn, 0x12345)
		*p = *p.connect(o)
		p.last = p
	}
	p.t.Fatalf("%v of %d bytes from the %s does not succeed", op, n, endName(from))
}

// try does one operation: the bytes are right, the initiator completes once and
// so does the receive request of the other end, if the operation takes one. It
// returns the initiator's completion.
func (p *peering) try(from bool, op verbs.WROpcode, n, tag int, imm uint32) finished {
	p.t.Helper()
	target := !from
	receives := op != verbs.WRRDMAWrite && op != verbs.WRRDMARead
	var recv uint64
	if receives {
		recv = p.receive(target, n, 0)
	}
	source, sink, at, to := from, target, 0, half
	if op == verbs.WRRDMARead {
		source, sink, at, to = target, from, half, 0
	}
	p.fill(source, at, n, tag)
	p.fill(sink, to, n, tag+100)
	id := p.post(from, request{op: op, n: n, imm: imm})
	first := p.done(from, 1)[0]
	if first.id != id {
		p.t.Fatalf("%v of %d bytes from the %s: %+v, want request %d", op, n, endName(from), first, id)
	}
	if first.status != verbs.WCSuccess {
		return first
	}
	if receives {
		got := p.done(target, 1)[0]
		if got.id != recv || got.status != verbs.WCSuccess || int(got.n) != n || op != verbs.WRSend && got.imm != imm {
			p.t.Fatalf("%v of %d bytes to the %s: %+v", op, n, endName(target), got)
		}
	}
	if p.typ == verbs.UC && !receives { // nothing tells of its arrival
		for range 400 {
			if p.has(sink, to, n, tag) {
				break
			}
			p.wait(10*time.Millisecond, func() bool { return false })
		}
	}
	p.holds(sink, to, n, tag)
	p.nothingMore()
	return first
}

// atomics does both atomics once each way.
func (p *peering) atomics() int {
	p.t.Helper()
	for _, from := range []bool{false, true} {
		v := uint64(1)<<40 + 5
		p.word(!from, half, &v)
		one := p.post(from, request{op: verbs.WRAtomicFetchAdd, n: 8, compare: 7})
		two := p.post(from, request{op: verbs.WRAtomicCmpAndSwp, n: 8, compare: v + 7, swap: 1 << 50})
		got := p.done(from, 2)
		if got[0].id != one || got[1].id != two || got[0].status != verbs.WCSuccess || got[1].status != verbs.WCSuccess {
			p.t.Fatalf("atomics from the %s: %+v", endName(from), got)
		}
		if now := p.word(!from, half, nil); now != 1<<50 {
			p.t.Errorf("atomics from the %s left %d", endName(from), now)
		}
		if before := p.word(from, 0, nil); before != v+7 {
			p.t.Errorf("the second atomic from the %s returned %d, want %d", endName(from), before, v+7)
		}
		p.nothingMore()
	}
	return 4
}

// datagrams sends UD messages each way. Before the payload are the 40 bytes of
// the GRH: on IPv6 the header that was on the wire, on IPv4 twenty bytes of 0
// and the header (rxe_resp.c execute).
func (g *guest) datagrams() int {
	count := 0
	port, err := g.device.QueryPort(1)
	check(g.t, err)
	for _, v6 := range []bool{false, true} {
		p := g.connect(peerOptions{typ: verbs.UD, mtu: verbs.MTU4096, psn: 0xfffffe, v6: v6})
		for i, n := range []int{1, 1000, 4096} {
			for _, from := range []bool{false, true} {
				if !from { // a port with the profile rxe-6.1 has the MTU of rxe on an Ethernet of 1500, and sends no more
					n = min(n, port.ActiveMTU.Bytes())
				}
				p.datagram(from, verbs.WRSend, n, 80+i)
				p.datagram(from, verbs.WRSendWithImm, n, 90+i)
				count += 2
			}
		}
	}
	return count
}

func (p *peering) datagram(from bool, op verbs.WROpcode, n, tag int) {
	p.t.Helper()
	const imm = 0xabcd0123
	mark := p.bench.trace.count
	recv := p.receive(!from, grhBytes+n, 0)
	p.fill(from, 0, n, tag)
	p.fill(!from, half, grhBytes+n, tag+100)
	id := p.post(from, request{op: op, n: n, imm: imm})
	if got := p.done(from, 1)[0]; got.id != id || got.status != verbs.WCSuccess {
		p.t.Fatalf("a datagram of %d bytes from the %s: %+v", n, endName(from), got)
	}
	source, flags := p.qp.Num, verbs.WCGRH
	if from {
		source = p.farQPN
	}
	if op == verbs.WRSendWithImm {
		flags |= verbs.WCWithImm
	}
	got := p.done(!from, 1)[0]
	if got.id != recv || got.status != verbs.WCSuccess || int(got.n) != grhBytes+n || got.flags != flags || got.srcQP != source ||
		op == verbs.WRSendWithImm && got.imm != imm {
		p.t.Fatalf("a datagram of %d bytes to the %s: %+v", n, endName(!from), got)
	}
	p.holds(!from, half+grhBytes, n, tag)
	var want []byte
	for _, e := range p.bench.Trace()[mark:] {
		var w wire.Packet
		if e.Kind == verbs.TracePacket && wire.Decode(e.Frame, &w) == nil && w.BTH.Opcode.Transport() == wire.UD {
			want = append(make([]byte, 20), e.Frame[14:34]...)
			if w.V6 {
				want = e.Frame[14:54]
			}
		}
	}
	if grh := p.show(!from, half, grhBytes); !bytes.Equal(grh, want) {
		p.t.Errorf("the GRH of a datagram to the %s is\n%x, want\n%x", endName(!from), grh, want)
	}
	p.nothingMore()
}

// answer is how one end refuses a request.
type refusalAnswer struct {
	syndrome uint8          // of the AETH
	sender   verbs.WCStatus // what the requester gets
	receiver verbs.WCStatus // of the receive request; SUCCESS: there is none
}

// refusal is a request that must be refused.
type refusal struct {
	name    string
	recv    int    // bytes of the receive request that is posted, -1 for none
	badRecv uint32 // flips bits of its lkey
	denied  verbs.AccessFlags
	req     request
	kernel  refusalAnswer // the kernel's, and the model's with the profile rxe-6.1
	spec    refusalAnswer // the model's with the profile spec; IBTA vol. 1, 9.9
}

var refusals = []refusal{
	{
		name: "a WRITE with a bad rkey", recv: -1, req: request{op: verbs.WRRDMAWrite, n: 100, badKey: 0x5500},
		kernel: refusalAnswer{0x62, verbs.WCRemAccessErr, 0}, // rxe_resp.c check_rkey, RESPST_ERR_RKEY_VIOLATION
		spec:   refusalAnswer{0x62, verbs.WCRemAccessErr, 0},
	},
	{
		name: "a WRITE_WITH_IMM with a bad rkey", recv: 100, req: request{op: verbs.WRRDMAWriteWithImm, n: 100, badKey: 0x5500},
		kernel: refusalAnswer{0x62, verbs.WCRemAccessErr, verbs.WCRemAccessErr}, // do_class_ac_error gives the receive its own status
		spec:   refusalAnswer{0x62, verbs.WCRemAccessErr, verbs.WCLocAccessErr},
	},
	{
		name: "a READ outside the region", recv: -1, req: request{op: verbs.WRRDMARead, n: 100, offset: half},
		kernel: refusalAnswer{0x62, verbs.WCRemAccessErr, 0}, // check_rkey, mr_check_range
		spec:   refusalAnswer{0x62, verbs.WCRemAccessErr, 0},
	},
	{
		name: "a WRITE that the QP does not permit", recv: -1, denied: verbs.AccessRemoteWrite, req: request{op: verbs.WRRDMAWrite, n: 100},
		kernel: refusalAnswer{0x61, verbs.WCRemInvReqErr, 0}, // check_op_valid, RESPST_ERR_UNSUPPORTED_OPCODE
		spec:   refusalAnswer{0x61, verbs.WCRemInvReqErr, 0},
	},
	{
		name: "a READ that the QP does not permit", recv: -1, denied: verbs.AccessRemoteRead, req: request{op: verbs.WRRDMARead, n: 100},
		kernel: refusalAnswer{0x61, verbs.WCRemInvReqErr, 0},
		spec:   refusalAnswer{0x61, verbs.WCRemInvReqErr, 0},
	},
	{
		// rxe differs: copy_data is -EINVAL for a list that is too short, and
		// send_data_in takes only -ENOSPC for a length error.
		name: "a SEND too long", recv: 10, req: request{op: verbs.WRSend, n: 100},
		kernel: refusalAnswer{0x63, verbs.WCRemOpErr, verbs.WCLocQPOpErr},
		spec:   refusalAnswer{0x61, verbs.WCRemInvReqErr, verbs.WCLocLenErr},
	},
	{
		name: "a bad lkey of the receive", recv: 200, badRecv: 0x5500, req: request{op: verbs.WRSend, n: 100},
		kernel: refusalAnswer{0x63, verbs.WCRemOpErr, verbs.WCLocQPOpErr}, // RESPST_ERR_MALFORMED_WQE
		spec:   refusalAnswer{0x63, verbs.WCRemOpErr, verbs.WCLocProtErr},
	},
	{
		// The RNR NAK carries min_rnr_timer, 12, of the end that sends it.
		name: "a SEND without a receive", recv: -1, req: request{op: verbs.WRSend, n: 100},
		kernel: refusalAnswer{0x2c, verbs.WCRNRRetryExcErr, 0}, // RESPST_ERR_RNR
		spec:   refusalAnswer{0x2c, verbs.WCRNRRetryExcErr, 0},
	},
}

// provoke has each end refuse what it must refuse, and looks at the syndromes
// on the wire. A real kernel sends all of NAK 0x60 to 0x63 and RNR NAK, and so
// does the model.
func (g *guest) provoke() int {
	count := 0
	for _, c := range refusals {
		for _, from := range []bool{false, true} {
			want := c.kernel
			if from && g.bench.prof.Name == "spec" {
				want = c.spec
			}
			g.refused(&c, from, want)
			count++
		}
	}
	for _, from := range []bool{false, true} {
		count += g.gap(from) + g.lateReceive(from)
	}
	return count + g.misaligned()
}

func (g *guest) refused(c *refusal, from bool, want refusalAnswer) {
	g.t.Helper()
	p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 1, psn: 0x200, denied: c.denied})
	var recv uint64
	if c.recv >= 0 {
		recv = p.receive(!from, c.recv, c.badRecv)
	}
	mark := g.bench.trace.count
	id := p.post(from, c.req)
	if got := p.done(from, 1)[0]; got.id != id || got.status != want.sender {
		g.t.Errorf("%s from the %s: %+v, want %v", c.name, endName(from), got, want.sender)
	}
	if want.receiver != verbs.WCSuccess {
		if got := p.done(!from, 1)[0]; got.id != recv || got.status != want.receiver {
			g.t.Errorf("%s from the %s: the receive is %+v, want %v", c.name, endName(from), got, want.receiver)
		}
	}
	g.answered(c.name, mark, from, want.syndrome)
}

// answered wants refusals of one syndrome, and of nothing else, from the
// responder, and none from the requester. A slow machine may see one twice.
func (g *guest) answered(name string, mark int, from bool, syndrome uint8) {
	g.t.Helper()
	seen, other := g.syndromes(mark, !from), g.syndromes(mark, from)
	if rest := slices.Compact(slices.Clone(seen)); len(rest) != 1 || rest[0] != syndrome || len(other) > 0 {
		g.t.Errorf("%s from the %s: the %s answers %#x and the requester %#x, want %#x and nothing",
			name, endName(from), endName(!from), seen, other, syndrome)
	}
	g.t.Logf("%s from the %s: syndromes %#x", name, endName(from), seen)
}

// gap loses a packet in the middle: it draws a NAK sequence, 0x60, and is sent again.
func (g *guest) gap(from bool) int {
	p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 6, psn: 0x300, timeout: 18})
	way := [2]string{"m", "k"}
	if from {
		way = [2]string{"k", "m"}
	}
	mark := g.bench.trace.count
	check(g.t, g.bench.Inject(verbs.Fault{Kind: verbs.FaultDrop, From: way[0], To: way[1], Match: "RDMA_WRITE_MIDDLE", Count: 1}))
	p.move(from, verbs.WRRDMAWrite, 5000, 77, 0)
	g.answered("a lost packet", mark, from, synNAKSequence)
	if n := g.tally(mark)[way[0]].dropped; n != 1 {
		g.t.Errorf("%d packets from the %s were dropped, want 1", n, endName(from))
	}
	return 1
}

// lateReceive posts the receive request after the first RNR NAK. rnr_retry 7 has
// no end but, on rxe, that of the ACK timer (switch RNRKeepsAckTimer).
func (g *guest) lateReceive(from bool) int {
	p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 7, psn: 0x400, timeout: 18})
	mark := g.bench.trace.count
	id := p.post(from, request{op: verbs.WRSend, n: 10})
	p.wait(20*time.Second, func() bool { return len(g.syndromes(mark, !from)) > 0 })
	recv := p.receive(!from, 10, 0)
	if got := p.done(from, 1)[0]; got.id != id || got.status != verbs.WCSuccess {
		g.t.Errorf("a late receive for the %s: %+v", endName(from), got)
	}
	if got := p.done(!from, 1)[0]; got.id != recv || got.status != verbs.WCSuccess {
		g.t.Errorf("a late receive of the %s: %+v", endName(!from), got)
	}
	g.answered("a late receive", mark, from, synRNR|12)
	return 1
}

// misaligned is an atomic at an address that is no multiple of 8: an invalid
// request, 0x61 (rxe_resp.c atomic_reply, RESPST_ERR_MISALIGNED_ATOMIC). The
// kernel's own library refuses to post one with EINVAL (rdma-core
// providers/rxe/rxe.c validate_send_wr), so that no model can get it from there;
// the profile rxe-6.1 refuses it as well.
func (g *guest) misaligned() int {
	p := g.connect(peerOptions{mtu: verbs.MTU1024, rnr: 1, psn: 0x500})
	r := request{op: verbs.WRAtomicFetchAdd, n: 8, offset: 4}
	if got := p.call("%s", p.order(1, r)); got != "errno 22" {
		g.t.Errorf("the kernel's library says %q to a misaligned atomic, want EINVAL", got)
	}
	if g.bench.prof.AtomicCheckedAtPost {
		if _, err := p.dev.PostSend(p.qp.QP, []verbs.SendWR{p.work(1, r)}); err == nil {
			g.t.Error("a misaligned atomic was posted")
		}
		return 2
	}
	mark := g.bench.trace.count
	id := p.post(false, r)
	if got := p.done(false, 1)[0]; got.id != id || got.status != verbs.WCRemInvReqErr {
		g.t.Errorf("a misaligned atomic: %+v", got)
	}
	g.answered("a misaligned atomic", mark, false, synNAKInvalid)
	return 2
}
