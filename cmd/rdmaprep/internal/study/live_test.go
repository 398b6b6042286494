package study

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"rdmaprep/content"
	"rdmaprep/lessons"
	"rdmaprep/quiz"
	"rdmaprep/sim/verbs"
)

// pretend is a live device as far as this room can tell: a Bench without
// faults, clock and trace. Each of its nodes refuses what refuse says.
type pretend struct {
	verbs.Bench
	refuse error // of destroy_qp, nil for none
}

func (pretend) Profile() string   { return "live" }
func (pretend) Live() bool        { return true }
func (pretend) BehavesAs() string { return "rxe-6.1" }

func (p pretend) Node(name string) verbs.Device {
	if d := p.Bench.Node(name); d != nil {
		return careful{d, p.refuse}
	}
	return nil
}

type careful struct {
	verbs.Device
	refuse error
}

func (c careful) DestroyQP(h verbs.QP) error {
	if c.refuse != nil {
		return c.refuse
	}
	return c.Device.DestroyQP(h)
}

var errHurts = errors.New("hurts")

// liveHouse is a house with a live device "rxe9"; fail is why it does not open.
func liveHouse(t *testing.T, lib *content.Library, refuse, fail error) *house {
	t.Helper()
	h := newHouse(t, lib)
	h.Offer(Devices{Find: func(context.Context) ([]Live, error) {
		return []Live{{
			Name: "rxe9", Profile: "rxe-6.1",
			Refused: func(err error) bool { return errors.Is(err, errHurts) },
			Open: func(ctx context.Context) (verbs.Bench, error) {
				if fail != nil {
					return nil, fail
				}
				b, err := h.benches.open(ctx, "rxe-6.1", 0)
				return pretend{b, refuse}, err
			},
		}}, nil
	}})
	return h
}

func mustChoose(t *testing.T, h *house) {
	t.Helper()
	if err := h.Choose(context.Background(), Choice{Live: "rxe9"}); err != nil {
		t.Fatal(err)
	}
}

// stepsOf is a lab of one part for each script, each of one step.
func stepsOf(setup string, scripts ...string) *content.Lab {
	lab := &content.Lab{ID: "l", Title: "L", Profile: "spec"}
	for i, text := range scripts {
		lab.Parts = append(lab.Parts, content.Part{Title: string(rune('A' + i)), Setup: setup, Steps: []content.Step{{Title: "s", Script: text}}})
	}
	return lab
}

const pairUp = "script 1\npair rc\n"

// A part runs live where the device can, with the model's packets beside it;
// where it cannot, on the model, and why is said before and after the run.
func TestPartsRunLiveOrSayWhyNot(t *testing.T) {
	hurts := errors.Join(errHurts, &verbs.Error{Op: "destroy_qp", Errno: syscall.EPERM, Why: "it would hurt"})
	lab := stepsOf(pairUp,
		"a: post_send qp1 wr_id=1 opcode=RDMA_WRITE sge=mr1[0:5] remote=b.mr1[0:5] send_flags=SIGNALED\nexpect a.cq1 wr_id=1 status=SUCCESS\n",
		"fault drop a->b any count=1\n",
		"mark t0\n",
		"a: destroy_qp qp1\n",
	)
	h := liveHouse(t, &content.Library{Labs: []*content.Lab{lab}}, hurts, nil)
	mustChoose(t, h)
	_, run, err := h.NewLab("l", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}()
	for part, want := range []struct {
		before, after string // why on the model, "" for live
	}{
		{"", ""},
		{"only the model has fault injection", "only the model has fault injection"},
		{"only the model has a clock of its own", "only the model has a clock of its own"},
		{"", "it would hurt"}, // only the try tells
	} {
		if got := run.Where(part).Why; got != want.before {
			t.Errorf("part %d, before: %q, expected %q", part+1, got, want.before)
		}
		obs, err := run.Step(context.Background(), part, 0, false)
		if err != nil {
			t.Fatalf("part %d: %v", part+1, err)
		}
		if obs.ModelWhy != want.after || obs.Live != (want.after == "") || obs.Err != "" {
			t.Errorf("part %d: live %v, on the model because %q, stopped %q; expected %q", part+1, obs.Live, obs.ModelWhy, obs.Err, want.after)
		}
		if part == 0 && (obs.Device != "rxe9" || obs.Wire != "rxe-6.1" || len(obs.Events) == 0 || obs.TraceDigest != "") {
			t.Errorf("live: device %q, %d packets and other events of the model %q, trace digest %q", obs.Device, len(obs.Events), obs.Wire, obs.TraceDigest)
		}
	}
}

