package script_test

import (
	"context"
	"strings"
	"testing"

	"rdmaprep/sim/model"
	"rdmaprep/sim/script"
	"rdmaprep/sim/verbs"
)

// live is a live device as far as a session can tell.
type live struct {
	verbs.Bench
	as string
}

func (live) Profile() string     { return "live" }
func (live) Live() bool          { return true }
func (b live) BehavesAs() string { return b.as }

// Which of the lines beside each other count on which device: a live one
// answers to its profile first, then to [live] (GRAMMAR.md).
func TestWhichProfileLinesCount(t *testing.T) {
	const text = "script 1\npair rc\n" +
		"expect[spec] a.qp1 state=RTS\n" + // 1
		"expect[rxe-6.1] a.qp1 state=RTS\n" + // 2
		"expect[live] a.qp1 state=RTS\n" + // 3
		"expect[live] b.qp1 state=RTS\n" + // 4: beside it, about something else
		"expect[spec,live] a.cq1.count=0\n" + // 5
		"expect a.cq1.count=0\n" // 6
	for _, one := range []struct{ as, want string }{{"", "3456"}, {"rxe-6.1", "2456"}, {"model", "156"}} {
		b, err := model.Open(context.Background(), model.Options{Profile: "spec"})
		if err != nil {
			t.Fatal(err)
		}
		var bench verbs.Bench = live{b, one.as}
		if one.as == "model" {
			bench = b
		}
		sc, err := script.Parse("lines", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		res, err := script.NewSession(bench).Run(context.Background(), sc)
		if err != nil || res.Failed != nil {
			t.Fatalf("%v %+v", err, res.Failed)
		}
		var got strings.Builder
		n := 0
		for _, o := range res.Outcomes {
			if o.Kind != script.KindExpect {
				continue
			}
			if n++; !o.Skipped {
				got.WriteByte(byte('0' + n))
			}
		}
		if got.String() != one.want {
			t.Errorf("as %q the lines %s count, expected %s", one.as, got.String(), one.want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
