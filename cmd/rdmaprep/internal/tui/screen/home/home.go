// Package home is the first screen: what to do next, the topics with how well
// each is known, what is due, and the last decision record.
//
// It promises that the next step is the first line of the menu. It asks for
// its figures when it is shown and draws what it has until they come.
package home

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/quiz"
)

// Data is what home shows.
type Data struct {
	Topics   []quiz.TopicMastery
	Titles   map[string]string // of topics, by id
	Blurbs   map[string]string
	Due      int    // questions due today
	Today    int    // answers given today
	Newcomer bool   // nothing was ever answered
	Resume   string // what the session that can be resumed is about, "" if there is none
	LabID    string // the lab that was left half-way, "" if there is none
	LabTitle string
	Record   string // the last decision record in one line, "" if there is none
	RecordID string
	Lessons  int
	Labs     int
	// First is the guided exercise for somebody who has done nothing yet.
	First      nav.Place
	FirstTitle string
	Minutes    int
}

// Service is what home asks for.
type Service interface {
	HomeData(ctx context.Context) (Data, error)
}

// Screen is the home screen.
type Screen struct {
	host    *nav.Host
	req     *nav.Requests
	svc     Service
	data    Data
	loaded  bool
	err     error
	menu    widget.List
	topics  widget.List
	inTopic bool // the focus is on the topics
	left    widget.Scroll
	right   widget.Scroll
}

type loaded struct {
	data Data
	err  error
}

// Open returns the screen and the command that loads its figures.
func Open(host *nav.Host, svc Service) (*Screen, tea.Cmd) {
	s := &Screen{host: host, req: host.Requests(), svc: svc}
	s.menu.Resize(len(s.items()))
	return s, s.load()
}

func (s *Screen) load() tea.Cmd {
	return s.req.Do("load", func(ctx context.Context) tea.Msg {
		d, err := s.svc.HomeData(ctx)
		return loaded{d, err}
	})
}

// Owner tells this screen's results from those of the others.
func (s *Screen) Owner() int { return s.req.Owner() }

// Title is the screen's part of the trail.
func (s *Screen) Title() string { return "rdmaprep" }

// Strip leaves the default device line.
func (s *Screen) Strip() string { return "" }

// Typing is never so here.
func (s *Screen) Typing() bool { return false }

// Close cancels what is under way.
func (s *Screen) Close() { s.req.Close() }

// Update takes one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nav.Shown:
		return s.load()
	case nav.Result:
		if v, fresh := s.req.Take(msg); fresh {
			s.take(v.(loaded))
		}
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	return nil
}

func (s *Screen) take(l loaded) {
	if l.err != nil {
		s.err = l.err
		return
	}
	first, at := !s.loaded, s.items()[s.menu.At].text
	s.data, s.err, s.loaded = l.data, nil, true
	s.menu.Resize(len(s.items()))
	s.topics.Resize(len(s.data.Topics))
	s.menu.At = 0
	for i, it := range s.items() {
		if !first && it.text == at {
			s.menu.At = i // lines may have come or gone above it
		}
	}
}

var (
	otherKey  = nav.Key{Keys: []string{"tab", "shift+tab", "left", "right"}, Label: "tab", Does: "topics", Help: "between the menu and the topics"}
	reloadKey = nav.Key{Keys: []string{"r"}, Help: "read the figures again"}
	letterKey = nav.Key{Keys: []string{"c", "d", "t", "e", "l", "b", "i", "o", "x"}, Label: "letter", Help: "the letter before a line of the menu goes there at once"}
)

// Keys are the keys that work now.
func (s *Screen) Keys() []nav.Key {
	if s.inTopic {
		return []nav.Key{nav.EnterKey.With("quiz on it"), nav.UpKey, nav.DownKey, otherKey.With("menu"), nav.BackKey.With("menu")}
	}
	return []nav.Key{nav.EnterKey.With("start"), nav.DownKey.With("choose"), nav.UpKey, otherKey, letterKey, reloadKey, nav.BackKey.With("quit")}
}

