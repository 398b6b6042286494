package lab

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/lessons"
	"rdmaprep/lessons/decision"
)

// field is one line of the form. Lists are edited one entry a line.
type field struct {
	name string // as in JSON, to match problems and findings
	text string // as shown
	get  func(*decision.Record) string
	set  func(*decision.Record, string)
	many bool // several lines
	pick []string
}

func textField(name, text string, at func(*decision.Record) *string) field {
	return field{
		name: name, text: text,
		get: func(r *decision.Record) string { return *at(r) },
		set: func(r *decision.Record, s string) { *at(r) = strings.TrimSpace(s) },
	}
}

func longField(name, text string, at func(*decision.Record) *string) field {
	f := textField(name, text, at)
	f.many = true
	return f
}

func listField(name, text string, at func(*decision.Record) *[]string) field {
	return field{
		name: name, text: text, many: true,
		get: func(r *decision.Record) string { return strings.Join(*at(r), "\n") },
		set: func(r *decision.Record, s string) {
			*at(r) = nil
			for _, l := range strings.Split(s, "\n") {
				if l = strings.TrimSpace(l); l != "" {
					*at(r) = append(*at(r), l)
				}
			}
		},
	}
}

// fields are what a person may write, in the order of the record.
var fields = []field{
	{
		name: "verdict", text: "verdict", pick: []string{string(decision.Confirmed), string(decision.Refuted), string(decision.Provisional)},
		get: func(r *decision.Record) string { return string(r.Verdict) },
		set: func(r *decision.Record, s string) { r.Verdict = decision.Verdict(s) },
	},
	textField("next_check", "next check", func(r *decision.Record) *string { return &r.NextCheck }),
	textField("owner", "owner", func(r *decision.Record) *string { return &r.Owner }),
	textField("next_date", "date of it", func(r *decision.Record) *string { return &r.NextDate }),
	longField("uncertainty", "unsure from", func(r *decision.Record) *string { return &r.Uncertainty }),
	longField("notes", "notes", func(r *decision.Record) *string { return &r.Notes }),
	textField("title", "title", func(r *decision.Record) *string { return &r.Title }),
	longField("question", "question", func(r *decision.Record) *string { return &r.Question }),
	textField("workload.metric", "metric", func(r *decision.Record) *string { return &r.Workload.Metric }),
	textField("workload.unit", "unit", func(r *decision.Record) *string { return &r.Workload.Unit }),
	textField("workload.out_of", "out of", func(r *decision.Record) *string { return &r.Workload.OutOf }),
	textField("workload.target", "target", func(r *decision.Record) *string { return &r.Workload.Target }),
	longField("consequence", "if wrong", func(r *decision.Record) *string { return &r.Consequence }),
	longField("guarantee", "guarantee", func(r *decision.Record) *string { return &r.Guarantee }),
	longField("scope", "its scope", func(r *decision.Record) *string { return &r.Scope }),
	textField("reaches", "reaches", func(r *decision.Record) *string { return &r.Reaches }),
	listField("buffers", "buffers", func(r *decision.Record) *[]string { return &r.Buffers }),
	listField("constraints", "constraints", func(r *decision.Record) *[]string { return &r.Constraints }),
	longField("default", "default", func(r *decision.Record) *string { return &r.Default }),
	longField("alternative", "alternative", func(r *decision.Record) *string { return &r.Alternative }),
	longField("signal", "switch when", func(r *decision.Record) *string { return &r.Signal }),
	longField("failure_complexity", "failures", func(r *decision.Record) *string { return &r.FailureComplexity }),
	longField("recovery", "recovery", func(r *decision.Record) *string { return &r.Recovery }),
	longField("cannot_show", "cannot show", func(r *decision.Record) *string { return &r.CannotShow }),
}

// recordForm is the decision record while it is being completed.
type recordForm struct {
	rec     decision.Record
	list    widget.List
	scroll  widget.Scroll
	line    *widget.Line
	text    *widget.Text
	preview bool
	page    widget.Scroll
}

