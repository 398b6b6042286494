package devicetest

import (
	"fmt"

	"rdmaprep/sim/verbs"
)

const windowSource = "ibv_bind_mw(3), ibv_post_send(3); rdma-unit-test MwGeneralTest, MwType1Test, MwType2Test"

// windowCases are memory windows at work. A free window of type 2 is never
// invalidated, and none is bound when its queue pair goes.
func windowCases() []Case {
	return []Case{
		{"window/type-1", windowSource, func(t *T) {
			a, b := t.pair(verbs.RC)
			mw := must[verbs.MWInfo](t, "alloc_mw")(b.dev.AllocMW(b.pd, verbs.MWType1))
			bind := verbs.MWBind{MR: b.mr.MR, Addr: b.mr.Addr + remoteOff, Length: 64, Access: verbs.AccessRemoteRead | verbs.AccessRemoteWrite}
			key := must[uint32](t, "bind_mw")(b.dev.BindMW(b.qp.QP, mw.MW, 9, verbs.SendSignaled, bind))
			t.sent(b, "9 SUCCESS BIND_MW")
			t.is("the index of the key is kept", key>>8, mw.RKey>>8)
			if key == mw.RKey {
				t.Error("the bind gave the old key")
			}
			t.store(a, 0, pattern(1, 64))
			w := a.wr(1, verbs.WRRDMAWrite, 64)
			w.RKey = key
			t.send(a, w)
			t.sent(a, "1 SUCCESS RDMA_WRITE len=64")
			t.holds(b, remoteOff, pattern(1, 64))
			w = a.wr(2, verbs.WRRDMAWrite, 8)
			w.RKey = mw.RKey // the key of before
			t.send(a, w)
			t.sent(a, "2 REM_ACCESS_ERR")
		}},
		{"window/type-1-unbind", windowSource, func(t *T) {
			a, b := t.pair(verbs.RC)
			mw := must[verbs.MWInfo](t, "alloc_mw")(b.dev.AllocMW(b.pd, verbs.MWType1))
			bind := verbs.MWBind{MR: b.mr.MR, Addr: b.mr.Addr + remoteOff, Length: 64, Access: verbs.AccessRemoteRead}
			_, err := b.dev.BindMW(b.qp.QP, mw.MW, 8, verbs.SendSignaled, bind)
			t.ok("bind_mw", err)
			bind.Length = 0
			key := must[uint32](t, "bind_mw")(b.dev.BindMW(b.qp.QP, mw.MW, 9, verbs.SendSignaled, bind))
			t.sent(b, "8 SUCCESS BIND_MW", "9 SUCCESS BIND_MW")
			r := a.wr(1, verbs.WRRDMARead, 8)
			r.RKey = key
			t.send(a, r)
			t.sent(a, "1 REM_ACCESS_ERR")
		}},
	}
}

