package devicetest

import (
	"fmt"

	"rdmaprep/sim/verbs"
)

const atomicsSource = "ibv_post_send(3): 8 bytes at a multiple of 8, the old value comes back"

// lengths are sizes around what a packet of path_mtu 1024 carries.
var lengths = []int{0, 1, 64, 1023, 1024, 1025, 2048, 5000}

// transfer is a message of one opcode: what both sides see.
type transfer struct {
	op       verbs.WROpcode
	consumes bool // a receive of the peer
	imm      bool
	writes   bool // the bytes go to RemoteVA
}

func reliableCases() []Case   { return transferCases(verbs.RC) }
func unreliableCases() []Case { return transferCases(verbs.UC) }

func transferCases(typ verbs.QPType) []Case {
	var all []Case
	for _, x := range []transfer{
		{verbs.WRSend, true, false, false},
		{verbs.WRSendWithImm, true, true, false},
		{verbs.WRRDMAWrite, false, false, true},
		{verbs.WRRDMAWriteWithImm, true, true, true},
	} {
		for _, n := range lengths {
			all = append(all, Case{fmt.Sprintf("message/%s-%s-%d", typ, x.op, n), "ibv_post_send(3), ibv_poll_cq(3)", func(t *T) { t.transfer(typ, x, n) }})
		}
	}
	if typ == verbs.RC {
		for _, n := range lengths {
			all = append(all, Case{fmt.Sprintf("message/RC-RDMA_READ-%d", n), "ibv_post_send(3), ibv_poll_cq(3)", func(t *T) {
				a, b := t.pair(verbs.RC)
				t.store(b, remoteOff, pattern(1, n))
				t.send(a, a.wr(1, verbs.WRRDMARead, n))
				t.sent(a, fmt.Sprintf("1 SUCCESS RDMA_READ len=%d", n))
				t.holds(a, 0, pattern(1, n))
				t.received(b)
			}})
		}
		return all
	}
	for _, op := range []verbs.WROpcode{verbs.WRRDMARead, verbs.WRAtomicFetchAdd, verbs.WRAtomicCmpAndSwp, verbs.WRSendWithInv} {
		all = append(all, unsupported(typ, op))
	}
	return all
}

// unsupported is an opcode that the type does not have.
func unsupported(typ verbs.QPType, op verbs.WROpcode) Case {
	return Case{fmt.Sprintf("message/%s-%s", typ, op), "IBTA: opcodes by transport; rxe_opcode.c wr_opcode_mask 0", func(t *T) {
		a, b := t.pair(typ)
		t.send(a, a.wr(1, op, 8))
		t.sent(a, "1 LOC_QP_OP_ERR")
		t.is("state", must[verbs.QPAttr](t, "query_qp")(a.dev.QueryQP(a.qp.QP)).State, t.rule("state after a UC send error"))
		t.state(b, verbs.RTS)
	}}
}

func (t *T) transfer(typ verbs.QPType, x transfer, n int) {
	t.Helper()
	a, b := t.pair(typ)
	t.store(a, 0, pattern(1, n))
	if x.consumes {
		t.recv(b, 5, 6000)
	}
	t.send(a, a.wr(1, x.op, n))
	wcs := t.sent(a, fmt.Sprintf("1 SUCCESS %s len=%d", map[bool]string{true: "RDMA_WRITE", false: "SEND"}[x.writes], n))
	flags := "0"
	if x.imm {
		flags = t.rule("flags of a WITH_IMM send")
	}
	for _, wc := range wcs {
		t.is("qp_num", wc.QPNum, a.qp.Num)
		t.is("wc_flags of the send", wc.Flags, flags)
		t.is("vendor_err", wc.VendorErr, 0)
	}
	if x.consumes {
		t.arrived(b, x, n)
	} else {
		t.received(b)
	}
	if x.writes {
		t.quiet()
		t.holds(b, remoteOff, pattern(1, n))
	} else {
		t.holds(b, 0, pattern(1, n))
	}
	t.state(a, verbs.RTS)
	t.state(b, verbs.RTS)
}

func (t *T) arrived(b *side, x transfer, n int) {
	t.Helper()
	op := "RECV"
	if x.writes {
		op = "RECV_RDMA_WITH_IMM"
	}
	want := fmt.Sprintf("5 SUCCESS %s len=%d", op, n)
	flags := t.rule("flags of an RC receive")
	if x.imm {
		want += " imm=0xa1b2c3d4"
		flags = t.rule("flags of an immediate")
	}
	for _, wc := range t.received(b, want) {
		t.is("qp_num", wc.QPNum, b.qp.Num)
		t.is("wc_flags", wc.Flags, flags)
	}
}

