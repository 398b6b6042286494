package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
		if given(name) {
			return usagef("--%s is the model's: a run on two hosts uses their devices", name)
		}
	}
	return nil
}

// localOpener opens this host's part of a run on two hosts: a Bench that has
// the node.
type localOpener func(ctx context.Context, node string) (verbs.Bench, error)

// errNoWire is what the model says to a run on two hosts.
var errNoWire = usageError{errors.New("a run on two hosts needs an RDMA device on each: the software model's wire is inside one process and cannot " +
	"reach another host. Leave out --role and --peer to run both nodes here on the model; rdmaprep doctor says how to get a device")}

// openLocal opens the device of this host.
func (a *app) openLocal(ctx context.Context, node string) (verbs.Bench, error) {
	if a.local == nil {
		return nil, errNoWire
	}
	return a.local(ctx, node)
}

// side is one side of a run on two hosts.
type side struct {
	app   *app
	sc    *script.Script
	role  string
	other string
	conn  *udpConn
	clock wallClock
	local verbs.Bench
	hello peer.Hello
	json  bool
}

// runTwoHosts runs the script with the node of --role here and the other one
// at --peer. The script's first node drives.
func (a *app) runTwoHosts(ctx context.Context, sc *script.Script, f *twoHosts, asJSON bool) (err error) {
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
	local, err := a.openLocal(ctx, f.role)
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, local.Close())
		}
	}()
	conn, err := listenUDP(f.listen, to)
	if err != nil {
		return err
	}
	defer func() { _ = conn.c.Close() }() // nothing is left to be sent
	dev := local.Node(f.role)
	if dev == nil {
		return fmt.Errorf("the local device has no node %s", f.role)
	}
	s := &side{
		app: a, sc: sc, role: f.role, other: sc.Nodes[1-i], conn: conn, clock: wallClock{time.Now()}, local: local, json: asJSON,
		hello: peer.Hello{
			Role: f.role, Digest: sha256.Sum256([]byte(sc.Source)), Script: sc.Name, Device: dev.Name(),
			Profile: local.Profile(), Live: local.Live(), GIDIndex: peer.GIDIndex(local, f.role),
		},
	}
	s.note("node %s is %s here on UDP %s; waiting for node %s at %s", s.role, dev.Name(), conn.c.LocalAddr(), s.other, to)
	if i == 0 {
		closed = true
		err = s.drive(ctx)
	} else {
		err = s.serve(ctx)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("interrupted; node %s at %s was told if it was there", s.other, to)
	}
	return conn.hint(err)
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
		Conn: s.conn, Clock: s.clock, Peer: s.conn.peer.String(), Node: s.other, Hello: s.hello,
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
	sess := script.NewSession(b)
	sess.Listen(func(l script.TranscriptLine) {
		if !s.json {
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
	if s.json {
		if err := s.app.json(runJSON(b, sess, res, b.Profile(), s.sc.Seed, false)); err != nil {
			return err
		}
	}
	var untold *peer.UntoldError
	if errors.As(closing, &untold) {
		s.note("%v", closing)
		closing = nil
	}
	return errors.Join(s.finish(v), closing)
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
		if !s.json {
			s.app.printf("%s\n", l.Text)
		}
	})
	v, err := peer.Serve(ctx, s.conn, s.clock, server, peer.Timing{}, s.conn.peer.String(), s.other)
	if err != nil {
		return err
	}
	if s.json {
		out := struct {
			Role       string   `json:"role"`
			Passed     bool     `json:"passed"`
			Failed     string   `json:"failed,omitempty"`
			Transcript []string `json:"transcript"` // of this node and of the whole run
		}{s.role, v.Passed, v.Text, lines}
		if err := s.app.json(out); err != nil {
			return err
		}
	}
	return s.finish(v)
}
