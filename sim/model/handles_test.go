package model

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"rdmaprep/sim/verbs"
)

// bystander is a live object of each kind on a device, so that a call with one
// bad handle has good ones beside it.
type bystander struct {
	d    verbs.Device
	addr uint64
	pd   verbs.PD
	mr   verbs.MRInfo
	mw   verbs.MWInfo // of type 1
	ch   verbs.Channel
	cq   verbs.CQ
	srq  verbs.SRQ
	ah   verbs.AH
	qp   verbs.QP
}

var handleQPCap = verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}

func newBystander(d verbs.Device) *bystander {
	x := &bystander{d: d}
	x.addr = must(d.Alloc(4096))
	x.pd = must(d.AllocPD())
	x.mr = must(d.RegMR(x.pd, x.addr, 4096, verbs.AccessLocalWrite|verbs.AccessMWBind))
	x.mw = must(d.AllocMW(x.pd, verbs.MWType1))
	x.ch = must(d.CreateChannel())
	x.cq = must(d.CreateCQ(16, x.ch)).CQ
	x.srq = must(d.CreateSRQ(x.pd, verbs.SRQAttr{MaxWR: 4, MaxSGE: 1})).SRQ
	x.ah = must(d.CreateAH(x.pd, x.way()))
	x.qp = must(d.CreateQP(x.pd, x.init())).QP
	return x
}

func (x *bystander) way() verbs.AHAttr {
	return verbs.AHAttr{DGID: must(x.d.QueryGID(1, 1)), SGIDIndex: 1, HopLimit: 64, Port: 1}
}

func (x *bystander) init() verbs.QPInitAttr {
	return verbs.QPInitAttr{Type: verbs.RC, SendCQ: x.cq, RecvCQ: x.cq, Cap: handleQPCap}
}

// destroy destroys all of it, users first: a refused call that kept a
// reference shows here as EBUSY.
func (x *bystander) destroy() error {
	return errors.Join(x.d.DestroyQP(x.qp), x.d.DestroyAH(x.ah), x.d.DestroySRQ(x.srq), x.d.DestroyCQ(x.cq),
		x.d.DestroyChannel(x.ch), x.d.DeallocMW(x.mw.MW), x.d.DeregMR(x.mr.MR), x.d.DeallocPD(x.pd))
}

// handleCall is a call of verbs.Device with one handle of the kind that is
// named, and the errnos that it may be refused with.
type handleCall struct {
	method string // of verbs.Device
	kind   string // which of its handles is bad
	want   []syscall.Errno
	call   func(x *bystander, h uint32) error
}

var (
	// Destroying: ENOENT, by uobj_perform_destroy of the kernel; published as
	// AhTest.DestroyWithInvalidHandle (any errno), CqTest.DestroyInvalidCq,
	// CqExTest.DestroyInvalidCqEx, MrTest.DeregInvalidMr, MwGeneralTest.DeallocInvalidMw,
	// PdTest.DeleteInvalidPd, QpTest.DestroyInvalidQp, SrqTest.DestroyInvalidSrq.
	gone = []syscall.Errno{syscall.ENOENT}
	// Using: EINVAL where uverbs_cmd.c turns a lookup that found nothing into that,
	// ENOENT where it passes the lookup's own error on (late 6.1.y); calls that end
	// in the library (poll, acknowledge, take an event) have no errno of their own
	// for it. Published as either, or as any refusal: CompChannelTest.RequestNotificationInvalidCq,
	// PdTest.AllocQpWithInvalidPd, PdTest.AllocMrWithInvalidPd, PdTest.AllocMwWithInvalidPd,
	// QpTest.CreateWithInvalidSendCq, QpTest.CreateWithInvalidRecvCq, QpTest.CreateWithInvalidSrq,
	// QpTest.ModifyInvalidQp, QpTest.QueryInvalidQp, SrqTest.CreateWithInvalidPd.
	unusable = []syscall.Errno{syscall.ENOENT, syscall.EINVAL}
)

