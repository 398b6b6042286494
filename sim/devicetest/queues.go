package devicetest

import (
	"fmt"

	"rdmaprep/sim/verbs"
)

const (
	srqInit = "ibv_create_srq(3); rxe_srq.c rxe_srq_chk_init"
	srqAttr = "ibv_modify_srq(3); rxe_srq.c rxe_srq_chk_attr"
)

func srqCases() []Case {
	create := func(name, want string, a verbs.SRQAttr) Case {
		return Case{"srq/" + name, srqInit, func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.CreateSRQ(s.pd, a)
			t.returns("create_srq", err, want)
		}}
	}
	return []Case{
		create("no-entries", "EINVAL", verbs.SRQAttr{MaxWR: 0, MaxSGE: 1}),
		create("too-many-sge", "EINVAL", verbs.SRQAttr{MaxWR: 4, MaxSGE: 1000}),
		create("too-many-entries", "EINVAL", verbs.SRQAttr{MaxWR: 1<<20 + 1, MaxSGE: 1}),
		create("no-sge", "ok", verbs.SRQAttr{MaxWR: 4}),
		{"srq/no-pd", fromCreate, func(t *T) {
			_, err := t.dev("a").CreateSRQ(nobody, verbs.SRQAttr{MaxWR: 4, MaxSGE: 1})
			t.returns("create_srq", err, "EINVAL")
		}},
		{"srq/dead", fromDestroy, func(t *T) {
			s := t.base("a", defaultSetup())
			srq := t.srq(s, 4)
			t.returns("destroy_srq", s.dev.DestroySRQ(srq), "ok")
			t.returns("destroy_srq again", s.dev.DestroySRQ(srq), "ENOENT")
			_, err := s.dev.QuerySRQ(srq)
			t.returns("query_srq", err, "EINVAL")
			t.returns("modify_srq", s.dev.ModifySRQ(srq, verbs.SRQAttr{}, verbs.MaskSRQLimit), "EINVAL")
			_, err = s.dev.PostSRQRecv(srq, []verbs.RecvWR{{ID: 1}})
			t.returns("post_srq_recv", err, "EINVAL")
		}},
		{"srq/busy", fromBusy, func(t *T) {
			o := defaultSetup()
			s := t.base("a", o)
			o.srq = t.srq(s, 4)
			t.addQP(s, verbs.RC, o)
			t.returns("destroy_srq", s.dev.DestroySRQ(o.srq), "EBUSY")
			t.ok("destroy_qp", s.dev.DestroyQP(s.qp.QP))
			t.returns("destroy_srq", s.dev.DestroySRQ(o.srq), "ok")
		}},
		{"srq/query", "ibv_query_srq(3)", func(t *T) {
			s := t.base("a", defaultSetup())
			info := must[verbs.SRQInfo](t, "create_srq")(s.dev.CreateSRQ(s.pd, verbs.SRQAttr{MaxWR: 5, MaxSGE: 2}))
			got := t.srqAttr(s, info.SRQ)
			t.is("create tells what query tells", got.MaxWR == info.Attr.MaxWR, t.rule("create tells the capacity"))
			t.is("max_sge", got.MaxSGE, info.Attr.MaxSGE)
			t.is("limit", got.Limit, 0)
			if got.MaxWR < 5 || got.MaxSGE < 2 {
				t.Errorf("%+v is less than was asked", got)
			}
		}},
		{"srq/limit-at-create", "rxe_srq.c rxe_srq_from_init; ibv_create_srq(3): srq_limit is irrelevant for create", func(t *T) {
			s := t.base("a", defaultSetup())
			info := must[verbs.SRQInfo](t, "create_srq")(s.dev.CreateSRQ(s.pd, verbs.SRQAttr{MaxWR: 8, MaxSGE: 1, Limit: 2}))
			t.is("limit", t.srqAttr(s, info.SRQ).Limit, t.rule("srq_limit given to create"))
		}},
	}
}

