//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"errors"
	"syscall"
	"testing"

	"rdmaprep/sim/verbs"
)

// windowed is a connected queue pair with a window of type 2.
type windowed struct {
	*connected
	t  *testing.T
	mw verbs.MWInfo
}

func withWindow(t *testing.T) *windowed {
	t.Helper()
	c := connect(t, openStub(t, useStub(t)))
	mw, err := c.d.AllocMW(c.pd, verbs.MWType2)
	if err != nil {
		t.Fatal(err)
	}
	return &windowed{c, t, mw}
}

func (w *windowed) bind(key uint32) {
	w.t.Helper()
	if _, err := w.d.PostSend(w.qp, []verbs.SendWR{{
		ID: 10, Opcode: verbs.WRBindMW, Flags: verbs.SendSignaled, MW: w.mw.MW, BindRKey: key,
		Bind: verbs.MWBind{MR: w.mr.MR, Addr: w.mr.Addr, Length: 64, Access: verbs.AccessRemoteRead},
	}}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *windowed) poll() {
	w.t.Helper()
	if n, err := w.d.PollCQ(w.cq, make([]verbs.WC, 8)); n == 0 || err != nil {
		w.t.Fatalf("%d completions, %v", n, err)
	}
}

func (w *windowed) invalidate(op verbs.WROpcode, key uint32) error {
	_, err := w.d.PostSend(w.qp, []verbs.SendWR{{ID: 11, Opcode: op, Flags: verbs.SendSignaled, InvRKey: key}})
	return err
}

// danger checks that a call is refused as one that hurts a kernel, and that a
// script sees EPERM.
func danger(t *testing.T, what string, err error) {
	t.Helper()
	var refused *verbs.Error
	if !errors.Is(err, ErrHurtsKernel) || !errors.As(err, &refused) || refused.Errno != syscall.EPERM || refused.Why == "" {
		t.Errorf("%s: %v; want ErrHurtsKernel with EPERM and a reason", what, err)
	}
}

// TestFreeWindowIsNotInvalidated: rxe's kernel follows a null pointer when a
// type 2 window that is free is invalidated under its current key (rxe_mw.c
// rxe_do_invalidate_mw, Linux 6.1).
func TestFreeWindowIsNotInvalidated(t *testing.T) {
	for _, op := range []verbs.WROpcode{verbs.WRLocalInv, verbs.WRSendWithInv} {
		w := withWindow(t)
		key := w.mw.RKey
		danger(t, "never bound", w.invalidate(op, key))
		if err := w.invalidate(op, 0xdead00); err != nil {
			t.Errorf("a key of no window is the kernel's to refuse: %v", err)
		}
		w.bind(key + 1)
		danger(t, "under the old key, the bind perhaps not done", w.invalidate(op, key))
		if err := w.invalidate(op, key+1); err != nil {
			t.Errorf("once after a bind: %v", err)
		}
		danger(t, "twice", w.invalidate(op, key+1))
		w.poll()
		w.bind(key + 2)
		w.poll()
		if err := w.invalidate(op, key+1); err != nil {
			t.Errorf("a key that certainly is stale is the kernel's to refuse: %v", err)
		}
		if err := w.invalidate(op, key+2); err != nil {
			t.Errorf("once after the second bind: %v", err)
		}
		danger(t, "twice again", w.invalidate(op, key+2))
	}
}

// TestBindWithTheSameKey: the kernel takes a bind that keeps the key, and then
// the key does not tell whether the bind was done.
func TestBindWithTheSameKey(t *testing.T) {
	w := withWindow(t)
	w.bind(w.mw.RKey)
	danger(t, "the key of before", w.invalidate(verbs.WRLocalInv, w.mw.RKey))
}

// TestOtherNodesWindow: all nodes share the device, so one may invalidate
// another's window.
func TestOtherNodesWindow(t *testing.T) {
	b := openStub(t, useStub(t))
	c := connect(t, b)
	other := b.nodes[1]
	pd, err := other.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	mw, err := other.AllocMW(pd, verbs.MWType2)
	if err != nil {
		t.Fatal(err)
	}
	w := &windowed{c, t, mw}
	danger(t, "SEND_WITH_INV of the other node's free window", w.invalidate(verbs.WRSendWithInv, mw.RKey))
	if err := other.DeallocMW(mw.MW); err != nil {
		t.Fatal(err)
	}
	if err := w.invalidate(verbs.WRSendWithInv, mw.RKey); err != nil {
		t.Errorf("a window that is gone: %v", err)
	}
}

// TestQueuePairWithBoundWindow: rxe waits 50 s in the kernel for a window's
// reference to a queue pair that is destroyed (rxe_pool.c __rxe_cleanup).
func TestQueuePairWithBoundWindow(t *testing.T) {
	w := withWindow(t)
	w.bind(w.mw.RKey + 1)
	danger(t, "the bind perhaps done", w.d.DestroyQP(w.qp))
	w.poll()
	danger(t, "bound", w.d.DestroyQP(w.qp))
	if err := w.invalidate(verbs.WRLocalInv, w.mw.RKey+1); err != nil {
		t.Fatal(err)
	}
	danger(t, "the invalidation perhaps not done", w.d.DestroyQP(w.qp))
	w.poll()
	if err := w.d.DestroyQP(w.qp); err != nil {
		t.Errorf("after the invalidation completed: %v", err)
	}

	w = withWindow(t)
	w.bind(w.mw.RKey + 1)
	if err := w.d.DeallocMW(w.mw.MW); err != nil {
		t.Fatal(err)
	}
	if err := w.d.DestroyQP(w.qp); err != nil {
		t.Errorf("after dealloc_mw: %v", err)
	}
}

// TestQueueIsNotMadeTooSmall: a shared receive queue of rxe whose content does
// not fit into its new size is the end of the kernel before Linux 6.1.191
// (CVE-2025-68379); rxe's sizes are powers of two less one.
func TestQueueIsNotMadeTooSmall(t *testing.T) {
	w := withWindow(t)
	srq, err := w.d.CreateSRQ(w.pd, verbs.SRQAttr{MaxWR: 16, MaxSGE: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.d.PostSRQRecv(srq.SRQ, make([]verbs.RecvWR, 6)); err != nil {
		t.Fatal(err)
	}
	size := func(n int) error {
		return w.d.ModifySRQ(srq.SRQ, verbs.SRQAttr{MaxWR: n, Limit: 1}, verbs.MaskSRQMaxWR)
	}
	danger(t, "6 into 3", size(3))
	danger(t, "6 into 1", size(1))
	for _, n := range []int{0, 4, 7, 16, 100} { // 0 is the kernel's to refuse
		if err := size(n); errors.Is(err, ErrHurtsKernel) {
			t.Errorf("6 into %d: %v", n, err)
		}
	}
	if err := w.d.ModifySRQ(srq.SRQ, verbs.SRQAttr{MaxWR: 1, Limit: 2}, verbs.MaskSRQLimit); err != nil {
		t.Errorf("the limit alone: %v", err)
	}
}
