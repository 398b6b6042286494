package content

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"rdmaprep/sim/verbs"
)

// Profiles are the profiles that a proof must agree under if it names none.
var Profiles = []string{"spec", "rxe-6.1"}

// maxAge is how old a check may be before a fact is looked up again.
const maxAgeYears = 3

// Options say how to check.
type Options struct {
	Open     verbs.Opener // makes the Bench of each run; nil skips every run
	Today    time.Time    // decides what is stale or in the future; zero skips that
	Profiles []string     // Profiles if empty
	Jobs     int          // runs at a time, at least 1
	Base     *Library     // what a user's pack may refer to, nil for a pack that stands alone
}

// Stats counts what a library has.
type Stats struct {
	Topics    int            `json:"topics"`
	Sources   int            `json:"sources"`
	Questions int            `json:"questions"`
	Proofs    int            `json:"proofs"` // questions with a proof
	Lessons   int            `json:"lessons"`
	Labs      int            `json:"labs"`
	Glossary  int            `json:"glossary"`
	ByKind    map[string]int `json:"by_kind"`
	ByTopic   map[string]int `json:"by_topic"`
}

// Count is the Stats of a library.
func Count(lib *Library) Stats {
	s := Stats{
		Topics: len(lib.Topics), Sources: len(lib.Sources), Questions: len(lib.Questions),
		Lessons: len(lib.Lessons), Labs: len(lib.Labs), Glossary: len(lib.Glossary),
		ByKind: map[string]int{}, ByTopic: map[string]int{},
	}
	for _, q := range lib.Questions {
		s.ByKind[string(q.Kind)]++
		s.ByTopic[q.Topic]++
		if q.Proof != nil {
			s.Proofs++
		}
	}
	return s
}

// CheckReport is the outcome of a check.
type CheckReport struct {
	Stats
	Runs     int `json:"runs"` // scripts run, over profiles and variants
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`

	Library *Library `json:"-"`
}

// Check loads a pack and holds it against every rule of FORMAT.md: those of
// Load, the dates, the ledger of ids, and a run of every proof and lab. The
// problems are in the order of files and lines; a pack is good if none of them
// is an error. Equal packs, options and devices give equal reports.
func Check(ctx context.Context, fsys fs.FS, opt Options) (*CheckReport, []Problem) {
	return check(ctx, fsys, opt, scriptRunner(opt.Open))
}

func check(ctx context.Context, fsys fs.FS, opt Options, run runner) (*CheckReport, []Problem) {
	if len(opt.Profiles) == 0 {
		opt.Profiles = Profiles
	}
	l := newLoader(opt.Base)
	l.load(fsys)
	if !opt.Today.IsZero() {
		l.dates(opt.Today)
	}
	l.ledger(fsys)
	l.strays(fsys)
	rep := &CheckReport{Stats: Count(l.lib), Library: l.lib}
	if run != nil {
		rep.Runs = l.prove(ctx, opt, run)
	}
	problems := l.sorted()
	for _, p := range problems {
		if p.Warning {
			rep.Warnings++
		} else {
			rep.Errors++
		}
	}
	return rep, problems
}

// dates checks that every fact was checked lately, and no earlier than the
// sources that it rests on.
func (l *loader) dates(today time.Time) {
	y, m, d := today.Date()
	now := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	oldest := now.AddDate(-maxAgeYears, 0, 0)
	day := func(s spot, t time.Time) bool {
		switch {
		case t.IsZero():
			return false
		case t.After(now):
			l.bad(s.at("checked"), "it was checked on %s, which is in the future", t.Format(time.DateOnly))
		case t.Before(oldest):
			l.bad(s.at("checked"), "it was last checked on %s, over %d years ago: look the source up again", t.Format(time.DateOnly), maxAgeYears)
		default:
			return true
		}
		return false
	}
	for _, s := range l.lib.Sources {
		day(l.spots[s], s.Checked)
	}
	for _, q := range l.lib.Questions {
		if !day(l.spots[q], q.Checked) {
			continue
		}
		for _, r := range q.Refs {
			if q.Checked.Before(r.Source.Checked) {
				l.bad(l.spots[q].at("checked"), "it was checked on %s and its source %s has changed since (%s): check it against the source again",
					q.Checked.Format(time.DateOnly), r.Source.ID, r.Source.Checked.Format(time.DateOnly))
			}
		}
	}
}

// strays warns of files that no rule reads, such as a misnamed one.
func (l *loader) strays(fsys fs.FS) {
	known := map[string]bool{LedgerFile: true}
	for _, f := range l.files {
		known[f.name] = true
	}
	for _, dir := range []string{".", "questions", "lessons", "labs"} {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			continue // a pack need not have every folder
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			ext := path.Ext(name)
			skip := e.IsDir() && dir == "." || strings.HasPrefix(e.Name(), ".") || ext == ".go" || dir == "." && ext == ".md"
			if !known[name] && !skip {
				l.problems = append(l.problems, Problem{
					File: name, Warning: true,
					Text: "nothing reads this file: a pack has topics.toml, sources.toml, glossary.toml, questions/*.toml, lessons/*.md and labs/*.toml",
				})
			}
		}
	}
}

// task is one thing to run: it reports on its own and counts its runs.
type task func(r *reporter) (runs int)

// prove runs every proof and every lab, Jobs at a time.
func (l *loader) prove(ctx context.Context, opt Options, run runner) (runs int) {
	var tasks []task
	for _, q := range l.lib.Questions {
		if q.Proof != nil || q.Variants != nil {
			p := &prover{ctx: ctx, run: run, profiles: opt.Profiles, spot: l.spots[q]}
			tasks = append(tasks, func(r *reporter) int { p.reporter = r; return p.question(q) })
		}
	}
	for _, x := range l.lib.Labs {
		p := &prover{ctx: ctx, run: run, profiles: opt.Profiles, spot: l.spots[x]}
		tasks = append(tasks, func(r *reporter) int { p.reporter = r; return p.lab(x) })
	}
	reports, counts := make([]reporter, len(tasks)), make([]int, len(tasks))
	var wg sync.WaitGroup
	next := make(chan int)
	for range max(opt.Jobs, 1) {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() == nil {
					counts[i] = tasks[i](&reports[i])
				}
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		l.problems = append(l.problems, Problem{File: ".", Text: "the check was stopped before its end: " + err.Error()})
		return 0
	}
	for i := range tasks {
		l.problems = append(l.problems, reports[i].problems...)
		runs += counts[i]
	}
	return runs
}

// knownProfile tells whether proofs can be run under a profile.
func knownProfile(profiles []string, p string) bool { return slices.Contains(profiles, p) }
