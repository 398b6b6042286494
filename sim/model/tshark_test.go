package model_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// capturedFrame is a frame of a transcript and where it comes from.
type capturedFrame struct {
	from  string // file, line, profile and event
	frame []byte
	sent  verbs.PacketInfo // what the model says that it sent
	// flipped: a fault line flipped a bit, so that the ICRC must not match.
	flipped bool
}

// TestTsharkTranscripts writes what crosses the wire in every transcript, under
// every profile, to a capture, and lets Wireshark's dissector read it:
// nothing malformed, no complaint of any severity, and its fields are those
// that sim/wire decodes. Whether the expect lines hold is TestTranscripts's
// matter; here a script that stops at one still has its frames read.
func TestTsharkTranscripts(t *testing.T) {
	path, err := exec.LookPath("tshark")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "tshark") {
			t.Fatal("tshark is required (RDMAPREP_REQUIRE) and not installed: apt-get install tshark")
		}
		t.Skip("tshark is not installed: apt-get install tshark")
	}
	files, _ := filepath.Glob("testdata/*.txt")
	for _, s := range suites {
		files = append(files, s.transcripts(t)...)
	}
	// Many of them in one capture, since a start of tshark costs more than its work.
	const captured = 20000
	var frames []capturedFrame
	seen, compared := map[wire.Opcode]bool{}, 0
	for i, file := range files {
		frames = append(frames, transcriptFrames(t, file)...)
		if len(frames) < captured && i+1 < len(files) {
			continue
		}
		rows := dissect(t, path, frames)
		for i, f := range frames {
			seen[compareRow(t, f, rows[i])] = true
		}
		compared += len(frames)
		frames = frames[:0]
	}
	// The transcripts send at least: SEND, WRITE and READ in one and in several
	// packets, an atomic and an acknowledgement of RC, and SEND of UC and UD.
	for _, op := range []wire.Opcode{
		opRC("SEND_ONLY"), opRC("SEND_FIRST"), opRC("SEND_LAST"), opRC("RDMA_WRITE_ONLY"), opRC("RDMA_READ_REQUEST"),
		opRC("RDMA_READ_RESPONSE_ONLY"), opRC("ACKNOWLEDGE"), opRC("ATOMIC_ACKNOWLEDGE"),
		opRC("SEND_ONLY") | wire.Opcode(wire.UC), opRC("SEND_ONLY") | wire.Opcode(wire.UD),
	} {
		if !seen[op] {
			t.Errorf("no transcript sends %v", op)
		}
	}
	t.Logf("%d frames of %d opcodes compared", compared, len(seen))
}

// opRC is the opcode of RC with that operation.
func opRC(operation string) wire.Opcode {
	for op := range 32 {
		if wire.Opcode(op).Operation() == operation {
			return wire.Opcode(op)
		}
	}
	panic("no operation " + operation)
}

