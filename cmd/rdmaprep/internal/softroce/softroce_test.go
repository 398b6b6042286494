package softroce_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
	"rdmaprep/cmd/rdmaprep/internal/softroce"
)

// kernel is a kernel that does as it is told, and a clock that a test moves.
type kernel struct {
	doctor.Machine
	tree     fstest.MapFS
	contexts int
	answer   error           // of the next call
	calls    []string        // that returned
	slept    time.Duration   // waited for in all
	later    func(k *kernel) // called at each step of the clock
	hangs    bool            // a removal does not return before done
	done     chan struct{}
}

func (k *kernel) write(name, text string) {
	k.tree[name] = &fstest.MapFile{Data: []byte(text + "\n"), Mode: 0o444}
}

func (k *kernel) AddLink(name, iface string) error {
	k.calls = append(k.calls, "add "+name+" "+iface)
	if k.answer == nil {
		k.device(name, iface)
	}
	return k.answer
}

func (k *kernel) RemoveLink(name string) error {
	if k.hangs {
		<-k.done
	}
	k.calls = append(k.calls, "remove "+name)
	return k.answer
}

func (k *kernel) Contexts(string) (int, error) { return k.contexts, nil }

// device is what sysfs shows at once of a new rxe device; its GIDs come later.
func (k *kernel) device(name, iface string) {
	k.write("sys/class/infiniband/"+name+"/parent", iface)
	k.write("sys/class/infiniband/"+name+"/ports/1/state", "4: ACTIVE")
	k.write("sys/class/infiniband/"+name+"/ports/1/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000")
}

func (k *kernel) settle(name string) {
	k.write("sys/class/infiniband_verbs/uverbs0/ibdev", name)
	k.write("sys/class/infiniband/"+name+"/ports/1/gids/0", "0000:0000:0000:0000:0000:ffff:c0a8:4d01")
	k.write("sys/class/infiniband/"+name+"/ports/1/gid_attrs/types/0", "RoCE v2")
}

func (k *kernel) host() softroce.Host {
	return softroce.Host{
		Kernel: k,
		Look:   func() doctor.Machine { return k.Machine },
		After: func(d time.Duration) <-chan time.Time {
			k.slept += d
			if k.later != nil {
				k.later(k)
			}
			c := make(chan time.Time, 1)
			if d < time.Second || k.hangs {
				c <- time.Time{}
			} // else it bounds a call that returns
			return c
		},
	}
}

func fresh() *kernel {
	k := &kernel{tree: fstest.MapFS{}}
	k.write("proc/modules", "rdma_rxe 1 0")
	k.write("proc/self/status", "CapEff:\t000001ffffffffff")
	k.Machine = doctor.Machine{
		FS: k.tree, OS: "linux", Arch: "amd64", Release: "6.1.0-57-amd64",
		Interfaces: []doctor.Interface{{Name: "lo", Up: true}, {Name: "eth0", Up: true, MTU: 1500, Addrs: []netip.Prefix{netip.MustParsePrefix("192.168.77.1/24")}}},
	}
	return k
}

// TestAdd: the device is returned when its node and its GID are there, which
// work queues of the kernel make after the call.
func TestAdd(t *testing.T) {
	k := fresh()
	steps := 0
	k.later = func(k *kernel) {
		if steps++; steps == 3 {
			k.settle("rxe0")
		}
	}
	d, err := k.host().Add(context.Background(), "rxe0", "eth0")
	if err != nil || len(k.calls) != 1 || k.calls[0] != "add rxe0 eth0" {
		t.Fatalf("%v, calls %q", err, k.calls)
	}
	if steps != 3 || d.Node != "/dev/infiniband/uverbs0" || d.Ports[0].Chosen() != 0 {
		t.Errorf("after %d looks: %+v", steps, d)
	}
}

// TestAddDoesNotWaitForEver: a GID that does not come ends the wait, and is not
// an error: the device is there.
func TestAddDoesNotWaitForEver(t *testing.T) {
	k := fresh()
	d, err := k.host().Add(context.Background(), "rxe0", "eth0")
	if err != nil || d.Name != "rxe0" || k.slept > 5*time.Second {
		t.Errorf("%+v, %v after %v", d, err, k.slept)
	}
}

