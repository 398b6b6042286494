package devicetest

import (
	"rdmaprep/sim/verbs"
)

// Where the errno of a dead handle comes from: a destroy looks the object up
// and finds none (ENOENT); a create or an operation finds none among what it
// needs (EINVAL).
const (
	fromDestroy = "core/rdma_core.c rdma_lookup_get_uobject: ENOENT for a destroy"
	fromCreate  = "core/uverbs_cmd.c: EINVAL where an object that a call needs is not there"
	fromBusy    = "core/rdma_core.c uverbs_destroy_uobject, rdma-unit-test *RefCount: EBUSY while in use"
)

func memoryCases() []Case {
	const source = "verbs.Device: the application's memory"
	return []Case{
		{"memory/zeroed", source, func(t *T) {
			s := t.base("a", defaultSetup())
			for i, b := range t.load(s, 0, bufferBytes) {
				if b != 0 {
					t.Fatalf("byte %d is %#x", i, b)
				}
			}
		}},
		{"memory/store-load", source, func(t *T) {
			s := t.base("a", defaultSetup())
			t.store(s, 100, pattern(1, 1000))
			t.holds(s, 100, pattern(1, 1000))
		}},
		{"memory/bounds", source, func(t *T) {
			d := t.dev("a")
			addr := must[uint64](t, "alloc")(d.Alloc(100))
			for _, x := range []struct {
				off, n int
				want   string
			}{{0, 100, "ok"}, {99, 1, "ok"}, {100, 1, "EFAULT"}, {99, 2, "EFAULT"}, {-1, 1, "EFAULT"}, {0, 101, "EFAULT"}, {4096, 0, "ok"}} {
				t.returns("load", d.Load(addr+uint64(x.off), make([]byte, x.n)), x.want)
				t.returns("store", d.Store(addr+uint64(x.off), make([]byte, x.n)), x.want)
			}
		}},
		{"memory/free", source, func(t *T) {
			d := t.dev("a")
			addr := must[uint64](t, "alloc")(d.Alloc(64))
			t.returns("free inside", d.Free(addr+1), "EINVAL")
			t.returns("free", d.Free(addr), "ok")
			t.returns("free again", d.Free(addr), "EINVAL")
			t.returns("load", d.Load(addr, make([]byte, 1)), "EFAULT")
			t.returns("store", d.Store(addr, make([]byte, 1)), "EFAULT")
			t.returns("free 0", d.Free(0), "EINVAL")
		}},
		{"memory/sizes", source, func(t *T) {
			d := t.dev("a")
			_, err := d.Alloc(-1)
			t.returns("alloc -1", err, "ENOMEM")
			_, err = d.Alloc(1<<30 + 1)
			t.returns("alloc of more than 1 GiB", err, "ENOMEM")
			none := must[uint64](t, "alloc 0")(d.Alloc(0))
			one := must[uint64](t, "alloc 1")(d.Alloc(1))
			if none == one || none == 0 || one == 0 {
				t.Errorf("two allocations at %#x and %#x", none, one)
			}
		}},
		{"memory/page-aligned", source, func(t *T) {
			addr := must[uint64](t, "alloc")(t.dev("a").Alloc(5))
			t.is("address modulo a page", addr%4096, 0)
		}},
	}
}

func queryCases() []Case {
	return []Case{
		{"query/device", "ibv_query_device(3); rxe_param.h of Linux 6.1", func(t *T) {
			a := must[verbs.DeviceAttr](t, "query_device")(t.dev("a").QueryDevice())
			t.is("limits", limitText(&a), t.rule("device limits"))
		}},
		{"query/port", "ibv_query_port(3)", func(t *T) {
			a := must[verbs.PortAttr](t, "query_port")(t.dev("a").QueryPort(1))
			t.is("state", a.State, verbs.PortActive)
			t.is("max_mtu", a.MaxMTU, 4096)
			t.is("pkey_tbl_len", a.PKeyTableLen, 1)
			t.is("gid_tbl_len", a.GIDTableLen, t.rule("gid_tbl_len"))
			t.is("max_msg_sz", a.MaxMsgSize, t.rule("max_msg_sz"))
		}},
		{"query/port-invalid", "core/uverbs_cmd.c ib_uverbs_query_port", func(t *T) {
			for _, port := range []uint8{0, 2, 255} {
				_, err := t.dev("a").QueryPort(port)
				t.returns("query_port", err, "EINVAL")
			}
		}},
		{"query/gid", "ibv_query_gid(3); RoCE v2 maps IPv4 into ::ffff:0:0/96", func(t *T) {
			for _, node := range t.bench.Nodes() {
				g := must[verbs.GID](t, "query_gid")(t.dev(node).QueryGID(1, t.gidIndex(node)))
				if t.bench.Live() || t.gidIndex(node) == 1 {
					t.is("prefix", g[:12], []byte{10: 0xff, 11: 0xff})
				}
			}
		}},
		{"query/gid-negative", "ibv_query_gid(3)", func(t *T) {
			_, err := t.dev("a").QueryGID(1, -1)
			t.returns("query_gid", err, "EINVAL")
		}},
		{"query/nodes", "verbs.Bench", func(t *T) {
			t.is("nodes", t.bench.Nodes(), []string{"a", "b"})
			if t.bench.Node("nobody") != nil {
				t.Error("a node that nobody named")
			}
			if t.dev("a").Name() == "" {
				t.Error("a device without a name")
			}
		}},
	}
}

