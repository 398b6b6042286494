package script_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

func open(t testing.TB, profile string, sc *script.Script) verbs.Bench {
	t.Helper()
	b, err := model.Open(t.Context(), model.Options{Profile: profile, Seed: sc.Seed, Nodes: sc.Nodes, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func parse(t testing.TB, src string) *script.Script {
	t.Helper()
	sc, err := script.Parse("t", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// run runs a script to its end and prints what is worth reading of it.
func run(t testing.TB, profile, src string) string {
	t.Helper()
	sc := parse(t, src)
	s, res, err := script.RunAll(t.Context(), open(t, profile, sc), sc)
	var b strings.Builder
	b.WriteString(s.TranscriptText())
	if res.Failed != nil {
		fmt.Fprintf(&b, "FAILED line %d: %s: %s\n", res.Failed.Line, res.Failed.Text, res.Failed.Got)
	}
	if err != nil {
		fmt.Fprintf(&b, "ERROR %v\n", err)
	}
	return b.String()
}

// TestRun runs testdata/run/*: scripts with the transcripts that the verbs
// specification asks for, under each profile that the case names.
func TestRun(t *testing.T) {
	datadriven.Walk(t, "testdata/run", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			profiles := []string{"spec", "rxe-6.1"}
			if d.HasArg("profile") {
				profiles = profiles[:1]
				d.ScanArgs(t, "profile", &profiles[0])
			}
			out := run(t, profiles[0], d.Input)
			for _, p := range profiles[1:] {
				if other := run(t, p, d.Input); other != out {
					t.Errorf("%s: %s and %s differ:\n%s\n%s", d.Pos, profiles[0], p, out, other)
				}
			}
			return out
		})
	})
}

// TestExamples runs examples/*.rdma under both profiles, to the end and well.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("examples/*.rdma")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range []string{"spec", "rxe-6.1"} {
			out := run(t, profile, string(src))
			if strings.Contains(out, "FAILED") || strings.Contains(out, "ERROR") {
				t.Errorf("%s under %s:\n%s", name, profile, out)
			}
		}
	}
}

// plain hides what a live device does not have.
type plain struct{ verbs.Bench }

// TestMissing: a line that needs what the Bench lacks stops the run with an
// error that names the line and the thing.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ line, what string }{
		{"advance 1ms", "clock"},
		{"mark t0", "clock"},
		{"fault drop a->b any", "fault"},
		{"expect wire[a->b] packets=0", "packets"},
	} {
		sc := parse(t, "script 1\npair rc\n"+c.line)
		_, _, err := script.RunAll(t.Context(), plain{open(t, "spec", sc)}, sc)
		var missing *script.MissingError
		if !errors.As(err, &missing) || missing.Line != 3 || missing.Text != c.line || !strings.Contains(missing.What, c.what) {
			t.Errorf("%s: got %v", c.line, err)
		}
	}
}

