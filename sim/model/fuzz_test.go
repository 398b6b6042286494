package model_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprep/sim"
	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
)

// bounded is a context that ends after it was asked so often: a bound on the
// work of a script that does not depend on the machine.
type bounded struct {
	context.Context
	left int
}

func (c *bounded) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// transcriptScripts are the scripts of the transcripts.
func transcriptScripts(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\nrun")[1:] {
			_, part, _ = strings.Cut(part, "\n") // the arguments of run
			part, _, _ = strings.Cut(part, "\n----")
			out = append(out, part)
		}
	}
	return out
}

// survive runs a script, which may make no sense, under both profiles.
func survive(t *testing.T, text string, seed uint64) (ran bool) {
	t.Helper()
	sc, err := script.Parse("fuzz", []byte("script 1\n"+text))
	if err != nil {
		return false
	}
	for _, profile := range model.ProfileNames() {
		ctx := &bounded{context.Background(), 200}
		b, err := model.Open(ctx, model.Options{Profile: profile, Seed: seed, Nodes: sc.Nodes})
		if err != nil {
			t.Fatal(err)
		}
		b.Watch(func(err error) { t.Errorf("%s: %v\n%s", profile, err, text) })
		_, _, _ = script.RunAll(ctx, b, sc) // what it says is for TestTranscripts
	}
	return true
}

// FuzzRun: no script makes the model panic, break an invariant of a queue pair or
// run for ever.
func FuzzRun(f *testing.F) {
	for _, text := range transcriptScripts(f) {
		f.Add(text, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint8) { survive(t, text, uint64(seed)) })
}

// FuzzShuffle is FuzzRun over scripts that parse: lines of the transcripts left
// out, doubled, swapped and mixed with those of another.
func FuzzShuffle(f *testing.F) {
	scripts := transcriptScripts(f)
	for seed := range uint64(64) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for k := range uint64(2) {
			survive(t, shuffled(scripts, sim.NewRand(seed, k)), seed%3)
		}
	})
}

// TestShuffle is a fixed part of FuzzShuffle, and sees that most of such scripts
// are run and not just refused.
func TestShuffle(t *testing.T) {
	scripts, ran := transcriptScripts(t), 0
	const tries = 1500
	for k := range uint64(tries) {
		if survive(t, shuffled(scripts, sim.NewRand(1, k)), k%3) {
			ran++
		}
	}
	if ran < tries/4 {
		t.Errorf("only %d of %d scripts ran", ran, tries)
	}
	t.Logf("%d of %d scripts ran", ran, tries)
}

func shuffled(scripts []string, r *sim.Rand) string {
	pick := func(n int) int { return int(r.Below(uint32(n))) }
	lines := strings.Split(scripts[pick(len(scripts))], "\n")
	other := strings.Split(scripts[pick(len(scripts))], "\n")
	for range 1 + pick(6) {
		at := pick(len(lines))
		switch pick(5) {
		case 0:
			if len(lines) > 1 {
				lines = slices.Delete(lines, at, at+1)
			}
		case 1:
			lines = slices.Insert(lines, at, lines[pick(len(lines))])
		case 2:
			to := pick(len(lines))
			lines[at], lines[to] = lines[to], lines[at]
		case 3:
			lines = slices.Insert(lines, at, other[pick(len(other))])
		default:
			lines = slices.Insert(lines, at, []string{
				"advance 5ms", "fault drop a->b any count=3", "fault duplicate a->b any count=2", "fault reorder b->a any count=2",
				"fault corrupt b->a any", "fault peer_stop b", "fault peer_restart b", "fault link_down b", "fault link_up b",
				"fault cq_stall a.cq1 by=1ms", "a: modify_qp qp1 state=ERR", "b: modify_qp qp1 state=RESET", "a: destroy_qp qp1",
				"b: dereg_mr mr1", "a: modify_qp qp1 state=SQD", "a: modify_qp qp1 state=RTS", "wait quiet limit=1s",
				"fault forge b->a any syndrome=nak_sequence count=2", "fault forge b->a any set_psn=+9 count=2",
				"fault forge a->b any opcode=SEND_MIDDLE", "fault forge b->a any opcode=RDMA_READ_RESPONSE_LAST", "fault forge a->b any dest_qp=18",
			}[pick(22)])
		}
	}
	// An expect that does not hold would end the run.
	kept := lines[:0]
	for _, l := range lines {
		if !strings.HasPrefix(l, "expect") {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}