// TestAddRefused: each reason in words, with the fix. "asked" says whether the
// kernel had to be asked; its errno values are those of nldev_newlink(),
// rxe_newlink(), assign_name() and rxe_icrc_init() of Linux 6.1.
func TestAddRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(k *kernel)
		device string
		iface  string
		want   string
		asked  bool
	}{
		{"not root", func(k *kernel) { k.UID = 1000; k.write("proc/self/status", "CapEff:\t0000000000000000") }, "rxe0", "eth0", "only root may do this (CAP_NET_ADMIN): sudo rdma link add rxe0 type rxe netdev eth0", false},
		{"root of a container", func(k *kernel) { k.write("proc/self/status", "CapEff:\t00000000a80425fb") }, "rxe0", "eth0", "root without CAP_NET_ADMIN, as in a container: do it on the host", false},
		{"no module", func(k *kernel) {
			k.write("proc/modules", "ext4 1 0")
			k.write("lib/modules/6.1.0-57-amd64/modules.dep", "kernel/fs/ext4/ext4.ko:")
		}, "rxe0", "eth0", "the kernel 6.1.0-57-amd64 has no module rdma_rxe: rdmaprep doctor says", false},
		{"no interface", nil, "rxe0", "eth1", "no interface eth1 in this network namespace: there are lo, eth0", false},
		{"interface has one", func(k *kernel) { k.device("rxe5", "eth0") }, "rxe0", "eth0", "eth0 has the Soft-RoCE device rxe5 already", false},
		{"name taken", func(k *kernel) { k.device("rxe0", "lo") }, "rxe0", "eth0", "there is a device rxe0 already: choose another name with --name", false},
		{"bad name", nil, "rxe%d", "eth0", `"rxe%d" cannot name a device`, false},
		{"no name", nil, "", "eth0", "cannot name a device", false},
		{"long name", nil, strings.Repeat("r", 64), "eth0", "cannot name a device", false},
		{"longest name", func(k *kernel) { k.answer = syscall.EINVAL }, strings.Repeat("r", 63), "eth0", "modprobe", true},
		{"macOS", func(k *kernel) { k.OS = "darwin" }, "rxe0", "eth0", "this is darwin", false},

		{"EPERM", func(k *kernel) { k.answer = syscall.EPERM }, "rxe0", "eth0", "eth0 is a VLAN interface", true},
		{"EINVAL", func(k *kernel) { k.answer = syscall.EINVAL }, "rxe0", "eth0", "could not load rdma_rxe: modprobe rdma_rxe shows why", true},
		{"no ib_core", func(k *kernel) { k.answer = syscall.EPROTONOSUPPORT }, "rxe0", "eth0", "has no RDMA", true},
		{"ENODEV", func(k *kernel) { k.answer = syscall.ENODEV }, "rxe0", "eth0", "finds no interface eth0", true},
		{"EEXIST", func(k *kernel) { k.answer = syscall.EEXIST }, "rxe0", "eth0", "eth0 has a Soft-RoCE device already", true},
		{"ENFILE", func(k *kernel) { k.answer = syscall.ENFILE }, "rxe0", "eth0", "there is a device rxe0 already", true},
		{"no crc32", func(k *kernel) { k.answer = fmt.Errorf("netlink: %w", syscall.ENOENT) }, "rxe0", "eth0", "modprobe crc32_generic, then again", true},
		{"other", func(k *kernel) { k.answer = syscall.ENOMEM }, "rxe0", "eth0", `the kernel refuses "rdma link add rxe0 type rxe netdev eth0": cannot allocate memory`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := fresh()
			if c.change != nil {
				c.change(k)
			}
			_, err := k.host().Add(context.Background(), c.device, c.iface)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, expected %q", err, c.want)
			}
			if asked := len(k.calls) > 0; asked != c.asked {
				t.Errorf("calls: %q", k.calls)
			}
		})
	}
}

// open makes a process that has the node open.
func (k *kernel) open(pid, comm, node string) {
	k.tree["proc/"+pid+"/fd/7"] = &fstest.MapFile{Data: []byte(node), Mode: fs.ModeSymlink | 0o777}
	k.write("proc/"+pid+"/comm", comm)
}

func withDevice() *kernel {
	k := fresh()
	k.device("rxe0", "eth0")
	k.settle("rxe0")
	return k
}