// Table are all keys of this screen, for the README.
func Table() []nav.Key {
	return []nav.Key{nav.EnterKey, nav.UpKey, nav.DownKey, otherKey, letterKey, reloadKey}
}

func (s *Screen) key(k tea.KeyPressMsg) tea.Cmd {
	list := &s.menu
	if s.inTopic {
		list = &s.topics
	}
	switch {
	case nav.UpKey.Is(k):
		list.Move(-1)
	case nav.DownKey.Is(k):
		list.Move(1)
	case nav.PageDown.Is(k):
		list.Move(8)
	case nav.PageUp.Is(k) && k.String() != "b":
		list.Move(-8)
	case otherKey.Is(k):
		s.inTopic = !s.inTopic && len(s.data.Topics) > 0
	case reloadKey.Is(k):
		return s.load()
	case nav.EnterKey.Is(k):
		return s.enter()
	case nav.BackKey.Is(k):
		if s.inTopic {
			s.inTopic = false
			return nil
		}
		return func() tea.Msg { return nav.Quit{} }
	default:
		return s.letter(k.String())
	}
	return nil
}

func (s *Screen) enter() tea.Cmd {
	if s.inTopic {
		return nav.To(nav.Place{Kind: nav.Quiz, ID: s.data.Topics[s.topics.At].Topic})
	}
	return s.choose(s.items()[s.menu.At])
}

func (s *Screen) letter(key string) tea.Cmd {
	for i, it := range s.items() {
		if it.key != "" && it.key == key {
			s.menu.At = i
			return s.choose(it)
		}
	}
	return nil
}

func (s *Screen) choose(it item) tea.Cmd {
	switch {
	case it.quit:
		return func() tea.Msg { return nav.Quit{} }
	case it.toTopics:
		s.inTopic = len(s.data.Topics) > 0
		return nil
	case it.tell != "":
		return nav.Tell(nav.Info, it.tell)
	}
	return nav.To(it.place)
}

// item is one line of the menu.
type item struct {
	key      string
	text     string
	note     string
	place    nav.Place
	toTopics bool
	tell     string
	quit     bool
}

