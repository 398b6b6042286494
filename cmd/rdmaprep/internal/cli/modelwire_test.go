package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/frames"
	"rdmaprep/sim/model"
	"rdmaprep/sim/peer"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// across are the scripts that the tests of a wire run between two nodes that
// know of each other by Ethernet frames alone. What must come out is IBTA vol. 1:
// 9.7.5.1.3 for the NAK of a gap, 9.7.5.2.8 for RNR, 9.9 for the retries.
var across = map[string]struct {
	source string
	trace  []string // what the trace must show, in this order
}{
	"a packet is dropped": {`script 1
pair rc mtu=1024 mr=8192 timeout=17
a: store mr1 fill=0x5a:5000
fault drop a->b RDMA_WRITE_MIDDLE count=1
a: post_send qp1 wr_id=1 opcode=RDMA_WRITE sge=mr1[0:5000] remote=b.mr1[0:5000] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=SUCCESS
expect b.mr1[0:5000] fill=0x5a
`, []string{"a->b  WRITE_MIDDLE psn=257 len=1024  (not taken: a fault line drops it)", "b->a  NAK PSN sequence (0x60) psn=257", "a->b  WRITE_MIDDLE psn=257", "b->a  ACK psn=260"}},
	"a packet of the model is dropped": {`script 1
pair rc mtu=1024 mr=8192 timeout=17
b: store mr1 fill=0x5b:5000
fault drop b->a RDMA_WRITE_MIDDLE count=1
b: post_send qp1 wr_id=1 opcode=RDMA_WRITE sge=mr1[0:5000] remote=a.mr1[0:5000] send_flags=SIGNALED
expect b.cq1 wr_id=1 status=SUCCESS
expect a.mr1[0:5000] fill=0x5b
`, []string{"b->a  WRITE_MIDDLE psn=257 len=1024  (not taken: a fault line drops it)", "a->b  NAK PSN sequence (0x60) psn=257", "b->a  WRITE_MIDDLE psn=257", "a->b  ACK psn=260"}},
	"a message is repeated": {`script 1
pair rc timeout=17
fault duplicate a->b SEND_ONLY count=1
b: post_recv qp1 wr_id=11 sge=mr1[0:100]
b: post_recv qp1 wr_id=12 sge=mr1[100:200]
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=SUCCESS
expect b.cq1 wr_id=11 status=SUCCESS byte_len=64
expect b.cq1 none
`, []string{"a->b  SEND_ONLY psn=256", "the network delivers a second copy", "arrived: SEND_ONLY psn=256", "arrived: SEND_ONLY psn=256"}},
	// The acknowledgement comes after the timeout of 8.6 ms (4.096 us * 2^11).
	"an acknowledgement is late": {`script 1
pair rc timeout=11
fault delay b->a ack by=300ms count=1
a: post_send qp1 wr_id=1 opcode=RDMA_WRITE sge=mr1[0:64] remote=b.mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=SUCCESS
`, []string{"a->b  WRITE_ONLY psn=256", "delayed by 300ms", "a->b  WRITE_ONLY psn=256"}},
	"a packet is damaged": {`script 1
pair rc timeout=17
b: store mr1 fill=0x5c:64
fault corrupt b->a RDMA_READ_RESPONSE_ONLY count=1
a: post_send qp1 wr_id=1 opcode=RDMA_READ sge=mr1[0:64] remote=b.mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=SUCCESS
expect a.mr1[0:64] fill=0x5c
`, []string{"a bit is flipped on the way", "a->b  READ_REQUEST psn=256", "b->a  READ_RESP_ONLY psn=256"}},
	"nobody receives": {`script 1
pair rc timeout=17 rnr_retry=1 min_rnr_timer=12
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=RNR_RETRY_EXC_ERR
`, []string{"b->a  RNR NAK timer=12", "a->b  SEND_ONLY psn=256", "b->a  RNR NAK timer=12"}},
	"no answer arrives": {`script 1
pair rc timeout=12 retry_cnt=2
fault drop b->a any count=0
a: post_send qp1 wr_id=1 opcode=RDMA_WRITE sge=mr1[0:64] remote=b.mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=RETRY_EXC_ERR
expect a.qp1 state=ERR
`, []string{"a->b  WRITE_ONLY psn=256", "(not taken: a fault line drops it)", "a->b  WRITE_ONLY psn=256", "a->b  WRITE_ONLY psn=256", "(not taken: a fault line drops it)"}},
	"a link goes down": {`script 1
pair rc timeout=12 retry_cnt=2
fault link_down b
a: post_send qp1 wr_id=1 opcode=RDMA_WRITE sge=mr1[0:64] remote=b.mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=RETRY_EXC_ERR
ignore b.event
`, []string{"link down", "(not taken: the link is down)", "(not taken: the link is down)"}},
}

