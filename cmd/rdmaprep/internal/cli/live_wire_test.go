package cli

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/wire"
)

// onTap makes a TAP interface with a Soft-RoCE device on it, which are gone
// after the test.
func onTap(t *testing.T) (device, tap string) {
	t.Helper()
	if os.Getenv("RDMAPREP_DEVICE") == "" {
		if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "rxe") {
			t.Fatal("rxe is required (RDMAPREP_REQUIRE) and RDMAPREP_DEVICE names no device")
		}
		t.Skip("RDMAPREP_DEVICE names no RDMA device, such as rxe0; .ci/rxe-vm boots a machine that has one")
	}
	device, tap = "rxe_wire", "tapwire"
	t.Cleanup(func() {
		_ = exec.Command("rdma", "link", "del", device).Run()
		_ = exec.Command("ip", "link", "del", tap).Run()
	})
	for _, line := range []string{
		"modprobe tun", "ip tuntap add " + tap + " mode tap", "ip addr add 10.78.0.1/24 dev " + tap, "ip link set " + tap + " mtu 4200 up",
		"rdma link add " + device + " type rxe netdev " + tap,
	} {
		words := strings.Fields(line)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return device, tap
}

// command runs one command line of the program in this process.
func command(t *testing.T, in string, args ...string) terminal {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{host: Host{
		In: strings.NewReader(in), Out: &out, Err: &errs, Now: time.Now, Entropy: rand.Reader,
		Env: append(os.Environ(), "RDMAPREP_HOME="+t.TempDir()),
	}}
	root := a.root()
	root.SetArgs(args)
	failed := root.ExecuteContext(bounded(t))
	if err := a.close(); err != nil {
		t.Error(err)
	}
	return terminal{out.String(), errs.String(), failed}
}

// TestLiveModelOnTheWire: node a is a real Soft-RoCE device, node b the model at
// the other end of its interface, which drops, delays, repeats and damages what
// either sends.
func TestLiveModelOnTheWire(t *testing.T) {
	device, tap := onTap(t)
	for name, c := range across {
		t.Run(name, func(t *testing.T) {
			for _, profile := range []string{"spec", "rxe-6.1"} {
				pcap := filepath.Join(t.TempDir(), "x.pcap")
				x := command(t, "", "run", "--device", device, "--wire", tap, "--profile", profile, "--trace", "--pcap", pcap, written(t, c.source))
				if x.failed != nil {
					t.Fatalf("%s: %v\n%s%s", profile, x.failed, x.out, x.err)
				}
				if missing := inOrder(x.out, c.trace); missing != "" {
					t.Errorf("%s: the trace has no %q in its place:\n%s", profile, missing, x.out)
				}
				f, err := os.Open(pcap)
				if err != nil {
					t.Fatal(err)
				}
				packets, err := wire.ReadPCAP(f)
				f.Close()
				if err != nil || len(packets) == 0 {
					t.Errorf("%s: the capture has %d packets, %v", profile, len(packets), err)
				}
			}
		})
	}
	t.Run("another program has the wire", func(t *testing.T) {
		w, err := (&app{host: Host{Now: time.Now}}).openWire(bounded(t), &wireFlags{wire: tap}, wired{node: "b", remote: "a"})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if w.addr.String() != "10.78.0.2" { // the one after the interface's own
			t.Errorf("the model is at %s", w.addr)
		}
		x := command(t, "", "run", "--device", device, "--wire", tap, written(t, apart))
		if x.failed == nil || !strings.Contains(x.failed.Error(), "another program is at its other end") {
			t.Errorf("a second one: %v", x.failed)
		}
	})
	t.Run("another interface", func(t *testing.T) {
		x := command(t, "", "run", "--device", os.Getenv("RDMAPREP_DEVICE"), "--wire", tap, written(t, apart))
		if x.failed == nil || !strings.Contains(x.failed.Error(), "name the interface of the device") {
			t.Errorf("%v", x.failed)
		}
	})
	t.Run("a device that is a host of its own", func(t *testing.T) {
		// The port became active just before, which its event may tell afterwards.
		file := written(t, across["a packet is dropped"].source+"ignore a.event\n")
		done := make(chan terminal, 1)
		go func() {
			done <- command(t, "", "run", "--role", "b", "--peer", "10.78.0.1", "--wire", tap, "--trace", file)
		}()
		a := &app{host: Host{Now: time.Now}}
		for range 500 { // the port is down until the model is on the wire
			if a.active(device) {
				break
			}
			pause(bounded(t), 20*time.Millisecond)
		}
		x := command(t, "", "run", "--role", "a", "--peer", "10.78.0.2", "--device", device, file)
		y := <-done
		if x.failed != nil || y.failed != nil {
			t.Fatalf("the device: %v\n%s\nthe model: %v\n%s%s", x.failed, x.err, y.failed, y.out, y.err)
		}
		if missing := inOrder(y.out, across["a packet is dropped"].trace); missing != "" {
			t.Errorf("the model's trace has no %q in its place:\n%s", missing, y.out)
		}
	})
}

// TestLiveLabAgainstTheModel: a part of a lab in which answers are lost runs on
// the device, and the packets that it shows are those of the wire. Parts with a
// clock stay with the model.
func TestLiveLabAgainstTheModel(t *testing.T) {
	device, tap := onTap(t)
	name := joinedName(device, tap)
	x := command(t, "1\n80\n\n2\n80\n\nquit\n", "lab", "dead-peer", "--plain", "--device", device, "--wire", tap)
	t.Log(x.out)
	if x.failed != nil {
		t.Fatalf("%v\n%s", x.failed, x.err)
	}
	if missing := inOrder(x.out, []string{
		"live on " + name, "MODEL, not the live device: only the model has a clock of its own", "Ran LIVE on " + name,
		"RETRY_EXC_ERR", "u64=42", "On the wire, seen at the model's end:", "a->b  FETCH_ADD psn=256", "b->a  ATOMIC_ACK psn=256", "(not taken: a fault line",
		"As you predicted", "--resume --device " + device + " --wire " + tap,
	}); missing != "" {
		t.Errorf("the lab does not say %q in its place", missing)
	}
	a := &app{host: Host{Now: time.Now}}
	live, err := a.findDevices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range live {
		names = append(names, d.Name)
		if d.Peer != (d.Name == name) && (d.Name == name || d.Name == device) {
			t.Errorf("%s: the peer is the model: %v", d.Name, d.Peer)
		}
	}
	if !slices.Contains(names, name) || !slices.Contains(names, device) {
		t.Errorf("the devices to choose from are %q", names)
	}
}
