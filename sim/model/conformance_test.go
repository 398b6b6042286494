package model_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rdmaprep/sim/model"
)

// suite is a published test suite of verbs that is held against the model: a
// folder with cases.tsv, the table of all of its cases, and with transcripts
// named after those that apply.
type suite struct {
	dir       string
	published int // cases of the revision that cases.tsv names
}

var suites = []suite{
	{"testdata/conformance", 410}, // google/rdma-unit-test: 359 TEST_F and 51 TEST_P
	{"testdata/pyverbs", 231},     // rdma-core's tests/test_*.py: methods of the 35 classes that are no vendor's
}

// transcripts lists the transcripts of a suite.
func (s suite) transcripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(s.dir + "/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts in %s: %v", s.dir, err)
	}
	return paths
}

// TestConformance runs the transcripts that are named after the cases of the
// published suites, and holds them against the tables: a case that the table
// calls "passes" has a transcript, and every transcript's case is one that the
// table calls so. "run case=NAME" runs on profile spec; with profiles=all on
// every profile. case=(NAME,NAME) is a transcript of several cases, where the
// published ones differ in what a script does not show, such as the call of
// the library by which the same object is made.
func TestConformance(t *testing.T) {
	for _, s := range suites {
		t.Run(filepath.Base(s.dir), s.run)
	}
}

func (s suite) run(t *testing.T) {
	table := s.table(t)
	ran := map[string]bool{}
	for _, path := range s.transcripts(t) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			for _, name := range caseNames(t, d) {
				if table[name] != "passes" {
					t.Errorf("%s: the table says %q of %s", d.Pos, table[name], name)
				}
				ran[name] = true
			}
			profiles := []string{"spec"}
			if d.HasArg("profiles") {
				profiles = model.ProfileNames()
			}
			return runProfiles(d, profiles)
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

// caseNames are the values of case=.
func caseNames(t *testing.T, d *datadriven.TestData) []string {
	t.Helper()
	for _, arg := range d.CmdArgs {
		if arg.Key == "case" && len(arg.Vals) > 0 {
			return arg.Vals
		}
	}
	d.Fatalf(t, "no case=NAME")
	return nil
}

// table reads cases.tsv: name, verdict, reason.
func (s suite) table(t *testing.T) map[string]string {
	t.Helper()
	file := s.dir + "/cases.tsv"
	src, err := os.ReadFile(file)
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
			t.Fatalf("%s:%d: %q is not NAME, passes|n/a|open, reason", file, i+1, line)
		}
		if _, twice := table[f[0]]; twice {
			t.Fatalf("%s:%d: %s comes twice", file, i+1, f[0])
		}
		if f[1] != "passes" && f[2] == "" {
			t.Errorf("%s:%d: %s is %s without a reason", file, i+1, f[0], f[1])
		}
		table[f[0]] = f[1]
	}
	if len(table) != s.published {
		t.Errorf("%s: %d cases in the table, %d are published", file, len(table), s.published)
	}
	return table
}
