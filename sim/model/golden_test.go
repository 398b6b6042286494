package model

import (
	"testing"

	"rdmaprep/sim/verbs"
)

// What testdata/golden.txt cannot say: the numbers of the same live run of
// rdma_rxe of Linux 6.1.192 that no line of a script can read.

// TestGoldenDevice compares the limits of profile rxe-6.1 with what
// ibv_query_device printed live (max_qp=… to ackdelay=15). Not modelled of that
// line: device_cap_flags, max_mr_size, vendor_id, fw_ver.
func TestGoldenDevice(t *testing.T) {
	o := defaults()
	o.profile = "rxe-6.1"
	b, a, _ := pair(t, o)
	defer b.Close()
	got := must(a.dev.QueryDevice())
	live := verbs.DeviceAttr{
		MaxQP: 1048560, MaxQPWR: 1048576, MaxSGE: 32, MaxCQ: 1048576, MaxCQE: 32767,
		MaxMR: 524287, MaxMW: 524287, MaxPD: 1048576,
		MaxQPRDAtom: 128, MaxQPInitRDAtom: 128, MaxResRDAtom: 258048,
		MaxAH: 32767, MaxSRQ: 917503, MaxSRQWR: 1048576, MaxSRQSGE: 27,
		AtomicHCA: true, MaxPKeys: 64, LocalCAAckDelay: 15,
		// caps=0x1223c76 has MEM_WINDOW_TYPE_2B (bit 24) and MEM_WINDOW (bit 17).
		MemWindowType1: 0x1223c76&(1<<17) != 0, MemWindow2B: 0x1223c76&(1<<24) != 0,
		PhysPortCount: 1, // "devices 1", one port
		MaxInline:     got.MaxInline,
	}
	if got != live {
		t.Errorf("query_device gives\n%+v, live\n%+v", got, live)
	}
	if got.MaxInline != 512 { // RXE_MAX_INLINE_DATA of rxe_param.h; no field of ibv_query_device
		t.Errorf("max inline data %d, rxe_param.h has 512", got.MaxInline)
	}
}

// TestGoldenPort compares with what ibv_query_port printed live: state=4
// max_mtu=5 active_mtu=3 gidlen=1024 max_msg=0x800000 pkeylen=1. Not modelled of
// that line: link layer, physical state, width, speed.
func TestGoldenPort(t *testing.T) {
	o := defaults()
	o.profile = "rxe-6.1"
	b, a, _ := pair(t, o)
	defer b.Close()
	got := must(a.dev.QueryPort(1))
	live := verbs.PortAttr{State: 4, MaxMTU: 5, ActiveMTU: 3, GIDTableLen: 1024, MaxMsgSize: 0x800000, PKeyTableLen: 1}
	if got != live {
		t.Errorf("query_port gives %+v, live %+v", got, live)
	}
	for index, want := range []bool{true, true, false} { // gidx=1 was the address that worked
		if _, err := a.dev.QueryGID(1, index); (err == nil) != want {
			t.Errorf("GID %d: %v", index, err)
		}
	}
}

// TestGoldenWindowKey: live, a bind of type 1 moved the rkey from 0x800017a to
// 0x800017b: the first window has index 0x80001 (rxe_param.h
// RXE_MIN_MW_INDEX), and only the low byte moves on.
func TestGoldenWindowKey(t *testing.T) {
	o := defaults()
	o.profile = "rxe-6.1"
	o.access |= verbs.AccessMWBind
	b, a, _ := pair(t, o)
	defer b.Close()
	w := must(a.dev.AllocMW(a.pd, verbs.MWType1))
	if w.RKey>>8 != 0x80001 {
		t.Errorf("the first window's rkey is %#x, live 0x800017a", w.RKey)
	}
	for range 300 { // more than once around the low byte
		key := must(a.dev.BindMW(a.qp.QP, w.MW, 50, 0, verbs.MWBind{
			MR: a.mr.MR, Addr: a.mr.Addr, Length: 100, Access: verbs.AccessRemoteRead,
		}))
		if key>>8 != w.RKey>>8 || key&0xff != (w.RKey+1)&0xff {
			t.Fatalf("a bind moved the rkey from %#x to %#x", w.RKey, key)
		}
		w.RKey = key
		quiet(t, b)
	}
}

// TestGoldenCompletions compares whole completions: live, an error had opcode 0,
// flags 0x0, len 0, vend 0 and src 0 on both sides, a send had no flag but
// WITH_IMM, a receive GRH and WITH_IMM and no src_qp on RC.
func TestGoldenCompletions(t *testing.T) {
	type ends struct{ req, resp []verbs.WC }
	imm := verbs.SendWR{ID: 1, Opcode: verbs.WRSendWithImm, Flags: verbs.SendSignaled, Imm: 42}
	for _, tc := range []struct {
		name    string
		recv    int
		length  int
		badRKey bool
		want    ends
	}{
		{"good send with imm", 200, 100, false, ends{
			[]verbs.WC{{ID: 1, Flags: verbs.WCWithImm, ByteLen: 100}},
			[]verbs.WC{{ID: 100, Opcode: 128, Flags: 3, ByteLen: 100, Imm: 42}},
		}},
		{"send too large for recv", 100, 200, false, ends{
			[]verbs.WC{{ID: 1, Status: 11}, {ID: 2, Status: 5}},
			[]verbs.WC{{ID: 100, Status: 2}},
		}},
		{"write bad rkey", 100, 64, true, ends{
			[]verbs.WC{{ID: 1, Status: 10}, {ID: 2, Status: 5}},
			[]verbs.WC{{ID: 100, Status: 5}},
		}},
	} {
		o := defaults()
		o.profile = "rxe-6.1"
		b, a, z := pair(t, o)
		must(z.dev.PostRecv(z.qp.QP, []verbs.RecvWR{{ID: 100, SGL: z.sge(0, tc.recv)}}))
		wr := imm
		wr.SGL = a.sge(0, tc.length)
		if tc.badRKey {
			wr.Opcode, wr.RemoteVA, wr.RKey = verbs.WRRDMAWrite, z.mr.Addr, 0xdead
		}
		list := []verbs.SendWR{wr}
		if len(tc.want.req) == 2 {
			list = append(list, verbs.SendWR{ID: 2, Opcode: verbs.WRSend, SGL: a.sge(0, 8)})
		}
		must(a.dev.PostSend(a.qp.QP, list))
		quiet(t, b)
		sameCompletions(t, tc.name+", requester", a, tc.want.req)
		sameCompletions(t, tc.name+", responder", z, tc.want.resp)
		b.Close()
	}
}

func sameCompletions(t *testing.T, what string, x *side, want []verbs.WC) {
	t.Helper()
	got := x.poll(t)
	if len(got) != len(want) {
		t.Fatalf("%s: %d completions %+v, live %d", what, len(got), got, len(want))
	}
	for i, w := range want {
		w.QPNum = x.qp.Num
		if got[i] != w {
			t.Errorf("%s: completion %d is\n%+v, live\n%+v", what, i, got[i], w)
		}
	}
}
