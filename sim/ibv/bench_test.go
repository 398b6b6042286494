//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// trouble checks that opening fails with an OpenError of one kind, which says
// how to mend it.
func trouble(t *testing.T, want Trouble, err error) {
	t.Helper()
	var e *OpenError
	if !errors.As(err, &e) || e.Trouble != want || e.Fix == "" {
		t.Errorf("%v; want trouble %d with a way to mend it", err, want)
	}
}

func TestCannotOpen(t *testing.T) {
	o := useStub(t)
	open := func(o Options) error {
		b, err := Open(context.Background(), o)
		if err == nil {
			t.Fatal("it opened", b.Close())
		}
		return err
	}
	missing := o
	missing.Library = filepath.Join(t.TempDir(), "libibverbs.so.1")
	trouble(t, NoLibrary, open(missing))
	old := o
	old.Library = "libc.so.6"
	trouble(t, OldLibrary, open(old))
	other := o
	other.Device = "mlx5_0"
	trouble(t, NoSuchDevice, open(other))
	set(t, stubOpenErrno, uintptr(syscall.EACCES), 0)
	trouble(t, NoPermission, open(o))
	set(t, stubOpenErrno, uintptr(syscall.ENODEV), 0)
	trouble(t, CannotOpen, open(o))
	set(t, stubDevices, 0, 1)
	trouble(t, NoDevices, open(o))
	if err := os.MkdirAll(filepath.Join(o.Sysfs, "class/infiniband/rxe0"), 0o755); err != nil {
		t.Fatal(err)
	}
	trouble(t, NoProvider, open(o))
	if n := stubCall(t, "stub_living"); n != 0 {
		t.Errorf("%d objects live after failures to open", n)
	}
}

func TestDevicesAndGID(t *testing.T) {
	o := useStub(t)
	list, err := Devices(o)
	if want := (Info{Name: "stub0", Uverbs: "uverbs9", GUID: 0x0102030405060708}); err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("devices: %+v, %v; want %+v", list, err, want)
	}
	b := openStub(t, o)
	// Index 0 is link-local and index 1 is of type RoCE v1: the stub says so.
	if i := b.GIDIndex("b"); i != 2 {
		t.Errorf("GID index %d, want 2", i)
	}
	d := b.Node("b")
	if a, err := d.QueryDevice(); err != nil || a.MaxInline != 512 || a.MaxQP != 1000 || !a.MemWindow2B || !a.AtomicHCA || a.LocalCAAckDelay != 15 {
		t.Errorf("query_device: %+v, %v", a, err)
	}
	// The stub's symbol ibv_query_port, of the shorter struct, always fails.
	if p, err := d.QueryPort(1); err != nil || p.State != verbs.PortActive || p.ActiveMTU != verbs.MTU1024 || p.PKeyTableLen != 1 {
		t.Errorf("query_port: %+v, %v", p, err)
	}
	if _, err := d.QueryGID(1, 3); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("GID 3: %v, want EINVAL, which the stub leaves in errno", err)
	}
	if b.Profile() != "live" || !b.Live() || b.Node("c") != nil {
		t.Error("not a live Bench of two nodes")
	}
}

func TestQueuePairNumbersExhausted(t *testing.T) {
	o := useStub(t)
	b := openStub(t, o)
	c := connect(t, b)
	set(t, stubMaxQP, 1, 1<<20)
	_, err := c.d.CreateQP(c.pd, verbs.QPInitAttr{Type: verbs.RC, SendCQ: c.cq, RecvCQ: c.cq})
	var e *verbs.Error
	if !errors.As(err, &e) || e.Errno != syscall.ENOMEM || !strings.Contains(e.Why, "max_qp") {
		t.Errorf("%v; want ENOMEM that names max_qp", err)
	}
}

func TestEvents(t *testing.T) {
	o := useStub(t)
	c := connect(t, openStub(t, o))
	if _, ok, err := c.d.GetAsyncEvent(); ok || err != nil {
		t.Fatalf("an event from nowhere: %v, %v", ok, err)
	}
	if strings.Contains(stubLog(t), "get_async_event") {
		t.Error("the library was asked though its descriptor had nothing")
	}
	stubCall(t, "stub_raise", c.ptr, uintptr(verbs.EventCQErr))
	stubCall(t, "stub_raise", c.ptr, uintptr(verbs.EventSQDrained))
	stubCall(t, "stub_raise", c.ptr, uintptr(verbs.EventPortErr))
	var got []verbs.AsyncEvent
	for {
		e, ok, err := c.d.GetAsyncEvent()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = append(got, e)
	}
	want := []verbs.AsyncEvent{
		{Type: verbs.EventCQErr, CQ: c.cq}, {Type: verbs.EventSQDrained, QP: c.qp}, {Type: verbs.EventPortErr, Port: 1},
	}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Fatalf("events %+v, want %+v", got, want)
	}
	// libibverbs would wait for ever in these two.
	if err := c.d.DestroyQP(c.qp); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("destroy_qp with an event outstanding: %v", err)
	}
	if err := c.d.DestroyCQ(c.cq); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("destroy_cq with an event outstanding: %v", err)
	}
	for _, e := range got {
		if err := c.d.AckAsyncEvent(e); err != nil {
			t.Error(err)
		}
	}
	if err := c.d.AckAsyncEvent(got[0]); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("acknowledged twice: %v", err)
	}
	if err := errors.Join(c.d.DestroyQP(c.qp), c.d.DestroyCQ(c.cq)); err != nil {
		t.Error(err)
	}
}

