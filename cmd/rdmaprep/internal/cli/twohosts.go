package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rdmaprep/sim/peer"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// twoHosts are the flags of a run on two hosts.
type twoHosts struct{ role, peer, listen string }

func (f *twoHosts) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.role, "role", "", "the node of the script that this host is, as in a; needs --peer")
	flags.StringVar(&f.peer, "peer", "", fmt.Sprintf("the other host's address, with :PORT if its --listen is not %d", peerPort))
	flags.StringVar(&f.listen, "listen", fmt.Sprintf(":%d", peerPort), "the UDP address and port of this host, with --peer")
}

// asked says whether the run is one of two hosts.
func (f *twoHosts) asked() bool { return f.role != "" }

// check refuses flags that do not go together.
func (f *twoHosts) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("role") != given("peer") || given("role") && (f.role == "" || f.peer == ""):
		return usagef("--role NODE and --peer ADDR go together: the node that this host is, and the other host's address")
	case given("listen") && !given("peer"):
		return usagef("--listen is for a run on two hosts: give --role and --peer too")
	case !given("role"):
		return nil
	}
	for _, name := range []string{"trace", "pcap", "profile", "seed"} {
		if given(name) && !given("wire") {
			return usagef("--%s is the model's: a run on two hosts uses their devices", name)
		}
	}
	return nil
}

// localOpener opens this host's part of a run on two hosts: a Bench that has
// the node.
type localOpener func(ctx context.Context, node string) (verbs.Bench, error)

// hostFlags say what a host has of a run, and what it prints of it.
type hostFlags struct {
	device        string
	onto          *wireFlags
	profile       string
	trace, asJSON bool
	pcap          *pcapFlags
}

// errNoWire is what the model says to a run on two hosts.
var errNoWire = usageError{errors.New("a run on two hosts needs an RDMA device on each, or the model on a real wire: without one the software model's wire is " +
	"inside one process and cannot reach another host. Give --device too (rdmaprep doctor lists them), or --wire, or leave out --role and " +
	"--peer to run both nodes here on the model")}

// openLocal opens the device of this host. Whether the other host has faults, and
// the driving one counts packets, is known later.
func (a *app) openLocal(ctx context.Context, sc *script.Script, device, node string) (verbs.Bench, error) {
	n := sc.Needs()
	n.Faults, n.Wire = false, false
	switch {
	case a.local != nil:
		return a.local(ctx, node)
	case device == "":
		return nil, errNoWire
	case n.ModelOnly():
		return nil, fmt.Errorf("%s needs the model (%s): leave --device, --role and --peer out", sc.Name, n.OnlyModel())
	}
	return a.openDevice(ctx, device, []string{node})
}

// side is one side of a run on two hosts.
type side struct {
	app   *app
	sc    *script.Script
	role  string
	other string
	conn  hostConn
	to    netip.AddrPort
	clock peer.Clock
	local verbs.Bench
	hello peer.Hello
	flags *hostFlags
}

// runTwoHosts runs the script with the node of --role here and the other one
// at --peer. The script's first node drives.
func (a *app) runTwoHosts(ctx context.Context, sc *script.Script, f *twoHosts, host *hostFlags) (err error) {
	if len(sc.Nodes) != 2 {
		return fmt.Errorf("%s has %d nodes: a run on two hosts has two", sc.Name, len(sc.Nodes))
	}
	i := slices.Index(sc.Nodes, f.role)
	if i < 0 {
		return usagef("--role %s: the nodes of %s are %s and %s", f.role, sc.Name, sc.Nodes[0], sc.Nodes[1])
	}
	to, err := resolvePeer(ctx, f.peer)
	if err != nil {
		return err
	}
	s := &side{app: a, sc: sc, role: f.role, other: sc.Nodes[1-i], to: to, flags: host}
	if err := s.open(ctx, f); err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, s.local.Close())
		}
	}()
	defer func() { _ = s.conn.Close() }() // nothing is left to be sent
	dev := s.local.Node(f.role)
	if dev == nil {
		return fmt.Errorf("the local device has no node %s", f.role)
	}
	s.hello = peer.Hello{
		Role: f.role, Digest: sha256.Sum256([]byte(sc.Source)), Script: sc.Name, Device: dev.Name(),
		Profile: s.local.Profile(), Live: s.local.Live(), GIDIndex: peer.GIDIndex(s.local, f.role), Wire: host.onto.asked(),
	}
	s.note("node %s is %s here on UDP %s; waiting for node %s at %s", s.role, dev.Name(), s.conn.at(), s.other, to)
	if i == 0 {
		closed = true
		err = s.drive(ctx)
	} else {
		err = s.serve(ctx)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("interrupted; node %s at %s was told if it was there", s.other, to)
	}
	return s.conn.hint(err)
}

// open opens what this side has, and its way to the other one.
func (s *side) open(ctx context.Context, f *twoHosts) (err error) {
	if s.flags.onto.asked() {
		return s.openOnWire(ctx, f)
	}
	if s.local, err = s.app.openLocal(ctx, s.sc, s.flags.device, s.role); err != nil {
		return err
	}
	conn, err := listenUDP(f.listen, s.to)
	if err != nil {
		return errors.Join(err, s.local.Close())
	}
	s.conn, s.clock = conn, wallClock{time.Now()}
	return nil
}

