//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"errors"
	"syscall"
	"testing"

	"rdmaprep/sim/verbs"
)

// connected is one RC queue pair in RTS on the stub, with memory.
type connected struct {
	d    verbs.Device
	ptr  uintptr // of the struct ibv_qp
	pd   verbs.PD
	cq   verbs.CQ
	qp   verbs.QP
	mr   verbs.MRInfo
	send []verbs.SendWR
	recv []verbs.RecvWR
}

func connect(t testing.TB, b *Bench) *connected {
	t.Helper()
	d := b.nodes[0]
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := &connected{d: d}
	var err error
	c.pd, err = d.AllocPD()
	must(err)
	cq, err := d.CreateCQ(64, 0)
	must(err)
	c.cq = cq.CQ
	addr, err := d.Alloc(4096)
	must(err)
	c.mr, err = d.RegMR(c.pd, addr, 4096, verbs.AccessLocalWrite|verbs.AccessMWBind)
	must(err)
	qp, err := d.CreateQP(c.pd, verbs.QPInitAttr{
		Type: verbs.RC, SendCQ: c.cq, RecvCQ: c.cq,
		Cap: verbs.QPCap{MaxSendWR: 64, MaxRecvWR: 64, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 64},
	})
	must(err)
	c.qp = qp.QP
	must(d.ModifyQP(c.qp, verbs.QPAttr{State: verbs.RTS}, verbs.MaskState))
	c.ptr = d.qps.get(uint32(c.qp)).ptr
	sgl := []verbs.SGE{{Addr: addr, Length: 64, LKey: c.mr.LKey}}
	c.send = []verbs.SendWR{{ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGL: sgl}}
	c.recv = []verbs.RecvWR{{ID: 2, SGL: sgl}}
	return c
}

// TestDataPathAllocatesNothing posts, polls and arms.
func TestDataPathAllocatesNothing(t *testing.T) {
	o := useStub(t)
	set(t, stubQuiet, 1, 0)
	c := connect(t, openStub(t, o))
	wcs := make([]verbs.WC, 4)
	list := append([]verbs.SendWR(nil), c.send[0], c.send[0], c.send[0])
	list[1].Flags |= verbs.SendInline
	for _, one := range []struct {
		name string
		do   func() error
	}{
		{"post_send and poll_cq", func() error {
			if _, err := c.d.PostSend(c.qp, c.send); err != nil {
				return err
			}
			n, err := c.d.PollCQ(c.cq, wcs)
			if n != 1 || wcs[0].ID != 1 || wcs[0].ByteLen != 64 {
				return errors.New("not the completion")
			}
			return err
		}},
		{"a list of three with inline data", func() error {
			if _, err := c.d.PostSend(c.qp, list); err != nil {
				return err
			}
			n, err := c.d.PollCQ(c.cq, wcs)
			if n != 3 {
				return errors.New("not three completions")
			}
			return err
		}},
		{"post_recv", func() error { _, err := c.d.PostRecv(c.qp, c.recv); return err }},
		{"an empty poll_cq", func() error { _, err := c.d.PollCQ(c.cq, wcs); return err }},
		{"req_notify_cq", func() error { return c.d.ReqNotifyCQ(c.cq, false) }},
	} {
		var failed error
		if n := testing.AllocsPerRun(1000, func() {
			if err := one.do(); err != nil {
				failed = err
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", one.name, n)
		}
		if failed != nil {
			t.Errorf("%s: %v", one.name, failed)
		}
	}
}

// BenchmarkPostSend posts one unsignaled request. C-ns/op is the same call from
// C; what this package costs is the difference.
func BenchmarkPostSend(b *testing.B) {
	o := useStub(b)
	set(b, stubQuiet, 1, 0)
	c := connect(b, openStub(b, o))
	c.send[0].Flags = 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.d.PostSend(c.qp, c.send); err != nil {
			b.Fatal(err)
		}
	}
	reportC(b, c, 0)
}

// BenchmarkPostSendPollCQ posts one signaled request and takes its completion.
func BenchmarkPostSendPollCQ(b *testing.B) {
	o := useStub(b)
	set(b, stubQuiet, 1, 0)
	c := connect(b, openStub(b, o))
	var wc [1]verbs.WC
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.d.PostSend(c.qp, c.send); err != nil {
			b.Fatal(err)
		}
		if n, err := c.d.PollCQ(c.cq, wc[:]); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
	reportC(b, c, 1)
}

func reportC(b *testing.B, c *connected, polls uintptr) {
	b.Helper()
	const n = 1_000_000
	if ns := int64(stubCall(b, "stub_time", c.ptr, n, polls)); ns > 0 {
		b.ReportMetric(float64(ns)/n, "C-ns/op")
	}
}

// TestBadWR checks that posted is the index of bad_wr: what stands before it is
// posted (ibv_post_send(3)).
func TestBadWR(t *testing.T) {
	o := useStub(t)
	c := connect(t, openStub(t, o))
	set(t, stubBadID, 77, ^uintptr(0))
	list := append([]verbs.SendWR(nil), c.send[0], c.send[0], c.send[0])
	list[2].ID = 77
	n, err := c.d.PostSend(c.qp, list)
	if n != 2 || !errors.Is(err, syscall.EINVAL) {
		t.Errorf("post_send: posted %d, %v; want 2 and EINVAL", n, err)
	}
	wcs := make([]verbs.WC, 4)
	if n, err := c.d.PollCQ(c.cq, wcs); n != 2 || err != nil {
		t.Errorf("%d completions, %v; want the two before bad_wr", n, err)
	}
	recv := append([]verbs.RecvWR(nil), c.recv[0], c.recv[0])
	recv[1].ID = 77
	if n, err := c.d.PostRecv(c.qp, recv); n != 1 || !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("post_recv: posted %d, %v; want 1 and ENOMEM", n, err)
	}
}

