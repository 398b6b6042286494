package model_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// What two real hosts put on the wire is what the model puts there.
// testdata/wire/NAME.pcap is what two Linux 6.1 hosts with rdma_rxe sent when
// they ran NAME.rdma (.ci/rxe-wire; README.md there).

const wireDir = "testdata/wire"

// wireCaptures is where the captures to compare are: the committed ones, or
// with RDMAPREP_WIRE_OUT=DIR those that DIR/wire.pcap is cut into.
func wireCaptures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RDMAPREP_WIRE_OUT")
	if dir == "" {
		return wireDir
	}
	cutWire(t, dir)
	return dir
}

// wireScripts are the names of the scripts, in the order in which .ci/rxe-wire
// runs them: that of the shell's *.rdma under LC_ALL=C.
func wireScripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(wireDir, "*.rdma"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d scripts in %s (%v), want 20 or more", len(files), wireDir, err)
	}
	slices.Sort(files)
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".rdma")
	}
	return files
}

// markBase and the number of a script, from 1, are the bytes of the ping that
// host a sends before it (.ci/rxe-wire).
const markBase = 1000

// cutWire cuts dir/wire.pcap into NAME.pcap for each script: the RoCEv2 frames
// after its mark.
func cutWire(t *testing.T, dir string) {
	t.Helper()
	cut := make(map[int][]wire.TimedFrame)
	now := 0
	for _, f := range readCapture(t, filepath.Join(dir, "wire.pcap")) {
		if n := markOf(f.Frame); n > 0 {
			if n != now && n != now+1 {
				t.Fatalf("mark %d after mark %d", n, now)
			}
			now = n
		}
		if isRoCE(f.Frame) {
			cut[now] = append(cut[now], f)
		}
	}
	if names := wireScripts(t); now != len(names) {
		t.Errorf("%d marks in wire.pcap, want one for each of %d scripts", now, len(names))
	}
	for i, name := range wireScripts(t) {
		var b bytes.Buffer
		if err := wire.WritePCAP(&b, cut[i+1]); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".pcap"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// markOf is the number of a mark, or 0: an ICMP echo request over IPv4.
func markOf(frame []byte) int {
	const eth, ip, icmp = 14, 20, 8
	if len(frame) < eth+ip+icmp || binary.BigEndian.Uint16(frame[12:]) != 0x0800 ||
		frame[eth] != 0x45 || frame[eth+9] != 1 || frame[eth+ip] != 8 {
		return 0
	}
	return max(0, int(binary.BigEndian.Uint16(frame[eth+2:]))-ip-icmp-markBase)
}

// isRoCE tells UDP to port 4791 over IPv4.
func isRoCE(frame []byte) bool {
	return len(frame) >= 14+20+8 && binary.BigEndian.Uint16(frame[12:]) == 0x0800 && frame[14] == 0x45 &&
		frame[14+9] == 17 && binary.BigEndian.Uint16(frame[14+20+2:]) == wire.UDPPort
}

func readCapture(t *testing.T, name string) []wire.TimedFrame {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	frames, err := wire.ReadPCAP(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return frames
}

// direction is what one host sent, in order, and its number of the queue pair
// that sent it, 0 if no packet of the other direction names it.
type direction struct {
	packets []wire.Packet
	qpn     uint32
}

// decodeLive sorts a capture by sender, a first. Every frame must decode, which
// includes the ICRC, and its ICRC is also computed the plain way.
func decodeLive(t *testing.T, frames []wire.TimedFrame) [2]direction {
	t.Helper()
	var raw [2][][]byte
	for i, f := range frames {
		switch f.Frame[14+15] {
		case 1:
			raw[0] = append(raw[0], f.Frame)
		case 2:
			raw[1] = append(raw[1], f.Frame)
		default:
			t.Fatalf("frame %d is from %v: want 192.168.77.1 or .2", i+1, f.Frame[26:30])
		}
	}
	return decodeBoth(t, raw)
}

func decodeBoth(t *testing.T, raw [2][][]byte) (out [2]direction) {
	t.Helper()
	for side := range raw {
		for i, frame := range raw[side] {
			var p wire.Packet
			if err := wire.Decode(frame, &p); err != nil {
				t.Errorf("host %c, frame %d: %v", 'a'+side, i+1, err)
				continue
			}
			if sent, want := binary.BigEndian.Uint32(frame[len(frame)-4:]), plainICRC(frame[14:]); sent != want {
				t.Errorf("host %c, frame %d: ICRC 0x%08x sent, 0x%08x computed", 'a'+side, i+1, sent, want)
			}
			out[side].packets = append(out[side].packets, p)
			out[1-side].qpn = p.BTH.DestQP
			if p.BTH.Opcode.HasDETH() {
				out[side].qpn = p.DETH.SrcQP
			}
		}
	}
	return out
}

// runWire runs a script on the model and returns what each node sent.
func runWire(t *testing.T, file string) [2]direction {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var raw [2][][]byte
	for _, e := range traceWire(t, file, text) {
		if e.Kind == verbs.TracePacket {
			side := int(e.Node[0] - 'a')
			raw[side] = append(raw[side], e.Frame)
		}
	}
	return decodeBoth(t, raw)
}

// traceWire is the trace of a script on the model, which must hold.
func traceWire(t *testing.T, name string, text []byte) []verbs.TraceEvent {
	t.Helper()
	sc, err := script.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := model.Open(context.Background(), model.Options{
		Profile: "rxe-6.1", Seed: sc.Seed, Nodes: sc.Nodes, Trace: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, res, err := script.RunAll(context.Background(), b, sc)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failed != nil {
		t.Fatalf("the model fails at line %d: %s: %s", res.Failed.Line, res.Failed.Text, res.Failed.Got)
	}
	return b.Trace()
}

// lines writes the packets of a direction so that equal lines mean equal
// packets in everything but the numbers, keys and addresses that each run
// chooses. A key is its order of appearance, an address its distance from the
// first.
func (d direction) lines() []string {
	keys := map[uint32]int{}
	key := func(k uint32) int {
		if _, ok := keys[k]; !ok {
			keys[k] = len(keys) + 1
		}
		return keys[k]
	}
	var base uint64
	based := false
	place := func(va uint64) int64 {
		if !based {
			base, based = va, true
		}
		return int64(va - base)
	}
	var out []string
	for i := range d.packets {
		p := &d.packets[i]
		s := fmt.Sprintf("%v psn=%#x ack=%t se=%t mig=%t tver=%d pkey=%#x fecn=%t becn=%t resv=%d,%d pad=%d%v tos=%#x ttl=%d flags=%d udpsum=%#x",
			p.BTH.Opcode, p.BTH.PSN, p.BTH.AckReq, p.BTH.Solicited, p.BTH.MigReq, p.BTH.TVer, p.BTH.PKey, p.BTH.FECN,
			p.BTH.BECN, p.BTH.Resv6, p.BTH.Resv7, p.Pad(), p.PadBytes[:p.Pad()], p.TOS, p.TTL, p.IPFlags, p.UDPSum)
		op := p.BTH.Opcode
		if op.HasDETH() {
			s += fmt.Sprintf(" qkey=%#x", p.DETH.QKey)
		}
		if op.HasRETH() {
			s += fmt.Sprintf(" va=%+d key%d len=%d", place(p.RETH.VA), key(p.RETH.RKey), p.RETH.Len)
		}
		if op.HasAtomicETH() {
			s += fmt.Sprintf(" va=%+d key%d swapadd=%#x compare=%#x", place(p.AtomicETH.VA), key(p.AtomicETH.RKey),
				p.AtomicETH.SwapAdd, p.AtomicETH.Compare)
		}
		if op.HasAETH() {
			s += fmt.Sprintf(" syndrome=%#02x msn=%d", uint8(p.AETH.Syndrome), p.AETH.MSN)
		}
		if op.HasAtomicAckETH() {
			s += fmt.Sprintf(" original=%#x", p.AtomicAckETH.Orig)
		}
		if op.HasImm() {
			s += fmt.Sprintf(" imm=%#x", p.ImmDt.Data)
		}
		if op.HasIETH() {
			s += fmt.Sprintf(" inv=key%d", key(p.IETH.RKey))
		}
		out = append(out, s+" payload="+runs(p.Payload))
	}
	return out
}

// runs is a payload in short: each byte and how often it follows itself.
func runs(b []byte) string {
	out := fmt.Sprintf("%d:", len(b))
	for len(b) > 0 {
		n := len(b) - len(bytes.TrimLeft(b, string(b[:1])))
		if b[0] >= 0x80 { // TrimLeft's cut set is of runes
			for n = 1; n < len(b) && b[n] == b[0]; n++ {
			}
		}
		out += fmt.Sprintf(" %02x*%d", b[0], n)
		b = b[n:]
	}
	return out
}

// TestWire compares every capture, direction by direction and packet by packet,
// with what the model sends in the same script.
func TestWire(t *testing.T) {
	dir := wireCaptures(t)
	compared, scripts := 0, 0
	for _, name := range wireScripts(t) {
		if strings.HasPrefix(name, "loss-") {
			continue // TestWireLoss
		}
		t.Run(name, func(t *testing.T) {
			live := decodeLive(t, readCapture(t, filepath.Join(dir, name+".pcap")))
			ours := runWire(t, filepath.Join(wireDir, name+".rdma"))
			scripts++
			for side := range live {
				got, want := ours[side].lines(), live[side].lines()
				compared += len(want)
				for i := range max(len(got), len(want)) {
					g, w := "nothing", "nothing"
					if i < len(got) {
						g = got[i]
					}
					if i < len(want) {
						w = want[i]
					}
					if g != w {
						t.Errorf("host %c, packet %d: live and the model\n  %s\n  %s", 'a'+side, i+1, w, g)
					}
				}
				label := uint32(0)
				if name == "flow-label" {
					label = [2]uint32{0x12345, 0xf00d7}[side] // as the script sets them
				}
				ports(t, live[side], fmt.Sprintf("host %c, live", 'a'+side), live[1-side].qpn, label)
				ports(t, ours[side], fmt.Sprintf("host %c, the model", 'a'+side), ours[1-side].qpn, label)
			}
			if len(live[0].packets) == 0 {
				t.Error("nothing was captured from host a")
			}
		})
	}
	t.Logf("%d packets of %d scripts compared", compared, scripts)
}

// ports checks that every packet has the UDP source port of its flow; without
// an answer in the capture the peer's number is not needed, since it is in what
// this side sends, but this side's own may be unknown.
func ports(t *testing.T, d direction, who string, peer, label uint32) {
	t.Helper()
	for i := range d.packets {
		p := &d.packets[i]
		want := flowPort(d.qpn, peer, label)
		if p.BTH.Opcode.HasDETH() {
			want = hashPort(d.qpn)
		}
		if p.SrcPort != want && d.qpn != 0 {
			t.Errorf("%s, packet %d: UDP source port %#x from QP %#x to %#x, want %#x", who, i+1, p.SrcPort, d.qpn, peer, want)
		}
	}
}

// flowPort is the port of a connected queue pair: include/rdma/ib_verbs.h of
// Linux 6.1, rdma_get_udp_sport.
func flowPort(local, remote, label uint32) uint16 {
	if label == 0 {
		v := uint64(local) * uint64(remote)
		v ^= v >> 20
		v ^= v >> 40
		label = uint32(v & 0xfffff)
	}
	low, high := label&0x03fff, label&0xfc000
	return uint16(low^high>>14) | 0xc000
}

// hashPort is the port of a datagram queue pair: rxe_qp.c of Linux 6.1,
// hash_32(qp_num, 14), which is include/linux/hash.h's multiplication.
func hashPort(local uint32) uint16 { return uint16(local*0x61c88647>>(32-14)) + 0xc000 }

// TestWireLines: a packet that differs in any one field has another line, so
// that TestWire sees it.
func TestWireLines(t *testing.T) {
	p := wire.New(wire.RCCompareSwap)
	changes := map[string]func(p *wire.Packet){
		"opcode": func(p *wire.Packet) { p.BTH.Opcode = wire.RCSendOnly }, "PSN": func(p *wire.Packet) { p.BTH.PSN++ },
		"AckReq": func(p *wire.Packet) { p.BTH.AckReq = true }, "SE": func(p *wire.Packet) { p.BTH.Solicited = true },
		"MigReq": func(p *wire.Packet) { p.BTH.MigReq = true }, "P_Key": func(p *wire.Packet) { p.BTH.PKey-- },
		"BECN": func(p *wire.Packet) { p.BTH.BECN = true }, "reserved": func(p *wire.Packet) { p.BTH.Resv7++ },
		"TOS": func(p *wire.Packet) { p.TOS = 4 }, "TTL": func(p *wire.Packet) { p.TTL-- }, "DF": func(p *wire.Packet) { p.IPFlags = 0 },
		"pad": func(p *wire.Packet) { p.Payload = []byte{1} }, "payload": func(p *wire.Packet) { p.Payload = []byte{1, 1, 1, 2} },
		"swap": func(p *wire.Packet) { p.AtomicETH.SwapAdd++ }, "compare": func(p *wire.Packet) { p.AtomicETH.Compare++ },
	}
	of := func(op wire.Opcode, change func(p *wire.Packet)) {
		changes[fmt.Sprint(op, len(changes))] = func(p *wire.Packet) { p.BTH.Opcode = op; change(p) }
	}
	of(wire.RCAcknowledge, func(*wire.Packet) {})
	of(wire.RCAcknowledge, func(p *wire.Packet) { p.AETH.Syndrome = 0x60 })
	of(wire.RCAcknowledge, func(p *wire.Packet) { p.AETH.MSN++ })
	of(wire.RCReadRequest, func(*wire.Packet) {})
	of(wire.RCReadRequest, func(p *wire.Packet) { p.RETH.Len++ })
	of(wire.RCAtomicAcknowledge, func(*wire.Packet) {})
	of(wire.RCAtomicAcknowledge, func(p *wire.Packet) { p.AtomicAckETH.Orig++ })
	of(wire.RCSendOnlyImm, func(*wire.Packet) {})
	of(wire.RCSendOnlyImm, func(p *wire.Packet) { p.ImmDt.Data++ })
	of(wire.UDSendOnly, func(*wire.Packet) {})
	of(wire.UDSendOnly, func(p *wire.Packet) { p.DETH.QKey++ })
	line := func(p wire.Packet) string { return direction{packets: []wire.Packet{p}}.lines()[0] }
	seen := map[string]string{line(p): "unchanged"}
	for name, change := range changes {
		q := p
		change(&q)
		if other, twice := seen[line(q)]; twice {
			t.Errorf("%s and %s have the same line", name, other)
		}
		seen[line(q)] = name
	}
	// Keys and addresses by what they have in common.
	at := func(va uint64, key uint32) wire.Packet {
		p := wire.New(wire.RCReadRequest)
		p.RETH.VA, p.RETH.RKey = va, key
		return p
	}
	base := direction{packets: []wire.Packet{at(100, 7), at(164, 7)}}.lines()
	if moved := (direction{packets: []wire.Packet{at(900, 3), at(964, 3)}}).lines(); !slices.Equal(base, moved) {
		t.Error("another region and key make another line")
	}
	for _, other := range []wire.Packet{at(163, 7), at(164, 8)} {
		if slices.Equal(base, direction{packets: []wire.Packet{at(100, 7), other}}.lines()) {
			t.Error("another place, or another key in the second packet, is not seen")
		}
	}
}
