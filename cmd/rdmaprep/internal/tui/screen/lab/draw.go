package lab

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/evidence"
	"rdmaprep/cmd/rdmaprep/internal/tui/nav"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/lessons"
)

// wideAt is the width from which the step and the device stand side by side.
const wideAt = 96

// textWidth is the most columns that prose is set in.
const textWidth = 92

// View draws the screen.
func (s *Screen) View(w, h int) (string, *tea.Cursor) {
	t := s.host.Theme
	s.narrow = w < wideAt
	switch {
	case s.id == "":
		p := widget.NewPage(w - 4)
		s.drawList(p)
		lines, _ := widget.Pane{Title: "Labs", Page: p, Scroll: &s.scroll, Focus: true}.View(t, w, h)
		return strings.Join(lines, "\n"), nil
	case s.l == nil:
		p := widget.NewPage(w - 4)
		if s.err != nil {
			p.Text(t.Bad.Render("The lab could not be opened: " + s.err.Error()))
		} else {
			p.Add(t.Muted.Render("Opening the lab …"))
		}
		lines, _ := widget.Pane{Title: "Lab", Page: p}.View(t, w, h)
		return strings.Join(lines, "\n"), nil
	case s.ev != nil:
		return s.ev.View(w, h)
	case s.rec != nil && (s.v.Phase == lessons.Recording || s.v.Phase == lessons.Finished):
		return s.rec.view(s, w, h)
	case s.v.Phase == lessons.Scaling, s.v.Phase == lessons.Marking:
		return s.scaleView(w, h)
	case w >= wideAt:
		return s.wideView(w, h)
	case s.side:
		return strings.Join(s.device(w, h), "\n"), nil
	}
	lines, cur := s.stepPane(w, h)
	return strings.Join(lines, "\n"), cur
}

func (s *Screen) wideView(w, h int) (string, *tea.Cursor) {
	lw := w * 52 / 100
	left, cur := s.stepPane(lw, h)
	return strings.Join(widget.Beside(left, s.device(w-lw, h)), "\n"), cur
}

func (s *Screen) stepPane(w, h int) ([]string, *tea.Cursor) {
	p := widget.NewPage(min(w-4, textWidth))
	s.drawStep(p, h-2)
	title := fmt.Sprintf("Step %d of %d · %s", s.v.Number, s.v.Total, s.v.Step.PartTitle)
	if s.v.Step.Adversarial {
		title = fmt.Sprintf("Step %d of %d · adversarial: %s", s.v.Number, s.v.Total, s.v.Step.PartTitle)
	}
	return widget.Pane{Title: title, Page: p, Scroll: &s.main, Focus: true}.View(s.host.Theme, w, h)
}

// device draws the objects and the wire of the step under the cursor.
func (s *Screen) device(w, h int) []string {
	t := s.host.Theme
	op, wp := widget.NewPage(w-4), widget.NewPage(w-4)
	o := s.v.Step.Observation
	title, label := "Objects", "Wire"
	switch {
	case o == nil && s.v.Phase == lessons.Running:
		op.Add(t.Muted.Render("running …"))
		wp.Add(t.Muted.Render("running …"))
	case o == nil:
		if last := s.before(); last != nil {
			title = "Objects before this step"
			evidence.DrawObjects(t, op, evidence.Of(*last, "").Objects)
		} else {
			op.Text(t.Muted.Render("Shown after the step has run."))
		}
		wp.Text(t.Muted.Render("Shown after the step has run: predict first."))
	default:
		run := evidence.Of(*o, "")
		evidence.DrawObjects(t, op, run.Objects)
		rows := evidence.Short(evidence.Rows(o.Events))
		wp.Add(widget.Ladder(t, evidence.Rungs(rows), -1, wp.W)...)
		if len(rows) == 0 {
			none := "No packet crossed the wire in this step."
			if o.Live && o.Wire == "" {
				none = evidence.NoPackets(true, "")
			}
			wp.Text(t.Muted.Render(none))
		}
		if o.Live {
			label = evidence.WireTitle(o.Wire)
		}
	}
	objH := min(max(len(op.Lines)+1, 3), h/2)
	lines, _ := widget.Stack(t, w, []widget.Pane{
		{Title: title, Page: op, Scroll: &s.objs},
		{Title: label, Page: wp, Scroll: &s.wire},
	}, []int{objH, h - objH})
	return lines
}

