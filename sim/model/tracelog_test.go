package model

import (
	"bytes"
	"testing"

	"rdmaprep/sim/verbs"
	"rdmaprep/sim/wire"
)

// TestTraceLog asks for the trace at odd moments; it must be what a plain slice
// holds, and what an event points to must stay as it was.
func TestTraceLog(t *testing.T) {
	const events = 5 * maxChunk
	var l traceLog
	var naive []verbs.TraceEvent
	frames := map[int][]byte{}
	for i := range events {
		w := wire.New(wire.Opcode(opSendOnly))
		w.BTH.PSN, w.Payload = uint32(i), make([]byte, i%500)
		e := verbs.TraceEvent{Seq: i, Frame: l.frame(&w), WC: l.wc(verbs.WC{ID: uint64(i)})}
		frames[i] = wire.AppendFrame(nil, &w)
		*l.add() = e
		naive = append(naive, e)
		if i%777 == 0 || i+1 == events {
			all := l.all()
			if len(all) != len(naive) || l.count != len(naive) {
				t.Fatalf("%d events of %d, counted %d", len(all), len(naive), l.count)
			}
		}
	}
	for i, e := range l.all() {
		if e.Seq != i || e.WC.ID != uint64(i) || !bytes.Equal(e.Frame, frames[i]) {
			t.Fatalf("event %d is %+v", i, e)
		}
	}
}
