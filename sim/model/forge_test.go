package model

import (
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// TestForgeable holds the headers by which a forge line is accepted against those
// of sim/wire: a field is refused where no packet of the opcode has it, and what
// is accepted some packet can be forged into.
func TestForgeable(t *testing.T) {
	seen := 0
	for n := range 32 {
		ops := []wire.Opcode{wire.Opcode(n), wire.Opcode(n) | wire.Opcode(wire.UD)}
		if !ops[0].Known() || ops[0].Operation() == "FLUSH" || ops[0].Operation() == "ATOMIC_WRITE" {
			continue
		}
		name := ops[0].Operation()
		seen++
		if code, ok := verbs.OperationCode(name); !ok || int(code) != n {
			t.Errorf("%s has the code %#x %t, want %#x", name, code, ok, n)
		}
		can := func(f verbs.Forgery) bool {
			for _, op := range ops {
				if p := (packet{op: uint8(op)}); op.Known() && p.has(f) {
					return true
				}
			}
			return false
		}
		for _, fieldName := range verbs.HeaderFieldNames() {
			field, ok := verbs.ParseHeaderField(fieldName)
			if !ok || field.String() != fieldName {
				t.Fatalf("%s is %v %t", fieldName, field, ok)
			}
			values := uint64(1)
			if field == verbs.FieldOpcode {
				values = 0x15
			}
			for v := range values {
				f := verbs.Forgery{Field: field, Value: v}
				if err := f.Forgeable(name); (err == nil) != can(f) {
					t.Errorf("%s=%d of %s: the line says %v, a packet %t", fieldName, v, name, err, can(f))
				}
			}
		}
	}
	if seen != 23 {
		t.Errorf("%d opcodes, want 23 (include/rdma/ib_pack.h: RC without FLUSH and ATOMIC_WRITE)", seen)
	}
	for _, f := range []verbs.Forgery{
		{Field: 0},
		{Field: 99},
		{Field: verbs.FieldSyndrome, Value: 256},
		{Field: verbs.FieldAckReq, Value: 2},
		{Field: verbs.FieldOpcode, Value: 0x15},
		{Field: verbs.FieldDestQP, Value: 1 << 24},
	} {
		if err := f.Forgeable("any"); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}

// TestForgeAtPort: a packet is forged on its way out of a frame port and on its
// way in; the trace says so and holds the frame as forged, with a right ICRC.
func TestForgeAtPort(t *testing.T) {
	for _, outgoing := range []bool{false, true} {
		c := &cable{}
		near, a := portBench(t, c, 1, "192.0.2.2")
		far, z := portBench(t, c, 2, "192.0.2.1")
		c.far = far
		o := defaults()
		connect(t, a, &side{gid: a.gid, qp: z.qp}, o)
		connect(t, z, &side{gid: z.gid, qp: a.qp}, o)
		f := verbs.Fault{
			Kind: verbs.FaultForge, From: "far", To: "near", Match: "ack", Count: 1,
			Forge: []verbs.Forgery{{Field: verbs.FieldSyndrome, Value: synNAKAccess}, {Field: verbs.FieldMSN, Value: 77}},
		}
		want := "ACKNOWLEDGE"
		if outgoing {
			f.From, f.To, f.Match = "near", "far", "RDMA_WRITE_ONLY"
			f.Forge = []verbs.Forgery{{Field: verbs.FieldRKey, Value: 0xdead}}
			want = f.Match
		}
		check(t, near.Inject(f))
		must(a.dev.PostSend(a.qp.QP, []verbs.SendWR{{
			ID: 1, Opcode: verbs.WRRDMAWrite, Flags: verbs.SendSignaled, SGL: a.sge(0, 8), RemoteVA: z.mr.Addr, RKey: z.mr.RKey,
		}}))
		if ok, err := near.Wait(t.Context(), 5*time.Second, nil); !ok || err != nil {
			t.Fatalf("not quiet: %v %v", ok, err)
		}
		// Forged on either way, the request ends in a remote access error.
		if got := a.poll(t); len(got) != 1 || got[0].Status != verbs.WCRemAccessErr {
			t.Fatalf("outgoing %t: %+v", outgoing, got)
		}
		events, told := near.Trace(), 0
		for _, e := range events {
			if e.Kind != verbs.TraceFault {
				continue
			}
			told++
			var w wire.Packet
			check(t, wire.Decode(events[e.Cause].Frame, &w))
			if w.BTH.Opcode.Operation() != want || !strings.HasPrefix(e.Why, "forged: ") {
				t.Errorf("outgoing %t: %q of %s", outgoing, e.Why, w.BTH.Opcode)
			}
			if outgoing && (w.RETH.RKey != 0xdead || w.RETH.VA != z.mr.Addr) ||
				!outgoing && (uint8(w.AETH.Syndrome) != synNAKAccess || w.AETH.MSN != 77) {
				t.Errorf("outgoing %t: the frame has %+v %+v", outgoing, w.RETH, w.AETH)
			}
		}
		if told != 1 {
			t.Errorf("outgoing %t: told of %d forged packets", outgoing, told)
		}
	}
}
