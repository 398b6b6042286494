package frames

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MaxFrame is the longest frame in bytes that is carried: a jumbo frame of 9000
// bytes of IP fits.
const MaxFrame = 16 << 10

// maxQueue is how many frames wait to be taken.
const maxQueue = 4096

// Clock is where time comes from. Its Now starts at 0 and never goes back.
type Clock struct {
	Now func() time.Duration
	// Timer makes a channel that is sent to after d, and stop, which gives the
	// timer up.
	Timer func(d time.Duration) (c <-chan time.Time, stop func())
}

// link is a way for frames.
type link interface {
	// read waits for a frame; an error is the end.
	read() ([]byte, error)
	// write sends frames; one that is lost is no error.
	write(frames [][]byte) error
	Close() error
}

// Carrier carries frames over one wire. Exchange is for one goroutine, Wake and
// Close are for any.
type Carrier struct {
	name  string
	link  link
	clock Clock
	in    chan []byte
	woken chan struct{}
	ended chan struct{} // closed when nothing comes any more, because of err
	err   error
	quit  chan struct{}
}

// ErrClosed is a Carrier that was closed.
var ErrClosed = errors.New("the wire was closed")

func newCarrier(name string, l link, clock Clock) *Carrier {
	c := &Carrier{
		name: name, link: l, clock: clock, in: make(chan []byte, maxQueue), woken: make(chan struct{}, 1),
		ended: make(chan struct{}), quit: make(chan struct{}),
	}
	go c.listen()
	return c
}

// Name is the wire's, such as "tap0".
func (c *Carrier) Name() string { return c.name }

// listen takes frames until the link ends.
func (c *Carrier) listen() {
	defer close(c.ended)
	for {
		frame, err := c.link.read()
		if err != nil {
			c.err = fmt.Errorf("%s: %w", c.name, err)
			return
		}
		select {
		case c.in <- frame:
		case <-c.quit:
			c.err = ErrClosed
			return
		}
	}
}

// Wake ends the wait of Exchange, or of the next one.
func (c *Carrier) Wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// Exchange sends frames, waits until frames come in, the clock shows until, or
// Wake, and returns what came and the time. A time that is over does not wait.
func (c *Carrier) Exchange(ctx context.Context, out [][]byte, until time.Duration) (in [][]byte, now time.Duration, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if len(out) > 0 {
		if err := c.link.write(out); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if left := until - c.clock.Now(); left > 0 && len(c.in) == 0 {
		timer, stop := c.clock.Timer(left)
		defer stop()
		select {
		case frame := <-c.in:
			in = append(in, frame)
		case <-c.ended:
			if len(c.in) == 0 {
				return nil, 0, c.err
			}
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		case <-timer:
		case <-c.woken:
		}
	}
	for len(c.in) > 0 && len(in) < maxQueue {
		in = append(in, <-c.in)
	}
	return in, c.clock.Now(), nil
}

// Close gives the wire back.
func (c *Carrier) Close() error {
	select {
	case <-c.quit:
		return nil
	default:
	}
	close(c.quit)
	err := c.link.Close()
	<-c.ended
	return err
}
