package devicetest

import (
	"maps"
	"slices"
	"strings"

	"rdmaprep/sim/verbs"
)

// notified is a pair whose b has its receive CQ, and a its send CQ, on a channel.
func (t *T) notified(typ verbs.QPType) (a, b *side, chA, chB verbs.Channel) {
	t.Helper()
	o := defaultSetup()
	a, b = t.base("a", o), t.base("b", o)
	chA = must[verbs.Channel](t, "create_comp_channel")(a.dev.CreateChannel())
	chB = must[verbs.Channel](t, "create_comp_channel")(b.dev.CreateChannel())
	a.sendCQ = must[verbs.CQInfo](t, "create_cq")(a.dev.CreateCQ(64, chA)).CQ
	b.recvCQ = must[verbs.CQInfo](t, "create_cq")(b.dev.CreateCQ(64, chB)).CQ
	t.connect(a, b, typ, o)
	return a, b, chA, chB
}

// events takes what is in a channel, acknowledges it, and counts.
func (t *T) events(s *side, ch verbs.Channel, cq verbs.CQ) int {
	t.Helper()
	for n := 0; ; n++ {
		got, ok, err := s.dev.GetCQEvent(ch)
		if err != nil {
			t.Fatalf("get_cq_event: %v", err)
		}
		if !ok {
			return n
		}
		t.is("the CQ of the event", got, cq)
		t.ok("ack_cq_events", s.dev.AckCQEvents(cq, 1))
	}
}

const notifySource = "ibv_req_notify_cq(3), ibv_get_cq_event(3); rdma-unit-test CompChannelTest"

func notifyCases() []Case {
	// message arms b's CQ, sends, and wants so many events.
	message := func(name string, arm func(t *T, b *side), solicited bool, want int) Case {
		return Case{"notify/" + name, notifySource, func(t *T) {
			a, b, _, ch := t.notified(verbs.RC)
			arm(t, b)
			t.recv(b, 5, 64)
			w := a.wr(1, verbs.WRSend, 8)
			if solicited {
				w.Flags |= verbs.SendSolicited
			}
			t.send(a, w)
			t.received(b, "5 SUCCESS RECV len=8")
			t.quiet()
			t.is("events", t.events(b, ch, b.recvCQ), want)
		}}
	}
	arm := func(solicitedOnly ...bool) func(*T, *side) {
		return func(t *T, b *side) {
			for _, only := range solicitedOnly {
				t.ok("req_notify_cq", b.dev.ReqNotifyCQ(b.recvCQ, only))
			}
		}
	}
	return []Case{
		message("not-armed", arm(), true, 0),
		message("any", arm(false), false, 1),
		message("any-solicited", arm(false), true, 1),
		message("solicited", arm(true), true, 1),
		message("solicited-not", arm(true), false, 0),
		message("twice", arm(false, false), false, 1),
		message("upgrade", arm(true, false), false, 1),
		message("downgrade-ignored", arm(false, true), false, 1),
	}
}

