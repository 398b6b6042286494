package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	width  = 78
	margin = "      " // before everything that belongs to the line above
)

// words says a severity so that no colour is needed.
var words = map[Severity]string{OK: "ok", Note: "note", Warning: "WARN", Failure: "FAIL"}

// WriteText prints a report for a person: plain text, 78 columns, except
// commands, which are never folded.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "This machine: %s\n\n", r.Kernel)
	for _, f := range r.Findings {
		found := f.Found
		if !strings.HasPrefix(found, f.About+" ") {
			found = f.About + ": " + found
		}
		fmt.Fprintf(&b, "%-4s  %s\n", words[f.Severity], fold(found, margin))
		fmt.Fprintf(&b, "%s%s\n", margin, fold(f.Means, margin))
		commands(&b, f.Mend)
	}
	for _, d := range r.Devices {
		d.writeText(&b)
	}
	r.Lab.writeText(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// fold breaks a text at blanks only, so that paths and commands stay whole;
// every line after the first begins with indent.
func fold(text, indent string) string {
	var b strings.Builder
	column := len(indent)
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

func commands(b *strings.Builder, list []string) {
	for _, c := range list {
		fmt.Fprintf(b, "%s$ %s\n", margin, c)
	}
}

func (d Device) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s", d.Name)
	for _, part := range []string{d.Driver, d.Netdev, d.Node} {
		if part != "" {
			fmt.Fprintf(b, "  %s", part)
		}
	}
	b.WriteString("\n")
	for _, p := range d.Ports {
		fmt.Fprintf(b, "  port %d  %s, %s, %s", p.Num, p.State, p.PhysState, p.LinkLayer)
		if p.PathMTU > 0 {
			fmt.Fprintf(b, ", path MTU %d", p.PathMTU)
		}
		b.WriteString("\n")
		widest := 0
		for _, g := range p.GIDs {
			widest = max(widest, len(g.GID))
		}
		for i, g := range p.GIDs {
			if i >= maxShownGIDs && !g.Chosen {
				continue
			}
			mark, why := ' ', ""
			if g.Chosen {
				mark, why = '*', "  labs take this one"
			}
			fmt.Fprintf(b, "  %c GID %-3d %-*s  %s  %s%s\n", mark, g.Index, widest, g.GID, g.Type, g.Netdev, why)
		}
		switch n := len(p.GIDs); {
		case n == 0:
			b.WriteString("    no GID\n")
		case n > maxShownGIDs:
			fmt.Fprintf(b, "    %d GIDs in all; --json lists them\n", n)
		}
	}
}

func (l Lab) writeText(b *strings.Builder) {
	b.WriteString("\n")
	if l.Live {
		fmt.Fprintf(b, "Labs run live here: on %s, port %d, GID index %d (%s).\n", l.Device, l.Port, l.GIDIndex, l.GID)
	} else {
		text := "Labs run on the model here, because " + strings.Join(l.Because, "; and ") + "."
		fmt.Fprintf(b, "%s\n", fold(text, ""))
	}
	fmt.Fprintf(b, "Begin with: %s\n", l.Command)
	if len(l.Mend) == 0 {
		return
	}
	if l.Mendable {
		b.WriteString("For live ones give these commands in this order, then rdmaprep doctor again:\n")
	} else {
		b.WriteString("These commands mend what can be mended here:\n")
	}
	commands(b, l.Mend)
}
