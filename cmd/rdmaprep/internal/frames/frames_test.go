package frames

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func wall() Clock {
	start := time.Now()
	return Clock{
		Now: func() time.Duration { return time.Since(start) },
		Timer: func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTimer(d)
			return t.C, func() { t.Stop() }
		},
	}
}

const long = time.Hour // longer than any test

// TestSocket: frames come whole, in order and behind their length in four bytes
// of big endian (qemu's net/socket.c), however the stream is cut.
func TestSocket(t *testing.T) {
	ours, theirs := net.Pipe()
	c := OnSocket("cable", ours, wall())
	defer c.Close()
	want := [][]byte{[]byte("one frame"), bytes.Repeat([]byte{7}, 9000), []byte("the last one")}
	var stream []byte
	for _, f := range want {
		stream = binary.BigEndian.AppendUint32(stream, uint32(len(f)))
		stream = append(stream, f...)
	}
	go func() {
		for i := range stream {
			_, _ = theirs.Write(stream[i : i+1])
		}
	}()
	var got [][]byte
	for len(got) < len(want) {
		in, _, err := c.Exchange(t.Context(), nil, long)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, in...)
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("frame %d has %d bytes, want %d", i, len(got[i]), len(want[i]))
		}
	}
	sent := make(chan []byte, 1)
	go func() {
		b := make([]byte, 11)
		n, _ := theirs.Read(b)
		sent <- b[:n]
	}()
	if _, _, err := c.Exchange(t.Context(), [][]byte{[]byte("abc"), []byte("")}, 0); err != nil {
		t.Fatal(err)
	}
	if b := <-sent; string(b) != "\x00\x00\x00\x03abc\x00\x00\x00\x00" {
		t.Errorf("sent %q", b)
	}
}

// TestWaits: a wait ends by its time, by Wake before or during it, by its
// context, and by the end of the wire, which is said to be that.
func TestWaits(t *testing.T) {
	ours, theirs := net.Pipe()
	c := OnSocket("cable", ours, wall())
	defer c.Close()
	if in, now, err := c.Exchange(t.Context(), nil, time.Millisecond); len(in) > 0 || now < time.Millisecond || err != nil {
		t.Errorf("by its time: %v %s %v", in, now, err)
	}
	c.Wake()
	if in, _, err := c.Exchange(t.Context(), nil, long); len(in) > 0 || err != nil {
		t.Errorf("woken before: %v %v", in, err)
	}
	go c.Wake()
	if in, _, err := c.Exchange(t.Context(), nil, long); len(in) > 0 || err != nil {
		t.Errorf("woken: %v %v", in, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go stop()
	if _, _, err := c.Exchange(ctx, nil, long); !errors.Is(err, context.Canceled) {
		t.Errorf("by its context: %v", err)
	}
	theirs.Close()
	if _, _, err := c.Exchange(t.Context(), nil, long); err == nil || !strings.Contains(err.Error(), "cable: the other side has ended the wire") {
		t.Errorf("by the end: %v", err)
	}
}

// TestNotQemu: a stream in another format is refused, not waited for.
func TestNotQemu(t *testing.T) {
	ours, theirs := net.Pipe()
	c := OnSocket("cable", ours, wall())
	defer c.Close()
	go func() { _, _ = theirs.Write([]byte("GET / HTTP/1.1")) }()
	if _, _, err := c.Exchange(t.Context(), nil, long); err == nil || !strings.Contains(err.Error(), "does not speak qemu's socket format") {
		t.Errorf("%v", err)
	}
}

// TestNobodyComes: waiting for a guest ends, with the fix; the port is free again.
func TestNobodyComes(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	if _, err := Listen(t.Context(), port, time.Millisecond, wall(), func() {}); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("a port in use: %v", err)
	}
	l.Close()
	for range 2 {
		if _, err := Listen(t.Context(), port, time.Millisecond, wall(), func() {}); err == nil || !strings.Contains(err.Error(), "no guest has come") {
			t.Errorf("nobody: %v", err)
		}
	}
}
