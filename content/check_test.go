package content

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

// testOptions: the good pack was checked on 30 November 2026, its sources on
// the first of that month.
var testOptions = Options{
	Today: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Profiles: []string{"spec", "rxe"}, Jobs: 2,
}

func goodPack(t testing.TB) fstest.MapFS {
	pack := fstest.MapFS{}
	root := os.DirFS("testdata/good")
	err := fs.WalkDir(root, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, p)
		pack[p] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pack
}

func TestGoodPack(t *testing.T) {
	var open atomic.Int64
	rep, problems := check(t.Context(), goodPack(t), testOptions, fakeRunner(&open))
	for _, p := range problems {
		t.Error(p)
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d runs were not closed", n)
	}
	// Counted by hand in testdata/good. Runs: choice 2 profiles, multi 1, order
	// 2 profiles of 1 right order and 2 swaps (a run that fails counts too),
	// length 2 profiles of 2 draws, fill 2, predict 2, lab 2 parts.
	want := &CheckReport{
		Stats: Stats{
			Topics: 2, Sources: 4, Questions: 11, Proofs: 6, Lessons: 1, Labs: 1, Glossary: 2,
			ByKind:  map[string]int{"choice": 2, "multi": 1, "order": 2, "number": 2, "fill": 2, "predict": 1, "open": 1},
			ByTopic: map[string]int{"failure": 10, "ordering": 1},
		},
		Runs: 2 + 1 + 6 + 4 + 2 + 2 + 2, Library: rep.Library,
	}
	if diff := cmp.Diff(want.Stats, rep.Stats); diff != "" {
		t.Error(diff)
	}
	if rep.Runs != want.Runs || rep.Errors != 0 || rep.Warnings != 0 {
		t.Errorf("runs %d errors %d warnings %d, want %d 0 0", rep.Runs, rep.Errors, rep.Warnings, want.Runs)
	}
}

// TestBroken breaks the good pack, one rule at a time. A case is
//
//	break
//	FILE:LINE the text that takes the place of this line (␤ for more lines)
//	FILE      the text of a file that is added, or gone if there is no text
//	----
//	FILE:LINE KEY      every problem, counted by hand; "warning" before a warning
func TestBroken(t *testing.T) {
	datadriven.Walk(t, "testdata/broken", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			pack := goodPack(t)
			for line := range strings.SplitSeq(d.Input, "\n") {
				breakPack(t, d, pack, line)
			}
			var open atomic.Int64
			_, problems := check(t.Context(), pack, testOptions, fakeRunner(&open))
			var b strings.Builder
			for _, p := range problems {
				if p.Warning {
					b.WriteString("warning ")
				}
				fmt.Fprintf(&b, "%s:%d %s\n", p.File, p.Line, p.Key)
				if p.Text == "" || strings.Contains(p.Text, "%!") {
					d.Fatalf(t, "a problem without a proper text: %q", p.Text)
				}
				t.Log(p)
			}
			return b.String()
		})
	})
}

func breakPack(t *testing.T, d *datadriven.TestData, pack fstest.MapFS, line string) {
	where, text, _ := strings.Cut(line, " ")
	text = strings.ReplaceAll(text, "␤", "\n")
	file, number, numbered := strings.Cut(where, ":")
	if !numbered {
		if delete(pack, file); text != "" {
			pack[file] = &fstest.MapFile{Data: []byte(text)}
		}
		return
	}
	n, err := strconv.Atoi(number)
	if err != nil || pack[file] == nil {
		d.Fatalf(t, "%q is not FILE:LINE of the good pack", where)
	}
	lines := strings.Split(string(pack[file].Data), "\n")
	lines[n-1] = text
	pack[file] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))}
}