// inOrder says what of want is not in text after what is before it.
func inOrder(text string, want []string) string {
	for _, w := range want {
		_, rest, ok := strings.Cut(text, w)
		if !ok {
			return w
		}
		text = rest
	}
	return ""
}

// hidden is a Bench that keeps its faults to itself.
type hidden struct{ verbs.Bench }

// GIDIndex is the model's.
func (h hidden) GIDIndex(node string) int { return peer.GIDIndex(h.Bench, node) }

// ends are two models on one cable.
func ends(t *testing.T, udp uint16) (a, b *wireConn) {
	t.Helper()
	x, y := net.Pipe()
	at := func(i byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 77, 0, i}) }
	end := func(conn net.Conn, i byte, node, remote string) *wireConn {
		c := &wireConn{udp: udp, to: netip.AddrPortFrom(at(3-i), udp)}
		w := &onWire{clock: wireClock(), addr: at(i)}
		w.carrier = frames.OnSocket("cable", conn, w.clock)
		var err error
		w.bench, err = model.Open(t.Context(), model.Options{Trace: true, Nodes: []string{remote, node}, Port: &model.Port{
			Node: node, Remote: remote, MAC: wire.MAC{2, 0, 0, 0, 0, i}, Addr: w.addr, Wire: w, Datagram: c.came, UDPPort: udp,
		}})
		if err != nil {
			t.Fatal(err)
		}
		c.wire = w
		t.Cleanup(func() { _ = w.Close() })
		return c
	}
	return end(x, 1, "a", "b"), end(y, 2, "b", "a")
}

// TestFaultsOverTheDatagrams: the driving side has no faults, and the fault lines
// reach the other one, by datagrams through the frames that they spoil.
func TestFaultsOverTheDatagrams(t *testing.T) {
	for name, c := range across {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t)
			sc, err := script.Parse("x", []byte(c.source))
			if err != nil {
				t.Fatal(err)
			}
			a, b := ends(t, peerPort)
			hello := func(node string) peer.Hello {
				return peer.Hello{Role: node, Digest: sha256.Sum256([]byte(c.source)), Profile: "spec", GIDIndex: 1, Wire: true}
			}
			served := make(chan error, 1)
			go func() {
				b.wire.mu.Lock()
				defer b.wire.mu.Unlock()
				s := peer.NewServer(b.wire.bench.Node("b"), hello("b"), nil)
				s.Faults(b.wire.bench)
				v, err := peer.Serve(ctx, b, wireTime{b.wire}, s, peer.Timing{}, "the test", "a")
				if err == nil && !v.Passed {
					err = fmt.Errorf("%s", v.Text)
				}
				served <- err
			}()
			a.wire.mu.Lock()
			defer a.wire.mu.Unlock()
			remote, err := peer.Dial(ctx, peer.Options{Conn: a, Clock: wireTime{a.wire}, Peer: "the test", Node: "b", Hello: hello("a"), Session: 7})
			if err != nil {
				t.Fatal(err)
			}
			two, err := peer.NewBench(hidden{a.wire.bench}, "a", remote, wireTime{a.wire}, sc.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			failing, ok := two.Failing()
			if !ok {
				t.Fatal("neither side has faults")
			}
			_, res, err := script.RunAll(ctx, failing, sc)
			if err != nil {
				t.Fatal(err)
			}
			if res.Failed != nil {
				t.Errorf("%s: %s", res.Failed.Text, res.Failed.Got)
			}
			if err := failing.Inject(verbs.Fault{Kind: verbs.FaultLinkDown, Node: "a"}); err == nil || !strings.Contains(err.Error(), "node a is a real device") {
				t.Errorf("a fault of the node that has none: %v", err)
			}
			two.Verdict(peer.Verdict{Passed: true})
			if err := two.Close(); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			var trace bytes.Buffer
			printTrace(&trace, b.wire.Trace())
			if missing := inOrder(trace.String(), c.trace); missing != "" {
				t.Errorf("the trace has no %q in its place:\n%s", missing, trace.String())
			}
		})
	}
}

