package quiz

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/content"
	"rdmaprep/quiz"
)

// textWidth is the most columns that prose is set in.
const textWidth = 92

// View draws the screen.
func (s *Screen) View(w, h int) (string, *tea.Cursor) {
	if s.ev != nil {
		return s.ev.View(w, h)
	}
	p := widget.NewPage(min(w-4, textWidth))
	title := s.Title()
	switch {
	case s.s == nil:
		s.drawEmpty(p)
	case s.summary:
		title = "Summary"
		s.drawSummary(p)
	case s.v.Instance == nil:
		p.Text("There is no question to show. Esc goes back.")
	default:
		title = s.heading()
		s.drawQuestion(p, h-2)
	}
	var tail []string
	var cur *tea.Cursor
	bodyH := h
	if s.prompt != nil {
		bar := widget.NewPage(w)
		s.prompt.Draw(bar)
		tail, cur = bar.Lines, bar.Cursor
		bodyH--
	}
	lines, c := widget.Pane{Title: title, Page: p, Scroll: &s.scroll, Focus: s.prompt == nil}.View(s.host.Theme, w, bodyH)
	if s.prompt == nil {
		cur = c
	} else if cur != nil {
		cur.Y = bodyH
	}
	return strings.Join(append(lines, tail...), "\n"), cur
}

func (s *Screen) heading() string {
	q := s.v.Instance.Question
	levels := []string{"", "recall", "use", "defend"}
	level := ""
	if q.Level > 0 && q.Level < len(levels) {
		level = " · " + levels[q.Level]
	}
	return fmt.Sprintf("Question %d of %d · %s%s", s.v.Number, s.v.Total, s.svc.TopicTitle(q.Topic), level)
}

func (s *Screen) drawQuestion(p *widget.Page, h int) {
	t, in := s.host.Theme, s.v.Instance
	q := in.Question
	if q.Provisional {
		p.Add(t.Warn.Render("Provisional: shown, not graded."))
	}
	if s.v.Interview && s.v.Limit > 0 && s.v.Phase == quiz.Asking {
		p.Add(s.clock())
		p.Gap()
	}
	p.Add(s.md.Lines(q.Prompt, p.W)...)
	if q.Kind == content.Predict && in.HasProof() {
		p.Gap()
		for _, l := range widget.Code(strings.Split(strings.TrimSpace(q.Proof.Script), "\n"), p.W-2) {
			p.Add("  " + t.Code.Render(l))
		}
	}
	p.Gap()
	switch s.v.Phase {
	case quiz.Asking:
		s.drawAsking(p, h)
	case quiz.Proving:
		p.Add(t.Muted.Render("Running the proof on the model …"))
	case quiz.Marking:
		s.drawMarking(p)
	default:
		s.drawVerdict(p)
	}
}

func (s *Screen) clock() string {
	t := s.host.Theme
	left := s.v.Limit - s.host.Now().Sub(s.v.ShownAt)
	if left < 0 {
		left = 0
	}
	clock := func(d time.Duration) string { return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60) }
	text := clock(left) + " left of " + clock(s.v.Limit)
	if left < 30*time.Second {
		return t.Warn.Render(text)
	}
	return t.Muted.Render(text)
}

func (s *Screen) drawAsking(p *widget.Page, h int) {
	t, in := s.host.Theme, s.v.Instance
	switch in.Input() {
	case quiz.PickMany:
		p.Add(t.Muted.Render("Mark every one that is right."))
	case quiz.PickOrder:
		p.Add(t.Muted.Render("Put the steps in order: J and K move the one at the arrow."))
	case quiz.Speak:
		p.Add(t.Muted.Render("Say your answer aloud; typing it is optional. Then tab."))
	}
	if s.form != nil {
		s.form.Draw(p, h)
		p.Hold = !s.form.Typing()
	}
	if len(s.v.Hints) > 0 {
		p.Gap()
		for i, hint := range s.v.Hints {
			p.Hang(t.Warn.Render(fmt.Sprintf("hint %d ", i+1)), s.md.Inline(hint))
		}
		p.To = max(p.To, len(p.Lines))
		if s.v.HintsLeft > 0 {
			p.Add(t.Muted.Render(fmt.Sprintf("%d more", s.v.HintsLeft)))
		}
	}
}

