package widget

import (
	"strings"
	"unicode"

	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// Limits of what can be typed, in characters.
const (
	LineLimit = 400
	TextLimit = 8000
)

// Line is an input of one line. The terminal's own cursor stands in it.
type Line struct {
	m      textinput.Model
	prompt string
}

// NewLine returns an input with a prompt before it and the focus in it.
func NewLine(prompt, value string) *Line {
	m := textinput.New()
	m.Prompt = ""
	m.CharLimit = LineLimit
	m.SetVirtualCursor(false)
	m.SetStyles(textinput.Styles{})
	m.SetValue(clean(value, false))
	m.CursorEnd()
	m.Focus()
	return &Line{m: m, prompt: prompt}
}

// Value is what was typed.
func (l *Line) Value() string { return l.m.Value() }

// Set replaces what was typed.
func (l *Line) Set(s string) {
	l.m.SetValue(clean(s, false))
	l.m.CursorEnd()
}

// Update takes keys and pastes.
func (l *Line) Update(msg tea.Msg) {
	if p, ok := msg.(tea.PasteMsg); ok {
		msg = tea.PasteMsg{Content: clean(p.Content, false)}
	}
	l.m, _ = l.m.Update(msg)
}

// Draw adds the input to a page and puts the page's cursor into it.
func (l *Line) Draw(p *Page) {
	at := len(p.Lines)
	w := p.W - Width(l.prompt) - 1
	if w < 4 {
		w = 4
	}
	l.m.SetWidth(w)
	p.Add(Fit(l.prompt+l.m.View(), p.W))
	p.See(at)
	if c := l.m.Cursor(); c != nil {
		p.Cursor = &tea.Cursor{Position: tea.Position{X: min(c.X+Width(l.prompt), p.W-1), Y: at}, Shape: tea.CursorBar}
	}
}

// Text is an input of several lines.
type Text struct {
	m textarea.Model
}

// NewText returns an input for several lines with the focus in it.
func NewText(value string) *Text {
	m := textarea.New()
	m.Prompt = ""
	m.ShowLineNumbers = false
	m.CharLimit = TextLimit
	m.EndOfBufferCharacter = ' '
	m.SetVirtualCursor(false)
	m.SetStyles(textarea.Styles{})
	m.SetValue(clean(value, true))
	m.Focus()
	return &Text{m: m}
}

// Value is what was typed.
func (x *Text) Value() string { return strings.TrimRight(x.m.Value(), " \n") }

// Update takes keys and pastes.
func (x *Text) Update(msg tea.Msg) {
	if p, ok := msg.(tea.PasteMsg); ok {
		msg = tea.PasteMsg{Content: clean(p.Content, true)}
	}
	x.m, _ = x.m.Update(msg)
}

// Draw adds h lines of the input to a page and puts the page's cursor into it.
func (x *Text) Draw(p *Page, h int) {
	at := len(p.Lines)
	x.m.SetWidth(max(p.W-2, 4))
	x.m.SetHeight(max(h, 1))
	lines := strings.Split(x.m.View(), "\n")
	for i := range h {
		s := ""
		if i < len(lines) {
			s = lines[i]
		}
		p.Add("│ " + Fit(s, p.W-2))
	}
	p.See(at)
	if c := x.m.Cursor(); c != nil {
		p.Cursor = &tea.Cursor{
			Position: tea.Position{X: min(c.X+2, p.W-1), Y: at + min(max(c.Y, 0), h-1)}, Shape: tea.CursorBar,
		}
	}
}

// clean takes out of a paste what is not text: escape and control characters.
func clean(s string, lines bool) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r':
			if lines {
				return '\n'
			}
			return ' '
		case r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}
