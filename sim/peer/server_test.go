package peer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/quick"
	"time"

	"rdmaprep/sim/verbs"
)

// recorder is a device that counts its calls and refuses some.
type recorder struct {
	verbs.Device // nil: what a test does not expect panics
	calls        []string
	fail         error
}

func (d *recorder) AllocPD() (verbs.PD, error) {
	d.calls = append(d.calls, "alloc_pd")
	return verbs.PD(len(d.calls)), d.fail
}

func (d *recorder) DeallocPD(pd verbs.PD) error {
	d.calls = append(d.calls, fmt.Sprintf("dealloc_pd %d", pd))
	return d.fail
}

func greet(t *testing.T, s *Server, session uint64) {
	t.Helper()
	b := s.Handle(seal(kindHello, session, 0, pack(nil, Hello{Role: "a"}.filled())))
	if m, ok := open(b); !ok || m.kind != kindReply {
		t.Fatalf("the hello was answered with %q", b)
	}
}

func call(session uint64, seq uint32, o op, args []byte) []byte {
	return seal(kindCall, session, seq, append([]byte{byte(o)}, args...))
}

// TestOnce: a request that comes again gets the same bytes back and is not
// carried out; one of another run, an old one and a later one are ignored.
func TestOnce(t *testing.T) {
	d := &recorder{}
	s := NewServer(d, Hello{Role: "b"}, nil)
	first := call(7, 1, opAllocPD, nil)
	if r := s.Handle(first); r != nil || len(d.calls) > 0 {
		t.Errorf("a call before the hello: %q, %v", r, d.calls)
	}
	greet(t, s, 7)
	greet(t, s, 7)
	r1 := s.Handle(first)
	if again := s.Handle(first); r1 == nil || string(again) != string(r1) || len(d.calls) != 1 {
		t.Errorf("the repeated request: %q then %q, %v", r1, again, d.calls)
	}
	second := call(7, 2, opDeallocPD, pack(nil, verbs.PD(1)))
	r2 := s.Handle(second)
	for _, x := range []struct {
		what string
		b    []byte
	}{
		{"old", first},
		{"too new", call(7, 4, opAllocPD, nil)},
		{"of another run", call(8, 3, opAllocPD, nil)},
		{"the same number with another call", call(7, 2, opAllocPD, nil)},
		{"an unknown call", call(7, 3, opClose+1, nil)},
		{"arguments that are too short", call(7, 3, opDeallocPD, nil)},
		{"arguments that are too long", call(7, 3, opDeallocPD, []byte{1, 0})},
		{"a number that is not written as this side writes it", call(7, 3, opDeallocPD, []byte{0x81, 0x00})},
		{"a late hello", seal(kindHello, 7, 0, pack(nil, Hello{Role: "a"}.filled()))},
		{"nothing", nil},
		{"a cut one", second[:len(second)-1]},
	} {
		if r := s.Handle(x.b); r != nil || len(d.calls) != 2 {
			t.Errorf("%s: answered with %q, calls %v", x.what, r, d.calls)
		}
	}
	if again := s.Handle(second); string(again) != string(r2) || r2 == nil {
		t.Errorf("after all that the last request gets %q, before %q", again, r2)
	}
	for i := range second {
		for bit := range 8 {
			b := append([]byte(nil), second...)
			b[i] ^= 1 << bit
			if r := s.Handle(b); r != nil || len(d.calls) != 2 {
				t.Fatalf("bit %d of byte %d flipped: %q, %v", bit, i, r, d.calls)
			}
		}
	}
	m, _ := open(s.Handle(seal(kindHello, 9, 0, pack(nil, Hello{Role: "a"}.filled()))))
	if m.kind != kindRefuse || !strings.Contains(string(m.body), "in the middle of another run") {
		t.Errorf("another run's hello: %d %q", m.kind, m.body)
	}
	bye := s.Stop("it was interrupted")
	m, _ = open(s.Handle(call(7, 3, opAllocPD, nil)))
	if m.kind != kindBye || len(d.calls) != 2 || bye == nil {
		t.Errorf("after Stop: %d %q, %v", m.kind, m.body, d.calls)
	}
}

// pipe answers a Remote from a function, or not at all.
type pipe struct {
	clock  *manual
	answer func([]byte) []byte
	next   []byte
	sent   int
	err    error
}

