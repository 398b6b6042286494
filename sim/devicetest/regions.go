package devicetest

import (
	"rdmaprep/sim/verbs"
)

const mrAccess = "rdma/ib_verbs.h ib_check_mr_access"

func mrCases() []Case {
	access := func(name string, flags verbs.AccessFlags, want string) Case {
		return Case{"mr/access-" + name, "ibv_reg_mr(3); " + mrAccess, func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.RegMR(s.pd, s.buf, 64, flags)
			t.returns("reg_mr", err, want)
		}}
	}
	return []Case{
		access("none", 0, "ok"),
		access("local-write", verbs.AccessLocalWrite, "ok"),
		access("remote-read", verbs.AccessRemoteRead, "ok"),
		access("mw-bind", verbs.AccessMWBind, "ok"),
		access("everything", everyAccess, "ok"),
		access("remote-write-alone", verbs.AccessRemoteWrite, "EINVAL"),
		access("remote-atomic-alone", verbs.AccessRemoteAtomic, "EINVAL"),
		access("write-and-read-without-local", verbs.AccessRemoteWrite|verbs.AccessRemoteRead, "EINVAL"),
		access("on-demand", verbs.AccessOnDemand|verbs.AccessLocalWrite, "EINVAL"),
		access("unknown", 1<<12|verbs.AccessLocalWrite, "EINVAL"),
		access("relaxed-ordering", verbs.AccessRelaxedOrdering|verbs.AccessLocalWrite, "ok"),
		access("optional-unknown", 1<<27|verbs.AccessLocalWrite, "ok"),
	}
}

func regionCases() []Case {
	return []Case{
		{"mr/life", fromDestroy, func(t *T) {
			s := t.base("a", defaultSetup())
			t.is("address", s.mr.Addr, s.buf)
			t.is("length", s.mr.Length, bufferBytes)
			if s.mr.LKey == 0 || s.mr.RKey == 0 {
				t.Errorf("keys %#x and %#x", s.mr.LKey, s.mr.RKey)
			}
			t.returns("dereg_mr", s.dev.DeregMR(s.mr.MR), "ok")
			t.returns("dereg_mr again", s.dev.DeregMR(s.mr.MR), "ENOENT")
			t.returns("dereg_mr of 0", s.dev.DeregMR(0), "ENOENT")
		}},
		{"mr/no-pd", fromCreate, func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.RegMR(nobody, s.buf, 64, 0)
			t.returns("reg_mr", err, "EINVAL")
		}},
		{"mr/empty", "ibv_reg_mr(3); core/umem.c ib_umem_get", func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.RegMR(s.pd, s.buf, 0, verbs.AccessLocalWrite)
			t.returns("reg_mr of no bytes", err, t.rule("reg_mr of no bytes"))
		}},
		{"mr/unmapped", "core/umem.c: pin_user_pages_fast fails with EFAULT", func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.RegMR(s.pd, s.buf, bufferBytes+1, verbs.AccessLocalWrite)
			t.returns("reg_mr past the end", err, "EFAULT")
			t.ok("free", s.dev.DeregMR(s.mr.MR))
			t.ok("free", s.dev.Free(s.buf))
			_, err = s.dev.RegMR(s.pd, s.buf, 64, verbs.AccessLocalWrite)
			t.returns("reg_mr of freed memory", err, "EFAULT")
		}},
		{"mr/wraps", "core/umem.c ib_umem_get: address and length must not wrap", func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.RegMR(s.pd, ^uint64(0)-10, 4096, verbs.AccessLocalWrite)
			t.returns("reg_mr", err, "EINVAL")
		}},
		{"mr/overlap", "ibv_reg_mr(3): a buffer may be registered more than once", func(t *T) {
			s := t.base("a", defaultSetup())
			other := must[verbs.MRInfo](t, "reg_mr")(s.dev.RegMR(s.pd, s.buf+8, 64, verbs.AccessLocalWrite))
			if other.LKey == s.mr.LKey || other.MR == s.mr.MR {
				t.Error("two regions with one key")
			}
		}},
		{"mr/local-rkey", "rxe_mr.c rxe_mr_init of Linux 6.1", func(t *T) {
			s := t.base("a", defaultSetup())
			mr := must[verbs.MRInfo](t, "reg_mr")(s.dev.RegMR(s.pd, s.buf, 64, verbs.AccessLocalWrite))
			t.is("the rkey of a local region is 0", mr.RKey == 0, t.rule("a local region's rkey is 0"))
			if mr.RKey != 0 {
				t.is("rkey", mr.RKey, mr.LKey)
			}
		}},
		{"mr/zero-based", "ibv_reg_mr(3); rxe_mr.c rxe_mr_init_user", func(t *T) {
			s := t.base("a", defaultSetup())
			mr := must[verbs.MRInfo](t, "reg_mr")(s.dev.RegMR(s.pd, s.buf+16, 64, verbs.AccessLocalWrite|verbs.AccessZeroBased))
			t.is("ZERO_BASED has an effect", mr.Addr == 0, t.rule("ZERO_BASED of a region has an effect"))
		}},
	}
}

