package model_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
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
// the library by which the same object is made. What a script cannot write is a
// Go test: the row's third column names its file and function.
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
				if row := table[name]; row.verdict != "passes" || row.goTest != nil {
					t.Errorf("%s: the table says %q of %s, Go test %v", d.Pos, row.verdict, name, row.goTest)
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
	for name, row := range table {
		counts[row.verdict]++
		switch {
		case row.verdict != "passes":
		case row.goTest != nil:
			counts["passes as a Go test"]++
			row.checkGoTest(t, name)
		case !ran[name]:
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

// published is a row of cases.tsv; goTest is the file and the function that
// stand for a transcript, or nil.
type published struct {
	verdict string
	goTest  []string
}

// goTestOf is how the third column of a case that passes names a Go test of
// this package; what follows a colon is a note.
var goTestOf = regexp.MustCompile(`^(\w+_test\.go) (Test\w+)(?:: .+)?$`)

// checkGoTest holds that the function exists and that its file names the case.
func (p published) checkGoTest(t *testing.T, name string) {
	t.Helper()
	file, function := p.goTest[0], p.goTest[1]
	src, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	tree, err := parser.ParseFile(token.NewFileSet(), file, src, 0)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if !slices.ContainsFunc(tree.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == function
	}) {
		t.Errorf("%s: %s has no function %s", name, file, function)
	}
	if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).Match(src) {
		t.Errorf("%s: %s does not say that it is this case", name, file)
	}
}

// table reads cases.tsv: name, verdict, reason.
func (s suite) table(t *testing.T) map[string]published {
	t.Helper()
	file := s.dir + "/cases.tsv"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]published{}
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
		row := published{verdict: f[1]}
		if m := goTestOf.FindStringSubmatch(f[2]); m != nil && f[1] == "passes" {
			row.goTest = m[1:3]
		}
		table[f[0]] = row
	}
	if len(table) != s.published {
		t.Errorf("%s: %d cases in the table, %d are published", file, len(table), s.published)
	}
	return table
}
