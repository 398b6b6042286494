package wire

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// checkCover fails unless fields lie in order and cover every bit of the frame
// exactly once.
func checkCover(t testing.TB, frame []byte, fields []Field) {
	t.Helper()
	seen := make([]byte, len(frame))
	last := 0
	for _, f := range fields {
		if f.Offset < last || f.Length <= 0 || f.Offset+f.Length > len(frame) || f.Mask != 0 && f.Length > 8 {
			t.Fatalf("misplaced: %+v after offset %d of %d", f, last, len(frame))
		}
		last = f.Offset
		for i := range f.Length {
			m := byte(0xff)
			if f.Mask != 0 {
				m = byte(f.Mask >> (8 * (f.Length - 1 - i)))
			}
			if seen[f.Offset+i]&m != 0 {
				t.Fatalf("covered twice: %+v", f)
			}
			seen[f.Offset+i] |= m
		}
	}
	for i, m := range seen {
		if m != 0xff {
			t.Fatalf("byte %d of %d: only bits %08b covered", i, len(frame), m)
		}
	}
}

// Fields cover every bit of real frames (other protocols too), of those with a
// trailer, of every opcode and of cut frames.
func TestFieldsCover(t *testing.T) {
	for _, frames := range captures(t) {
		for _, f := range frames {
			fields, _ := Fields(f.Frame)
			checkCover(t, f.Frame, fields)
		}
	}
	for _, op := range knownOpcodes() {
		for _, v6 := range []bool{false, true} {
			p := New(op)
			p.V6, p.VLAN = v6, v6
			if op.HasPayload() && op != CongestionNotify {
				p.Payload = make([]byte, 8)
			}
			frame := append(AppendFrame(nil, &p), 1, 2, 3)
			fields, err := Fields(frame)
			if err != nil {
				t.Fatalf("%v: %v", op, err)
			}
			checkCover(t, frame, fields)
			if f := fields[len(fields)-2]; f.Layer != "ICRC" || f.Value[10:] != " (correct)" {
				t.Errorf("%v: %+v", op, f)
			}
			for n := range frame {
				fields, _ := Fields(frame[:n])
				checkCover(t, frame[:n], fields)
			}
		}
	}
}

