package cli_test

import (
	"encoding/json"
	"fmt"
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

// A learner walks labs on a real device to their saved records, at two sizes of
// the terminal. The last lab drops packets, which no device does when asked.
func TestLiveLabOnTheScreen(t *testing.T) {
	device := liveDevice(t)
	live, onModel := "LIVE "+device, "MODEL, not the live device: only the model has"
	for _, one := range []struct {
		lab   string
		w, h  int
		label string // on every step that has run
	}{
		{"first-write", 120, 40, live},
		{"first-write", 80, 24, live},
		{"stale-rkey", 80, 24, live},
		{"dead-peer", 80, 24, onModel},
	} {
		t.Run(fmt.Sprintf("%s/%dx%d", one.lab, one.w, one.h), func(t *testing.T) {
			env := home(t)
			x := start(t, one.w, one.h, env, "rdmaprep", "lab", one.lab, "--device", device)
			x.until("Step 1 of")
			x.shows("the first step")
			walkLab(t, x, one.label)
			x.keys("\x03")
			restored(t, x, 0)
			checkRecord(t, env, one.lab, device, one.label == live)
		})
	}
}

// walkLab plays a lab through to its saved record, always with the first
// option, and does what the footer offers. label is on the screen of every step
// that has run.
func walkLab(t *testing.T, x *terminal, label string) {
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
			if !strings.Contains(before, label) {
				t.Errorf("a step has run and %q is not on the screen:\n%s", label, before)
			}
			x.keys("\r")
		case offers("enter run"): // nothing to predict
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
func TestLiveDeviceScreen(t *testing.T) {
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

// checkRecord reads the record back from the store through the program.
func checkRecord(t *testing.T, env []string, lab, device string, live bool) {
	t.Helper()
	e := evidenceOf(t, env)
	on, command := "model", "rdmaprep lab "+lab+" --plain --seed 0 --profile spec"
	if live {
		on, command = device, "rdmaprep lab "+lab+" --plain --device "+device
	}
	if e.Live != live || e.Device != on || e.Command != command || len(e.States) == 0 || (len(e.OnModel) == 0) != live {
		t.Errorf("the record says device %s, live %v, command %q, %d states, on the model %q; expected %s, %v, %q, some, and all steps or none",
			e.Device, e.Live, e.Command, len(e.States), e.OnModel, on, live, command)
	}
	if len(e.Failed) > 0 {
		t.Errorf("expectations were not met: %q", e.Failed)
	}
}

// evidenceOf is that of the only record that is stored.
func evidenceOf(t *testing.T, env []string) decision.Evidence {
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
	return records[0].Evidence
}
