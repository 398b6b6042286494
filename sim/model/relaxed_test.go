package model

import (
	"bytes"
	"context"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

const relaxedSeeds = 200

// observe runs a program under a seed and looks at b's memory after every step.
func observe(t *testing.T, seed uint64, access verbs.AccessFlags, length int, wrs func(a, z *side) []verbs.SendWR, look func(mem []byte)) {
	t.Helper()
	o := defaults()
	o.seed, o.access = seed, o.access|access
	b, a, z := pair(t, o)
	check(t, a.dev.Store(a.mr.Addr, bytes.Repeat([]byte{1}, 2048)))
	must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 100, SGL: z.sge(4096, 64)}}))
	must(a.dev.PostSend(a.qp.QP, wrs(a, z)))
	mem := make([]byte, length)
	done, err := b.Wait(context.Background(), time.Second, func() (bool, error) {
		check(t, z.dev.Load(z.mr.Addr, mem))
		look(mem)
		return false, nil
	})
	if done || err != nil {
		t.Fatal(done, err)
	}
	check(t, z.dev.Load(z.mr.Addr, mem))
	look(mem)
}

// TestDataBeforeFlag: two WRITEs of one queue pair, data and then a flag. Who
// polls the flag may see it before the data if the region has RELAXED_ORDERING
// (ibv_reg_mr(3): the order of WRITEs to it is not kept), and never without.
func TestDataBeforeFlag(t *testing.T) {
	const flagAt = 1024
	program := func(a, z *side) []verbs.SendWR {
		return []verbs.SendWR{
			{ID: 1, Opcode: verbs.WRRDMAWrite, SGL: a.sge(0, 512), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
			{ID: 2, Opcode: verbs.WRRDMAWrite, SGL: a.sge(0, 1), RemoteVA: z.mr.Addr + flagAt, RKey: z.mr.RKey},
		}
	}
	early := map[verbs.AccessFlags]int{}
	for _, access := range []verbs.AccessFlags{0, verbs.AccessRelaxedOrdering} {
		for seed := range uint64(relaxedSeeds) {
			seen, last := false, false
			observe(t, seed, access, flagAt+1, program, func(mem []byte) {
				whole := bytes.Equal(mem[:512], bytes.Repeat([]byte{1}, 512))
				seen = seen || mem[flagAt] == 1 && !whole
				last = mem[flagAt] == 1 && whole
			})
			if !last {
				t.Fatalf("seed %d: data and flag never arrived", seed)
			}
			if seen {
				if seed == 0 {
					t.Error("seed 0 is program order, and the flag came first")
				}
				early[access]++
			}
		}
	}
	if early[0] != 0 {
		t.Errorf("without RELAXED_ORDERING the flag came first under %d seeds", early[0])
	}
	if early[verbs.AccessRelaxedOrdering] == 0 {
		t.Errorf("with RELAXED_ORDERING the flag never came first in %d seeds", relaxedSeeds)
	}
	t.Logf("flag before data: %d of %d seeds", early[verbs.AccessRelaxedOrdering], relaxedSeeds)
}

// TestTornMessage: within one WRITE the last byte may be there before the first
// in a region with RELAXED_ORDERING; a program that polls the last byte of a
// message relies on what is not promised. At the completion of a SEND after it
// all is there, whatever the region (ibv_reg_mr(3)).
func TestTornMessage(t *testing.T) {
	program := func(a, z *side) []verbs.SendWR {
		return []verbs.SendWR{
			{ID: 1, Opcode: verbs.WRRDMAWrite, SGL: a.sge(0, 512), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
			{ID: 2, Opcode: verbs.WRSend, SGL: a.sge(0, 8)},
		}
	}
	torn := 0
	for seed := range uint64(relaxedSeeds) {
		seen := false
		o := defaults()
		o.seed, o.access = seed, o.access|verbs.AccessRelaxedOrdering
		b, a, z := pair(t, o)
		check(t, a.dev.Store(a.mr.Addr, bytes.Repeat([]byte{1}, 512)))
		must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 100, SGL: z.sge(4096, 64)}}))
		must(a.dev.PostSend(a.qp.QP, program(a, z)))
		mem, wc := make([]byte, 512), make([]verbs.WC, 1)
		ok, err := b.Wait(context.Background(), time.Second, func() (bool, error) {
			n, err := z.dev.PollCQ(z.cq, wc)
			check(t, z.dev.Load(z.mr.Addr, mem))
			seen = seen || n == 0 && mem[511] == 1 && mem[0] == 0
			return n == 1, err
		})
		if !ok || err != nil || wc[0].Status != verbs.WCSuccess {
			t.Fatalf("seed %d: %v %v %+v", seed, ok, err, wc)
		}
		if !bytes.Equal(mem, bytes.Repeat([]byte{1}, 512)) {
			t.Errorf("seed %d: the SEND after it completed and the WRITE is not all there", seed)
		}
		if seen {
			torn++
		}
	}
	if torn == 0 {
		t.Errorf("in %d seeds no message was seen last byte first", relaxedSeeds)
	}
	t.Logf("last byte first: %d of %d seeds", torn, relaxedSeeds)
}