func windowTwoCases() []Case {
	return []Case{
		{"window/type-2", windowSource, func(t *T) {
			a, b := t.pair(verbs.RC)
			mw, key := t.bind2(b, verbs.AccessRemoteRead, "SUCCESS BIND_MW")
			t.store(b, remoteOff, pattern(2, 64))
			r := a.wr(1, verbs.WRRDMARead, 64)
			r.RKey = key
			t.send(a, r)
			t.sent(a, "1 SUCCESS RDMA_READ len=64")
			t.holds(a, 0, pattern(2, 64))
			t.send(b, verbs.SendWR{ID: 4, Opcode: verbs.WRLocalInv, InvRKey: key, Flags: verbs.SendSignaled})
			t.sent(b, "4 SUCCESS LOCAL_INV")
			t.send(a, r)
			t.sent(a, "1 REM_ACCESS_ERR")
			t.returns("dealloc_mw", b.dev.DeallocMW(mw), "ok")
		}},
		{"window/type-2-remote-invalidate", windowSource, func(t *T) {
			a, b := t.pair(verbs.RC)
			mw, key := t.bind2(b, verbs.AccessRemoteRead, "SUCCESS BIND_MW")
			t.recv(b, 5, 64)
			w := a.wr(1, verbs.WRSendWithInv, 16)
			w.InvRKey = key
			t.send(a, w)
			t.sent(a, "1 SUCCESS SEND len=16")
			for _, wc := range t.received(b, "5 SUCCESS RECV len=16") {
				t.is("WITH_INV and the key", wc.Flags&verbs.WCWithInv != 0 && wc.InvalidRKey == key, t.rule("WITH_INV is told"))
			}
			r := a.wr(2, verbs.WRRDMARead, 8)
			r.RKey = key
			t.send(a, r)
			t.sent(a, "2 REM_ACCESS_ERR")
			t.returns("dealloc_mw", b.dev.DeallocMW(mw), "ok")
		}},
		{"window/no-right", windowSource, func(t *T) {
			a, b := t.pair(verbs.RC)
			mw, key := t.bind2(b, verbs.AccessRemoteRead, "SUCCESS BIND_MW")
			w := a.wr(1, verbs.WRRDMAWrite, 8)
			w.RKey = key
			t.send(a, w)
			t.sent(a, "1 REM_ACCESS_ERR")
			t.returns("dealloc_mw", b.dev.DeallocMW(mw), "ok")
		}},
		{"window/region-without-mw-bind", windowSource, func(t *T) {
			_, b := t.pair(verbs.RC, func(o *setup) { o.access &^= verbs.AccessMWBind })
			mw, _ := t.bind2(b, verbs.AccessRemoteRead, "MW_BIND_ERR")
			t.state(b, verbs.ERR)
			t.returns("dealloc_mw", b.dev.DeallocMW(mw), "ok")
		}},
		{"window/writable-over-read-only", windowSource, func(t *T) {
			_, b := t.pair(verbs.RC, func(o *setup) { o.access = verbs.AccessRemoteRead | verbs.AccessMWBind })
			mw, _ := t.bind2(b, verbs.AccessRemoteWrite, "MW_BIND_ERR")
			t.returns("dealloc_mw", b.dev.DeallocMW(mw), "ok")
		}},
		{"window/local-inv-of-a-region", "rxe_mr.c rxe_invalidate_mr: a region of a program cannot be invalidated", func(t *T) {
			a, _ := t.pair(verbs.RC)
			t.send(a, verbs.SendWR{ID: 4, Opcode: verbs.WRLocalInv, InvRKey: a.mr.RKey, Flags: verbs.SendSignaled})
			t.sent(a, "4 "+t.rule("LOCAL_INV of a region"))
			t.state(a, verbs.ERR)
		}},
	}
}

// bind2 binds a new window of type 2 over 64 bytes at remoteOff.
func (t *T) bind2(s *side, access verbs.AccessFlags, want string) (verbs.MW, uint32) {
	t.Helper()
	mw := must[verbs.MWInfo](t, "alloc_mw")(s.dev.AllocMW(s.pd, verbs.MWType2))
	key := mw.RKey&^0xff | (mw.RKey+1)&0xff
	t.send(s, verbs.SendWR{
		ID: 3, Opcode: verbs.WRBindMW, Flags: verbs.SendSignaled, MW: mw.MW, BindRKey: key,
		Bind: verbs.MWBind{MR: s.mr.MR, Addr: s.mr.Addr + remoteOff, Length: 64, Access: access},
	})
	t.sent(s, "3 "+want)
	return mw.MW, key
}

// failure is a request that ends badly: what each side's completions and states
// are. A word that is a row of differences stands for that row.
type failure struct {
	name, source     string
	op               verbs.WROpcode
	change           func(t *T, a, b *side, w *verbs.SendWR)
	setup            func(o *setup)
	recv             int // bytes of the receive that b posts, 0 for none
	sender, receiver string
	stateA, stateB   verbs.QPState
}

