// Package widget draws the parts that the screens are made of: panes, pages
// that scroll, lists, Markdown, inputs, the confidence bar, the strip of
// queue-pair states and the packet ladder, the footer and the help.
//
// It promises that what it draws is exactly as wide and as high as it was
// told: longer lines are cut, shorter ones filled. It keeps no state of the
// trainer and sends no message.
package widget

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Fit cuts or fills a line to w columns.
func Fit(line string, w int) string {
	if w <= 0 {
		return ""
	}
	n := ansi.StringWidth(line)
	if n > w {
		line = ansi.Truncate(line, w, "…")
		n = ansi.StringWidth(line)
	}
	if n < w {
		line += strings.Repeat(" ", w-n)
	}
	return line
}

// Block cuts or fills lines to an area of w by h.
func Block(lines []string, w, h int) []string {
	if h < 0 {
		h = 0
	}
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = Fit(lines[i], w)
		} else {
			out[i] = strings.Repeat(" ", max(w, 0))
		}
	}
	return out
}

// Wrap breaks text into lines of at most w columns, at blanks where it can.
func Wrap(text string, w int) []string {
	if w < 1 {
		w = 1
	}
	text = strings.TrimRight(strings.ReplaceAll(text, "\t", "    "), "\n")
	if strings.Contains(text, "\x1b") {
		// Styles must end with the line, or they run into the frame.
		return strings.Split(lipgloss.Wrap(text, w, ""), "\n")
	}
	return strings.Split(ansi.Wrap(text, w, ""), "\n")
}

// Code breaks lines of code to w columns, what is left over set in by two.
func Code(lines []string, w int) []string {
	var out []string
	for _, l := range lines {
		l = strings.ReplaceAll(strings.TrimRight(l, " "), "\t", "    ")
		for i, part := range Wrap(l, max(w-2, 8)) {
			if i > 0 {
				part = "  " + part
			}
			out = append(out, part)
		}
	}
	return out
}

// Hang wraps text behind a lead of the given columns: the first line begins
// with lead, the others with as many blanks.
func Hang(lead, text string, w int) []string {
	n := ansi.StringWidth(lead)
	lines := Wrap(text, w-n)
	pad := strings.Repeat(" ", n)
	for i := range lines {
		if i == 0 {
			lines[i] = lead + lines[i]
		} else {
			lines[i] = pad + lines[i]
		}
	}
	return lines
}

// Indent puts n blanks before every line.
func Indent(lines []string, n int) []string {
	pad := strings.Repeat(" ", n)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = pad + l
	}
	return out
}

// Ends puts left and right at the two ends of a line of w columns; left is cut
// first.
func Ends(left, right string, w int) string {
	r := ansi.StringWidth(right)
	if r+1 >= w {
		return Fit(left, w)
	}
	return Fit(left, w-r) + right
}

// Width is how many columns a line takes.
func Width(line string) int { return ansi.StringWidth(line) }

// Plain takes the styles away.
func Plain(s string) string { return ansi.Strip(s) }
