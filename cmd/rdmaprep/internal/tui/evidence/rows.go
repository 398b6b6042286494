package evidence

import (
	"fmt"
	"strings"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/ladder"
	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/sim/verbs"
)

// Row is one line of the ladder with what it came from.
type Row struct {
	widget.Rung
	ladder.Line
}

// Rows turns trace events into the lines of a ladder.
func Rows(events []verbs.TraceEvent) []Row {
	var out []Row
	for _, l := range ladder.Happened(ladder.Lines(events)) {
		out = append(out, Row{rung(l), l})
	}
	return out
}

// Short leaves out the steps of a queue pair's life that the script itself
// asked for: packets, completions and what nobody asked for stay.
func Short(rows []Row) []Row {
	var out []Row
	for _, r := range rows {
		if !r.Line.Asked() {
			out = append(out, r)
		}
	}
	return out
}

// Rungs are the drawable parts of rows.
func Rungs(rows []Row) []widget.Rung {
	out := make([]widget.Rung, len(rows))
	for i, r := range rows {
		out[i] = r.Rung
	}
	return out
}

func rung(l ladder.Line) widget.Rung {
	e := l.Event
	r := widget.Rung{From: e.Node, When: ladder.Millis(e.At), Text: l.Text, Odd: l.Odd, Lost: l.Lost != ""}
	switch e.Kind {
	case verbs.TracePacket:
		r.To, r.Brief, r.Rightward = e.Peer, brief(l.Text), e.Node < e.Peer
	case verbs.TraceState:
		r.Text = strings.Replace(l.Text, "->", "→", 1)
	}
	return r
}

// brief leaves the address out of a packet's line: the key says more in less
// room.
func brief(text string) string {
	var keep []string
	for _, word := range strings.Fields(text) {
		if !strings.HasPrefix(word, "va=") {
			keep = append(keep, word)
		}
	}
	return strings.Join(keep, " ")
}

// Strip is the device line for a run.
func Strip(device, profile string, live bool, seed uint64, at time.Duration) string {
	if live {
		return "LIVE " + device
	}
	s := "MODEL " + profile
	if seed != 0 {
		s += fmt.Sprintf(" · seed %d", seed)
	}
	return s + " · t=" + ladder.Millis(at)
}
