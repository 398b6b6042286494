package ladder_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprep/cmd/rdmaprep/internal/ladder"
	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		event       verbs.TraceEvent
		arrow, text string
		odd         bool
	}{
		{verbs.TraceEvent{Kind: verbs.TraceState, Node: "a", QPNum: 17, From: verbs.RTS, To: verbs.ERR}, "a", "qp 17: RTS -> ERR", true},
		{verbs.TraceEvent{Kind: verbs.TraceState, Node: "a", QPNum: 17, From: verbs.RTS, To: verbs.SQE, Why: "LOC_PROT_ERR"}, "a", "qp 17: RTS -> SQE: LOC_PROT_ERR", true},
		{verbs.TraceEvent{Kind: verbs.TraceState, Node: "b", QPNum: 2, From: verbs.RTS, To: verbs.RTS, Why: "modify_qp"}, "b", "qp 2 stays in RTS: modify_qp", false},
		{verbs.TraceEvent{Kind: verbs.TraceComplete, Node: "a", WC: &verbs.WC{ID: 7, Status: verbs.WCSuccess}}, "a", "completion wr_id=7 SUCCESS", false},
		{verbs.TraceEvent{Kind: verbs.TraceTimer, Node: "a", Why: "the time-out"}, "a", "the time-out", false},
		{verbs.TraceEvent{Kind: verbs.TraceFault, Node: "a", Why: "drop data 1"}, "a", "drop data 1", true},
	} {
		got := ladder.Lines([]verbs.TraceEvent{c.event})[0]
		if got.Arrow() != c.arrow || got.String() != c.text || got.Odd != c.odd {
			t.Errorf("%s | %s | odd %v, want %s | %s | odd %v", got.Arrow(), got, got.Odd, c.arrow, c.text, c.odd)
		}
	}
}

// A send that is lost on its way: its own line says so, and every change of
// state names the queue pair.
func TestLinesOfARun(t *testing.T) {
	sc, err := script.Parse("lost", []byte(`script 1
pair rc timeout=8 retry_cnt=0
fault drop a->b any count=0
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED
expect a.cq1 wr_id=1 status=RETRY_EXC_ERR
`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := model.Open(t.Context(), model.Options{Nodes: sc.Nodes, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, res, err := script.RunAll(t.Context(), b, sc); err != nil || res.Failed != nil {
		t.Fatal(res, err)
	}
	lines := ladder.Lines(b.Trace())
	if !slices.ContainsFunc(lines, func(l ladder.Line) bool {
		return l.Event.Kind == verbs.TracePacket && strings.Contains(l.String(), "  (not taken: "+l.Lost+")") && l.Lost != ""
	}) {
		t.Error("no packet is told as not taken")
	}
	for _, l := range lines {
		if l.Event.Kind == verbs.TraceState && !strings.HasPrefix(l.Text, "qp ") {
			t.Errorf("a state without its queue pair: %s", l)
		}
	}
	if got := ladder.Millis(1500 * time.Microsecond); got != "1.500 ms" {
		t.Errorf("1.5 ms is %s", got)
	}
}
