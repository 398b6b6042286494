package export

import (
	"slices"
	"strconv"
	"strings"

	"rdmaprep/content"
	"rdmaprep/lessons/typed"
	"rdmaprep/quiz"
)

// topicPage tells what was studied of a topic, and every question missed.
func (n *notebook) topicPage(t *topic) string {
	var p page
	p.line("# %s", typed.Word(t.Title))
	p.block("%s", typed.Word(t.Blurb))
	p.block("[All notes](../index.md)")
	p.block("## Studied")
	p.line("")
	p.line("| question | answered | last time | outcome | due |")
	p.line("|---|--:|---|---|---|")
	for _, s := range t.studied {
		due := "-"
		if !s.card.New() {
			due = dayDate(s.card.Due)
		}
		p.line("| %s | %d | %s | %s | %s |", typed.Word(s.id), len(s.attempts), dayDate(s.last().Day), outcome(s.last()), due)
	}
	p.block("## Missed")
	if t.missedQuestions() == 0 {
		p.block("None.")
	}
	for _, s := range t.studied {
		if s.missed > 0 {
			n.missed(&p, s)
		}
	}
	return p.String()
}

func outcome(a quiz.Attempt) string {
	switch {
	case !a.Graded:
		return "not graded"
	case a.Correct:
		return "right"
	}
	return "wrong"
}

// missed is one question that was answered wrong, as it was put the last time
// that this happened.
func (n *notebook) missed(p *page, s *studied) {
	a := s.lastMiss()
	in := n.instance(s.id, a.Variant)
	p.block("### %s", typed.Word(s.id))
	line := "Wrong " + count(s.missed, "time") + " of " + strconv.Itoa(len(s.attempts)) + ", the last time on " + dayDate(a.Day)
	if a.Sure > 0 {
		line += ", " + strconv.Itoa(a.Sure) + "% sure"
	}
	if last := s.last(); last.Graded && last.Correct {
		line += "; right since, on " + dayDate(last.Day)
	}
	p.block("%s.", line)
	if in == nil {
		p.block("**Your answer**")
		p.block("%s", within(typed.Literal(orNone(a.Yours))))
		p.block("**Right answer**, as it was shown then")
		p.block("%s", within(typed.Literal(orNone(a.Right))))
		return
	}
	q := in.Question
	p.block("**Question**")
	p.block("%s", within(typed.Plain(q.Prompt)))
	p.block("**Your answer**")
	p.block("%s", within(yours(in, a)))
	n.right(p, in, a)
	if q.Explain != "" {
		p.block("**Why**")
		p.block("%s", within(typed.Plain(q.Explain)))
	}
	claim(p, q)
}

// yours is the learner's answer: choices in the content's own Markdown, what
// was typed as it was typed.
func yours(in *quiz.Instance, a quiz.Attempt) string {
	picks := a.Answer.Picks
	ordered := in.Input() == quiz.PickOrder
	if ordered {
		picks = a.Answer.Order
	}
	if len(picks) == 0 || slices.ContainsFunc(picks, func(i int) bool { return i < 0 || i >= len(in.Choices) }) {
		if text := strings.TrimSpace(a.Answer.Text); text != "" {
			return typed.Literal(text)
		}
		return typed.Literal(orNone(a.Yours))
	}
	var texts []string
	for _, i := range picks {
		text := in.Choices[i].Text
		if why := in.Choices[i].Why; why != "" && !ordered {
			text += "\n\n" + why
		}
		texts = append(texts, text)
	}
	return list(texts, ordered)
}

// right is the right answer: from a run where a proof decides, else from the
// content. Of a spoken answer it is the model answer and its points.
func (n *notebook) right(p *page, in *quiz.Instance, a quiz.Attempt) {
	q := in.Question
	switch {
	case in.Input() == quiz.Speak:
		p.block("**A model answer**")
		p.block("%s", within(typed.Plain(q.Model)))
		rubric(p, q.Rubric, a.Answer.Points)
		return
	case in.HasProof() && n.Right != nil:
		text, err := n.Right(n.ctx, a.Question, a.Variant)
		if err == nil {
			p.block("**Right answer**, from a run of its proof")
			p.block("%s", within(typed.Plain(text)))
			return
		}
		p.block("**Right answer**, as it was shown then (the proof did not run this time: %s)", typed.Word(err.Error()))
		p.block("%s", within(typed.Plain(orNone(a.Right))))
		return
	case in.HasProof():
		p.block("**Right answer**, as it was shown then")
		p.block("%s", within(typed.Plain(orNone(a.Right))))
		return
	}
	p.block("**Right answer**")
	p.block("%s", within(rightOfContent(in, a)))
}

// rightOfContent is what the content says of a question without a proof.
func rightOfContent(in *quiz.Instance, a quiz.Attempt) string {
	key, _ := quiz.ContentKey(in)
	if in.Input() == quiz.PickOne || in.Input() == quiz.PickMany {
		var texts []string
		for i, c := range in.Choices {
			if i < len(key.Right) && key.Right[i] {
				text := c.Text
				if c.Why != "" {
					text += "\n\n" + c.Why
				}
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 {
			return list(texts, false)
		}
	}
	if in.Input() == quiz.PickOrder {
		texts := make([]string, len(in.Choices))
		for _, c := range in.Choices {
			texts[c.Origin] = c.Text
		}
		return list(texts, true)
	}
	if text := quiz.Grade(in, key, a.Answer).RightText; text != "" {
		return typed.Plain(text)
	}
	return typed.Plain(orNone(a.Right))
}

func rubric(p *page, points []content.Point, made []bool) {
	if len(points) == 0 {
		return
	}
	p.line("")
	for i, point := range points {
		mark := "missed"
		if i < len(made) && made[i] {
			mark = "made"
		}
		if point.Must {
			mark += ", a must"
		}
		p.line("- (%s) %s", mark, strings.ReplaceAll(typed.Plain(point.Text), "\n", "\n  "))
	}
}

// claim is what a statement covers and what it rests on.
func claim(p *page, q *content.Question) {
	p.line("")
	p.line("- **Scope**: %s", typed.Word(orNone(q.Scope)))
	p.line("- **Layer**: %s", typed.Word(orNone(string(q.Layer))))
	if q.NotRun != "" {
		p.line("- **Not run here**: %s", typed.Word(q.NotRun))
	}
	if len(q.Refs) == 0 {
		p.line("- **Source**: %s", typed.Word(orNone(strings.Join(q.Sources, "; "))))
	}
	for _, ref := range q.Refs {
		if ref.Source == nil {
			continue
		}
		text := typed.Word(ref.Source.Title)
		if ref.Place != "" {
			text += ", " + typed.Word(ref.Place)
		}
		if ref.Source.Where != "" {
			text += " (" + typed.Word(ref.Source.Where) + ")"
		}
		p.line("- **Source**: %s; %s", text, typed.Word(string(ref.Source.Layer)))
	}
}

// list makes list items of texts in Markdown, each kept inside its item.
func list(texts []string, numbered bool) string {
	var b strings.Builder
	for i, text := range texts {
		mark := "- "
		if numbered {
			mark = strconv.Itoa(i+1) + ". "
		}
		indent := "\n" + strings.Repeat(" ", len(mark))
		b.WriteString(mark + strings.ReplaceAll(strings.TrimSpace(typed.Plain(text)), "\n", indent) + "\n")
	}
	return b.String()
}

func orNone(s string) string {
	if strings.TrimSpace(s) == "" {
		return "not stated"
	}
	return s
}
