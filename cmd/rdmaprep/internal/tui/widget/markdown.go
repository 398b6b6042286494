package widget

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	xansi "github.com/charmbracelet/x/ansi"

	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// cacheLimit bounds how many rendered texts a Markdown keeps.
const cacheLimit = 256

// Markdown renders Markdown of the simple kind. It makes its renderer when the
// first text needs one and remembers what it rendered.
type Markdown struct {
	t     *theme.Theme
	gen   int
	width int
	r     *glamour.TermRenderer
	cache map[cacheKey][]string
}

type cacheKey struct {
	text string
	w    int
}

// NewMarkdown returns a renderer in the styles of t.
func NewMarkdown(t *theme.Theme) *Markdown { return &Markdown{t: t, cache: map[cacheKey][]string{}} }

// Lines renders text for w columns. A single paragraph is laid out here; what
// has lists, code blocks or headings goes through glamour.
func (m *Markdown) Lines(text string, w int) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if m.gen != m.t.Gen || len(m.cache) > cacheLimit {
		m.cache, m.r, m.gen = map[cacheKey][]string{}, nil, m.t.Gen
	}
	key := cacheKey{text, w}
	if lines, ok := m.cache[key]; ok {
		return lines
	}
	lines := m.render(text, max(w, 8))
	for i := range lines {
		if Width(lines[i]) > w {
			lines[i] = Fit(lines[i], w)
		}
	}
	m.cache[key] = lines
	return lines
}

func (m *Markdown) render(text string, w int) []string {
	if !strings.ContainsAny(text, "#>|<[") && !strings.Contains(text, "\n") && !strings.Contains(text, "```") {
		return Wrap(m.Inline(text), w)
	}
	if m.r == nil || m.width != w {
		r, err := glamour.NewTermRenderer(glamour.WithStyles(style(m.t)), glamour.WithWordWrap(w))
		if err != nil {
			return Wrap(text, w)
		}
		m.r, m.width = r, w
	}
	s, err := m.r.Render(text)
	if err != nil {
		return Wrap(text, w)
	}
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i := range lines {
		lines[i] = trimRight(lines[i])
	}
	return lines
}

// trimRight takes the filling away that the renderer puts at the end of lines.
func trimRight(line string) string {
	if Plain(line) == "" || strings.TrimSpace(Plain(line)) == "" {
		return ""
	}
	return strings.TrimRight(line, " ")
}

// Inline renders the `code` and **bold** of one paragraph.
func (m *Markdown) Inline(text string) string {
	if !strings.ContainsAny(text, "`*") {
		return text
	}
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "`*")
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		text = text[i:]
		mark, st := "`", m.t.Code
		if strings.HasPrefix(text, "**") {
			mark, st = "**", m.t.Title
		} else if text[0] == '*' {
			b.WriteByte('*')
			text = text[1:]
			continue
		}
		end := strings.Index(text[len(mark):], mark)
		if end < 1 {
			b.WriteString(mark)
			text = text[len(mark):]
			continue
		}
		b.WriteString(st.Render(text[len(mark) : len(mark)+end]))
		text = text[len(mark)+end+len(mark):]
	}
	return b.String() + text
}

func style(t *theme.Theme) ansi.StyleConfig {
	bold := true
	block := func(s ansi.StylePrimitive) ansi.StyleBlock { return ansi.StyleBlock{StylePrimitive: s} }
	head := func(st lipgloss.Style, prefix string) ansi.StyleBlock {
		return block(ansi.StylePrimitive{Bold: &bold, Color: colour(st.GetForeground()), Prefix: prefix, BlockSuffix: "\n"})
	}
	indent := uint(2)
	bar := "│ "
	return ansi.StyleConfig{
		BlockQuote: ansi.StyleBlock{Indent: &indent, IndentToken: &bar},
		List:       ansi.StyleList{LevelIndent: 2},
		Heading:    head(t.Title, ""),
		H1:         head(t.Accent, ""),
		H2:         head(t.Title, ""),
		H3:         head(t.Title, ""),
		Strong:     ansi.StylePrimitive{Bold: &bold},
		Item:       ansi.StylePrimitive{BlockPrefix: "· "},
		Enumeration: ansi.StylePrimitive{
			BlockPrefix: ". ",
		},
		Link: ansi.StylePrimitive{Color: colour(t.Muted.GetForeground())},
		Code: block(ansi.StylePrimitive{Color: colour(t.Code.GetForeground())}),
		CodeBlock: ansi.StyleCodeBlock{StyleBlock: ansi.StyleBlock{
			StylePrimitive: ansi.StylePrimitive{Color: colour(t.Code.GetForeground())},
			Margin:         &indent,
		}},
		HorizontalRule: ansi.StylePrimitive{Format: "\n──────\n"},
	}
}

// colour spells a colour as glamour wants it: an ANSI number or a hex value.
func colour(c color.Color) *string {
	var s string
	switch c := c.(type) {
	case nil, lipgloss.NoColor:
		return nil
	case xansi.IndexedColor:
		s = strconv.Itoa(int(c))
	case xansi.BasicColor:
		s = strconv.Itoa(int(c))
	default:
		r, g, b, _ := c.RGBA()
		s = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return &s
}