func pdCases() []Case {
	busy := func(name string, hold func(t *T, s *side) (release func() error)) Case {
		return Case{"pd/busy-" + name, fromBusy, func(t *T) {
			s := &side{name: "a", dev: t.dev("a"), gid: t.gidIndex("a")}
			s.pd = must[verbs.PD](t, "alloc_pd")(s.dev.AllocPD())
			release := hold(t, s)
			t.returns("dealloc_pd in use", s.dev.DeallocPD(s.pd), "EBUSY")
			t.ok("release", release())
			t.returns("dealloc_pd", s.dev.DeallocPD(s.pd), "ok")
		}}
	}
	return []Case{
		{"pd/life", fromDestroy, func(t *T) {
			d := t.dev("a")
			pd := must[verbs.PD](t, "alloc_pd")(d.AllocPD())
			t.returns("dealloc_pd", d.DeallocPD(pd), "ok")
			t.returns("dealloc_pd again", d.DeallocPD(pd), "ENOENT")
			t.returns("dealloc_pd of nobody", d.DeallocPD(nobody), "ENOENT")
			t.returns("dealloc_pd of 0", d.DeallocPD(0), "ENOENT")
			if again := must[verbs.PD](t, "alloc_pd")(d.AllocPD()); again == pd {
				t.Error("a handle was given out twice")
			}
		}},
		busy("mr", func(t *T, s *side) func() error {
			buf := must[uint64](t, "alloc")(s.dev.Alloc(64))
			mr := must[verbs.MRInfo](t, "reg_mr")(s.dev.RegMR(s.pd, buf, 64, 0))
			return func() error { return s.dev.DeregMR(mr.MR) }
		}),
		busy("mw", func(t *T, s *side) func() error {
			mw := must[verbs.MWInfo](t, "alloc_mw")(s.dev.AllocMW(s.pd, verbs.MWType1))
			return func() error { return s.dev.DeallocMW(mw.MW) }
		}),
		busy("ah", func(t *T, s *side) func() error {
			ah := must[verbs.AH](t, "create_ah")(s.dev.CreateAH(s.pd, t.address(s, s)))
			return func() error { return s.dev.DestroyAH(ah) }
		}),
		busy("srq", func(t *T, s *side) func() error {
			srq := must[verbs.SRQInfo](t, "create_srq")(s.dev.CreateSRQ(s.pd, verbs.SRQAttr{MaxWR: 4, MaxSGE: 1}))
			return func() error { return s.dev.DestroySRQ(srq.SRQ) }
		}),
		busy("qp", func(t *T, s *side) func() error {
			s.sendCQ = must[verbs.CQInfo](t, "create_cq")(s.dev.CreateCQ(4, 0)).CQ
			s.recvCQ = s.sendCQ
			t.addQP(s, verbs.RC, defaultSetup())
			return func() error { return s.dev.DestroyQP(s.qp.QP) }
		}),
	}
}

