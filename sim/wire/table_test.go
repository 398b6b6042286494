package wire

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The opcode table against rxe_opcode.c of Linux 6.1.192 (testdata/rxe-opcodes.txt).
func TestOpcodesAgainstRxe(t *testing.T) {
	text, err := os.ReadFile("testdata/rxe-opcodes.txt")
	if err != nil {
		t.Fatal(err)
	}
	extNames := map[string]func(Opcode) bool{
		"RDETH": Opcode.HasRDETH, "DETH": Opcode.HasDETH, "RETH": Opcode.HasRETH, "ATMETH": Opcode.HasAtomicETH,
		"AETH": Opcode.HasAETH, "ATMACK": Opcode.HasAtomicAckETH, "IMMDT": Opcode.HasImm, "IETH": Opcode.HasIETH,
	}
	order := []string{"RDETH", "DETH", "RETH", "ATMETH", "AETH", "ATMACK", "IMMDT", "IETH"}
	seen := map[Opcode]bool{}
	for line := range strings.Lines(string(text)) {
		var v, n int
		var name, ext, payload, kind, pos string
		if _, err := fmt.Sscanf(line, "0x%x %s %d %s %s %s %s", &v, &name, &n, &ext, &payload, &kind, &pos); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		op := Opcode(v)
		seen[op] = true
		var has []string
		for _, e := range order {
			if extNames[e](op) {
				has = append(has, e)
			}
		}
		if len(has) == 0 {
			has = []string{"-"}
		}
		at := map[string]bool{"first": op.IsFirst(), "middle": op.IsMiddle(), "last": op.IsLast(), "only": op.IsOnly()}
		set := 0
		for _, on := range at {
			if on {
				set++
			}
		}
		if op.String() != name || op.HeaderLen() != n || strings.Join(has, ",") != ext ||
			op.HasPayload() != (payload == "payload") || op.IsRequest() != (kind == "req") ||
			op.IsResponse() != (kind == "resp") || !at[pos] || set != 1 || op.HasXRCETH() || op.HasFETH() {
			t.Errorf("%s: have %v %d %v payload=%v req=%v resp=%v %v", strings.TrimSpace(line),
				op, op.HeaderLen(), has, op.HasPayload(), op.IsRequest(), op.IsResponse(), at)
		}
	}
	// Beyond that table: FLUSH and ATOMIC_WRITE (Linux 6.2), CNP, and XRC, which has the RC operations
	// up to SEND_ONLY_WITH_INVALIDATE.
	for v := range 256 {
		op := Opcode(v)
		want := seen[op] || op == 0x1c || op == 0x1d || op == 0x81 || (op.Transport() == XRC && seen[op&0x1f])
		if op.Known() != want {
			t.Errorf("%v known = %v", op, op.Known())
		}
	}
}

func TestOpcodesBeyondRxe61(t *testing.T) {
	for _, c := range []struct {
		op     Opcode
		name   string
		length int
	}{
		{0x1c, "RC_FLUSH", 12 + 4 + 16},                                                    // rxe_opcode.c of 6.2: FETH, RETH
		{0x1d, "RC_ATOMIC_WRITE", 12 + 16},                                                 // same: RETH
		{0x81, "CNP", 12},                                                                  // IBTA A17: BTH and 16 reserved bytes
		{0xa0, "XRC_SEND_FIRST", 12 + 4},                                                   // IBTA A14: XRCETH on requests
		{0xab, "XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", 12 + 4 + 16 + 4},                      //
		{0xb1, "XRC_ACKNOWLEDGE", 12 + 4},                                                  // AETH, no XRCETH
		{0x15, "opcode(0x15)", 12}, {0x3f, "opcode(0x3f)", 12}, {0xff, "opcode(0xff)", 12}, // reserved
	} {
		if c.op.String() != c.name || c.op.HeaderLen() != c.length {
			t.Errorf("0x%02x: %s, %d bytes; want %s, %d", uint8(c.op), c.op, c.op.HeaderLen(), c.name, c.length)
		}
	}
	if s := RCWriteOnly.Short(); s != "WRITE_ONLY" {
		t.Error(s)
	}
}

// credit_table in drivers/infiniband/sw/rdmavt/rc.c of Linux 6.1.192.
func TestCreditTable(t *testing.T) {
	kernel := []int{
		0x0: 0, 0x1: 1, 0x2: 2, 0x3: 3, 0x4: 4, 0x5: 6, 0x6: 8, 0x7: 12, 0x8: 16, 0x9: 24, 0xA: 32, 0xB: 48, 0xC: 64,
		0xD: 96, 0xE: 128, 0xF: 192, 0x10: 256, 0x11: 384, 0x12: 512, 0x13: 768, 0x14: 1024, 0x15: 1536, 0x16: 2048,
		0x17: 3072, 0x18: 4096, 0x19: 6144, 0x1A: 8192, 0x1B: 12288, 0x1C: 16384, 0x1D: 24576, 0x1E: 32768,
	}
	for code, n := range kernel {
		if Credits(uint8(code)) != n || int(CreditCode(n)) != code {
			t.Errorf("code %d: %d credits, back to %d; want %d", code, Credits(uint8(code)), CreditCode(n), n)
		}
	}
	if Credits(31) != -1 {
		t.Error("31 must be unlimited")
	}
	// rvt_compute_aeth picks the entry below when the number is not in the table.
	for n, want := range map[int]uint8{5: 4, 7: 5, 100000: 30, 23: 8} {
		if got := CreditCode(n); got != want {
			t.Errorf("CreditCode(%d) = %d, want %d", n, got, want)
		}
	}
}

