package devicetest

import (
	"fmt"

	"rdmaprep/sim/verbs"
)

// postStateCases post in every state of every type. Sends may be posted from
// RTS on, receives from INIT on (ibv_post_send(3), ibv_post_recv(3)).
func postStateCases() []Case {
	var all []Case
	for _, typ := range qpTypes {
		for st := verbs.RESET; st <= verbs.ERR; st++ {
			if st == verbs.SQE && typ == verbs.RC {
				continue // RC never enters SQE
			}
			all = append(all, Case{fmt.Sprintf("post-state/%s-%s", typ, st), "ibv_post_send(3), ibv_post_recv(3)", func(t *T) {
				s, _ := t.at(typ, st)
				n, err := s.dev.PostRecv(s.qp.QP, []verbs.RecvWR{{ID: 1, SGL: s.sge(0, 256)}})
				want, count := "ok", 1
				if st == verbs.RESET {
					want, count = "EINVAL", 0
				}
				t.returns("post_recv in "+st.String(), err, want)
				t.is("receives posted", n, count)
				w := s.wr(2, verbs.WRSend, 8)
				if typ == verbs.UD {
					w.AH = must[verbs.AH](t, "create_ah")(s.dev.CreateAH(s.pd, t.address(s, s)))
					w.RemoteQPN, w.RemoteQKey = s.qp.Num, udQKey
				}
				n, err = s.dev.PostSend(s.qp.QP, []verbs.SendWR{w})
				want, count = "ok", 1
				if st <= verbs.RTR {
					want, count = "EINVAL", 0
				}
				t.returns("post_send in "+st.String(), err, want)
				t.is("sends posted", n, count)
			}})
		}
	}
	return all
}

// refusal is a request that post_send refuses.
type refusal struct {
	name, source, want string
	change             func(t *T, a *side, w *verbs.SendWR)
}

var refusals = []refusal{
	{"too-many-sge", "ibv_post_send(3): EINVAL", "EINVAL", func(_ *T, a *side, w *verbs.SendWR) {
		w.SGL = make([]verbs.SGE, a.qp.Cap.MaxSendSGE+1)
	}},
	{"too-much-inline", "ibv_post_send(3); max_inline_data", "EINVAL", func(_ *T, a *side, w *verbs.SendWR) {
		w.SGL, w.Flags = a.sge(0, a.qp.Cap.MaxInline+1), verbs.SendInline
	}},
	{"no-such-opcode", "infiniband/verbs.h enum ibv_wr_opcode", "EINVAL", func(_ *T, _ *side, w *verbs.SendWR) { w.Opcode = 200 }},
	{"inline-unmapped", "the library copies inline data: a program would crash", "EFAULT", func(_ *T, _ *side, w *verbs.SendWR) {
		w.SGL, w.Flags = []verbs.SGE{{Addr: 64, Length: 8}}, verbs.SendInline
	}},
	{"inline-read", "inline", "inline READ", func(_ *T, _ *side, w *verbs.SendWR) {
		w.Opcode, w.Flags = verbs.WRRDMARead, verbs.SendInline|verbs.SendSignaled
	}},
	{"atomic-misaligned", "atomic", "atomic at a bad address", func(_ *T, _ *side, w *verbs.SendWR) {
		w.Opcode = verbs.WRAtomicFetchAdd
		w.RemoteVA += 4
	}},
	{"atomic-short", "atomic", "atomic at a bad address", func(_ *T, a *side, w *verbs.SendWR) {
		w.Opcode, w.SGL = verbs.WRAtomicCmpAndSwp, a.sge(0, 4)
	}},
	{"bind-with-sge", "rdma-core providers/rxe/rxe.c validate_send_wr", "EINVAL", func(t *T, a *side, w *verbs.SendWR) {
		mw := must[verbs.MWInfo](t, "alloc_mw")(a.dev.AllocMW(a.pd, verbs.MWType2))
		w.Opcode, w.MW, w.BindRKey = verbs.WRBindMW, mw.MW, mw.RKey+1
		w.Bind = verbs.MWBind{MR: a.mr.MR, Addr: a.mr.Addr, Length: 8, Access: verbs.AccessRemoteRead}
	}},
}

func postCases() []Case {
	var all []Case
	for _, r := range refusals {
		all = append(all, Case{"post/" + r.name, r.source, func(t *T) {
			a, _ := t.pair(verbs.RC)
			w := a.wr(3, verbs.WRSend, 8)
			r.change(t, a, &w)
			want := r.want
			if _, known := differences[want]; known {
				want = t.rule(want)
			}
			// Two good WRITEs before it and one behind it: bad_wr is the third.
			list := []verbs.SendWR{a.wr(1, verbs.WRRDMAWrite, 8), a.wr(2, verbs.WRRDMAWrite, 8), w, a.wr(4, verbs.WRRDMAWrite, 8)}
			n, err := a.dev.PostSend(a.qp.QP, list)
			t.returns("post_send", err, want)
			if want != "ok" {
				t.is("posted", n, 2)
				t.sent(a, "1 SUCCESS RDMA_WRITE len=8", "2 SUCCESS RDMA_WRITE len=8")
				t.state(a, verbs.RTS)
			}
		}})
	}
	return all
}