func (s *Screen) drawStep(p *widget.Page, h int) {
	t, st := s.host.Theme, s.v.Step
	c := st.Content
	p.Add(t.Title.Render(st.Place + " " + c.Title))
	if !s.v.Current {
		p.Add(t.Warn.Render("Looking back. → comes forward."))
	}
	if s.v.Replaying {
		p.Add(t.Muted.Render("Running the earlier steps again …"))
	}
	s.drawWhere(p)
	if o := st.Observation; o != nil {
		s.drawObserved(p, o)
		p.Gap()
		p.Add(t.Muted.Render("— before the run —"))
	}
	s.drawBefore(p)
	if st.Observation == nil {
		s.drawPredict(p, h)
	}
	if s.sources {
		p.Gap()
		p.Add(t.Title.Render("Sources of this lab"))
		from := len(p.Lines) - 1
		p.Add(widget.Sources(t, s.v.Lab.Refs, p.W)...)
		if s.form == nil {
			p.See(from)
		}
	}
}

// drawWhere says why the step runs on the model, where a live device was
// chosen.
func (s *Screen) drawWhere(p *widget.Page) {
	why := ""
	if o := s.v.Step.Observation; o != nil {
		why = o.ModelWhy
	} else {
		why = s.run.run.Where(s.v.Step.Part).Why
	}
	if why != "" {
		p.Text(s.host.Theme.Warn.Render("MODEL, not the live device: " + why + "."))
	}
}

// drawBefore is what is read before the run: explanation, calls, script.
func (s *Screen) drawBefore(p *widget.Page) {
	t, st := s.host.Theme, s.v.Step
	if st.Setup != "" {
		p.Add(t.Muted.Render("Two nodes, a and b, made by"))
		s.code(p, setupLines(st.Setup))
	}
	p.Gap()
	p.Add(s.md.Lines(st.Content.Explain, p.W)...)
	if calls := strings.TrimSpace(st.Content.Calls); calls != "" {
		p.Gap()
		s.code(p, strings.Split(calls, "\n"))
	}
	if lines := shownScript(st.Content.Script); len(lines) > 0 {
		p.Gap()
		p.Add(t.Muted.Render("runs as"))
		s.code(p, lines)
	}
}

func (s *Screen) code(p *widget.Page, lines []string) {
	for _, l := range widget.Code(lines, p.W-2) {
		p.Add("  " + s.host.Theme.Code.Render(l))
	}
}

func setupLines(script string) []string {
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(script), "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "script ") {
			out = append(out, l)
		}
	}
	return out
}

