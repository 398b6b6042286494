package frames

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// socket is a stream of frames, each behind its length in 4 bytes, big endian:
// the format of qemu's -netdev socket (net/socket.c, net/stream.c).
type socket struct {
	conn net.Conn
	in   *bufio.Reader
}

// OnSocket carries frames over a connection that both sides have opened.
func OnSocket(name string, conn net.Conn, clock Clock) *Carrier {
	return newCarrier(name, &socket{conn, bufio.NewReaderSize(conn, 64<<10)}, clock)
}

func (s *socket) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return nil, ended(err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return nil, fmt.Errorf("a frame of %d bytes, at most %d: the other side does not speak qemu's socket format", n, MaxFrame)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(s.in, frame); err != nil {
		return nil, ended(err)
	}
	return frame, nil
}

// ended says of the end of a connection what it means.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("the other side has ended the wire (%w)", err)
	}
	return err
}

func (s *socket) write(frames [][]byte) error {
	var b []byte
	for _, frame := range frames {
		b = binary.BigEndian.AppendUint32(b, uint32(len(frame)))
		b = append(b, frame...)
	}
	_, err := s.conn.Write(b)
	return err
}

func (s *socket) Close() error { return s.conn.Close() }

// Listen waits at most for wait until a qemu connects to TCP port of this host,
// and carries frames over that connection. ready is called once it listens.
func Listen(ctx context.Context, port uint16, wait time.Duration, clock Clock, ready func()) (*Carrier, error) {
	name := "tcp:" + strconv.Itoa(int(port))
	at := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
	l, err := net.Listen("tcp4", at)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use: give another port", at)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", at, err)
	}
	defer func() { _ = l.Close() }() // one connection is all that is taken
	ready()
	timer, stop := clock.Timer(wait)
	defer stop()
	type accepted struct {
		conn net.Conn
		err  error
	}
	came := make(chan accepted, 1)
	go func() {
		conn, err := l.Accept()
		came <- accepted{conn, err}
	}()
	late := func() { // a connection in the very last moment
		_ = l.Close()
		if a := <-came; a.conn != nil {
			_ = a.conn.Close()
		}
	}
	select {
	case a := <-came:
		if a.err != nil {
			return nil, fmt.Errorf("waiting on %s: %w", at, a.err)
		}
		return OnSocket(name, a.conn, clock), nil
	case <-ctx.Done():
		late()
		return nil, ctx.Err()
	case <-timer:
		late()
		return nil, fmt.Errorf("no guest has come to %s in %s: start one whose network is a socket there, as "+
			"qemu-system-x86_64 -netdev stream,id=n,server=off,addr.type=inet,addr.host=127.0.0.1,addr.port=%d does", at, wait, port)
	}
}
