package model

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"rdmaprep/sim/verbs"
)

// TestUnwritableArguments makes the published calls whose arguments a script
// has no words for: it has no negative number and is refused when it is read if
// it names another kind. The published cases ask for a refusal and no errno.
func TestUnwritableArguments(t *testing.T) {
	for _, profile := range ProfileNames() {
		b := must(Open(context.Background(), Options{Profile: profile}))
		d := b.Node(b.Nodes()[0])
		x := newBystander(d)
		for _, c := range []struct {
			published string
			call      func() error
		}{
			{"CqTest.NegativeCqe", func() error {
				_, err := d.CreateCQ(-1, 0)
				return err
			}},
			{"QpTest.UnknownType", func() error {
				init := x.init()
				init.Type = 0xf0
				_, err := d.CreateQP(x.pd, init)
				return err
			}},
			{"test_mr.MWTest.test_reg_mw_wrong_type", func() error {
				_, err := d.AllocMW(x.pd, 3)
				return err
			}},
		} {
			var refused *verbs.Error
			if err := c.call(); !errors.As(err, &refused) || refused.Errno == 0 {
				t.Errorf("%s: %s: %v, want a refusal", profile, c.published, err)
			}
		}
		check(t, x.destroy()) // nothing was made
		b.Close()
	}
}

// TestQueryGID: port 1 has a GID at index 0 and the port is the only one
// (test_device.DeviceTest.test_query_gid asks for index 0 and looks at no byte).
func TestQueryGID(t *testing.T) {
	for _, profile := range ProfileNames() {
		b := must(Open(context.Background(), Options{Profile: profile}))
		seen := map[verbs.GID]string{}
		for _, name := range b.Nodes() {
			g, err := b.Node(name).QueryGID(1, 0)
			if err != nil || g == (verbs.GID{}) {
				t.Errorf("%s: GID 0 of %s is %v, %v", profile, name, g, err)
			}
			if was, twice := seen[g]; twice {
				t.Errorf("%s: %s and %s have one GID", profile, was, name)
			}
			seen[g] = name
		}
		if _, err := b.Node(b.Nodes()[0]).QueryGID(2, 0); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: GID of port 2: %v, want EINVAL", profile, err)
		}
		b.Close()
	}
}

// TestBindInFront: a window that begins a byte before its region is
// MW_BIND_ERR (BufferMwTest.BindExceedFront); a script writes no such place.
func TestBindInFront(t *testing.T) {
	for _, profile := range ProfileNames() {
		for _, typ := range []verbs.MWType{verbs.MWType1, verbs.MWType2} {
			o := defaults()
			o.profile = profile
			b, a, _ := pair(t, o)
			addr := must(a.dev.Alloc(8192))
			mr := must(a.dev.RegMR(a.pd, addr+4096, 4096, verbs.AccessLocalWrite|verbs.AccessMWBind))
			mw := must(a.dev.AllocMW(a.pd, typ))
			bind := verbs.MWBind{MR: mr.MR, Addr: mr.Addr - 1, Length: mr.Length + 1, Access: verbs.AccessRemoteRead}
			if typ == verbs.MWType1 {
				must(a.dev.BindMW(a.qp.QP, mw.MW, 1, verbs.SendSignaled, bind))
			} else {
				must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
					ID: 1, Opcode: verbs.WRBindMW, Flags: verbs.SendSignaled, MW: mw.MW,
					BindRKey: mw.RKey&^0xff | (mw.RKey+1)&0xff, Bind: bind,
				}}))
			}
			quiet(t, b)
			if got := a.poll(t); len(got) != 1 || got[0].Status != verbs.WCMWBindErr {
				t.Errorf("%s, type %d: %+v, want one MW_BIND_ERR", profile, typ, got)
			}
			b.Close()
		}
	}
}

// TestNumbersRollOver makes and destroys more queue pairs than the device has,
// READs going on meanwhile on a pair that stays and after: all are made, every
// READ succeeds (QpStateTest.QpIdRollover, which does it by a second thread).
func TestNumbersRollOver(t *testing.T) {
	const extra, every, after = 32, 4096, 32
	b, a, z := pair(t, defaults())
	defer b.Close()
	read := func(id int) {
		must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
			ID: uint64(id), Opcode: verbs.WRRDMARead, Flags: verbs.SendSignaled, SGL: a.sge(0, 64),
			RemoteVA: z.mr.Addr, RKey: z.mr.RKey,
		}}))
		quiet(t, b)
		if got := a.poll(t); len(got) != 1 || got[0].ID != uint64(id) || got[0].Status != verbs.WCSuccess {
			t.Fatalf("READ %d: %+v", id, got)
		}
	}
	attr := verbs.QPInitAttr{Type: verbs.RC, SendCQ: a.cq, RecvCQ: a.cq, Cap: handleQPCap}
	for i := range must(a.dev.QueryDevice()).MaxQP + extra {
		q, err := a.dev.CreateQP(a.pd, attr)
		if err != nil {
			t.Fatalf("queue pair %d: %v", i, err)
		}
		check(t, a.dev.DestroyQP(q.QP))
		if q.Num == a.qp.Num || q.Num>>24 != 0 {
			t.Fatalf("queue pair %d has the number %#x", i, q.Num)
		}
		if i%every == 0 {
			read(i)
		}
	}
	for i := range after {
		read(1<<30 + i)
	}
}
