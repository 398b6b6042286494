package widget

import (
	"strconv"
	"strings"

	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// Levels are the answers to "how sure are you?", in per cent.
var Levels = []int{50, 60, 70, 80, 90, 100}

// Confidence draws the bar "how sure?  50 60 70 [80] 90 100"; chosen is one of
// Levels, or 0 for none yet.
func Confidence(t *theme.Theme, chosen int, focus bool) string {
	var b strings.Builder
	label := "how sure? "
	if focus {
		b.WriteString(t.Accent.Render(label))
	} else {
		b.WriteString(label)
	}
	for _, l := range Levels {
		s := strconv.Itoa(l)
		if l == chosen {
			b.WriteString(t.Accent.Render("[" + s + "]"))
		} else {
			b.WriteString(" " + s + " ")
		}
	}
	b.WriteString(" %")
	return b.String()
}

// NextLevel is the level n places from the chosen one, within the bar.
func NextLevel(chosen, n int) int {
	at := 0
	for i, l := range Levels {
		if l <= chosen {
			at = i
		}
	}
	return Levels[max(min(at+n, len(Levels)-1), 0)]
}
