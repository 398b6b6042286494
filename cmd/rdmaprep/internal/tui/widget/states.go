package widget

import (
	"strings"

	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// States draws where a queue pair is among the states of its life:
// "RESET─INIT─RTR─[RTS]─SQD   ERR". SQE and ERR stand apart, since a QP falls
// into them. Narrow strips show only the present state.
func States(t *theme.Theme, state string, w int) string {
	path := []string{"RESET", "INIT", "RTR", "RTS", "SQD"}
	var parts []string
	on := false
	for _, s := range path {
		if s == state {
			s, on = t.Accent.Render("["+s+"]"), true
		}
		parts = append(parts, s)
	}
	line := strings.Join(parts, t.Border.Render("─"))
	switch {
	case on:
		line += "  " + t.Muted.Render("ERR")
	case state == "ERR":
		line += "  " + t.Bad.Render("[ERR]")
	case state != "":
		line += "  " + t.Warn.Render("["+state+"]")
	}
	if Width(line) > w {
		return t.Accent.Render("[" + state + "]")
	}
	return line
}