func notifyEventCases() []Case {
	return []Case{
		{"notify/once-for-each-arming", notifySource, func(t *T) {
			a, b, _, ch := t.notified(verbs.RC)
			for range 2 {
				t.ok("req_notify_cq", b.dev.ReqNotifyCQ(b.recvCQ, false))
				for i := range uint64(3) {
					t.recv(b, i, 64)
					t.send(a, a.wr(1, verbs.WRSend, 8))
				}
				t.received(b, "0 SUCCESS RECV len=8", "1 SUCCESS RECV len=8", "2 SUCCESS RECV len=8")
				t.quiet()
				t.is("events", t.events(b, ch, b.recvCQ), 1)
			}
		}},
		{"notify/arm-after", "ibv_req_notify_cq(3): completions that are there already give no event", func(t *T) {
			a, b, _, ch := t.notified(verbs.RC)
			t.recv(b, 5, 64)
			t.send(a, a.wr(1, verbs.WRSend, 8))
			t.quiet()
			t.ok("req_notify_cq", b.dev.ReqNotifyCQ(b.recvCQ, false))
			t.quiet()
			t.is("events", t.events(b, ch, b.recvCQ), 0)
		}},
		{"notify/send", notifySource, func(t *T) {
			a, _, ch, _ := t.notified(verbs.RC)
			t.ok("req_notify_cq", a.dev.ReqNotifyCQ(a.sendCQ, false))
			t.send(a, a.wr(1, verbs.WRRDMAWrite, 8))
			t.sent(a, "1 SUCCESS RDMA_WRITE len=8")
			t.quiet()
			t.is("events", t.events(a, ch, a.sendCQ), 1)
		}},
		{"notify/send-error-solicited", "IBTA: an unsuccessful completion is solicited; rxe_comp.c do_complete", func(t *T) {
			a, _, ch, _ := t.notified(verbs.RC)
			t.ok("req_notify_cq", a.dev.ReqNotifyCQ(a.sendCQ, true))
			w := a.wr(1, verbs.WRRDMAWrite, 8)
			w.RKey ^= 0xff
			t.send(a, w)
			t.sent(a, "1 REM_ACCESS_ERR")
			t.quiet()
			t.is("an event came", t.events(a, ch, a.sendCQ) == 1, t.rule("a failed send is solicited"))
		}},
	}
}

func notifyEdgeCases() []Case {
	return []Case{
		{"notify/no-channel", "ibv_req_notify_cq(3); rdma-unit-test RequestNotificationOnCqWithoutCompChannel", func(t *T) {
			s := t.base("a", defaultSetup())
			t.returns("req_notify_cq", s.dev.ReqNotifyCQ(s.sendCQ, false), t.rule("arming without a channel"))
		}},
		{"notify/unacked", "ibv_ack_cq_events(3): ibv_destroy_cq waits for what was not acknowledged", func(t *T) {
			a, b, _, ch := t.notified(verbs.RC)
			t.ok("req_notify_cq", b.dev.ReqNotifyCQ(b.recvCQ, false))
			t.recv(b, 5, 64)
			t.send(a, a.wr(1, verbs.WRSend, 8))
			t.quiet()
			_, ok, err := b.dev.GetCQEvent(ch)
			t.ok("get_cq_event", err)
			t.is("an event", ok, true)
			t.ok("destroy_qp", b.dev.DestroyQP(b.qp.QP))
			t.returns("destroy_cq", b.dev.DestroyCQ(b.recvCQ), "EBUSY")
			t.returns("ack_cq_events of 2", b.dev.AckCQEvents(b.recvCQ, 2), "EINVAL")
			t.returns("ack_cq_events of -1", b.dev.AckCQEvents(b.recvCQ, -1), "EINVAL")
			t.returns("ack_cq_events of 0", b.dev.AckCQEvents(b.recvCQ, 0), "ok")
			t.returns("ack_cq_events of 1", b.dev.AckCQEvents(b.recvCQ, 1), "ok")
			t.returns("ack_cq_events of 1", b.dev.AckCQEvents(b.recvCQ, 1), "EINVAL")
			t.returns("destroy_cq", b.dev.DestroyCQ(b.recvCQ), "ok")
		}},
		{"notify/dead-cq", "an event of a CQ that is destroyed is forgotten (core/uverbs_std_types_cq.c)", func(t *T) {
			a, b, _, ch := t.notified(verbs.RC)
			t.ok("req_notify_cq", b.dev.ReqNotifyCQ(b.recvCQ, false))
			t.recv(b, 5, 64)
			t.send(a, a.wr(1, verbs.WRSend, 8))
			t.quiet()
			t.ok("destroy_qp", b.dev.DestroyQP(b.qp.QP))
			t.ok("destroy_cq", b.dev.DestroyCQ(b.recvCQ))
			_, ok, err := b.dev.GetCQEvent(ch)
			t.ok("get_cq_event", err)
			t.is("an event", ok, false)
			t.returns("destroy_comp_channel", b.dev.DestroyChannel(ch), "ok")
		}},
	}
}

