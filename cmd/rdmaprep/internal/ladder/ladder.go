// Package ladder puts the model's trace into words, one line an event, for the
// screen, line mode and the command line alike.
//
// It promises a text for every kind of event, and the packet's own fields for
// a packet. It draws nothing and keeps nothing.
package ladder

import (
	"fmt"
	"slices"
	"time"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// Line is one event in words.
type Line struct {
	Event verbs.TraceEvent
	Text  string
	Odd   bool   // an error, a loss, a NAK: worth a second look
	Lost  string // a packet that was not taken: why
}

// Lines is every event in words.
func Lines(events []verbs.TraceEvent) []Line {
	lost := map[int]string{}
	for _, e := range events {
		if e.Kind == verbs.TraceDrop {
			lost[e.Cause] = e.Why
		}
	}
	out := make([]Line, 0, len(events))
	for _, e := range events {
		l := Line{Event: e}
		if e.Kind == verbs.TracePacket {
			l.Lost = lost[e.Seq]
		}
		l.Text, l.Odd = words(e)
		out = append(out, l)
	}
	return out
}

// Happened keeps every packet once, and where they happened completions, changes
// of state, events, faults and time-outs.
func Happened(lines []Line) []Line {
	var out []Line
	for _, l := range lines {
		switch l.Event.Kind {
		case verbs.TracePost, verbs.TraceDeliver, verbs.TraceDrop:
			continue
		case verbs.TraceState:
			if l.Event.From == l.Event.To {
				continue
			}
		case verbs.TraceTimer, verbs.TracePacket, verbs.TraceComplete, verbs.TraceAsync, verbs.TraceFault, verbs.TraceReordered:
		}
		if l.Text != "" {
			out = append(out, l)
		}
	}
	return out
}

// Main is Happened without the changes of state that the script itself asked
// for.
func Main(lines []Line) []Line {
	return slices.DeleteFunc(Happened(lines), func(l Line) bool { return l.Asked() })
}

// Asked says that the line is a change of state that the script asked for.
func (l Line) Asked() bool { return l.Event.Kind == verbs.TraceState && l.Event.Why == "modify_qp" }

// String is the text, and of a packet that was not taken, why.
func (l Line) String() string {
	if l.Lost == "" {
		return l.Text
	}
	return l.Text + "  (not taken: " + l.Lost + ")"
}

// Arrow is the way of a packet, "a->b", or the node where an event happened.
func (l Line) Arrow() string {
	if l.Event.Kind == verbs.TracePacket && l.Event.Peer != "" {
		return l.Event.Node + "->" + l.Event.Peer
	}
	return l.Event.Node
}

// Millis prints device time as milliseconds.
func Millis(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}

func words(e verbs.TraceEvent) (text string, odd bool) {
	switch e.Kind {
	case verbs.TracePacket:
		return packet(e), e.Packet.HasAETH && e.Packet.Syndrome&0x60 != 0
	case verbs.TraceDeliver:
		return because("arrived: "+packet(e), e.Why), false
	case verbs.TraceDrop:
		return because("dropped: "+packet(e), e.Why), true
	case verbs.TracePost:
		return fmt.Sprintf("%s wr_id=%d", e.Why, e.WRID), false
	case verbs.TraceState:
		if e.From == e.To {
			return because(fmt.Sprintf("qp %d stays in %s", e.QPNum, e.To), e.Why), false
		}
		return because(fmt.Sprintf("qp %d: %s -> %s", e.QPNum, e.From, e.To), e.Why), e.To == verbs.ERR || e.To == verbs.SQE
	case verbs.TraceComplete:
		if e.WC == nil {
			return e.Why, false
		}
		return because(fmt.Sprintf("completion wr_id=%d %s", e.WC.ID, e.WC.Status), e.Why), e.WC.Status != verbs.WCSuccess
	case verbs.TraceAsync:
		if e.Async != nil {
			return because("event "+e.Async.Type.String(), e.Why), true
		}
		return e.Why, true
	case verbs.TraceFault, verbs.TraceReordered:
		return e.Why, true
	case verbs.TraceTimer:
		return e.Why, false
	}
	return e.Why, false
}

func because(text, why string) string {
	if why == "" {
		return text
	}
	return text + ": " + why
}

// packet is the packet's summary, from its bytes where the trace holds them.
func packet(e verbs.TraceEvent) string {
	var p wire.Packet
	if len(e.Frame) > 0 && wire.Decode(e.Frame, &p) == nil {
		return wire.Summary(&p)
	}
	return fmt.Sprintf("%s psn=%d", e.Packet.Opcode, e.Packet.PSN)
}
