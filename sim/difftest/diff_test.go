package difftest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/sim/ibv"
)

const (
	profile = "rxe-6.1"
	// hurts is in every refusal of what is known to damage a kernel.
	hurts = "refused on a live device"
	// patience bounds one case on a device, so that a defect does not hang.
	patience = 30 * time.Second
	// longestWait bounds one wait on a device: with retry_cnt=7 there is no quiet.
	longestWait = 4 * time.Second
)

// asRXE is a live Bench under the name of the profile that is to behave as it
// does, so that the lines of that profile count on the device too.
type asRXE struct {
	*ibv.Bench
	opened time.Time
}

func (asRXE) Profile() string { return profile }

// Live is false: a line of [live] permits what several devices do, and the line
// of the profile beside it says what this one does.
func (asRXE) Live() bool { return false }

// Wait does not wait as long as a script would for what never comes.
func (b asRXE) Wait(ctx context.Context, limit time.Duration, ready func() (bool, error)) (bool, error) {
	return b.Bench.Wait(ctx, min(limit, longestWait), ready)
}

// Now and Advance make it a verbs.Clock: an advance line sleeps.
func (b asRXE) Now() time.Duration { return time.Since(b.opened) }

func (b asRXE) Advance(ctx context.Context, d time.Duration) error {
	pause(ctx, d)
	return ctx.Err()
}

func knownOf(name string) *known {
	if i := slices.IndexFunc(knowns, func(k known) bool { return k.name == name }); i >= 0 {
		return &knowns[i]
	}
	return nil
}

// onModels plays every case on the model.
func onModels(t *testing.T) []result {
	t.Helper()
	var results []result
	used := map[string]bool{}
	for _, c := range cases(t) {
		r := result{c: c}
		if len(c.chunks) > 0 {
			var err error
			if r.model, err = c.onModel(t.Context()); err != nil {
				t.Fatalf("%s: on the model: %v", c.name, err)
			}
			r.explained = knownOf(c.name)
			used[c.name] = r.explained != nil
		}
		results = append(results, r)
	}
	for _, k := range knowns {
		if !used[k.name] {
			t.Errorf("a difference of %q is explained, and there is no such case that a device can run", k.name)
		}
	}
	return results
}

