package peer

import (
	"context"
	"time"
)

// Conn carries datagrams to one peer and back. It may lose, repeat, reorder
// and damage them.
type Conn interface {
	// Send sends b, which it does not keep. An error is a datagram that was
	// not sent; another may be.
	Send(b []byte) error
	// Recv waits for a datagram of the peer, at most d: then it is nil, nil.
	// An error is a Conn of no more use, or the end of ctx.
	Recv(ctx context.Context, d time.Duration) ([]byte, error)
}

// Clock is where time comes from.
type Clock interface {
	// Now is the time since some fixed moment.
	Now() time.Duration
	// Sleep returns after d, or when ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// Timing bounds the waits. A zero field is the default.
type Timing struct {
	Start  time.Duration // for the other side to be started: 2 min
	Again  time.Duration // before the first repetition, doubled each time: 50 ms
	Most   time.Duration // between repetitions: 1 s
	Answer time.Duration // for an answer in all: 15 s
	Idle   time.Duration // without a request, for the serving side: 30 s
	Linger time.Duration // answering repetitions after the end, if it is not told that none will come: 2 s
}

func (t Timing) filled() Timing {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&t.Start, 2*time.Minute)
	def(&t.Again, 50*time.Millisecond)
	def(&t.Most, time.Second)
	def(&t.Answer, 15*time.Second)
	def(&t.Idle, 30*time.Second)
	def(&t.Linger, 2*time.Second)
	return t
}