// rnrnak_usec in rxe_comp.c of Linux 6.1.192, microseconds in its order; entry
// 25 (IB_RNR_TIMER_061_44) is 61410 there, against its own name.
func TestRNRTimers(t *testing.T) {
	kernel := [32]int64{
		655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240,
		15360, 20480, 30720, 40960, 61410, 81920, 122880, 163840, 245760, 327680, 491520,
	}
	kernel[25] = 61440
	for code, us := range kernel {
		if d := RNRTimer(uint8(code)); d != time.Duration(us)*time.Microsecond {
			t.Errorf("code %d: %v, want %d us", code, d, us)
		}
		if got := RNRCode(time.Duration(us) * time.Microsecond); int(got) != code {
			t.Errorf("RNRCode(%d us) = %d, want %d", us, got, code)
		}
	}
	if RNRCode(time.Second) != 0 || RNRCode(11*time.Microsecond) != 2 {
		t.Error("RNRCode must round up, and to 0 beyond the table")
	}
}

// The values of enum aeth_syndrome in rxe_hdr.h.
func TestSyndromes(t *testing.T) {
	for _, c := range []struct {
		s    Syndrome
		raw  uint8
		text string
	}{
		{Ack(31), 0x1f, "ACK credits=unlimited"},
		{Ack(5), 0x05, "ACK credits=6"},
		{RNRNak(1), 0x21, "RNR NAK timer=1 (0.01 ms)"},
		{RNRNak(0), 0x20, "RNR NAK timer=0 (655.36 ms)"},
		{Nak(NakPSNSequence), 0x60, "NAK PSN sequence (0x60)"},
		{Nak(NakInvalidRequest), 0x61, "NAK invalid request (0x61)"},
		{Nak(NakRemoteAccess), 0x62, "NAK remote access (0x62)"},
		{Nak(NakRemoteOperational), 0x63, "NAK remote operational (0x63)"},
		{Nak(NakInvalidRDRequest), 0x64, "NAK invalid RD request (0x64)"},
		{0x45, 0x45, "reserved syndrome 0x45"},
	} {
		if uint8(c.s) != c.raw || c.s.String() != c.text {
			t.Errorf("0x%02x %q, want 0x%02x %q", uint8(c.s), c.s, c.raw, c.text)
		}
	}
}

// psn_compare of rxe: the sign of (s32)((a - b) << 8).
func TestPSN(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		want int
	}{
		{5, 3, 2}, {3, 5, -2}, {0, 0xffffff, 1}, {0xffffff, 0, -1}, {0x7fffff, 0, 0x7fffff}, {0x800000, 0, -0x800000},
	} {
		if got := PSNDiff(c.a, c.b); got != c.want {
			t.Errorf("PSNDiff(%#x, %#x) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := PSNAdd(c.b, c.want); got != c.a {
			t.Errorf("PSNAdd(%#x, %d) = %#x, want %#x", c.b, c.want, got, c.a)
		}
	}
}

// enum ib_mtu of rdma/ib_verbs.h: 1 = 256 to 5 = 4096.
func TestSizes(t *testing.T) {
	for e, n := range []int{0, 256, 512, 1024, 2048, 4096, 0} {
		if MTUBytes(e) != n {
			t.Errorf("MTUBytes(%d) = %d, want %d", e, MTUBytes(e), n)
		}
		if n != 0 && MTUEnum(n) != e {
			t.Errorf("MTUEnum(%d) = %d, want %d", n, MTUEnum(n), e)
		}
	}
	for _, c := range []struct {
		length uint32
		mtu, n int
	}{{0, 1024, 1}, {1, 1024, 1}, {1024, 1024, 1}, {1025, 1024, 2}, {5000, 1024, 5}, {1<<32 - 1, 256, 1 << 24}} {
		if got := Packets(c.length, c.mtu); got != c.n {
			t.Errorf("Packets(%d, %d) = %d, want %d", c.length, c.mtu, got, c.n)
		}
	}
	for n, pad := range []int{0, 3, 2, 1, 0, 3} {
		if Pad(n) != pad {
			t.Errorf("Pad(%d) = %d, want %d", n, Pad(n), pad)
		}
	}
}