// TestReport holds REPORT.md, and its summary in README.md, against the cases as
// they are. What a device says of them, TestLiveDifferential holds against it.
// RDMAPREP_REWRITE=1 writes both anew.
func TestReport(t *testing.T) {
	results := onModels(t)
	const readme = "../../README.md"
	now, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want, err := inReadme(string(now), summary(results))
	if err != nil {
		t.Fatal(err)
	}
	got := render(results)
	if os.Getenv("RDMAPREP_REWRITE") != "" {
		for name, text := range map[string]string{"REPORT.md": got, readme: want} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if got != report || want != string(now) {
		t.Error("REPORT.md or its summary in README.md is not what the cases give: go generate ./sim/difftest, and see what changed")
	}
}

// TestLiveDifferential plays every case on the device of RDMAPREP_DEVICE, which must
// be rxe of Linux 6.1, and on the model. RDMAPREP_OUT is a folder for the report,
// every difference in full, what each case took, and the summary. RDMAPREP_ONLY
// is a pattern of names, where only some cases are to run.
func TestLiveDifferential(t *testing.T) {
	device := os.Getenv("RDMAPREP_DEVICE")
	if device == "" {
		if slices.Contains(strings.Split(os.Getenv("RDMAPREP_REQUIRE"), ","), "rxe") {
			t.Fatal("RDMAPREP_REQUIRE names rxe, but RDMAPREP_DEVICE names no device")
		}
		t.Skip("no live device: RDMAPREP_DEVICE=rxe0 names one")
	}
	start := time.Now()
	results := onModels(t)
	var full, times strings.Builder
	fmt.Fprintf(&times, "%8d ms the model alone\n", time.Since(start).Milliseconds())
	only, err := regexp.Compile(os.Getenv("RDMAPREP_ONLY"))
	if err != nil {
		t.Fatal(err)
	}
	ran, unexplained := 0, 0
	var late []secondTry
	for i := range results {
		r := &results[i]
		if r.model == nil || !only.MatchString(r.c.name) {
			continue
		}
		ran++
		began := time.Now()
		live, err := r.c.onDevice(t.Context(), device)
		fmt.Fprintf(&times, "%8d ms %s\n", time.Since(began).Milliseconds(), r.c.name)
		known := r.explained
		wrong := r.compare(live, err)
		if wrong != "" && t.Context().Err() == nil {
			// An emulated guest on a busy machine is late now and then, and a
			// timer of the device runs out in between: once more, and told.
			first := wrong
			r.explained = known
			live, err = r.c.onDevice(t.Context(), device)
			if wrong = r.compare(live, err); wrong == "" {
				late = append(late, secondTry{r.c.name, first})
				fmt.Fprintf(&full, "=== %s: equal at the second try; the first: %s\n", r.c.name, first)
			}
		}
		if wrong != "" {
			unexplained++
			t.Errorf("%s: %s", r.c.name, wrong)
		}
		if r.diff != "" {
			fmt.Fprintf(&full, "=== %s\n%s\n", r.c.name, r.diff)
			for _, one := range r.c.chunks {
				fmt.Fprintf(&full, "--- script\n%s\n", one.text)
			}
			fmt.Fprintf(&full, "--- model\n%s--- live\n%s\n", r.model.text(), live.text())
		}
	}
	sums, total := tallies(results)
	took := time.Since(start).Round(time.Second)
	said := fmt.Sprintf("%s on Linux %s, %s: %d cases, %d ran, %d equal, %d explained, %d would hurt, %d model only, %d unexplained, %d equal at the second try; %d lines, %d racy; %s",
		device, kernel(), time.Now().Format(time.DateOnly), total.cases, ran, total.equal-unexplained, total.explained, total.hurt, total.model, unexplained, len(late), total.lines, total.racy, took)
	tries := secondTries(late)
	t.Log(said + "\n" + tries)
	if total.equal == 0 || len(sums) < 5 {
		t.Error("hardly anything was compared")
	}
	text := render(results)
	if text != report && only.String() == "" {
		t.Error("REPORT.md is not what this run gives")
	}
	if out := os.Getenv("RDMAPREP_OUT"); out != "" {
		for name, text := range map[string]string{
			"REPORT.md": text + "\n" + tries, "differences.txt": full.String(), "times.txt": times.String(),
			"summary.txt": said + "\n" + tries,
		} {
			if err := os.WriteFile(out+"/"+name, []byte(text), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// compare judges a run on a device; "" is as it should be.
func (r *result) compare(live *played, err error) string {
	if err != nil {
		r.explained = nil
		r.diff = "error: " + err.Error()
		return r.diff
	}
	r.diff = difference(r.model, live)
	k := r.explained
	switch {
	case live.refused != "" && (k == nil || !k.hurts):
		return "the device refuses a line, and the list of known differences does not say so: " + live.refused
	case r.diff == "" && k != nil:
		return "said to differ, and does not: take it from the list of known differences"
	case r.diff != "" && k == nil:
		return "differs\n" + r.diff
	case k != nil && k.hurts && live.refused == "":
		return "said to be refused, and was not"
	case k != nil && k.live != "" && !strings.HasSuffix(r.diff, "\nlive:  "+k.live):
		return "differs otherwise than is known\n" + r.diff
	}
	return ""
}

func (p *played) text() string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	for _, l := range p.lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// onDevice plays a case on a real device.
func (c *testCase) onDevice(ctx context.Context, device string) (*played, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	nodes, err := c.nodes()
	if err != nil {
		return nil, err
	}
	b, err := ibv.Open(ctx, ibv.Options{Device: device, Nodes: nodes, Clock: ibv.Clock{Now: time.Now, Pause: pause}})
	if err != nil {
		return nil, err
	}
	out, err := c.play(ctx, asRXE{b, time.Now()})
	return out, errors.Join(err, b.Close())
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(release))
}