const reregSource = "ibv_rereg_mr(3), rdma-core verbs.c ibv_rereg_mr, rdma-unit-test MrTest.ReregMr*"

// reregCases: of a refused change nothing is done. What the library refuses by
// itself it refuses on every device; the driver of rxe 6.1 has no rereg_mr.
func reregCases() []Case {
	type call struct {
		change verbs.ReregFlags
		pd     verbs.PD
		addr   uint64
		length uint64
		access verbs.AccessFlags
	}
	one := func(name, want string, build func(s *side) call) Case {
		return Case{"rereg/" + name, reregSource, func(t *T) {
			s := t.base("a", defaultSetup())
			c := build(s)
			if want == "driver" {
				want = t.rule("rereg_mr")
			}
			info, err := s.dev.ReregMR(s.mr.MR, c.change, c.pd, c.addr, c.length, c.access)
			t.returns("rereg_mr", err, want)
			if err == nil && info.MR != s.mr.MR {
				t.Errorf("another handle: %d", info.MR)
			}
			t.returns("dereg_mr", s.dev.DeregMR(s.mr.MR), "ok")
		}}
	}
	return []Case{
		one("access", "driver", func(*side) call { return call{change: verbs.ReregAccess, access: verbs.AccessLocalWrite} }),
		one("pd", "driver", func(s *side) call { return call{change: verbs.ReregPD, pd: s.pd} }),
		one("translation", "driver", func(s *side) call { return call{change: verbs.ReregTranslation, addr: s.buf + 64, length: 128} }),
		one("no-pd", "EINVAL", func(*side) call { return call{change: verbs.ReregPD, pd: nobody} }),
		one("empty", "EINVAL", func(s *side) call { return call{change: verbs.ReregTranslation, addr: s.buf} }),
		one("address-0", "EINVAL", func(*side) call { return call{change: verbs.ReregTranslation, length: 64} }),
		one("unknown-flag", "EINVAL", func(*side) call { return call{change: 8} }),
		one("access-unasked", "EINVAL", func(s *side) call { return call{change: verbs.ReregPD, pd: s.pd, access: verbs.AccessLocalWrite} }),
	}
}

