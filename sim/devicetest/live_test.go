//go:build linux && (amd64 || arm64) && !noibv

package devicetest_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/devicetest"
	"rdmaprep/sim/ibv"
	"rdmaprep/sim/verbs"
)

// TestLive runs the suite on the device of RDMAPREP_DEVICE, which must behave as
// Linux 6.1's rxe does: .ci/rxe-vm boots such a guest. A device that is named
// and missing is a failure.
func TestLive(t *testing.T) {
	name := os.Getenv("RDMAPREP_DEVICE")
	if name == "" {
		if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "rxe") {
			t.Fatal("RDMAPREP_REQUIRE names rxe, but RDMAPREP_DEVICE names no device")
		}
		t.Skip("no live device: RDMAPREP_DEVICE=rxe0 names one")
	}
	clock := ibv.Clock{Now: time.Now, Pause: func(ctx context.Context, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}}
	open := func(t *testing.T) verbs.Bench {
		b, err := ibv.Open(context.Background(), ibv.Options{Device: name, Nodes: []string{"a", "b"}, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// One failure instead of hundreds where the device is not there.
	b := open(t)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	ran := devicetest.Run(t, open)
	t.Logf("%d cases on %s in %s", ran, name, time.Since(start).Round(time.Millisecond))
}
