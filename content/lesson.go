package content

import "strings"

// lessonBody cuts the Markdown of a lesson at its checks. A check is a fence
// of the language "check" that names one question.
func (l *loader) lessonBody(s spot, x *Lesson, d *decoded) {
	var text strings.Builder
	flush := func() {
		if md := strings.Trim(text.String(), "\n"); md != "" {
			x.Blocks = append(x.Blocks, Block{Markdown: md})
		}
		text.Reset()
	}
	at := func(line int) spot { // a spot on a line of the body
		return spot{&sourceFile{name: s.file.name, offset: line - 1}, "", "body"}
	}
	lines := strings.Split(d.body, "\n")
	fence := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if trimmed := strings.TrimSpace(line); fence != "" && strings.HasPrefix(trimmed, "```") && trimmed != "```" {
			l.bad(at(d.bodyLine+i), "the code fence above is not closed: end it with ``` before this one")
			fence = ""
		}
		if fence == "" && strings.TrimSpace(line) == "```check" {
			if i+2 >= len(lines) || strings.TrimSpace(lines[i+2]) != "```" {
				l.bad(at(d.bodyLine+i), "a check fence holds one line, the id of a question, and is closed by ```")
				for i+1 < len(lines) && strings.TrimSpace(lines[i]) != "```" {
					i++
				}
				continue
			}
			flush()
			l.checks = append(l.checks, pending{at(d.bodyLine + i + 1), x, len(x.Blocks), strings.TrimSpace(lines[i+1])})
			x.Blocks = append(x.Blocks, Block{})
			i += 2
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			if fence == "" {
				fence = line
			} else {
				fence = ""
			}
		}
		text.WriteString(line)
		text.WriteByte('\n')
		l.bodyText(at(d.bodyLine+i), line, fence != "")
	}
	flush()
	if fence != "" {
		l.bad(at(d.bodyLine+len(lines)-1), "a code fence is not closed: end it with ```")
	}
}

// pending is a check fence waiting for its question.
type pending struct {
	spot   spot
	lesson *Lesson
	block  int
	id     string
}

func (l *loader) bodyText(s spot, line string, code bool) {
	l.letters(s, line)
	if n := columns(line); code && n > maxCodeColumns {
		l.bad(s, "a code line of %d columns; at most %d fit every screen", n, maxCodeColumns)
	}
}
