package export

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"rdmaprep/lessons/typed"
	"rdmaprep/quiz"
)

// page collects lines of Markdown.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// block is a paragraph, a list or a quotation with an empty line before it.
func (p *page) block(format string, args ...any) {
	p.line("")
	p.line(format, args...)
}

// index is the first page: when, how much, how sure, what is due, and the way
// to every other page.
func (n *notebook) index() string {
	var p page
	p.line("# RDMA study notes")
	p.block("Written %s.", n.Now.Format("2006-01-02 15:04 -0700"))
	n.totals(&p)
	n.due(&p)
	n.topicTable(&p)
	n.calibration(&p)
	p.block("## Decision records")
	if len(n.records) == 0 {
		p.block("None yet: a lab ends with one.")
	} else {
		p.line("")
		for _, r := range n.records {
			p.line("- [%s](%s), %s, %s", typed.Word(r.title()), r.file, r.At.Format(time.DateOnly), typed.Word(string(r.Verdict)))
		}
	}
	if len(n.terms) > 0 {
		p.block("## Glossary")
		p.block("[%s](%s) came up in what was answered.", count(len(n.terms), "term"), glossaryFile)
	}
	return p.String()
}

func (n *notebook) totals(p *page) {
	var answers, graded, right, skipped, labs int
	var took time.Duration
	days := map[int]bool{}
	for _, a := range n.standing {
		days[a.Day] = true
		switch a.Kind {
		case quiz.Skipped:
			skipped++
			continue
		case quiz.LabKind:
			labs++
		default:
			answers++
			if a.Graded {
				graded++
			}
			if a.Graded && a.Correct {
				right++
			}
		}
		took += a.Took
	}
	p.block("## So far")
	p.line("")
	p.line("- days with study: %d", len(days))
	p.line("- answers: %d; of %d graded, %d were right (%s)", answers, graded, right, percent(right, graded))
	p.line("- predictions in labs: %d", labs)
	p.line("- skipped: %d", skipped)
	p.line("- time before questions and predictions: %s", took.Round(time.Second))
}

func (n *notebook) due(p *page) {
	due, next := 0, math.MaxInt
	for _, c := range n.Cards {
		if c.Due <= n.today {
			due++
		} else {
			next = min(next, c.Due)
		}
	}
	p.block("## Due")
	line := count(due, "card") + " due today or before."
	if next < math.MaxInt {
		line += " The next one after that falls due on " + dayDate(next) + "."
	}
	p.block("%s", line)
}

func (n *notebook) topicTable(p *page) {
	p.block("## Topics studied")
	if len(n.topics) == 0 {
		p.block("None yet.")
		return
	}
	p.block("Mastery is the chance that an answer of the topic is recalled today, over all its questions; one never answered counts 0.")
	p.line("")
	p.line("| topic | mastery | questions seen | due | missed at least once |")
	p.line("|---|--:|--:|--:|--:|")
	for _, t := range n.topics {
		m := t.mastery
		if t.ID == "" {
			p.line("| [%s](%s) | - | - | - | %d |", typed.Word(t.Title), t.file, t.missedQuestions())
			continue
		}
		p.line("| [%s](%s) | %.0f%% | %d of %d | %d | %d |", typed.Word(t.Title), t.file, 100*m.Mastery, m.Seen, m.Questions, m.Due, t.missedQuestions())
	}
}

func (t *topic) missedQuestions() int {
	missed := 0
	for _, s := range t.studied {
		if s.missed > 0 {
			missed++
		}
	}
	return missed
}

func (n *notebook) calibration(p *page) {
	c := quiz.Calibrate(n.Log)
	p.block("## How sure, and how often right")
	if c.N == 0 {
		p.block("No graded answer came with a confidence yet.")
		return
	}
	p.block("Brier score %.3f over %s (0 is perfect, 0.25 is always saying 50%%).", c.Brier, count(c.N, "answer"))
	p.line("")
	p.line("| sure | answers | right |")
	p.line("|--:|--:|--:|")
	rows := slices.Clone(c.Rows)
	slices.SortFunc(rows, func(a, b quiz.CalibrationRow) int { return a.Percent - b.Percent })
	for _, r := range rows {
		p.line("| %d%% | %d | %d (%s) |", r.Percent, r.N, r.Right, percent(r.Right, r.N))
	}
}

// percent is a share in whole percent; of nothing it is a dash.
func percent(part, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(all))
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
