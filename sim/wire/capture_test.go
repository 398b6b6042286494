package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// captures returns the real hosts' captures, file by file.
func captures(t testing.TB) map[string][]TimedFrame {
	t.Helper()
	files, _ := filepath.Glob("testdata/*.pcap")
	if dir := os.Getenv("RDMAPREP_CAPTURES"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, "*.pcap"))
		files = append(files, more...)
	}
	if len(files) < 8 {
		t.Fatalf("%d captures in testdata, want 8 or more", len(files))
	}
	all := map[string][]TimedFrame{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := ReadPCAP(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = frames
	}
	return all
}

// naiveICRC is the ICRC by the words of IBTA annex A17: a bitwise CRC-32 over
// a copy of the packet in which what may change on the way is all ones. ip is
// the packet from the IP header to the end of the ICRC. The result is as four
// bytes on the wire read big endian.
func naiveICRC(ip []byte) uint32 {
	b := bytes.Clone(ip[:len(ip)-4])
	udp := 20
	if b[0]>>4 == 6 {
		udp = 40
		b[0], b[1], b[2], b[3], b[7] = 0x6f, 0xff, 0xff, 0xff, 0xff
	} else {
		b[1], b[8], b[10], b[11] = 0xff, 0xff, 0xff, 0xff
	}
	b[udp+6], b[udp+7] = 0xff, 0xff
	b[udp+8+4] = 0xff
	crc := ^uint32(0)
	for _, c := range append(bytes.Repeat([]byte{0xff}, 8), b...) {
		for i := range 8 {
			low := (crc ^ uint32(c)>>i) & 1
			crc = crc>>1 ^ low*0xedb88320
		}
	}
	return bits.ReverseBytes32(^crc)
}

// Every RoCE frame that the two Linux hosts sent decodes without complaint,
// which includes that our ICRC is theirs; the naive ICRC is too; and the frame
// is rebuilt byte for byte. Other frames are refused as another protocol.
func TestCaptureFrames(t *testing.T) {
	for name, frames := range captures(t) {
		roce, other := 0, 0
		for i, f := range frames {
			var p Packet
			err := Decode(f.Frame, &p)
			if _, not := errors.AsType[*NotRoCEError](err); not {
				other++
				continue
			}
			if err != nil {
				t.Fatalf("%s frame %d: %v", name, i+1, err)
			}
			roce++
			if got := AppendFrame(nil, &p); !bytes.Equal(got, f.Frame) {
				t.Fatalf("%s frame %d rebuilt as\n%x, was\n%x", name, i+1, got, f.Frame)
			}
			if sent, want := binary.BigEndian.Uint32(f.Frame[len(f.Frame)-4:]), naiveICRC(f.Frame[14:]); sent != want {
				t.Fatalf("%s frame %d: naive ICRC 0x%08x, host sent 0x%08x", name, i+1, want, sent)
			}
			ib := 14 + 20 + 8
			if p.V6 {
				ib += 20
			}
			udp := AppendUDPPayload([]byte{1}, &p)
			if !bytes.Equal(udp[1:], f.Frame[ib:]) {
				t.Fatalf("%s frame %d: UDP payload rebuilt as %x", name, i+1, udp)
			}
			q := p
			q.BTH, q.Payload = BTH{}, nil
			if err := DecodeUDPPayload(udp[1:], &q); err != nil || fmt.Sprint(p) != fmt.Sprint(q) {
				t.Fatalf("%s frame %d: %v\n%v\n%v", name, i+1, err, p, q)
			}
		}
		t.Logf("%s: %d RoCE frames, %d others", name, roce, other)
		if roce < 5 {
			t.Errorf("%s: only %d RoCE frames of %d", name, roce, len(frames))
		}
	}
}

// One frame of rc-cas.pcap in words, as tshark -V shows frame 39.
func TestCaptureOneFrame(t *testing.T) {
	frames := captures(t)["testdata/rc-cas.pcap"]
	var p Packet
	if err := Decode(frames[38].Frame, &p); err != nil {
		t.Fatal(err)
	}
	h := p.BTH
	if h.Opcode != RCCompareSwap || h.PSN != 14521437 || h.DestQP != 17 || !h.AckReq || h.Solicited || h.MigReq ||
		h.PKey != 0xffff || p.Src.IP() != netip.MustParseAddr("192.168.77.2") || p.SrcPort != 0xc121 ||
		p.TTL != 64 || p.IPFlags != FlagDF || p.IPID != 0x717a || len(p.Payload) != 0 {
		t.Errorf("%+v", p)
	}
}