// TestWhatWouldCrash checks what is refused because libibverbs or its provider
// would follow a pointer that is none.
func TestWhatWouldCrash(t *testing.T) {
	o := useStub(t)
	c := connect(t, openStub(t, o))
	ud, err := c.d.CreateQP(c.pd, verbs.QPInitAttr{
		Type: verbs.UD, SendCQ: c.cq, RecvCQ: c.cq, Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	inline := c.send[0]
	inline.Flags |= verbs.SendInline
	inline.SGL = []verbs.SGE{{Addr: 0xdead0000, Length: 8}}
	for _, one := range []struct {
		name  string
		qp    verbs.QP
		wr    verbs.SendWR
		errno syscall.Errno
	}{
		{"a UD send without an address handle", ud.QP, verbs.SendWR{Opcode: verbs.WRSend}, syscall.EINVAL},
		{"a UD send with a handle that is none", ud.QP, verbs.SendWR{Opcode: verbs.WRSend, AH: 9}, syscall.EINVAL},
		{"inline data that is not mapped", c.qp, inline, syscall.EFAULT},
		{"a bind of no window", c.qp, verbs.SendWR{Opcode: verbs.WRBindMW, Bind: verbs.MWBind{MR: c.mr.MR}}, syscall.EINVAL},
		{"an opcode that is none", c.qp, verbs.SendWR{Opcode: 99}, syscall.EINVAL},
		{"a queue pair that is none", 99, c.send[0], syscall.EINVAL},
	} {
		good := verbs.SendWR{ID: 5, Opcode: verbs.WRRDMAWrite}
		n, err := c.d.PostSend(one.qp, []verbs.SendWR{good, one.wr})
		if want := min(1, len(c.send)); one.qp != 99 && n != want || !errors.Is(err, one.errno) {
			t.Errorf("%s: posted %d, %v; want 1 and %v", one.name, n, err, one.errno)
		}
	}
	// A UD request that is no send needs no handle, and the provider reads one
	// whatever the opcode is: something harmless has to stand there.
	if n, err := c.d.PostSend(ud.QP, []verbs.SendWR{{Opcode: verbs.WRRDMARead, RemoteVA: 1}}); n != 1 || err != nil {
		t.Errorf("a UD READ: %d, %v", n, err)
	}
}
