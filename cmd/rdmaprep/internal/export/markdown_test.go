package export

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"rdmaprep/lessons/typed"
)

// parse reads Markdown with an independent parser, GitHub's extensions on.
func parse(markdown string) (ast.Node, []byte) {
	source := []byte(markdown)
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source)), source
}

// show is the text that a reader of the rendered node sees: one line a block,
// the cells of a row side by side.
func show(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(unescaped(n.Segment.Value(source), n.Parent()))
			} else if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(source))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *ast.RawHTML, *ast.HTMLBlock:
			if entering {
				b.WriteString("[HTML]")
			}
		case *east.TableCell:
			if !entering {
				b.WriteByte(' ')
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *east.TableRow, *east.TableHeader:
			if !entering {
				b.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

var escaped = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")

// unescaped resolves backslashes, which the parser leaves to its renderer; not
// in code, where they stand for themselves.
func unescaped(segment []byte, parent ast.Node) []byte {
	if parent.Kind() == ast.KindCodeSpan {
		return segment
	}
	return escaped.ReplaceAll(segment, []byte("$1"))
}

func textOf(markdown string) string { return show(parse(markdown)) }

// headings lists "LEVEL text" of the headings that stand at the top of a page.
func headings(markdown string) []string {
	var list []string
	doc, source := parse(markdown)
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			list = append(list, string(rune('0'+h.Level))+" "+show(h, source))
		}
	}
	return list
}

func links(markdown string) []string {
	var list []string
	doc, _ := parse(markdown)
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			list = append(list, string(l.Destination))
		}
		return ast.WalkContinue, nil
	})
	return list
}

// outline takes the part of a topic's page under "Missed" apart: by heading,
// then by label; "" is the first paragraph.
func outline(t *testing.T, markdown string) map[string]map[string]string {
	t.Helper()
	doc, source := parse(markdown)
	out := map[string]map[string]string{}
	var at map[string]string
	label := ""
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			at = nil
			if n.Level == 3 {
				at = map[string]string{}
				out[show(n, source)] = at
				label = ""
			}
		case *ast.Paragraph:
			if at != nil && n.FirstChild().Kind() == ast.KindEmphasis {
				label = show(n, source)
			} else if at != nil {
				at[label] = show(n, source)
			}
		case *ast.Blockquote:
			if at == nil {
				t.Errorf("a quotation outside of a question: %s", show(n, source))
				continue
			}
			at[label] = show(n, source)
		case *ast.List:
			for item := n.FirstChild(); at != nil && item != nil; item = item.NextSibling() {
				key, value, _ := strings.Cut(show(item, source), ": ")
				at[key] = value
			}
		}
	}
	return out
}

// anyMarkdown draws text rich in what Markdown gives a meaning.
func anyMarkdown() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\n\n", " ", "    ", "\t", "```", "~~~", "`", "``", "# ", "#", "##", "> ", ">", "- ", "+ ", "* ", "1. ", "12) ", "---", "===", "___",
			"***", "_", "*", "**", "~", "~~", "|", "| a | b |", "|---|---|", "[", "]", "[a](b)", "[x]: http://e.org", "![i](j)", "(", ")", "<b>", "</div>",
			"<div>", "<!--", "-->", "<script>", "&amp;", "&#35;", "\\", "\\\\", ":", "$", "$$", "a", "word", "RNR_RETRY_EXC_ERR", "é", "\r\n", "\r",
			"\x1b[31m", "\x00", "\x7f", "\xff", "\u202e", "<", ">", "=", "[ ]", "[^1]", "http://e.org", "a@b.org",
		}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") })
}

// squeeze forgets how text is spaced and broken into lines.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// A learner's text is shown letter for letter, as paragraphs and nothing else.
func TestLiteralIsLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := anyMarkdown().Draw(t, "raw")
		doc, source := parse(typed.Literal(raw))
		_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n.(type) {
			case *ast.Document, *ast.Paragraph, *ast.Text, *ast.String, *ast.AutoLink:
			case *ast.Link: // GitHub makes links of bare addresses
			default:
				t.Fatalf("%q became a %s:\n%s", raw, n.Kind(), typed.Literal(raw))
			}
			return ast.WalkContinue, nil
		})
		if got, want := squeeze(show(doc, source)), squeeze(typed.Plain(raw)); got != want {
			t.Fatalf("shown as %q, want %q, from %q", got, want, typed.Literal(raw))
		}
	})
}

