package widget

import (
	"slices"
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"
)

// gap is the space between two columns of a table.
const gap = "  "

// table lays a table out in w columns: every column as wide as its widest cell,
// and where that is too much the widest ones give way and wrap.
func (l *layout) table(n *extast.Table, w int) []string {
	var rows [][]string
	columns := 0
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, l.inline(c))
		}
		columns = max(columns, len(row))
		rows = append(rows, row)
	}
	if columns == 0 {
		return nil
	}
	widths := shares(rows, columns, w-len(gap)*(columns-1))
	var out []string
	for i, row := range rows {
		head := i == 0 && n.FirstChild().Kind() == extast.KindTableHeader
		out = append(out, l.tableRow(row, widths, head)...)
		if head {
			rule := make([]string, columns)
			for c := range rule {
				rule[c] = strings.Repeat("─", widths[c])
			}
			out = append(out, l.t.Muted.Render(strings.Join(rule, gap)))
		}
	}
	return out
}

// shares divides the room among the columns.
func shares(rows [][]string, columns, room int) []int {
	widths := make([]int, columns)
	for _, row := range rows {
		for c, cell := range row {
			widths[c] = max(widths[c], Width(cell))
		}
	}
	const least = 4
	for total(widths) > room {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= least {
			break
		}
		widths[widest]--
	}
	return widths
}

func total(widths []int) int {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	return sum
}

func (l *layout) tableRow(row []string, widths []int, head bool) []string {
	cells := make([][]string, len(widths))
	height := 1
	for c := range widths {
		text := ""
		if c < len(row) {
			text = row[c]
		}
		cells[c] = Wrap(text, widths[c])
		if head {
			for i := range cells[c] {
				cells[c][i] = l.t.Title.Render(Plain(cells[c][i]))
			}
		}
		height = max(height, len(cells[c]))
	}
	out := make([]string, height)
	for i := range height {
		var b strings.Builder
		for c, w := range widths {
			text := ""
			if i < len(cells[c]) {
				text = cells[c][i]
			}
			b.WriteString(text)
			if c < len(widths)-1 {
				b.WriteString(strings.Repeat(" ", max(0, w-Width(text))) + gap)
			}
		}
		out[i] = strings.TrimRight(b.String(), " ")
	}
	return out
}
