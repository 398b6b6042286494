package widget

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// Pane is a framed area with a title in its frame.
type Pane struct {
	Title string
	Page  *Page
	// Scroll keeps the place in Page between two frames; nil always shows the
	// top.
	Scroll *Scroll
	Focus  bool
}

// View draws the pane in w by h, the frame included, and returns the cursor of
// its page, moved to where the page is.
func (p Pane) View(t *theme.Theme, w, h int) ([]string, *tea.Cursor) {
	return Stack(t, w, []Pane{p}, []int{h})
}

// Stack draws panes under one another in one frame. heights are the lines of
// each pane with its upper edge; the last one's also counts the lower edge.
func Stack(t *theme.Theme, w int, panes []Pane, heights []int) ([]string, *tea.Cursor) {
	var out []string
	var cur *tea.Cursor
	for i, p := range panes {
		h := heights[i] - 1
		last := i == len(panes)-1
		if last {
			h--
		}
		if h < 0 {
			h = 0
		}
		body, c, mark := p.body(w, h)
		left, right := "├", "┤"
		if i == 0 {
			left, right = "┌", "┐"
		}
		out = append(out, p.edge(t, left, p.Title, right, w))
		if c != nil {
			c.X += 2
			c.Y += len(out)
			cur = c
		}
		side := t.Border.Render("│")
		for _, line := range body {
			out = append(out, side+" "+line+" "+side)
		}
		if last {
			out = append(out, p.foot(t, mark, w))
		} else if mark != "" && len(body) > 0 {
			n := len(out) - 1
			out[n] = side + " " + Fit(Plain(body[len(body)-1]), w-4-Width(mark)) + t.Muted.Render(mark) + " " + side
		}
	}
	return out, cur
}

func (p Pane) body(w, h int) ([]string, *tea.Cursor, string) {
	if p.Page == nil {
		return Block(nil, w-4, h), nil, ""
	}
	s := p.Scroll
	if s == nil {
		s = &Scroll{}
	}
	lines, c := s.View(p.Page, w-4, h)
	return lines, c, s.Mark()
}

func (p Pane) edge(t *theme.Theme, left, title, right string, w int) string {
	if title != "" {
		title = " " + title + " "
	}
	room := w - 3
	if Width(title) > room {
		title = strings.TrimRight(Fit(title, room), " ") + " "
		if Width(title) > room {
			title = Fit(title, room)
		}
	}
	style := t.Title
	if p.Focus {
		style = t.Accent
	}
	fill := room - Width(title) + 1
	return t.Border.Render(left) + style.Render(title) + t.Border.Render(strings.Repeat("─", max(fill, 0))+right)
}

func (p Pane) foot(t *theme.Theme, mark string, w int) string {
	if mark != "" {
		mark = " " + mark + " "
	}
	fill := w - 2 - Width(mark)
	if fill < 1 {
		mark, fill = "", w-2
	}
	return t.Border.Render("└"+strings.Repeat("─", fill-min(fill, 1))) + t.Muted.Render(mark) + t.Border.Render(strings.Repeat("─", min(fill, 1))+"┘")
}

// Beside joins two blocks of the same height.
func Beside(left, right []string) []string {
	out := make([]string, len(left))
	for i := range left {
		out[i] = left[i]
		if i < len(right) {
			out[i] += right[i]
		}
	}
	return out
}

// Bar draws a fraction from 0 to 1 as a bar of w columns.
func Bar(fraction float64, w int) string {
	fraction = min(max(fraction, 0), 1)
	n := int(fraction*float64(w) + 0.5)
	return strings.Repeat("█", n) + strings.Repeat("░", w-n)
}

// Percent prints a fraction as a percentage of fixed width.
func Percent(fraction float64) string { return fmt.Sprintf("%3.0f%%", fraction*100) }
