package model

import (
	"context"
	"net/netip"
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

// TestTwoPorts joins two models by their frame ports, with each fault line in
// turn in each direction: the message arrives whole and completes once.
func TestTwoPorts(t *testing.T) {
	for _, kind := range []verbs.FaultKind{0, verbs.FaultDrop, verbs.FaultDelay, verbs.FaultDuplicate, verbs.FaultReorder, verbs.FaultCorrupt} {
		for _, outgoing := range []bool{false, true} {
			c := &cable{}
			near, a := portBench(t, c, 1, "192.0.2.2")
			far, z := portBench(t, c, 2, "192.0.2.1")
			c.far = far
			o := defaults()
			connect(t, a, &side{gid: a.gid, qp: z.qp}, o)
			connect(t, z, &side{gid: z.gid, qp: a.qp}, o)
			if kind != 0 {
				f := verbs.Fault{Kind: kind, From: "far", To: "near", Match: "any", Count: 1, Delay: time.Millisecond, Behind: 1}
				if outgoing {
					f.From, f.To = f.To, f.From
				}
				check(t, near.Inject(f))
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
			got := a.poll(t)
			if len(got) != 2 || got[0].ID != 1 || got[1].ID != 2 || got[0].Status != verbs.WCSuccess || got[1].Status != verbs.WCSuccess {
				t.Fatalf("fault %d, outgoing %v: %+v", kind, outgoing, got)
			}
			have := make([]byte, 5000)
			check(t, a.dev.Load(a.mr.Addr+8192, have))
			if string(have) != string(want) {
				t.Errorf("fault %d, outgoing %v: the bytes differ", kind, outgoing)
			}
		}
	}
}
