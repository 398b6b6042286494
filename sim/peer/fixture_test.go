package peer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"rdmaprep/sim/model"
	"rdmaprep/sim/peer"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// ticks is a clock that only its owner moves.
type ticks struct{ now time.Duration }

func (c *ticks) Now() time.Duration { return c.now }

func (c *ticks) Sleep(ctx context.Context, d time.Duration) error {
	c.now += d
	return ctx.Err()
}

// weather is how bad a network is, in percent of the datagrams.
type weather struct{ lost, twice, late, broken int }

var storm = weather{lost: 20, twice: 15, late: 20, broken: 5}

// network is both directions between a Remote and a Server, in one goroutine:
// the Server answers while the Remote waits.
type network struct {
	clock  *ticks
	dice   *rand.Rand
	bad    weather
	server *peer.Server
	there  [][]byte // on the way to the server
	back   [][]byte
	sent   int
}

func newNetwork(seed uint64, bad weather, s *peer.Server) *network {
	return &network{clock: &ticks{}, dice: rand.New(rand.NewPCG(seed, 1)), bad: bad, server: s}
}

func (n *network) hits(percent int) bool { return n.dice.IntN(100) < percent }

// put loses, repeats and damages a datagram on its way.
func (n *network) put(way [][]byte, b []byte) [][]byte {
	if n.hits(n.bad.lost) {
		return way
	}
	for copies := 1 + n.dice.IntN(2); copies > 0; copies-- {
		c := bytes.Clone(b)
		if n.hits(n.bad.broken) {
			c[n.dice.IntN(len(c))] ^= 1 << n.dice.IntN(8)
		}
		way = append(way, c)
		if !n.hits(n.bad.twice) {
			break
		}
	}
	return way
}

// take gives the datagrams that arrive now, in any order; late ones stay.
func (n *network) take(way [][]byte) (now, later [][]byte) {
	if n.bad.late > 0 {
		n.dice.Shuffle(len(way), func(i, j int) { way[i], way[j] = way[j], way[i] })
	}
	for _, b := range way {
		if n.hits(n.bad.late) {
			later = append(later, b)
		} else {
			now = append(now, b)
		}
	}
	return now, later
}

func (n *network) Send(b []byte) error {
	n.sent++
	n.there = n.put(n.there, b)
	return nil
}

func (n *network) Recv(ctx context.Context, d time.Duration) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var now [][]byte
	now, n.there = n.take(n.there)
	for _, b := range now {
		if reply := n.server.Handle(b); reply != nil {
			n.back = n.put(n.back, reply)
		}
	}
	now, n.back = n.take(n.back)
	if len(now) == 0 {
		n.clock.now += d
		return nil, nil
	}
	n.back = append(now[1:], n.back...)
	return now[0], nil
}

// story is one case of a transcript file.
type story struct {
	pos      string
	source   string
	profiles []string
}

func stories(t *testing.T, pattern string) []story {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "model", "testdata", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts in %s: %v", pattern, err)
	}
	var all []story
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := story{pos: d.Pos, source: "script 1\n" + d.Input, profiles: model.ProfileNames()}
			if d.HasArg("profile") {
				var one string
				d.ScanArgs(t, "profile", &one)
				s.profiles = []string{one}
			}
			all = append(all, s)
			return d.Expected
		})
	}
	return all
}

func parse(t testing.TB, s story) *script.Script {
	t.Helper()
	sc, err := script.Parse(s.pos, []byte(s.source))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func openModel(t testing.TB, sc *script.Script, profile string) *model.Bench {
	t.Helper()
	b, err := model.Open(context.Background(), model.Options{Profile: profile, Seed: sc.Seed, Nodes: sc.Nodes, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func hello(b verbs.Bench, role, source string) peer.Hello {
	return peer.Hello{
		Role: role, Digest: sha256.Sum256([]byte(source)), Script: "x.rdma", Device: b.Node(role).Name(),
		Profile: b.Profile(), Live: b.Live(), GIDIndex: peer.GIDIndex(b, role),
	}
}

// dial puts the second node of a Bench behind a Server and a network.
func dial(t testing.TB, b verbs.Bench, source string, datagram int, seed uint64, bad weather, say func(peer.Line)) (*peer.Remote, *network) {
	t.Helper()
	names := b.Nodes()
	theirs := hello(b, names[1], source)
	theirs.Datagram = datagram
	n := newNetwork(seed, bad, peer.NewServer(b.Node(names[1]), theirs, say))
	r, err := peer.Dial(context.Background(), peer.Options{
		Conn: n, Clock: n.clock, Peer: "10.0.0.2:47911", Node: names[1], Hello: hello(b, names[0], source), Session: seed + 1,
		Timing: peer.Timing{Answer: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, n
}