// TestRemove: what is not in use goes at once.
func TestRemove(t *testing.T) {
	k := withDevice()
	k.open("41", "cat", "/dev/null")
	if err := k.host().Remove(context.Background(), "rxe0", time.Minute); err != nil || len(k.calls) != 1 || k.calls[0] != "remove rxe0" {
		t.Errorf("%v, calls %q", err, k.calls)
	}
}

// TestRemoveWaits: a program that closes in time only delays the removal.
func TestRemoveWaits(t *testing.T) {
	k := withDevice()
	k.open("42", "ib_write_bw", "/dev/infiniband/uverbs0")
	k.contexts = 1
	k.later = func(k *kernel) {
		if k.slept >= 2*time.Second {
			k.contexts = 0
			delete(k.tree, "proc/42/fd/7")
		}
	}
	if err := k.host().Remove(context.Background(), "rxe0", time.Minute); err != nil || len(k.calls) != 1 || k.slept < 2*time.Second {
		t.Errorf("%v after %v, calls %q", err, k.slept, k.calls)
	}
}

// TestRemoveBusy: the wait is bounded, the programs are named, and the kernel,
// which would not return, is not asked. A node that is open without a context
// holds the device as well (uverbs_main.c counts files).
func TestRemoveBusy(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(k *kernel)
		want   string
	}{
		{"seen", func(k *kernel) { k.open("42", "ib_write_bw", "/dev/infiniband/uverbs0"); k.contexts = 1 }, "rxe0 is in use by ib_write_bw (process 42), after 3s of waiting"},
		{"no context", func(k *kernel) { k.open("42", "cat", "/dev/infiniband/uverbs0") }, "cat (process 42)"},
		{"not seen", func(k *kernel) { k.contexts = 2 }, "2 open contexts of processes that cannot be seen from here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := withDevice()
			c.change(k)
			err := k.host().Remove(context.Background(), "rxe0", 3*time.Second)
			var busy *softroce.BusyError
			if !errors.As(err, &busy) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "Nothing has been changed") {
				t.Errorf("%v", err)
			}
			if len(k.calls) > 0 || k.slept != 3*time.Second {
				t.Errorf("waited %v, calls %q", k.slept, k.calls)
			}
		})
	}
}

// TestRemoveCancelled: an interrupt ends the wait, and nothing is removed.
func TestRemoveCancelled(t *testing.T) {
	k := withDevice()
	k.contexts = 1
	ctx, cancel := context.WithCancel(context.Background())
	host := k.host()
	host.After = func(time.Duration) <-chan time.Time {
		cancel()
		return nil
	}
	if err := host.Remove(ctx, "rxe0", time.Minute); !errors.Is(err, context.Canceled) || len(k.calls) > 0 {
		t.Errorf("%v, calls %q", err, k.calls)
	}
}

// TestRemoveHangs: a program that opened the device after the look; the kernel's
// wait is told, with a bound.
func TestRemoveHangs(t *testing.T) {
	k := withDevice()
	k.hangs, k.done = true, make(chan struct{})
	defer close(k.done)
	err := k.host().Remove(context.Background(), "rxe0", time.Second)
	if err == nil || !strings.Contains(err.Error(), "waits for a program that has just opened it") {
		t.Errorf("%v", err)
	}
}

// TestRemoveRefused: each reason in words.
func TestRemoveRefused(t *testing.T) {
	for _, c := range []struct {
		name, device string
		change       func(k *kernel)
		want         string
	}{
		{"no such device", "rxe9", nil, "no device rxe9: there are rxe0"},
		{"none at all", "rxe0", func(k *kernel) { clear(k.tree) }, "there is no Soft-RoCE device here"},
		{"an adapter", "mlx5_0", func(k *kernel) { k.write("sys/class/infiniband/mlx5_0/device/vendor", "1") }, "mlx5_0 is not a Soft-RoCE device"},
		{"not root", "rxe0", func(k *kernel) { k.UID = 1000; k.write("proc/self/status", "CapEff:\t0") }, "only root may do this (CAP_NET_ADMIN): sudo rdma link delete rxe0"},
		{"gone", "rxe0", func(k *kernel) { k.answer = syscall.EINVAL }, "it has just gone"},
		{"macOS", "rxe0", func(k *kernel) { k.OS = "darwin" }, "this is darwin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := withDevice()
			if c.change != nil {
				c.change(k)
			}
			if err := k.host().Remove(context.Background(), c.device, 0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, expected %q", err, c.want)
			}
		})
	}
}
