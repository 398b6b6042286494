package widget

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"rdmaprep/cmd/rdmaprep/internal/tui/theme"
)

// cacheLimit bounds how many rendered texts a Markdown keeps.
const cacheLimit = 256

// Markdown lays out Markdown of the simple kind: paragraphs, headings, lists,
// code, quotes and tables. goldmark reads it; the layout is ours, since the
// ready-made terminal renderers load syntax highlighting and CSS at start, which
// costs more than everything else that a newcomer waits for.
type Markdown struct {
	t     *theme.Theme
	gen   int
	md    goldmark.Markdown
	cache map[cacheKey][]string
}

type cacheKey struct {
	text string
	w    int
}

// NewMarkdown returns a renderer in the styles of t.
func NewMarkdown(t *theme.Theme) *Markdown { return &Markdown{t: t, cache: map[cacheKey][]string{}} }

// Lines renders text for w columns and remembers what it rendered.
func (m *Markdown) Lines(src string, w int) []string {
	src = strings.TrimSpace(src)
	if src == "" {
		return nil
	}
	if m.gen != m.t.Gen || len(m.cache) > cacheLimit {
		m.cache, m.gen = map[cacheKey][]string{}, m.t.Gen
	}
	key := cacheKey{src, w}
	if lines, ok := m.cache[key]; ok {
		return lines
	}
	if m.md == nil {
		m.md = goldmark.New(goldmark.WithExtensions(extension.Table))
	}
	l := layout{t: m.t, src: []byte(src)}
	lines := l.blocks(m.md.Parser().Parse(text.NewReader(l.src)), max(w, 8))
	for i := range lines {
		if Width(lines[i]) > w {
			lines[i] = Fit(lines[i], w)
		}
	}
	m.cache[key] = lines
	return lines
}

// Inline renders the `code` and **bold** of one paragraph.
func (m *Markdown) Inline(src string) string {
	if !strings.ContainsAny(src, "`*") {
		return src
	}
	if m.md == nil {
		m.md = goldmark.New(goldmark.WithExtensions(extension.Table))
	}
	l := layout{t: m.t, src: []byte(src)}
	doc := m.md.Parser().Parse(text.NewReader(l.src))
	if p, ok := doc.FirstChild().(*ast.Paragraph); ok && p.NextSibling() == nil {
		return l.inline(p)
	}
	return src
}

// layout is one text on its way to lines.
type layout struct {
	t   *theme.Theme
	src []byte
}

// blocks lays out the children of a block, one blank line between them.
func (l *layout) blocks(parent ast.Node, w int) []string {
	var out []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := l.block(n, w)
		if len(out) > 0 && len(lines) > 0 && !tight(n) {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// tight says that a block follows the one before it without a blank line: an
// item of a list, and text that stands directly in one.
func tight(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindListItem, ast.KindTextBlock:
		return true
	case ast.KindList:
		return n.Parent().Kind() == ast.KindListItem
	}
	return false
}

func (l *layout) block(n ast.Node, w int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		style := l.t.Title
		if n.Level == 1 {
			style = l.t.Accent
		}
		lines := Wrap(Plain(l.inline(n)), w)
		for i := range lines {
			lines[i] = style.Render(lines[i])
		}
		return lines
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return l.code(n)
	case *ast.Blockquote:
		lines := l.blocks(n, w-2)
		for i := range lines {
			lines[i] = "│ " + lines[i]
		}
		return lines
	case *ast.List:
		return l.list(n, w)
	case *ast.ThematicBreak:
		return []string{l.t.Muted.Render(strings.Repeat("─", min(w, 6)))}
	case *extast.Table:
		return l.table(n, w)
	}
	return Wrap(l.inline(n), w)
}

func (l *layout) code(n ast.Node) []string {
	var out []string
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		line := strings.TrimRight(strings.ReplaceAll(string(seg.Value(l.src)), "\t", "    "), "\n ")
		if line != "" {
			line = "  " + l.t.Code.Render(line)
		}
		out = append(out, line)
	}
	return out
}

func (l *layout) list(n *ast.List, w int) []string {
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		lead := "· "
		if n.IsOrdered() {
			lead = strconv.Itoa(number) + ". "
			number++
		}
		lines := l.blocks(item, w-len([]rune(lead)))
		pad := strings.Repeat(" ", len([]rune(lead)))
		for i := range lines {
			switch {
			case i == 0:
				lines[i] = lead + lines[i]
			case lines[i] != "":
				lines[i] = pad + lines[i]
			}
		}
		out = append(out, lines...)
	}
	return out
}

// inline renders the children of a block as one styled text.
func (l *layout) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(l.src))
			switch {
			case n.HardLineBreak():
				b.WriteByte('\n')
			case n.SoftLineBreak():
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			b.WriteString(l.t.Code.Render(Plain(l.inline(n))))
		case *ast.Emphasis:
			b.WriteString(l.t.Title.Render(Plain(l.inline(n))))
		case *ast.AutoLink:
			b.Write(n.URL(l.src))
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				b.Write(seg.Value(l.src))
			}
		default:
			b.WriteString(l.inline(n))
		}
	}
	return b.String()
}
