package plain

import (
	"strconv"
	"strings"

	"rdmaprep/cmd/rdmaprep/internal/ladder"
	"rdmaprep/content"
	"rdmaprep/lessons"
)

// width is the column at which prose is folded.
const width = 78

// prose prints Markdown as text: paragraphs folded, code and lists as they are.
func (l *lines) prose(md string) {
	var para []string
	flush := func() {
		if len(para) > 0 {
			l.printf("%s\n", fold(strings.Join(para, " "), width, ""))
			para = nil
		}
	}
	code := false
	for line := range strings.SplitSeq(strings.TrimSpace(md), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			flush()
			code = !code
		case code || strings.HasPrefix(line, "    "):
			flush()
			l.printf("    %s\n", strings.TrimPrefix(line, "    "))
		case trimmed == "":
			flush()
			l.printf("\n")
		case strings.HasPrefix(trimmed, "|"), strings.HasPrefix(trimmed, "#"), strings.HasPrefix(trimmed, "* "), strings.HasPrefix(trimmed, "- "):
			flush()
			l.printf("%s\n", fold(plainText(trimmed), width, "  "))
		default:
			para = append(para, plainText(trimmed))
		}
	}
	flush()
}

var unmark = strings.NewReplacer("**", "", "`", "")

func plainText(s string) string { return unmark.Replace(s) }

// fold breaks a text at blanks; lines after the first begin with indent.
func fold(s string, columns int, indent string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(s) {
		if i > 0 && n+1+len([]rune(word)) > columns {
			b.WriteString("\n" + indent)
			n = len(indent)
		} else if i > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len([]rune(word))
	}
	return b.String()
}

func (l *lines) sources(refs []content.Ref) {
	for _, r := range refs {
		where := r.Source.Where
		if r.Place != "" {
			where += ", " + r.Place
		}
		l.printf("  source (%s): %s - %s\n", r.Source.Layer, r.Source.Title, where)
	}
}

// observation prints what a run showed: the transcript, then the packets.
func (l *lines) observation(o lessons.Observation) {
	device := o.Device
	if !o.Live {
		device = "model"
	}
	l.printf("Ran on %s, profile %s, seed %d:\n", device, o.Profile, o.Seed)
	for _, t := range o.Transcript {
		l.printf("  %s\n", t)
	}
	for _, f := range o.Failed {
		l.printf("  not met: %s\n           %s\n", f.Line, f.Got)
	}
	if o.Err != "" {
		l.printf("  stopped: %s\n", o.Err)
	}
	lines := ladder.Main(ladder.Lines(o.Events))
	if len(lines) > 0 {
		l.printf("On the wire:\n")
	}
	for _, x := range lines {
		l.printf("  %10s %-5s %s\n", ladder.Millis(x.Event.At), x.Arrow(), x)
	}
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