// transcriptFrames runs every script of a file and returns what was sent.
func transcriptFrames(t *testing.T, file string) []capturedFrame {
	t.Helper()
	var out []capturedFrame
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		for _, profile := range model.ProfileNames() {
			sc, err := script.Parse(d.Pos, []byte("script 1\n"+d.Input))
			if err != nil {
				t.Fatal(err)
			}
			b, err := model.Open(context.Background(), model.Options{
				Profile: profile, Seed: sc.Seed, Nodes: sc.Nodes, Trace: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := script.RunAll(context.Background(), b, sc); err != nil {
				t.Fatal(err)
			}
			flipped := corrupted(b.Trace())
			for _, e := range b.Trace() {
				if len(e.Frame) > 0 {
					from := fmt.Sprintf("%s %s event %d", d.Pos, profile, e.Seq)
					out = append(out, capturedFrame{from, e.Frame, e.Packet, flipped[e.Seq]})
				}
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return d.Expected
	})
	return out
}

// tsharkColumns are the fields that are compared, and what each must be; a
// field of a header that the packet lacks must not be there.
var tsharkColumns = []struct {
	name string
	want func(p *wire.Packet) string
}{
	{"infiniband.bth.opcode", func(p *wire.Packet) string { return fmt.Sprint(uint8(p.BTH.Opcode)) }},
	{"infiniband.bth.psn", func(p *wire.Packet) string { return fmt.Sprint(p.BTH.PSN) }},
	{"infiniband.bth.destqp", func(p *wire.Packet) string { return fmt.Sprintf("0x%06x", p.BTH.DestQP) }},
	{"infiniband.bth.a", func(p *wire.Packet) string { return bit(p.BTH.AckReq) }},
	{"infiniband.bth.se", func(p *wire.Packet) string { return bit(p.BTH.Solicited) }},
	{"infiniband.bth.padcnt", func(p *wire.Packet) string { return fmt.Sprint(p.Pad()) }},
	{"infiniband.bth.p_key", func(p *wire.Packet) string { return fmt.Sprint(p.BTH.PKey) }},
	{"infiniband.deth.q_key", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasDETH(), "0x%016x", p.DETH.QKey)
	}},
	{"infiniband.deth.srcqp", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasDETH(), "0x%08x", p.DETH.SrcQP)
	}},
	// The dissector has one address and one key for RETH and AtomicETH.
	{"infiniband.reth.va", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasRETH() || p.BTH.Opcode.HasAtomicETH(), "0x%016x", p.RETH.VA|p.AtomicETH.VA)
	}},
	{"infiniband.reth.r_key", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasRETH() || p.BTH.Opcode.HasAtomicETH(), "0x%08x", p.RETH.RKey|p.AtomicETH.RKey)
	}},
	{"infiniband.reth.dmalen", func(p *wire.Packet) string { return present(p.BTH.Opcode.HasRETH(), "%d", p.RETH.Len) }},
	{"infiniband.atomiceth.swapdt", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasAtomicETH(), "%d", p.AtomicETH.SwapAdd)
	}},
	{"infiniband.atomiceth.cmpdt", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasAtomicETH(), "%d", p.AtomicETH.Compare)
	}},
	{"infiniband.atomicacketh.origremdt", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasAtomicAckETH(), "%d", p.AtomicAckETH.Orig)
	}},
	{"infiniband.aeth.syndrome", func(p *wire.Packet) string {
		return present(p.BTH.Opcode.HasAETH(), "%d", uint8(p.AETH.Syndrome))
	}},
	{"infiniband.aeth.msn", func(p *wire.Packet) string { return present(p.BTH.Opcode.HasAETH(), "%d", p.AETH.MSN) }},
	{"infiniband.immdt", func(p *wire.Packet) string { return present(p.BTH.Opcode.HasImm(), "%08x", p.ImmDt.Data) }},
	{"infiniband.ieth", func(p *wire.Packet) string { return present(p.BTH.Opcode.HasIETH(), "%08x", p.IETH.RKey) }},
	{"ip.dsfield", func(p *wire.Packet) string { return fmt.Sprintf("0x%02x", p.TOS) }},
	{"ip.src", func(p *wire.Packet) string { return p.Src.IP().String() }},
	{"ip.dst", func(p *wire.Packet) string { return p.Dst.IP().String() }},
	{"ip.checksum.status", func(*wire.Packet) string { return "1" }}, // 1 is good
	{"udp.length", func(p *wire.Packet) string { return fmt.Sprint(8 + p.UDPPayloadLen()) }},
}

