package content

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// FormatVersion is the version of the content format that this package reads.
const FormatVersion = 1

// Limits of a pack. Reaching one is a Problem that names it.
const (
	MaxFiles     = 4096
	MaxFileBytes = 16 << 20
	maxNesting   = 32  // brackets within brackets in a TOML file
	maxDots      = 512 // dots outside strings on one line
	maxProblems  = 1000
)

// A Problem is printed as "file:line: key: text".
func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Key != "" {
		s += ": " + p.Key
	}
	if p.Warning {
		s += ": warning"
	}
	return s + ": " + p.Text
}

// Load reads a whole pack and checks all that can be seen without running
// anything: keys, ids, references, the fields of every kind, text. The library
// is never nil; what could not be read is missing from it and is a Problem.
func Load(fsys fs.FS) (*Library, []Problem) { return LoadPack(nil, fsys) }

// LoadPack loads a pack that may use the topics, sources, questions and labs
// of base, which may be nil. The library returned is the pack's own; Merge
// joins it to base.
func LoadPack(base *Library, fsys fs.FS) (*Library, []Problem) {
	l := newLoader(base)
	l.load(fsys)
	return l.lib, l.sorted()
}

// Merge returns the union of two libraries that were loaded with LoadPack.
func Merge(base, pack *Library) *Library {
	m := &Library{
		Topics:    slices.Concat(base.Topics, pack.Topics),
		Sources:   map[string]*Source{},
		Glossary:  slices.Concat(base.Glossary, pack.Glossary),
		Questions: slices.Concat(base.Questions, pack.Questions),
		Lessons:   slices.Concat(base.Lessons, pack.Lessons),
		Labs:      slices.Concat(base.Labs, pack.Labs),
	}
	for _, lib := range []*Library{base, pack} {
		for id, s := range lib.Sources {
			m.Sources[id] = s
		}
	}
	return m
}

type loader struct {
	lib   *Library
	base  *Library
	files []*sourceFile
	reporter

	topics    map[string]bool
	questions map[string]*Question
	lessons   map[string]*Lesson
	labs      map[string]*Lab
	terms     map[string]bool
	spots     map[any]spot
	checks    []pending
}

func newLoader(base *Library) *loader {
	l := &loader{
		lib: &Library{Sources: map[string]*Source{}}, base: base,
		topics: map[string]bool{}, questions: map[string]*Question{}, lessons: map[string]*Lesson{},
		labs: map[string]*Lab{}, terms: map[string]bool{}, spots: map[any]spot{},
	}
	if base == nil {
		l.base = &Library{}
	}
	for _, t := range l.base.Topics {
		l.topics[t.ID] = true
	}
	for _, q := range l.base.Questions {
		l.questions[q.ID] = q
	}
	for _, x := range l.base.Lessons {
		l.lessons[x.ID] = x
	}
	for _, x := range l.base.Labs {
		l.labs[x.ID] = x
	}
	for _, t := range l.base.Glossary {
		l.terms[strings.ToLower(t.Term)] = true
	}
	return l
}

func (l *loader) load(fsys fs.FS) {
	names := l.list(fsys)
	out := make([]*decoded, len(names))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), max(len(names), 1)) {
		wg.Go(func() {
			for i := range next {
				out[i] = decodeFile(fsys, names[i])
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, d := range out {
		l.files = append(l.files, d.file)
		l.problems = append(l.problems, d.problems...)
	}
	for _, d := range out {
		l.collect(d)
	}
	l.resolve()
}

// list names the files of a pack in a fixed order: topics and sources first.
func (l *loader) list(fsys fs.FS) []string {
	var names []string
	for _, n := range []string{"topics.toml", "sources.toml", "glossary.toml"} {
		if _, err := fs.Stat(fsys, n); err == nil {
			names = append(names, n)
		} else if !errors.Is(err, fs.ErrNotExist) {
			l.problems = append(l.problems, Problem{File: n, Text: "cannot be read: " + err.Error()})
		}
	}
	for _, p := range []string{"questions/*.toml", "lessons/*.md", "labs/*.toml"} {
		found, err := fs.Glob(fsys, p)
		if err != nil {
			l.problems = append(l.problems, Problem{File: p, Text: "cannot be listed: " + err.Error()})
		}
		slices.Sort(found)
		names = append(names, found...)
	}
	if len(names) > MaxFiles {
		l.problems = append(l.problems, Problem{File: names[MaxFiles], Text: fmt.Sprintf(
			"the pack has %d files; the limit is %d: put more questions into one file", len(names), MaxFiles)})
		names = names[:MaxFiles]
	}
	if len(names) == 0 {
		l.problems = append(l.problems, Problem{File: ".", Text: "no content here: a pack has topics.toml, " +
			"sources.toml, glossary.toml, questions/*.toml, lessons/*.md or labs/*.toml"})
	}
	return names
}