// shownScript are the lines of a script that may be shown before the run: all
// but what the solution expects.
func shownScript(script string) []string {
	var out []string
	for _, l := range setupLines(script) {
		if !strings.HasPrefix(l, "expect") && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

func (s *Screen) drawPredict(p *widget.Page, h int) {
	t, st := s.host.Theme, s.v.Step
	pr := st.Content.Predict
	p.Gap()
	from := len(p.Lines)
	switch {
	case s.v.Phase == lessons.Running:
		p.Add(t.Muted.Render("Running …"))
	case pr == nil:
		p.Add("Nothing to predict here. Enter runs the step.")
	case s.form != nil:
		p.Add(t.Title.Render("Predict") + t.Muted.Render("  locked when you run"))
		p.Add(s.md.Lines(pr.Prompt, p.W)...)
		s.form.Draw(p, h)
		p.Hold = true
		if len(p.Lines)-from <= h && p.To > from {
			p.From = min(p.From, from)
		}
	case st.Locked != nil:
		s.drawLocked(p)
		p.Text("The step has not run. Enter tries again; the prediction stays as it is. " + nav.DeviceKey.Name() + " chooses another device, or the model.")
	}
	s.drawHints(p)
	if s.v.Message != "" && st.Locked != nil {
		p.Text(t.Warn.Render(s.v.Message))
		p.See(from)
	}
	if pr == nil {
		p.See(from)
	}
}

func (s *Screen) drawHints(p *widget.Page) {
	t := s.host.Theme
	for i, hint := range s.v.Step.Hints {
		if i == 0 {
			p.Gap()
		}
		p.Hang(t.Warn.Render(fmt.Sprintf("hint %d ", i+1)), s.md.Inline(hint))
		p.To = max(p.To, len(p.Lines))
	}
}

func (s *Screen) drawLocked(p *widget.Page) {
	t, st := s.host.Theme, s.v.Step
	opts := st.Content.Predict.Options
	if st.Locked.Option >= 0 && st.Locked.Option < len(opts) {
		p.Hang(t.Title.Render("predicted "), s.md.Inline(opts[st.Locked.Option].Text)+
			t.Muted.Render(fmt.Sprintf("  (%d %% sure, locked)", st.Locked.Sure)))
	}
}

// drawObserved is what the run showed: the prediction against it, and the
// notice.
func (s *Screen) drawObserved(p *widget.Page, o *lessons.Observation) {
	t, st := s.host.Theme, s.v.Step
	p.Gap()
	if st.Locked != nil && st.Content.Predict != nil {
		switch {
		case !st.Locked.Graded:
			p.Add(t.Warn.Render("The prediction could not be graded."))
		case st.Locked.Correct:
			p.Add(t.Good.Render("✓ As you predicted") + t.Muted.Render(fmt.Sprintf(" · you were %d %% sure", st.Locked.Sure)))
		default:
			p.Add(t.Bad.Render("✗ Not as you predicted") + t.Muted.Render(fmt.Sprintf(" · you were %d %% sure", st.Locked.Sure)))
		}
		s.drawOptions(p, o)
	} else {
		p.Add(t.Good.Render("It has run."))
	}
	if o.Err != "" {
		p.Text(t.Bad.Render("The script stopped: " + o.Err))
	}
	for _, f := range o.Failed {
		p.Hang(t.Warn.Render("! expected "), f.Line)
		p.Hang(t.Warn.Render("  got      "), f.Got)
	}
	if st.Content.Notice != "" {
		p.Gap()
		p.Add(s.md.Lines(st.Content.Notice, p.W)...)
	}
	if s.v.Current && s.v.Phase == lessons.Observing {
		p.Gap()
		p.Add(t.Accent.Render("Enter goes on."))
	}
}

func (s *Screen) drawOptions(p *widget.Page, o *lessons.Observation) {
	t, st := s.host.Theme, s.v.Step
	for i, opt := range st.Content.Predict.Options {
		held := i < len(o.Right) && o.Right[i]
		mine := st.Locked.Option == i
		mark, word := "  ", ""
		switch {
		case held && mine:
			mark, word = t.Good.Render("✓ "), " (happened, yours)"
		case held:
			mark, word = t.Good.Render("✓ "), " (happened)"
		case mine:
			mark, word = t.Bad.Render("✗ "), " (yours)"
		}
		p.Hang(mark+fmt.Sprintf("%d ", i+1), s.md.Inline(opt.Text)+t.Muted.Render(word))
		if opt.Why != "" && (held || mine) {
			p.Hang("    "+t.Muted.Render("why "), s.md.Inline(opt.Why))
		}
	}
}

func (s *Screen) drawList(p *widget.Page) {
	t := s.host.Theme
	if len(s.labs) == 0 {
		p.Text("This content has no labs.")
		return
	}
	for i, l := range s.labs {
		from := len(p.Lines)
		mark := s.marks[l.ID]
		tail := fmt.Sprintf("%d min  %8s", l.Minutes, mark)
		line := widget.Ends(s.list.Mark(i)+l.Title+"  ·  "+s.svc.TopicTitle(l.Topic), tail, p.W)
		if i == s.list.At {
			p.Add(t.Accent.Render(line))
			p.Add(widget.Indent(widget.Wrap(l.Goal, p.W-4), 4)...)
			p.See(from)
			continue
		}
		p.Add(line)
	}
}

func (s *Screen) scaleView(w, h int) (string, *tea.Cursor) {
	t := s.host.Theme
	p := widget.NewPage(min(w-4, textWidth))
	p.Add(s.md.Lines(s.v.Scale.Prompt, p.W)...)
	p.Gap()
	if s.v.Phase == lessons.Scaling {
		p.Add(t.Muted.Render("Say it aloud; typing is optional, and is kept in the record. Then tab."))
		s.text.Draw(p, max(min(h-len(p.Lines)-3, 8), 3))
	} else {
		s.drawMarks(p)
	}
	lines, cur := widget.Pane{Title: "What changes at larger scale?", Page: p, Scroll: &s.main, Focus: true}.View(t, w, h)
	return strings.Join(lines, "\n"), cur
}

func (s *Screen) drawMarks(p *widget.Page) {
	t := s.host.Theme
	if s.v.ScaleAnswer != "" {
		p.Add(widget.Indent(widget.Wrap(s.v.ScaleAnswer, p.W-2), 2)...)
		p.Gap()
	}
	p.Add(t.Title.Render(fmt.Sprintf("Did you say this?  %d of %d points", len(s.v.Points), len(s.v.Scale.Rubric))))
	for i, pt := range s.v.Points {
		mark := t.Accent.Render("▸ [ ] ")
		if i < len(s.v.Marked) {
			mark = t.Bad.Render("  [-] ")
			if s.v.Marked[i] {
				mark = t.Good.Render("  [x] ")
			}
		}
		from := len(p.Lines)
		p.Hang(mark, s.md.Inline(pt.Text))
		p.See(from)
	}
	if s.pointsLeft() {
		return
	}
	if s.v.Scale.Model != "" {
		p.Gap()
		from := len(p.Lines)
		p.Add(t.Title.Render("One good answer"))
		p.Add(widget.Indent(s.md.Lines(s.v.Scale.Model, p.W-2), 2)...)
		p.Gap()
		p.Add(t.Accent.Render("Enter goes on to the decision record."))
		p.See(from)
	}
}
