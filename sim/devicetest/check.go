package devicetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

// T is what a case works with: its Bench, and how to compare.
type T struct {
	*testing.T
	bench   verbs.Bench
	profile string
	source  string
	made    []madeQP
}

type madeQP struct {
	dev verbs.Device
	qp  verbs.QP
}

// leave makes a shared Bench quiet for the next case: the case's queue pairs go
// (but those that may not, under a window), and its events are taken.
func (t *T) leave() {
	for _, node := range t.bench.Nodes() {
		for d := t.dev(node); ; {
			ev, ok, err := d.GetAsyncEvent()
			if err != nil {
				t.Fatalf("get_async_event: %v", err)
			}
			if !ok {
				break
			}
			t.ok("ack_async_event", d.AckAsyncEvent(ev))
		}
	}
	for _, m := range t.made {
		_ = m.dev.DestroyQP(m.qp) // the case may have done it, or a window forbids it
	}
}

// waitLimit is device time; a wait that comes to nothing ends much earlier, when
// nothing is left to happen.
const waitLimit = 20 * time.Second

// dev is a node's device.
func (t *T) dev(name string) verbs.Device {
	t.Helper()
	d := t.bench.Node(name)
	if d == nil {
		t.Fatalf("the Bench has no node %s", name)
	}
	return d
}

// nobody is a handle that no device gave out.
const nobody = 0x7ffffff0

// outcome is how the suite writes a call's result: "ok", the errno's name, or
// the error itself where it carries none.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	var e *verbs.Error
	if errors.As(err, &e) {
		return verbs.ErrnoName(e.Errno)
	}
	return err.Error()
}

// is compares, and says where the expectation comes from.
func (t *T) is(what string, got, want any) {
	t.Helper()
	g, w := fmt.Sprint(got), fmt.Sprint(want)
	if g != w {
		t.Errorf("%s: got %s; want %s (%s)", what, g, w, t.source)
	}
}

// returns compares what a call returned with "ok" or an errno's name. An error
// must be a *verbs.Error that names the call.
func (t *T) returns(call string, err error, want string) {
	t.Helper()
	if got := outcome(err); got != want {
		t.Errorf("%s: got %s (%v); want %s (%s)", call, got, err, want, t.source)
		return
	}
	var e *verbs.Error
	if err != nil && errors.As(err, &e) && (e.Op == "" || strings.HasPrefix(e.Op, "ibv_")) {
		t.Errorf("%s: the error does not name the call: %q", call, e.Op)
	}
}

// must ends the case where what it builds on does not work.
func must[V any](t *T, what string) func(V, error) V {
	t.Helper()
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v (%s)", what, err, t.source)
		}
		return v
	}
}

func (t *T) ok(what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v (%s)", what, err, t.source)
	}
}

// quiet waits until nothing is left to happen.
func (t *T) quiet() {
	t.Helper()
	if _, err := t.bench.Wait(context.Background(), waitLimit, nil); err != nil {
		t.Fatalf("wait: %v", err)
	}
}

// until waits for something; false if it does not come.
func (t *T) until(ready func() bool) bool {
	t.Helper()
	ok, err := t.bench.Wait(context.Background(), waitLimit, func() (bool, error) { return ready(), nil })
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
	return ok
}

// wcText writes the fields of a completion that are defined.
func wcText(wc *verbs.WC) string {
	s := fmt.Sprintf("%d %s", wc.ID, wc.Status)
	if wc.Status != verbs.WCSuccess {
		return s
	}
	s += " " + wc.Opcode.String()
	if wc.Opcode != verbs.WCBindMW && wc.Opcode != verbs.WCLocalInv {
		s += fmt.Sprintf(" len=%d", wc.ByteLen)
	}
	if wc.Opcode >= verbs.WCRecv && wc.Flags&verbs.WCWithImm != 0 {
		s += fmt.Sprintf(" imm=%#x", wc.Imm)
	}
	return s
}

// completions waits for as many completions as are wanted, then for quiet, and
// compares all that came.
func (t *T) completions(s *side, cq verbs.CQ, want ...string) []verbs.WC {
	t.Helper()
	var got []verbs.WC
	take := func() bool {
		var room [16]verbs.WC
		n, err := s.dev.PollCQ(cq, room[:])
		if err != nil {
			t.Fatalf("poll_cq: %v", err)
		}
		got = append(got, room[:n]...)
		return len(got) >= max(1, len(want))
	}
	if len(want) > 0 {
		t.until(take)
	} else {
		t.quiet()
	}
	take()
	var text []string
	for i := range got {
		text = append(text, wcText(&got[i]))
	}
	t.is("completions of "+s.name, strings.Join(text, ", "), strings.Join(want, ", "))
	return got
}

// sent and received are the completions of a side's two queues.
func (t *T) sent(s *side, want ...string) []verbs.WC {
	t.Helper()
	return t.completions(s, s.sendCQ, want...)
}

func (t *T) received(s *side, want ...string) []verbs.WC {
	t.Helper()
	return t.completions(s, s.recvCQ, want...)
}

// state compares a queue pair's state as query_qp tells it.
func (t *T) state(s *side, want verbs.QPState) {
	t.Helper()
	a := must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP))
	t.is("state of "+s.name, a.State, want)
}

// asyncs takes the asynchronous events of a side until count have come or none
// is left to come, and acknowledges them.
func (t *T) asyncs(s *side, count int) string {
	t.Helper()
	var text []string
	take := func() bool {
		for {
			ev, ok, err := s.dev.GetAsyncEvent()
			if err != nil {
				t.Fatalf("get_async_event: %v", err)
			}
			if !ok {
				return count > 0 && len(text) >= count
			}
			text = append(text, ev.Type.String())
			t.ok("ack_async_event", s.dev.AckAsyncEvent(ev))
		}
	}
	if count > 0 {
		t.until(take)
	}
	t.quiet()
	take()
	return strings.Join(text, " ")
}