// cable joins two ports of this host on which programs listen, as qemu would be
// at the other end of each. What one sends the other gets, byte by byte.
func cable(t *testing.T, ctx context.Context, ports ...int) {
	t.Helper()
	var conns []net.Conn
	for _, p := range ports {
		for {
			c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", p))
			if err == nil {
				conns = append(conns, c)
				break
			}
			if ctx.Err() != nil {
				t.Error(err)
				return
			}
			pause(ctx, time.Millisecond)
		}
	}
	for i, c := range conns {
		go func() {
			_, _ = io.Copy(conns[1-i], c)
			_ = c.Close()
		}()
	}
}

// TestTwoModelsOnAWire: two programs, each with one node of the model and
// --wire, are two hosts to each other. One drives over the datagrams.
func TestTwoModelsOnAWire(t *testing.T) {
	ctx := bounded(t)
	var at [2]int
	for i := range at {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		at[i] = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	c := across["a packet is dropped"]
	file := written(t, c.source+"expect wire[b->a:nak] packets=1\n")
	pcap := filepath.Join(t.TempDir(), "b.pcap")
	host := func(role string, port int, own, other string, more ...string) <-chan terminal {
		done := make(chan terminal, 1)
		var out, errs bytes.Buffer
		a := &app{host: Host{In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, Entropy: rand.Reader}}
		root := a.root()
		root.SetArgs(append([]string{"run", "--role", role, "--wire", fmt.Sprintf("tcp:%d", port), "--addr", own, "--peer", other, file}, more...))
		go func() {
			failed := root.ExecuteContext(ctx)
			done <- terminal{out.String(), errs.String(), failed}
		}()
		return done
	}
	doneA := host("a", at[0], "10.77.0.1", "10.77.0.2", "--trace")
	doneB := host("b", at[1], "10.77.0.2", "10.77.0.1", "--trace", "--pcap", pcap)
	cable(t, ctx, at[0], at[1])
	a, b := <-doneA, <-doneB
	for name, x := range map[string]terminal{"a": a, "b": b} {
		if x.failed != nil || !strings.Contains(x.err, "every line of "+file+" holds") {
			t.Fatalf("%s ended with %v\n%s%s", name, x.failed, x.out, x.err)
		}
	}
	if missing := inOrder(a.out, []string{"seen at the model's end", "a->b  WRITE_MIDDLE psn=257 len=1024  (not taken: a fault line drops it)", "b->a  NAK PSN sequence (0x60)"}); missing != "" {
		t.Errorf("a's trace has no %q:\n%s", missing, a.out)
	}
	if strings.Contains(b.out, "not taken") || inOrder(b.out, []string{"a->b  WRITE_FIRST", "a->b  WRITE_MIDDLE psn=258", "b->a  NAK PSN sequence (0x60)"}) != "" {
		t.Errorf("b saw\n%s", b.out)
	}
	f, err := os.Open(pcap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	frames, err := wire.ReadPCAP(f)
	if err != nil || len(frames) < 8 { // four packets, a NAK, three again and their ACK
		t.Errorf("the capture has %d frames, %v", len(frames), err)
	}
}

// TestFaultsOfNobody: two hosts whose nodes are devices refuse a script with
// faults or counts of packets, on both sides.
func TestFaultsOfNobody(t *testing.T) {
	for line, want := range map[string]string{
		"fault drop a->b any count=1\n": "both nodes are real devices",
		"expect wire[a->b] packets=0\n": "counts packets",
	} {
		ctx := bounded(t)
		file := written(t, apart+line)
		pa, pb := ports(t)
		start := func(role, listen, to string) <-chan terminal {
			done := make(chan terminal, 1)
			var out, errs bytes.Buffer
			a := &app{host: Host{In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, Entropy: rand.Reader}}
			a.local = func(ctx context.Context, node string) (verbs.Bench, error) {
				b, err := model.Open(ctx, model.Options{})
				return hidden{b}, err
			}
			root := a.root()
			root.SetArgs([]string{"run", "--role", role, "--listen", listen, "--peer", to, file})
			go func() {
				failed := root.ExecuteContext(ctx)
				done <- terminal{out.String(), errs.String(), failed}
			}()
			return done
		}
		doneB := start("b", pb, pa)
		a, b := <-start("a", pa, pb), <-doneB
		if a.failed == nil || !strings.Contains(a.failed.Error(), want) || b.failed == nil || !strings.Contains(b.err, want) {
			t.Errorf("%s: a ended with %v, b with %v and\n%s", line, a.failed, b.failed, b.err)
		}
	}
}

// TestWireFlags: a command line that cannot be carried out names the fix.
func TestWireFlags(t *testing.T) {
	file := written(t, apart)
	clock := written(t, "script 1\na: alloc_pd pd1\nadvance 1s\n")
	seeded := written(t, "script 1\nseed 3\na: alloc_pd pd1\n")
	for _, c := range []struct{ args, want string }{
		{"--wire tap0 " + file, "--wire needs somebody at its other end"},
		{"--wire= " + file, "--wire wants the name of a TAP interface"},
		{"--addr 10.77.0.2 " + file, "give that too"},
		{"--device rxe0 --wire tcp:5 " + file, "leads to a guest, and --device is of this machine"},
		{"--device rxe0 --wire tap0 --seed 1 " + file, "--seed permits reorderings"},
		{"--device rxe0 --wire tap0 --role a --peer 192.0.2.7 " + file, "leave out --device"},
		{"--role a --peer 192.0.2.7 --wire tcp:5 " + file, "give the model's with --addr"},
		{"--role a --peer 192.0.2.7 --wire tcp:99999 " + file, "the port is 1 to 65535"},
		{"--role a --peer 192.0.2.7 --wire tcp:5 --addr 224.0.0.1 " + file, "give an IPv4 address of the wire's network"},
		{"--role a --peer 2001:db8::1 --wire tcp:5 --addr 10.77.0.2 " + file, "--peer is an IPv4 address"},
		{"--role a --peer 192.0.2.7 --wire rdmaprep-no0 " + file, "sudo ip tuntap add rdmaprep-no0 mode tap user $USER"},
		{"--role a --peer 192.0.2.7 --wire lo --addr 10.77.0.2 " + file, "the interface is no TAP"},
		{"--device rxe-no0 --wire tap0 " + clock, "are of a virtual time"},
		{"--device rxe-no0 --wire tap0 " + seeded, "seeded reordering is between two nodes of the model"},
		{"--device rxe-no0 --wire tap0 " + file, "sudo rdmaprep rxe add tap0 --name rxe-no0"},
	} {
		var out bytes.Buffer
		a := &app{host: Host{Out: &out, Err: &out, Now: time.Now, Entropy: rand.Reader}}
		root := a.root()
		root.SetArgs(append([]string{"run"}, strings.Fields(c.args)...))
		if err := root.ExecuteContext(bounded(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("run %s: %v", c.args, err)
		}
	}
}