// A device that does not open changes nothing, and a lab that is open goes on
// with the model.
func TestADeviceThatDoesNotOpen(t *testing.T) {
	closed := errors.New("port 1 is down (ip link set eth0 up)")
	lab := stepsOf(pairUp, "a: query_qp qp1\n")
	h := liveHouse(t, &content.Library{Labs: []*content.Lab{lab}}, nil, closed)
	ctx := context.Background()
	if err := h.Choose(ctx, Choice{Live: "rxe9"}); !errors.Is(err, closed) || h.Chosen() != (Choice{}) {
		t.Errorf("got %v and %v is chosen, expected the device's own error and the model", err, h.Chosen())
	}
	if err := h.Choose(ctx, Choice{Live: "rxe7"}); err == nil || !strings.Contains(err.Error(), "there are rxe9") {
		t.Errorf("got %v, expected the devices that there are", err)
	}
	h.chosen = &Live{Name: "rxe9", Open: func(context.Context) (verbs.Bench, error) { return nil, closed }} // it went away since
	_, run, err := h.NewLab("l", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Step(ctx, 0, 0, false); !errors.Is(err, closed) {
		t.Errorf("got %v, expected the device's own error", err)
	}
	if err := h.Choose(ctx, Choice{}); err != nil {
		t.Fatal(err)
	}
	if obs, err := run.Step(ctx, 0, 0, false); err != nil || obs.Live || obs.ModelWhy != "" {
		t.Errorf("after the model was chosen: %v, live %v, %q", err, obs.Live, obs.ModelWhy)
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
}

// A lab walked on a live device says so in its record, and the command there
// names the device.
func TestTheRecordOfALiveLab(t *testing.T) {
	lib, _ := content.Load(content.Embedded())
	h := liveHouse(t, lib, nil, nil)
	mustChoose(t, h)
	l, run, err := h.NewLab("stale-rkey", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	walk(t, h, context.Background(), l, run)
	if err := run.Close(); err != nil {
		t.Error(err)
	}
	e := l.View().Record.Evidence
	if l.View().Phase != lessons.Finished || !e.Live || e.Device != "rxe9" || e.Trace != "" ||
		e.Command != "rdmaprep lab stale-rkey --plain --device rxe9" {
		t.Errorf("phase %s, evidence %+v", l.View().Phase, e)
	}
	if len(e.Failed) > 0 {
		t.Errorf("expectations failed: %q", e.Failed)
	}
}

// Every shipped proof has evidence where a live device was chosen: live, or on
// the model with the reason.
func TestEveryShippedProofIsShown(t *testing.T) {
	lib, _ := content.Load(content.Embedded())
	h := liveHouse(t, lib, nil, nil)
	mustChoose(t, h)
	live, model := 0, 0
	for _, q := range lib.Questions {
		in, err := quiz.Draw(q, 1)
		if err != nil || !in.HasProof() {
			continue
		}
		res, err := h.Show(context.Background(), in, nil)
		switch {
		case err != nil && !res.Observation.Live:
			t.Errorf("%s: %v", q.ID, err)
		case res.Observation.Live:
			live++
		case res.Observation.ModelWhy == "":
			t.Errorf("%s ran on the model and does not say why", q.ID)
		default:
			model++
		}
	}
	if live == 0 || model == 0 {
		t.Errorf("%d live and %d on the model, expected some of each", live, model)
	}
}