func (s *Screen) drawMarking(p *widget.Page) {
	t := s.host.Theme
	if text := s.v.Answer.Text; text != "" {
		p.Add(t.Title.Render("You wrote"))
		p.Add(widget.Indent(widget.Wrap(text, p.W-2), 2)...)
		p.Gap()
	}
	p.Add(t.Title.Render(fmt.Sprintf("Did you say this?  %d of %d points", len(s.v.Points), s.v.PointsTotal)))
	from := len(p.Lines)
	s.drawPoints(p)
	if s.v.Suggested == 0 {
		p.See(max(len(p.Lines)-3, from))
		return
	}
	p.Gap()
	p.Add(t.Title.Render("How was it?"))
	from = len(p.Lines) - 1
	for i, g := range []string{"again", "hard", "good", "easy"} {
		line := fmt.Sprintf("  %d %s", i+1, g)
		if i+1 == s.v.Suggested {
			line = t.Accent.Render(fmt.Sprintf("▸ %d %s", i+1, g)) + t.Muted.Render("  suggested by the points: enter takes it")
		}
		p.Add(line)
	}
	p.See(from)
	s.drawModel(p)
}

// drawPoints lists the points of the rubric that were revealed.
func (s *Screen) drawPoints(p *widget.Page) {
	t, made := s.host.Theme, s.v.Marked
	if len(made) == 0 {
		made = s.v.Answer.Points
	}
	for i, pt := range s.v.Points {
		mark := t.Accent.Render("▸ [ ] ")
		if i < len(made) {
			mark = t.Bad.Render("  [-] ")
			if made[i] {
				mark = t.Good.Render("  [x] ")
			}
		}
		text := s.md.Inline(pt.Text)
		if pt.Must {
			text += t.Muted.Render(" (a must)")
		}
		p.Hang(mark, text)
	}
}

func (s *Screen) drawModel(p *widget.Page) {
	t, q := s.host.Theme, s.v.Instance.Question
	if len(s.v.FollowUps) > 0 {
		p.Gap()
		p.Add(t.Title.Render(fmt.Sprintf("Follow-up %d of %d", len(s.v.FollowUps), s.v.FollowUpsIn)))
		for _, f := range s.v.FollowUps {
			p.Hang("  · ", s.md.Inline(f))
		}
	}
	if q.Model != "" {
		p.Gap()
		p.Add(t.Title.Render("One good answer"))
		p.Add(widget.Indent(s.md.Lines(q.Model, p.W-2), 2)...)
	}
}

func (s *Screen) drawVerdict(p *widget.Page) {
	t, in := s.host.Theme, s.v.Instance
	q, v := in.Question, s.v.Verdict
	if s.v.Skipped {
		p.Add(t.Muted.Render("Skipped. u takes that back."))
		return
	}
	from := len(p.Lines)
	p.Add(s.verdictLine() + "   " + s.saveLine())
	if v.Note != "" {
		p.Text(t.Muted.Render(v.Note))
	}
	if q.Kind == content.Open {
		s.drawPoints(p)
		s.drawModel(p)
	} else {
		s.drawAnswer(p)
	}
	p.See(from)
	p.Gap()
	p.Add(s.md.Lines(q.Explain, p.W)...)
	p.Gap()
	if q.Scope != "" {
		p.Hang(t.Title.Render("holds for ")+" ", q.Scope)
	}
	p.Hang(t.Title.Render("trust     ")+" ", layerText(q.Layer))
	if in.HasProof() {
		p.Hang(t.Title.Render("shown by  ")+" ", "a run on the model. x runs it again and shows it.")
	} else if q.NotRun != "" {
		p.Hang(t.Title.Render("not run   ")+" ", q.NotRun)
	}
	s.drawSources(p)
}

