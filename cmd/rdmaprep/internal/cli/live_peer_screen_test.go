package cli_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLivePeerOnTheScreen: a lab is walked to its saved record on a device whose
// peer is the model; the record names both and the command that does it again.
// The device screen offers the two for a lab that was begun on the model.
func TestLivePeerOnTheScreen(t *testing.T) {
	liveDevice(t)
	t.Cleanup(func() {
		_ = exec.Command("rdma", "link", "del", "rxe_screen").Run()
		_ = exec.Command("ip", "link", "del", "tapscreen").Run()
	})
	for _, line := range []string{
		"modprobe tun", "ip tuntap add tapscreen mode tap", "ip addr add 10.79.0.1/24 dev tapscreen", "ip link set tapscreen up",
		"rdma link add rxe_screen type rxe netdev tapscreen",
	} {
		words := strings.Fields(line)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	env := home(t)
	x := start(t, 120, 40, env, "rdmaprep", "lab", "first-write", "--device", "rxe_screen", "--wire", "tapscreen")
	x.until("Step 1 of")
	walkLab(t, x, "LIVE rxe_screen, peer MODEL on tapscreen")
	x.keys("\x03")
	restored(t, x, 0)
	e := evidenceOf(t, env)
	if !e.Live || e.Device != "rxe_screen, peer MODEL on tapscreen" || len(e.OnModel) > 0 || len(e.Failed) > 0 ||
		e.Command != "rdmaprep lab first-write --plain --device rxe_screen --wire tapscreen" {
		t.Errorf("the record says device %s, command %q, on the model %q, failed %q", e.Device, e.Command, e.OnModel, e.Failed)
	}
	y := start(t, 80, 24, home(t), "rdmaprep", "lab", "first-write")
	y.until("Step 1 of")
	y.keys("D")
	y.until("LIVE rxe_screen, peer MODEL on tapscreen")
	y.shows("the device screen")
	y.keys("\x03")
	restored(t, y, 0)
}
