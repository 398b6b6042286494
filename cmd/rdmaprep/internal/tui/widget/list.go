package widget

import (
	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// List is a cursor over a number of items.
type List struct {
	N  int // how many
	At int
}

// Move moves the cursor by n, within the list.
func (l *List) Move(n int) { l.At = max(min(l.At+n, l.N-1), 0) }

// Page moves the cursor by pages of eight lines.
func (l *List) Page(n int) { l.Move(8 * n) }

// Resize says how many items there are now.
func (l *List) Resize(n int) {
	l.N = n
	l.Move(0)
}

// Mark is what stands before item i: an arrow at the cursor.
func (l *List) Mark(i int) string {
	if i == l.At {
		return "▸ "
	}
	return "  "
}

// Item adds item i of the list to a page, wrapped, and makes it the part to
// be seen if the cursor is on it.
func (l *List) Item(t *theme.Theme, p *Page, i int, text string) {
	from := len(p.Lines)
	lead := l.Mark(i)
	if i != l.At {
		p.Hang(lead, text)
		return
	}
	lines := Hang(lead, text, p.W)
	for k := range lines {
		lines[k] = t.Selected.Render(lines[k])
	}
	p.Add(lines...)
	p.See(from)
}