func present[T any](on bool, format string, v T) string {
	if !on {
		return ""
	}
	return fmt.Sprintf(format, v)
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// dissect returns a row of tshark for every frame: malformed, the ICRC, the
// columns, and the complaints last.
func dissect(t *testing.T, path string, frames []capturedFrame) [][]string {
	t.Helper()
	timed := make([]wire.TimedFrame, len(frames))
	for i, f := range frames {
		timed[i].Frame = f.frame
	}
	var b bytes.Buffer
	if err := wire.WritePCAP(&b, timed); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "transcripts.pcap")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"-n", "-r", file, "-o", "ip.check_checksum:TRUE", "-T", "fields",
		"-E", "occurrence=a", "-E", "aggregator=|", "-E", "separator=;",
	}
	// These guess that a payload is a protocol above RoCE; here it is the learner's bytes.
	for _, above := range []string{
		"smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "infiniband.eoib", "infiniband_sdp", "fcoib",
	} {
		args = append(args, "--disable-protocol", above)
	}
	args = append(args, "-e", "_ws.malformed", "-e", "infiniband.invariant.crc")
	for _, c := range tsharkColumns {
		args = append(args, "-e", c.name)
	}
	args = append(args, "-e", "_ws.expert.message")
	var stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.SplitN(strings.TrimRight(line, "\n"), ";", len(tsharkColumns)+3))
	}
	if len(rows) != len(frames) {
		t.Fatalf("tshark shows %d frames of %d", len(rows), len(frames))
	}
	return rows
}

// compareRow holds one frame against tshark's row and returns its opcode.
func compareRow(t *testing.T, f capturedFrame, row []string) wire.Opcode {
	t.Helper()
	var p wire.Packet
	err := wire.Decode(f.frame, &p)
	if bad := (*wire.ICRCError)(nil); f.flipped != errors.As(err, &bad) || err != nil && bad == nil {
		t.Errorf("%s: corrupted %t, decoding says %v", f.from, f.flipped, err)
		return 0
	}
	is := verbs.PacketInfo{
		Opcode: p.BTH.Opcode.Operation(), PSN: p.BTH.PSN, AckReq: p.BTH.AckReq, Syndrome: uint8(p.AETH.Syndrome),
		HasAETH: p.BTH.Opcode.HasAETH(), Payload: len(p.Payload),
	}
	if is != f.sent {
		t.Errorf("%s: the model sent %+v, the frame is %+v", f.from, f.sent, is)
	}
	if complaint := row[len(row)-1]; row[0] != "" || complaint != "" {
		t.Errorf("%s %v: malformed %q, tshark says %q", f.from, p.BTH.Opcode, row[0], complaint)
	}
	sent := binary.BigEndian.Uint32(f.frame[len(f.frame)-4:])
	if want := fmt.Sprintf("0x%08x", sent); row[1] != want {
		t.Errorf("%s %v: tshark's ICRC is %s, sent %s", f.from, p.BTH.Opcode, row[1], want)
	}
	if want := plainICRC(f.frame[14:]); (sent != want) != f.flipped {
		t.Errorf("%s %v: the ICRC sent is 0x%08x, computed 0x%08x", f.from, p.BTH.Opcode, sent, want)
	}
	for i, c := range tsharkColumns {
		got, _, _ := strings.Cut(row[2+i], "|") // the dissector lists immediate data twice
		if want := c.want(&p); got != want {
			t.Errorf("%s %v: %s is %q, ours %q", f.from, p.BTH.Opcode, c.name, got, want)
		}
	}
	return p.BTH.Opcode
}

// plainICRC is the ICRC of an IPv4 packet by the words of IBTA annex A17:
// Ethernet's CRC-32 over eight bytes of ones and the packet in which all that
// routers may change is ones: TOS, TTL, both checksums, and BTH's first
// reserved byte. The checksum goes out low byte first; the result is as the
// four bytes read.
func plainICRC(ip []byte) uint32 {
	b := append(bytes.Repeat([]byte{0xff}, 8), ip[:len(ip)-4]...)
	for _, at := range []int{1, 8, 10, 11, 20 + 6, 20 + 7, 28 + 4} {
		b[8+at] = 0xff
	}
	return binary.BigEndian.Uint32(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)))
}