func srqUseCases() []Case {
	return []Case{
		{"srq/grows", srqAttr, func(t *T) {
			s := t.base("a", defaultSetup())
			srq := t.srq(s, 4)
			t.ok("modify_srq", s.dev.ModifySRQ(srq, verbs.SRQAttr{MaxWR: 20}, verbs.MaskSRQMaxWR))
			if got := t.srqAttr(s, srq).MaxWR; got < 20 {
				t.Errorf("max_wr is %d after growing to 20", got)
			}
			for i := range uint64(20) {
				t.postSRQ(s, srq, i)
			}
		}},
		{"srq/full", "ibv_post_srq_recv(3): ENOMEM, bad_wr", func(t *T) {
			s := t.base("a", defaultSetup())
			srq := t.srq(s, 4)
			size := t.srqAttr(s, srq).MaxWR
			n, err := s.dev.PostSRQRecv(srq, make([]verbs.RecvWR, size+2))
			t.returns("post_srq_recv", err, "ENOMEM")
			t.is("posted", n, size)
			n, err = s.dev.PostSRQRecv(srq, make([]verbs.RecvWR, 1))
			t.returns("post_srq_recv", err, "ENOMEM")
			t.is("posted", n, 0)
		}},
		{"srq/too-many-sge-posted", "ibv_post_srq_recv(3): EINVAL, bad_wr", func(t *T) {
			s := t.base("a", defaultSetup())
			srq := t.srq(s, 4)
			n, err := s.dev.PostSRQRecv(srq, []verbs.RecvWR{{ID: 1}, {ID: 2, SGL: make([]verbs.SGE, 5)}, {ID: 3}})
			t.returns("post_srq_recv", err, "EINVAL")
			t.is("posted", n, 1)
		}},
		{"srq/shared", "ibv_create_srq(3): the QPs take from it in order", func(t *T) {
			o := defaultSetup()
			a, b := t.base("a", o), t.base("b", o)
			srq := t.srq(b, 16)
			t.addQP(a, verbs.RC, o)
			ob := o
			ob.srq = srq
			t.addQP(b, verbs.RC, ob)
			a.peer, b.peer = b, a
			t.raise(a, o, verbs.RTS)
			t.raise(b, ob, verbs.RTS)
			t.is("capacity of the QP's own queue", b.qp.Cap.MaxRecvWR, 0)
			t.postSRQ(b, srq, 7)
			t.postSRQ(b, srq, 8)
			t.store(a, 0, pattern(1, 100))
			t.send(a, a.wr(1, verbs.WRSend, 100))
			t.received(b, "7 SUCCESS RECV len=100")
			t.holds(b, 0, pattern(1, 100))
			t.sent(a, "1 SUCCESS SEND len=100")
			_, err := b.dev.PostRecv(b.qp.QP, []verbs.RecvWR{{ID: 1}})
			t.returns("post_recv on a QP with an SRQ", err, "EINVAL")
		}},
	}
}

func srqModifyCases() []Case {
	modify := func(name, want string, a verbs.SRQAttr, mask verbs.SRQAttrMask) Case {
		return Case{"srq/modify-" + name, srqAttr, func(t *T) {
			s := t.base("a", defaultSetup())
			srq := t.srq(s, 16)
			t.ok("modify_srq", s.dev.ModifySRQ(srq, verbs.SRQAttr{Limit: 3}, verbs.MaskSRQLimit))
			for i := range uint64(6) {
				t.postSRQ(s, srq, i)
			}
			if _, known := differences[want]; known {
				want = t.rule(want)
			}
			t.returns("modify_srq", s.dev.ModifySRQ(srq, a, mask), want)
			t.is("limit", t.srqAttr(s, srq).Limit, map[bool]int{true: a.Limit, false: 3}[want == "ok" && mask&verbs.MaskSRQLimit != 0])
		}}
	}
	return []Case{
		modify("limit", "ok", verbs.SRQAttr{Limit: 5}, verbs.MaskSRQLimit),
		modify("limit-off", "ok", verbs.SRQAttr{}, verbs.MaskSRQLimit),
		modify("limit-too-high", "EINVAL", verbs.SRQAttr{Limit: 1000}, verbs.MaskSRQLimit),
		modify("size", "ok", verbs.SRQAttr{MaxWR: 100}, verbs.MaskSRQMaxWR),
		modify("size-0", "EINVAL", verbs.SRQAttr{MaxWR: 0}, verbs.MaskSRQMaxWR),
		modify("size-too-high", "EINVAL", verbs.SRQAttr{MaxWR: 1<<20 + 1}, verbs.MaskSRQMaxWR),
		modify("size-below-content", "srq made smaller than its content", verbs.SRQAttr{MaxWR: 3}, verbs.MaskSRQMaxWR),
		modify("size-rounded-to-content", "srq resized to what is rounded up to hold it", verbs.SRQAttr{MaxWR: 4}, verbs.MaskSRQMaxWR),
		modify("size-below-limit", "srq made smaller than its content", verbs.SRQAttr{MaxWR: 2}, verbs.MaskSRQMaxWR),
		modify("nothing", "ok", verbs.SRQAttr{MaxWR: 1 << 30, Limit: 1 << 30}, 0),
	}
}

