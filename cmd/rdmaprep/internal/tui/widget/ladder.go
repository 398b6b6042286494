package widget

import (
	"strings"

	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// Rung is one line of a packet ladder.
type Rung struct {
	From, To string // nodes; To is "" for an event at one node
	Text     string // such as "SEND_ONLY psn=256"
	Brief    string // shown in place of Text where that does not fit; may be ""
	When     string // such as "1.204 ms"
	Lost     bool   // it did not arrive
	Odd      bool   // a NAK, an error: worth a look
	// Rightward is true where the arrow points right; the ladder keeps one
	// node at each side.
	Rightward bool
}

// Ladder draws the rungs on lines of w columns: "a ─ SEND_ONLY psn=256 ─▶ b".
// at is the selected rung, -1 for none.
func Ladder(t *theme.Theme, rungs []Rung, at, w int) []string {
	out := make([]string, 0, len(rungs))
	for i, r := range rungs {
		lead := "  "
		if i == at {
			lead = "▸ "
		}
		if at < 0 {
			lead = ""
		}
		out = append(out, rung(t, r, lead, w, i == at))
	}
	return out
}

func rung(t *theme.Theme, r Rung, lead string, w int, selected bool) string {
	when := ""
	if r.When != "" && w >= 44 {
		when = " " + r.When
	}
	room := w - Width(lead) - Width(when)
	if r.To == "" {
		line := Fit(r.From+"   "+r.Text, room)
		return paint(t, r, selected, lead+line) + t.Muted.Render(when)
	}
	left, right := r.From, r.To
	head, tail := " ─ ", "─▶ "
	if !r.Rightward {
		left, right = r.To, r.From
		head, tail = " ◀─ ", "─ "
	}
	if r.Lost {
		if r.Rightward {
			tail = "─✗ "
		} else {
			head = " ✗─ "
		}
	}
	text := r.Text
	if r.Lost {
		text += " LOST"
	}
	space := room - Width(left) - Width(right) - Width(head) - Width(tail) - 1
	if Width(text) > space && r.Brief != "" {
		text = r.Brief
		if r.Lost {
			text += " LOST"
		}
	}
	if Width(text) > space {
		text = Fit(text, space)
	}
	line := left + head + text + " " + strings.Repeat("─", max(space-Width(text), 0)) + tail + right
	return paint(t, r, selected, lead+Fit(line, room)) + t.Muted.Render(when)
}

func paint(t *theme.Theme, r Rung, selected bool, line string) string {
	switch {
	case selected:
		return t.Accent.Render(line)
	case r.Lost, r.Odd:
		return t.Warn.Render(line)
	}
	return line
}
