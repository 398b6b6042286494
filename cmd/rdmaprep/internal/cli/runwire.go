package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"rdmaprep/sim/model"
	"rdmaprep/sim/peer"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// runJoined runs a script between a real device and the model on its wire.
func (a *app) runJoined(ctx context.Context, sc *script.Script, f *hostFlags) (err error) {
	if f.device == "" {
		return usagef("--device wants the name of a device, such as rxe0: rdmaprep doctor lists them")
	}
	if err := refuseOnWire(sc); err != nil {
		return err
	}
	j, err := a.openJoined(ctx, f.device, f.onto, f.profile, sc.Nodes)
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, j.Close())
		}
	}()
	fmt.Fprintf(a.host.Err, "rdmaprep: %s\n", j.about)
	sess, res, err := script.RunAll(ctx, j, sc)
	if gone := j.broken(); gone != nil {
		err = gone
	}
	err = a.broken(ctx, j.live.Bench, sc, res, err)
	endless := j.live.Endless()
	closed = true
	err = errors.Join(err, j.Close())
	trace := j.Trace() // what came while it was closed is in it
	if f.asJSON {
		out := runJSON(j, sess, res, j.Profile(), 0, f.trace)
		if err != nil {
			out.Passed, out.Error = false, err.Error()
		}
		if werr := a.json(out); err == nil {
			err = werr
		}
	} else {
		a.printf("%s", sess.TranscriptText()) // as far as it went
		a.printWire(j.wire.bench.Profile(), f.trace, trace)
	}
	err = errors.Join(err, f.pcap.write(trace))
	if err != nil {
		return err
	}
	err = a.verdict(sc, res)
	if err != nil && endless != "" {
		fmt.Fprintf(a.host.Err, "  %s\n", strings.ReplaceAll(endless, "\n", "\n  "))
	}
	return err
}

// printWire prints the trace of the model's end of a wire.
func (a *app) printWire(profile string, asked bool, trace []verbs.TraceEvent) {
	if asked {
		a.printf("\ntrace of the wire, seen at the model's end, profile %s\n", profile)
		printTrace(a.host.Out, trace)
	}
}

// solo is the model's node of a run on two hosts. It is for one goroutine, which
// holds the wire's mu from its opening to its end.
type solo struct {
	*model.Bench
	wire *onWire
}

// Close gives the wire back.
func (s solo) Close() error { return s.wire.Close() }

// wireConn carries the datagrams of a run on two hosts over the wire that the
// model is on.
type wireConn struct {
	wire *onWire
	to   netip.AddrPort
	udp  uint16
	in   [][]byte
}

var _ hostConn = (*wireConn)(nil)

func never() (bool, error) { return false, nil }

// Send sends a datagram at once: the last one may be followed by nothing.
func (c *wireConn) Send(b []byte) error {
	if err := c.wire.bench.SendDatagram(c.to, b); err != nil {
		return err
	}
	_, err := c.wire.bench.Wait(context.Background(), 0, never)
	return err
}

// Recv lets the model work until a datagram is there.
func (c *wireConn) Recv(ctx context.Context, d time.Duration) ([]byte, error) {
	_, err := c.wire.bench.Wait(ctx, d, func() (bool, error) { return len(c.in) > 0, nil })
	if err != nil || len(c.in) == 0 {
		return nil, err
	}
	b := c.in[0]
	c.in = c.in[1:]
	return b, nil
}

// came keeps a datagram until Recv takes it.
func (c *wireConn) came(b []byte) []byte {
	if len(c.in) < maxMail {
		c.in = append(c.in, slices.Clone(b))
	}
	return nil
}

func (c *wireConn) hint(err error) error { return err }

func (c *wireConn) at() string { return netip.AddrPortFrom(c.wire.addr, c.udp).String() }

// Close does nothing: the wire is its Bench's to close.
func (c *wireConn) Close() error { return nil }

// wireTime is the wall's; while it sleeps the model works.
type wireTime struct{ wire *onWire }

// Now is the time since the wire was opened.
func (t wireTime) Now() time.Duration { return t.wire.clock.Now() }

// Sleep lets the model work for d.
func (t wireTime) Sleep(ctx context.Context, d time.Duration) error {
	_, err := t.wire.bench.Wait(ctx, d, never)
	return err
}

// openOnWire opens the model as this side's node.
func (s *side) openOnWire(ctx context.Context, f *twoHosts) error {
	if err := refuseOnWire(s.sc); err != nil {
		return err
	}
	_, port, _ := strings.Cut(f.listen, ":")
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || !s.to.Addr().Is4() {
		return usagef("with --wire, --peer is an IPv4 address and --listen a port, as in :%d", peerPort)
	}
	c := &wireConn{to: s.to, udp: uint16(n)}
	w, err := s.app.openWire(ctx, s.flags.onto, wired{
		profile: s.flags.profile, node: s.role, remote: s.other, udp: c.udp, datagram: c.came,
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	c.wire = w
	s.local, s.conn, s.clock = solo{w.bench, w}, c, wireTime{w}
	return nil
}

// tracedBench is the Bench of two hosts with the trace of the local side.
type tracedBench struct {
	peer.FailingBench
	verbs.Tracer
}

// whole is the Bench that the script runs on.
func (s *side) whole(b *peer.Bench) verbs.Bench {
	failing, ok := b.Failing()
	if t, traces := s.local.(verbs.Tracer); traces && s.flags.onto.asked() {
		return tracedBench{failing, t}
	}
	if ok {
		return failing
	}
	return b
}

// traced prints and writes the trace of this side's end of the wire.
func (s *side) traced() error {
	t, ok := s.local.(verbs.Tracer)
	if !ok || !s.flags.onto.asked() {
		return nil
	}
	if !s.flags.asJSON {
		s.app.printWire(s.local.Profile(), s.flags.trace, t.Trace())
	}
	return s.flags.pcap.write(t.Trace())
}
