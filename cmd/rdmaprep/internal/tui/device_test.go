package tui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rdmaprep/cmd/rdmaprep/internal/study"
	"rdmaprep/cmd/rdmaprep/internal/tui"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/tuitest"
	"rdmaprep/sim/verbs"
)

// asLive is a live device as far as the screens can tell: the model without
// faults, clock and trace.
type asLive struct{ verbs.Bench }

func (asLive) Profile() string { return "live" }
func (asLive) Live() bool      { return true }

// onDevices is a trainer at a place with the devices rxe8, which opens unless
// *fail says why not, and no other.
func onDevices(t *testing.T, w, h int, place nav.Place, fail *error) *world {
	t.Helper()
	clock, store := tuitest.NewClock(), newMemory()
	svc := study.New(packOf(t), opener, store, clock.Now, &counting{})
	svc.Offer(study.Devices{
		Models: []study.Option{{About: "the specification"}, {Choice: study.Choice{Profile: "rxe-6.1"}, About: "Soft-RoCE of Linux 6.1"}},
		Find: func(context.Context) ([]study.Live, error) {
			return []study.Live{{Name: "rxe8", Profile: "rxe-6.1", About: "a real device", Open: func(ctx context.Context) (verbs.Bench, error) {
				if *fail != nil {
					return nil, *fail
				}
				b, err := opener(ctx, "rxe-6.1", 0)
				return asLive{b}, err
			}}}, nil
		},
	})
	m := tui.New(tui.Config{
		Ctx: context.Background(), Backend: tui.NewBackend(svc), Device: svc.Chosen().Label(),
		Now: clock.Now, Tick: clock.Tick, Start: place,
	})
	return &world{Term: tuitest.New(t, m, clock, w, h), model: m, store: store, clock: clock}
}

func (on *world) wants(t *testing.T, words ...string) {
	t.Helper()
	// A frame breaks lines where it likes.
	screen := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "\n", " ").Replace(on.Screen())), " ")
	for _, want := range words {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen:\n%s", want, on.Screen())
		}
	}
	keysAreListed(t, on.model.Keys())
}

// A lab is begun on the model, goes on live, and back when the device fails;
// the prediction that was locked before stays.
func TestDeviceScreen(t *testing.T) {
	for _, size := range sizes[1:] {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			fail := errors.New("rxe8: port 1 is down (ip link set eth0 up)")
			on := onDevices(t, size[0], size[1], nav.Place{Kind: nav.Lab, ID: "first-write"}, &fail)
			on.Keys("space", "space", "space", "1", "D")
			on.wants(t, "MODEL spec (in use)", "LIVE rxe8")
			on.Keys("j", "j", "enter")
			on.wants(t, "LIVE rxe8 is not in use: rxe8: port 1 is down (ip link set eth0 up)", "Nothing is lost. m goes on with the model")
			on.Keys("m")
			on.wants(t, "From the next run on: MODEL spec.")
			no := fail
			fail = nil
			on.Keys("D", "j", "j", "enter")
			on.wants(t, "From the next run on: LIVE rxe8.", "LIVE rxe8")
			fail = no // it went away since
			on.Keys("9", "enter")
			on.wants(t, "port 1 is down (ip link set eth0 up)")
			on.Keys("D", "m", "enter")
			on.wants(t, "As you predicted", "90 % sure", "MODEL spec")
			fail = nil
			on.Keys("D", "j", "j", "enter", "enter")
			on.wants(t, "LIVE rxe8")
		})
	}
}

// The home screen leads to the devices, and says which is in use.
func TestDeviceFromHome(t *testing.T) {
	var fail error
	on := onDevices(t, 80, 24, nav.Place{}, &fail)
	on.Keys("D")
	on.wants(t, "Run labs and evidence on", "(in use)")
	on.Keys("j", "enter")
	on.wants(t, "MODEL rxe-6.1", "What next")
}