func newRecordForm(r decision.Record) *recordForm {
	f := &recordForm{rec: r}
	f.list.Resize(len(fields))
	return f
}

func (f *recordForm) typing() bool { return f.line != nil || f.text != nil }

func (f *recordForm) paste(msg tea.PasteMsg) {
	if f.line != nil {
		f.line.Update(msg)
	} else if f.text != nil {
		f.text.Update(msg)
	}
}

var (
	editKey    = nav.Key{Keys: []string{"enter", "e"}, Label: "enter", Does: "edit", Help: "record: edit the field at the arrow; on the verdict, the next one"}
	saveKey    = nav.Key{Keys: []string{"s", "ctrl+s"}, Label: "s", Does: "save", Help: "record: save it"}
	anywayKey  = nav.Key{Keys: []string{"S"}, Does: "save anyway", Help: "record: save although it looks as if something private is in it"}
	previewKey = nav.Key{Keys: []string{"m"}, Does: "as Markdown", Help: "record: show all of it as Markdown"}
	keepKey    = nav.Key{Keys: []string{"tab", "ctrl+s"}, Label: "tab", Does: "keep", Help: "record: keep what was typed (enter too, in a field of one line)"}
)

func recordKeys() []nav.Key { return []nav.Key{editKey, saveKey, anywayKey, previewKey, keepKey} }

func (f *recordForm) keys(finished, findings bool) []nav.Key {
	switch {
	case f.line != nil:
		return []nav.Key{nav.EnterKey.With("keep"), nav.EscKey.With("cancel")}
	case f.text != nil:
		return []nav.Key{keepKey, nav.EscKey.With("cancel")}
	case f.preview:
		return []nav.Key{nav.PageDown, nav.DownKey.With("scroll"), nav.UpKey, nav.BackKey.With("form")}
	case finished:
		return []nav.Key{nav.BackKey.With("to the labs"), previewKey, editKey, saveKey, nav.DownKey, nav.UpKey}
	}
	keys := []nav.Key{saveKey, editKey, nav.DownKey.With("choose"), nav.UpKey, previewKey}
	if findings {
		keys = append([]nav.Key{anywayKey}, keys...)
	}
	return append(keys, nav.BackKey)
}

func (s *Screen) recordKey(k tea.KeyPressMsg) tea.Cmd {
	f := s.rec
	switch {
	case f == nil:
		return s.walkKey(k)
	case f.typing():
		return s.fieldKey(k)
	case f.preview:
		f.previewKey(k)
	case nav.BackKey.Is(k):
		return s.leave()
	case nav.UpKey.Is(k):
		f.list.Move(-1)
	case nav.DownKey.Is(k):
		f.list.Move(1)
	case nav.PageDown.Is(k):
		f.list.Move(6)
	case nav.PageUp.Is(k):
		f.list.Move(-6)
	case previewKey.Is(k):
		f.preview = true
		f.page.Top()
	case saveKey.Is(k):
		return s.saveRecord(false)
	case anywayKey.Is(k):
		return s.saveRecord(true)
	case editKey.Is(k):
		return s.editField()
	}
	return nil
}

func (f *recordForm) previewKey(k tea.KeyPressMsg) {
	switch {
	case nav.BackKey.Is(k), previewKey.Is(k):
		f.preview = false
	case nav.Moves(k, &f.page):
	}
}

func (s *Screen) saveRecord(anyway bool) tea.Cmd {
	cmd := s.step(lessons.Save{Anyway: anyway})
	if len(s.v.Problems) > 0 {
		s.rec.goTo(s.v.Problems[0].Field)
	}
	return s.after(cmd)
}

func (f *recordForm) goTo(name string) {
	for i, fd := range fields {
		if matches(fd.name, name) {
			f.list.At = i
			return
		}
	}
}

// matches says whether a problem's or finding's field, such as "buffers[1]",
// is the field of that name.
func matches(field, name string) bool {
	base, _, _ := strings.Cut(name, "[")
	return base == field || base != "" && strings.HasPrefix(field, base+".")
}

