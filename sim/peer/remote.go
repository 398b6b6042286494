package peer

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"rdmaprep/sim/verbs"
)

// maxStray bounds the datagrams that are looked at for one answer.
const maxStray = 1 << 16

// byes is how often a bye is sent, which nobody answers.
const byes = 3

// Options are what a Remote needs.
type Options struct {
	Conn    Conn
	Clock   Clock
	Timing  Timing
	Peer    string // the peer's address, for messages
	Node    string // the peer's node
	Hello   Hello  // of this side
	Session uint64 // random: tells this run from others
}

// Remote is the other side's node. It implements verbs.Device: every call is a
// request and its answer. A refusal is the other side's *verbs.Error; a peer
// that does not answer is a *LostError, one that ended the run an *EndedError,
// and every later call returns the same at once. It is for one goroutine.
type Remote struct {
	o      Options
	ctx    context.Context // of the run: the calls of verbs.Device have none
	theirs Hello
	most   int // bytes of a datagram
	seq    uint32
	dead   error
}

// Dial presents this side to the other one, which may not have been started
// yet, and waits at most Timing.Start. Two sides that do not fit are a
// *MismatchError. ctx ends the calls of the Remote too.
func Dial(ctx context.Context, o Options) (*Remote, error) {
	o.Timing, o.Hello = o.Timing.filled(), o.Hello.filled()
	r := &Remote{o: o, ctx: ctx}
	body, err := r.exchange(seal(kindHello, o.Session, 0, pack(nil, o.Hello)), 0, o.Timing.Start)
	if err != nil {
		var mismatch *MismatchError
		if errors.As(err, &mismatch) {
			_ = r.bye("") // the refusal has arrived; this may be lost
		}
		return nil, err
	}
	if r.theirs, err = unpack[Hello](body); err != nil {
		return nil, &MismatchError{What: "the answer of node " + o.Node + " is of another build of rdmaprep: install the same one on both hosts"}
	}
	if err := fits(o.Hello, r.theirs); err != nil {
		return nil, err
	}
	r.theirs = r.theirs.filled()
	r.most = min(o.Hello.Datagram, r.theirs.Datagram)
	return r, nil
}

// Theirs is what the other side told of itself.
func (r *Remote) Theirs() Hello { return r.theirs }

// exchange sends a request until its answer is there or total has passed.
func (r *Remote) exchange(request []byte, seq uint32, total time.Duration) ([]byte, error) {
	clock, again := r.o.Clock, r.o.Timing.Again
	start := clock.Now()
	lost := &LostError{Node: r.o.Node, Peer: r.o.Peer, Hand: seq == 0}
	stray := 0
	for {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		lost.Err = r.o.Conn.Send(request)
		lost.Sent++
		for until := clock.Now() + again; ; stray++ {
			left := until - clock.Now()
			if left <= 0 || stray > maxStray {
				break
			}
			b, err := r.o.Conn.Recv(r.ctx, left)
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			if body, done, err := r.read(b, seq); done {
				return body, err
			}
		}
		if lost.Took = clock.Now() - start; lost.Took >= total || stray > maxStray {
			return nil, lost
		}
		again = min(2*again, r.o.Timing.Most)
	}
}

// read looks at a datagram that came while an answer is waited for.
func (r *Remote) read(b []byte, seq uint32) (body []byte, done bool, err error) {
	m, ok := open(b)
	if !ok {
		return nil, false, nil
	}
	if m.kind == kindHello && seq == 0 && m.session != r.o.Session {
		return nil, true, r.both(m)
	}
	if m.session != r.o.Session {
		return nil, false, nil
	}
	switch {
	case m.kind == kindBye:
		return nil, true, &EndedError{Node: r.o.Node, Peer: r.o.Peer, Why: line(string(m.body), maxText)}
	case m.kind == kindRefuse && seq == 0:
		return nil, true, &MismatchError{What: refusal(m.body)}
	case m.kind == kindReply && m.version == Version && m.seq == seq:
		return m.body, true, nil
	}
	return nil, false, nil
}

