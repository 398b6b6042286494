// Package records is the screen of the decision records: a list that can be
// filtered, and one record as Markdown.
//
// It shows what is stored and changes nothing.
package records

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/lessons/decision"
)

// Service is what the screen asks for.
type Service interface {
	// DecisionRecords returns all records, the newest first.
	DecisionRecords(ctx context.Context) ([]decision.Record, error)
}

// Screen is the records screen.
type Screen struct {
	host   *nav.Host
	req    *nav.Requests
	svc    Service
	md     *widget.Markdown
	all    []decision.Record
	shown  []int // indexes into all that pass the filter
	loaded bool
	err    error
	list   widget.List
	scroll widget.Scroll
	filter string
	input  *widget.Line
	want   string // the id of the record to open at once
	open   int    // index into all of the record shown, -1 for the list
	page   widget.Scroll
}

type loaded struct {
	all []decision.Record
	err error
}

// Open returns the screen, with one record shown if id is not "".
func Open(host *nav.Host, svc Service, id string) (*Screen, tea.Cmd) {
	s := &Screen{host: host, req: host.Requests(), svc: svc, md: widget.NewMarkdown(host.Theme), want: id, open: -1}
	return s, s.load()
}

func (s *Screen) load() tea.Cmd {
	return s.req.Do("load", func(ctx context.Context) tea.Msg {
		all, err := s.svc.DecisionRecords(ctx)
		return loaded{all, err}
	})
}

// Owner tells this screen's results from those of the others.
func (s *Screen) Owner() int { return s.req.Owner() }

// Title is the screen's part of the trail.
func (s *Screen) Title() string {
	if s.open >= 0 {
		return "records ▸ " + s.all[s.open].Title
	}
	return "records"
}

// Strip leaves the default device line.
func (s *Screen) Strip() string { return "" }

// Typing says that letters go into the filter.
func (s *Screen) Typing() bool { return s.input != nil }

// Close cancels what is under way.
func (s *Screen) Close() { s.req.Close() }

// Keys are the keys that work now.
func (s *Screen) Keys() []nav.Key {
	switch {
	case s.input != nil:
		return []nav.Key{nav.EnterKey.With("keep"), nav.EscKey.With("all")}
	case s.open >= 0:
		return []nav.Key{nav.PageDown, nav.DownKey.With("scroll"), nav.UpKey, nav.PageUp, nav.BackKey.With("list")}
	case len(s.all) == 0:
		return []nav.Key{nav.BackKey}
	}
	return []nav.Key{nav.EnterKey, nav.DownKey.With("choose"), nav.UpKey, nav.FilterKey.With("filter"), nav.BackKey}
}

// Table are all keys of this screen, for the README.
func Table() []nav.Key {
	return []nav.Key{nav.EnterKey, nav.UpKey, nav.DownKey, nav.PageDown, nav.PageUp, nav.FilterKey}
}

// Update takes one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nav.Result:
		if v, fresh := s.req.Take(msg); fresh {
			s.take(v.(loaded))
		}
	case tea.PasteMsg:
		if s.input != nil {
			s.input.Update(msg)
			s.refilter()
		}
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) take(l loaded) {
	s.all, s.err, s.loaded = l.all, l.err, true
	s.refilter()
	for i, r := range s.all {
		if s.want != "" && r.ID == s.want {
			s.open = i
		}
	}
}

func (s *Screen) refilter() {
	if s.input != nil {
		s.filter = s.input.Value()
	}
	s.shown = nil
	for i, r := range s.all {
		text := strings.ToLower(r.Title + " " + r.Question + " " + r.Lab + " " + string(r.Verdict) + " " + r.ID)
		ok := true
		for _, word := range strings.Fields(strings.ToLower(s.filter)) {
			ok = ok && strings.Contains(text, word)
		}
		if ok {
			s.shown = append(s.shown, i)
		}
	}
	s.list.Resize(len(s.shown))
}

func (s *Screen) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.input != nil:
		s.filterKey(k)
	case s.open >= 0:
		s.pageKey(k)
	case nav.BackKey.Is(k):
		if s.filter != "" {
			s.filter = ""
			s.refilter()
			return nil
		}
		return nav.Leave
	case nav.FilterKey.Is(k):
		s.input = widget.NewLine("filter: ", s.filter)
	case nav.UpKey.Is(k):
		s.list.Move(-1)
	case nav.DownKey.Is(k):
		s.list.Move(1)
	case nav.EnterKey.Is(k) && len(s.shown) > 0:
		s.open = s.shown[s.list.At]
		s.page.Top()
	}
	return nil
}

func (s *Screen) filterKey(k tea.KeyPressMsg) {
	switch {
	case nav.EscKey.Is(k):
		s.input, s.filter = nil, ""
		s.refilter()
	case nav.EnterKey.Is(k):
		s.input = nil
	default:
		s.input.Update(k)
		s.refilter()
	}
}

func (s *Screen) pageKey(k tea.KeyPressMsg) {
	switch {
	case nav.BackKey.Is(k):
		s.open = -1
	case nav.Moves(k, &s.page):
	}
}

// View draws the screen.
func (s *Screen) View(w, h int) (string, *tea.Cursor) {
	t := s.host.Theme
	if s.open >= 0 {
		p := widget.NewPage(min(w-4, 96))
		p.Add(s.md.Lines(s.all[s.open].Markdown(), p.W)...)
		lines, _ := widget.Pane{Title: "Decision record", Page: p, Scroll: &s.page, Focus: true}.View(t, w, h)
		return strings.Join(lines, "\n"), nil
	}
	bodyH := h
	var tail []string
	var cur *tea.Cursor
	if s.input != nil {
		bodyH--
		bar := widget.NewPage(w)
		s.input.Draw(bar)
		tail, cur = bar.Lines, bar.Cursor
		if cur != nil {
			cur.Y = bodyH
		}
	}
	p := widget.NewPage(w - 4)
	s.drawList(p)
	lines, _ := widget.Pane{Title: "Decision records", Page: p, Scroll: &s.scroll, Focus: s.input == nil}.View(t, w, bodyH)
	return strings.Join(append(lines, tail...), "\n"), cur
}

func (s *Screen) drawList(p *widget.Page) {
	t := s.host.Theme
	switch {
	case s.err != nil:
		p.Text(t.Bad.Render("The records could not be read: " + s.err.Error()))
	case !s.loaded:
		p.Add(t.Muted.Render("Reading the records …"))
	case len(s.all) == 0:
		p.Text("There is no record yet. Every lab ends with one: what you predicted, what the run showed, and what would change the decision.")
	case len(s.shown) == 0:
		p.Text(fmt.Sprintf("None of the %d records has %q in it. Esc shows all.", len(s.all), s.filter))
	}
	for i, at := range s.shown {
		r := s.all[at]
		from := len(p.Lines)
		line := widget.Ends(s.list.Mark(i)+r.Title, r.At.Format("2006-01-02 15:04")+"  "+widget.Fit(string(r.Verdict), 11), p.W)
		if i == s.list.At {
			line = t.Accent.Render(line)
		}
		p.Add(line)
		if r.Question != "" && p.W > 70 {
			p.Add(t.Muted.Render("    " + widget.Fit(r.Question, p.W-4)))
		}
		if i == s.list.At {
			p.See(from)
		}
	}
}
