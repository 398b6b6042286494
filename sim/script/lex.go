package script

import "strings"

// Limits of a script. Each gives an error that names it.
const (
	maxLineBytes = 4096
	maxLines     = 10000
	maxErrors    = 10
	maxNodes     = 8
	maxListLen   = 1024 // work requests in one line
)

// word is a run of characters without blanks, and where it starts in its line
// (a byte offset).
type word struct {
	text string
	off  int
}

func (w word) end() int { return w.off + len(w.text) }

// words splits a line. Blanks inside "…" and {…} do not split; a ";" is a word
// of its own; "#" starts a comment, which is returned without the "#".
func (p *parser) words(line string) (list []word, comment string, ok bool) {
	start, quote, brace := -1, -1, -1
	flush := func(end int) {
		if start >= 0 {
			list = append(list, word{line[start:end], start})
			start = -1
		}
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote >= 0:
			if c == '\\' {
				i++
			} else if c == '"' {
				quote = -1
			}
			continue
		case c == '"':
			quote = i
		case brace >= 0:
			if c == '}' {
				brace = -1
			}
			continue
		case c == '{':
			brace = i
		case c == ' ' || c == '\t' || c == '\r':
			flush(i)
			continue
		case c == ';':
			flush(i)
			list = append(list, word{";", i})
			continue
		case c == '#':
			flush(i)
			return list, strings.TrimSpace(line[i+1:]), true
		}
		if start < 0 {
			start = i
		}
	}
	if quote >= 0 {
		p.fail(quote, line[quote:], `a closing quotation mark`, nil)
		return nil, "", false
	}
	if brace >= 0 {
		p.fail(brace, line[brace:], `a closing "}"`, nil)
		return nil, "", false
	}
	flush(len(line))
	return list, "", true
}

// splitArg cuts KEY OP VALUE at the first operator. op is "" when the word has
// none. The offsets are those of key and value in the line.
func splitArg(w word) (key, op, val word) {
	i := strings.IndexAny(w.text, "=!<>")
	if i < 0 {
		return w, word{"", w.end()}, word{"", w.end()}
	}
	n := 1
	if i+1 < len(w.text) && w.text[i+1] == '=' && w.text[i] != '=' {
		n = 2
	}
	return word{w.text[:i], w.off}, word{w.text[i : i+n], w.off + i}, word{w.text[i+n:], w.off + i + n}
}

// isName says whether s can name an object, a node, a label or a mark: a
// letter, then letters, digits and "_", at most 32 in all.
func isName(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c != '_' && (c < '0' || c > '9'))) {
			return false
		}
	}
	return true
}