// TestCancelled: a cancelled context is an error of the run, not a failed line.
func TestCancelled(t *testing.T) {
	sc := parse(t, "script 1\npair rc")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := script.RunAll(ctx, open(t, "spec", sc), sc); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

const oneSend = `script 1
pair rc
b: post_recv qp1 wr_id=100 sge=mr1[0:64]
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:64] send_flags=SIGNALED
a: post_send qp1 wr_id=2 opcode=RDMA_WRITE sge=mr1[0:8] remote=b.mr1[0:8] send_flags=SIGNALED
`

// TestHolds: claims are checked on the state after the run, take nothing, and
// each list starts from the same place.
func TestHolds(t *testing.T) {
	sc := parse(t, oneSend)
	s := script.NewSession(open(t, "spec", sc))
	if res, err := s.Run(t.Context(), sc); err != nil || res.Failed != nil {
		t.Fatal(err, res.Failed)
	}
	for _, c := range []struct {
		lines string
		want  bool
	}{
		{"a.cq1 wr_id=1 status=SUCCESS", true},
		{"a.cq1 wr_id=2", false},
		{"a.cq1 wr_id=1\na.cq1 wr_id=2 opcode=RDMA_WRITE\na.cq1 none", true},
		{"a.cq1 wr_id=1\na.cq1 none", false},
		{"a.cq1 count=2", true},
		{"a.cq1 wr_id=1\na.cq1 count=1", true},
		{"a.cq1.count=2", true},
		{"a.cq1[1] wr_id=2", true},
		{"a.cq1[2] wr_id=3", false},
		{"b.cq1 status={SUCCESS,WR_FLUSH_ERR} byte_len>=64 byte_len<65 qp=qp1", true},
		{"b.cq1 qp!=qp1", false},
		{"a.qp1 state=RTS dest=b.qp1", true},
		{"a.qp1 state=ERR", false},
		{"a.event none", true},
		{"b.mr1[0:8] equals=a.mr1[0:8]", true},
		{"a.mr1 rkey=a.mr1.rkey", true},
		{"wire[a->b:SEND_ONLY].packets=1", true},
		{"expect[rxe-6.1] a.cq1 none", true}, // of another profile: passed over
		{"a.nothing state=RTS", false},
	} {
		var es []*script.Expect
		for _, line := range strings.Split(c.lines, "\n") {
			e, err := script.ParseExpect("claim", line)
			if err != nil {
				t.Fatal(err)
			}
			es = append(es, e)
		}
		ok, got, err := s.HoldsAll(t.Context(), es)
		if err != nil || ok != c.want {
			t.Errorf("%q: %v, %v; saw %s", c.lines, ok, err, got)
		}
	}
	if n := len(s.Unread("a", "cq1")); n != 2 {
		t.Errorf("%d unread completions after the claims, want 2", n)
	}
	unread, err := s.Finish(t.Context())
	if err != nil || len(unread) != 3 {
		t.Errorf("unread %q, %v; want the two of a and one of b", unread, err)
	}
}

// TestValue: every form of path, with values that follow from oneSend: a
// 64-byte SEND and an 8-byte WRITE fit in a packet each (MTU 1024).
func TestValue(t *testing.T) {
	sc := parse(t, oneSend+"b: store mr1+100 text=\"hello\"\na: reg_mr bad pd=pd1 length=8 access=REMOTE_WRITE label=try1\n")
	s := script.NewSession(open(t, "spec", sc))
	if res, err := s.Run(t.Context(), sc); err != nil || res.Failed != nil {
		t.Fatal(err, res.Failed)
	}
	for path, want := range map[string]string{
		"a.cq1[0].status": "SUCCESS", "a.cq1[1].opcode": "RDMA_WRITE", "b.cq1[0].byte_len": "64",
		"b.cq1[0].qp": "qp1", "a.cq1.count": "2", "a.qp1.state": "RTS", "a.qp1.dest": "b.qp1",
		"a.event.count": "0", "try1.ret": "EINVAL", "wire[a->b].packets": "2",
		"b.mr1[100:105].text": `"hello"`, "b.mr1[100:102].u16": fmt.Sprint('h' + 'e'<<8), "b.mr1.length": "4096",
		"b.mr1[100:102].hex": "6865",
	} {
		p, err := sc.ParsePath("asks", path)
		if err != nil {
			t.Error(err)
			continue
		}
		v, err := s.Value(t.Context(), p)
		if err != nil || v.String() != want {
			t.Errorf("%s: got %s, %v; want %s", path, v, err, want)
		}
	}
	p, err := script.ParsePath("a.cq1[9].status")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Value(t.Context(), p); err == nil || !strings.Contains(err.Error(), "only 2") {
		t.Errorf("a completion that never came: %v", err)
	}
}

// TestObjects: the snapshot counts what is posted against what completed.
func TestObjects(t *testing.T) {
	sc := parse(t, `script 1
pair rc
b: post_recv qp1 wr_id=100 sge=mr1[0:64]
b: post_recv qp1 wr_id=101 sge=mr1[0:64]
a: post_send qp1 wr_id=1 opcode=SEND sge=mr1[0:8]
a: post_send qp1 wr_id=2 opcode=RDMA_WRITE sge=mr1[0:8] remote=b.mr1 send_flags=SIGNALED
a: post_send qp1 wr_id=3 opcode=RDMA_WRITE sge=mr1[0:8] remote=b.mr1
expect a.cq1 wr_id=2
expect b.cq1 wr_id=100
b: dereg_mr mr1
`)
	s := script.NewSession(open(t, "spec", sc))
	if res, err := s.Run(t.Context(), sc); err != nil || res.Failed != nil {
		t.Fatal(err, res.Failed)
	}
	got := map[string]string{}
	for _, o := range s.Objects() {
		for _, f := range o.Fields {
			got[o.Node+"."+o.Name+" "+f.Key] = f.Value
		}
	}
	// wr_id 2 completes 1 and 2 (a signaled completion retires those before
	// it); 3 has no completion. One of two receives is consumed.
	for key, want := range map[string]string{
		"a.qp1 sq": "1/16", "b.qp1 rq": "1/16", "a.qp1 state": "RTS", "a.qp1 peer": "b.qp1",
		"b.mr1 gone": "deregistered", "a.mr1 gone": "", "a.cq1 unread": "0",
	} {
		if got[key] != want {
			t.Errorf("%s: got %q, want %q", key, got[key], want)
		}
	}
}

// TestSecondRun: a script that goes on from another one in the same Session.
func TestSecondRun(t *testing.T) {
	first := parse(t, "script 1\npair rc\nb: post_recv qp1 wr_id=9 sge=mr1[0:8]")
	s := script.NewSession(open(t, "spec", first))
	if _, err := s.Run(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, err := script.ParseAfter(first, "two", []byte("a: post_send qp1 opcode=SEND sge=mr1[0:8]\nexpect b.cq1 wr_id=9 status=SUCCESS"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(t.Context(), next)
	if err != nil || res.Failed != nil {
		t.Fatal(err, res.Failed)
	}
}
