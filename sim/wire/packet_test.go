package wire

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func bit24(t *rapid.T, name string) uint32 { return rapid.Uint32Range(0, PSNMask).Draw(t, name) }

// drawPacket draws a packet of the opcode with every field that can be on the
// wire drawn at random.
func drawPacket(t *rapid.T, op Opcode) Packet {
	b, u8, u16 := rapid.Bool(), rapid.Uint8(), rapid.Uint16()
	u32, u64 := rapid.Uint32(), rapid.Uint64()
	p := Packet{
		TOS: u8.Draw(t, "tos"), TTL: u8.Draw(t, "ttl"), SrcPort: u16.Draw(t, "sport"), UDPSum: u16.Draw(t, "udpsum"),
		V6: b.Draw(t, "v6"), VLAN: b.Draw(t, "vlan"),
	}
	copy(p.DstMAC[:], rapid.SliceOfN(u8, 6, 6).Draw(t, "dmac"))
	copy(p.SrcMAC[:], rapid.SliceOfN(u8, 6, 6).Draw(t, "smac"))
	copy(p.Src[:], rapid.SliceOfN(u8, 16, 16).Draw(t, "src"))
	copy(p.Dst[:], rapid.SliceOfN(u8, 16, 16).Draw(t, "dst"))
	if p.VLAN {
		p.TCI = u16.Draw(t, "tci")
	}
	if p.V6 {
		p.FlowLabel = rapid.Uint32Range(0, 1<<20-1).Draw(t, "flow")
	} else {
		p.IPID = u16.Draw(t, "ipid")
		p.IPFlags = rapid.SampledFrom([]uint8{0, FlagDF, 4, 6}).Draw(t, "ipflags")
		copy(p.Src[:], v4Prefix[:])
		copy(p.Dst[:], v4Prefix[:])
	}
	p.BTH = BTH{
		Opcode: op, Solicited: b.Draw(t, "se"), MigReq: b.Draw(t, "m"), TVer: rapid.Uint8Range(0, 15).Draw(t, "tver"),
		PKey: u16.Draw(t, "pkey"), FECN: b.Draw(t, "fecn"), BECN: b.Draw(t, "becn"),
		Resv6: rapid.Uint8Range(0, 63).Draw(t, "resv6"), DestQP: bit24(t, "dqp"), AckReq: b.Draw(t, "a"),
		Resv7: rapid.Uint8Range(0, 127).Draw(t, "resv7"), PSN: bit24(t, "psn"),
	}
	if op.HasRDETH() {
		p.RDETH = RDETH{u8.Draw(t, "rdresv"), bit24(t, "ee")}
	}
	if op.HasXRCETH() {
		p.XRCETH = XRCETH{u8.Draw(t, "xresv"), bit24(t, "xsrq")}
	}
	if op.HasDETH() {
		p.DETH = DETH{u32.Draw(t, "qkey"), u8.Draw(t, "dresv"), bit24(t, "sqp")}
	}
	if op.HasFETH() {
		p.FETH = FETH{u32.Draw(t, "feth")}
	}
	if op.HasRETH() {
		p.RETH = RETH{u64.Draw(t, "va"), u32.Draw(t, "rkey"), u32.Draw(t, "len")}
	}
	if op.HasAtomicETH() {
		p.AtomicETH = AtomicETH{u64.Draw(t, "ava"), u32.Draw(t, "arkey"), u64.Draw(t, "swap"), u64.Draw(t, "cmp")}
	}
	if op.HasAETH() {
		p.AETH = AETH{Syndrome(u8.Draw(t, "syn")), bit24(t, "msn")}
	}
	if op.HasAtomicAckETH() {
		p.AtomicAckETH = AtomicAckETH{u64.Draw(t, "orig")}
	}
	if op.HasImm() {
		p.ImmDt = ImmDt{u32.Draw(t, "imm")}
	}
	if op.HasIETH() {
		p.IETH = IETH{u32.Draw(t, "inv")}
	}
	n := rapid.IntRange(0, 300).Draw(t, "len")
	switch {
	case op == RCAtomicWrite:
		n = 8
	case op == CongestionNotify:
		n = 16
	case !op.HasPayload():
		n = 0
	}
	if n > 0 {
		p.Payload = rapid.SliceOfN(u8, n, n).Draw(t, "payload")
		copy(p.PadBytes[:], rapid.SliceOfN(u8, p.Pad(), p.Pad()).Draw(t, "pad"))
	}
	return p
}