func (s *Screen) editField() tea.Cmd {
	f, fd := s.rec, fields[s.rec.list.At]
	value := fd.get(&f.rec)
	switch {
	case len(fd.pick) > 0:
		next := 0
		for i, p := range fd.pick {
			if p == value {
				next = (i + 1) % len(fd.pick)
			}
		}
		fd.set(&f.rec, fd.pick[next])
		return s.edited()
	case fd.many:
		f.text = widget.NewText(value)
	default:
		f.line = widget.NewLine(fd.text+": ", value)
	}
	return nil
}

// edited hands the record to the lab and takes what became of it.
func (s *Screen) edited() tea.Cmd {
	cmd := s.step(lessons.Edit{Record: s.rec.rec})
	s.rec.rec = s.v.Record
	return cmd
}

func (s *Screen) fieldKey(k tea.KeyPressMsg) tea.Cmd {
	f := s.rec
	switch {
	case nav.EscKey.Is(k):
		f.line, f.text = nil, nil
		return nil
	case f.line != nil && nav.EnterKey.Is(k), keepKey.Is(k):
		f.take()
		return s.edited()
	case f.line != nil:
		f.line.Update(k)
		return nil
	default:
		f.text.Update(k)
		return nil
	}
}

// take ends the editing of a field and takes over what was typed.
func (f *recordForm) take() {
	fd := fields[f.list.At]
	if f.line != nil {
		fd.set(&f.rec, f.line.Value())
	} else {
		fd.set(&f.rec, f.text.Value())
	}
	f.line, f.text = nil, nil
}

func (f *recordForm) view(s *Screen, w, h int) (string, *tea.Cursor) {
	t := s.host.Theme
	p := widget.NewPage(min(w-4, 100))
	pane := widget.Pane{Title: "Decision record", Page: p, Scroll: &f.scroll, Focus: true}
	switch {
	case f.preview:
		p.Add(s.md.Lines(f.rec.Markdown(), p.W)...)
		pane.Scroll = &f.page
	case f.text != nil:
		fd := fields[f.list.At]
		pane.Title = "Decision record · " + fd.text
		p.Add(t.Muted.Render("One entry a line where there are several. Tab keeps it."))
		f.text.Draw(p, max(h-4, 3))
		pane.Scroll = nil
	default:
		f.drawForm(s, p)
	}
	lines, cur := pane.View(t, w, h)
	return strings.Join(lines, "\n"), cur
}

func (f *recordForm) drawForm(s *Screen, p *widget.Page) {
	t := s.host.Theme
	switch {
	case s.v.Phase == lessons.Finished && s.v.SavedOK:
		p.Add(t.Good.Render("✓ The record is saved.") + " Esc goes back to the labs.")
	case s.v.Pending > 0:
		p.Add(t.Muted.Render("saving …"))
	default:
		p.Text("What the run knows is filled in. Check the verdict, add what only you know, then s saves it.")
	}
	for _, fi := range s.v.Findings {
		p.Hang(t.Warn.Render("! "), fi.Field+": "+fi.Why+". Edit it out, or S saves anyway.")
	}
	p.Gap()
	for i, fd := range fields {
		from := len(p.Lines)
		at := i == f.list.At
		if at && f.line != nil {
			f.line.Draw(p)
			continue
		}
		value := strings.ReplaceAll(fd.get(&f.rec), "\n", "; ")
		if value == "" {
			value = t.Muted.Render("not stated")
		}
		lead := f.list.Mark(i) + widget.Fit(fd.text, 12) + " "
		if at {
			lead = t.Accent.Render(lead)
			p.Hang(lead, value)
		} else {
			p.Add(lead + widget.Fit(value, p.W-widget.Width(lead)))
		}
		for _, pr := range s.v.Problems {
			if matches(fd.name, pr.Field) {
				p.Hang("    "+t.Bad.Render("! "), pr.Text)
			}
		}
		if at {
			p.See(from)
		}
	}
	p.Gap()
	p.Add(t.Muted.Render(fmt.Sprintf("%d predictions, the evidence and the command that reproduces it are in it too: m shows all.", len(f.rec.Predictions))))
}
