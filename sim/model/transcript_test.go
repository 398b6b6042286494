package model_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// TestTranscripts runs the scripts of testdata. Each case says above it why it
// exists and which rule it checks; the expect lines in the script hold the
// expectation, so a case that holds prints ok. "run" runs on every profile,
// "run profile=NAME" on one.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" {
				d.Fatalf(t, "unknown command %q: run", d.Cmd)
			}
			profiles := model.ProfileNames()
			if d.HasArg("profile") {
				var one string
				d.ScanArgs(t, "profile", &one)
				profiles = []string{one}
			}
			return runProfiles(d, profiles)
		})
	}
}

// corrupted are the packets in which a fault line flipped a bit.
func corrupted(trace []verbs.TraceEvent) map[int]bool {
	out := map[int]bool{}
	for _, e := range trace {
		if e.Kind == verbs.TraceFault && e.Why == "a bit is flipped on the way" {
			out[e.Cause] = true
		}
	}
	return out
}

// runProfiles runs a script on each of the profiles and returns what does not
// hold, a line for each profile, or "ok".
func runProfiles(d *datadriven.TestData, profiles []string) string {
	var out strings.Builder
	for _, p := range profiles {
		if msg := runScript(d.Pos, p, d.Input); msg != "" {
			fmt.Fprintf(&out, "%s: %s\n", p, msg)
		}
	}
	if out.Len() == 0 {
		return "ok"
	}
	return out.String()
}

// runScript returns "" if every line of a script holds.
func runScript(name, profile, source string) string {
	sc, err := script.Parse(name, []byte("script 1\n"+source))
	if err != nil {
		return err.Error()
	}
	ctx := context.Background()
	b, err := model.Open(ctx, model.Options{Profile: profile, Seed: sc.Seed, Nodes: sc.Nodes, Trace: true})
	if err != nil {
		return err.Error()
	}
	defer b.Close()
	var broken error
	b.Watch(func(err error) { broken = err })
	_, res, err := script.RunAll(ctx, b, sc)
	if err != nil {
		return err.Error()
	}
	if broken != nil {
		return "an invariant does not hold: " + broken.Error()
	}
	flipped := corrupted(b.Trace())
	for _, e := range b.Trace() {
		var p wire.Packet
		if len(e.Frame) == 0 {
			continue
		}
		err := wire.Decode(e.Frame, &p) // the ICRC as well
		var bad *wire.ICRCError
		if flipped[e.Seq] != errors.As(err, &bad) || err != nil && bad == nil {
			return fmt.Sprintf("event %d, corrupted %t: decoding the frame says %v", e.Seq, flipped[e.Seq], err)
		}
		if !strings.HasSuffix(p.BTH.Opcode.String(), "_"+e.Packet.Opcode) || p.BTH.PSN != e.Packet.PSN || len(p.Payload) != e.Packet.Payload {
			return fmt.Sprintf("event %d: the frame says %s %d %d, the event %v", e.Seq, p.BTH.Opcode.Short(), p.BTH.PSN, len(p.Payload), e.Packet)
		}
	}
	if f := res.Failed; f != nil {
		return fmt.Sprintf("line %d: %s: got %s", f.Line-1, f.Text, f.Got)
	}
	return ""
}
