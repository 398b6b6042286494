package model_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// Which packets tc netem takes is chance, so that no run of the model can be
// compared with a lossy capture packet by packet. What the capture has is
// everything that reached host b and everything that it answered: so the
// answers follow from the requests by the responder's rules, and what was sent
// again is judged by the requester's.

// lossPacket is a packet of a capture with its time and sender.
type lossPacket struct {
	wire.Packet
	at    time.Duration
	fromB bool
}

// lossCapture decodes a capture in its order. decodeLive has looked at every ICRC.
func lossCapture(t *testing.T, frames []wire.TimedFrame) []lossPacket {
	t.Helper()
	out := make([]lossPacket, len(frames))
	for i, f := range frames {
		if err := wire.Decode(f.Frame, &out[i].Packet); err != nil {
			t.Fatalf("frame %d: %v", i+1, err)
		}
		out[i].at, out[i].fromB = f.At, f.Frame[14+15] == 2
	}
	return out
}

// psnBefore is a < b on the circle of 24 bits.
func psnBefore(a, b uint32) bool { return int32((a-b)<<8) < 0 }

func psnPlus(a, n uint32) uint32 { return (a + n) & 0xffffff }

// firstPSN is what every loss script begins with: pair's default.
const firstPSN = 0x100

// lossScripts are those that run under tc netem.
var lossScripts = []string{"loss-send", "loss-write", "loss-read"}

// TestWireLoss looks at the captures of the scripts under tc netem.
func TestWireLoss(t *testing.T) {
	dir := wireCaptures(t)
	for _, name := range lossScripts {
		t.Run(name, func(t *testing.T) {
			frames := readCapture(t, filepath.Join(dir, name+".pcap"))
			decodeLive(t, frames)
			byTheRules(t, name, lossCapture(t, frames))
		})
	}
}

// byTheRules holds a lossy run of a script against the rules.
func byTheRules(t *testing.T, name string, packets []lossPacket) {
	t.Helper()
	data := runWire(t, filepath.Join(wireDir, name+".rdma"))[0].packets
	sameAsUnlost(t, packets, data)
	if name == "loss-read" {
		lossyReads(t, packets)
	} else {
		lossyRequests(t, packets, len(data))
	}
}

// TestWireLossModel: the model under losses of the same rate, drawn from twenty
// seeds, keeps the same rules, and the script holds.
func TestWireLossModel(t *testing.T) {
	for _, name := range lossScripts {
		text, err := os.ReadFile(filepath.Join(wireDir, name+".rdma"))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				byTheRules(t, name, lossTrace(t, traceWire(t, name, withLosses(text, seed))))
			})
		}
	}
}

// withLosses takes one in ten of the first 80 packets that host a sends.
func withLosses(text []byte, seed uint64) []byte {
	rnd := rand.New(rand.NewPCG(seed, 0))
	at := bytes.Index(text, []byte("\npair ")) + 1
	at += bytes.IndexByte(text[at:], '\n') + 1
	out := bytes.Clone(text[:at])
	for i := range 80 {
		if rnd.IntN(10) == 0 {
			out = fmt.Appendf(out, "fault drop a->b any skip=%d count=1\n", i)
		}
	}
	return append(out, text[at:]...)
}

