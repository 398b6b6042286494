package widget

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// Page is a column of lines, made anew for each frame.
type Page struct {
	W     int // columns to write for
	Lines []string
	// From and To are the lines that must be seen, for example the one that
	// the cursor is on; To is exclusive, and nothing if it is not above From.
	From, To int
	// Hold shows the top, not the lines that must be seen, until the learner
	// has read to the end or Scroll.Release was called.
	Hold   bool
	Cursor *tea.Cursor // in lines and columns of the page
}

// NewPage returns an empty page for w columns.
func NewPage(w int) *Page { return &Page{W: max(w, 1)} }

// Add puts lines at the end.
func (p *Page) Add(lines ...string) { p.Lines = append(p.Lines, lines...) }

// Text wraps text and puts it at the end.
func (p *Page) Text(text string) { p.Add(Wrap(text, p.W)...) }

// Hang wraps text behind a lead and puts it at the end.
func (p *Page) Hang(lead, text string) { p.Add(Hang(lead, text, p.W)...) }

// Gap puts an empty line at the end, unless the page is empty or ends in one.
func (p *Page) Gap() {
	if n := len(p.Lines); n > 0 && p.Lines[n-1] != "" {
		p.Add("")
	}
}

// See marks the lines from the given one to the end as those to be seen.
func (p *Page) See(from int) { p.From, p.To = from, len(p.Lines) }

// Scroll is where a page is looked at.
type Scroll struct {
	Off        int
	from, to   int
	height     int
	total      int
	everViewed bool
	released   bool
}

// Top goes back to the first line.
func (s *Scroll) Top() { *s = Scroll{} }

// Move scrolls by n lines.
func (s *Scroll) Move(n int) {
	s.Off = max(min(s.Off+n, s.total-s.height), 0)
}

// Unread says that a page which was held has lines below that were not seen.
func (s *Scroll) Unread() bool { return s.everViewed && !s.released && !s.AtEnd() }

// Release lets a held page move to what must be seen.
func (s *Scroll) Release() {
	if !s.released {
		s.released, s.everViewed = true, false
	}
}

// Page scrolls by n pages, keeping one line in common.
func (s *Scroll) Page(n int) { s.Move(n * max(s.height-1, 1)) }

// AtEnd says whether the last line is seen.
func (s *Scroll) AtEnd() bool { return s.Off+s.height >= s.total }

// More says whether there are more lines than fit.
func (s *Scroll) More() bool { return s.total > s.height }

// View cuts h lines of w columns out of the page. When the lines to be seen
// have changed since the last frame, it moves to them; else it stays.
func (s *Scroll) View(p *Page, w, h int) ([]string, *tea.Cursor) {
	changed := !s.everViewed || s.from != p.From || s.to != p.To || s.height != h
	s.height, s.total, s.everViewed = h, len(p.Lines), true
	s.from, s.to = p.From, p.To
	if p.Hold && s.AtEnd() {
		s.released = true
	}
	if changed && p.To > p.From && (!p.Hold || s.released) {
		if p.To > s.Off+h {
			s.Off = p.To - h
		}
		if p.From < s.Off {
			s.Off = p.From
		}
	}
	s.Off = max(min(s.Off, s.total-h), 0)
	out := Block(p.Lines[min(s.Off, len(p.Lines)):], w, h)
	if p.Cursor == nil {
		return out, nil
	}
	c := *p.Cursor
	c.Y -= s.Off
	if c.Y < 0 || c.Y >= h || c.X >= w {
		return out, nil
	}
	return out, &c
}

// Mark says which way there is more, "" if all is seen.
func (s *Scroll) Mark() string {
	up, down := s.Off > 0, s.Off+s.height < s.total
	switch {
	case up && down:
		return fmt.Sprintf("▲▼ %d more below", s.total-s.Off-s.height)
	case down:
		return fmt.Sprintf("▼ %d more", s.total-s.Off-s.height)
	case up:
		return "▲ more above"
	}
	return ""
}