func asyncCases() []Case {
	return []Case{
		{"async/none", "ibv_get_async_event(3)", func(t *T) {
			a, b := t.pair(verbs.RC)
			t.send(a, a.wr(1, verbs.WRRDMAWrite, 8))
			t.is("events of a", t.asyncs(a, 0), "")
			t.is("events of b", t.asyncs(b, 0), "")
		}},
		{"async/ack-of-nothing", "ibv_ack_async_event(3)", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			t.returns("ack_async_event", s.dev.AckAsyncEvent(verbs.AsyncEvent{Type: verbs.EventSQDrained, QP: s.qp.QP}), "EINVAL")
		}},
		{"async/unacked", "ibv_ack_async_event(3): destroying waits for what was not acknowledged", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			t.ok("modify_qp", s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{State: verbs.SQD, EnSQDAsyncNotify: true}, verbs.MaskState|verbs.MaskEnSQDAsyncNotify))
			t.quiet()
			ev, ok, err := s.dev.GetAsyncEvent()
			t.ok("get_async_event", err)
			t.is("the event", []any{ok, ev.Type, ev.QP}, []any{true, verbs.EventSQDrained, s.qp.QP})
			t.returns("destroy_qp", s.dev.DestroyQP(s.qp.QP), "EBUSY")
			t.returns("ack_async_event", s.dev.AckAsyncEvent(ev), "ok")
			t.returns("ack_async_event again", s.dev.AckAsyncEvent(ev), "EINVAL")
			t.returns("destroy_qp", s.dev.DestroyQP(s.qp.QP), "ok")
		}},
		{"async/dead-qp", "core/uverbs_main.c ib_uverbs_release_uevent: the events of a destroyed QP go with it", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			t.ok("modify_qp", s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{State: verbs.SQD, EnSQDAsyncNotify: true}, verbs.MaskState|verbs.MaskEnSQDAsyncNotify))
			t.quiet()
			t.returns("destroy_qp", s.dev.DestroyQP(s.qp.QP), "ok")
			t.is("events", t.asyncs(s, 0), "")
		}},
		{"async/sq-drained", "ibv_modify_qp(3) en_sqd_async_notify", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			t.ok("modify_qp", s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{State: verbs.SQD, EnSQDAsyncNotify: true}, verbs.MaskState|verbs.MaskEnSQDAsyncNotify))
			t.is("events", t.asyncs(s, 1), "SQ_DRAINED")
		}},
		{"async/sq-drained-unasked", "rxe_req.c next_wqe tells it unasked", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			t.move(s, verbs.SQD)
			t.is("events", t.asyncs(s, 0), t.rule("SQ_DRAINED unasked"))
		}},
	}
}

func asyncResponderCases() []Case {
	return []Case{
		{"async/access-error", "IBTA C9-222.1.1: QP_ACCESS_ERR at the responder", func(t *T) {
			a, b := t.pair(verbs.RC)
			w := a.wr(1, verbs.WRRDMAWrite, 8)
			w.RKey ^= 0xff
			t.send(a, w)
			t.sent(a, "1 REM_ACCESS_ERR")
			t.is("events of b", t.asyncs(b, 0), t.rule("access event at the responder"))
			t.is("events of a", t.asyncs(a, 0), "")
		}},
		{"async/srq-limit", "ibv_modify_srq(3) srq_limit: once, when fewer are left", func(t *T) {
			o := defaultSetup()
			a, b := t.base("a", o), t.base("b", o)
			o.srq = t.srq(b, 16)
			t.addQP(b, verbs.RC, o)
			ob := o
			o.srq = 0
			t.addQP(a, verbs.RC, o)
			a.peer, b.peer = b, a
			t.raise(a, o, verbs.RTS)
			t.raise(b, ob, verbs.RTS)
			for i := range uint64(4) {
				t.postSRQ(b, ob.srq, i)
			}
			t.ok("modify_srq", b.dev.ModifySRQ(ob.srq, verbs.SRQAttr{Limit: 3}, verbs.MaskSRQLimit))
			for i, want := range []string{"", "SRQ_LIMIT_REACHED", ""} { // 3, 2, 1 are left
				t.send(a, a.wr(uint64(i), verbs.WRSend, 8))
				t.is("events", t.asyncs(b, len(want)/len("SRQ_LIMIT_REACHED")), want)
			}
			t.is("limit", t.srqAttr(b, ob.srq).Limit, 0)
		}},
		{"async/srq-last", "IBTA: LAST_WQE_REACHED of a QP with an SRQ", func(t *T) {
			o := defaultSetup()
			s := t.base("a", o)
			o.srq = t.srq(s, 4)
			t.addQP(s, verbs.RC, o)
			t.raise(s, o, verbs.RTS)
			t.move(s, verbs.ERR)
			t.is("events", t.asyncs(s, 0), t.rule("SRQ, moved to ERR"))
		}},
	}
}