func reregEffectCases() []Case {
	return []Case{
		{"rereg/bad-access", reregSource, func(t *T) {
			s := t.base("a", defaultSetup())
			_, err := s.dev.ReregMR(s.mr.MR, verbs.ReregAccess, 0, 0, 0, verbs.AccessRemoteWrite)
			t.returns("rereg_mr", err, t.rule("rereg_mr with bad access"))
		}},
		{"rereg/takes-effect", reregSource, func(t *T) {
			a, b := t.pair(verbs.RC)
			_, err := b.dev.ReregMR(b.mr.MR, verbs.ReregAccess, 0, 0, 0, verbs.AccessLocalWrite|verbs.AccessRemoteRead)
			t.returns("rereg_mr", err, t.rule("rereg_mr"))
			t.send(a, a.wr(1, verbs.WRRDMARead, 8))
			t.sent(a, "1 SUCCESS RDMA_READ len=8")
			t.send(a, a.wr(2, verbs.WRRDMAWrite, 8))
			if err == nil {
				t.sent(a, "2 REM_ACCESS_ERR")
			} else {
				t.sent(a, "2 SUCCESS RDMA_WRITE len=8") // as before
			}
		}},
		{"rereg/moves", reregSource, func(t *T) {
			s := t.base("a", defaultSetup())
			info, err := s.dev.ReregMR(s.mr.MR, verbs.ReregTranslation, 0, s.buf+64, 128, 0)
			t.returns("rereg_mr", err, t.rule("rereg_mr"))
			if err == nil {
				t.is("the region", []uint64{info.Addr, info.Length}, []uint64{s.buf + 64, 128})
			}
		}},
		{"rereg/bound", "rdma-unit-test; a region under a window is busy", func(t *T) {
			a, _ := t.pair(verbs.RC)
			mw := must[verbs.MWInfo](t, "alloc_mw")(a.dev.AllocMW(a.pd, verbs.MWType1)).MW
			_, err := a.dev.BindMW(a.qp.QP, mw, 1, verbs.SendSignaled, verbs.MWBind{MR: a.mr.MR, Addr: a.mr.Addr, Length: 64})
			t.ok("bind_mw", err)
			t.sent(a, "1 SUCCESS BIND_MW")
			_, err = a.dev.ReregMR(a.mr.MR, verbs.ReregAccess, 0, 0, 0, verbs.AccessLocalWrite)
			t.returns("rereg_mr", err, t.rule("rereg_mr under a window"))
		}},
		{"rereg/dead", fromDestroy, func(t *T) {
			s := t.base("a", defaultSetup())
			t.ok("dereg_mr", s.dev.DeregMR(s.mr.MR))
			_, err := s.dev.ReregMR(s.mr.MR, verbs.ReregAccess, 0, 0, 0, verbs.AccessLocalWrite)
			t.returns("rereg_mr", err, "ENOENT")
		}},
	}
}

func mwCases() []Case {
	return []Case{
		{"mw/life", fromDestroy, func(t *T) {
			s := t.base("a", defaultSetup())
			for _, typ := range []verbs.MWType{verbs.MWType1, verbs.MWType2} {
				mw := must[verbs.MWInfo](t, "alloc_mw")(s.dev.AllocMW(s.pd, typ))
				t.is("type", mw.Type, typ)
				if mw.RKey == 0 {
					t.Error("rkey 0")
				}
				t.returns("dealloc_mw", s.dev.DeallocMW(mw.MW), "ok")
				t.returns("dealloc_mw again", s.dev.DeallocMW(mw.MW), "ENOENT")
			}
			t.returns("dealloc_mw of 0", s.dev.DeallocMW(0), "ENOENT")
		}},
		{"mw/no-pd", fromCreate, func(t *T) {
			_, err := t.dev("a").AllocMW(nobody, verbs.MWType1)
			t.returns("alloc_mw", err, "EINVAL")
		}},
		{"mw/type", "ibv_alloc_mw(3); core/uverbs_cmd.c, rxe_verbs.h", func(t *T) {
			s := t.base("a", defaultSetup())
			for _, typ := range []verbs.MWType{0, 3} {
				_, err := s.dev.AllocMW(s.pd, typ)
				t.returns("alloc_mw", err, "EINVAL")
			}
		}},
	}
}

