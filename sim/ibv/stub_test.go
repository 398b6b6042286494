//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebitengine/purego"

	"rdmaprep/sim/script"
)

// stubLibrary is testdata/stub.c, built once.
var stubLibrary struct {
	sync.Once
	dir, path string
	handle    uintptr
}

func TestMain(m *testing.M) {
	code := m.Run()
	if stubLibrary.dir != "" {
		_ = os.RemoveAll(stubLibrary.dir)
	}
	os.Exit(code)
}

// What stub_set sets.
const (
	stubDevices = iota
	stubMaxQP
	stubOpenErrno
	stubBadID
	stubQuiet
	stubPortState
)

// stubCall calls a control function of the stub.
func stubCall(t testing.TB, name string, args ...uintptr) uintptr {
	t.Helper()
	fn, err := purego.Dlsym(stubLibrary.handle, name)
	if err != nil {
		t.Fatal(err)
	}
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// set sets a switch of the stub for the time of the test.
func set(t testing.TB, what int, value, usual uintptr) {
	t.Helper()
	stubCall(t, "stub_set", uintptr(what), value)
	t.Cleanup(func() { stubCall(t, "stub_set", uintptr(what), usual) })
}

func stubLog(t testing.TB) string {
	t.Helper()
	return cString(stubCall(t, "stub_log"), 1<<16)
}

// useStub builds and loads the stub and gives Options for it.
func useStub(t testing.TB) Options {
	t.Helper()
	stubLibrary.Do(func() {
		dir, err := os.MkdirTemp("", "rdmaprep-stub") //nolint:usetesting // it outlives the test: a loaded library stays
		if err != nil {
			t.Fatal(err)
		}
		stubLibrary.dir = dir
		stubLibrary.path = compile(t, dir, "stub.c", "-shared", "-fPIC")
		if stubLibrary.handle, err = purego.Dlopen(stubLibrary.path, purego.RTLD_NOW); err != nil {
			t.Fatal(err)
		}
	})
	if stubLibrary.handle == 0 {
		compile(t, t.TempDir(), "stub.c", "-shared", "-fPIC") // says again what is missing
	}
	stubCall(t, "stub_reset")
	clock := &handClock{}
	return Options{Library: stubLibrary.path, Sysfs: t.TempDir(), Clock: Clock{Now: clock.now, Pause: clock.pause}}
}

// handClock is a clock that only a pause moves.
type handClock struct {
	at    time.Duration
	hook  func(at time.Duration)
	count int
}

func (c *handClock) now() time.Time { return time.Unix(0, 0).Add(c.at) }

func (c *handClock) pause(_ context.Context, d time.Duration) {
	c.at += d
	c.count++
	if c.hook != nil {
		c.hook(c.at)
	}
}

func openStub(t testing.TB, o Options) *Bench {
	t.Helper()
	b, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// steps is the script whose C counterpart is testdata/steps.c.
const steps = `script 1
pair rc
a: create_comp_channel ch1
a: create_cq cq2 cqe=16 channel=ch1
a: resize_cq cq2 cqe=32
a: req_notify_cq cq2 solicited_only=0
a: create_qp qp2 pd=pd1 type=UD send_cq=cq2 recv_cq=cq2 max_send_wr=8 max_recv_wr=8 max_send_sge=1 max_recv_sge=1
a: modify_qp qp2 state=INIT pkey_index=0 port=1 qkey=0x11
a: create_ah ah1 pd=pd1 to=b
a: post_send qp2 wr_id=9 opcode=SEND_WITH_IMM sge=mr1[0:16] imm=0x2a ah=ah1 dest=b.qp1 qkey=0x11 send_flags=SIGNALED
a: get_cq_event ch1
a: ack_cq_events cq2 n=1
a: poll_cq cq2 n=1
b: post_recv qp1 wr_id=100 sge=mr1[0:64]
b: create_srq srq1 pd=pd1 max_wr=16 max_sge=1
b: post_srq_recv srq1 wr_id=1 sge=mr1[0:8] ; wr_id=2 sge=mr1[8:16]
b: modify_srq srq1 limit=2
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=SUCCESS
a: post_send qp1 wr_id=2 opcode=RDMA_WRITE sge=mr1[0:64] remote=b.mr1[8:72] send_flags=SIGNALED
a: wait cq1 count=1
expect a.cq1 wr_id=2 status=SUCCESS
a: post_send qp1 wr_id=3 opcode=RDMA_READ sge=mr1[0:64] remote=b.mr1[0:64] send_flags=SIGNALED
a: poll_cq cq1 n=1
a: post_send qp1 wr_id=4 opcode=ATOMIC_CMP_AND_SWP sge=mr1[0:8] remote=b.mr1[16:24] compare=5 swap=7 send_flags=SIGNALED
a: poll_cq cq1 n=1
a: post_send qp1 wr_id=5 opcode=SEND sge=mr1[0:32] send_flags=SIGNALED|INLINE
a: poll_cq cq1 n=1
b: alloc_mw mw1 pd=pd1 type=2
b: post_send qp1 wr_id=6 opcode=BIND_MW mw=mw1 mr=mr1[64:128] access=REMOTE_READ send_flags=SIGNALED
b: poll_cq cq1 n=1
b: post_send qp1 wr_id=7 opcode=LOCAL_INV rkey=mw1 send_flags=SIGNALED
b: poll_cq cq1 n=1
b: dealloc_mw mw1
b: alloc_mw mw2 pd=pd1 type=1
b: bind_mw qp1 mw=mw2 mr=mr1[0:32] access=REMOTE_WRITE wr_id=8 send_flags=SIGNALED
b: poll_cq cq1 n=1
a: destroy_ah ah1
a: destroy_qp qp2
a: destroy_cq cq2
a: destroy_comp_channel ch1
b: destroy_srq srq1
b: dealloc_mw mw2
a: destroy_qp qp1
a: dereg_mr mr1
a: destroy_cq cq1
a: dealloc_pd pd1
`

// TestSameCalls runs a script on the stub, and the same steps written by hand
// in C: the library must see the same calls with the same arguments, in order.
func TestSameCalls(t *testing.T) {
	o := useStub(t)
	program := compile(t, t.TempDir(), "steps.c", stubLibrary.path, "-Wl,-rpath,"+stubLibrary.dir)
	want, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	sc, err := script.Parse("steps", []byte(steps))
	if err != nil {
		t.Fatal(err)
	}
	b := openStub(t, o)
	stubCall(t, "stub_reset")
	res, err := script.NewSession(b).Run(context.Background(), sc)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failed != nil {
		t.Fatalf("line %d: %s: got %s", res.Failed.Line, res.Failed.Text, res.Failed.Got)
	}
	got := strings.Split(stubLog(t), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("call %d is in C\n  %s\nand here\n  %s", i, line, strings.Join(got[i:min(i+1, len(got))], ""))
		}
	}
	if n := len(strings.Split(string(want), "\n")); len(got) != n || n < 50 {
		t.Errorf("%d calls here, %d in C", len(got), n)
	}
}