// Field by field, the second packet of the specification's layout: values put
// in are the values shown.
func TestFieldsValues(t *testing.T) {
	p := New(RCWriteOnly)
	p.BTH.PSN, p.BTH.DestQP, p.BTH.AckReq = 256, 17, true
	p.RETH = RETH{VA: 0x1000, RKey: 0x2b1, Len: 5}
	p.Payload = []byte("hello")
	frame := AppendFrame(nil, &p)
	fields, err := Fields(frame)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"BTH opcode": "RC_RDMA_WRITE_ONLY (0x0a)", "BTH PSN": "256 (0x000100)", "BTH destination QP": "17 (0x000011)",
		"BTH AckReq": "1", "BTH pad count": "3", "RETH virtual address": "0x0000000000001000", "RETH R_Key": "0x000002b1",
		"RETH DMA length": "5", "Payload payload": "68 65 6c 6c 6f", "Pad pad": "00 00 00", "UDP destination port": "4791",
		"IPv4 TTL": "64", "IPv4 don't fragment": "1", "IPv4 protocol": "17 (UDP)",
	}
	for _, f := range fields {
		key := f.Layer + " " + f.Name
		if w, ok := want[key]; ok && f.Value != w {
			t.Errorf("%s = %q, want %q", key, f.Value, w)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if b := (Field{Length: 1, Mask: 0x30}).Bits(); b != "5:4" {
		t.Error(b)
	}
}

// The forms that the ladder and the lessons rely on.
func TestSummary(t *testing.T) {
	for _, c := range []struct {
		op   Opcode
		edit func(p *Packet)
		want string
	}{
		{RCWriteOnly, func(p *Packet) {
			p.BTH.PSN, p.BTH.AckReq, p.RETH = 256, true, RETH{0x1000, 0x2b1, 64}
			p.Payload = make([]byte, 64)
		}, "WRITE_ONLY psn=256 va=0x1000 rkey=0x2b1 len=64 ack-req"},
		{RCAcknowledge, func(p *Packet) { p.BTH.PSN, p.AETH = 256, AETH{Ack(31), 1} }, "ACK psn=256 msn=1 credits=unlimited"},
		{RCAcknowledge, func(p *Packet) { p.BTH.PSN, p.AETH = 256, AETH{Nak(NakRemoteAccess), 1} }, "NAK remote access (0x62) psn=256"},
		{RCAcknowledge, func(p *Packet) { p.BTH.PSN, p.AETH = 5, AETH{RNRNak(1), 0} }, "RNR NAK timer=1 (0.01 ms) psn=5"},
		{RCSendOnlyImm, func(p *Packet) { p.Payload, p.ImmDt.Data = make([]byte, 3), 0x1234 }, "SEND_ONLY_IMM psn=0 len=3 imm=0x1234"},
		{RCSendLastInvalidate, func(p *Packet) { p.IETH.RKey = 0x99 }, "SEND_LAST_INV psn=0 len=0 inv=0x99"},
		{RCReadRequest, func(p *Packet) { p.RETH = RETH{0x20, 7, 4096} }, "READ_REQUEST psn=0 va=0x20 rkey=0x7 len=4096"},
		{RCReadResponseLast, func(p *Packet) { p.AETH.MSN, p.Payload = 3, make([]byte, 8) }, "READ_RESP_LAST psn=0 msn=3 len=8"},
		{RCCompareSwap, func(p *Packet) { p.AtomicETH = AtomicETH{8, 7, 2, 1} }, "CMP_SWAP psn=0 va=0x8 rkey=0x7 cmp=1 swap=2"},
		{RCFetchAdd, func(p *Packet) { p.AtomicETH = AtomicETH{8, 7, 2, 0} }, "FETCH_ADD psn=0 va=0x8 rkey=0x7 add=2"},
		{RCAtomicAcknowledge, func(p *Packet) { p.AtomicAckETH.Orig = 41 }, "ATOMIC_ACK psn=0 msn=0 orig=41"},
		{UDSendOnly, func(p *Packet) { p.DETH, p.TOS = DETH{0x11, 0, 18}, 3 }, "UD SEND_ONLY psn=0 src-qp=18 qkey=0x11 len=0 ecn=ce"},
		{UCSendMiddle, func(p *Packet) { p.BTH.Solicited = true }, "UC SEND_MIDDLE psn=0 len=0 solicited"},
		{CongestionNotify, func(p *Packet) { p.BTH.DestQP = 17 }, "CNP qp=17"},
		{0x15, func(p *Packet) { p.BTH.PSN = 3 }, "opcode(0x15) psn=3 len=0"},
	} {
		p := New(c.op)
		c.edit(&p)
		if got := Summary(&p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestPCAP(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var frames []TimedFrame
	for i := range 50 {
		b := make([]byte, r.IntN(200))
		for j := range b {
			b[j] = byte(r.Uint32())
		}
		frames = append(frames, TimedFrame{At: 1_796_074_516_385_931_001 + time.Duration(i)*12_345_678, Frame: b})
	}
	frames[7].Len = 9000
	var file bytes.Buffer
	if err := WritePCAP(&file, frames); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(file.Bytes())
	got, err := ReadPCAP(&file)
	if err != nil || len(got) != len(frames) {
		t.Fatalf("%d frames, %v", len(got), err)
	}
	for i, f := range frames {
		if got[i].At != f.At || got[i].Len != f.Len || !bytes.Equal(got[i].Frame, f.Frame) {
			t.Fatalf("frame %d: %+v, want %+v", i, got[i], f)
		}
	}
	if got, err := ReadPCAP(bytes.NewReader(whole[:len(whole)-1])); err == nil || len(got) != 49 {
		t.Errorf("cut file: %d frames, %v", len(got), err)
	}
	for _, bad := range [][]byte{nil, []byte("PK"), []byte("not a capture at all, by any means")} {
		if _, err := ReadPCAP(bytes.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	raw := bytes.Clone(whole)
	raw[20] = 101 // LINKTYPE_RAW
	if _, err := ReadPCAP(bytes.NewReader(raw)); err == nil {
		t.Error("a capture without Ethernet was read")
	}
	if err := WritePCAP(&file, []TimedFrame{{Frame: make([]byte, MaxFrameBytes+1)}}); err == nil {
		t.Error("an oversized frame was written")
	}
	if err := WritePCAP(&file, []TimedFrame{{At: -1}}); err == nil {
		t.Error("a time before zero was written")
	}
}

// The other format and resolution that Wireshark writes: tshark rewrites a
// capture of microseconds as pcapng and as nanosecond pcap, and it reads the same.
func TestReadOtherFormats(t *testing.T) {
	path := needTool(t, "tshark")
	want := captures(t)["testdata/rc-cas.pcap"]
	for _, format := range []string{"pcapng", "nsecpcap"} {
		file := filepath.Join(t.TempDir(), "out."+format)
		if out, err := exec.Command(path, "-r", "testdata/rc-cas.pcap", "-w", file, "-F", format).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadPCAP(f)
		f.Close()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d frames of %d, %v", format, len(got), len(want), err)
		}
	}
}

// Any file gives frames or an error; what is read can be written and read again.
func FuzzReadPCAP(f *testing.F) {
	var b bytes.Buffer
	p := New(RCSendOnly)
	if err := WritePCAP(&b, []TimedFrame{{Frame: AppendFrame(nil, &p)}, {At: time.Second, Frame: []byte{1}, Len: 60}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\n\r\r\n\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x1c\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		frames, _ := ReadPCAP(bytes.NewReader(file))
		for _, fr := range frames {
			if fr.At < 0 || fr.At/time.Second >= 1<<32 { // pcapng holds times that pcap does not
				return
			}
		}
		var out bytes.Buffer
		if err := WritePCAP(&out, frames); err != nil {
			t.Fatal(err)
		}
		again, err := ReadPCAP(&out)
		if err != nil || len(again) != len(frames) {
			t.Fatalf("%d frames read again as %d: %v", len(frames), len(again), err)
		}
		for i := range again {
			if again[i].At != frames[i].At || again[i].Len != frames[i].Len || !bytes.Equal(again[i].Frame, frames[i].Frame) {
				t.Fatalf("frame %d: %+v, was %+v", i+1, again[i], frames[i])
			}
		}
	})
}