func (s *Screen) items() []item {
	d := s.data
	var out []item
	if s.loaded && d.Newcomer && d.FirstTitle != "" {
		out = append(out, item{text: "Start here: " + d.FirstTitle, note: fmt.Sprintf("guided, %d min", max(d.Minutes, 1)), place: d.First})
	}
	if d.Resume != "" {
		out = append(out, item{key: "c", text: "Continue: " + d.Resume, place: nav.Place{Kind: nav.Quiz, Resume: true}})
	}
	if d.LabID != "" {
		out = append(out, item{text: "Continue the lab: " + d.LabTitle, place: nav.Place{Kind: nav.Lab, ID: d.LabID}})
	}
	due := "due first, then a few new"
	if s.loaded && d.Due > 0 {
		due = fmt.Sprintf("%d due", d.Due)
	}
	return append(out,
		item{key: "d", text: "Quiz: what is due", note: due, place: nav.Place{Kind: nav.Quiz, Due: true}},
		item{key: "t", text: "Quiz by topic", note: "choose at the right", toTopics: true},
		item{key: "e", text: "Quiz: everything", place: nav.Place{Kind: nav.Quiz}},
		item{key: "l", text: "Lessons", note: count(d.Lessons), place: nav.Place{Kind: nav.Lessons}},
		item{key: "b", text: "Labs", note: count(d.Labs), place: nav.Place{Kind: nav.Labs}},
		item{key: "i", text: "Interview", note: "open questions, timed", place: nav.Place{Kind: nav.Interview}},
		item{key: "o", text: "Decision records", place: nav.Place{Kind: nav.Records}},
		item{text: "Device", note: s.host.Device, place: nav.Place{Kind: nav.Device}},
		item{key: "x", text: "Export study notes", tell: "In a shell: rdmaprep export --format md -o notes writes what you studied, missed and decided as Markdown."},
		item{key: "", text: "Quit", quit: true},
	)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// View draws the screen.
func (s *Screen) View(w, h int) (string, *tea.Cursor) {
	t := s.host.Theme
	lw := max(min(w*45/100, 56), 28)
	if w < 100 {
		lw = max(min(w-49, 34), 28) // the titles of topics need 45 columns
	}
	menu := widget.NewPage(lw - 4)
	s.drawMenu(menu)
	topics := widget.NewPage(w - lw - 4)
	s.drawTopics(topics)
	lines, _ := widget.Pane{Title: "What next", Page: menu, Scroll: &s.left, Focus: !s.inTopic}.View(t, lw, h)
	other, _ := widget.Pane{Title: "Topics", Page: topics, Scroll: &s.right, Focus: s.inTopic}.View(t, w-lw, h)
	return strings.Join(widget.Beside(lines, other), "\n"), nil
}

func (s *Screen) drawMenu(p *widget.Page) {
	t := s.host.Theme
	if s.loaded && s.data.Newcomer && s.data.FirstTitle != "" {
		p.Text(t.Accent.Render("New here? Press enter: a guided exercise of two minutes."))
		p.Gap()
	}
	for i, it := range s.items() {
		key := "  "
		if it.key != "" {
			key = it.key + " "
		}
		from := len(p.Lines)
		at := i == s.menu.At && !s.inTopic
		lead, text := "  "+t.Key.Render(key), it.text
		if at {
			lead, text = t.Accent.Render("▸ "+key), t.Selected.Render(it.text)
		}
		p.Hang(lead, text)
		if last := len(p.Lines) - 1; it.note != "" && widget.Width(p.Lines[last])+2+widget.Width(it.note) <= p.W {
			p.Lines[last] = widget.Ends(p.Lines[last], t.Muted.Render(it.note), p.W)
		}
		if at {
			p.See(from)
			if i == 0 {
				p.From = 0
			}
		}
	}
	p.Gap()
	s.drawToday(p)
}

func (s *Screen) drawToday(p *widget.Page) {
	t, d := s.host.Theme, s.data
	switch {
	case s.err != nil:
		p.Text(t.Bad.Render("The figures could not be read: " + s.err.Error() + ". r reads them again."))
	case !s.loaded:
		p.Add(t.Muted.Render("Reading your figures …"))
	default:
		p.Text(fmt.Sprintf("Today %d answered, %d due.", d.Today, d.Due))
		if d.Record != "" {
			p.Gap()
			p.Add(t.Title.Render("Last record"))
			p.Text(d.Record)
		}
	}
}

func (s *Screen) drawTopics(p *widget.Page) {
	t := s.host.Theme
	longest := 0
	for _, m := range s.data.Topics {
		longest = max(longest, widget.Width(s.data.Titles[m.Topic]))
	}
	// Lead, title, bar, blank, per cent, blank, what is due.
	barW := min(p.W-2-longest-1-1-4-1-7, 20)
	for i, m := range s.data.Topics {
		title := s.data.Titles[m.Topic]
		if title == "" {
			title = m.Topic
		}
		due := ""
		if m.Due > 0 {
			due = fmt.Sprintf("%d due", m.Due)
		}
		tail := fmt.Sprintf(" %s %6s", widget.Percent(m.Mastery), due)
		if barW >= 4 {
			tail = " " + widget.Bar(m.Mastery, barW) + tail
		}
		lead := "  "
		if s.inTopic {
			lead = s.topics.Mark(i)
		}
		line := widget.Ends(lead+title, tail, p.W)
		if s.inTopic && i == s.topics.At {
			line = t.Accent.Render(line)
			p.Add(line)
			p.See(len(p.Lines) - 1)
			continue
		}
		p.Add(line)
	}
	if s.inTopic && len(s.data.Topics) > 0 {
		m := s.data.Topics[s.topics.At]
		p.Gap()
		p.Text(t.Muted.Render(s.data.Blurbs[m.Topic]))
		p.Text(t.Muted.Render(fmt.Sprintf("%d questions, %d seen.", m.Questions, m.Seen)))
	} else if s.loaded {
		p.Gap()
		p.Text(t.Muted.Render("The figure is how likely you would recall the answers today."))
	}
}
