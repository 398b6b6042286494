package lesson

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/quiz"
)

// textWidth is the most columns that prose is set in.
const textWidth = 84

// View draws the screen.
func (s *Screen) View(w, h int) (string, *tea.Cursor) {
	t := s.host.Theme
	pane := widget.Pane{Focus: true}
	switch {
	case s.id == "":
		pane.Title, pane.Page, pane.Scroll = "Lessons", widget.NewPage(w-4), &s.scroll
		s.drawList(pane.Page)
	case s.ev != nil:
		return s.ev.View(w, h)
	case s.r == nil:
		pane.Title, pane.Page = "Lesson", widget.NewPage(w-4)
		if s.err != nil {
			pane.Page.Text(t.Bad.Render("The lesson could not be opened: " + s.err.Error()))
		} else {
			pane.Page.Add(t.Muted.Render("Opening the lesson …"))
		}
	default:
		l := s.r.Lesson()
		pane.Title = fmt.Sprintf("%s · %d min · %d of %d checks answered", s.svc.TopicTitle(l.Topic), l.Minutes, s.r.Answered(), len(s.r.Checks()))
		pane.Page, pane.Scroll = widget.NewPage(min(w-4, textWidth)), &s.page
		s.drawLesson(pane.Page, h-2)
	}
	lines, cur := pane.View(t, w, h)
	return strings.Join(lines, "\n"), cur
}

func (s *Screen) drawList(p *widget.Page) {
	t := s.host.Theme
	if len(s.all) == 0 {
		p.Text("This content has no lessons.")
		return
	}
	for i, l := range s.all {
		tail := fmt.Sprintf("%d min  %4s", l.Minutes, s.marks[l.ID])
		line := widget.Ends(s.list.Mark(i)+l.Title, tail, p.W)
		if i == s.list.At {
			line = t.Accent.Render(line)
			p.Add(line)
			p.See(len(p.Lines) - 1)
			continue
		}
		p.Add(line)
	}
}

func (s *Screen) drawLesson(p *widget.Page, h int) {
	t := s.host.Theme
	l := s.r.Lesson()
	n := 0
	for i, b := range l.Blocks {
		p.Gap()
		if b.Check == nil {
			p.Add(s.md.Lines(b.Markdown, p.W)...)
			continue
		}
		n++
		if v, ok := s.r.Check(i); ok {
			s.drawCheck(p, i, n, v, h)
		}
	}
	p.Gap()
	p.Add(t.Border.Render(strings.Repeat("─", min(p.W, 20))))
	if len(l.Refs) > 0 {
		p.Add(t.Title.Render("Sources"))
		p.Add(widget.Sources(t, l.Refs, p.W)...)
	}
	if len(l.Labs) > 0 {
		p.Gap()
		p.Add("L opens the lab of this lesson.")
	}
}

func (s *Screen) drawCheck(p *widget.Page, block, number int, v quiz.View, h int) {
	t := s.host.Theme
	from := len(p.Lines)
	in := widget.NewPage(p.W - 2)
	focused := block == s.focus
	state := "enter answers it"
	switch {
	case focused:
		state = ""
	case v.Phase == quiz.Done:
		state = "answered"
	}
	in.Add(t.Accent.Render(fmt.Sprintf("Check %d", number)) + t.Muted.Render("  "+state))
	if v.Instance == nil {
		return
	}
	in.Add(s.md.Lines(v.Instance.Question.Prompt, in.W)...)
	if v.Instance.Question.Kind == "predict" && v.Instance.HasProof() {
		in.Gap()
		for _, l := range widget.Code(strings.Split(strings.TrimSpace(v.Instance.Question.Proof.Script), "\n"), in.W-2) {
			in.Add("  " + t.Code.Render(l))
		}
	}
	switch {
	case focused && s.form != nil:
		in.Gap()
		s.form.Draw(in, max(h-len(in.Lines), 6))
		for i, hint := range v.Hints {
			in.Hang(t.Warn.Render(fmt.Sprintf("hint %d ", i+1)), s.md.Inline(hint))
		}
	case v.Phase == quiz.Proving:
		in.Add(t.Muted.Render("Running the proof on the model …"))
	case v.Phase == quiz.Marking:
		s.drawPoints(in, v)
	case v.Phase == quiz.Done:
		s.drawVerdict(in, v)
	}
	bar := t.Border.Render("│") + " "
	if focused {
		bar = t.Accent.Render("┃") + " "
	}
	for _, line := range in.Lines {
		p.Add(bar + line)
	}
	if !focused {
		return
	}
	p.From, p.To = from, len(p.Lines)
	if in.To > in.From && len(in.Lines) > h {
		p.From, p.To = from+in.From, from+in.To
	}
	if in.Cursor != nil {
		c := *in.Cursor
		c.X += 2
		c.Y += from
		p.Cursor = &c
	}
}

func (s *Screen) drawPoints(p *widget.Page, v quiz.View) {
	t := s.host.Theme
	p.Add(t.Title.Render(fmt.Sprintf("Did you say this?  %d of %d points", len(v.Points), v.PointsTotal)))
	for i, pt := range v.Points {
		mark := "▸ [ ] "
		if i < len(v.Marked) {
			mark = "  [-] "
			if v.Marked[i] {
				mark = "  [x] "
			}
		}
		p.Hang(mark, s.md.Inline(pt.Text))
	}
	if v.Suggested > 0 {
		p.Add(fmt.Sprintf("How was it?  1 again  2 hard  3 good  4 easy   (suggested: %d)", v.Suggested))
	}
}

func (s *Screen) drawVerdict(p *widget.Page, v quiz.View) {
	t := s.host.Theme
	word := t.Bad.Render("✗ Wrong")
	switch {
	case !v.Verdict.Graded:
		word = t.Warn.Render("Not graded")
	case v.Verdict.Correct:
		word = t.Good.Render("✓ Right")
	}
	switch v.Save {
	case quiz.SavedSafe:
		word += "   " + t.Good.Render("saved")
	case quiz.Saving:
		word += "   " + t.Muted.Render("saving …")
	case quiz.Unsaved:
		word += "   " + t.Bad.Render("NOT SAVED")
	}
	p.Gap()
	p.Add(word)
	if v.Verdict.YoursText != "" && !v.Verdict.Correct {
		p.Hang(t.Muted.Render("yours "), v.Verdict.YoursText)
	}
	if v.Verdict.RightText != "" {
		p.Hang(t.Muted.Render("right "), v.Verdict.RightText)
	}
	p.Add(s.md.Lines(v.Instance.Question.Explain, p.W)...)
}
