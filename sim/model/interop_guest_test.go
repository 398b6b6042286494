package model

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// socketWire is a Wire to a guest: each frame is a 4-byte big-endian length and
// its bytes, as qemu's socket network has it.
type socketWire struct {
	conn  net.Conn
	in    chan []byte
	fail  chan error
	start time.Time
	since func(time.Time) time.Duration
}

func (w *socketWire) read() {
	for {
		var head [4]byte
		if _, err := io.ReadFull(w.conn, head[:]); err != nil {
			w.fail <- err
			return
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > wire.MaxFrameBytes {
			w.fail <- errors.New("a frame is too long")
			return
		}
		frame := make([]byte, n)
		if _, err := io.ReadFull(w.conn, frame); err != nil {
			w.fail <- err
			return
		}
		w.in <- frame
	}
}

func (w *socketWire) Exchange(ctx context.Context, out [][]byte, until time.Duration) ([][]byte, time.Duration, error) {
	var b []byte
	for _, frame := range out {
		b = binary.BigEndian.AppendUint32(b, uint32(len(frame)))
		b = append(b, frame...)
	}
	if len(b) > 0 {
		if _, err := w.conn.Write(b); err != nil {
			return nil, 0, err
		}
	}
	var in [][]byte
	left := until - w.since(w.start)
	if left > 0 && len(w.in) == 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case frame := <-w.in:
			in = append(in, frame)
		case err := <-w.fail:
			return nil, 0, err
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		case <-timer.C:
		}
	}
	for len(w.in) > 0 && len(in) < 1024 {
		in = append(in, <-w.in)
	}
	return in, w.since(w.start), nil
}

// guest is a booted guest, and the Bench that is on its wire now.
type guest struct {
	t         *testing.T
	wire      *socketWire
	bench     *Bench
	device    verbs.Device
	domain    verbs.PD
	region    verbs.MRInfo
	linkLocal netip.Addr
	answer    string
	seq       int
	requests  uint64 // that were posted, on either end: each has an ID of its own
	last      *peering

	exceptions int // operations that were done again, see gaveUpEarly
}

// bootGuest boots the guest with its agent, once for all profiles.
func bootGuest(t *testing.T) *guest {
	t.Helper()
	script := os.Getenv("RDMAPREP_RXE_VM")
	if script == "" {
		if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "rxe") {
			t.Fatal("rxe is required (RDMAPREP_REQUIRE): set RDMAPREP_RXE_VM to a script that boots a guest, such as .ci/rxe-vm")
		}
		t.Skip("RDMAPREP_RXE_VM names no script that boots a guest with a Soft-RoCE device")
	}
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent")
	if out, err := exec.Command("gcc", "-O2", "-o", agent, "testdata/interop/agent.c", "-libverbs").CombinedOutput(); err != nil {
		t.Fatalf("gcc (packages gcc and libibverbs-dev): %v\n%s", err, out)
	}
	listener := must(net.Listen("tcp4", "127.0.0.1:0"))
	defer listener.Close()
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	cmd := exec.CommandContext(ctx, script, "-w", port, "-f", agent, "-o", filepath.Join(dir, "out"), "--",
		"ping -c 3 -W 5 "+modelIP+" && ./agent")
	if os.Getenv("RXE_VM_SECONDS") == "" {
		cmd.Env = append(os.Environ(), "RXE_VM_SECONDS=420")
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, 5*time.Second
	check(t, cmd.Start())
	check(t, listener.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)))
	conn, err := listener.Accept()
	if err != nil {
		cancel()
		_ = cmd.Wait()
		t.Fatalf("the guest does not come: %v\n%s", err, said.String())
	}
	w := &socketWire{conn: conn, in: make(chan []byte, 65536), fail: make(chan error, 1), start: time.Now(), since: time.Since}
	go w.read()
	g := &guest{t: t, wire: w, linkLocal: netip.MustParseAddr("fe80::5054:ff:fe00:a")}
	t.Cleanup(func() {
		g.t = t
		if !t.Failed() {
			g.call("quit")
		} else {
			cancel()
		}
		conn.Close()
		err := cmd.Wait()
		cancel()
		if !strings.Contains(said.String(), "3 packets received") || err != nil {
			t.Errorf("the guest: %v\n%s", err, said.String())
		}
	})
	return g
}

// enter puts the node m of a new Bench on the guest's wire, in place of the one before.
func (g *guest) enter(t *testing.T, profile string) {
	t.Helper()
	g.t, g.last, g.exceptions = t, nil, 0
	g.wire.start = time.Now()
	g.bench = must(Open(context.Background(), Options{Profile: profile, Trace: true, Nodes: []string{"k", "m"}, Port: &Port{
		Node: "m", Remote: "k", MAC: wire.MAC{0x52, 0x54, 0, 0, 0, 0x0b}, Addr: netip.MustParseAddr(modelIP), Wire: g.wire,
		UDPPort: 47911, Datagram: func(b []byte) []byte { g.answer = string(b); return nil },
	}}))
	t.Cleanup(g.save)
	g.device = g.bench.Node("m")
	g.domain = must(g.device.AllocPD())
	g.region = must(g.device.RegMR(g.domain, must(g.device.Alloc(bufSize)), bufSize, verbs.AccessLocalWrite|allRemote))
}

// call has the agent do something, and returns its answer without the number.
func (g *guest) call(format string, args ...any) string {
	g.t.Helper()
	g.seq++
	number := fmt.Sprint(g.seq) + " "
	line := number + fmt.Sprintf(format, args...)
	g.answer = ""
	for range 120 {
		check(g.t, g.bench.SendDatagram(netip.MustParseAddrPort(kernelIP+":47911"), []byte(line)))
		g.wait(500*time.Millisecond, func() bool { return strings.HasPrefix(g.answer, number) })
		if answer, ok := strings.CutPrefix(g.answer, number); ok {
			return answer
		}
	}
	g.t.Fatalf("the guest does not answer %q", line)
	return ""
}

func (g *guest) ok(format string, args ...any) {
	g.t.Helper()
	if got := g.call(format, args...); got != "ok" {
		g.t.Fatalf("%s: the guest says %q", fmt.Sprintf(format, args...), got)
	}
}

// save writes what was on the wire to the folder RDMAPREP_INTEROP_OUT.
func (g *guest) save() {
	dir := os.Getenv("RDMAPREP_INTEROP_OUT")
	if dir == "" || os.MkdirAll(dir, 0o755) != nil {
		return
	}
	var frames []wire.TimedFrame
	for _, e := range g.bench.Trace() {
		if e.Frame != nil {
			frames = append(frames, wire.TimedFrame{At: e.At, Frame: e.Frame})
		}
	}
	f := must(os.Create(filepath.Join(dir, strings.ReplaceAll(g.t.Name(), "/", "-")+".pcap")))
	check(g.t, wire.WritePCAP(f, frames))
	check(g.t, f.Close())
}
