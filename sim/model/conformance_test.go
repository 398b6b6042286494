package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

const conformanceDir = "testdata/conformance"

// TestConformance runs the transcripts that are named after the public test
// cases of google/rdma-unit-test, and holds them against the table of all of
// its cases: one that the table calls "passes" has a transcript, and every
// transcript's case is one that the table calls so. "run case=NAME" runs on
// profile spec; with profiles=all on every profile.
func TestConformance(t *testing.T) {
	table := conformanceTable(t)
	paths, err := filepath.Glob(conformanceDir + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var name string
			d.ScanArgs(t, "case", &name)
			if table[name] != "passes" {
				t.Errorf("%s: the table says %q of %s", d.Pos, table[name], name)
			}
			ran[name] = true
			profiles := []string{"spec"}
			if d.HasArg("profiles") {
				profiles = []string{"spec", "rxe-6.1"}
			}
			var out strings.Builder
			for _, p := range profiles {
				if msg := runScript(d.Pos, p, d.Input); msg != "" {
					fmt.Fprintf(&out, "%s: %s\n", p, msg)
				}
			}
			if out.Len() == 0 {
				return "ok"
			}
			return out.String()
		})
	}
	counts := map[string]int{}
	for name, verdict := range table {
		counts[verdict]++
		if verdict == "passes" && !ran[name] {
			t.Errorf("the table says that %s passes, and no transcript carries its name", name)
		}
	}
	t.Logf("%d cases: %v", len(table), counts)
}

// conformanceTable reads cases.tsv: name, verdict, reason.
func conformanceTable(t *testing.T) map[string]string {
	t.Helper()
	src, err := os.ReadFile(conformanceDir + "/cases.tsv")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for i, line := range strings.Split(strings.TrimRight(string(src), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 || !slices.Contains([]string{"passes", "n/a", "open"}, f[1]) {
			t.Fatalf("cases.tsv:%d: %q is not NAME, passes|n/a|open, reason", i+1, line)
		}
		if _, twice := table[f[0]]; twice {
			t.Fatalf("cases.tsv:%d: %s comes twice", i+1, f[0])
		}
		if f[1] != "passes" && f[2] == "" {
			t.Errorf("cases.tsv:%d: %s is %s without a reason", i+1, f[0], f[1])
		}
		table[f[0]] = f[1]
	}
	const published = 410 // TEST macros of that revision: 359 TEST_F and 51 TEST_P
	if len(table) != published {
		t.Errorf("%d cases in the table, %d are published", len(table), published)
	}
	return table
}