// TestCloseLeavesNothing opens, uses everything and closes many times: neither
// objects, descriptors, mappings nor goroutines may be left.
func TestCloseLeavesNothing(t *testing.T) {
	o := useStub(t)
	sc, err := script.Parse("half", []byte(steps[:strings.Index(steps, "b: dealloc_mw mw1")]))
	if err != nil {
		t.Fatal(err)
	}
	round := func() {
		b, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		res, err := script.NewSession(b).Run(context.Background(), sc)
		if err != nil || res.Failed != nil {
			t.Fatalf("%v, %+v", err, res.Failed)
		}
		h := b.nodes[0].qps.find(func(*qpObject) bool { return true })
		stubCall(t, "stub_raise", b.nodes[0].qps.get(h).ptr, uintptr(verbs.EventSQDrained))
		stubCall(t, "stub_raise", b.nodes[0].qps.get(h).ptr, uintptr(verbs.EventCQErr))
		if _, ok, err := b.Node("a").GetAsyncEvent(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, ok, err := b.Node("a").GetAsyncEvent(); !ok || err != nil { // taken, never acknowledged
			t.Fatal(ok, err)
		}
		if err := errors.Join(b.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
		stubCall(t, "stub_reset")
	}
	count := func(path string) int {
		list, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	anonymous := func() int { // mappings of no file: neither library nor heap growth comes and goes here
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(maps), " ---p 00000000 00:00 0")
	}
	round()
	runtime.GC()
	fds, guards, goroutines := count("/proc/self/fd"), anonymous(), runtime.NumGoroutine()
	for range 50 {
		round()
	}
	if n := stubCall(t, "stub_living"); n != 0 {
		t.Errorf("%d objects of the library live", n)
	}
	if n := count("/proc/self/fd"); n > fds {
		t.Errorf("%d descriptors, %d before", n, fds)
	}
	// Each mapping of ours has a guard page; 50 rounds made some 700.
	if n := anonymous(); n > guards+50 {
		t.Errorf("%d guard pages, %d before", n, guards)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
}

func TestClosedDeviceRefuses(t *testing.T) {
	o := useStub(t)
	b, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_, e1 := c.d.QueryDevice()
	_, e2 := c.d.PostSend(c.qp, c.send)
	_, e3 := c.d.PollCQ(c.cq, make([]verbs.WC, 1))
	_, _, e4 := c.d.GetAsyncEvent()
	for i, err := range []error{e1, e2, e3, e4, c.d.Load(c.mr.Addr, make([]byte, 1))} {
		if !errors.As(err, new(*verbs.Error)) {
			t.Errorf("call %d on a closed device: %v", i, err)
		}
	}
}

// waiting is a Bench whose sysfs and clock the test moves.
func waiting(t *testing.T) (*Bench, *handClock, func(name string, n string)) {
	o := useStub(t)
	clock := &handClock{}
	o.Clock = Clock{Now: clock.now, Pause: clock.pause}
	dir := filepath.Join(o.Sysfs, "class/infiniband/stub0", counterFolder)
	verbsDir := filepath.Join(o.Sysfs, "class/infiniband_verbs/uverbs9")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(verbsDir, 0o755)); err != nil {
		t.Fatal(err)
	}
	write := func(name, n string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(n+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sent_pkts", "100")
	write("lifespan", "10")
	return openStub(t, o), clock, write
}

func TestWait(t *testing.T) {
	ctx := context.Background()
	b, clock, write := waiting(t)
	never := func() (bool, error) { return false, nil }
	start := clock.at
	if ok, err := b.Wait(ctx, time.Second, nil); !ok || err != nil || clock.at-start > 100*time.Millisecond {
		t.Errorf("quiet: %v, %v after %v", ok, err, clock.at-start)
	}
	if c, err := b.Node("a").Counters(); err != nil || c["sent_pkts"] != 0 || len(c) != 1 {
		t.Errorf("counters count from 0: %v, %v", c, err)
	}
	// As long as the counters move, only the limit ends a wait.
	n := 100
	clock.hook = func(time.Duration) { n++; write("sent_pkts", strconv.Itoa(n)) }
	start = clock.at
	if ok, err := b.Wait(ctx, time.Second, never); ok || err != nil || clock.at-start < time.Second {
		t.Errorf("busy: %v, %v after %v", ok, err, clock.at-start)
	}
	if ok, err := b.Wait(ctx, time.Second, nil); ok || err != nil {
		t.Errorf("busy, waiting for quiet: %v, %v", ok, err)
	}
	// Nothing comes and nothing moves: it gives up long before the limit.
	clock.hook = nil
	start = clock.at
	if ok, err := b.Wait(ctx, time.Hour, never); ok || err != nil || clock.at-start > 2*time.Second {
		t.Errorf("idle: %v, %v after %v", ok, err, clock.at-start)
	}
	// A timer that may run is waited for: 4.096 us << 18 is 1.07 s.
	c := connect(t, b)
	q := b.nodes[0].qps.get(uint32(c.qp))
	q.timeout = 18
	q.push(&verbs.SendWR{ID: 1})
	start = clock.at
	if ok, err := b.Wait(ctx, time.Minute, nil); !ok || err != nil || clock.at-start < 2*time.Second || clock.at-start > 3*time.Second {
		t.Errorf("a timer runs: %v, %v after %v", ok, err, clock.at-start)
	}
	tries := 0
	if ok, err := b.Wait(ctx, time.Minute, func() (bool, error) { tries++; return tries == 3, nil }); !ok || err != nil {
		t.Errorf("ready: %v, %v", ok, err)
	}
	broken := errors.New("broken")
	if _, err := b.Wait(ctx, time.Minute, func() (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("an error of ready: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Wait(over, time.Minute, never); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	clock.hook = func(time.Duration) { _ = os.RemoveAll(filepath.Join(string(b.sys), "class/infiniband_verbs/uverbs9")) }
	_, err := b.Wait(ctx, time.Minute, never)
	trouble(t, Gone, err)
}

// TestPortDown: what every queue pair would meet on its way to RTR is said
// before anything is made, with the interface that the kernel names.
func TestPortDown(t *testing.T) {
	o := useStub(t)
	dir := filepath.Join(o.Sysfs, "class/infiniband/stub0")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "parent"), []byte("eth7\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	set(t, stubPortState, uintptr(verbs.PortDown), uintptr(verbs.PortActive))
	_, err := Open(context.Background(), o)
	trouble(t, PortDown, err)
	if err == nil || !strings.Contains(err.Error(), "port 1 is DOWN") || !strings.Contains(err.Error(), "ip link set dev eth7 up") {
		t.Errorf("%v", err)
	}
}

// TestGoneWhileOpening: a removal that begins when a context is open waits for
// it, and no event tells; it must be seen although nothing has run yet.
func TestGoneWhileOpening(t *testing.T) {
	o := useStub(t)
	dir := filepath.Join(o.Sysfs, "class/infiniband_verbs/uverbs9")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	clock := &handClock{hook: func(time.Duration) { _ = os.Remove(dir) }} // Open pauses once, for the counters
	o.Clock = Clock{Now: clock.now, Pause: clock.pause}
	b := openStub(t, o)
	trouble(t, Gone, b.Present())
	_, err := b.Wait(context.Background(), time.Minute, nil)
	trouble(t, Gone, err)
}

// TestEndless: what a wait may never see the end of is named, and nothing else.
func TestEndless(t *testing.T) {
	b := openStub(t, useStub(t))
	c := connect(t, b)
	unfinished := func() {
		t.Helper()
		c.send[0].Flags = 0 // the stub completes signaled sends alone
		if _, err := c.d.PostSend(c.qp, c.send); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range []struct {
		retry, rnr uint8
		want       string
	}{{6, 6, ""}, {7, 6, "retry_cnt=7"}, {6, 7, "rnr_retry=7"}} {
		if err := c.d.ModifyQP(c.qp, verbs.QPAttr{State: verbs.RTS, RetryCnt: one.retry, RNRRetry: one.rnr},
			verbs.MaskState|verbs.MaskRetryCnt|verbs.MaskRNRRetry); err != nil {
			t.Fatal(err)
		}
		if one.retry == 6 && one.rnr == 6 {
			if got := b.Endless(); got != "" {
				t.Errorf("nothing was sent, and %q", got)
			}
			unfinished()
		}
		if got := b.Endless(); one.want == "" && got != "" || !strings.Contains(got, one.want) {
			t.Errorf("retry_cnt %d, rnr_retry %d: %q", one.retry, one.rnr, got)
		}
	}
}