// destroyingCalls take the handle of what they destroy.
func destroyingCalls() []handleCall {
	return []handleCall{
		{"DeallocPD", "PD", gone, func(x *bystander, h uint32) error { return x.d.DeallocPD(verbs.PD(h)) }},
		{"DeregMR", "MR", gone, func(x *bystander, h uint32) error { return x.d.DeregMR(verbs.MR(h)) }},
		{"DeallocMW", "MW", gone, func(x *bystander, h uint32) error { return x.d.DeallocMW(verbs.MW(h)) }},
		{"DestroyChannel", "Channel", gone, func(x *bystander, h uint32) error { return x.d.DestroyChannel(verbs.Channel(h)) }},
		{"DestroyCQ", "CQ", gone, func(x *bystander, h uint32) error { return x.d.DestroyCQ(verbs.CQ(h)) }},
		{"DestroySRQ", "SRQ", gone, func(x *bystander, h uint32) error { return x.d.DestroySRQ(verbs.SRQ(h)) }},
		{"DestroyAH", "AH", gone, func(x *bystander, h uint32) error { return x.d.DestroyAH(verbs.AH(h)) }},
		{"DestroyQP", "QP", gone, func(x *bystander, h uint32) error { return x.d.DestroyQP(verbs.QP(h)) }},
	}
}

// makingCalls make an object out of others.
func makingCalls() []handleCall {
	return []handleCall{
		{"RegMR", "PD", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.RegMR(verbs.PD(h), x.addr, 4096, verbs.AccessLocalWrite)
			return err
		}},
		{"AllocMW", "PD", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.AllocMW(verbs.PD(h), verbs.MWType1)
			return err
		}},
		{"CreateSRQ", "PD", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.CreateSRQ(verbs.PD(h), verbs.SRQAttr{MaxWR: 4, MaxSGE: 1})
			return err
		}},
		{"CreateAH", "PD", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.CreateAH(verbs.PD(h), x.way())
			return err
		}},
		{"CreateCQ", "Channel", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.CreateCQ(16, verbs.Channel(h))
			return err
		}},
		{"CreateQP", "PD", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.CreateQP(verbs.PD(h), x.init())
			return err
		}},
		{"CreateQP", "CQ", unusable, func(x *bystander, h uint32) error { // the send CQ
			init := x.init()
			init.SendCQ = verbs.CQ(h)
			_, err := x.d.CreateQP(x.pd, init)
			return err
		}},
		{"CreateQP", "CQ", unusable, func(x *bystander, h uint32) error { // the receive CQ
			init := x.init()
			init.RecvCQ = verbs.CQ(h)
			_, err := x.d.CreateQP(x.pd, init)
			return err
		}},
		{"CreateQP", "SRQ", unusable, func(x *bystander, h uint32) error {
			init := x.init()
			init.SRQ = verbs.SRQ(h)
			_, err := x.d.CreateQP(x.pd, init)
			return err
		}},
	}
}

