package model

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// cable joins the frame ports of two Benches: each Exchange of the near one
// steps the far one to the same time.
type cable struct {
	now time.Duration
	far *Bench
}

func (c *cable) Exchange(ctx context.Context, out [][]byte, until time.Duration) ([][]byte, time.Duration, error) {
	c.now = max(c.now, min(until, c.now+10*time.Microsecond))
	in, _, _, err := c.far.Step(ctx, c.now, out)
	return in, c.now, err
}

func portBench(t *testing.T, wr Wire, last byte, far string) (*Bench, *side) {
	t.Helper()
	b := must(Open(t.Context(), Options{Trace: true, Nodes: []string{"far", "near"}, Port: &Port{
		Node: "near", Remote: "far", MAC: wire.MAC{2, 0, 0, 0, 9, last}, Addr: netip.AddrFrom4([4]byte{192, 0, 2, last}), Wire: wr,
	}}))
	d := b.Node("near")
	s := &side{dev: d, pd: must(d.AllocPD()), cq: must(d.CreateCQ(64, 0)).CQ, gid: netip.MustParseAddr(far).As16()}
	s.mr = must(d.RegMR(s.pd, must(d.Alloc(16384)), 16384, verbs.AccessLocalWrite|verbs.AccessRemoteWrite|verbs.AccessRemoteRead))
	s.qp = must(d.CreateQP(s.pd, verbs.QPInitAttr{
		Type: verbs.RC, SendCQ: s.cq, RecvCQ: s.cq,
		Cap: verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 1, MaxRecvSGE: 1},
	}))
	return b, s
}

// portFault is what a fault line of a kind does to one packet: what the trace
// says, and how many packets more or fewer are delivered than were sent.
type portFault struct {
	kind  verbs.FaultKind
	event verbs.EventKind
	says  string
	more  int
}

var portFaults = []portFault{
	{verbs.FaultDrop, verbs.TraceDrop, "a fault line drops it", -1},
	{verbs.FaultDelay, verbs.TraceFault, "delayed by 1ms", 0},
	{verbs.FaultDuplicate, verbs.TraceFault, "the network delivers a second copy", 1},
	{verbs.FaultReorder, verbs.TraceFault, "held back until 1 later packets have passed", 0},
	{verbs.FaultCorrupt, verbs.TraceFault, "a bit is flipped on the way", -1},
}

// TestTwoPorts joins two models by their frame ports. Each fault line hits each
// packet in turn, in each direction: it fires once, the damage is on the wire and
// is repaired, and the messages arrive whole and complete once.
func TestTwoPorts(t *testing.T) {
	for _, f := range portFaults {
		for _, outgoing := range []bool{false, true} {
			hits := 0
			for overPorts(t, f, outgoing, hits) {
				hits++
			}
			// A WRITE and the answer to a READ are of five packets each.
			if hits < 5 {
				t.Errorf("%q, outgoing %v: only %d packets were hit", f.says, outgoing, hits)
			}
		}
	}
	overPorts(t, portFault{}, false, 0)
}

// overPorts moves bytes there and back with a fault line that lets skip packets
// pass. It tells whether the line hit one.
func overPorts(t *testing.T, f portFault, outgoing bool, skip int) bool {
	t.Helper()
	c := &cable{}
	near, a := portBench(t, c, 1, "192.0.2.2")
	far, z := portBench(t, c, 2, "192.0.2.1")
	c.far = far
	o := defaults()
	connect(t, a, &side{gid: a.gid, qp: z.qp}, o)
	connect(t, z, &side{gid: z.gid, qp: a.qp}, o)
	if f.kind != 0 {
		line := verbs.Fault{Kind: f.kind, From: "far", To: "near", Match: "any", Count: 1, Skip: skip}
		switch f.kind {
		case verbs.FaultDelay:
			line.Delay = time.Millisecond
		case verbs.FaultReorder:
			line.Behind = 1
		}
		if outgoing {
			line.From, line.To = line.To, line.From
		}
		check(t, near.Inject(line))
	}
	want := pattern(5000, 3)
	check(t, a.dev.Store(a.mr.Addr, want))
	must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{
		{ID: 1, Opcode: verbs.WRRDMAWrite, Flags: verbs.SendSignaled, SGL: a.sge(0, 5000), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
		{ID: 2, Opcode: verbs.WRRDMARead, Flags: verbs.SendSignaled, SGL: a.sge(8192, 5000), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
	}))
	if ok, err := near.Wait(t.Context(), 5*time.Second, nil); !ok || err != nil {
		t.Fatalf("not quiet: %v %v", ok, err)
	}
	name := fmt.Sprintf("%q, outgoing %v, packet %d", f.says, outgoing, skip)
	got := a.poll(t)
	if len(got) != 2 || got[0].ID != 1 || got[1].ID != 2 || got[0].Status != verbs.WCSuccess || got[1].Status != verbs.WCSuccess {
		t.Fatalf("%s: %+v", name, got)
	}
	have := make([]byte, 5000)
	check(t, a.dev.Load(a.mr.Addr+8192, have))
	if string(have) != string(want) {
		t.Errorf("%s: the bytes differ", name)
	}
	sender, receiver := far, near
	if outgoing {
		sender, receiver = near, far
	}
	fired := f.kind != 0 && near.faults[0].used == 1
	lost := countEvents(sender, verbs.TracePacket, "") - countEvents(receiver, verbs.TraceDeliver, "")
	switch {
	case !fired && lost != 0:
		t.Errorf("%s: %d packets are lost without a fault", name, lost)
	case !fired:
	case countEvents(near, f.event, f.says) != 1:
		t.Errorf("%s: the trace does not tell of it once", name)
	case lost != -f.more:
		t.Errorf("%s: %d packets fewer arrived than were sent, want %d", name, lost, -f.more)
	case f.kind == verbs.FaultCorrupt && countEvents(receiver, verbs.TraceDrop, "its ICRC does not match") != 1:
		t.Errorf("%s: the ICRC is not found out", name)
	case f.more < 0 && !repaired(near, f):
		t.Errorf("%s: no later packet makes up for the lost one", name)
	}
	return fired
}

// countEvents counts a Bench's trace events; of packets those that its own node sends.
func countEvents(b *Bench, kind verbs.EventKind, says string) (n int) {
	for _, e := range b.Trace() {
		if e.Kind == kind && strings.Contains(e.Why, says) && (kind != verbs.TracePacket || e.Node == "near") {
			n++
		}
	}
	return n
}

// repaired tells whether a packet of the same PSN came after the one that was
// lost; an ACK may be made up for by any later response.
func repaired(b *Bench, f portFault) bool {
	events := b.Trace()
	for _, hit := range events {
		if hit.Kind != f.event || !strings.Contains(hit.Why, f.says) {
			continue
		}
		for _, e := range events[hit.Seq:] {
			if e.Kind == verbs.TracePacket && e.Node == hit.Node &&
				(e.Packet.PSN == hit.Packet.PSN || hit.Packet.Is("ack") && psnDiff(e.Packet.PSN, hit.Packet.PSN) > 0) {
				return true
			}
		}
	}
	return false
}