type manual struct{ now time.Duration }

func (c *manual) Now() time.Duration { return c.now }

func (c *manual) Sleep(_ context.Context, d time.Duration) error { c.now += d; return nil }

func (p *pipe) Send(b []byte) error {
	p.sent++
	if p.answer != nil {
		p.next = p.answer(b)
	}
	return p.err
}

func (p *pipe) Recv(ctx context.Context, d time.Duration) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := p.next
	if p.next = nil; b == nil {
		p.clock.now += d
	}
	return b, nil
}

func piped(t *testing.T, s *Server) (*Remote, *pipe) {
	t.Helper()
	p := &pipe{clock: &manual{}, answer: s.Handle}
	r, err := Dial(context.Background(), Options{Conn: p, Clock: p.clock, Peer: "192.0.2.7:47911", Node: "b", Hello: Hello{Role: "a"}, Session: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

// TestErrorsTravel: what a caller can see of an error is as on the device.
func TestErrorsTravel(t *testing.T) {
	d := &recorder{}
	r, _ := piped(t, NewServer(d, Hello{Role: "b"}, nil))
	refused := &verbs.Error{Op: "alloc_pd", Errno: syscall.Errno(12), Why: "max_pd is 3"}
	for _, want := range []error{
		refused,
		&verbs.Error{Op: "alloc_pd", Errno: syscall.Errno(95)},
		fmt.Errorf("opened too often: %w", refused),
	} {
		d.fail = want
		_, err := r.AllocPD()
		var got, told *verbs.Error
		if !errors.As(err, &got) || !errors.As(want, &told) || *got != *told || err.Error() != want.Error() || !errors.Is(err, told.Errno) {
			t.Errorf("%v came as %v", want, err)
		}
	}
	d.fail = errors.New("the cable\x1b[2J is out")
	err := r.DeallocPD(1)
	var broken *CallError
	if !errors.As(err, &broken) || err.Error() != "node b: the cable?[2J is out" {
		t.Errorf("a broken device came as %v", err)
	}
	d.fail = nil
	if pd, err := r.AllocPD(); err != nil || pd != 5 {
		t.Errorf("after the errors: %v %v", pd, err)
	}
}

// TestLost: a peer that falls silent is one bounded wait, and then an error at
// once; the hello waits longer.
func TestLost(t *testing.T) {
	r, p := piped(t, NewServer(&recorder{}, Hello{Role: "b"}, nil))
	p.answer, p.sent, p.err = nil, 0, errors.New("network is unreachable")
	start := p.clock.now
	_, err := r.AllocPD()
	var lost *LostError
	if !errors.As(err, &lost) || lost.Hand || lost.Node != "b" || lost.Peer != "192.0.2.7:47911" {
		t.Fatalf("got %v", err)
	}
	took := p.clock.now - start
	if def := (Timing{}).filled(); took < def.Answer || took > def.Answer+def.Most {
		t.Errorf("it took %s of the %s that an answer has", took, def.Answer)
	}
	if text := err.Error(); !strings.Contains(text, "node b at 192.0.2.7:47911 has not answered for 15") || !strings.Contains(text, "network is unreachable") {
		t.Errorf("the error says %q", text)
	}
	sent := p.sent
	if _, again := r.QueryDevice(); !errors.Is(again, err) || p.sent != sent {
		t.Errorf("the next call says %v after %d more datagrams", again, p.sent-sent)
	}
	_, err = Dial(context.Background(), Options{Conn: p, Clock: p.clock, Peer: "192.0.2.7:47911", Node: "b", Hello: Hello{Role: "a"}})
	if !errors.As(err, &lost) || !lost.Hand || !strings.Contains(err.Error(), "--role b") {
		t.Errorf("nobody there: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err = Dial(ctx, Options{Conn: p, Clock: p.clock, Node: "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestMismatch: whatever differs, both sides end with a *MismatchError that
// names it.
func TestMismatch(t *testing.T) {
	server := Hello{Role: "b", Script: "x.rdma", Device: "rxe0", Profile: "live", Live: true}
	for _, c := range []struct {
		change func(*Hello)
		want   string
	}{
		{func(h *Hello) { h.Digest[0]++ }, "the scripts differ: a has x.rdma with SHA-256 01000000"},
		{func(h *Hello) { h.Role = "b" }, "both have --role b"},
		{func(h *Hello) { h.Live = false }, "node a (device rxe0) is the model and node b (device rxe0) is a real device"},
		{func(h *Hello) { h.Profile = "spec" }, "profile spec and node b (device rxe0) has profile live"},
	} {
		h := server
		h.Role = "a"
		c.change(&h)
		s := NewServer(&recorder{}, server, nil)
		p := &pipe{clock: &manual{}, answer: s.Handle}
		_, err := Dial(context.Background(), Options{Conn: p, Clock: p.clock, Node: "b", Hello: h, Session: 1})
		_, over, theirs := s.Over()
		var m *MismatchError
		if !errors.As(err, &m) || !over || theirs == nil || theirs.Error() != err.Error() || !strings.Contains(err.Error(), c.want) {
			t.Errorf("here %v\nthere %v\nexpected %q", err, theirs, c.want)
		}
	}
	// Another version of the datagrams: the refusal's frame is the same in all.
	s := NewServer(&recorder{}, server, nil)
	old := resealed(seal(kindHello, 1, 0, nil), func(b []byte) { b[len(magic)] = Version + 1 })
	m, ok := open(s.Handle(old))
	if _, _, err := s.Over(); !ok || m.kind != kindRefuse || err == nil || !strings.Contains(string(m.body), "version") {
		t.Errorf("another version: %v %q %v", m.kind, m.body, err)
	}
	// Two that drive, and two that serve.
	other := &Remote{o: Options{Hello: Hello{Role: "b"}.filled(), Session: 5, Conn: &pipe{}}}
	_, done, err := other.read(seal(kindHello, 6, 0, pack(nil, Hello{Role: "b"}.filled())), 0)
	if !done || err == nil || !strings.Contains(err.Error(), "both have --role b") {
		t.Errorf("two that drive: %v", err)
	}
	x, y := NewServer(nil, server, nil), NewServer(nil, server, nil)
	y.Handle(x.Handle(y.Announce()))
	for _, s := range []*Server{x, y} {
		if _, _, err := s.Over(); err == nil || !strings.Contains(err.Error(), "both have --role b") {
			t.Errorf("two that serve: %v", err)
		}
	}
}

// TestEveryTypeTravels packs and unpacks random values of what calls take and
// give, and finds a type that pack cannot do.
func TestEveryTypeTravels(t *testing.T) {
	for o := opQueryDevice; o <= opClose; o++ {
		if calls[o].do == nil {
			t.Errorf("call %d has no handler", o)
		}
	}
	travels[argSend](t)
	travels[argRecv](t)
	travels[argModifyQP](t)
	travels[argCreateQP](t)
	travels[argBind](t)
	travels[argReregMR](t)
	travels[argAH](t)
	travels[argSRQ](t)
	travels[argMW](t)
	travels[argStore](t)
	travels[argNotify](t)
	travels[Hello](t)
	travels[verbs.Fault](t)
	travels[Line](t)
	travels[Verdict](t)
	travels[answer[verbs.DeviceAttr]](t)
	travels[answer[verbs.PortAttr]](t)
	travels[answer[verbs.GID]](t)
	travels[answer[verbs.QPAttr]](t)
	travels[answer[verbs.QPInfo]](t)
	travels[answer[verbs.SRQInfo]](t)
	travels[answer[[]verbs.WC]](t)
	travels[answer[gotAsync]](t)
	travels[answer[gotCQEvent]](t)
	travels[answer[map[string]uint64]](t)
	travels[answer[none]](t)
}

func travels[T any](t *testing.T) {
	t.Helper()
	err := quick.Check(func(v T) bool {
		b := pack(nil, v)
		got, err := unpack[T](b)
		// An empty list has no other form than none.
		if err != nil || string(pack(nil, got)) != string(b) || fmt.Sprintf("%v", got) != fmt.Sprintf("%v", v) {
			t.Logf("%v came as %v, %v", v, got, err)
			return false
		}
		_, long := unpack[T](append(b, 0))
		return errors.Is(long, errBody)
	}, &quick.Config{MaxCount: 50})
	if err != nil {
		t.Errorf("%s: %v", reflect.TypeFor[T](), err)
	}
}
