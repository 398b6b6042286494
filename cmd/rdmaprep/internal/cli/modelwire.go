package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rdmaprep/cmd/rdmaprep/internal/frames"
	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// wireFlags put the model on a real wire.
type wireFlags struct{ wire, addr string }

// guestWait is how long a guest of tcp:PORT may take to come.
const guestWait = 2 * time.Minute

func (f *wireFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.wire, "wire", "", "put the model on this wire: a TAP interface such as tap0, or tcp:PORT for a qemu with a socket network")
	cmd.Flags().StringVar(&f.addr, "addr", "", "the model's IPv4 address on --wire (default: the one after the TAP interface's own)")
}

// asked says whether the model goes on a wire.
func (f *wireFlags) asked() bool { return f.wire != "" }

// port is that of tcp:PORT.
func (f *wireFlags) port() (port uint16, tcp bool, err error) {
	s, tcp := strings.CutPrefix(f.wire, "tcp:")
	if !tcp {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, true, usagef("--wire %s: the port is 1 to 65535, as in tcp:47000", f.wire)
	}
	return uint16(n), true, nil
}

// check refuses flags that do not go together. Who has the other node is known
// by --device, --role or both.
func (f *wireFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("wire") && f.wire == "":
		return usagef("--wire wants the name of a TAP interface, such as tap0, or tcp:PORT")
	case given("addr") && !given("wire"):
		return usagef("--addr is the model's address on --wire: give that too")
	case !given("wire"):
		return nil
	case given("device") && cmd.Flags().Lookup("role") != nil && given("role"):
		return usagef("--wire puts the model on a wire, and with --role this host has one node: leave out --device, and give it to the other host")
	case !given("device") && (cmd.Flags().Lookup("role") == nil || !given("role")):
		return usagef("--wire needs somebody at its other end: a device of this machine on the same interface (--device rxe0), " +
			"or another host or guest (--role NODE --peer ADDR)")
	case given("seed") && cmd.Flags().Lookup("role") != nil:
		return usagef("--seed permits reorderings between two nodes of the model: leave it out with --wire")
	}
	_, tcp, err := f.port()
	switch {
	case err != nil:
		return err
	case tcp && given("device"):
		return usagef("--wire %s leads to a guest, and --device is of this machine: run rdmaprep with --role, --peer and --device in the guest, "+
			"and with --role, --peer and --wire here", f.wire)
	case tcp && f.addr == "":
		return usagef("--wire %s has no address of its own: give the model's with --addr, such as 192.168.77.2 for a guest at 192.168.77.1", f.wire)
	}
	return nil
}

// address is the model's: --addr, or the one after the interface's own.
func (f *wireFlags) address() (netip.Addr, error) {
	if f.addr != "" {
		a, err := netip.ParseAddr(f.addr)
		if err != nil || !a.Is4() || a.IsMulticast() || a.IsUnspecified() || a.IsLoopback() {
			return a, usagef("--addr %s: give an IPv4 address of the wire's network, such as 10.77.0.2", f.addr)
		}
		return a, nil
	}
	for _, i := range interfaces() {
		if i.Name != f.wire {
			continue
		}
		for _, p := range i.Addrs {
			if !p.Addr().Is4() || p.Bits() > 30 {
				continue
			}
			// The one before it, if the next is the network's broadcast address.
			if a := p.Addr().Next(); p.Contains(a) && p.Contains(a.Next()) {
				return a, nil
			}
			return p.Addr().Prev(), nil
		}
	}
	return netip.Addr{}, &frames.TapError{
		Name: f.wire, Why: "the interface has no IPv4 address with a network around it. Give it one, or name the model's with --addr:",
		Fix: frames.Commands(f.wire, frames.ExamplePrefix)[1:2],
	}
}

// onWire is a Bench of the model of which one node is a host on a wire. Whoever
// paces the Bench holds mu but while it waits for frames; under mu anybody may
// look at it.
type onWire struct {
	mu      sync.Mutex
	bench   *model.Bench
	carrier *frames.Carrier
	clock   frames.Clock
	addr    netip.Addr
}

// Exchange is the carrier's, without mu.
func (w *onWire) Exchange(ctx context.Context, out [][]byte, until time.Duration) ([][]byte, time.Duration, error) {
	w.mu.Unlock()
	defer w.mu.Lock()
	return w.carrier.Exchange(ctx, out, until)
}

// wired is what openWire makes.
type wired struct {
	profile      string
	node, remote string // names of the script
	udp          uint16
	datagram     func([]byte) []byte
}

// openWire puts a node of a new model on the wire.
func (a *app) openWire(ctx context.Context, f *wireFlags, o wired) (*onWire, error) {
	addr, err := f.address()
	if err != nil {
		return nil, a.noTap(f, err)
	}
	w := &onWire{clock: wireClock(), addr: addr}
	port, tcp, err := f.port()
	switch {
	case err != nil:
		return nil, err
	case tcp:
		w.carrier, err = frames.Listen(ctx, port, guestWait, w.clock, func() {
			fmt.Fprintf(a.host.Err, "rdmaprep: the wire is 127.0.0.1:%d; waiting for a guest, as of .ci/rxe-vm -w %d\n", port, port)
		})
	default:
		w.carrier, err = frames.Tap(f.wire, w.clock)
	}
	if err != nil {
		return nil, err
	}
	ip := addr.As4()
	w.bench, err = model.Open(ctx, model.Options{
		Profile: o.profile, Trace: true, Nodes: []string{o.remote, o.node},
		Port: &model.Port{
			Node: o.node, Remote: o.remote, MAC: wire.MAC{0x02, 0, ip[0], ip[1], ip[2], ip[3]}, Addr: addr, Wire: w,
			Datagram: o.datagram, UDPPort: o.udp,
		},
	})
	if err != nil {
		return nil, errors.Join(err, w.carrier.Close())
	}
	return w, nil
}

// noTap prefers to say that there is no interface to that it has no address.
func (a *app) noTap(f *wireFlags, err error) error {
	var tap *frames.TapError
	if _, missing := net.InterfaceByName(f.wire); !errors.As(err, &tap) || missing == nil {
		return err
	}
	c, err := frames.Tap(f.wire, wireClock())
	if err == nil {
		return c.Close()
	}
	return err
}

// Trace is what has passed the wire and happened at its model end.
func (w *onWire) Trace() []verbs.TraceEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bench.Trace()
}

// Close gives the wire back. Nobody may be pacing the Bench.
func (w *onWire) Close() error { return errors.Join(w.bench.Close(), w.carrier.Close()) }

// wireClock is the wall's.
func wireClock() frames.Clock {
	start := time.Now()
	return frames.Clock{
		Now: func() time.Duration { return time.Since(start) },
		Timer: func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTimer(d)
			return t.C, func() { t.Stop() }
		},
	}
}

// wireCannot is why a script does not run with the model on a wire, "" if it
// does.
func wireCannot(n script.Needs) string {
	switch {
	case n.Clock:
		return "mark, advance and since are of a virtual time, and a real device keeps the wall's"
	case n.Reorder:
		return "seeded reordering is between two nodes of the model"
	}
	return ""
}

// refuseOnWire is wireCannot as an error.
func refuseOnWire(sc *script.Script) error {
	if why := wireCannot(sc.Needs()); why != "" {
		return fmt.Errorf("%s does not run with --wire: %s", cmp.Or(sc.Name, "the script"), why)
	}
	return nil
}
