package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rdmaprep/lessons/typed"
)

// notStated is what an empty field prints as, so that a gap is seen.
const notStated = "*not stated*"

// Markdown renders the record; equal records give equal text. Fields that are
// empty are shown as "not stated". What a learner typed keeps its inline
// Markdown; nothing in it starts a heading, a list, a fence or HTML, or moves a
// terminal's cursor.
func (r *Record) Markdown() string {
	r = r.calmed()
	var m page
	title := r.Title
	if title == "" {
		title = r.Lab
	}
	m.line("# Decision: %s", oneLine(title, "untitled"))
	m.line("")
	m.line("**%s** · %s · lab `%s` · record `%s`", oneLine(string(r.Verdict), "no verdict"), r.date(), r.Lab, r.ID)
	m.section("Question", r.Question)
	m.section("Decision", "")
	m.item("Default", r.Default)
	m.item("Alternative", r.Alternative)
	m.item("Signal to switch", r.Signal)
	m.section("What is at stake", "")
	m.item("Workload target", r.Workload.String())
	m.item("If this is wrong", r.Consequence)
	m.section("Guarantee", "")
	m.item("Claimed", r.Guarantee)
	m.item("Scope", r.Scope)
	m.item("Reaches", r.Reaches)
	m.list("Buffers: who owns each, and until when", r.Buffers)
	m.list("Hard constraints", r.Constraints)
	m.section("Failure", "")
	m.item("Complexity added", r.FailureComplexity)
	m.item("Recovery", r.Recovery)
	r.predictions(&m)
	r.evidence(&m)
	r.scale(&m)
	r.verdict(&m)
	r.sources(&m)
	if strings.TrimSpace(r.Notes) != "" {
		m.section("Notes", r.Notes)
	}
	return typed.Plain(m.String())
}

// calmed is a copy in which no typed text reaches beyond its place in the page.
func (r *Record) calmed() *Record {
	c := *r
	for _, text := range []*string{
		&c.Question, &c.Workload.Metric, &c.Workload.Unit, &c.Workload.OutOf, &c.Workload.Target, &c.Consequence,
		&c.Guarantee, &c.Scope, &c.Reaches, &c.Default, &c.Alternative, &c.Signal, &c.FailureComplexity, &c.Recovery,
		&c.CannotShow, &c.Scale.Prompt, &c.Scale.Answer, &c.NextCheck, &c.Owner, &c.NextDate, &c.Uncertainty, &c.Notes,
	} {
		*text = typed.Calm(*text)
	}
	c.Title = typed.Word(c.Title)
	for _, list := range []*[]string{&c.Buffers, &c.Constraints, &c.Scale.Made, &c.Scale.Missed} {
		*list = slices.Clone(*list)
		for i, text := range *list {
			(*list)[i] = typed.Calm(oneLine(text, ""))
		}
	}
	return &c
}

// String is the workload in one line: "p99 latency (us) of 8-byte reads: below 10".
func (w Workload) String() string {
	s := w.Metric
	if w.Unit != "" {
		s += " (" + w.Unit + ")"
	}
	if w.OutOf != "" {
		s += " out of " + w.OutOf
	}
	if w.Target != "" {
		s += ": " + w.Target
	}
	return strings.TrimSpace(s)
}

func (r *Record) date() string {
	if r.At.IsZero() {
		return "no date"
	}
	return r.At.Format("2006-01-02 15:04 -0700")
}

func (r *Record) predictions(m *page) {
	m.section("Predictions, locked before the run", "")
	if len(r.Predictions) == 0 {
		m.line("None was made.")
		return
	}
	m.line("| step | predicted | sure | held | |")
	m.line("|---|---|---|---|---|")
	for _, p := range r.Predictions {
		outcome := "wrong"
		switch {
		case !p.Graded:
			outcome = "not run"
		case p.Correct:
			outcome = "right"
		}
		m.line("| %s | %s | %d%% | %s | %s |", cell(p.Step), cell(p.Predicted), p.Sure, cell(p.Held), outcome)
	}
}