// lossTrace is a trace as host b sees it: what reached it and what it sent.
func lossTrace(t *testing.T, trace []verbs.TraceEvent) []lossPacket {
	t.Helper()
	var out []lossPacket
	for _, e := range trace {
		frame := e.Frame
		switch {
		case e.Kind == verbs.TracePacket && e.Node == "b":
		case e.Kind == verbs.TraceDeliver && e.Node == "b":
			frame = trace[e.Cause].Frame
		default:
			continue
		}
		p := lossPacket{at: e.At, fromB: e.Kind == verbs.TracePacket}
		if err := wire.Decode(frame, &p.Packet); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// sameAsUnlost: what host a sends, once or again, has under each PSN the
// opcode, the flags, the lengths and the payload of the model's run without
// loss; and every PSN of it arrived in the end. An acknowledgement may be asked
// for where it was not before.
func sameAsUnlost(t *testing.T, packets []lossPacket, unlost []wire.Packet) {
	t.Helper()
	want, seen, again := map[uint32]*wire.Packet{}, map[uint32]bool{}, 0
	for i := range unlost {
		want[unlost[i].BTH.PSN] = &unlost[i]
	}
	for i := range packets {
		p := &packets[i]
		if p.fromB {
			continue
		}
		w := want[p.BTH.PSN]
		if w == nil {
			t.Errorf("frame %d: PSN %#x is none of the transfer's", i+1, p.BTH.PSN)
			continue
		}
		if seen[p.BTH.PSN] {
			again++
		}
		seen[p.BTH.PSN] = true
		if p.BTH.Opcode != w.BTH.Opcode || p.BTH.AckReq != w.BTH.AckReq || p.RETH.Len != w.RETH.Len || !bytes.Equal(p.Payload, w.Payload) {
			t.Errorf("frame %d: PSN %#x is %v of %d bytes, without loss %v of %d", i+1, p.BTH.PSN,
				p.BTH.Opcode, len(p.Payload), w.BTH.Opcode, len(w.Payload))
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%d PSNs arrived of %d", len(seen), len(want))
	}
	t.Logf("%d frames, %d PSNs, %d arrived more than once", len(packets), len(want), again)
}

// lossyRequests: host a sends n packets of SENDs or WRITEs, and b answers.
func lossyRequests(t *testing.T, packets []lossPacket, n int) {
	t.Helper()
	goesBack(t, packets)
	answers := predicted(packets)
	at, gaps := 0, 0
	for i := range packets {
		p := &packets[i]
		if !p.fromB {
			continue
		}
		if at == len(answers) {
			t.Fatalf("frame %d: %v %v for PSN %#x answers nothing", i+1, p.BTH.Opcode, p.AETH.Syndrome, p.BTH.PSN)
		}
		is := answer{p.BTH.PSN, p.AETH.MSN, p.AETH.Syndrome}
		if is != answers[at] {
			t.Errorf("frame %d, answer %d: %+v, the rules say %+v", i+1, at+1, is, answers[at])
		}
		if is.syndrome == wire.Nak(wire.NakPSNSequence) {
			gaps++
		}
		if psnBefore(psnPlus(firstPSN, uint32(n)), p.BTH.PSN) {
			t.Errorf("frame %d: PSN %#x was never asked for", i+1, p.BTH.PSN)
		}
		at++
	}
	if at != len(answers) {
		t.Errorf("%d answers of %d", at, len(answers))
	}
	t.Logf("%d answers, %d of them NAK sequence", at, gaps)
}

// answer is what an acknowledgement or NAK says.
type answer struct {
	psn, msn uint32
	syndrome wire.Syndrome
}

// predicted is what a responder answers to the requests that reached it:
// rxe_resp.c of Linux 6.1. check_psn: one NAK of a gap, under the PSN that is
// missing, until it comes; duplicate_request: what was executed before is
// acknowledged again under the last PSN that was; acknowledge: a packet that
// asks for it.
func predicted(packets []lossPacket) []answer {
	var out []answer
	expected, msn, naked := uint32(firstPSN), uint32(0), false
	for i := range packets {
		p := &packets[i]
		if p.fromB {
			continue
		}
		switch psn := p.BTH.PSN; {
		case psnBefore(expected, psn):
			if !naked {
				out = append(out, answer{expected, msn, wire.Nak(wire.NakPSNSequence)})
			}
			naked = true
		case psnBefore(psn, expected):
			out = append(out, answer{psnPlus(expected, 0xffffff), msn, wire.Ack(wire.UnlimitedCredits)})
		default:
			naked = false
			expected = psnPlus(expected, 1)
			if p.BTH.Opcode.Ends() {
				msn++
			}
			if p.BTH.AckReq {
				out = append(out, answer{psn, msn, wire.Ack(wire.UnlimitedCredits)})
			}
		}
	}
	return out
}

// goesBack: host a steps back to the PSN of a NAK that it got (or beyond, if the
// first packets of the repetition were lost), each NAK good for one step, and
// never again behind a NAK that it has obeyed. Any other step back is a
// timeout's, of which there cannot be more than the time allows. A NAK may have
// come just before a timeout and be read after it.
func goesBack(t *testing.T, packets []lossPacket) {
	t.Helper()
	const ackTimeout = 60 * time.Millisecond // timeout=14 is 67 ms, in ticks of 4 ms
	var naks []uint32                        // not obeyed yet
	last, obeyed, timeouts, steps := uint32(firstPSN-1), uint32(firstPSN), 0, 0
	for i := range packets {
		p := &packets[i]
		if p.fromB {
			if p.AETH.Syndrome.IsNak() {
				naks = append(naks, p.BTH.PSN)
			}
			continue
		}
		back := !psnBefore(last, p.BTH.PSN)
		last = p.BTH.PSN
		if !back {
			continue
		}
		steps++
		if psnBefore(last, obeyed) {
			t.Errorf("frame %d: back to PSN %#x, behind the NAK of %#x", i+1, last, obeyed)
		}
		n := 0
		for n < len(naks) && !psnBefore(last, naks[n]) {
			obeyed = naks[n]
			n++
		}
		naks = naks[n:]
		if n > 0 {
			continue
		}
		timeouts++
		if most := 1 + int((p.at-packets[0].at)/ackTimeout); timeouts > most {
			t.Errorf("frame %d: back to PSN %#x with no NAK, for the %dth time in %v", i+1, last, timeouts, p.at-packets[0].at)
		}
	}
	t.Logf("%d steps back, %d of them by timeout", steps, timeouts)
}

// lossyReads: b asks and asks again; each request is for the rest of a READ, so
// that its address and length follow from its PSN.
func lossyReads(t *testing.T, packets []lossPacket) {
	t.Helper()
	const mtu, each = 256, 8 // packets of one READ
	asked, again := uint32(firstPSN), 0
	var base uint64
	requests := map[uint32]bool{}
	for i := range packets {
		p := &packets[i]
		if !p.fromB {
			if !psnBefore(p.BTH.PSN, asked) {
				t.Errorf("frame %d: a response for PSN %#x before it was asked for (%#x is next)", i+1, p.BTH.PSN, asked)
			}
			continue
		}
		if base == 0 {
			base = p.RETH.VA
		}
		at := psnPlus(p.BTH.PSN, 0x1000000-firstPSN)
		end := psnPlus(firstPSN, at/each*each+each)
		if p.BTH.Opcode != wire.RCReadRequest || !p.BTH.AckReq || p.RETH.VA != base+uint64(at)*mtu || p.RETH.Len != (each-at%each)*mtu {
			t.Errorf("frame %d: %v of PSN %#x for %d bytes at %+d", i+1, p.BTH.Opcode, p.BTH.PSN, p.RETH.Len, p.RETH.VA-base)
		}
		if !psnBefore(p.BTH.PSN, asked) && p.BTH.PSN != asked {
			t.Errorf("frame %d: a request for PSN %#x, %#x is next", i+1, p.BTH.PSN, asked)
		}
		if psnBefore(asked, end) {
			asked = end
		}
		if requests[p.BTH.PSN] {
			again++
		}
		requests[p.BTH.PSN] = true
	}
	t.Logf("%d requests, %d of them again from the same PSN", len(requests)+again, again)
}
