package housetest

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestTheTree applies every rule to this repository.
func TestTheTree(t *testing.T) {
	tree := os.DirFS(root(t))
	files, err := goFiles(tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go file found: the rules would hold of nothing")
	}
	text, err := forbiddenText(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []struct {
		name  string
		found []finding
	}{
		{"every package says what it promises", missingComments(files)},
		{"package names name an idea", vaguePackages(files)},
		{"files and functions are short", tooLong(files)},
		{"imports follow the arrows", brokenArrows(files, arrows)},
		{"nothing names one machine", text},
	} {
		t.Run(rule.name, func(t *testing.T) {
			for _, f := range rule.found {
				t.Error(f)
			}
		})
	}
}

// TestTheTable keeps the table of arrows free of rooms that have no row.
func TestTheTable(t *testing.T) {
	for _, bad := range unknownRows(arrows) {
		t.Error(bad)
	}
	table := map[string][]string{"a": {"b"}}
	if got := unknownRows(table); len(got) != 1 || got[0] != "a → b" {
		t.Errorf("a row to an unknown room: got %q", got)
	}
}

// TestEachRuleBites gives each rule a tree that breaks it, and one beside it
// that does not: a rule that finds nothing anywhere would pass TestTheTree.
func TestEachRuleBites(t *testing.T) {
	long := func(lines int) string { return strings.Repeat("\n", lines) }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // what each finding begins with, in any order
	}{
		{
			"comments",
			map[string]string{
				"sim/wire/a.go":        "package wire",
				"sim/verbs/a.go":       "// Package verbs has words.\npackage verbs",
				"sim/model/a.go":       "// Package models is another.\npackage model",
				"lessons/a_test.go":    "package lessons",
				"cmd/rdmaprep/main.go": "// Command rdmaprep runs.\npackage main",
			},
			[]string{"sim/wire/a.go:1: package sim/wire has no", "sim/model/a.go:2: package sim/model has no"},
		},
		{
			"names",
			map[string]string{"sim/a.go": "// Package util is vague.\npackage util"},
			[]string{"sim/a.go:2: package name util"},
		},
		{
			"lengths",
			map[string]string{
				"quiz/a.go":      "// Package quiz asks.\npackage quiz\nfunc f() {" + long(maxFuncLines) + "}",
				"quiz/b.go":      "package quiz\nfunc g() {" + long(maxFuncLines-1) + "}",
				"quiz/c.go":      "package quiz\n" + long(maxFileLines),
				"quiz/d.go":      "package quiz\n" + long(maxFileLines-1),
				"quiz/e_test.go": "package quiz\nfunc h() {" + long(maxFileLines) + "}",
			},
			[]string{"quiz/a.go:3: f has 71 lines", "quiz/c.go:1: 50"},
		},
		{
			"arrows",
			map[string]string{
				"sim/verbs/a.go":              "// Package verbs has words.\npackage verbs\nimport _ \"rdmaprep/sim\"",
				"sim/script/a.go":             "// Package script runs.\npackage script\nimport _ \"rdmaprep/sim/verbs\"",
				"sim/script/a_test.go":        "package script\nimport _ \"rdmaprep/sim/model\"",
				"sim/attic/a.go":              "// Package attic is new.\npackage attic",
				cmdTree + "tui/screen/x/a.go": "// Package x shows.\npackage x\nimport _ \"rdmaprep/" + cmdTree + "tui/screen/y\"",
				cmdTree + "tui/a.go":          "// Package tui shows.\npackage tui\nimport _ \"rdmaprep/" + cmdTree + "tui/screen/y\"",
				cmdTree + "cli/a.go":          "// Package cli parses.\npackage cli\nimport _ \"rdmaprep/sim/devicetest\"",
			},
			[]string{
				"sim/verbs/a.go:3: sim/verbs may not import sim:",
				"sim/attic/a.go:1: package sim/attic has no row",
				cmdTree + "tui/screen/x/a.go:3: " + cmdTree + "tui/screen/x may not import",
				cmdTree + "cli/a.go:3: sim/devicetest is for tests only",
			},
		},
		{
			"text",
			map[string]string{
				"README.md":     "fine\nsee /wo" + "rk/main and ../sha" + "red\n",
				"a.toml":        "x = \"\U0001F600\"\n",
				"b.md":          "the network /wo" + "rking group; issue 7 of the kernel list\n",
				"c.pcap":        "\x00/wo" + "rk/main",
				".git/config":   "/wo" + "rk/main",
				"sim/doc.go":    "// Package sim is DESI" + "GN §4, facts/" + "verbs.md.\npackage sim",
				"testdata/x.md": "/ro" + "ot/x",
			},
			[]string{
				"README.md:2: \" /wo", "README.md:2: \"../sha", "a.toml:1: an emoji",
				"sim/doc.go:1: \"DESI", "sim/doc.go:1: \"facts/", "testdata/x.md:1: \"/ro",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			compare(t, everyFinding(t, c.files), c.want)
		})
	}
}

// everyFinding runs all rules on a tree made of the given files.
func everyFinding(t *testing.T, sources map[string]string) []finding {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range sources {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	files, err := goFiles(tree)
	if err != nil {
		t.Fatal(err)
	}
	found, err := forbiddenText(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range [][]finding{
		missingComments(files), vaguePackages(files), tooLong(files), brokenArrows(files, arrows),
	} {
		found = append(found, rule...)
	}
	return found
}

// compare demands that each finding begins with one of want, each used once.
func compare(t *testing.T, found []finding, want []string) {
	t.Helper()
	left := map[string]bool{}
	for _, w := range want {
		left[w] = true
	}
	for _, f := range found {
		matched := false
		for w := range left {
			if strings.HasPrefix(f.String(), w) {
				delete(left, w)
				matched = true
				break
			}
		}
		if !matched {
			t.Errorf("not wanted: %s", f)
		}
	}
	for w := range left {
		t.Errorf("not found: %s", w)
	}
}
