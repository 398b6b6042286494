package wire

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// needTool finds an outside program, or skips; RDMAPREP_REQUIRE makes that a failure.
func needTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), name) {
		t.Fatalf("%s is required (RDMAPREP_REQUIRE) and not installed: apt-get install %s", name, name)
	}
	t.Skipf("%s is not installed: apt-get install %s", name, name)
	return ""
}

// column is one field that tshark prints and what it must be for a packet.
// An empty value means that tshark must not show the field at all.
type column struct {
	name string
	want func(p *Packet) string
}

func when(on bool, v any) string {
	if !on {
		return ""
	}
	return fmt.Sprint(v)
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func hexBytes(on bool, n int, v uint64) string { return when(on, fmt.Sprintf("%0*x", 2*n, v)) }

// syn is how tshark 4.0 splits the syndrome, by kind.
func syn(k Syndrome) func(p *Packet) string {
	return func(p *Packet) string {
		return when(p.BTH.Opcode.HasAETH() && p.AETH.Syndrome.Kind() == k, p.AETH.Syndrome.Value())
	}
}

var columns = []column{
	{"infiniband.bth.opcode", func(p *Packet) string { return fmt.Sprint(uint8(p.BTH.Opcode)) }},
	{"infiniband.bth.se", func(p *Packet) string { return flag(p.BTH.Solicited) }},
	{"infiniband.bth.m", func(p *Packet) string { return flag(p.BTH.MigReq) }},
	{"infiniband.bth.padcnt", func(p *Packet) string { return fmt.Sprint(p.Pad()) }},
	{"infiniband.bth.tver", func(p *Packet) string { return fmt.Sprint(p.BTH.TVer) }},
	{"infiniband.bth.p_key", func(p *Packet) string { return fmt.Sprint(p.BTH.PKey) }},
	{"infiniband.bth.destqp", func(p *Packet) string { return fmt.Sprintf("0x%06x", p.BTH.DestQP) }},
	{"infiniband.bth.a", func(p *Packet) string { return flag(p.BTH.AckReq) }},
	{"infiniband.bth.reserved7", func(p *Packet) string { return fmt.Sprint(p.BTH.Resv7) }},
	{"infiniband.bth.psn", func(p *Packet) string { return fmt.Sprint(p.BTH.PSN) }},
	{"infiniband.deth.q_key", func(p *Packet) string {
		return when(p.BTH.Opcode.HasDETH(), fmt.Sprintf("0x%016x", p.DETH.QKey))
	}},
	{"infiniband.deth.srcqp", func(p *Packet) string {
		return when(p.BTH.Opcode.HasDETH(), fmt.Sprintf("0x%08x", p.DETH.SrcQP))
	}},
	{"infiniband.rdeth.eecnxt", func(p *Packet) string { return when(p.BTH.Opcode.HasRDETH(), p.RDETH.EEContext) }},
	{"infiniband.reth.va", func(p *Packet) string {
		// The dissector has one VA field for both headers.
		va := p.RETH.VA | p.AtomicETH.VA
		return when(p.BTH.Opcode.HasRETH() || p.BTH.Opcode.HasAtomicETH(), fmt.Sprintf("0x%016x", va))
	}},
	{"infiniband.reth.r_key", func(p *Packet) string {
		key := p.RETH.RKey | p.AtomicETH.RKey
		return when(p.BTH.Opcode.HasRETH() || p.BTH.Opcode.HasAtomicETH(), fmt.Sprintf("0x%08x", key))
	}},
	{"infiniband.reth.dmalen", func(p *Packet) string { return when(p.BTH.Opcode.HasRETH(), p.RETH.Len) }},
	{"infiniband.atomiceth.swapdt", func(p *Packet) string {
		return when(p.BTH.Opcode.HasAtomicETH(), p.AtomicETH.SwapAdd)
	}},
	{"infiniband.atomiceth.cmpdt", func(p *Packet) string {
		return when(p.BTH.Opcode.HasAtomicETH(), p.AtomicETH.Compare)
	}},
	{"infiniband.aeth.syndrome", func(p *Packet) string {
		return when(p.BTH.Opcode.HasAETH(), uint8(p.AETH.Syndrome))
	}},
	{"infiniband.aeth.syndrome.credit_count", syn(SyndromeACK)},
	{"infiniband.aeth.syndrome.timer", syn(SyndromeRNRNAK)},
	{"infiniband.aeth.syndrome.error_code", syn(SyndromeNAK)},
	{"infiniband.aeth.msn", func(p *Packet) string { return when(p.BTH.Opcode.HasAETH(), p.AETH.MSN) }},
	{"infiniband.atomicacketh.origremdt", func(p *Packet) string {
		return when(p.BTH.Opcode.HasAtomicAckETH(), p.AtomicAckETH.Orig)
	}},
	{"infiniband.immdt", func(p *Packet) string { return hexBytes(p.BTH.Opcode.HasImm(), 4, uint64(p.ImmDt.Data)) }},
	{"infiniband.ieth", func(p *Packet) string { return hexBytes(p.BTH.Opcode.HasIETH(), 4, uint64(p.IETH.RKey)) }},
	{"ip.dsfield.dscp", func(p *Packet) string { return when(!p.V6, p.DSCP()) }},
	{"ip.dsfield.ecn", func(p *Packet) string { return when(!p.V6, p.ECN()) }},
	{"ip.ttl", func(p *Packet) string { return when(!p.V6, p.TTL) }},
	{"ip.checksum.status", func(p *Packet) string { return when(!p.V6, 1) }},
	{"ip.src", func(p *Packet) string { return when(!p.V6, p.Src.IP()) }},
	{"ip.dst", func(p *Packet) string { return when(!p.V6, p.Dst.IP()) }},
	{"ipv6.tclass.dscp", func(p *Packet) string { return when(p.V6, p.DSCP()) }},
	{"ipv6.flow", func(p *Packet) string { return when(p.V6, fmt.Sprintf("0x%06x", p.FlowLabel)) }},
	{"ipv6.hlim", func(p *Packet) string { return when(p.V6, p.TTL) }},
	{"udp.srcport", func(p *Packet) string { return fmt.Sprint(p.SrcPort) }},
	{"udp.length", func(p *Packet) string { return fmt.Sprint(8 + p.UDPPayloadLen()) }},
	{"vlan.id", func(p *Packet) string { return when(p.VLAN, p.TCI&0xfff) }},
}

// tshark runs the dissector on a capture and returns a row of values per frame.
func tshark(t *testing.T, path, file string, cols []string) [][]string {
	t.Helper()
	// rxe sends IPv6 without a UDP checksum, which RFC 6935 permits tunnels and tshark complains of by default.
	args := []string{
		"-n", "-r", file, "-o", "ip.check_checksum:TRUE", "-o", "udp.ignore_ipv6_zero_checksum:TRUE", "-T", "fields",
		"-E", "occurrence=f", "-E", "separator=;",
	}
	// The heuristics of tshark -G heuristic-decodes that take a random payload for a protocol above RoCE are off.
	for _, above := range []string{
		"smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "infiniband.eoib", "infiniband_sdp", "fcoib",
	} {
		args = append(args, "--disable-protocol", above)
	}
	for _, c := range cols {
		args = append(args, "-e", c)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), ";"))
	}
	return rows
}

