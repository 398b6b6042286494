package cli_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rdmaprep/cmd/rdmaprep/internal/cli"
	"rdmaprep/sim/wire"
)

const hostCaptures = "../../../../sim/wire/testdata"

// show runs rdmaprep wire in this process.
func show(t *testing.T, in []byte, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	host := cli.Host{In: bytes.NewReader(in), Out: &out, Err: &errs}
	code = cli.Main(t.Context(), host, append([]string{"wire"}, args...))
	return out.String(), errs.String(), code
}

// TestWireHostCaptures: captures of two Linux hosts. The counts are tshark's,
// with the filters udp.dstport==4791, arp, icmpv6 && ipv6.nxt==58,
// ipv6.nxt==0 and tcp.
func TestWireHostCaptures(t *testing.T) {
	for _, c := range []struct{ file, last string }{
		{"rc-read.pcap", "30 frames, 30 of RoCEv2\n"},
		{"pingpong-ipv6.pcap", "72 frames, 72 of RoCEv2\n"},
		{"ud-send.pcap", "48 frames, 5 of RoCEv2; not shown: 2 ARP, 6 ICMPv6, 8 IPv6 with hop-by-hop options, 27 TCP\n"},
	} {
		out, errs, code := show(t, nil, filepath.Join(hostCaptures, c.file))
		if code != 0 || errs != "" {
			t.Errorf("%s: exit status %d, %s", c.file, code, errs)
		}
		if !strings.HasSuffix(out, "\n\n"+c.last) {
			t.Errorf("%s ends\n%s\nwant %s", c.file, out[max(0, len(out)-300):], c.last)
		}
		if strings.Contains(out, "(!)") {
			t.Errorf("%s: tshark finds no problem, we show\n%s", c.file, out)
		}
	}
	out, _, _ := show(t, nil, filepath.Join(hostCaptures, "ud-send.pcap"))
	if !regexp.MustCompile(`(?m)^ +\d+ +[\d.]+ ms  192\.168\.77\.2 -> 192\.168\.77\.1  UD SEND_ONLY psn=\d+ src-qp=17 qkey=0x11111111 len=1000$`).MatchString(out) {
		t.Errorf("no datagram in\n%s", out)
	}
}

// TestWireShowsEveryByte: the offsets and bytes of --fields make up the frames.
func TestWireShowsEveryByte(t *testing.T) {
	for _, name := range []string{"rc-read.pcap", "pingpong-ipv6.pcap"} {
		src, err := os.ReadFile(filepath.Join(hostCaptures, name))
		if err != nil {
			t.Fatal(err)
		}
		frames, err := wire.ReadPCAP(bytes.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		out, _, _ := show(t, src, "--fields", "-")
		shown := make([][]byte, len(frames))
		header := regexp.MustCompile(`^ *(\d+) +[\d.]+ ms  `)
		field := regexp.MustCompile(`^ {6} *(\d+)  ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)`)
		at := -1
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if m := header.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				at = n - 1
				shown[at] = make([]byte, len(frames[at].Frame))
				for i := range shown[at] {
					shown[at][i] = ^frames[at].Frame[i] // a byte that is not shown is wrong
				}
			} else if m := field.FindStringSubmatch(line); m != nil {
				offset, _ := strconv.Atoi(m[1])
				b, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
				if err != nil {
					t.Fatal(err)
				}
				copy(shown[at][offset:], b)
			}
		}
		for i, f := range frames {
			if !bytes.Equal(shown[i], f.Frame) {
				t.Fatalf("%s frame %d is shown as\n%x, is\n%x", name, i+1, shown[i], f.Frame)
			}
		}
	}
}

// TestWireDamage: what a capture may have wrong is said beside the frame, and a
// file that ends early shows what it holds and fails.
func TestWireDamage(t *testing.T) {
	p := wire.New(wire.RCFetchAdd)
	p.Src, p.Dst = wire.Addr{10: 0xff, 11: 0xff, 12: 10, 15: 1}, wire.Addr{10: 0xff, 11: 0xff, 12: 10, 15: 2}
	p.AtomicETH.SwapAdd = 77
	frame := wire.AppendFrame(nil, &p)
	// The last of 28 bytes of AtomicETH, before an ICRC of four, is the end of the headers.
	headers := len(frame) - 4
	wrong := bytes.Clone(frame)
	binary.BigEndian.PutUint32(wrong[headers:], ^binary.BigEndian.Uint32(frame[headers:]))
	var b bytes.Buffer
	if err := wire.WritePCAP(&b, []wire.TimedFrame{
		{Frame: wrong},
		{Frame: frame[:headers], Len: len(frame)},
		{Frame: frame[:headers-1], Len: len(frame)},
	}); err != nil {
		t.Fatal(err)
	}
	out, _, code := show(t, b.Bytes(), "-")
	lines := strings.Split(out, "\n")
	// Not the model's MAC addresses, so not its nodes.
	for i, want := range []string{
		`10\.0\.0\.1 -> 10\.0\.0\.2  FETCH_ADD .*add=77  \(!\) ICRC is 0x[0-9a-f]{8}, should be 0x[0-9a-f]{8}$`,
		`10\.0\.0\.1 -> 10\.0\.0\.2  FETCH_ADD .*add=77  \(!\) the capture holds 82 of its 86 bytes`,
		`10\.0\.0\.1 -> 10\.0\.0\.2  \(!\) the capture holds 81 of its 86 bytes`,
	} {
		if code != 0 || !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("exit status %d, line %q, want %s", code, lines[i], want)
		}
	}
	out, errs, code := show(t, b.Bytes()[:b.Len()-10], "-")
	if code != 1 || !strings.Contains(out, "2 frames, 2 of RoCEv2") || !strings.Contains(errs, "cannot be read after its frame 2") {
		t.Errorf("a file that ends early: exit status %d\n%s%s", code, out, errs)
	}
}
