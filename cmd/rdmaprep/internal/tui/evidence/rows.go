package evidence

import (
	"fmt"
	"strings"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/tui/widget"
	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// Row is one line of the ladder with what it came from.
type Row struct {
	widget.Rung
	Event verbs.TraceEvent
}

// Rows turns trace events into the lines of a ladder: every packet, and at the
// node where they happened completions, changes of state, asynchronous events,
// time-outs and faults. A packet whose loss is in the trace is marked lost.
func Rows(events []verbs.TraceEvent) []Row {
	lost := map[int]bool{}
	for _, e := range events {
		if e.Kind == verbs.TraceDrop {
			lost[e.Cause] = true
		}
	}
	var out []Row
	for _, e := range events {
		if r, ok := rung(e, lost[e.Seq]); ok {
			out = append(out, Row{r, e})
		}
	}
	return out
}

// Short leaves out the steps of a queue pair's life that the script itself
// asked for: packets, completions and what nobody asked for stay.
func Short(rows []Row) []Row {
	var out []Row
	for _, r := range rows {
		if r.Event.Kind != verbs.TraceState || r.Odd {
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

func rung(e verbs.TraceEvent, lost bool) (widget.Rung, bool) {
	r := widget.Rung{From: e.Node, When: Millis(e.At)}
	switch e.Kind {
	case verbs.TracePacket:
		r.To, r.Text, r.Lost = e.Peer, packetText(e), lost
		r.Brief = brief(r.Text)
		r.Rightward = e.Node < e.Peer
		r.Odd = e.Packet.HasAETH && e.Packet.Syndrome&0x60 != 0
	case verbs.TraceComplete:
		if e.WC == nil {
			return r, false
		}
		r.Text = fmt.Sprintf("completion wr_id=%d %s", e.WC.ID, e.WC.Status)
		r.Odd = e.WC.Status != verbs.WCSuccess
	case verbs.TraceState:
		if e.To == e.From {
			return r, false
		}
		r.Text = fmt.Sprintf("%s → %s", e.From, e.To)
		if e.Why != "" {
			r.Text += ": " + e.Why
		}
		r.Odd = e.To == verbs.ERR || e.To == verbs.SQE
	case verbs.TraceAsync, verbs.TraceFault, verbs.TraceReordered:
		r.Text, r.Odd = e.Why, true
		if r.Text == "" && e.Async != nil {
			r.Text = fmt.Sprintf("event %s", e.Async.Type)
		}
	case verbs.TraceTimer:
		if !strings.Contains(e.Why, "out") {
			return r, false
		}
		r.Text, r.Odd = e.Why, true
	default:
		return r, false
	}
	return r, r.Text != ""
}

func packetText(e verbs.TraceEvent) string {
	var p wire.Packet
	if len(e.Frame) > 0 && wire.Decode(e.Frame, &p) == nil {
		return wire.Summary(&p)
	}
	return fmt.Sprintf("%s psn=%d", e.Packet.Opcode, e.Packet.PSN)
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

// Millis prints device time as milliseconds.
func Millis(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}

// Strip is the device line for a run.
func Strip(profile string, live bool, seed uint64, at time.Duration) string {
	if live {
		return "LIVE " + profile
	}
	s := "MODEL " + profile
	if seed != 0 {
		s += fmt.Sprintf(" · seed %d", seed)
	}
	return s + " · t=" + Millis(at)
}