func postRuleCases() []Case {
	return []Case{
		{"post/recv-too-many-sge", "ibv_post_recv(3): EINVAL, bad_wr", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.INIT)
			n, err := s.dev.PostRecv(s.qp.QP, []verbs.RecvWR{{ID: 1}, {ID: 2, SGL: make([]verbs.SGE, s.qp.Cap.MaxRecvSGE+1)}, {ID: 3}})
			t.returns("post_recv", err, "EINVAL")
			t.is("posted", n, 1)
		}},
		{"post/ud-no-ah", "rdma-core providers/rxe/rxe.c follows ud.ah", func(t *T) {
			a, _ := t.pair(verbs.UD)
			good, w := a.wr(1, verbs.WRSend, 8), a.wr(2, verbs.WRSend, 8)
			w.AH = 0
			n, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{good, w})
			t.returns("post_send", err, "EINVAL")
			t.is("posted", n, 1)
		}},
		{"post/ud-bind", "rdma-core providers/rxe/rxe.c validate_send_wr: RC and UC alone bind", func(t *T) {
			a, _ := t.pair(verbs.UD)
			mw := must[verbs.MWInfo](t, "alloc_mw")(a.dev.AllocMW(a.pd, verbs.MWType2))
			_, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
				Opcode: verbs.WRBindMW, MW: mw.MW, BindRKey: mw.RKey + 1,
				Bind: verbs.MWBind{MR: a.mr.MR, Addr: a.mr.Addr, Length: 8, Access: verbs.AccessRemoteRead},
			}})
			t.returns("post_send", err, "EINVAL")
			t.state(a, verbs.RTS)
		}},
		{"post/early-send", "a send posted before RTS was refused", func(t *T) {
			a, b := t.pair(verbs.RC)
			o := defaultSetup()
			t.move(a, verbs.RESET)
			for _, st := range []verbs.QPState{verbs.INIT, verbs.RTR} {
				t.ok("modify_qp", t.modify(a, o, st))
			}
			w := a.wr(1, verbs.WRRDMAWrite, 8)
			_, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{w})
			t.returns("post_send in RTR", err, "EINVAL")
			t.ok("modify_qp", t.modify(a, o, verbs.RTS))
			t.move(b, verbs.RESET)
			t.raise(b, o, verbs.RTS)
			t.send(a, a.wr(2, verbs.WRRDMAWrite, 8))
			want := []string{"2 SUCCESS RDMA_WRITE len=8"}
			if t.rule("a send posted early is done later") == "true" {
				want = append([]string{"1 SUCCESS RDMA_WRITE len=8"}, want...)
			}
			t.sent(a, want...)
		}},
		{"post/early-recv", "ibv_post_recv(3): from INIT on", func(t *T) {
			a, b := t.pair(verbs.RC)
			o := defaultSetup()
			t.move(b, verbs.RESET)
			t.ok("modify_qp", t.modify(b, o, verbs.INIT))
			t.recv(b, 5, 64)
			t.ok("modify_qp", t.modify(b, o, verbs.RTR))
			t.send(a, a.wr(1, verbs.WRSend, 64))
			t.received(b, "5 SUCCESS RECV len=64")
			t.sent(a, "1 SUCCESS SEND len=64")
		}},
	}
}

func postFlagCases() []Case {
	return []Case{
		{"post/inline-reuse", "ibv_post_send(3): an inline buffer is the program's again at once", func(t *T) {
			a, b := t.pair(verbs.RC)
			t.move(a, verbs.SQD)
			t.quiet()
			t.store(a, 0, pattern(1, 32))
			w := a.wr(1, verbs.WRRDMAWrite, 32)
			w.Flags |= verbs.SendInline
			w.SGL[0].LKey = 0 // it is not looked at
			t.send(a, w)
			t.store(a, 0, pattern(2, 32))
			t.move(a, verbs.RTS)
			t.send(a, a.wr(2, verbs.WRRDMAWrite, 0))
			t.sent(a, "1 SUCCESS RDMA_WRITE len=32", "2 SUCCESS RDMA_WRITE len=0")
			t.holds(b, remoteOff, pattern(1, 32))
		}},
		{"post/unsignaled", "ibv_create_qp(3) sq_sig_all 0: no completion of an unsignaled success", func(t *T) {
			a, _ := t.pair(verbs.RC)
			one, two := a.wr(1, verbs.WRRDMAWrite, 8), a.wr(2, verbs.WRRDMAWrite, 8)
			one.Flags = 0
			t.send(a, one, two)
			t.sent(a, "2 SUCCESS RDMA_WRITE len=8")
		}},
		{"post/signal-all", "ibv_create_qp(3) sq_sig_all 1", func(t *T) {
			a, _ := t.pair(verbs.RC, func(o *setup) { o.sigAll = true })
			w := a.wr(1, verbs.WRRDMAWrite, 8)
			w.Flags = 0
			t.send(a, w)
			t.sent(a, "1 SUCCESS RDMA_WRITE len=8")
		}},
		{"post/gather-scatter", "ibv_post_send(3), ibv_post_recv(3): SGEs in order", func(t *T) {
			a, b := t.pair(verbs.RC)
			t.store(a, 0, pattern(1, 10))
			t.store(a, 1000, pattern(2, 30))
			if _, err := b.dev.PostRecv(b.qp.QP, []verbs.RecvWR{{ID: 5, SGL: append(b.sge(0, 25), b.sge(500, 100)...)}}); err != nil {
				t.Fatal(err)
			}
			w := a.wr(1, verbs.WRSend, 0)
			w.SGL = append(a.sge(0, 10), a.sge(1000, 30)...)
			t.send(a, w)
			t.received(b, "5 SUCCESS RECV len=40")
			whole := append(pattern(1, 10), pattern(2, 30)...)
			t.holds(b, 0, whole[:25])
			t.holds(b, 500, whole[25:])
		}},
		{"post/fence", "ibv_post_send(3): FENCE", func(t *T) {
			a, b := t.pair(verbs.RC)
			t.store(b, remoteOff, pattern(3, 64))
			r, w := a.wr(1, verbs.WRRDMARead, 64), a.wr(2, verbs.WRRDMAWrite, 64)
			w.Flags |= verbs.SendFence
			w.RemoteVA += 1024
			t.send(a, r, w)
			t.sent(a, "1 SUCCESS RDMA_READ len=64", "2 SUCCESS RDMA_WRITE len=64")
			t.holds(b, remoteOff+1024, pattern(3, 64))
		}},
	}
}