func (t *T) srq(s *side, size int) verbs.SRQ {
	t.Helper()
	return must[verbs.SRQInfo](t, "create_srq")(s.dev.CreateSRQ(s.pd, verbs.SRQAttr{MaxWR: size, MaxSGE: 2})).SRQ
}

func (t *T) srqAttr(s *side, srq verbs.SRQ) verbs.SRQAttr {
	t.Helper()
	return must[verbs.SRQAttr](t, "query_srq")(s.dev.QuerySRQ(srq))
}

func (t *T) postSRQ(s *side, srq verbs.SRQ, id uint64) {
	t.Helper()
	if _, err := s.dev.PostSRQRecv(srq, []verbs.RecvWR{{ID: id, SGL: s.sge(0, 4096)}}); err != nil {
		t.Fatalf("post_srq_recv: %v (%s)", err, t.source)
	}
}

var qpTypes = []verbs.QPType{verbs.RC, verbs.UC, verbs.UD}

func qpCases() []Case {
	const caps = "ibv_create_qp(3); rxe_qp.c rxe_qp_chk_cap"
	create := func(name, source, want string, change func(t *T, s *side, i *verbs.QPInitAttr)) Case {
		return Case{"qp/create-" + name, source, func(t *T) {
			s := t.base("a", defaultSetup())
			init := verbs.QPInitAttr{Type: verbs.RC, SendCQ: s.sendCQ, RecvCQ: s.recvCQ, Cap: defaultSetup().cap}
			change(t, s, &init)
			_, err := s.dev.CreateQP(s.pd, init)
			t.returns("create_qp", err, want)
		}}
	}
	limit := func(name string, set func(c *verbs.QPCap, l verbs.DeviceAttr)) Case {
		return create(name, caps, "EINVAL", func(t *T, s *side, i *verbs.QPInitAttr) {
			set(&i.Cap, must[verbs.DeviceAttr](t, "query_device")(s.dev.QueryDevice()))
		})
	}
	all := []Case{
		create("no-send-cq", fromCreate, "EINVAL", func(_ *T, _ *side, i *verbs.QPInitAttr) { i.SendCQ = nobody }),
		create("no-recv-cq", fromCreate, "EINVAL", func(_ *T, _ *side, i *verbs.QPInitAttr) { i.RecvCQ = nobody }),
		create("no-srq", fromCreate, "EINVAL", func(_ *T, _ *side, i *verbs.QPInitAttr) { i.SRQ = nobody }),
		create("raw-packet", "rxe_qp.c rxe_qp_chk_init", "EOPNOTSUPP", func(_ *T, _ *side, i *verbs.QPInitAttr) { i.Type = 8 }),
		create("one-cq", "ibv_create_qp(3): both queues may use one CQ", "ok", func(_ *T, s *side, i *verbs.QPInitAttr) { i.RecvCQ = s.sendCQ }),
		create("nothing", caps, "ok", func(_ *T, _ *side, i *verbs.QPInitAttr) { i.Cap = verbs.QPCap{} }),
		limit("max_send_wr", func(c *verbs.QPCap, l verbs.DeviceAttr) { c.MaxSendWR = l.MaxQPWR + 1 }),
		limit("max_recv_wr", func(c *verbs.QPCap, l verbs.DeviceAttr) { c.MaxRecvWR = l.MaxQPWR + 1 }),
		limit("max_send_sge", func(c *verbs.QPCap, l verbs.DeviceAttr) { c.MaxSendSGE = l.MaxSGE + 1 }),
		limit("max_recv_sge", func(c *verbs.QPCap, l verbs.DeviceAttr) { c.MaxRecvSGE = l.MaxSGE + 1 }),
		limit("max_inline_data", func(c *verbs.QPCap, l verbs.DeviceAttr) { c.MaxInline = l.MaxInline + 1 }),
		{"qp/no-pd", fromCreate, func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.CreateQP(nobody, verbs.QPInitAttr{Type: verbs.RC, SendCQ: s.sendCQ, RecvCQ: s.recvCQ})
			t.returns("create_qp", err, "EINVAL")
		}},
		{"qp/numbers", "a QP number is 24 bits and one QP's; 0 and 1 are special", func(t *T) {
			s := t.base("a", defaultSetup())
			seen := map[uint32]bool{0: true, 1: true}
			for range 20 {
				t.addQP(s, verbs.UD, defaultSetup())
				if seen[s.qp.Num] || s.qp.Num > 0xffffff {
					t.Errorf("number %#x", s.qp.Num)
				}
				seen[s.qp.Num] = true
			}
		}},
		{"qp/dead", fromDestroy, func(t *T) {
			s, o := t.one(verbs.RC, verbs.INIT)
			t.returns("destroy_qp", s.dev.DestroyQP(s.qp.QP), "ok")
			t.returns("destroy_qp again", s.dev.DestroyQP(s.qp.QP), "ENOENT")
			_, err := s.dev.QueryQP(s.qp.QP)
			t.returns("query_qp", err, "EINVAL")
			t.returns("modify_qp", t.modify(s, o, verbs.INIT), "EINVAL")
			_, err = s.dev.PostSend(s.qp.QP, []verbs.SendWR{s.wr(1, verbs.WRSend, 8)})
			t.returns("post_send", err, "EINVAL")
			_, err = s.dev.PostRecv(s.qp.QP, []verbs.RecvWR{{ID: 1}})
			t.returns("post_recv", err, "EINVAL")
		}},
	}
	for _, typ := range qpTypes {
		all = append(all, Case{"qp/fresh-" + typ.String(), "ibv_create_qp(3): the state is RESET", func(t *T) {
			s := t.base("a", defaultSetup())
			t.addQP(s, typ, defaultSetup())
			t.state(s, verbs.RESET)
		}})
	}
	return all
}