// usingCalls change, ask or post.
func usingCalls() []handleCall {
	return []handleCall{
		{"ReregMR", "MR", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.ReregMR(verbs.MR(h), verbs.ReregAccess, 0, 0, 0, verbs.AccessLocalWrite)
			return err
		}},
		{"ReregMR", "PD", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.ReregMR(x.mr.MR, verbs.ReregPD, verbs.PD(h), 0, 0, 0)
			return err
		}},
		{"BindMW", "MW", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.BindMW(x.qp, verbs.MW(h), 1, 0, verbs.MWBind{MR: x.mr.MR, Addr: x.addr, Length: 64})
			return err
		}},
		// MwGeneralTest.BindInvalidQp: 0 or ENOENT.
		{"BindMW", "QP", []syscall.Errno{syscall.ENOENT}, func(x *bystander, h uint32) error {
			_, err := x.d.BindMW(verbs.QP(h), x.mw.MW, 1, 0, verbs.MWBind{MR: x.mr.MR, Addr: x.addr, Length: 64})
			return err
		}},
		{"ResizeCQ", "CQ", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.ResizeCQ(verbs.CQ(h), 32)
			return err
		}},
		{"ReqNotifyCQ", "CQ", unusable, func(x *bystander, h uint32) error { return x.d.ReqNotifyCQ(verbs.CQ(h), false) }},
		{"GetCQEvent", "Channel", unusable, func(x *bystander, h uint32) error {
			_, _, err := x.d.GetCQEvent(verbs.Channel(h))
			return err
		}},
		{"AckCQEvents", "CQ", unusable, func(x *bystander, h uint32) error { return x.d.AckCQEvents(verbs.CQ(h), 0) }},
		{"PollCQ", "CQ", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.PollCQ(verbs.CQ(h), make([]verbs.WC, 1))
			return err
		}},
		{"ModifySRQ", "SRQ", unusable, func(x *bystander, h uint32) error {
			return x.d.ModifySRQ(verbs.SRQ(h), verbs.SRQAttr{Limit: 1}, verbs.MaskSRQLimit)
		}},
		{"QuerySRQ", "SRQ", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.QuerySRQ(verbs.SRQ(h))
			return err
		}},
		{"PostSRQRecv", "SRQ", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.PostSRQRecv(verbs.SRQ(h), []verbs.RecvWR{{ID: 1}})
			return err
		}},
		{"QueryQP", "QP", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.QueryQP(verbs.QP(h))
			return err
		}},
		{"ModifyQP", "QP", unusable, func(x *bystander, h uint32) error {
			return x.d.ModifyQP(verbs.QP(h), verbs.QPAttr{State: verbs.INIT, Port: 1},
				verbs.MaskState|verbs.MaskPKeyIndex|verbs.MaskPort|verbs.MaskAccessFlags)
		}},
		{"PostSend", "QP", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.PostSend(verbs.QP(h), []verbs.SendWR{{ID: 1, Opcode: verbs.WRSend}})
			return err
		}},
		{"PostRecv", "QP", unusable, func(x *bystander, h uint32) error {
			_, err := x.d.PostRecv(verbs.QP(h), []verbs.RecvWR{{ID: 1}})
			return err
		}},
	}
}

func handleCalls() []handleCall {
	return slices.Concat(destroyingCalls(), makingCalls(), usingCalls())
}

// handleOf is an object's handle by the name of its type.
func (x *bystander) handleOf(kind string) uint32 {
	return map[string]uint32{
		"PD": uint32(x.pd), "MR": uint32(x.mr.MR), "MW": uint32(x.mw.MW), "Channel": uint32(x.ch), "CQ": uint32(x.cq),
		"SRQ": uint32(x.srq), "AH": uint32(x.ah), "QP": uint32(x.qp),
	}[kind]
}

// TestForgedHandles makes every call that takes a handle with one that was
// never given out and with one that is gone: it is refused, and whatever lives
// beside it is as it was and can be destroyed.
func TestForgedHandles(t *testing.T) {
	for _, profile := range ProfileNames() {
		b := must(Open(context.Background(), Options{Profile: profile}))
		d := b.Node(b.Nodes()[0])
		dead, x := newBystander(d), newBystander(d)
		check(t, dead.destroy())
		for _, c := range handleCalls() {
			want := c.want
			for _, h := range []uint32{0xdeadbeef, ^uint32(0), 1 << 20, dead.handleOf(c.kind)} {
				err := c.call(x, h)
				var refused *verbs.Error
				if !errors.As(err, &refused) || !slices.Contains(want, refused.Errno) {
					t.Errorf("%s: %s with %s %#x: %v, want one of %v", profile, c.method, c.kind, h, err, want)
				}
			}
		}
		if err := x.destroy(); err != nil {
			t.Errorf("%s: after refused calls the live objects cannot be destroyed: %v", profile, err)
		}
		b.Close()
	}
}

// TestHandleCallsAreAll: every method of verbs.Device that has a handle among
// its arguments is in the table, for each of its handles.
func TestHandleCallsAreAll(t *testing.T) {
	have := map[string]bool{}
	for _, c := range handleCalls() {
		have[c.method+" "+c.kind] = true
	}
	kinds := []string{"PD", "MR", "MW", "Channel", "CQ", "SRQ", "AH", "QP"}
	dev := reflect.TypeFor[verbs.Device]()
	seen := 0
	for i := range dev.NumMethod() {
		m := dev.Method(i)
		for j := range m.Type.NumIn() {
			kind := m.Type.In(j).Name()
			if !slices.Contains(kinds, kind) {
				continue
			}
			seen++
			if !have[m.Name+" "+kind] {
				t.Errorf("%s has an argument %s, and the table has no such call", m.Name, kind)
			}
		}
	}
	if seen < len(kinds) {
		t.Errorf("only %d arguments of verbs.Device are handles: their types were renamed", seen)
	}
}

