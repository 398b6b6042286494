// Package typed makes text that somebody typed, or that a pack brings, safe to
// show: on a terminal, in a page of Markdown, in one line of such a page.
//
// It promises that what it returns moves no cursor and changes no colour, and,
// where it says so, that nothing in it reaches beyond its own place in a page.
// It judges no text and shortens none.
package typed

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// special are the characters that Markdown (CommonMark 0.31, section 2.4, and
// GitHub's tables, strikethrough and formulas) gives a meaning anywhere in a
// line. An underscore inside a word has none and is left readable.
const special = "\\`*[]<>&|~$"

// Literal makes Markdown that shows the text as it is, each line on its own.
// Nothing in it starts a heading, a list, a fence, a table, a link or HTML.
func Literal(text string) string {
	var lines []string
	for line := range strings.Lines(Plain(text)) {
		lines = append(lines, literalLine(strings.TrimSpace(line)))
	}
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line)
		switch {
		case i == len(lines)-1:
		case line == "" || lines[i+1] == "":
			b.WriteByte('\n') // a paragraph ends
		case strings.HasSuffix(line, "\\"):
			b.WriteString(" \\\n") // some parsers count the backslashes wrong
		default:
			b.WriteString("\\\n") // a line ends
		}
	}
	return strings.TrimSpace(b.String())
}

// Word is literal text on one line, for a heading, a table or a list.
func Word(text string) string { return literalLine(strings.Join(strings.Fields(Plain(text)), " ")) }

func literalLine(line string) string {
	var b strings.Builder
	runes := []rune(line)
	for i, r := range runes {
		switch {
		case strings.ContainsRune(special, r), r == '_' && !insideWord(runes, i), strings.ContainsRune("#+-=", r) && startsBlock(runes, i):
			b.WriteByte('\\')
		case (r == '.' || r == ')') && afterDigits(runes, i):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// startsBlock says whether a mark stands where it could open a block or close a
// heading: at either end, or beside another mark or a space.
func startsBlock(runes []rune, i int) bool {
	return i == 0 || i == len(runes)-1 || !isWord(runes[i-1]) || !isWord(runes[i+1])
}

func insideWord(runes []rune, i int) bool {
	return i > 0 && i < len(runes)-1 && isWord(runes[i-1]) && isWord(runes[i+1])
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// afterDigits says whether the line so far is a number, as of a list.
func afterDigits(runes []rune, i int) bool {
	return i > 0 && strings.Trim(string(runes[:i]), "0123456789") == ""
}

// Plain takes out what a page must not hold: control characters but line ends
// (escape sequences begin with one), marks that reorder text, broken UTF-8.
func Plain(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, text)
}

// Calm keeps a learner's inline Markdown, which ends with its paragraph, and
// takes the meaning from what would reach further: blocks and HTML.
func Calm(text string) string {
	var lines []string
	for line := range strings.Lines(Plain(text)) {
		lines = append(lines, calmLine(strings.TrimSpace(line)))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func calmLine(line string) string {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	switch {
	case line == "":
		return ""
	case strings.ContainsRune("#>-+*=~[|:", rune(line[0])), strings.HasPrefix(line, "```"), strings.HasPrefix(line, "___"), strings.HasPrefix(line, "_ _"):
		line = "\\" + line
	case digits > 0 && digits < len(line) && strings.ContainsRune(".)", rune(line[digits])):
		line = line[:digits] + "\\" + line[digits:]
	}
	var b strings.Builder
	inCode := false
	for _, r := range line {
		if r == '`' {
			inCode = !inCode
		}
		if r == '<' && !inCode {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