// capacityCases: what is asked is given, at least; rxe's figures are known.
func capacityCases() []Case {
	const source = "ibv_create_qp(3), ibv_create_cq(3), ibv_create_srq(3): at least what was asked; rxe_queue.c rxe_queue_init"
	size := func(t *T, what string, got, asked int) {
		t.Helper()
		want := asked
		if t.rxe() {
			want = powerOfTwoLessOne(asked)
		}
		if got < asked || t.rxe() && got != want {
			t.Errorf("%s: asked %d, got %d; want %d (%s)", what, asked, got, want, source)
		}
	}
	var all []Case
	for _, asked := range []int{1, 2, 3, 7, 8, 10, 16, 100, 1000} {
		all = append(all, Case{fmt.Sprintf("capacity/entries-%d", asked), source, func(t *T) {
			s := t.base("a", defaultSetup())
			size(t, "cqe", must[verbs.CQInfo](t, "create_cq")(s.dev.CreateCQ(asked, 0)).CQE, asked)
			srq := t.srq(s, asked)
			size(t, "srq max_wr", t.srqAttr(s, srq).MaxWR, asked)
			o := defaultSetup()
			o.cap.MaxSendWR, o.cap.MaxRecvWR = asked, asked
			t.addQP(s, verbs.RC, o)
			got := t.capacity(s)
			size(t, "max_send_wr", got.MaxSendWR, asked)
			size(t, "max_recv_wr", got.MaxRecvWR, asked)
			if t.rule("create tells the capacity") == "true" {
				t.is("create_qp's capacity", s.qp.Cap, got)
			} else {
				t.is("create_qp's max_send_wr, max_recv_wr", []int{s.qp.Cap.MaxSendWR, s.qp.Cap.MaxRecvWR}, []int{asked, asked})
			}
		}})
	}
	for _, x := range []struct{ sge, inline int }{{1, 0}, {1, 16}, {1, 17}, {4, 10}, {2, 64}, {30, 0}, {0, 512}} {
		all = append(all, Case{fmt.Sprintf("capacity/sge-%d-inline-%d", x.sge, x.inline), "rxe_qp.c rxe_qp_init_req: 16 bytes an SGE, shared with inline data", func(t *T) {
			s := t.base("a", defaultSetup())
			o := defaultSetup()
			o.cap.MaxSendSGE, o.cap.MaxInline = x.sge, x.inline
			t.addQP(s, verbs.RC, o)
			got := s.qp.Cap
			if got.MaxSendSGE < x.sge || got.MaxInline < x.inline {
				t.Errorf("asked %+v, got %+v", x, got)
			}
			if t.rxe() {
				room := max(16*x.sge, x.inline)
				t.is("max_send_sge, max_inline_data", []int{got.MaxSendSGE, got.MaxInline}, []int{room / 16, room})
			}
		}})
	}
	return all
}