// compareTshark decodes every RoCE frame and compares field by field. Frames
// of an opcode that the dissector lacks are held to their BTH.
func compareTshark(t *testing.T, path, file string, frames []TimedFrame) int {
	t.Helper()
	names := []string{"_ws.malformed", "_ws.expert.severity", "_ws.expert.message", "infiniband.invariant.crc", "frame.protocols"}
	head := len(names)
	for _, c := range columns {
		names = append(names, c.name)
	}
	rows := tshark(t, path, file, names)
	if len(rows) != len(frames) {
		t.Fatalf("%s: tshark has %d frames, we have %d", file, len(rows), len(frames))
	}
	n := 0
	for i, f := range frames {
		var p Packet
		isRoCE := strings.Contains(rows[i][4], "infiniband")
		err := Decode(f.Frame, &p)
		if isRoCE != (err == nil) {
			t.Fatalf("%s frame %d: %v; tshark says %s", file, i+1, err, rows[i][4])
		}
		if !isRoCE {
			continue
		}
		n++
		row := rows[i]
		// PI_ERROR is 0x00800000; warnings and notes are about the values that we drew.
		sev, _ := strconv.Atoi(row[1])
		if (row[0] != "" || sev >= 0x00800000) && p.BTH.Opcode.Transport() != RD {
			t.Errorf("%s frame %d %v: malformed %q, %s %q", file, i+1, p.BTH.Opcode, row[0], row[1], row[2])
		}
		known := !tsharkLacks(p.BTH.Opcode)
		if known {
			if want := fmt.Sprintf("0x%08x", be.Uint32(f.Frame[len(f.Frame)-4:])); row[3] != want {
				t.Errorf("%s frame %d %v: ICRC %s, want %s", file, i+1, p.BTH.Opcode, row[3], want)
			}
		}
		for j, c := range columns {
			ext := strings.HasPrefix(c.name, "infiniband.") && !strings.HasPrefix(c.name, "infiniband.bth.")
			if !known && ext {
				continue
			}
			if want := c.want(&p); row[head+j] != want {
				t.Errorf("%s frame %d %v: %s is %q, ours %q", file, i+1, p.BTH.Opcode, c.name, row[head+j], want)
			}
		}
	}
	return n
}

