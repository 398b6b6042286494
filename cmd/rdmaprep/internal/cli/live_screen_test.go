package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rdmaprep/lessons/decision"
)

// liveDevice is the RDMA device to test on, from RDMAPREP_DEVICE. It is an
// error if RDMAPREP_REQUIRE names rxe and no device is named.
func liveDevice(t *testing.T) string {
	t.Helper()
	name := os.Getenv("RDMAPREP_DEVICE")
	if name == "" {
		if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "rxe") {
			t.Fatal("rxe is required (RDMAPREP_REQUIRE) and RDMAPREP_DEVICE names no device")
		}
		t.Skip("RDMAPREP_DEVICE names no RDMA device, such as rxe0; .ci/rxe-vm boots a machine that has one")
	}
	return name
}

// shows prints the screen into the test's log, for a person.
func (x *terminal) shows(what string) {
	x.t.Helper()
	x.t.Logf("%s\n%s", what, x.screen())
}

// A learner walks a lab on a real device to its saved record, at two sizes of
// the terminal.
func TestLiveLabOnTheScreen(t *testing.T) {
	device := liveDevice(t)
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		t.Run(map[int]string{120: "120x40", 80: "80x24"}[size[0]], func(t *testing.T) {
			env := home(t)
			x := start(t, size[0], size[1], env, "rdmaprep", "lab", "first-write", "--device", device)
			x.until("LIVE " + device)
			x.until("Step 1 of")
			x.shows("the first step")
			walkLab(t, x)
			x.keys("\x03")
			restored(t, x, 0)
			checkRecord(t, env, device)
		})
	}
}

// walkLab plays a lab through to its saved record, always with the first
// option, and does what the footer offers. On a live step it looks for what a
// live run shows.
func walkLab(t *testing.T, x *terminal) {
	t.Helper()
	for range 160 {
		before := x.screen()
		foot := before[strings.LastIndex(strings.TrimRight(before, "\n "), "\n")+1:]
		offers := func(what string) bool { return strings.Contains(foot, what) }
		switch {
		case strings.Contains(before, "saving"): // shown for as long as it takes
		case strings.Contains(before, "The record is saved"):
			x.shows("the saved record")
			return
		case offers("read on"):
			x.keys(" ")
		case offers("how sure"):
			x.keys("8\r")
		case offers("1-9 choose"):
			x.keys("1")
		case offers("next step"):
			x.shows("a step that has run")
			for _, want := range []string{"LIVE", "predicted"} {
				if !strings.Contains(before, want) {
					t.Errorf("a step has run and %q is not on the screen:\n%s", want, before)
				}
			}
			x.keys("\r")
		case offers("tab done"):
			x.keys("\t")
		case offers("said it"):
			x.keys("y")
		case offers("the record"):
			x.keys("\r")
		case offers("s save"):
			x.shows("the record before it is saved")
			x.keys("s")
		}
		x.await("another screen", func(s string) bool { return s != before })
	}
	t.Fatalf("the lab did not come to its end; the screen is\n%s", x.screen())
}

// The device screen opens what is chosen, keeps the model where that fails, and
// a lab that is open goes on with it.
func TestDeviceScreen(t *testing.T) {
	device := liveDevice(t)
	x := start(t, 80, 24, home(t), "rdmaprep", "lab", "first-write")
	x.until("MODEL spec")
	x.until("Step 1 of")
	x.keys("D")
	x.until("LIVE " + device)
	x.shows("the device screen")
	x.keys("jj\r") // behind the two profiles of the model
	x.until("From the next run on: LIVE " + device)
	x.shows("the lab, on the device")
	x.keys("\x03")
	restored(t, x, 0)
}

// checkRecord reads the records back from the store through the program.
func checkRecord(t *testing.T, env []string, device string) {
	t.Helper()
	cmd := exec.Command("rdmaprep", "records", "list", "--json")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("rdmaprep records list --json: %v", err)
	}
	var records []decision.Record
	if err := json.Unmarshal(out, &records); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if len(records) != 1 {
		t.Fatalf("%d records are stored, expected 1", len(records))
	}
	e := records[0].Evidence
	if want := "rdmaprep lab first-write --plain --device " + device; !e.Live || e.Device != device || e.Command != want || len(e.Completions) == 0 {
		t.Errorf("the record says device %s, live %v, command %q and %d completions; expected %s, live, %q and some",
			e.Device, e.Live, e.Command, len(e.Completions), device, want)
	}
}