var failures = []failure{
	{"write-bad-rkey", "ibv_poll_cq(3) REM_ACCESS_ERR", verbs.WRRDMAWrite, func(_ *T, _, _ *side, w *verbs.SendWR) { w.RKey ^= 0xff }, nil, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"read-bad-rkey", "ibv_poll_cq(3) REM_ACCESS_ERR", verbs.WRRDMARead, func(_ *T, _, _ *side, w *verbs.SendWR) { w.RKey ^= 0xff }, nil, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"atomic-bad-rkey", "ibv_poll_cq(3) REM_ACCESS_ERR", verbs.WRAtomicFetchAdd, func(_ *T, _, _ *side, w *verbs.SendWR) { w.RKey ^= 0xff }, nil, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"write-before-region", "rdma-unit-test BufferMrTest.WriteExceedFront", verbs.WRRDMAWrite, func(_ *T, _, b *side, w *verbs.SendWR) { w.RemoteVA = b.mr.Addr - 1 }, nil, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"write-past-region", "rdma-unit-test BufferMrTest.WriteExceedRear", verbs.WRRDMAWrite, func(_ *T, _, b *side, w *verbs.SendWR) { w.RemoteVA = b.mr.Addr + bufferBytes - 7 }, nil, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"read-past-region", "rdma-unit-test BufferMrTest.ReadExceedRear", verbs.WRRDMARead, func(_ *T, _, b *side, w *verbs.SendWR) { w.RemoteVA = b.mr.Addr + bufferBytes - 7 }, nil, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"write-region-without", "rdma-unit-test RdmaAccessTest.MissingDstRemoteWrite", verbs.WRRDMAWrite, nil, func(o *setup) { o.access &^= verbs.AccessRemoteWrite }, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"read-region-without", "ibv_reg_mr(3)", verbs.WRRDMARead, nil, func(o *setup) { o.access &^= verbs.AccessRemoteRead }, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"atomic-region-without", "rdma-unit-test AtomicAccessTest.MissingDstRemoteAtomic", verbs.WRAtomicFetchAdd, nil, func(o *setup) { o.access &^= verbs.AccessRemoteAtomic }, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
	{"write-qp-without", "ibv_modify_qp(3) qp_access_flags; rxe_resp.c check_op_valid", verbs.WRRDMAWrite, nil, func(o *setup) { o.qpAccess &^= verbs.AccessRemoteWrite }, 0, "REM_INV_REQ_ERR", "", verbs.ERR, verbs.ERR},
	{"read-qp-without", "ibv_modify_qp(3) qp_access_flags; rxe_resp.c check_op_valid", verbs.WRRDMARead, nil, func(o *setup) { o.qpAccess &^= verbs.AccessRemoteRead }, 0, "REM_INV_REQ_ERR", "", verbs.ERR, verbs.ERR},
	{"atomic-qp-without", "ibv_modify_qp(3) qp_access_flags; rxe_resp.c check_op_valid", verbs.WRAtomicCmpAndSwp, nil, func(o *setup) { o.qpAccess &^= verbs.AccessRemoteAtomic }, 0, "REM_INV_REQ_ERR", "", verbs.ERR, verbs.ERR},
	{"send-bad-lkey", "ibv_poll_cq(3)", verbs.WRSend, func(_ *T, _, _ *side, w *verbs.SendWR) { w.SGL[0].LKey ^= 0xff }, nil, 64, "SEND from a bad lkey", "", verbs.ERR, verbs.RTS},
	{"write-past-own-region", "ibv_poll_cq(3) LOC_PROT_ERR", verbs.WRRDMAWrite, func(_ *T, a, _ *side, w *verbs.SendWR) { w.SGL[0].Addr = a.mr.Addr + bufferBytes - 4 }, nil, 0, "LOC_PROT_ERR", "", verbs.ERR, verbs.RTS},
	{"read-bad-lkey", "ibv_poll_cq(3) LOC_PROT_ERR", verbs.WRRDMARead, func(_ *T, _, _ *side, w *verbs.SendWR) { w.SGL[0].LKey ^= 0xff }, nil, 0, "LOC_PROT_ERR", "", verbs.ERR, verbs.RTS},
	{"atomic-bad-lkey", "ibv_poll_cq(3) LOC_PROT_ERR", verbs.WRAtomicFetchAdd, func(_ *T, _, _ *side, w *verbs.SendWR) { w.SGL[0].LKey ^= 0xff }, nil, 0, "LOC_PROT_ERR", "", verbs.ERR, verbs.RTS},
	{"read-without-local-write", "rdma-unit-test RdmaAccessTest.MissingSrcLocalWrite", verbs.WRRDMARead, nil, func(o *setup) { o.access = verbs.AccessRemoteRead }, 0, "LOC_PROT_ERR", "", verbs.ERR, verbs.RTS},
	{"send-too-long", "ibv_poll_cq(3) LOC_LEN_ERR", verbs.WRSend, nil, nil, 4, "SEND too long, sender", "SEND too long, receiver", verbs.ERR, verbs.ERR},
	{"send-without-local-write", "rdma-unit-test MessagingAccessTest.MissingDstLocalWrite", verbs.WRSend, nil, func(o *setup) { o.access = verbs.AccessRemoteRead }, 64, "REM_OP_ERR", "receive with a bad lkey", verbs.ERR, verbs.ERR},
	{"write-imm-bad-rkey", "ibv_poll_cq(3)", verbs.WRRDMAWriteWithImm, func(_ *T, _, _ *side, w *verbs.SendWR) { w.RKey ^= 0xff }, nil, 64, "REM_ACCESS_ERR", "WRITE_WITH_IMM, bad rkey", verbs.ERR, verbs.ERR},
	{"send-rnr", "ibv_modify_qp(3) rnr_retry; ibv_poll_cq(3) RNR_RETRY_EXC_ERR", verbs.WRSend, nil, func(o *setup) {
		o.attr = func(a *verbs.QPAttr) { a.RNRRetry, a.MinRNRTimer = 1, 1 }
	}, 0, "RNR_RETRY_EXC_ERR", "", verbs.ERR, verbs.RTS},
	{"write-imm-rnr", "ibv_poll_cq(3) RNR_RETRY_EXC_ERR: WRITE_WITH_IMM takes a receive", verbs.WRRDMAWriteWithImm, nil, func(o *setup) {
		o.attr = func(a *verbs.QPAttr) { a.RNRRetry, a.MinRNRTimer = 0, 1 }
	}, 0, "RNR_RETRY_EXC_ERR", "", verbs.ERR, verbs.RTS},
	{"peer-in-reset", "ibv_poll_cq(3) RETRY_EXC_ERR", verbs.WRRDMAWrite, func(t *T, _, b *side, _ *verbs.SendWR) { t.move(b, verbs.RESET) }, func(o *setup) {
		o.attr = func(a *verbs.QPAttr) { a.RetryCnt, a.Timeout = 1, 8 }
	}, 0, "RETRY_EXC_ERR", "", verbs.ERR, verbs.RESET},
	{"peer-destroyed", "ibv_poll_cq(3) RETRY_EXC_ERR", verbs.WRRDMARead, func(t *T, _, b *side, _ *verbs.SendWR) {
		t.ok("destroy_qp", b.dev.DestroyQP(b.qp.QP))
		b.qp.QP = 0
	}, func(o *setup) {
		o.attr = func(a *verbs.QPAttr) { a.RetryCnt, a.Timeout = 1, 8 }
	}, 0, "RETRY_EXC_ERR", "", verbs.ERR, verbs.RESET},
	{"deregistered", "ibv_dereg_mr(3): the keys are void", verbs.WRRDMAWrite, func(t *T, _, b *side, _ *verbs.SendWR) { t.ok("dereg_mr", b.dev.DeregMR(b.mr.MR)) }, nil, 0, "REM_ACCESS_ERR", "", verbs.ERR, verbs.ERR},
}

func statusCases() []Case {
	var all []Case
	for _, f := range failures {
		all = append(all, Case{"status/" + f.name, f.source, func(t *T) { t.fails(f) }})
	}
	for _, op := range []verbs.WROpcode{verbs.WRRDMAWrite, verbs.WRRDMARead} {
		all = append(all, Case{fmt.Sprintf("status/%s-0-bytes-bad-rkey", op), "IBTA C9-88: no bytes, no check; rdma-unit-test BufferMrTest.*ZeroByteInvalidRKey", func(t *T) {
			a, _ := t.pair(verbs.RC)
			w := a.wr(1, op, 0)
			w.RKey, w.RemoteVA = 0xdead, 0
			t.send(a, w)
			t.sent(a, fmt.Sprintf("1 SUCCESS %s len=0", op))
		}})
	}
	return all
}

func (t *T) fails(f failure) {
	t.Helper()
	change := f.setup
	if change == nil {
		change = func(*setup) {}
	}
	a, b := t.pair(verbs.RC, change)
	w := a.wr(1, f.op, 8)
	if f.recv > 0 {
		t.recv(b, 5, f.recv)
	}
	if f.change != nil {
		f.change(t, a, b, &w)
	}
	t.send(a, w)
	t.sent(a, "1 "+t.status(f.sender))
	t.quiet()
	if f.receiver != "" {
		t.received(b, "5 "+t.status(f.receiver))
	} else {
		t.received(b)
	}
	t.state(a, f.stateA)
	if b.qp.QP != 0 {
		t.state(b, f.stateB)
	}
}

func (t *T) status(word string) string {
	if _, known := differences[word]; known {
		return t.rule(word)
	}
	return word
}

const flushSource = "IBTA 10.3.1: in ERR requests are flushed in order; ibv_modify_qp(3)"

func flushCases() []Case {
	var all []Case
	for _, typ := range qpTypes {
		all = append(all, Case{"flush/recvs-" + typ.String(), flushSource, func(t *T) {
			a, _ := t.pair(typ)
			for i := range uint64(3) {
				t.recv(a, i, 64)
			}
			t.move(a, verbs.ERR)
			t.received(a, "0 WR_FLUSH_ERR", "1 WR_FLUSH_ERR", "2 WR_FLUSH_ERR")
			t.sent(a)
		}})
	}
	return all
}

func flushOrderCases() []Case {
	return []Case{
		{"flush/after-error", flushSource, func(t *T) {
			a, _ := t.pair(verbs.RC)
			bad := a.wr(1, verbs.WRRDMAWrite, 8)
			bad.RKey ^= 0xff
			quiet := a.wr(2, verbs.WRRDMAWrite, 8)
			quiet.Flags = 0 // an error is told of unsignaled requests too
			t.send(a, bad, quiet, a.wr(3, verbs.WRSend, 8))
			t.sent(a, "1 REM_ACCESS_ERR", "2 WR_FLUSH_ERR", "3 WR_FLUSH_ERR")
		}},
		{"flush/unsignaled-error", "IBTA 10.7.3.1: an error completes whatever the flags say", func(t *T) {
			a, _ := t.pair(verbs.RC)
			bad := a.wr(1, verbs.WRRDMAWrite, 8)
			bad.RKey ^= 0xff
			bad.Flags = 0
			t.send(a, bad)
			t.sent(a, "1 REM_ACCESS_ERR")
		}},
		{"flush/posted-in-err", flushSource, func(t *T) {
			a, _ := t.pair(verbs.RC)
			t.move(a, verbs.ERR)
			w := a.wr(1, verbs.WRSend, 8)
			w.Flags = 0
			t.send(a, w)
			t.sent(a, "1 WR_FLUSH_ERR")
		}},
		{"flush/recv-posted-in-err", flushSource, func(t *T) {
			a, _ := t.pair(verbs.RC)
			t.move(a, verbs.ERR)
			t.quiet()
			t.recv(a, 1, 8)
			if t.rule("a receive posted in ERR") == "waits" {
				t.received(a)
				t.move(a, verbs.ERR)
			}
			t.received(a, "1 WR_FLUSH_ERR")
		}},
	}
}

func discardCases() []Case {
	return []Case{
		{"flush/reset-discards", "ibv_modify_qp(3): RESET discards what is queued, without completions", func(t *T) {
			a, _ := t.pair(verbs.RC)
			t.move(a, verbs.SQD)
			t.quiet()
			t.send(a, a.wr(1, verbs.WRSend, 8))
			t.recv(a, 2, 8)
			t.move(a, verbs.RESET)
			t.raise(a, defaultSetup(), verbs.RTS)
			t.sent(a)
			t.received(a)
			t.move(a, verbs.ERR)
			t.sent(a)
			t.received(a)
		}},
		{"flush/destroy-discards", "ibv_destroy_qp(3)", func(t *T) {
			a, _ := t.pair(verbs.RC)
			t.recv(a, 2, 8)
			t.ok("destroy_qp", a.dev.DestroyQP(a.qp.QP))
			t.received(a)
		}},
		{"flush/sqd-to-err", flushSource, func(t *T) {
			a, _ := t.pair(verbs.RC)
			t.move(a, verbs.SQD)
			t.quiet()
			t.send(a, a.wr(1, verbs.WRSend, 8))
			t.move(a, verbs.ERR)
			t.sent(a, "1 WR_FLUSH_ERR")
		}},
		{"flush/peer-stays", "IBTA: ERR of one side tells the other nothing", func(t *T) {
			a, b := t.pair(verbs.RC)
			t.move(a, verbs.ERR)
			t.quiet()
			t.state(b, verbs.RTS)
		}},
	}
}
