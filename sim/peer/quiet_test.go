package peer_test

import (
	"context"
	"testing"

	"rdmaprep/sim/model"
	"rdmaprep/sim/peer"
	"rdmaprep/sim/script"
)

// TestQuietOutlivesTimers: nothing moves while a retransmission or RNR timer
// runs (IBTA 9.7.5.2.8, 9.7.6.1.3), and a wait for quiet must not take that for
// the end. What is polled after it is what the model's Bench, which knows its
// timers, gives.
func TestQuietOutlivesTimers(t *testing.T) {
	for _, source := range []string{
		// 268 ms twice at least; the peer does not answer.
		"pair rc timeout=16 retry_cnt=1 b.state=INIT\n" +
			"a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:8] send_flags=SIGNALED\nwait quiet\na: poll_cq cq1 n=2\nignore a.cq1\n",
		// From b, whose node is the remote one.
		"pair rc timeout=16 retry_cnt=1 a.state=INIT\n" +
			"b: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:8] send_flags=SIGNALED\nwait quiet\nb: poll_cq cq1 n=2\nignore b.cq1\n",
		// Code 0 is 655.36 ms.
		"pair rc timeout=8 rnr_retry=1 min_rnr_timer=0\n" +
			"a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:8] send_flags=SIGNALED\nwait quiet\na: poll_cq cq1 n=2\nignore a.cq1\n",
	} {
		for _, p := range model.ProfileNames() {
			s := story{pos: "quiet", source: "script 1\n" + source}
			sc := parse(t, s)
			m := openModel(t, sc, p)
			remote, n := dial(t, m, s.source, 0, 1, weather{}, nil)
			b, err := peer.NewBench(m, "a", remote, paced{m, n.clock}, sc.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := script.RunAll(context.Background(), b, sc)
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := script.RunAll(context.Background(), openModel(t, sc, p), sc)
			if err != nil {
				t.Fatal(err)
			}
			if got.TranscriptText() != want.TranscriptText() {
				t.Errorf("%s\non two hosts\n%s\non one\n%s", p, got.TranscriptText(), want.TranscriptText())
			}
		}
	}
}
