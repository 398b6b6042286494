package cli_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// median is the middle one of some durations.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// built is the real program, without what the test binary adds to its start.
func built(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "rdmaprep")
	if out, err := exec.Command("go", "build", "-o", path, "rdmaprep/cmd/rdmaprep").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

// BenchmarkStart is the time from starting the process to its first full frame
// at 120x40 with the shipped content, in a pseudo-terminal; the data folder is
// new each time, as a newcomer's is.
func BenchmarkStart(b *testing.B) {
	program := built(b)
	var took []time.Duration
	for b.Loop() {
		env := home(b)
		began := time.Now()
		x := start(b, 120, 40, env, program)
		x.until("esc quit")
		took = append(took, time.Since(began))
		x.keys("\x03")
		x.exit()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(millis(median(took)), "ms-median")
}

// BenchmarkVersion is the whole life of rdmaprep --version.
func BenchmarkVersion(b *testing.B) {
	path := built(b)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := exec.Command(path, "--version").Run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(millis(median(took)), "ms-median")
}

// BenchmarkKey is the time from a key to its frame on the emulator's screen, of
// the trainer's home screen and of an empty Bubble Tea program.
func BenchmarkKey(b *testing.B) {
	ours := start(b, 120, 40, home(b), "rdmaprep")
	ours.until("New here?")
	none := start(b, 120, 40, nil, "empty-program")
	none.until("empty, keys 0.")
	changes := func(x *terminal, key string) time.Duration {
		before := x.screen()
		began := time.Now()
		x.keys(key)
		x.await("another frame", func(s string) bool { return s != before })
		return time.Since(began)
	}
	var took, floor []time.Duration
	down := true
	for b.Loop() {
		key := "k"
		if down {
			key = "j"
		}
		down = !down
		took = append(took, changes(ours, key))
		floor = append(floor, changes(none, key))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(millis(median(took)), "ms-median")
	b.ReportMetric(millis(median(floor)), "ms-empty")
	b.ReportMetric(millis(median(took))/millis(median(floor)), "x/empty")
	for _, x := range []*terminal{ours, none} {
		x.with(func(*vt.Emulator) {})
		x.keys("\x03")
	}
}
