//go:build linux && (amd64 || arm64) && !noibv

package ibv_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprep/sim/ibv"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// required says whether RDMAPREP_REQUIRE names a tool.
func required(tool string) bool {
	return slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), tool)
}

// liveDevice is the device of RDMAPREP_DEVICE. One that is named and missing
// fails the test that opens it.
func liveDevice(t *testing.T) string {
	t.Helper()
	name := os.Getenv("RDMAPREP_DEVICE")
	if name == "" {
		if required("rxe") {
			t.Fatal("RDMAPREP_REQUIRE names rxe, but RDMAPREP_DEVICE names no device")
		}
		t.Skip("no live device: RDMAPREP_DEVICE=rxe0 names one")
	}
	return name
}

func wallClock() ibv.Clock {
	return ibv.Clock{Now: time.Now, Pause: func(ctx context.Context, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}}
}

func openLive(t *testing.T, nodes ...string) *ibv.Bench {
	t.Helper()
	b, err := ibv.Open(context.Background(), ibv.Options{Device: liveDevice(t), Nodes: nodes, Clock: wallClock()})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLiveDevice(t *testing.T) {
	name := liveDevice(t)
	list, err := ibv.Devices(ibv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(i ibv.Info) bool { return i.Name == name && i.GUID != 0 && i.Uverbs != "" }) {
		t.Fatalf("%s is not listed with a GUID: %+v", name, list)
	}
	b := openLive(t)
	d := b.Node("a")
	attr, err := d.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", attr)
	if port, err := d.QueryPort(1); err != nil || port.State != verbs.PortActive || port.MaxMTU.Bytes() == 0 {
		t.Fatalf("port 1: %+v, %v", port, err)
	}
	if _, err := d.QueryPort(7); !errors.As(err, new(*verbs.Error)) {
		t.Errorf("port 7: %v", err)
	}
	gid, err := d.QueryGID(1, b.GIDIndex("a"))
	if err != nil || [12]byte(gid[:12]) != [12]byte{10: 0xff, 11: 0xff} {
		t.Errorf("GID %d is %x, %v: not an IPv4 address", b.GIDIndex("a"), gid, err)
	}
	if counters, err := d.Counters(); err != nil || len(counters) == 0 {
		t.Errorf("counters: %v, %v", counters, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AllocPD(); err == nil {
		t.Error("a closed device still works")
	}
}

// runLive runs a script on the device and says what does not hold, "" if all
// does. sim/difftest runs everything that the model runs.
func runLive(t *testing.T, name, source string) string {
	sc, err := script.Parse(name, []byte("script 1\n"+source))
	if err != nil {
		return err.Error()
	}
	b := openLive(t, sc.Nodes...)
	start := time.Now()
	_, res, err := script.RunAll(context.Background(), b, sc)
	took := time.Since(start)
	if cerr := b.Close(); cerr != nil {
		t.Errorf("%s: close: %v", name, cerr)
	}
	t.Logf("%s: %s", name, took.Round(time.Millisecond))
	var gap *script.MissingError
	if errors.As(err, &gap) {
		return "this device has no " + gap.What
	}
	if err != nil {
		return err.Error()
	}
	if f := res.Failed; f != nil {
		return fmt.Sprintf("line %d: %s: got %s", f.Line-1, f.Text, f.Got)
	}
	return ""
}

// TestLiveDanger posts on the device what is known to damage its kernel: it must
// not arrive there, and the device must work afterwards.
func TestLiveDanger(t *testing.T) {
	const source = `script 1
pair rc mr_access=LOCAL_WRITE|REMOTE_READ|MW_BIND
a: alloc_mw mw1 pd=pd1 type=2
a: post_send qp1 wr_id=1 opcode=LOCAL_INV rkey=mw1 send_flags=SIGNALED
expect ret=EPERM
b: post_send qp1 wr_id=1 opcode=SEND_WITH_INV sge=none inv_rkey=a.mw1 send_flags=SIGNALED
expect ret=EPERM
a: post_send qp1 wr_id=2 opcode=BIND_MW mw=mw1 mr=mr1[0:64] access=REMOTE_READ send_flags=SIGNALED
expect a.cq1 wr_id=2 status=SUCCESS
a: destroy_qp qp1
expect ret=EPERM
a: post_send qp1 wr_id=3 opcode=LOCAL_INV rkey=mw1 send_flags=SIGNALED
expect a.cq1 wr_id=3 status=SUCCESS
a: post_send qp1 wr_id=4 opcode=LOCAL_INV rkey=mw1 send_flags=SIGNALED
expect ret=EPERM
a: post_send qp1 wr_id=5 opcode=BIND_MW mw=mw1 mr=mr1[0:64] access=REMOTE_READ send_flags=SIGNALED ; wr_id=6 opcode=LOCAL_INV rkey=mw1 send_flags=SIGNALED
expect ret=EPERM posted=1
expect a.cq1 wr_id=5 status=SUCCESS
a: dealloc_mw mw1
a: destroy_qp qp1
`
	if got := runLive(t, "danger", strings.TrimPrefix(source, "script 1\n")); got != "" {
		t.Error(got)
	}
}

// TestLiveWait: a queue pair that retries for ever (retry_cnt=7 on rxe) is left
// at the limit.
func TestLiveWait(t *testing.T) {
	b := openLive(t)
	defer b.Close()
	sc, err := script.Parse("wait", []byte(`script 1
pair rc timeout=8 retry_cnt=7
b: modify_qp qp1 state=RESET
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:8] send_flags=SIGNALED
a: wait cq1 limit=2s
expect ret=ETIMEDOUT
`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := script.NewSession(b).Run(context.Background(), sc)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failed != nil {
		t.Errorf("line %d: %s", res.Failed.Line, res.Failed.Got)
	}
}

// TestLiveMemlock registers more than an ordinary user may pin: root has
// CAP_IPC_LOCK, which knows no limit, so the test runs itself as another user.
func TestLiveMemlock(t *testing.T) {
	name := liveDevice(t)
	const child = "RDMAPREP_MEMLOCK_CHILD"
	if os.Getenv(child) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", "ulimit -l 64 && exec "+self+" -test.run '^TestLiveMemlock$'")
		cmd.Env = append(os.Environ(), child+"=1")
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	b, err := ibv.Open(context.Background(), ibv.Options{Device: name, Clock: wallClock()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	d := b.Node("a")
	pd, err := d.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	addr, err := d.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.RegMR(pd, addr, 1<<20, verbs.AccessLocalWrite)
	var e *verbs.Error
	if !errors.As(err, &e) || e.Errno != syscall.ENOMEM || !strings.Contains(e.Why, "ulimit -l") {
		t.Errorf("%v; want ENOMEM that says where the limit is", err)
	}
	if _, err := d.RegMR(pd, addr, 4096, verbs.AccessLocalWrite); err != nil {
		t.Errorf("one page is within 64 KiB: %v", err)
	}
}

// TestLiveRemoval removes the device, by the command in RDMAPREP_REMOVE, under a
// wait: the wait must end with Gone, and the removal must finish when the Bench
// is closed. It comes last, since the device is gone then.
func TestLiveRemoval(t *testing.T) {
	liveDevice(t)
	command := os.Getenv("RDMAPREP_REMOVE")
	if command == "" {
		t.Skip("RDMAPREP_REMOVE names no command that removes the device")
	}
	b := openLive(t)
	remove := exec.Command("sh", "-c", command)
	if err := remove.Start(); err != nil {
		t.Fatal(err)
	}
	// Counters that never stand still would do too; the limit is only so that
	// the test ends.
	var gone *ibv.OpenError
	for start := time.Now(); gone == nil && time.Since(start) < time.Minute; {
		_, err := b.Wait(context.Background(), 10*time.Second, func() (bool, error) { return false, nil })
		if err != nil && !errors.As(err, &gone) {
			t.Fatal(err)
		}
	}
	if gone == nil || gone.Trouble != ibv.Gone {
		t.Fatalf("the wait did not see the removal: %v", gone)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := remove.Wait(); err != nil {
		t.Errorf("%s: %v", command, err)
	}
}