func (s *Screen) verdictLine() string {
	t, v := s.host.Theme, s.v.Verdict
	open := s.v.Instance.Question.Kind == content.Open
	switch {
	case !v.Graded && open:
		return t.Muted.Render("Marked by you")
	case !v.Graded:
		return t.Warn.Render("Not graded")
	case v.Correct && open:
		return t.Good.Render("✓ Good enough, by your own marks")
	case open:
		return t.Bad.Render("✗ Not good enough yet, by your own marks")
	case v.Correct:
		return t.Good.Render("✓ Right") + s.sureText()
	case v.Score > 0:
		return t.Bad.Render(fmt.Sprintf("✗ Partly right (%.0f %%)", v.Score*100)) + s.sureText()
	}
	return t.Bad.Render("✗ Wrong") + s.sureText()
}

func (s *Screen) sureText() string {
	if s.v.Sure == 0 {
		return ""
	}
	return s.host.Theme.Muted.Render(fmt.Sprintf(" · you were %d %% sure", s.v.Sure))
}

func (s *Screen) saveLine() string {
	t := s.host.Theme
	switch s.v.Save {
	case quiz.Saving:
		return t.Muted.Render("saving …")
	case quiz.SavedSafe:
		return t.Good.Render("saved")
	case quiz.Unsaved:
		return t.Bad.Render("NOT SAVED")
	}
	return ""
}

// drawAnswer lists the choices with what was picked and what is right, or the
// two answers.
func (s *Screen) drawAnswer(p *widget.Page) {
	t, in, v := s.host.Theme, s.v.Instance, s.v.Verdict
	if len(v.Choices) == 0 || len(v.Choices) != len(in.Choices) {
		if v.YoursText != "" && !v.Correct {
			p.Hang(t.Bad.Render("yours     ")+" ", v.YoursText)
		}
		if v.RightText != "" {
			p.Hang(t.Good.Render("right     ")+" ", v.RightText)
		}
		return
	}
	for i, c := range v.Choices {
		mark, word := "  ", ""
		switch {
		case c.Right && c.Picked:
			mark, word = "✓ ", "right, yours"
		case c.Right:
			mark, word = "✓ ", "right"
		case c.Picked:
			mark, word = "✗ ", "wrong, yours"
		}
		text := s.md.Inline(in.Choices[i].Text)
		if word != "" {
			text += t.Muted.Render(" (" + word + ")")
		}
		switch {
		case c.Right:
			mark = t.Good.Render(mark)
		case c.Picked:
			mark = t.Bad.Render(mark)
		}
		p.Hang(mark+fmt.Sprintf("%d ", i+1), text)
		if why := in.Choices[i].Why; why != "" {
			p.Hang("    "+t.Muted.Render("why "), s.md.Inline(why))
		}
	}
}

func (s *Screen) drawSources(p *widget.Page) {
	t, q := s.host.Theme, s.v.Instance.Question
	if len(q.Refs) == 0 {
		return
	}
	if !s.sources {
		ids := make([]string, 0, len(q.Refs))
		for _, r := range q.Refs {
			ids = append(ids, r.Source.Title)
		}
		p.Hang(t.Title.Render("sources   ")+" ", strings.Join(ids, "; ")+t.Muted.Render("  (s: where exactly)"))
		return
	}
	p.Gap()
	from := len(p.Lines)
	p.Add(t.Title.Render("Sources"))
	p.Add(widget.Sources(t, q.Refs, p.W)...)
	if !q.Checked.IsZero() {
		p.Add(t.Muted.Render("  checked " + q.Checked.Format("2 January 2006")))
	}
	p.See(from)
}

func layerText(l content.Layer) string {
	switch l {
	case content.Official:
		return "official: specification, man page, kernel source or vendor manual"
	case content.Report:
		return "report: somebody's experience"
	case content.Inference:
		return "inference: ours, from the evidence"
	}
	return string(l)
}

func notRun(in *quiz.Instance) string {
	if in.Question.NotRun != "" {
		return in.Question.NotRun
	}
	return "it has no proof."
}
