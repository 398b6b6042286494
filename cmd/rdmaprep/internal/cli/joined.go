package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/doctor"
	"rdmaprep/sim/peer"
	"rdmaprep/sim/verbs"
)

// joined is a Bench of two nodes: a real device, and a node of the model at the
// other end of the TAP interface that the device is on. The model is paced in a
// goroutine of its own, since a call of the device may wait in the kernel for an
// answer from it: modify_qp to RTR asks by ARP.
type joined struct {
	peer.FailingBench
	live   profiled
	wire   *onWire
	about  string
	own    string // profile whose lines count, "" for none
	ctx    context.Context
	stop   context.CancelFunc
	served chan struct{} // closed when the model is not paced any more, because of err
	err    error
	there  chan []byte // to the model
	back   chan []byte
}

var (
	_ verbs.Tracer  = (*joined)(nil)
	_ verbs.Faulter = (*joined)(nil)
)

// maxMail is how many datagrams wait in either direction: only one call is
// ever under way, and it may be repeated.
const maxMail = 64

// portWait is how long the port of a device may take to be ACTIVE after its
// interface has a carrier, and to have the GID of its address.
const portWait = 15 * time.Second

// Trace is the model side's: every packet that the kernel sent and got.
func (j *joined) Trace() []verbs.TraceEvent { return j.wire.Trace() }

// BehavesAs is the profile of both ends, "" if they differ.
func (j *joined) BehavesAs() string { return j.own }

// openJoined opens the device as node names[0] and the model as names[1].
func (a *app) openJoined(ctx context.Context, device string, f *wireFlags, profile string, names []string) (_ *joined, err error) {
	if len(names) != 2 {
		return nil, fmt.Errorf("a run with --wire has two nodes, the device and the model, and this one has %d", len(names))
	}
	if err := a.checkJoin(device, f); err != nil {
		return nil, err
	}
	j := &joined{served: make(chan struct{}), there: make(chan []byte, maxMail), back: make(chan []byte, maxMail)}
	if j.wire, err = a.openWire(ctx, f, wired{profile: profile, node: names[1], remote: names[0]}); err != nil {
		return nil, err
	}
	// What ends the run must be able to tell the model so.
	j.ctx, j.stop = context.WithCancel(context.WithoutCancel(ctx))
	hello := peer.Hello{Script: "one process", Digest: sha256.Sum256(nil)}
	go j.serve(names, hello)
	fail := func(err error) (*joined, error) { return nil, errors.Join(err, j.halt()) }
	if err := a.awaitPort(ctx, device); err != nil {
		return fail(err)
	}
	if j.live, err = a.openDevice(ctx, device, names[:1]); err != nil {
		return fail(err)
	}
	if err := settled(ctx, j.live.Node(names[0])); err != nil {
		return fail(errors.Join(err, j.live.Close()))
	}
	if j.live.profile == j.wire.bench.Profile() {
		j.own = j.live.profile
	}
	var session [8]byte
	if _, err := io.ReadFull(a.host.Entropy, session[:]); err != nil {
		return fail(errors.Join(fmt.Errorf("no random number for the run: %w", err), j.live.Close()))
	}
	hello.Role, hello.Device, hello.Profile, hello.Live = names[0], device, j.live.Profile(), true
	hello.GIDIndex = peer.GIDIndex(j.live, names[0])
	clock := wallClock{time.Now()}
	remote, err := peer.Dial(ctx, peer.Options{
		Conn: (*toModel)(j), Clock: clock, Peer: f.wire, Node: names[1], Hello: hello, Session: binary.BigEndian.Uint64(session[:]),
	})
	if err != nil {
		return fail(errors.Join(err, j.live.Close()))
	}
	b, err := peer.NewBench(j.live, names[0], remote, clock, names)
	if err != nil {
		return fail(errors.Join(err, j.live.Close()))
	}
	j.FailingBench, _ = b.Failing() // the model can be made to fail
	j.about = fmt.Sprintf("node %s is %s; node %s is the model, profile %s, at %s on %s",
		names[0], device, names[1], j.wire.bench.Profile(), j.wire.addr, f.wire)
	return j, nil
}

