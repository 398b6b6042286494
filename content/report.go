package content

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// sourceFile is one file of a pack: its text and, once asked for, its places.
type sourceFile struct {
	name   string
	data   string
	offset int   // lines of the file before data
	tops   []int // lines of the top-level array headers, in order

	once  sync.Once
	index map[string]int
}

// places is the line of every path with indices, within data.
func (f *sourceFile) places() map[string]int {
	f.once.Do(func() {
		f.index = map[string]int{}
		var w walker
		all := func(string) bool { return true }
		w.walk(f.data, all, func(pl place) {
			if _, dup := f.index[pl.path]; !dup {
				f.index[pl.path] = pl.line
			}
		})
	})
	return f.index
}

// line finds the line of a path with indices; a path that has no line of its
// own (an inline table, a missing key) has that of the nearest above it.
func (f *sourceFile) line(p string) int {
	index := f.places()
	for p != "" {
		if n, ok := index[p]; ok {
			return n + f.offset
		}
		if n, ok := index[p+"[0]"]; ok { // an array of tables
			return n + f.offset
		}
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return 1 + f.offset
}

// spot is where an entry stands: its path in its file, and the same path with
// its id as it is shown.
type spot struct {
	file  *sourceFile
	path  string // "question[3]", "" for the file itself
	shown string // "question[failure.rnr]"
}

func (s spot) at(key string) spot {
	return spot{s.file, joinPath(s.path, key), joinPath(s.shown, key)}
}

func (s spot) elem(key string, i int) spot { return s.at(fmt.Sprintf("%s[%d]", key, i)) }

// reporter gathers problems; each goroutine has its own.
type reporter struct {
	problems []Problem
}

func (r *reporter) bad(s spot, format string, args ...any) { r.report(s, false, format, args...) }

func (r *reporter) warn(s spot, format string, args ...any) { r.report(s, true, format, args...) }

// badScript reports a fault in a script, on its own line if that is known.
func (r *reporter) badScript(s spot, err error, format string, args ...any) {
	n := len(r.problems)
	r.bad(s, format, args...)
	var fault *scriptError
	if len(r.problems) == n || !errors.As(err, &fault) {
		return
	}
	p := &r.problems[n]
	lines := strings.Split(s.file.data, "\n")
	// The script begins on the line after an opening """ that ends its line.
	if i := p.Line - 1 - s.file.offset; i >= 0 && i < len(lines) && strings.HasSuffix(strings.TrimSpace(lines[i]), `"""`) {
		p.Line += fault.line
	}
}

func (r *reporter) report(s spot, warning bool, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		return
	}
	p := Problem{File: s.file.name, Line: s.file.line(s.path), Key: s.shown, Warning: warning}
	p.Text = fmt.Sprintf(format, args...)
	r.problems = append(r.problems, p)
}

// sorted puts the problems in the order of files and lines, each once.
func (r *reporter) sorted() []Problem {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(r.problems)
}
