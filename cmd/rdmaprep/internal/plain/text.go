package plain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

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
			l.hang("", strings.Join(para, " "), "")
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
			l.hang("", trimmed, "  ")
		default:
			para = append(para, trimmed)
		}
	}
	flush()
}

var unmark = strings.NewReplacer("**", "", "`", "")

func plainText(s string) string { return unmark.Replace(s) }

// code prints a line of code or of a run as it is, folded where it is too long.
func (l *lines) code(lead, text, indent string) {
	if len([]rune(lead+text)) > width {
		text = fold(text, len([]rune(lead)), indent)
	}
	l.printf("%s%s\n", lead, text)
}

// hang prints a text behind a lead, folded at blanks; lines after the first
// begin with indent.
func (l *lines) hang(lead, text, indent string) {
	l.printf("%s%s\n", lead, fold(plainText(text), len([]rune(lead)), indent))
}

// fold breaks a text at blanks; n columns of its first line are taken, and
// lines after the first begin with indent.
func fold(s string, n int, indent string) string {
	var b strings.Builder
	for i, word := range strings.Fields(s) {
		size := len([]rune(word))
		switch {
		case i > 0 && n+1+size > width:
			b.WriteString("\n" + indent)
			n = len(indent)
		case i > 0:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}

// span is a time for a person, in minutes and seconds.
func span(d time.Duration) string {
	m, s := int(d/time.Minute), int(d%time.Minute/time.Second)
	switch {
	case m == 0:
		return count(s, "second")
	case s == 0:
		return count(m, "minute")
	}
	return count(m, "minute") + " " + count(s, "second")
}

func (l *lines) sources(refs []content.Ref) {
	for _, r := range refs {
		where := r.Source.Where
		if r.Place != "" {
			where += ", " + r.Place
		}
		l.hang(fmt.Sprintf("  source (%s): ", r.Source.Layer), r.Source.Title+" - "+where, "    ")
	}
}

// observation prints what a run showed: the transcript, then the packets.
func (l *lines) observation(o lessons.Observation) {
	switch {
	case o.Live:
		l.printf("Ran LIVE on %s:\n", o.Device)
	case o.ModelWhy != "":
		l.hang("MODEL, not the live device: ", o.ModelWhy+".", "  ")
		fallthrough
	default:
		l.printf("Ran on model, profile %s, seed %d:\n", o.Profile, o.Seed)
	}
	for _, t := range o.Transcript {
		l.code("  ", t.String(), "      ")
	}
	for _, f := range o.Failed {
		l.code("  not met: ", f.Line, "      ")
		l.code("           ", f.Got, "      ")
	}
	if o.Err != "" {
		l.code("  stopped: ", o.Err, "      ")
	}
	lines := ladder.Main(ladder.Lines(o.Events))
	switch {
	case len(lines) > 0 && o.Live && o.Wire == lessons.RealWire:
		l.printf("On the wire, seen at the model's end:\n")
	case len(lines) > 0 && o.Live:
		l.printf("On the wire (MODEL, profile %s, of the same lines: a live device shows no packets):\n", o.Wire)
	case len(lines) > 0:
		l.printf("On the wire:\n")
	}
	for _, x := range lines {
		l.code(fmt.Sprintf("  %10s %-5s ", ladder.Millis(x.Event.At), x.Arrow()), x.String(), "                   ")
	}
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