// queueCases fill queues.
func queueCases() []Case {
	const full = "ibv_post_send(3), ibv_post_recv(3): ENOMEM when the queue is full, bad_wr is the first that did not fit"
	var all []Case
	for _, typ := range qpTypes {
		all = append(all, Case{"queue/recv-full-" + typ.String(), full, func(t *T) {
			s, _ := t.one(typ, verbs.INIT)
			n, err := s.dev.PostRecv(s.qp.QP, make([]verbs.RecvWR, t.capacity(s).MaxRecvWR+3))
			t.returns("post_recv", err, "ENOMEM")
			t.is("posted", n, t.capacity(s).MaxRecvWR)
			n, err = s.dev.PostRecv(s.qp.QP, make([]verbs.RecvWR, 1))
			t.returns("post_recv", err, "ENOMEM")
			t.is("posted", n, 0)
			t.move(s, verbs.RESET)
			t.raise(s, defaultSetup(), verbs.INIT)
			_, err = s.dev.PostRecv(s.qp.QP, make([]verbs.RecvWR, t.capacity(s).MaxRecvWR))
			t.returns("post_recv after RESET", err, "ok")
		}})
	}
	return append(all, []Case{
		{"queue/send-full-list", full, func(t *T) {
			a, _ := t.pair(verbs.RC)
			list := make([]verbs.SendWR, t.capacity(a).MaxSendWR+3)
			for i := range list {
				list[i] = a.wr(uint64(i), verbs.WRRDMAWrite, 8)
			}
			n, err := a.dev.PostSend(a.qp.QP, list)
			t.returns("post_send", err, "ENOMEM")
			t.is("posted", n, t.capacity(a).MaxSendWR)
			t.quiet()
			wc := make([]verbs.WC, 64)
			t.is("completions", must[int](t, "poll_cq")(a.dev.PollCQ(a.sendCQ, wc)), t.capacity(a).MaxSendWR)
		}},
		{"queue/send-full-sqd", full, func(t *T) {
			s, _ := t.one(verbs.RC, verbs.SQD)
			for i := range t.capacity(s).MaxSendWR {
				t.send(s, s.wr(uint64(i), verbs.WRSend, 8))
			}
			n, err := s.dev.PostSend(s.qp.QP, []verbs.SendWR{s.wr(99, verbs.WRSend, 8)})
			t.returns("post_send", err, "ENOMEM")
			t.is("posted", n, 0)
		}},
		{"queue/send-slots", "rxe_comp.c advance_queue; mlx5 frees a slot when a completion is polled", func(t *T) {
			a, _ := t.pair(verbs.RC)
			for i := range t.capacity(a).MaxSendWR {
				w := a.wr(uint64(i), verbs.WRRDMAWrite, 8)
				w.Flags = 0
				t.send(a, w)
			}
			t.quiet()
			_, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{a.wr(99, verbs.WRRDMAWrite, 8)})
			t.returns("post_send after so many unsignaled", err, map[string]string{"true": "ok", "false": "ENOMEM"}[t.rule("slots free without a poll")])
		}},
		{"queue/send-poll-frees", "ibv_post_send(3)", func(t *T) {
			a, _ := t.pair(verbs.RC)
			for range 3 {
				n := t.capacity(a).MaxSendWR
				for i := range n {
					w := a.wr(uint64(i), verbs.WRRDMAWrite, 8)
					if i < n-1 {
						w.Flags = 0
					}
					t.send(a, w)
				}
				t.sent(a, fmt.Sprintf("%d SUCCESS RDMA_WRITE len=8", n-1))
			}
		}},
	}...)
}
