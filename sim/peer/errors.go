package peer

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"rdmaprep/sim/verbs"
)

// LostError is a peer that does not answer.
type LostError struct {
	Node string // the peer's node
	Peer string // its address
	Hand bool   // it never answered: not even the hello
	Took time.Duration
	Sent int   // datagrams
	Err  error // the last failure to send, nil if each was sent
}

func (e *LostError) Error() string {
	s := fmt.Sprintf("node %s at %s has not answered for %s (%d datagrams)", e.Node, e.Peer, e.Took.Round(time.Second/10), e.Sent)
	if e.Err != nil {
		s += fmt.Sprintf(", and sending failed (%v)", e.Err)
	}
	if e.Hand {
		return s + fmt.Sprintf(": start the same script there with --role %s and this host's address as --peer, "+
			"and let UDP through between the two in both directions", e.Node)
	}
	return s + ": see on that host whether its program still runs and whether the network is up, then start both sides again"
}

func (e *LostError) Unwrap() error { return e.Err }

// SilentError is a serving side that nobody asks for anything.
type SilentError struct {
	Node    string // the driving node
	Peer    string
	Started bool // a hello had come
	Took    time.Duration
}

func (e *SilentError) Error() string {
	if e.Started {
		return fmt.Sprintf("nothing came from node %s at %s for %s: see on that host whether its program still runs, then start both sides again",
			e.Node, e.Peer, e.Took.Round(time.Second/10))
	}
	return fmt.Sprintf("nothing came from node %s at %s in %s: start the same script there with --role %s and this host's address as --peer, "+
		"and let UDP through between the two in both directions", e.Node, e.Peer, e.Took.Round(time.Second/10), e.Node)
}

// EndedError is a run that the other side ended.
type EndedError struct {
	Node string
	Peer string
	Why  string
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("node %s at %s ended the run: %s", e.Node, e.Peer, e.Why)
}

// MismatchError is two sides that were not started for the same run. Both
// sides get one.
type MismatchError struct {
	What string // what differs and the fix
}

func (e *MismatchError) Error() string { return "the two sides do not fit: " + e.What }

// CallError is a call that failed on the other side with something else than
// a refusal of libibverbs.
type CallError struct {
	Node string
	Text string
}

func (e *CallError) Error() string { return fmt.Sprintf("node %s: %s", e.Node, e.Text) }

// TooLargeError is a call that does not fit into a datagram.
type TooLargeError struct {
	Op          string
	Bytes, Most int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s takes %d bytes, and a datagram to the other host at most %d: ask for less at a time", e.Op, e.Bytes, e.Most)
}

// maxWhy bounds the texts of an error that travels.
const maxWhy = 600

// UntoldError is a run whose result the other side may not know.
type UntoldError struct{ Err error }

func (e *UntoldError) Error() string {
	return "the other side was not told the result: " + e.Err.Error()
}

func (e *UntoldError) Unwrap() error { return e.Err }

// failure is an error on its way.
type failure struct {
	Failed  bool
	Refused bool // a *verbs.Error: Op, Errno and Why count
	Op      string
	Errno   uint32
	Why     string
	Text    string // Error() of what is not a bare *verbs.Error
}

func failureOf(err error) failure {
	if err == nil {
		return failure{}
	}
	f := failure{Failed: true}
	var refused *verbs.Error
	if errors.As(err, &refused) {
		f.Refused, f.Op, f.Errno, f.Why = true, line(refused.Op, 64), uint32(refused.Errno), line(refused.Why, maxWhy)
		if err.Error() == refused.Error() {
			return f
		}
	}
	f.Text = line(err.Error(), maxWhy)
	return f
}

// wrapped is a refusal that the other side had put into more words.
type wrapped struct {
	text string
	err  error
}

func (w *wrapped) Error() string { return w.text }
func (w *wrapped) Unwrap() error { return w.err }

func (f failure) err(node string) error {
	if !f.Failed {
		return nil
	}
	if !f.Refused {
		return &CallError{Node: node, Text: line(f.Text, maxWhy)}
	}
	e := &verbs.Error{Op: line(f.Op, 64), Errno: syscall.Errno(f.Errno), Why: line(f.Why, maxWhy)}
	if f.Text != "" {
		return &wrapped{line(f.Text, maxWhy), e}
	}
	return e
}
