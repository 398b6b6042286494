package model

import (
	"testing"

	"rdmaprep/sim/verbs"
)

// TestLateRead: a READ followed by an unfenced WRITE of the same bytes may bring
// the old value or the new one (IBTA ordering table, cell READ then WRITE: "F");
// over some seeds both are seen, in program order and with FENCE only the old.
func TestLateRead(t *testing.T) {
	run := func(seed uint64, flags verbs.SendFlags) byte {
		o := defaults()
		o.seed = seed
		b, a, z := pair(t, o)
		check(t, z.dev.Store(z.mr.Addr, []byte{1}))
		check(t, a.dev.Store(a.mr.Addr+100, []byte{2}))
		_, err := a.dev.PostSend(a.qp.QP, []verbs.SendWR{
			{ID: 1, Opcode: verbs.WRRDMARead, Flags: verbs.SendSignaled, SGL: a.sge(0, 1), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
			{ID: 2, Opcode: verbs.WRRDMAWrite, Flags: verbs.SendSignaled | flags, SGL: a.sge(100, 1), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
		})
		check(t, err)
		quiet(t, b)
		if got := a.poll(t); len(got) != 2 || got[0].ID != 1 || got[1].ID != 2 || got[1].Status != verbs.WCSuccess {
			t.Fatalf("seed %d: completions %+v", seed, got)
		}
		var v [1]byte
		check(t, a.dev.Load(a.mr.Addr, v[:]))
		return v[0]
	}
	seen := map[byte]int{}
	for seed := range uint64(64) {
		if v := run(seed, verbs.SendFence); v != 1 {
			t.Errorf("seed %d: the fenced READ brought %d", seed, v)
		}
		v := run(seed, 0)
		if seed == 0 && v != 1 {
			t.Errorf("program order brought %d", v)
		}
		seen[v]++
	}
	if seen[1] == 0 || seen[2] == 0 || len(seen) != 2 {
		t.Errorf("values seen over the seeds: %v, want both 1 and 2", seen)
	}
}