// overflowCases: a CQ that is too small. rxe loses a completion of the send side
// and goes on; on the receive side the queue pair stops without an answer.
func overflowCases() []Case {
	const source = "rxe_cq.c rxe_cq_post, rxe_comp.c do_complete, rxe_resp.c do_complete; IBTA: CQ_ERR, and the CQ's QPs stop"
	return []Case{
		{"overflow/send", source, func(t *T) {
			a, b := t.pair(verbs.RC, func(o *setup) { o.cqe = 1 })
			for i := range uint64(3) {
				t.send(a, a.wr(i, verbs.WRRDMAWrite, 8))
			}
			t.is("events", t.asyncs(a, 1), t.rule("send CQ overflow, events"))
			t.is("state", must[verbs.QPAttr](t, "query_qp")(a.dev.QueryQP(a.qp.QP)).State, t.rule("send CQ overflow, state"))
			t.state(b, verbs.RTS)
			t.sent(a, "0 SUCCESS RDMA_WRITE len=8")
		}},
		{"overflow/receive", source, func(t *T) {
			a, b := t.pair(verbs.RC, func(o *setup) {
				o.attr = func(a *verbs.QPAttr) { a.RetryCnt, a.Timeout = 1, 8 }
			})
			_, err := b.dev.ResizeCQ(b.recvCQ, 1)
			t.ok("resize_cq", err)
			for i := range uint64(2) {
				t.recv(b, i, 64)
			}
			t.send(a, a.wr(1, verbs.WRSend, 8), a.wr(2, verbs.WRSend, 8))
			t.sent(a, "1 SUCCESS SEND len=8", "2 RETRY_EXC_ERR")
			t.state(b, verbs.ERR)
			t.is("the first event", strings.HasPrefix(t.asyncs(b, 1), "CQ_ERR"), true)
			t.received(b, "0 SUCCESS RECV len=8")
		}},
	}
}

func counterCases() []Case {
	const source = "verbs.Device: counted from the opening of the device"
	return []Case{
		{"counter/from-zero", source, func(t *T) {
			c := must[map[string]uint64](t, "counters")(t.dev("a").Counters())
			if len(c) == 0 {
				t.Error("no counters")
			}
			for name, v := range c {
				if v != 0 {
					t.Errorf("%s is %d at the start", name, v)
				}
			}
		}},
		{"counter/names", "rxe_hw_counters.c rxe_counter_descs; mlx5's names", func(t *T) {
			c := must[map[string]uint64](t, "counters")(t.dev("a").Counters())
			for _, name := range []string{"duplicate_request", t.rule("counter of an RNR NAK")} {
				if _, ok := c[name]; !ok {
					t.Errorf("no counter %s among %v", name, slices.Sorted(maps.Keys(c)))
				}
			}
		}},
		{"counter/traffic", "rxe_hw_counters.c; three packets and one acknowledgement", func(t *T) {
			a, b := t.pair(verbs.RC)
			t.recv(b, 5, 4096)
			t.send(a, a.wr(1, verbs.WRSend, 3000))
			t.sent(a, "1 SUCCESS SEND len=3000")
			t.quiet()
			for name, want := range map[string]uint64{"sent_pkts": 4, "rcvd_pkts": 4, "rdma_sends": 1, "rdma_recvs": 1, "duplicate_request": 0} {
				if t.rxe() {
					t.is(name, t.counted(name), want)
				}
			}
			t.is("duplicates", t.counted("duplicate_request"), 0)
		}},
		{"counter/rnr", "rxe_hw_counters.c rcvd_rnr_err", func(t *T) {
			a, _ := t.pair(verbs.RC, func(o *setup) { o.attr = func(a *verbs.QPAttr) { a.RNRRetry, a.MinRNRTimer = 1, 1 } })
			t.send(a, a.wr(1, verbs.WRSend, 8))
			t.sent(a, "1 RNR_RETRY_EXC_ERR")
			t.quiet()
			t.is("RNR NAKs", t.counted(t.rule("counter of an RNR NAK")), 2)
		}},
	}
}

