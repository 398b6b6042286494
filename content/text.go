package content

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxCodeColumns   = 72  // fenced code and C calls
	maxScriptColumns = 400 // lines of a script, which a screen folds; a post list is one line
)

// Letters are the characters that content may have besides printable ASCII,
// line ends, box drawing (U+2500 to U+257F) and arrows (U+2190 to U+21FF).
const Letters = "µ×≤≥²·…▶◀▸"

// letters refuses characters that not every terminal and font shows.
func (l *loader) letters(s spot, text string) {
	if !utf8.ValidString(text) {
		l.bad(s, "the text is not UTF-8")
		return
	}
	for _, c := range text {
		switch {
		case c >= ' ' && c <= '~', c == '\n', c >= 0x2500 && c <= 0x257F, c >= 0x2190 && c <= 0x21FF:
		case strings.ContainsRune(Letters, c):
		default:
			l.bad(s, "the character %q (U+%04X) is not in every font: use ASCII, box drawing, arrows or one of %s", c, c, Letters)
			return
		}
	}
}

// texts checks the letters of several keys of an entry, and the columns of the
// code in them.
func (l *loader) texts(s spot, byKey map[string]string) {
	names := keys(byKey)
	slices.Sort(names)
	for _, k := range names {
		l.text(s.at(k), byKey[k])
	}
}

// text checks Markdown: letters, closed fences, columns of fenced code.
func (l *loader) text(s spot, md string) {
	l.letters(s, md)
	if !strings.Contains(md, "```") {
		return
	}
	fenced := false
	for line := range strings.SplitSeq(md, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if n := columns(line); fenced && n > maxCodeColumns {
			l.bad(s, "a code line of %d columns; at most %d fit every screen", n, maxCodeColumns)
		}
	}
	if fenced {
		l.bad(s, "a code fence is not closed: end it with ```")
	}
}

// code checks lines that are shown as they are.
func (l *loader) code(s spot, text string, limit int) {
	l.letters(s, text)
	for line := range strings.SplitSeq(text, "\n") {
		if n := columns(line); n > limit {
			l.bad(s, "a code line of %d columns; at most %d fit", n, limit)
			return
		}
	}
}

func columns(s string) int { return utf8.RuneCountInString(s) }
