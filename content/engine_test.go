package content

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

func openModel(ctx context.Context, profile string, seed uint64) (verbs.Bench, error) {
	return model.Open(ctx, model.Options{Profile: profile, Seed: seed, Trace: true})
}

// TestShippedPackHolds runs every proof and lab of the shipped pack on the
// model, under both profiles.
func TestShippedPackHolds(t *testing.T) {
	opt := Options{Open: openModel, Jobs: 2, Today: time.Time{}}
	rep, problems := Check(t.Context(), Embedded(), opt)
	for _, p := range problems {
		t.Error(p)
	}
	t.Logf("%d questions, %d proofs, %d labs: %d scripts run", rep.Questions, rep.Proofs, rep.Labs, rep.Runs)
	if rep.Runs < rep.Proofs+rep.Labs {
		t.Errorf("only %d scripts were run for %d proofs and %d labs", rep.Runs, rep.Proofs, rep.Labs)
	}
}

// An RC SEND into a queue without a receive ends in RNR_RETRY_EXC_ERR after
// rnr_retry tries (ibv_modify_qp(3); verbs.h, status 13).
const rnrScript = "script 1\npair rc rnr_retry=1 min_rnr_timer=1\n" +
	"a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED\n"

func TestRunOnTheModel(t *testing.T) {
	start := scriptRunner(openModel)
	r, err := start(t.Context(), "spec", 0, rnrScript)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for claim, want := range map[string]bool{
		"a.cq1 wr_id=1 status=RNR_RETRY_EXC_ERR":        true,
		"expect a.cq1 wr_id=1 status=RNR_RETRY_EXC_ERR": true,
		"a.cq1 wr_id=1 status=RETRY_EXC_ERR":            false,
		"a.qp1 state=ERR":                               true,
		"b.qp1 state=ERR":                               false,
	} {
		if ok, got, err := r.Holds([]string{claim}); ok != want || err != nil {
			t.Errorf("%s: %v (saw %s, %v), want %v", claim, ok, got, err, want)
		}
	}
	if v, err := r.Value("a.cq1[0].status", ""); v != "RNR_RETRY_EXC_ERR" || err != nil {
		t.Errorf("the status is %q, %v", v, err)
	}
	if _, err := r.Value("a.cq1[5].status", ""); err == nil {
		t.Error("there is no sixth completion, and its status was read")
	}
	if err := r.Finish(); err == nil || !strings.Contains(err.Error(), "nobody read") {
		t.Errorf("nobody read the completion, and the end of the script says %v", err)
	}
	// A claim reads nothing, so the completion is still there to be expected.
	if err := r.More("expect a.cq1 wr_id=1 status=RNR_RETRY_EXC_ERR\n"); err != nil {
		t.Error(err)
	}
	if err := r.Finish(); err != nil {
		t.Error(err)
	}
}

// Faults name their line in the script, counted from 1.
func TestFaultsNameTheirLine(t *testing.T) {
	cases := map[string]struct {
		text string
		line int
	}{
		"a word that is not in the language": {"script 1\npair rc\na: post_sned qp1\n", 3},
		"no version":                         {"pair rc\n", 1},
		"a refused call":                     {"script 1\npair rc state=INIT\n\na: modify_qp qp1 state=RTS\n", 4},
		"an expect line that fails":          {"script 1\npair rc\nexpect a.qp1 state=ERR\n", 3},
	}
	for name, c := range cases {
		r, err := scriptRunner(openModel)(t.Context(), "spec", 0, c.text)
		var fault *scriptError
		if !errors.As(err, &fault) || fault.line != c.line || r != nil {
			t.Errorf("%s: %v, want a fault on line %d", name, err, c.line)
		}
	}
	if _, err := scriptRunner(openModel)(t.Context(), "mlx5", 0, "script 1\n"); err == nil {
		t.Error("a profile that there is not was opened")
	}
}

func TestValueText(t *testing.T) {
	d := script.Value{Kind: script.ValueDuration, Dur: 1048576 * time.Nanosecond}
	for unit, want := range map[string]string{"ns": "1048576", "us": "1048.576", "ms": "1.048576", "s": "0.001048576", "": "1.048576ms"} {
		if got := ValueText(d, unit); got != want {
			t.Errorf("%v in %q is %s, want %s", d.Dur, unit, got, want)
		}
	}
	if got := ValueText(script.Value{Kind: script.ValueNumber, Num: 42}, "ms"); got != "42" {
		t.Errorf("a number is %s, want 42", got)
	}
}
