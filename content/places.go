package content

import (
	"strconv"
	"strings"
)

// A TOML decoder tells where a file does not parse, and nothing about where a
// value stood. places finds that again: it walks the lines of a file, steps
// over strings and arrays, and gives each header and key its path with
// indices, such as "question[3].choices[1].holds".

// A place is a header or a key and its line, counted from 1.
type place struct {
	path string
	line int
}

// walker is the state of a walk over the lines of a TOML file.
type walker struct {
	quote  string // the delimiter of the multi-line string that is open, or ""
	depth  int    // of brackets and braces, within a value
	deep   int    // the deepest that depth ever was
	dots   int    // the most dots outside strings on one line
	counts map[string]int
	header string
}

// walk calls visit with the path of every header ("[[a]]" and "[a]") and key
// whose line want takes. What want leaves out does not count in the indices of
// what comes after it.
func (w *walker) walk(data string, want func(line string) bool, visit func(place)) {
	w.counts = map[string]int{}
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := strings.Cut(data, "\n")
		data = rest
		if w.quote == "" && w.depth == 0 {
			trimmed := strings.TrimSpace(line)
			switch {
			case trimmed == "" || trimmed[0] == '#':
				continue
			case trimmed[0] == '[':
				if want(trimmed) {
					w.enter(trimmed)
					visit(place{w.header, n})
				}
				w.dots = max(w.dots, strings.Count(trimmed, "."))
				continue
			}
			if want(trimmed) {
				if key := keyOf(trimmed); key != "" {
					visit(place{joinPath(w.header, key), n})
				}
			}
		}
		w.pass(line)
	}
}

// enter follows a header: "[[a.b]]" makes the next b of the last a.
func (w *walker) enter(line string) {
	array := strings.HasPrefix(line, "[[")
	name := strings.TrimLeft(line, "[")
	if i := strings.IndexByte(name, ']'); i >= 0 {
		name = name[:i]
	}
	parts := strings.Split(name, ".")
	path := ""
	for i, p := range parts {
		path = joinPath(path, strings.Trim(strings.TrimSpace(p), `"'`))
		if array && i == len(parts)-1 {
			w.counts[path]++
		}
		if n := w.counts[path]; n > 0 {
			path += "[" + strconv.Itoa(n-1) + "]"
		}
	}
	w.header = path
}

// pass steps over one line, keeping count of open strings and brackets.
func (w *walker) pass(line string) {
	dots := 0
	for i := 0; i < len(line); i++ {
		if w.quote != "" {
			i = w.inside(line, i)
			continue
		}
		switch c := line[i]; c {
		case '#':
			i = len(line)
		case '.':
			dots++
		case '[', '{':
			w.depth++
			w.deep = max(w.deep, w.depth)
		case ']', '}':
			w.depth = max(w.depth-1, 0)
		case '"', '\'':
			if three := strings.Repeat(string(c), 3); strings.HasPrefix(line[i:], three) {
				w.quote = three
				i += 2
			} else {
				i = skipString(line, i)
			}
		}
	}
	w.dots = max(w.dots, dots)
}

// inside steps on within a multi-line string and returns where it stopped.
func (w *walker) inside(line string, i int) int {
	for ; i < len(line); i++ {
		if line[i] == '\\' && w.quote[0] == '"' {
			i++
			continue
		}
		if strings.HasPrefix(line[i:], w.quote) {
			i += 2
			// A string may end with up to two quotes of its own.
			for k := 0; k < 2 && i+1 < len(line) && line[i+1] == w.quote[0]; k++ {
				i++
			}
			w.quote = ""
			return i
		}
	}
	return i
}

// skipString returns the index of the closing quote of the string at i.
func skipString(line string, i int) int {
	q := line[i]
	for i++; i < len(line) && line[i] != q; i++ {
		if line[i] == '\\' && q == '"' {
			i++
		}
	}
	return i
}

func keyOf(line string) string {
	i := strings.IndexByte(line, '=')
	if i < 0 {
		return ""
	}
	parts := strings.Split(line[:i], ".")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
	}
	return strings.Join(parts, ".")
}

func joinPath(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

// withoutIndices turns "question[3].choices[1].holds" to
// "question.choices.holds", as the decoder names a key.
func withoutIndices(path string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(path, "[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, path, _ = strings.Cut(after, "]")
	}
}