func (r *Record) evidence(m *page) {
	e := r.Evidence
	m.section("Evidence", "")
	kind := "software model"
	if e.Live {
		kind = "live device"
	}
	m.item("Device", fmt.Sprintf("%s (%s), profile %s, seed %d", oneLine(e.Device, "unknown"), kind, oneLine(e.Profile, "unknown"), e.Seed))
	m.item("Reproduce", code(e.Command))
	m.item("Transcript, SHA-256", code(e.Transcript))
	if e.Trace != "" || !e.Live {
		m.item("Trace, SHA-256", code(e.Trace))
	}
	if len(e.OnModel) > 0 {
		m.codeList("Steps that this device cannot run", e.OnModel)
	}
	m.codeList("Completions", e.Completions)
	m.codeList("States", e.States)
	m.codeList("Bytes", e.Bytes)
	if len(e.Failed) > 0 {
		m.codeList("Expectations that the device did not meet", e.Failed)
	}
	m.item("What this device cannot show", r.CannotShow)
}

func (r *Record) scale(m *page) {
	if r.Scale.Prompt == "" && r.Scale.Answer == "" {
		return
	}
	m.section("At larger scale", r.Scale.Prompt)
	m.line("")
	m.item("Answer", r.Scale.Answer)
	m.list("Points made", r.Scale.Made)
	m.list("Points missed", r.Scale.Missed)
}

func (r *Record) verdict(m *page) {
	m.section("Verdict", "")
	m.item("Verdict", string(r.Verdict))
	if r.Verdict == Provisional || r.NextCheck != "" {
		m.item("Next check", r.NextCheck)
		m.item("Owner", r.Owner)
		m.item("Date", r.NextDate)
	}
	m.item("Elapsed", r.Elapsed.Round(time.Second).String())
	m.item("Where uncertainty began", r.Uncertainty)
}

func (r *Record) sources(m *page) {
	m.section("Sources", "")
	if len(r.Sources) == 0 {
		m.line(notStated)
		return
	}
	for _, s := range r.Sources {
		text := oneLine(s.Title, "untitled")
		if s.Place != "" {
			text += ", " + oneLine(s.Place, "")
		}
		if s.Where != "" {
			text += " (" + oneLine(s.Where, "") + ")"
		}
		m.line("- %s, %s", text, oneLine(s.Layer, "unknown layer"))
	}
}

// page collects lines of Markdown.
type page struct{ strings.Builder }

func (m *page) line(format string, args ...any) {
	fmt.Fprintf(m, format, args...)
	m.WriteByte('\n')
}

func (m *page) section(title, text string) {
	m.line("")
	m.line("## %s", title)
	m.line("")
	if strings.TrimSpace(text) != "" {
		m.line("%s", strings.TrimSpace(text))
	} else if title == "Question" {
		m.line(notStated)
	}
}

func (m *page) item(name, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		text = notStated
	}
	// Lines of one item are indented, so that they stay in its list.
	m.line("- **%s**: %s", name, strings.ReplaceAll(text, "\n", "\n  "))
}

func (m *page) list(name string, texts []string) {
	if len(texts) == 0 {
		m.item(name, "")
		return
	}
	m.line("- **%s**:", name)
	for _, t := range texts {
		m.line("  - %s", oneLine(t, notStated))
	}
}

func (m *page) codeList(name string, texts []string) {
	coded := make([]string, len(texts))
	for i, t := range texts {
		coded[i] = code(t)
	}
	if len(texts) == 0 {
		m.item(name, "none")
		return
	}
	m.list(name, coded)
}

// oneLine joins the lines of a text, or gives a word for none.
func oneLine(s, none string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return none
	}
	return s
}

// cell is a text in a table.
func cell(s string) string { return strings.ReplaceAll(oneLine(s, "-"), "|", `\|`) }

// code is a text in backquotes that the text itself does not end early.
func code(s string) string {
	s = oneLine(s, "")
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