// tsharkLacks lists what the dissector of Wireshark 4.0 does not take apart
// past the BTH: FLUSH, ATOMIC_WRITE, CNP and XRC; and RD, where it looks for
// the DETH before the RDETH, against rxe_opcode.c (and the specification).
func tsharkLacks(op Opcode) bool {
	return op == RCFlush || op == RCAtomicWrite || op == CongestionNotify ||
		op.Transport() == XRC || op.Transport() == RD
}

// All captures in one file, since a start of tshark costs more than its work.
func TestTsharkCaptures(t *testing.T) {
	path := needTool(t, "tshark")
	all := captures(t)
	var frames []TimedFrame
	for _, name := range slices.Sorted(maps.Keys(all)) {
		frames = append(frames, all[name]...)
	}
	n := compareTshark(t, path, writeCapture(t, frames), frames)
	if want := 252; n < want {
		t.Errorf("%d RoCE frames compared, testdata has %d", n, want)
	}
}

func writeCapture(t *testing.T, frames []TimedFrame) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePCAP(&b, frames); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.pcap")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Random packets of every opcode, ten of each, read by tshark field by field.
func TestTsharkEveryOpcode(t *testing.T) {
	path := needTool(t, "tshark")
	var frames []TimedFrame
	for _, op := range knownOpcodes() {
		gen := rapid.Custom(func(t *rapid.T) Packet { return drawPacket(t, op) })
		for seed := range 10 {
			p := gen.Example(seed)
			// QP 1 and a source QP of 0 are management traffic to the dissector, which then reads the payload.
			p.BTH.DestQP |= 0x100
			p.DETH.SrcQP |= 0x100
			// A source port that is some other protocol's would win the frame.
			p.SrcPort |= 0xc000
			frames = append(frames, TimedFrame{Frame: AppendFrame(nil, &p)})
		}
	}
	if n := compareTshark(t, path, writeCapture(t, frames), frames); n != len(frames) {
		t.Errorf("%d of %d frames compared", n, len(frames))
	}
}
