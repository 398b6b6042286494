//go:build linux && (amd64 || arm64) && !noibv

package ibv_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"rdmaprep/sim/ibv"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// required says whether RDMAPREP_REQUIRE names a tool.
func required(tool string) bool {
	return slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), tool)
}

// liveDevice is the device of RDMAPREP_DEVICE. One that is named and missing
// fails the test that opens it.
func liveDevice(t *testing.T) string {
	t.Helper()
	name := os.Getenv("RDMAPREP_DEVICE")
	if name == "" {
		if required("rxe") {
			t.Fatal("RDMAPREP_REQUIRE names rxe, but RDMAPREP_DEVICE names no device")
		}
		t.Skip("no live device: RDMAPREP_DEVICE=rxe0 names one")
	}
	return name
}

func wallClock() ibv.Clock {
	return ibv.Clock{Now: time.Now, Pause: func(ctx context.Context, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}}
}

func openLive(t *testing.T, nodes ...string) *ibv.Bench {
	t.Helper()
	b, err := ibv.Open(context.Background(), ibv.Options{Device: liveDevice(t), Nodes: nodes, Clock: wallClock()})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLiveDevice(t *testing.T) {
	name := liveDevice(t)
	list, err := ibv.Devices(ibv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(i ibv.Info) bool { return i.Name == name && i.GUID != 0 && i.Uverbs != "" }) {
		t.Fatalf("%s is not listed with a GUID: %+v", name, list)
	}
	b := openLive(t)
	d := b.Node("a")
	attr, err := d.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", attr)
	if port, err := d.QueryPort(1); err != nil || port.State != verbs.PortActive || port.MaxMTU.Bytes() == 0 {
		t.Fatalf("port 1: %+v, %v", port, err)
	}
	if _, err := d.QueryPort(7); !errors.As(err, new(*verbs.Error)) {
		t.Errorf("port 7: %v", err)
	}
	gid, err := d.QueryGID(1, b.GIDIndex("a"))
	if err != nil || [12]byte(gid[:12]) != [12]byte{10: 0xff, 11: 0xff} {
		t.Errorf("GID %d is %x, %v: not an IPv4 address", b.GIDIndex("a"), gid, err)
	}
	if counters, err := d.Counters(); err != nil || len(counters) == 0 {
		t.Errorf("counters: %v, %v", counters, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AllocPD(); err == nil {
		t.Error("a closed device still works")
	}
}

// asRXE is a live Bench under the name of the profile that is to behave as it
// does, so that the lines of that profile are checked on the device.
type asRXE struct{ *ibv.Bench }

func (asRXE) Profile() string { return "rxe-6.1" }

// TestLiveTranscripts runs the model's transcripts on a device of Linux 6.1.
// RDMAPREP_TRANSCRIPTS is the folder, where the sources are not at hand.
func TestLiveTranscripts(t *testing.T) {
	liveDevice(t)
	dir := os.Getenv("RDMAPREP_TRANSCRIPTS")
	if dir == "" {
		dir = "../model/testdata"
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	more, _ := filepath.Glob(filepath.Join(dir, "conformance/*.txt"))
	paths = append(paths, more...)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts in %s: %v", dir, err)
	}
	ran, missing := 0, 0
	var differ []string // datadriven ends a file at the first failure
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.HasArg("profile") {
				var one string
				d.ScanArgs(t, "profile", &one)
				if one != "rxe-6.1" {
					return d.Expected
				}
			}
			if d.HasArg("case") && !d.HasArg("profiles") {
				return d.Expected // of profile spec alone
			}
			got := runLive(t, d.Pos, d.Input)
			if strings.HasPrefix(got, "this device has no") {
				missing++
				return d.Expected
			}
			ran++
			if got != "" {
				differ = append(differ, d.Pos+": "+got)
			}
			return d.Expected
		})
	}
	t.Logf("%d scripts ran on the device; %d more need what no device has", ran, missing)
	if ran == 0 {
		t.Error("no script ran")
	}
	for _, line := range differ {
		t.Error(line)
	}
}

func runLive(t *testing.T, name, source string) string {
	sc, err := script.Parse(name, []byte("script 1\n"+source))
	if err != nil {
		return err.Error()
	}
	b := openLive(t, sc.Nodes...)
	start := time.Now()
	_, res, err := script.RunAll(context.Background(), asRXE{b}, sc)
	took := time.Since(start)
	if cerr := b.Close(); cerr != nil {
		t.Errorf("%s: close: %v", name, cerr)
	}
	t.Logf("%s: %s", name, took.Round(time.Millisecond))
	var gap *script.MissingError
	if errors.As(err, &gap) {
		return "this device has no " + gap.What
	}
	if err != nil {
		return err.Error()
	}
	if f := res.Failed; f != nil {
		return fmt.Sprintf("line %d: %s: got %s", f.Line-1, f.Text, f.Got)
	}
	return ""
}
