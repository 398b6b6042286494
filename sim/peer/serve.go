package peer

import (
	"context"
	"errors"
	"time"
)

// Serve lets s answer what comes over conn until the run is over, and returns
// the driving side's verdict. peer is the other side's address and node its
// node, for messages. The error is a *MismatchError, a *SilentError, a Conn that
// broke, or the end of ctx, which the other side is told.
func Serve(ctx context.Context, conn Conn, clock Clock, s *Server, t Timing, peer, node string) (Verdict, error) {
	t = t.filled()
	const announce = time.Second
	began := clock.Now()
	heard, announced := began, began-announce
	for {
		now := clock.Now()
		_, started := s.Started()
		if !started && now-announced >= announce {
			_ = conn.Send(s.Announce()) // the next one may arrive
			announced = now
		}
		b, err := conn.Recv(ctx, announce)
		if err != nil {
			if ctx.Err() != nil {
				interrupted(ctx, conn, clock, s, t)
				return Verdict{}, ctx.Err()
			}
			return Verdict{}, err
		}
		if b != nil {
			if reply := s.Handle(b); reply != nil {
				heard = clock.Now()
				_ = conn.Send(reply) // the other side asks again
			}
		}
		if v, over, err := s.Over(); over {
			linger(ctx, conn, clock, s, t)
			return v, err
		}
		limit := t.Start
		if started {
			limit = t.Idle
		}
		if took := clock.Now() - heard; took >= limit {
			return Verdict{}, &SilentError{Node: node, Peer: peer, Started: started, Took: took}
		}
	}
}

// interrupted tells the other side that this one ends.
func interrupted(ctx context.Context, conn Conn, clock Clock, s *Server, t Timing) {
	bye := s.Stop("it was interrupted")
	if bye == nil {
		return
	}
	for range byes {
		_ = conn.Send(bye)
	}
	linger(ctx, conn, clock, s, t)
}

// linger answers repetitions until none has come for a while.
func linger(ctx context.Context, conn Conn, clock Clock, s *Server, t Timing) {
	ctx = context.WithoutCancel(ctx)
	began := clock.Now()
	for heard := began; !s.left && clock.Now()-heard < t.Linger && clock.Now()-began < t.Answer; {
		b, err := conn.Recv(ctx, t.Linger-(clock.Now()-heard))
		if err != nil || b == nil {
			return
		}
		if reply := s.Handle(b); reply != nil {
			heard = clock.Now()
			_ = conn.Send(reply)
		}
	}
}

// Ended says whether err is the other side's end of the run, and its reason.
func Ended(err error) (why string, ok bool) {
	var e *EndedError
	if errors.As(err, &e) {
		return e.Why, true
	}
	return "", false
}
