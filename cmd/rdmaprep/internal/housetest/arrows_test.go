package housetest

import (
	"cmp"
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// module is the path in go.mod; every import that begins with it is ours.
const module = "rdmaprep"

// cmdTree is the part of the tree that may know a terminal and a disk.
const cmdTree = "cmd/rdmaprep/internal/"

// in names packages of the command's own tree.
func in(names ...string) []string {
	for i, name := range names {
		names[i] = cmdTree + name
	}
	return names
}

// Groups of rooms that several rows of arrows share.
var (
	scripts   = []string{"sim/script", "sim/verbs"}
	learning  = slices.Concat(scripts, []string{"content", "lessons", "lessons/decision", "lessons/typed", "quiz", "quiz/fsrs"})
	frontEnd  = slices.Concat(learning, []string{"sim/wire"}, in("ladder", "study"))
	screenKit = slices.Concat(frontEnd, in("tui/nav", "tui/theme", "tui/widget", "tui/ask", "tui/evidence"))
	records   = []string{"content", "lessons", "lessons/decision", "lessons/typed", "quiz", "quiz/fsrs", "sim/verbs"}
)

// anything is the row of a room that may import every other room.
var anything = []string{"*"}

// arrows says which of our own packages each package may import in files that
// are not tests. A key that ends in "/*" is every package below that folder. A
// package that no key covers is a finding, so that a new room gets its row here
// when it is built.
var arrows = map[string][]string{
	"cmd/rdmaprep": in("cli"),
	// The only room that names a concrete device or a concrete store.
	cmdTree + "cli": anything,
	// The trace in words, for every front end.
	cmdTree + "ladder": {"sim/verbs", "sim/wire"},
	cmdTree + "doctor": {"sim/verbs", "sim/ibv"},
	// Ethernet frames to and from a wire outside the program.
	cmdTree + "frames": {},
	// Makes and removes devices; looks at the machine as doctor does.
	cmdTree + "softroce": in("doctor"),
	// Folders of the front ends. Screens never import each other: navigation
	// is a message, and only tui knows every screen.
	cmdTree + "tui":        slices.Concat(screenKit, in("tui/screen/*")),
	cmdTree + "tui/nav":    slices.Concat([]string{"content", "lessons", "lessons/decision", "quiz"}, in("tui/theme")),
	cmdTree + "tui/theme":  {},
	cmdTree + "tui/widget": slices.Concat(learning, []string{"sim/wire"}, in("ladder", "tui/nav", "tui/theme")),
	// Parts that several screens share: a question's form, and what a run showed.
	cmdTree + "tui/ask":      slices.Concat(learning, in("tui/nav", "tui/theme", "tui/widget")),
	cmdTree + "tui/evidence": slices.Concat(learning, []string{"sim/wire"}, in("ladder", "tui/nav", "tui/theme", "tui/widget")),
	cmdTree + "tui/screen/*": screenKit,
	cmdTree + "plain":        frontEnd,
	cmdTree + "study":        learning,
	cmdTree + "store":        slices.Concat(records, in("study")),
	cmdTree + "export":       records,
	// Test harnesses: packages that only tests import.
	cmdTree + "housetest":   {},
	cmdTree + "tui/tuitest": anything,
	"sim/devicetest":        {"sim/verbs"},
	// Tests alone: the model beside a real device.
	"sim/difftest": {},

	"content": scripts,
	// A lesson's checks are questions, so lessons stands on quiz; never the other way.
	"lessons":          slices.Concat(scripts, []string{"content", "lessons/decision", "quiz"}),
	"lessons/decision": {"lessons/typed"},
	"lessons/typed":    {},
	"quiz":             slices.Concat(scripts, []string{"content", "quiz/fsrs"}),
	"quiz/fsrs":        {},

	"sim":        {"sim/verbs"},
	"sim/verbs":  {},
	"sim/wire":   {},
	"sim/script": {"sim/verbs"},
	"sim/model":  {"sim", "sim/verbs", "sim/wire"},
	"sim/ibv":    {"sim/verbs"},
	"sim/peer":   {"sim/verbs"},
}

// onlyInTests are packages that no shipped package may import, whatever its
// row says.
var onlyInTests = []string{
	"sim/devicetest", cmdTree + "tui/tuitest", cmdTree + "housetest",
}

// brokenArrows reports every import of ours that has no row in table.
func brokenArrows(files []file, table map[string][]string) []finding {
	var found []finding
	for _, f := range files {
		if f.isTest() {
			continue
		}
		allowed, ok := row(table, f.dir())
		if !ok {
			found = append(found, f.at(token.NoPos, "package %s has no row in arrows: say what it may import", f.dir()))
			continue
		}
		for _, spec := range f.syntax.Imports {
			target, ours := ourPackage(spec.Path.Value)
			if !ours || target == f.dir() {
				continue
			}
			switch {
			case slices.Contains(onlyInTests, target):
				found = append(found, f.at(spec.Pos(), "%s is for tests only", target))
			case !covers(allowed, target):
				found = append(found, f.at(spec.Pos(), "%s may not import %s: arrows allow it %v", f.dir(), target, allowed))
			}
		}
	}
	return found
}

// row finds the most specific key of table that covers dir.
func row(table map[string][]string, dir string) ([]string, bool) {
	if allowed, ok := table[dir]; ok {
		return allowed, true
	}
	keys := slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Compare(len(b), len(a))
	})
	for _, key := range keys {
		if below(key, dir) {
			return table[key], true
		}
	}
	return nil, false
}

// covers tells whether one of the patterns names the package.
func covers(patterns []string, target string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return p == "*" || p == target || below(p, target)
	})
}

// below tells whether dir is under a pattern that ends in "/*".
func below(pattern, dir string) bool {
	folder, ok := strings.CutSuffix(pattern, "*")
	return ok && folder != "" && strings.HasPrefix(dir, folder)
}

// ourPackage turns a quoted import path into a folder of this module.
func ourPackage(quoted string) (dir string, ours bool) {
	return strings.CutPrefix(strings.Trim(quoted, "\"`"), module+"/")
}

// unknownRows reports patterns in the table that are not well formed: a typing
// mistake there would quietly allow or forbid nothing.
func unknownRows(table map[string][]string) []string {
	var bad []string
	for _, key := range slices.Sorted(maps.Keys(table)) {
		for _, target := range table[key] {
			if _, ok := row(table, strings.TrimSuffix(target, "*")); !ok && target != "*" {
				bad = append(bad, fmt.Sprintf("%s → %s", key, target))
			}
		}
	}
	return bad
}
