package peer_test

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rdmaprep/sim/peer"
	"rdmaprep/sim/script"
)

// socket is a Conn over UDP. Two sockets of one test share a baton, which a
// side lays down only while it waits: so both can use one model, which is for
// one goroutine at a time.
type socket struct {
	c     *net.UDPConn
	to    *net.UDPAddr
	baton *sync.Mutex
	drop  int // every so many datagrams that come are lost, 0 for none
	came  int
	heard chan struct{} // closed at the first datagram
	once  sync.Once
}

func (s *socket) Send(b []byte) error {
	_, err := s.c.WriteToUDP(b, s.to)
	return err
}

func (s *socket) Recv(ctx context.Context, d time.Duration) ([]byte, error) {
	s.baton.Unlock()
	defer s.baton.Lock()
	stop := context.AfterFunc(ctx, func() { _ = s.c.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = s.c.SetReadDeadline(time.Now().Add(d))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := make([]byte, peer.MaxDatagram+1)
	n, _, err := s.c.ReadFromUDP(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	s.once.Do(func() { close(s.heard) })
	if s.came++; s.drop > 0 && s.came%s.drop == 0 {
		return nil, nil
	}
	return b[:n], nil
}

type wall struct{ start time.Time }

func (w wall) Now() time.Duration { return time.Since(w.start) }

func (w wall) Sleep(_ context.Context, d time.Duration) error { time.Sleep(d); return nil }

func sockets(t *testing.T, drop int) (a, b *socket) {
	t.Helper()
	var two [2]*socket
	baton := &sync.Mutex{}
	for i := range two {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		two[i] = &socket{c: c, baton: baton, drop: drop, heard: make(chan struct{})}
	}
	two[0].to, two[1].to = two[1].c.LocalAddr().(*net.UDPAddr), two[0].c.LocalAddr().(*net.UDPAddr)
	return two[0], two[1]
}

const overUDP = `script 1
pair rc
a: store mr1 fill=0x5a:4000
b: post_recv qp1 wr_id=100 sge=mr1[0:4096]
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:4000] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=SUCCESS
expect b.cq1 wr_id=100 status=SUCCESS byte_len=4000
expect b.mr1[0:4000] fill=0x5a
b: destroy_qp qp1
b: dealloc_pd pd1
expect ret=EBUSY
`

// limit bounds a test over real sockets; it decides nothing.
func limit(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(stop)
	return ctx
}

// served runs the serving side in a goroutine of its own.
type served struct {
	v     peer.Verdict
	err   error
	lines []string
}

func serve(ctx context.Context, s *socket, server func(say func(peer.Line)) *peer.Server) <-chan served {
	done := make(chan served, 1)
	go func() {
		s.baton.Lock()
		defer s.baton.Unlock()
		var out served
		srv := server(func(l peer.Line) { out.lines = append(out.lines, l.Text) })
		out.v, out.err = peer.Serve(ctx, s, wall{time.Now()}, srv, peer.Timing{}, s.to.String(), "a")
		done <- out
	}()
	return done
}

// TestUDP runs a script with the two sides in two goroutines over the loopback
// interface, the second time with every seventh datagram of both directions
// lost. Both sides have the local run's transcript.
func TestUDP(t *testing.T) {
	for _, drop := range []int{0, 7} {
		ctx := limit(t)
		sc := parse(t, story{pos: "udp", source: overUDP})
		want, res, err := script.RunAll(ctx, openModel(t, sc, "spec"), sc)
		if err != nil || res.Failed != nil {
			t.Fatal(err, res.Failed)
		}
		m := openModel(t, sc, "spec")
		sa, sb := sockets(t, drop)
		other := serve(ctx, sb, func(say func(peer.Line)) *peer.Server {
			return peer.NewServer(m.Node("b"), hello(m, "b", overUDP), say)
		})
		sa.baton.Lock()
		remote, err := peer.Dial(ctx, peer.Options{
			Conn: sa, Clock: wall{time.Now()}, Peer: sa.to.String(), Node: "b", Hello: hello(m, "a", overUDP), Session: 99,
		})
		if err != nil {
			t.Fatal(err)
		}
		b, err := peer.NewBench(m, "a", remote, paced{m, nil}, sc.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		sess := script.NewSession(b)
		sess.Listen(func(l script.TranscriptLine) {
			if err := b.Say(peer.Line{Node: l.Node, Text: l.String()}); err != nil {
				t.Error(err)
			}
		})
		res, err = sess.RunAll(ctx, sc)
		if err != nil || res.Failed != nil {
			t.Fatal(err, res.Failed)
		}
		b.Verdict(peer.Verdict{Passed: true, Text: "fine"})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		sa.baton.Unlock()
		end := <-other
		if end.err != nil || end.v != (peer.Verdict{Passed: true, Text: "fine"}) {
			t.Errorf("the other side has %v, %v", end.v, end.err)
		}
		lines := strings.Split(strings.TrimSuffix(want.TranscriptText(), "\n"), "\n")
		if !slices.Equal(lines, end.lines) || sess.TranscriptText() != want.TranscriptText() {
			t.Errorf("here\n%s\nthere\n%s\nlocally\n%s", sess.TranscriptText(), strings.Join(end.lines, "\n"), want.TranscriptText())
		}
	}
}

// TestInterrupted ends each side in turn in the middle of a run: the other side
// ends too, and knows why.
func TestInterrupted(t *testing.T) {
	for _, who := range []string{"a", "b"} {
		sc := parse(t, story{pos: "udp", source: overUDP})
		m := openModel(t, sc, "spec")
		sa, sb := sockets(t, 0)
		ctxA, stopA := context.WithCancel(limit(t))
		ctxB, stopB := context.WithCancel(limit(t))
		other := serve(ctxB, sb, func(say func(peer.Line)) *peer.Server {
			return peer.NewServer(m.Node("b"), hello(m, "b", overUDP), say)
		})
		sa.baton.Lock()
		remote, err := peer.Dial(ctxA, peer.Options{
			Conn: sa, Clock: wall{time.Now()}, Peer: sa.to.String(), Node: "b", Hello: hello(m, "a", overUDP), Session: 99,
		})
		if err != nil {
			t.Fatal(err)
		}
		b, err := peer.NewBench(m, "a", remote, wall{time.Now()}, sc.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Node("b").AllocPD(); err != nil {
			t.Fatal(err)
		}
		stop := stopA
		if who == "b" {
			stop = stopB
		}
		looks := 0
		_, err = b.Wait(ctxA, time.Minute, func() (bool, error) {
			if looks++; looks == 3 {
				stop()
			}
			_, err := b.Node("b").QueryDevice()
			return false, err
		})
		b.Verdict(peer.Verdict{Text: "node a was interrupted"})
		closing := b.Close()
		sa.baton.Unlock()
		end := <-other
		if closing != nil {
			t.Errorf("%s interrupted: closing says %v", who, closing)
		}
		if why, ended := peer.Ended(err); who == "b" && (!ended || why != "it was interrupted" || !errors.Is(end.err, context.Canceled)) {
			t.Errorf("b interrupted: a has %v, b %v", err, end.err)
		}
		if who == "a" && (!errors.Is(err, context.Canceled) || end.err != nil || end.v != (peer.Verdict{Text: "node a was interrupted"})) {
			t.Errorf("a interrupted: a has %v, b %v %v", err, end.v, end.err)
		}
		stopA()
		stopB()
	}
}