// TestReadAfterRelaxedWrite: the device's own read comes after the WRITEs before
// it, also in a region with RELAXED_ORDERING (ibv_reg_mr(3): reads and atomics
// keep their place).
func TestReadAfterRelaxedWrite(t *testing.T) {
	for seed := range uint64(relaxedSeeds) {
		o := defaults()
		o.seed, o.access = seed, o.access|verbs.AccessRelaxedOrdering
		b, a, z := pair(t, o)
		check(t, a.dev.Store(a.mr.Addr, bytes.Repeat([]byte{1}, 256)))
		must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{
			{ID: 1, Opcode: verbs.WRRDMAWrite, SGL: a.sge(0, 256), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
			{ID: 2, Opcode: verbs.WRRDMARead, Flags: verbs.SendSignaled, SGL: a.sge(4096, 256), RemoteVA: z.mr.Addr, RKey: z.mr.RKey},
		}))
		wc := make([]verbs.WC, 1)
		ok, err := b.Wait(context.Background(), time.Second, func() (bool, error) {
			n, err := a.dev.PollCQ(a.cq, wc)
			return n == 1, err
		})
		mem := make([]byte, 256)
		check(t, a.dev.Load(a.mr.Addr+4096, mem))
		if !ok || err != nil || !bytes.Equal(mem, bytes.Repeat([]byte{1}, 256)) {
			t.Fatalf("seed %d: the READ brought %x", seed, mem[:8])
		}
	}
}

// TestNoOrderBetweenQueuePairs: a WRITE on one queue pair and, right after it, a
// WRITE on another of the same two nodes: the second may be seen first (no order
// between queue pairs, IBTA 10.8.3.3 speaks of one send queue); on one queue pair
// never.
func TestNoOrderBetweenQueuePairs(t *testing.T) {
	first := func(seed uint64, two bool) (secondFirst bool) {
		o := defaults()
		o.seed = seed
		b, a, z := pair(t, o)
		second, _ := another(t, a, z, o)
		if !two {
			second = a
		}
		check(t, a.dev.Store(a.mr.Addr, []byte{1}))
		must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{ID: 1, Opcode: verbs.WRRDMAWrite, SGL: a.sge(0, 1), RemoteVA: z.mr.Addr, RKey: z.mr.RKey}}))
		must(a.dev.PostSend(second.qp.QP, []verbs.SendWR{{ID: 2, Opcode: verbs.WRRDMAWrite, SGL: a.sge(0, 1), RemoteVA: z.mr.Addr + 64, RKey: z.mr.RKey}}))
		mem := make([]byte, 65)
		_, err := b.Wait(context.Background(), time.Second, func() (bool, error) {
			check(t, z.dev.Load(z.mr.Addr, mem))
			secondFirst = secondFirst || mem[64] == 1 && mem[0] == 0
			return false, nil
		})
		check(t, err)
		if mem[0] != 1 || mem[64] != 1 {
			t.Fatalf("seed %d: the WRITEs did not arrive", seed)
		}
		return secondFirst
	}
	crossed := 0
	for seed := range uint64(relaxedSeeds) {
		if first(seed, false) {
			t.Errorf("seed %d: one queue pair's WRITEs were seen in the wrong order", seed)
		}
		if first(seed, true) {
			if seed == 0 {
				t.Error("seed 0 is the order of the wire, and the second came first")
			}
			crossed++
		}
	}
	if crossed == 0 {
		t.Errorf("in %d seeds the second queue pair's WRITE never came first", relaxedSeeds)
	}
	t.Logf("second queue pair first: %d of %d seeds", crossed, relaxedSeeds)
}
