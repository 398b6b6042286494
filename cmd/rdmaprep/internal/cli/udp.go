package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rdmaprep/sim/peer"
)

// peerPort is the UDP port of a run on two hosts.
const peerPort = 47911

// udpConn carries the datagrams of a run on two hosts: a peer.Conn. What does
// not come from the peer's address and port is dropped.
type udpConn struct {
	c      *net.UDPConn
	peer   netip.AddrPort
	buf    []byte
	beside netip.AddrPort // the peer's address with another port
}

// hostConn is a peer.Conn that this program has opened.
type hostConn interface {
	peer.Conn
	hint(err error) error
	at() string
	Close() error
}

var _ hostConn = (*udpConn)(nil)

// resolvePeer reads ADDR or ADDR:PORT; a name may stand for the address.
func resolvePeer(ctx context.Context, addr string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = strings.Trim(addr, "[]"), strconv.Itoa(peerPort)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || host == "" {
		return netip.AddrPort{}, usagef("--peer %q: give an address, or an address and a port of 1 to 65535 as in 192.0.2.7:%d", addr, peerPort)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(ip.Unmap(), uint16(n)), nil
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(ips) == 0 {
		return netip.AddrPort{}, fmt.Errorf("--peer %s: no address of that name was found (%w): give the address itself", host, err)
	}
	return netip.AddrPortFrom(ips[0].Unmap(), uint16(n)), nil
}

// listenUDP opens the socket of a run on two hosts.
func listenUDP(listen string, to netip.AddrPort) (*udpConn, error) {
	at, err := net.ResolveUDPAddr("udp", listen)
	if err != nil {
		return nil, usagef("--listen %q: give an address and a port as in :%d", listen, peerPort)
	}
	c, err := net.ListenUDP("udp", at)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("UDP %s is in use, perhaps by another rdmaprep: end that one, or give --listen :PORT here and --peer ADDR:PORT there", listen)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open UDP %s: %w", listen, err)
	}
	return &udpConn{c: c, peer: to, buf: make([]byte, 64<<10)}, nil
}

// Send sends one datagram to the peer.
func (u *udpConn) Send(b []byte) error {
	_, err := u.c.WriteToUDPAddrPort(b, u.peer)
	return err
}

// Close ends it.
func (u *udpConn) Close() error { return u.c.Close() }

// at is this side's address.
func (u *udpConn) at() string { return u.c.LocalAddr().String() }

// Recv waits for a datagram of the peer.
func (u *udpConn) Recv(ctx context.Context, d time.Duration) ([]byte, error) {
	wake := context.AfterFunc(ctx, func() { _ = u.c.SetReadDeadline(time.Unix(1, 0)) })
	defer wake()
	for until := time.Now().Add(d); ; {
		if err := u.c.SetReadDeadline(until); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, from, err := u.c.ReadFromUDPAddrPort(u.buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !time.Now().Before(until) {
				return nil, nil
			}
			continue
		case err != nil:
			return nil, err
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		switch {
		case from == u.peer:
			return append([]byte(nil), u.buf[:n]...), nil
		case from.Addr() == u.peer.Addr():
			u.beside = from
		}
		if !time.Now().Before(until) {
			return nil, nil
		}
	}
}

// hint adds to an error of a peer that was not heard what else was.
func (u *udpConn) hint(err error) error {
	var lost *peer.LostError
	var silent *peer.SilentError
	if u.beside.IsValid() && (errors.As(err, &lost) || errors.As(err, &silent)) {
		return fmt.Errorf("%w\ndatagrams came from %s, which is not the port of --peer: give --peer %s here", err, u.beside, u.beside)
	}
	return err
}

// wallClock is the time since it was made.
type wallClock struct{ start time.Time }

// Now is the time since the clock was made.
func (w wallClock) Now() time.Duration { return time.Since(w.start) }

// Sleep waits.
func (w wallClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
