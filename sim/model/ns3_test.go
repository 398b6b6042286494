package model

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

// The comparison with ns-3: as many packets, as many in flight and of the same
// size on a link of the same rate and delay. ns-3's point-to-point device puts
// two bytes of PPP before what it is given; a frame of the model has 58 bytes
// before and behind its payload, and an acknowledgement four of AETH as payload.
const (
	ns3Messages = 1_000_000
	ns3Window   = 64
	ns3PPP      = 2
	ns3Data     = frameHeaders + messageBytes - ns3PPP
	ns3Answer   = frameHeaders + 4 - ns3PPP
	ns3Turns    = 3
	ns3Patience = 2 * time.Minute // of the compiler, and of one run
)

// buildNS3 compiles testdata/ns3/p2p.cc. The libraries are named here since the
// pkg-config files of Debian's 3.37 hold flags that no compiler takes.
func buildNS3(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "p2p")
	ctx, cancel := context.WithTimeout(context.Background(), ns3Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "g++", "-std=c++17", "-O2", "-o", program, "testdata/ns3/p2p.cc",
		"-lns3-point-to-point", "-lns3-network", "-lns3-core").CombinedOutput()
	if err == nil {
		return program
	}
	_, noCompiler := exec.LookPath("g++")
	_, noHeaders := os.Stat("/usr/include/ns3/core-module.h")
	why := fmt.Sprintf("g++ and ns-3 are needed: apt-get install g++ libns3-dev (%v)", err)
	switch {
	case noCompiler == nil && noHeaders == nil:
		b.Fatalf("compiling p2p.cc: %v\n%s", err, out)
	case slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "ns3"):
		b.Fatal("RDMAPREP_REQUIRE names ns3: " + why)
	}
	b.Skip(why)
	return ""
}

// runNS3 returns ns-3's packets a second, by its own clock.
func runNS3(b *testing.B, program string) float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), ns3Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, fmt.Sprint(ns3Messages), fmt.Sprint(ns3Window),
		fmt.Sprint(ns3Data), fmt.Sprint(ns3Answer)).Output()
	if err != nil {
		b.Fatalf("p2p: %v", err)
	}
	var packets int
	var seconds float64
	if _, err := fmt.Sscan(string(out), &packets, &seconds); err != nil || packets != 2*ns3Messages {
		b.Fatalf("p2p printed %q, want %d packets and the seconds", out, 2*ns3Messages)
	}
	return float64(packets) / seconds
}

// runBeside returns the model's packets a second for the same packets: each
// message is a SEND and its acknowledgement.
func runBeside(b *testing.B) float64 {
	b.Helper()
	s := newSender(b, ns3Window, false)
	start := time.Now()
	for range ns3Messages / ns3Window {
		check(b, s.batch())
	}
	took := time.Since(start).Seconds()
	packets := uint64(0)
	for _, n := range s.b.nodes {
		packets += n.counters[cntReceivedPackets]
	}
	if packets != 2*ns3Messages || s.unexpected > 0 {
		b.Fatalf("%d packets of %d, %d completions not %s", packets, 2*ns3Messages, s.unexpected, verbs.WCSuccess)
	}
	return float64(packets) / took
}

// BenchmarkBesideNS3 prints packets a second of ns-3 and of the model, taken in
// turns in one run, the best of each, and their ratio. The model does more for a
// packet than ns-3 does here (posts, keys, PSNs, completions, polls), and moves
// its bytes.
func BenchmarkBesideNS3(b *testing.B) {
	program := buildNS3(b)
	var ns3, ours float64
	for b.Loop() {
		for range ns3Turns {
			ns3 = max(ns3, runNS3(b, program))
			ours = max(ours, runBeside(b))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ns3, "ns3-packets/s")
	b.ReportMetric(ours, "model-packets/s")
	b.ReportMetric(ours/ns3, "model/ns3")
}