// TestForeignHandle: a handle of one device means nothing on another that has
// none of its kind (published with two contexts as DeviceTest.ContextTomfoolery: ENOENT).
func TestForeignHandle(t *testing.T) {
	for _, profile := range ProfileNames() {
		b := must(Open(context.Background(), Options{Profile: profile}))
		one, other := b.Node(b.Nodes()[0]), b.Node(b.Nodes()[1])
		pd := must(one.AllocPD())
		if err := other.DeallocPD(pd); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%s: %v, want ENOENT", profile, err)
		}
		check(t, one.DeallocPD(pd))
		b.Close()
	}
}

// TestBadHandleInRequest: a request is queued with a handle inside, and fails
// when its turn comes. LoopbackUdQpTest.SendInvalidAh: LOC_QP_OP_ERR, nothing
// is sent. MwGeneralTest.BindInvalidMr: MW_BIND_ERR.
func TestBadHandleInRequest(t *testing.T) {
	for _, profile := range ProfileNames() {
		for _, forged := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/forged=%t", profile, forged), func(t *testing.T) {
				sendInvalidAH(t, profile, forged)
				for _, typ := range []verbs.MWType{verbs.MWType1, verbs.MWType2} {
					bindInvalidMR(t, profile, forged, typ)
				}
			})
		}
	}
}

func sendInvalidAH(t *testing.T, profile string, forged bool) {
	o := defaults()
	o.profile, o.typ = profile, verbs.UD
	b, a, z := pair(t, o)
	defer b.Close()
	ah := verbs.AH(0xdeadbeef)
	if !forged {
		ah = must(a.dev.CreateAH(a.pd, verbs.AHAttr{DGID: z.gid, SGIDIndex: 1, HopLimit: 64, Port: 1}))
		check(t, a.dev.DestroyAH(ah))
	}
	must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 2, SGL: z.sge(0, 1040)}}))
	must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
		ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGL: a.sge(0, 1000),
		AH: ah, RemoteQPN: z.qp.Num, RemoteQKey: 0x11111111,
	}}))
	quiet(t, b)
	if got := a.poll(t); len(got) != 1 || got[0].ID != 1 || got[0].Status != verbs.WCLocQPOpErr {
		t.Errorf("sender has %+v, want one LOC_QP_OP_ERR", got)
	}
	if got := z.poll(t); len(got) != 0 {
		t.Errorf("receiver has %+v, want nothing", got)
	}
}

func bindInvalidMR(t *testing.T, profile string, forged bool, typ verbs.MWType) {
	o := defaults()
	o.profile = profile
	b, a, _ := pair(t, o)
	defer b.Close()
	mw := must(a.dev.AllocMW(a.pd, typ))
	mr := verbs.MR(0xdeadbeef)
	if !forged {
		addr := must(a.dev.Alloc(4096))
		mr = must(a.dev.RegMR(a.pd, addr, 4096, verbs.AccessLocalWrite|verbs.AccessMWBind)).MR
		check(t, a.dev.DeregMR(mr))
	}
	bind := verbs.MWBind{MR: mr, Addr: a.mr.Addr, Length: 64, Access: verbs.AccessRemoteRead}
	var err error
	if typ == verbs.MWType1 {
		_, err = a.dev.BindMW(a.qp.QP, mw.MW, 1, verbs.SendSignaled, bind)
	} else {
		_, err = a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
			ID: 1, Opcode: verbs.WRBindMW, Flags: verbs.SendSignaled, MW: mw.MW, BindRKey: mw.RKey&^0xff | (mw.RKey+1)&0xff, Bind: bind,
		}})
	}
	check(t, err)
	quiet(t, b)
	if got := a.poll(t); len(got) != 1 || got[0].ID != 1 || got[0].Status != verbs.WCMWBindErr {
		t.Errorf("type %d: %+v, want one MW_BIND_ERR", typ, got)
	}
}