// serve lets the model work, and carries out what the driving side asks for.
func (j *joined) serve(names []string, hello peer.Hello) {
	defer close(j.served)
	j.wire.mu.Lock()
	defer j.wire.mu.Unlock()
	b := j.wire.bench
	hello.Role, hello.Device, hello.Profile, hello.Wire = names[1], b.Node(names[1]).Name(), b.Profile(), true
	hello.GIDIndex = b.GIDIndex(names[1])
	s := peer.NewServer(b.Node(names[1]), hello, nil)
	s.Faults(b)
	const forever = 365 * 24 * time.Hour // a learner may think, and the program's end ends it
	_, j.err = peer.Serve(j.ctx, (*toDevice)(j), wallClock{time.Now()}, s, peer.Timing{Start: forever, Idle: forever}, "this process", names[0])
}

// checkJoin refuses a device that is not on the interface.
func (a *app) checkJoin(device string, f *wireFlags) error {
	devices := a.machine().Devices()
	i := slices.IndexFunc(devices, func(d doctor.Device) bool { return d.Name == device })
	switch {
	case i < 0:
		return fmt.Errorf("there is no RDMA device %s. Make one on the TAP interface:\n    $ sudo rdmaprep rxe add %s --name %s\n"+
			"  rdmaprep doctor lists the devices", device, f.wire, device)
	case devices[i].Netdev != f.wire:
		return fmt.Errorf("%s is on %s, and the model would be at the other end of %s: name the interface of the device, or make a device on it:\n"+
			"    $ sudo rdmaprep rxe add %s --name rxe_%s", device, devices[i].Netdev, f.wire, f.wire, f.wire)
	}
	return nil
}

// awaitPort waits until the device can be used: the port of a TAP without a
// program at its other end is down, and learns of the carrier after a while.
func (a *app) awaitPort(ctx context.Context, device string) error {
	for start := time.Now(); time.Since(start) < portWait; {
		if a.active(device) {
			return nil
		}
		pause(ctx, 20*time.Millisecond)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil // opening it says what is wrong
}

// eventGrace is how long the kernel may take to tell that a port became ACTIVE:
// its work queue does so after the port says it.
const eventGrace = 100 * time.Millisecond

// settled takes the event of the port that this run itself has brought up, which
// is no part of any script. Any other is an error.
func settled(ctx context.Context, d verbs.Device) error {
	pause(ctx, eventGrace)
	for range maxMail {
		e, ok, err := d.GetAsyncEvent()
		if err != nil || !ok {
			return err
		}
		if err := d.AckAsyncEvent(e); err != nil {
			return err
		}
		if e.Type != verbs.EventPortActive {
			return fmt.Errorf("the device raised %s before the run", e.Type)
		}
	}
	return ctx.Err()
}

// active says whether a device's port can be used.
func (a *app) active(device string) bool {
	for _, d := range a.machine().Devices() {
		if d.Name == device && len(d.Ports) > 0 {
			return d.Ports[0].State == "ACTIVE" && d.Ports[0].Chosen() >= 0
		}
	}
	return false
}

// halt ends the model's part.
func (j *joined) halt() error {
	j.stop()
	j.wire.carrier.Wake()
	<-j.served
	return j.wire.Close()
}

// Close ends the run and gives back the device and the wire.
func (j *joined) Close() error {
	err := j.FailingBench.Close()
	var untold *peer.UntoldError
	if errors.As(err, &untold) { // it is this process, and the reason is j.err
		err = nil
	}
	return errors.Join(err, j.halt())
}

// broken is why the model stopped in the middle of the run, nil if it did not.
func (j *joined) broken() error {
	select {
	case <-j.served:
		return j.err
	default:
		return nil
	}
}

// toModel is the driving side's Conn. Its methods and those of toDevice are
// for the goroutine of their side.
type toModel joined

func (j *toModel) Send(b []byte) error {
	select {
	case j.there <- slices.Clone(b):
	default: // it is asked again
	}
	j.wire.carrier.Wake()
	return nil
}

func (j *toModel) Recv(ctx context.Context, d time.Duration) ([]byte, error) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case b := <-j.back:
		return b, nil
	case <-j.served:
		return nil, errors.Join(errors.New("the model has left the wire"), j.err)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.C:
		return nil, nil
	}
}

// toDevice is the model's Conn: while it waits the model works.
type toDevice joined

func (j *toDevice) Send(b []byte) error {
	select {
	case j.back <- slices.Clone(b):
	default:
	}
	return nil
}

func (j *toDevice) Recv(ctx context.Context, d time.Duration) ([]byte, error) {
	_, err := j.wire.bench.Wait(ctx, d, func() (bool, error) { return len(j.there) > 0, nil })
	if err != nil || len(j.there) == 0 {
		return nil, err
	}
	return <-j.there, nil
}