func knownOpcodes() []Opcode {
	var ops []Opcode
	for v := range 256 {
		if Opcode(v).Known() {
			ops = append(ops, Opcode(v))
		}
	}
	return ops
}

// Decode(AppendFrame(p)) is p, the length is as announced, and the ICRC is the
// naive one.
func TestRoundTrip(t *testing.T) {
	ops := knownOpcodes()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPacket(t, rapid.SampledFrom(ops).Draw(t, "op"))
		frame := AppendFrame([]byte("before"), &p)[6:]
		if len(frame) != p.FrameLen() {
			t.Fatalf("%d bytes, announced %d", len(frame), p.FrameLen())
		}
		var q Packet
		if err := Decode(frame, &q); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("\nput %+v\ngot %+v", p, q)
		}
		ip := frame[14:]
		if p.VLAN {
			ip = frame[18:]
		}
		if have, want := be.Uint32(frame[len(frame)-4:]), naiveICRC(ip); have != want {
			t.Fatalf("ICRC 0x%08x, naive 0x%08x", have, want)
		}
	})
}

// The frame is cut by one of each layer's typed errors, wherever it is cut.
func TestDecodeShort(t *testing.T) {
	p := New(RCWriteOnlyImm)
	p.Payload = []byte("hello")
	frame := AppendFrame(nil, &p)
	for n := range frame {
		var q Packet
		err := Decode(frame[:n], &q)
		if _, ok := errors.AsType[*ShortError](err); !ok {
			t.Fatalf("%d bytes of %d: %v", n, len(frame), err)
		}
	}
}