// note tells the person at the terminal how the run goes.
func (s *side) note(format string, args ...any) {
	fmt.Fprintf(s.app.host.Err, "rdmaprep: "+format+"\n", args...)
}

// drive runs the script, and closes the local Bench.
func (s *side) drive(ctx context.Context) (err error) {
	var session [8]byte
	if _, err := io.ReadFull(s.app.host.Entropy, session[:]); err != nil {
		return errors.Join(fmt.Errorf("no random number for the run: %w", err), s.local.Close())
	}
	remote, err := peer.Dial(ctx, peer.Options{
		Conn: s.conn, Clock: s.clock, Peer: s.to.String(), Node: s.other, Hello: s.hello,
		Session: binary.BigEndian.Uint64(session[:]),
	})
	if err != nil {
		return errors.Join(err, s.local.Close())
	}
	s.note("node %s is %s there", s.other, remote.Name())
	b, err := peer.NewBench(s.local, s.role, remote, s.clock, s.sc.Nodes)
	if err != nil {
		return errors.Join(err, s.local.Close())
	}
	whole := s.whole(b)
	if err := s.lacks(whole); err != nil {
		b.Verdict(peer.Verdict{Text: err.Error()})
		return errors.Join(err, b.Close())
	}
	sess := script.NewSession(whole)
	sess.Listen(func(l script.TranscriptLine) {
		if !s.flags.asJSON {
			s.app.printf("%s\n", l)
		}
		_ = b.Say(peer.Line{Node: l.Node, Text: l.String()}) // a peer that is lost fails the next call too
	})
	res, err := sess.RunAll(ctx, s.sc)
	v := verdictOf(s.sc, res, err)
	if ctx.Err() != nil {
		v = peer.Verdict{Text: "node " + s.role + " was interrupted"}
	}
	b.Verdict(v)
	closing := b.Close()
	if err != nil {
		return err // the peer that is lost could not be told either
	}
	if s.flags.asJSON {
		if err := s.app.json(runJSON(whole, sess, res, b.Profile(), s.sc.Seed, s.flags.trace)); err != nil {
			return err
		}
	}
	if err := s.traced(); err != nil {
		return err
	}
	var untold *peer.UntoldError
	if errors.As(closing, &untold) {
		s.note("%v", closing)
		closing = nil
	}
	return errors.Join(s.finish(v), closing)
}

// lacks says what the script needs and neither side has, nil for nothing.
func (s *side) lacks(b verbs.Bench) error {
	n := s.sc.Needs()
	if _, fails := b.(verbs.Faulter); !fails && n.Faults {
		return fmt.Errorf("%s needs fault injection, and both nodes are real devices: let one of them be the model, with --wire", s.sc.Name)
	}
	if _, traces := b.(verbs.Tracer); !traces && n.Wire {
		return fmt.Errorf("%s counts packets, which only the model does, and on the driving side: let node %s be the model, with --wire", s.sc.Name, s.role)
	}
	return nil
}

// verdictOf is what the other side is told.
func verdictOf(sc *script.Script, res *script.Result, err error) peer.Verdict {
	switch {
	case err != nil:
		return peer.Verdict{Text: err.Error()}
	case res.Failed != nil:
		return peer.Verdict{Text: fmt.Sprintf("%s:%d: %s: %s", sc.Name, res.Failed.Line, res.Failed.Text, res.Failed.Got)}
	}
	return peer.Verdict{Passed: true}
}

// finish says what the run came to; both sides say the same and end alike.
func (s *side) finish(v peer.Verdict) error {
	if !v.Passed {
		s.note("the run failed: %s", v.Text)
		return errSilent
	}
	s.note("every line of %s holds", s.sc.Name)
	return nil
}

// serve carries out what the other side asks for.
func (s *side) serve(ctx context.Context) error {
	lines := []string{}
	server := peer.NewServer(s.local.Node(s.role), s.hello, func(l peer.Line) {
		if l.Node != "" && l.Node != s.role {
			return
		}
		lines = append(lines, strings.TrimPrefix(l.Text, l.Node+": ")) // as the driving side's JSON has them
		if !s.flags.asJSON {
			s.app.printf("%s\n", l.Text)
		}
	})
	if f, ok := s.local.(verbs.Faulter); ok {
		server.Faults(f)
	}
	v, err := peer.Serve(ctx, s.conn, s.clock, server, peer.Timing{}, s.to.String(), s.other)
	err = errors.Join(err, s.traced())
	if err != nil {
		return err
	}
	if s.flags.asJSON {
		out := struct {
			Role       string      `json:"role"`
			Passed     bool        `json:"passed"`
			Failed     string      `json:"failed,omitempty"`
			Transcript []string    `json:"transcript"` // of this node and of the whole run
			Trace      []traceLine `json:"trace,omitempty"`
		}{s.role, v.Passed, v.Text, lines, nil}
		if t, ok := s.local.(verbs.Tracer); ok && s.flags.trace {
			out.Trace = traceJSON(t.Trace())
		}
		if err := s.app.json(out); err != nil {
			return err
		}
	}
	return s.finish(v)
}
