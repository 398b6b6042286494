//go:build linux && (amd64 || arm64) && !noibv

package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// stubLibraries is a folder with sim/ibv's stub as libibverbs.so.1.
func stubLibraries(t *testing.T) string {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("gcc"); err != nil {
		missing = "no gcc: apt install gcc libc6-dev"
	} else if err := exec.Command("gcc", "-E", "-include", "infiniband/verbs.h", "-x", "c", "-o", os.DevNull, os.DevNull).Run(); err != nil {
		missing = "no <infiniband/verbs.h>: apt install libibverbs-dev"
	}
	if missing != "" && slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "gcc") {
		t.Fatal(missing)
	}
	if missing != "" {
		t.Skip(missing)
	}
	dir := t.TempDir()
	out, err := exec.Command("gcc", "-O2", "-shared", "-fPIC", "-o", filepath.Join(dir, "libibverbs.so.1"),
		filepath.FromSlash("../../../../sim/ibv/testdata/stub.c")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// deviceRun is a run of a script with --device in a terminal: its output, its
// status, and whether the terminal is as it was.
func deviceRun(t *testing.T, libraries string, env []string, args ...string) (string, int) {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	defer theirs.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	path, err := exec.LookPath("rdmaprep")
	if err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+libraries, "RDMAPREP_HOME="+t.TempDir()), env...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, &out, &out
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	after, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal is not as it was: %v", err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// TestDeviceTroubles meets, with a library that has them, the troubles of a live
// device that a guest cannot show: each ends in status 1 and a message that
// names the thing and what mends it, and nothing that was done before is lost.
func TestDeviceTroubles(t *testing.T) {
	libraries := stubLibraries(t)
	file := filepath.Join(t.TempDir(), "write.rdma")
	const source = "script 1\n" +
		"a: alloc_pd pd1\n" +
		"a: create_cq cq1 cqe=16\n" +
		"a: create_qp qp1 pd=pd1 type=RC send_cq=cq1 recv_cq=cq1 max_send_wr=4 max_recv_wr=4 max_send_sge=1 max_recv_sge=1\n" +
		"a: create_qp qp2 pd=pd1 type=RC send_cq=cq1 recv_cq=cq1 max_send_wr=4 max_recv_wr=4 max_send_sge=1 max_recv_sge=1\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	model := "without --device it runs on the model"
	for _, one := range []struct {
		name   string
		env    []string
		device string
		status int
		want   []string
	}{
		{"all is well", nil, "stub0", 0, []string{"a: create_qp qp2 "}},
		{"queue pair numbers exhausted", []string{"STUB_MAX_QP=1"}, "stub0", 1, []string{
			"a: alloc_pd pd1 -> 0\n", "a: create_qp qp1 ", " -> ENOMEM", "max_qp", "rdma resource show qp", file + ":5:",
		}},
		{"no permission", []string{"STUB_OPEN_ERRNO=13"}, "stub0", 1, []string{"stub0: this user may not open /dev/infiniband/uverbs9", model}},
		{"another failure to open", []string{"STUB_OPEN_ERRNO=19"}, "stub0", 1, []string{"stub0: ibv_open_device failed", "dmesg", model}},
		{"another device", nil, "mlx5_0", 1, []string{"mlx5_0: there is no such device", "stub0", model}},
		{"no device", []string{"STUB_DEVICES=0"}, "stub0", 1, []string{"rdma", model}},
		{"no name", nil, "", 2, []string{"--device wants the name of a device", "rdmaprep doctor"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			out, status := deviceRun(t, libraries, one.env, "run", "--device", one.device, file)
			if status != one.status || strings.Contains(out, "goroutine ") {
				t.Errorf("status %d, want %d\n%s", status, one.status, out)
			}
			for _, want := range one.want {
				if !strings.Contains(out, want) {
					t.Errorf("nothing of %q in\n%s", want, out)
				}
			}
			t.Log(out)
		})
	}
}

// TestDeviceJSON: a run that a device ends early is JSON all the same, with what
// was done until then.
func TestDeviceJSON(t *testing.T) {
	libraries := stubLibraries(t)
	file := filepath.Join(t.TempDir(), "one.rdma")
	if err := os.WriteFile(file, []byte("script 1\na: alloc_pd pd1\na: create_cq cq1 cqe=16\na: wait cq1 limit=1s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, status := deviceRun(t, libraries, nil, "run", "--json", "--device", "stub0", file)
	if status != 1 || !strings.Contains(out, `"profile": "live"`) || !strings.Contains(out, `"passed": false`) ||
		!strings.Contains(out, `"alloc_pd pd1 -> 0"`) || !strings.Contains(out, "ETIMEDOUT") {
		t.Errorf("status %d\n%s", status, out)
	}
}