func ahCases() []Case {
	create := func(name, source, want string, change func(*verbs.AHAttr)) Case {
		return Case{"ah/" + name, source, func(t *T) {
			s := t.base("a", defaultSetup())
			attr := t.address(s, s)
			change(&attr)
			_, err := s.dev.CreateAH(s.pd, attr)
			t.returns("create_ah", err, want)
		}}
	}
	return []Case{
		{"ah/life", fromDestroy, func(t *T) {
			s := t.base("a", defaultSetup())
			ah := must[verbs.AH](t, "create_ah")(s.dev.CreateAH(s.pd, t.address(s, s)))
			t.returns("destroy_ah", s.dev.DestroyAH(ah), "ok")
			t.returns("destroy_ah again", s.dev.DestroyAH(ah), "ENOENT")
			t.returns("destroy_ah of 0", s.dev.DestroyAH(0), "ENOENT")
		}},
		{"ah/no-pd", fromCreate, func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.CreateAH(nobody, t.address(s, s))
			t.returns("create_ah", err, "EINVAL")
		}},
		create("no-grh", "core/verbs.c rdma_check_ah_attr: RoCE needs a GRH", "EINVAL", func(a *verbs.AHAttr) { a.NoGRH = true }),
		create("port-0", "core/uverbs_cmd.c ib_uverbs_create_ah: rdma_is_port_valid", "EINVAL", func(a *verbs.AHAttr) { a.Port = 0 }),
		create("port-2", "core/uverbs_cmd.c ib_uverbs_create_ah: rdma_is_port_valid", "EINVAL", func(a *verbs.AHAttr) { a.Port = 2 }),
		create("traffic-class", "ibv_create_ah(3)", "ok", func(a *verbs.AHAttr) { a.TrafficClass, a.FlowLabel, a.HopLimit = 0xff, 0xfffff, 1 }),
		{"ah/empty-gid", "core/cache.c rdma_get_gid_attr", func(t *T) {
			s := t.base("a", defaultSetup())
			attr := t.address(s, s)
			attr.SGIDIndex = 200
			_, err := s.dev.CreateAH(s.pd, attr)
			t.returns("create_ah", err, t.rule("create_ah with an empty GID"))
		}},
	}
}

func channelCases() []Case {
	return []Case{
		{"channel/life", fromDestroy, func(t *T) {
			d := t.dev("a")
			ch := must[verbs.Channel](t, "create_comp_channel")(d.CreateChannel())
			_, ok, err := d.GetCQEvent(ch)
			t.returns("get_cq_event", err, "ok")
			t.is("an event", ok, false)
			t.returns("destroy_comp_channel", d.DestroyChannel(ch), "ok")
			t.returns("destroy_comp_channel again", d.DestroyChannel(ch), "ENOENT")
			_, _, err = d.GetCQEvent(ch)
			t.returns("get_cq_event of a dead channel", err, "EINVAL")
		}},
		{"channel/busy", "ibv_create_comp_channel(3): EBUSY while a CQ uses it", func(t *T) {
			d := t.dev("a")
			ch := must[verbs.Channel](t, "create_comp_channel")(d.CreateChannel())
			one := must[verbs.CQInfo](t, "create_cq")(d.CreateCQ(4, ch))
			two := must[verbs.CQInfo](t, "create_cq")(d.CreateCQ(4, ch))
			t.returns("destroy_comp_channel", d.DestroyChannel(ch), "EBUSY")
			t.ok("destroy_cq", d.DestroyCQ(one.CQ))
			t.returns("destroy_comp_channel", d.DestroyChannel(ch), "EBUSY")
			t.ok("destroy_cq", d.DestroyCQ(two.CQ))
			t.returns("destroy_comp_channel", d.DestroyChannel(ch), "ok")
		}},
	}
}

const cqAttr = "ibv_create_cq(3); rxe_cq.c rxe_cq_chk_attr"