// The same for one line in a heading and in a table.
func TestWordStaysInItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := anyMarkdown().Draw(t, "raw")
		if squeeze(typed.Plain(raw)) == "" {
			return
		}
		doc, source := parse("## " + typed.Word(raw) + "\n\n| a | b |\n|---|---|\n| " + typed.Word(raw) + " | end |\n\n- " + typed.Word(raw) + "\n")
		want := squeeze(typed.Plain(raw))
		head, table := doc.FirstChild(), doc.FirstChild().NextSibling()
		if got := squeeze(show(head, source)); head.Kind() != ast.KindHeading || got != want {
			t.Fatalf("heading shown as %q, want %q", got, want)
		}
		if got := squeeze(show(table, source)); table.Kind() != east.KindTable || got != squeeze("a b "+want+" end") {
			t.Fatalf("table shown as %q, want %q in it", got, want)
		}
		if item := table.NextSibling(); item == nil || item.Kind() != ast.KindList || squeeze(show(item, source)) != want {
			t.Fatalf("the list item is not %q", want)
		}
	})
}

// Whatever stands in a quotation or in a record's field, the page goes on after
// it as it was meant to.
func TestNothingReachesOutOfItsBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := anyMarkdown().Draw(t, "raw")
		field := strings.ReplaceAll(typed.Calm(raw), "\n", "\n  ")
		doc, source := parse("# A\n\n" + within(typed.Plain(raw)) + "\n\n## B\n\n- **C**: " + field + "\n- **D**: d\n\n## E\n\n" + typed.Calm(raw) + "\n\n## F\n")
		if raw != "" && doc.FirstChild().NextSibling().Kind() != ast.KindBlockquote {
			t.Fatal("the quotation is none")
		}
		var kinds []string
		for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
			switch n.(type) {
			case *ast.Heading:
				kinds = append(kinds, show(n, source))
			case *ast.List:
				kinds = append(kinds, "list of", string(rune('0'+n.ChildCount())))
			case *ast.Blockquote, *ast.Paragraph, *ast.LinkReferenceDefinition:
			default:
				kinds = append(kinds, n.Kind().String())
			}
		}
		if got := strings.Join(kinds, " "); got != "A B list of 2 E F" {
			t.Fatalf("the page is %q with %q", got, raw)
		}
	})
}

// No id leads out of its folder, and no two share a name, on file systems that
// know no case either.
func TestNamesAreSafe(t *testing.T) {
	safe := regexp.MustCompile(`^topics/[a-z0-9]+(-[a-z0-9]+)*\.md$`)
	rapid.Check(t, func(t *rapid.T) {
		n, seen := newNames("topics"), map[string]bool{}
		for _, id := range rapid.SliceOfN(anyID(), 1, 12).Draw(t, "ids") {
			name := n.take(id)
			if !safe.MatchString(name) || len(name) > 100 || seen[strings.ToLower(name)] {
				t.Fatalf("%q became %q", id, name)
			}
			seen[strings.ToLower(name)] = true
		}
	})
	for id, want := range map[string]string{
		"queue-pairs": "topics/queue-pairs.md", "../../etc/passwd": "topics/etc-passwd.md", "CON": "topics/con-note.md", "com7": "topics/com7-note.md",
		"": "topics/note.md", "...": "topics/note.md",
	} {
		if got := newNames("topics").take(id); got != want {
			t.Errorf("%q became %q, want %q", id, got, want)
		}
	}
}

func anyID() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"", "a", "A", "../a", "con", "a-2", "a/b", "a\\b", ".", "..", "a.", "é", strings.Repeat("x", 300)}), rapid.String())
}
