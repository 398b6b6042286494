package quiz

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/quiz"
)

func (s *Screen) drawEmpty(p *widget.Page) {
	t := s.host.Theme
	if s.req.Busy("load") {
		p.Add(t.Muted.Render("Choosing the questions …"))
		return
	}
	p.Text(s.why)
	p.Gap()
	p.Text("Enter asks everything there is; esc goes back.")
}

func (s *Screen) emptyKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case nav.BackKey.Is(k):
		return nav.Leave
	case nav.EnterKey.Is(k) && !s.req.Busy("load"):
		s.place = nav.Place{Kind: nav.Quiz}
		return s.load()
	}
	return nil
}

// missed are the questions of this session that were answered wrong, in the
// order in which they were.
func (s *Screen) missed() []string {
	var out []string
	seen := map[string]bool{}
	for _, a := range quiz.Live(s.log) {
		if a.Kind == quiz.Answered && a.Graded && !a.Correct && !seen[a.Question] {
			seen[a.Question] = true
			out = append(out, a.Question)
		}
	}
	return out
}

func (s *Screen) drawSummary(p *widget.Page) {
	t := s.host.Theme
	missed := s.missed()
	p.Text(fmt.Sprintf("You answered %d of %d; %d right.", s.v.Answered, s.v.Total, s.v.Right))
	if s.v.Pending > 0 {
		p.Add(t.Bad.Render(fmt.Sprintf("%d not saved yet.", s.v.Pending)))
	} else if s.v.Answered > 0 {
		p.Add(t.Good.Render("All of it is saved."))
	}
	s.drawCalibration(p)
	if len(missed) > 0 {
		p.Gap()
		p.Add(t.Title.Render("Missed"))
		for _, id := range missed {
			p.Hang("  · ", s.svc.Prompt(id)+t.Muted.Render(" "+id))
		}
	}
	p.Gap()
	p.Add(t.Title.Render("What next"))
	switch {
	case len(missed) > 0:
		p.Hang("  ", "r asks again what you missed, while the reasons are fresh. The misses also come back on the days when they are due.")
	case s.v.Answered == 0:
		p.Hang("  ", "Nothing was answered. Enter goes home; one lab there takes ten minutes.")
	default:
		p.Hang("  ", "Nothing was missed. Take a lab on the same topic, or an interview: saying it aloud is another skill.")
	}
	p.Hang("  ", "Enter goes home.")
}

// drawCalibration compares how sure the learner was with how often that was
// right, in this session.
func (s *Screen) drawCalibration(p *widget.Page) {
	c := quiz.Calibrate(s.log)
	if c.N == 0 {
		return
	}
	t := s.host.Theme
	p.Gap()
	p.Add(t.Title.Render("How sure, and how often right"))
	over, under := 0, 0
	for _, r := range c.Rows {
		share := float64(r.Right) / float64(r.N)
		p.Add(fmt.Sprintf("  %3d %% sure  %s  %d of %d right", r.Percent, widget.Bar(share, 10), r.Right, r.N))
		if share*100 < float64(r.Percent)-10 {
			over += r.N
		} else if share*100 > float64(r.Percent)+10 {
			under += r.N
		}
	}
	switch {
	case over > under:
		p.Hang("  ", "Surer than right: before answering, say what would make the answer wrong.")
	case under > over:
		p.Hang("  ", "Righter than sure: you know more than you claim.")
	default:
		p.Hang("  ", "Well judged, as far as so few answers can tell.")
	}
}

func (s *Screen) summaryKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case missedKey.Is(k) && len(s.missed()) > 0:
		return nav.Instead(nav.Place{Kind: nav.Quiz, Questions: s.missed()})
	case undoKey.Is(k) && s.v.CanUndo:
		s.summary = false
		return s.step(quiz.Undo{})
	case nav.EnterKey.Is(k), nav.BackKey.Is(k):
		return s.leave()
	case nav.Moves(k, &s.scroll):
	}
	return nil
}
