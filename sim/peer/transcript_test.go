package peer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rdmaprep/sim/model"
	"rdmaprep/sim/peer"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// swapped is the model with one node behind datagrams. Everything else, also
// clock, faults and trace, is the model's.
type swapped struct {
	*model.Bench
	name   string
	remote *peer.Remote
}

func (s *swapped) Node(name string) verbs.Device {
	if name == s.name {
		return s.remote
	}
	return s.Bench.Node(name)
}

// outcome is what a run came to, in one text.
func outcome(t *testing.T, b verbs.Bench, sc *script.Script) string {
	t.Helper()
	sess, res, err := script.RunAll(context.Background(), b, sc)
	if err != nil {
		t.Fatalf("%s: %v", sc.Name, err)
	}
	text := sess.TranscriptText()
	for _, o := range res.Outcomes {
		text += o.Text + " = " + o.Got + "\n" // the reasons of refusals as well
	}
	if res.Failed != nil {
		text += "failed\n"
	}
	return text
}

// TestTranscripts runs every script of the model's testdata with node b behind
// a network that loses, repeats, reorders and damages datagrams. The naive
// reference is the same run without one: transcript, what every line got and
// the verdict are equal, so no call was lost, carried out twice, or answered
// with another's answer.
func TestTranscripts(t *testing.T) {
	seed, runs := uint64(0), 0
	for _, s := range stories(t, "*.txt") {
		sc := parse(t, s)
		if len(sc.Nodes) < 2 {
			continue
		}
		for _, p := range s.profiles {
			seed++
			want := outcome(t, openModel(t, sc, p), sc)
			b := openModel(t, sc, p)
			bad := storm
			if testing.Short() && seed%4 != 0 {
				continue
			}
			size := []int{0, peer.MinDatagram, 4096}[seed%3]
			remote, _ := dial(t, b, s.source, size, seed, bad, nil)
			got := outcome(t, &swapped{b, sc.Nodes[1], remote}, sc)
			if got != want {
				t.Fatalf("%s, profile %s, seed %d: with node %s remote\n%s\nlocal\n%s", s.pos, p, seed, sc.Nodes[1], got, want)
			}
			runs++
		}
	}
	t.Logf("%d runs equal", runs)
	if runs < 50 {
		t.Errorf("only %d runs: the transcripts were not found", runs)
	}
}

// paced lets the model's time pass while the Bench of two hosts sleeps.
type paced struct {
	b   *model.Bench
	net *ticks
}

func (p paced) Now() time.Duration { return p.b.Now() }

func (p paced) Sleep(ctx context.Context, d time.Duration) error { return p.b.Advance(ctx, d) }

// TestBench runs the scripts that need neither faults nor a clock nor a count
// of packets, which two hosts do not have, on the Bench of two hosts, its
// second node the model's behind datagrams. The reference is the model's own
// Bench, which knows exactly when all is quiet.
func TestBench(t *testing.T) {
	seed, runs, needs := uint64(0), 0, 0
	for _, s := range stories(t, "*.txt") {
		sc := parse(t, s)
		if len(sc.Nodes) != 2 {
			continue
		}
		for _, p := range s.profiles {
			seed++
			m := openModel(t, sc, p)
			remote, n := dial(t, m, s.source, 0, seed, weather{lost: 5}, nil)
			clock := paced{m, n.clock}
			b, err := peer.NewBench(m, sc.Nodes[0], remote, clock, sc.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			sess, res, err := script.RunAll(context.Background(), b, sc)
			var missing *script.MissingError
			if errors.As(err, &missing) {
				needs++
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", s.pos, err)
			}
			want, _, err := script.RunAll(context.Background(), openModel(t, sc, p), sc)
			if err != nil {
				t.Fatal(err)
			}
			if got := sess.TranscriptText(); got != want.TranscriptText() || res.Failed != nil {
				t.Errorf("%s, profile %s: on two hosts, failed %v\n%s\non one\n%s", s.pos, p, res.Failed, got, want.TranscriptText())
			}
			b.Verdict(peer.Verdict{Passed: true})
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if v, over, err := n.server.Over(); !v.Passed || !over || err != nil {
				t.Fatalf("%s: the other side has %v %v %v", s.pos, v, over, err)
			}
			runs++
		}
	}
	t.Logf("%d runs equal, %d need what two hosts do not have", runs, needs)
	if runs < 50 {
		t.Errorf("only %d runs on two hosts", runs)
	}
}