// Each thing that can be wrong is named, with both values where there are two.
func TestDecodeErrors(t *testing.T) {
	build := func(op Opcode, payload int, edit func(b []byte)) []byte {
		p := New(op)
		p.BTH.PSN = 77
		p.Payload = make([]byte, payload)
		b := AppendFrame(nil, &p)
		edit(b)
		return b
	}
	for _, c := range []struct {
		name   string
		frame  []byte
		want   error
		filled bool
	}{
		{"ARP", build(RCSendOnly, 8, func(b []byte) { b[13] = 6 }), &NotRoCEError{"Ethernet", "ethertype", 0x0806}, false},
		{"TCP", build(RCSendOnly, 8, func(b []byte) { b[23] = 6 }), &NotRoCEError{"IPv4", "protocol", 6}, false},
		{"options", build(RCSendOnly, 8, func(b []byte) { b[14] = 0x46 }), &NotRoCEError{"IPv4", "header length in words", 6}, false},
		{"fragment", build(RCSendOnly, 8, func(b []byte) { b[20] = 0x20 }), &NotRoCEError{"IPv4", "fragment field", 0x2000}, false},
		{"DNS", build(RCSendOnly, 8, func(b []byte) { b[36], b[37] = 0, 53 }), &NotRoCEError{"UDP", "destination port", 53}, false},
		{"UDP length", build(RCSendOnly, 8, func(b []byte) { b[39]-- }), &LengthError{"UDP length", 32, 31}, false},
		{"opcode", build(0x15, 8, func([]byte) {}), &OpcodeError{0x15}, true},
		{"ACK payload", build(RCAcknowledge, 8, func([]byte) {}), &LengthError{"payload of RC_ACKNOWLEDGE", 0, 8}, true},
		{"atomic write", build(RCAtomicWrite, 4, func([]byte) {}), &LengthError{"payload of RC_ATOMIC_WRITE", 8, 4}, true},
		{"checksum", build(RCSendOnly, 8, func(b []byte) { b[24], b[25] = 0x12, 0x34 }), &ChecksumError{
			^uint16(0x4500 + 0x0034 + 0x4000 + 0x4011), 0x1234, // the header's words that are not zero
		}, true},
	} {
		var p Packet
		err := Decode(c.frame, &p)
		if !reflect.DeepEqual(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if filled := p.BTH.PSN == 77; filled != c.filled {
			t.Errorf("%s: filled = %v", c.name, filled)
		}
	}
}

// A pad count that does not go with the length of the packet: a payload area
// that is no multiple of four.
func TestDecodeBadPad(t *testing.T) {
	p := New(RCSendOnly)
	p.Payload = make([]byte, 8)
	b := AppendFrame(nil, &p)
	b[43] = 0x20 // pad count 2: six bytes of payload and two of pad, which fits
	b = append(b, 0)
	b[17]++ // IP total length
	b[39]++ // UDP length
	var q Packet
	err := Decode(b, &q)
	if want := (&LengthError{"pad after RC_SEND_ONLY", 1, 2}); !reflect.DeepEqual(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

// A flipped bit in anything that the ICRC covers is found, with the packet
// filled; a flip in what may change on the way is not an ICRC error.
func TestICRCCoverage(t *testing.T) {
	p := New(RCSendOnly)
	p.Payload = []byte("payload")
	p.BTH.PSN = 9
	good := AppendFrame(nil, &p)
	masked := map[int]bool{15: true, 22: true, 24: true, 25: true, 40: true, 41: true, 46: true} // TOS TTL sums, BTH byte 4
	for i := 26; i < len(good); i++ {                                                            // from the IP source address on
		if i >= 36 && i < 40 || i == 42 || i == 43 { // port, length, opcode and pad count are errors of their own
			continue
		}
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if i < 34 { // keep the IP checksum right
			be.PutUint16(bad[24:], ipChecksum(bad[14:34]))
		}
		var q Packet
		err := Decode(bad, &q)
		e, isICRC := errors.AsType[*ICRCError](err)
		if isICRC == masked[i] {
			t.Errorf("byte %d flipped: %v", i, err)
		}
		if isICRC && (e.Want == e.Have || len(q.Payload) != 7) {
			t.Errorf("byte %d flipped: %+v %+v", i, e, q)
		}
	}
}

// RFC 1071 by hand: the header of RFC-style example 45 00 00 73 ... has sum b861.
func TestIPChecksum(t *testing.T) {
	h := []byte{
		0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7,
	}
	if got := ipChecksum(h); got != 0xb861 {
		t.Errorf("0x%04x, want 0xb861 (the worked example of Wikipedia's IPv4 header checksum)", got)
	}
}

// Packet is flat: the payload is its only pointer, so a copy is a packet of its own.
func TestPacketIsFlat(t *testing.T) {
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		switch typ.Kind() {
		case reflect.Struct:
			for f := range typ.Fields() {
				walk(f.Type, path+"."+f.Name)
			}
		case reflect.Array:
			walk(typ.Elem(), path+"[]")
		case reflect.Slice, reflect.Pointer, reflect.Map, reflect.Interface, reflect.String, reflect.Func, reflect.Chan:
			if path != "Packet.Payload" {
				t.Errorf("%s is a %v", path, typ)
			}
		default:
		}
	}
	walk(reflect.TypeFor[Packet](), "Packet")
	if size := reflect.TypeFor[Packet]().Size(); size > 320 {
		t.Errorf("a packet is %d bytes, was meant to stay within five cache lines", size)
	}
}

func FuzzDecode(f *testing.F) {
	for _, frames := range captures(f) {
		for _, fr := range frames[:min(len(frames), 12)] {
			f.Add(fr.Frame)
		}
	}
	for _, op := range knownOpcodes() {
		p := New(op)
		p.V6 = op&1 == 0
		f.Add(AppendFrame(nil, &p))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		was := bytes.Clone(frame)
		var p Packet
		err := Decode(frame, &p)
		_ = Summary(&p)
		fields, _ := Fields(frame)
		checkCover(t, frame, fields)
		if !bytes.Equal(was, frame) {
			t.Fatal("Decode changed the frame")
		}
		if err == nil {
			if got := AppendFrame(nil, &p); !bytes.HasPrefix(frame, got) {
				t.Fatalf("rebuilt %x from %x", got, frame)
			}
		}
	})
}

func benchPacket() Packet {
	p := New(RCSendOnly)
	p.Payload = make([]byte, 64)
	p.BTH.AckReq = true
	return p
}

// The hot path does not touch the heap.
func TestAllocations(t *testing.T) {
	p := benchPacket()
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf = AppendFrame(buf[:0], &p) }); n != 0 {
		t.Errorf("AppendFrame: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { buf = AppendUDPPayload(buf[:0], &p) }); n != 0 {
		t.Errorf("AppendUDPPayload: %v allocations", n)
	}
	frame := AppendFrame(nil, &p)
	var q Packet
	if n := testing.AllocsPerRun(100, func() { _ = Decode(frame, &q) }); n != 0 {
		t.Errorf("Decode: %v allocations", n)
	}
}

func BenchmarkAppendFrame(b *testing.B) {
	p := benchPacket()
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendFrame(buf[:0], &p)
	}
}

func BenchmarkDecode(b *testing.B) {
	p := benchPacket()
	frame := AppendFrame(nil, &p)
	var q Packet
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(frame, &q); err != nil {
			b.Fatal(err)
		}
	}
}