// counted is a counter of the whole Bench: on a live one both nodes are one
// device, whose counters each of them tells.
func (t *T) counted(name string) uint64 {
	t.Helper()
	sum := uint64(0)
	for _, node := range t.bench.Nodes() {
		c := must[map[string]uint64](t, "counters")(t.dev(node).Counters())
		if t.bench.Live() {
			return c[name]
		}
		sum += c[name]
	}
	return sum
}

func closeCases() []Case {
	const source = "verbs.Device.Close releases everything that is left"
	return []Case{
		{"close/twice", source, func(t *T) {
			d := t.dev("a")
			t.returns("close", d.Close(), "ok")
			t.returns("close again", d.Close(), "ok")
			t.returns("close of the Bench", t.bench.Close(), "ok")
		}},
		{"close/bench", "verbs.Bench.Close closes the nodes", func(t *T) {
			d := t.dev("b")
			t.ok("close", t.bench.Close())
			_, err := d.AllocPD()
			t.returns("alloc_pd", err, "ENODEV")
		}},
		{"close/with-everything", source, func(t *T) {
			a, b := t.pair(verbs.RC)
			t.pair(verbs.UD)
			mw, _ := t.bind2(b, verbs.AccessRemoteRead, "SUCCESS BIND_MW")
			t.srq(a, 4)
			t.recv(a, 1, 8)
			t.is("a window", mw != 0, true)
			t.returns("close", b.dev.Close(), "ok")
			t.returns("close", a.dev.Close(), "ok")
		}},
		{"close/then-nothing", "ibv_close_device(3)", func(t *T) {
			s := t.base("a", defaultSetup())
			t.ok("close", s.dev.Close())
			_, err := s.dev.AllocPD()
			t.returns("alloc_pd", err, "ENODEV")
			_, err = s.dev.Alloc(8)
			t.returns("alloc", err, "ENODEV")
			_, err = s.dev.CreateChannel()
			t.returns("create_comp_channel", err, "ENODEV")
			_, err = s.dev.CreateCQ(4, 0)
			t.returns("create_cq", err, "ENODEV")
			_, err = s.dev.QueryDevice()
			t.returns("query_device", err, "ENODEV")
			_, err = s.dev.QueryPort(1)
			t.returns("query_port", err, "ENODEV")
			_, err = s.dev.QueryGID(1, s.gid)
			t.returns("query_gid", err, "ENODEV")
			_, _, err = s.dev.GetAsyncEvent()
			t.returns("get_async_event", err, "ENODEV")
			_, err = s.dev.Counters()
			t.returns("counters", err, "ENODEV")
			_, err = s.dev.RegMR(s.pd, s.buf, 8, 0)
			t.returns("reg_mr", err, "EINVAL")
			_, err = s.dev.PollCQ(s.sendCQ, make([]verbs.WC, 1))
			t.returns("poll_cq", err, "EINVAL")
			t.returns("dereg_mr", s.dev.DeregMR(s.mr.MR), "ENOENT")
			t.returns("load", s.dev.Load(s.buf, make([]byte, 1)), "EFAULT")
		}},
	}
}