// refusal is the reason in the other side's words.
func refusal(body []byte) string {
	return strings.TrimPrefix(line(string(body), maxText), (&MismatchError{}).Error())
}

// both is a hello from the other side: both drive. It is refused, so that the
// other side learns of it too.
func (r *Remote) both(m message) error {
	err := otherVersion(m.version)
	if h, bad := unpack[Hello](m.body); bad == nil && m.version == Version {
		if err = fits(h, r.o.Hello); err == nil {
			err = &MismatchError{What: "both sides drive the script: give one of them the script's second node as --role"}
		}
	}
	_ = r.o.Conn.Send(seal(kindRefuse, m.session, m.seq, []byte(line(err.Error(), maxText)))) // it asks again if this is lost
	return err
}

// request makes one call. A failure to reach the peer is final.
func (r *Remote) request(o op, name string, args []byte) ([]byte, error) {
	if r.dead != nil {
		return nil, r.dead
	}
	if n := headBytes + 1 + len(args) + tailBytes; n > r.most {
		return nil, &TooLargeError{Op: name, Bytes: n, Most: r.most}
	}
	if r.seq == math.MaxUint32 {
		return nil, &TooLargeError{Op: "a run of so many calls", Bytes: math.MaxUint32, Most: math.MaxUint32}
	}
	r.seq++
	body, err := r.exchange(seal(kindCall, r.o.Session, r.seq, append([]byte{byte(o)}, args...)), r.seq, r.o.Timing.Answer)
	if err != nil {
		r.dead = err
	}
	return body, err
}

// ask makes a call with typed arguments and result.
func ask[R, A any](r *Remote, o op, name string, a A) (R, error) {
	var zero R
	body, err := r.request(o, name, pack(nil, a))
	if err != nil {
		return zero, err
	}
	got, err := unpack[answer[R]](body)
	if err != nil {
		r.dead = &CallError{Node: r.o.Node, Text: "its answer to " + name + " cannot be read: install the same rdmaprep on both hosts"}
		return zero, r.dead
	}
	return got.Result, got.Failure.err(r.o.Node)
}

// tell is ask for a call without a result.
func tell[A any](r *Remote, o op, name string, a A) error {
	_, err := ask[none](r, o, name, a)
	return err
}

// Say shows the other side a line of the transcript.
func (r *Remote) Say(l Line) error {
	room := r.most - 512
	return tell(r, opSay, "a line of the transcript", Line{line(l.Node, 64), line(l.Text, room)})
}

// Inject hands the other side a fault line; Theirs().Faults says whether it takes them.
func (r *Remote) Inject(f verbs.Fault) error { return tell(r, opInject, "a fault line", f) }

// End tells the other side what the run came to, and waits at most for most. ctx
// is another one than Dial's, which may have ended.
func (r *Remote) End(ctx context.Context, v Verdict, most time.Duration) error {
	r.ctx, r.o.Timing.Answer = ctx, min(r.o.Timing.Answer, most)
	text := line(v.Text, r.most-512)
	if r.dead == nil {
		err := tell(r, opEnd, "the end of the run", Verdict{v.Passed, text})
		if err == nil {
			_ = r.bye("") // it lets the other side end at once, and may be lost
		}
		return err
	}
	var lost *LostError
	var ended *EndedError
	if errors.As(r.dead, &lost) || errors.As(r.dead, &ended) {
		return r.dead
	}
	// A call was interrupted, and nobody knows whether it was carried out: what
	// has no number in the sequence ends the run.
	return r.bye(text)
}

// bye tells the other side that this one is gone.
func (r *Remote) bye(why string) (err error) {
	for range byes {
		err = r.o.Conn.Send(seal(kindBye, r.o.Session, 0, []byte(line(why, maxText))))
	}
	return err
}
