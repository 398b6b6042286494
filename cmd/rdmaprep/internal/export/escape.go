package export

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// special are the characters that Markdown (CommonMark 0.31, section 2.4, and
// GitHub's tables, strikethrough and formulas) gives a meaning anywhere in a
// line. An underscore inside a word has none and is left readable.
const special = "\\`*[]<>&|~$"

// literal makes Markdown that shows the text as it is, each line on its own.
// Nothing in it starts a heading, a list, a fence, a table, a link or HTML.
func literal(text string) string {
	var lines []string
	for line := range strings.Lines(plain(text)) {
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

// word is literal text on one line, for a heading, a table or a list.
func word(text string) string { return literalLine(strings.Join(strings.Fields(plain(text)), " ")) }

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

// plain takes out what a page must not hold: control characters but line ends
// (escape sequences begin with one), marks that reorder text, broken UTF-8.
func plain(text string) string {
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

// calm keeps a learner's inline Markdown, which ends with its paragraph, and
// takes the meaning from what would reach further: blocks and HTML.
func calm(text string) string {
	var lines []string
	for line := range strings.Lines(plain(text)) {
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

// within puts Markdown into a quotation, which ends whatever the text leaves
// open: a fence, a list, HTML.
func within(markdown string) string {
	lines := strings.Split(strings.TrimSpace(markdown), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return strings.Join(lines, "\n")
}

// names gives every page its own safe name in a folder.
type names struct {
	folder string
	taken  map[string]bool
}

func newNames(folder string) *names { return &names{folder, map[string]bool{}} }

// maxName is the length of a file name without its ending, in bytes.
const maxName = 80

// take makes a name of lower-case letters, digits and single hyphens, which no
// file system gives a meaning, and numbers it if it is taken.
func (n *names) take(id string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(id) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := b.String()
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" || reserved[name] || len(name) == 4 && reserved[name[:3]+"1"] && name[3] >= '0' && name[3] <= '9' {
		name += "-note"
		name = strings.TrimPrefix(name, "-")
	}
	free := name
	for i := 2; n.taken[free]; i++ {
		free = name + "-" + strconv.Itoa(i)
	}
	n.taken[free] = true
	return n.folder + "/" + free + ".md"
}

// reserved are names that Windows keeps for devices, with any ending.
var reserved = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "com1": true, "lpt1": true}