func bindCases() []Case {
	return []Case{
		{"mw/bind-refused", "ibv_bind_mw(3); rdma-core verbs.h ibv_bind_mw, providers/rxe/rxe.c rxe_bind_mw", func(t *T) {
			a, _ := t.pair(verbs.RC)
			one := must[verbs.MWInfo](t, "alloc_mw")(a.dev.AllocMW(a.pd, verbs.MWType1)).MW
			two := must[verbs.MWInfo](t, "alloc_mw")(a.dev.AllocMW(a.pd, verbs.MWType2)).MW
			pd := must[verbs.PD](t, "alloc_pd")(a.dev.AllocPD())
			apart := must[verbs.MWInfo](t, "alloc_mw")(a.dev.AllocMW(pd, verbs.MWType1)).MW
			bind := verbs.MWBind{MR: a.mr.MR, Addr: a.mr.Addr, Length: 64, Access: verbs.AccessRemoteRead}
			zero, none := bind, bind
			zero.Access |= verbs.AccessZeroBased
			none.MR = 0
			for _, x := range []struct {
				what string
				qp   verbs.QP
				mw   verbs.MW
				bind verbs.MWBind
				want string
			}{
				{"no QP", nobody, one, bind, "ENOENT"},
				{"no window", a.qp.QP, nobody, bind, "ENOENT"},
				{"type 2", a.qp.QP, two, bind, "EINVAL"},
				{"zero based", a.qp.QP, one, zero, "EINVAL"},
				{"no region", a.qp.QP, one, none, "EINVAL"},
				{"window of another PD", a.qp.QP, apart, bind, "EPERM"},
				{"right", a.qp.QP, one, bind, "ok"},
			} {
				_, err := a.dev.BindMW(x.qp, x.mw, 1, verbs.SendSignaled, x.bind)
				t.returns("bind_mw: "+x.what, err, x.want)
			}
			t.sent(a, "1 SUCCESS BIND_MW")
		}},
		{"mw/bind-early", "ibv_bind_mw(3) posts, so the rules of post_send hold", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.INIT)
			mw := must[verbs.MWInfo](t, "alloc_mw")(s.dev.AllocMW(s.pd, verbs.MWType1)).MW
			_, err := s.dev.BindMW(s.qp.QP, mw, 1, 0, verbs.MWBind{MR: s.mr.MR, Addr: s.mr.Addr, Length: 64})
			t.returns("bind_mw", err, "EINVAL")
		}},
		{"mw/post-of-nobody", "rdma-core providers/rxe/rxe.c follows the pointers: what is not there is refused before", func(t *T) {
			a, _ := t.pair(verbs.RC)
			w := verbs.SendWR{Opcode: verbs.WRBindMW, MW: nobody, Bind: verbs.MWBind{MR: a.mr.MR, Addr: a.mr.Addr, Length: 8}}
			_, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{w})
			t.returns("no window", err, "EINVAL")
			t.state(a, verbs.RTS)
		}},
		{"mw/dereg-bound", "ibv_dereg_mr(3); rxe_mr.c rxe_dereg_mr", func(t *T) {
			a, _ := t.pair(verbs.RC)
			mw := must[verbs.MWInfo](t, "alloc_mw")(a.dev.AllocMW(a.pd, verbs.MWType1)).MW
			_, err := a.dev.BindMW(a.qp.QP, mw, 1, verbs.SendSignaled, verbs.MWBind{
				MR: a.mr.MR, Addr: a.mr.Addr, Length: 64, Access: verbs.AccessRemoteRead,
			})
			t.ok("bind_mw", err)
			t.sent(a, "1 SUCCESS BIND_MW")
			t.returns("dereg_mr under a window", a.dev.DeregMR(a.mr.MR), t.rule("dereg_mr under a window"))
			t.returns("dealloc_mw", a.dev.DeallocMW(mw), "ok")
			t.returns("dereg_mr", a.dev.DeregMR(a.mr.MR), "ok")
		}},
	}
}