func datagramCases() []Case {
	var all []Case
	for _, imm := range []bool{false, true} {
		for _, n := range []int{0, 1, 64, 1023, 1024} {
			op := map[bool]verbs.WROpcode{false: verbs.WRSend, true: verbs.WRSendWithImm}[imm]
			all = append(all, Case{fmt.Sprintf("message/UD-%s-%d", op, n), "ibv_post_send(3): the first 40 bytes of a UD receive are the GRH's", func(t *T) {
				a, b := t.pair(verbs.UD)
				t.store(a, 0, pattern(1, n))
				t.recv(b, 5, 2000)
				t.send(a, a.wr(1, op, n))
				t.sent(a, fmt.Sprintf("1 SUCCESS SEND len=%d", n))
				want, flags := fmt.Sprintf("5 SUCCESS RECV len=%d", n+grhBytes), "GRH"
				if imm {
					want, flags = want+" imm=0xa1b2c3d4", "GRH|WITH_IMM"
				}
				for _, wc := range t.received(b, want) {
					t.is("src_qp", wc.SrcQP, a.qp.Num)
					t.is("qp_num", wc.QPNum, b.qp.Num)
					t.is("wc_flags", wc.Flags, flags)
				}
				t.holds(b, grhBytes, pattern(1, n))
			}})
		}
	}
	drop := func(name, source string, change func(t *T, a, b *side, w *verbs.SendWR)) Case {
		return Case{"message/UD-" + name, source, func(t *T) {
			a, b := t.pair(verbs.UD)
			t.recv(b, 5, 2000)
			w := a.wr(1, verbs.WRSend, 64)
			change(t, a, b, &w)
			t.send(a, w)
			t.sent(a, "1 SUCCESS SEND len=64")
			t.received(b)
			if got := must[verbs.QPAttr](t, "query_qp")(b.dev.QueryQP(b.qp.QP)).State; got == verbs.ERR {
				t.Errorf("the receiver is in ERR (%s)", t.source)
			}
		}}
	}
	return append(all, []Case{
		drop("wrong-qkey", "IBTA: a wrong Q_Key is dropped silently; rxe_recv.c check_keys", func(_ *T, _, _ *side, w *verbs.SendWR) { w.RemoteQKey++ }),
		drop("no-such-qp", "rxe_recv.c hdr_check", func(_ *T, _, b *side, w *verbs.SendWR) { w.RemoteQPN = b.qp.Num + 1000 }),
		drop("peer-in-init", "rxe_recv.c check_type_state: nothing is taken in INIT", func(t *T, _, b *side, _ *verbs.SendWR) {
			t.move(b, verbs.RESET)
			t.raise(b, defaultSetup(), verbs.INIT)
			t.recv(b, 6, 2000)
		}),
		unsupported(verbs.UD, verbs.WRRDMAWrite),
		unsupported(verbs.UD, verbs.WRRDMARead),
		unsupported(verbs.UD, verbs.WRAtomicFetchAdd),
		unsupported(verbs.UD, verbs.WRAtomicCmpAndSwp),
		unsupported(verbs.UD, verbs.WRRDMAWriteWithImm),
		unsupported(verbs.UD, verbs.WRSendWithInv),
	}...)
}

func datagramEdgeCases() []Case {
	return []Case{
		{"message/UD-no-receive", "IBTA: a datagram without a receive is dropped", func(t *T) {
			a, b := t.pair(verbs.UD)
			t.send(a, a.wr(1, verbs.WRSend, 64))
			t.sent(a, "1 SUCCESS SEND len=64")
			t.quiet()
			t.recv(b, 5, 2000)
			t.received(b)
			t.state(b, verbs.RTS)
		}},
		{"message/UD-above-mtu", "IBTA C10-93.1.1; rxe_req.c rxe_requester", func(t *T) {
			a, b := t.pair(verbs.UD)
			t.recv(b, 5, 6000)
			t.send(a, a.wr(1, verbs.WRSend, 5000))
			t.sent(a, "1 "+t.rule("UD above the MTU"))
			t.received(b)
		}},
		{"message/UD-small-buffer", "IBTA: dropped; rxe_resp.c send_data_in", func(t *T) {
			a, b := t.pair(verbs.UD)
			t.recv(b, 1, 64) // 40 of them are the GRH's
			t.send(a, a.wr(1, verbs.WRSend, 64))
			t.sent(a, "1 SUCCESS SEND len=64")
			var want []string
			if w := t.rule("UD into a small buffer, receiver"); w != "" {
				want = []string{w}
			}
			t.received(b, want...)
			a2 := must[verbs.QPAttr](t, "query_qp")(b.dev.QueryQP(b.qp.QP))
			t.is("state of the receiver", a2.State, t.rule("UD into a small buffer, state"))
		}},
	}
}