func cqCases() []Case {
	create := func(name string, cqe int, want string) Case {
		return Case{"cq/" + name, cqAttr, func(t *T) {
			_, err := t.dev("a").CreateCQ(cqe, 0)
			t.returns("create_cq", err, want)
		}}
	}
	return []Case{
		create("zero", 0, "EINVAL"),
		create("negative", -1, "EINVAL"),
		create("one", 1, "ok"),
		{"cq/max", cqAttr, func(t *T) {
			d := t.dev("a")
			limits := must[verbs.DeviceAttr](t, "query_device")(d.QueryDevice())
			_, err := d.CreateCQ(limits.MaxCQE, 0)
			t.returns("create_cq of max_cqe", err, "ok")
			_, err = d.CreateCQ(limits.MaxCQE+1, 0)
			t.returns("create_cq of max_cqe+1", err, "EINVAL")
		}},
		{"cq/no-channel", fromCreate, func(t *T) {
			_, err := t.dev("a").CreateCQ(4, nobody)
			t.returns("create_cq", err, "EINVAL")
		}},
		{"cq/dead", fromDestroy, func(t *T) {
			d := t.dev("a")
			cq := must[verbs.CQInfo](t, "create_cq")(d.CreateCQ(4, 0)).CQ
			n, err := d.PollCQ(cq, make([]verbs.WC, 4))
			t.returns("poll_cq", err, "ok")
			t.is("polled", n, 0)
			t.returns("destroy_cq", d.DestroyCQ(cq), "ok")
			t.returns("destroy_cq again", d.DestroyCQ(cq), "ENOENT")
			_, err = d.PollCQ(cq, make([]verbs.WC, 4))
			t.returns("poll_cq of a dead CQ", err, "EINVAL")
			_, err = d.ResizeCQ(cq, 8)
			t.returns("resize_cq of a dead CQ", err, "EINVAL")
			t.returns("req_notify_cq of a dead CQ", d.ReqNotifyCQ(cq, false), "EINVAL")
			t.returns("ack_cq_events of a dead CQ", d.AckCQEvents(cq, 0), "EINVAL")
		}},
	}
}

func cqContentCases() []Case {
	return []Case{
		{"cq/busy", fromBusy, func(t *T) {
			s := t.base("a", defaultSetup())
			t.addQP(s, verbs.RC, defaultSetup())
			t.returns("destroy_cq of the send CQ", s.dev.DestroyCQ(s.sendCQ), "EBUSY")
			t.returns("destroy_cq of the receive CQ", s.dev.DestroyCQ(s.recvCQ), "EBUSY")
			t.ok("destroy_qp", s.dev.DestroyQP(s.qp.QP))
			t.returns("destroy_cq", s.dev.DestroyCQ(s.sendCQ), "ok")
			t.returns("destroy_cq", s.dev.DestroyCQ(s.recvCQ), "ok")
		}},
		{"cq/resize", "ibv_resize_cq(3); rxe_verbs.c rxe_resize_cq", func(t *T) {
			d := t.dev("a")
			cq := must[verbs.CQInfo](t, "create_cq")(d.CreateCQ(4, 0)).CQ
			for _, cqe := range []int{100, 3, 1} {
				info := must[verbs.CQInfo](t, "resize_cq")(d.ResizeCQ(cq, cqe))
				t.is("entries", info.CQE, powerOfTwoLessOne(cqe))
				t.is("handle", info.CQ, cq)
			}
			for _, cqe := range []int{0, -1} {
				_, err := d.ResizeCQ(cq, cqe)
				t.returns("resize_cq", err, "EINVAL")
			}
		}},
		{"cq/resize-below-content", "ibv_resize_cq(3); rxe_cq.c rxe_cq_chk_attr", func(t *T) {
			a, _ := t.pair(verbs.UC)
			for i := range uint64(3) {
				t.send(a, a.wr(i, verbs.WRRDMAWrite, 8))
			}
			t.quiet()
			_, err := a.dev.ResizeCQ(a.sendCQ, 2)
			t.returns("resize_cq to 2", err, "EINVAL")
			_, err = a.dev.ResizeCQ(a.sendCQ, 3)
			t.returns("resize_cq to 3", err, "ok")
			t.sent(a, "0 SUCCESS RDMA_WRITE len=8", "1 SUCCESS RDMA_WRITE len=8", "2 SUCCESS RDMA_WRITE len=8")
		}},
		{"cq/poll-batches", "ibv_poll_cq(3): at most as many as there is room for, the oldest first", func(t *T) {
			a, _ := t.pair(verbs.RC)
			for i := range uint64(5) {
				t.send(a, a.wr(i, verbs.WRRDMAWrite, 8))
			}
			t.quiet()
			next := uint64(0)
			for _, room := range []int{0, 2, 1, 16, 16} {
				wc := make([]verbs.WC, room)
				n := must[int](t, "poll_cq")(a.dev.PollCQ(a.sendCQ, wc))
				t.is("polled", n, min(room, 5-int(next)))
				for i := range n {
					t.is("wr_id", wc[i].ID, next)
					t.is("qp_num", wc[i].QPNum, a.qp.Num)
					next++
				}
			}
		}},
	}
}