func atomicCases() []Case {
	type atomic struct {
		name           string
		op             verbs.WROpcode
		before         uint64
		arg, swap      uint64
		after          uint64
		remote, length int
	}
	var all []Case
	for _, x := range []atomic{
		{"add", verbs.WRAtomicFetchAdd, 5, 3, 0, 8, 0, 8},
		{"add-wraps", verbs.WRAtomicFetchAdd, ^uint64(0), 2, 0, 1, 0, 8},
		{"add-0", verbs.WRAtomicFetchAdd, 77, 0, 0, 77, 0, 8},
		{"swap", verbs.WRAtomicCmpAndSwp, 5, 5, 9, 9, 0, 8},
		{"no-swap", verbs.WRAtomicCmpAndSwp, 5, 6, 9, 5, 0, 8},
		{"add-elsewhere", verbs.WRAtomicFetchAdd, 1 << 40, 1, 0, 1<<40 + 1, 24, 8},
	} {
		all = append(all, Case{"atomic/" + x.name, atomicsSource, func(t *T) {
			a, b := t.pair(verbs.RC)
			t.store(b, remoteOff+x.remote, word(x.before))
			w := a.wr(1, x.op, x.length)
			w.RemoteVA += uint64(x.remote)
			w.CompareAdd, w.Swap = x.arg, x.swap
			t.send(a, w)
			op := map[verbs.WROpcode]string{verbs.WRAtomicFetchAdd: "FETCH_ADD", verbs.WRAtomicCmpAndSwp: "COMP_SWAP"}[x.op]
			t.sent(a, fmt.Sprintf("1 SUCCESS %s len=%d", op, x.length))
			t.is("the old value", t.load(a, 0, 8), word(x.before))
			t.is("the new value", t.load(b, remoteOff+x.remote, 8), word(x.after))
		}})
	}
	return append(all, Case{"atomic/in-order", atomicsSource, func(t *T) {
		a, b := t.pair(verbs.RC)
		var want []string
		for i := range uint64(10) {
			w := a.wr(i, verbs.WRAtomicFetchAdd, 8)
			w.CompareAdd = i
			w.SGL = a.sge(int(8*i), 8)
			t.send(a, w)
			want = append(want, fmt.Sprintf("%d SUCCESS FETCH_ADD len=8", i))
		}
		t.sent(a, want...)
		sum := uint64(0)
		for i := range uint64(10) {
			t.is("the value before", t.load(a, int(8*i), 8), word(sum))
			sum += i
		}
		t.is("the sum", t.load(b, remoteOff, 8), word(sum))
	}})
}

// word is a number in the order of a little-endian CPU.
func word(v uint64) []byte {
	p := make([]byte, 8)
	for i := range p {
		p[i] = byte(v >> (8 * i))
	}
	return p
}

// sizeCases move a message much longer than the window of packets.
func sizeCases() []Case {
	var all []Case
	for _, op := range []verbs.WROpcode{verbs.WRSend, verbs.WRRDMAWrite, verbs.WRRDMARead} {
		all = append(all, Case{fmt.Sprintf("message/RC-%s-300000", op), "more packets than rxe_param.h RXE_MAX_UNACKED_PSNS", func(t *T) {
			const n = 300000
			a, b := t.pair(verbs.RC)
			for _, s := range []*side{a, b} {
				t.ok("dereg_mr", s.dev.DeregMR(s.mr.MR))
				s.buf = must[uint64](t, "alloc")(s.dev.Alloc(n + 1))
				s.mr = must[verbs.MRInfo](t, "reg_mr")(s.dev.RegMR(s.pd, s.buf, n+1, everyAccess))
			}
			from, to := a, b
			if op == verbs.WRRDMARead {
				from, to = b, a
			}
			t.store(from, 0, pattern(1, n))
			if op == verbs.WRSend {
				t.recv(b, 5, n)
			}
			w := a.wr(1, op, n)
			w.RemoteVA = b.mr.Addr
			t.send(a, w)
			t.sent(a, fmt.Sprintf("1 SUCCESS %s len=%d", op, n))
			t.holds(to, 0, pattern(1, n))
		}})
	}
	return all
}
