package model

import (
	"testing"

	"rdmaprep/sim/verbs"
)

// TestQPNumbers: numbers are given out in turn; after the last the first that is
// free comes again, never one in use (rxe_pool.c xa_alloc_cyclic from
// RXE_MIN_QP_INDEX to RXE_MAX_QP_INDEX, 1 << 20; under spec up to the last of 24
// bits but that of multicast).
func TestQPNumbers(t *testing.T) {
	for profile, last := range map[string]uint32{"spec": 0xfffffe, "rxe-6.1": 1 << 20} {
		o := defaults()
		o.profile = profile
		b, a, z := pair(t, o)
		n := a.dev.(*node)
		create := func() verbs.QPInfo {
			return must(a.dev.CreateQP(a.pd, verbs.QPInitAttr{
				Type: verbs.RC, SendCQ: a.cq, RecvCQ: a.cq, Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
			}))
		}
		first := a.qp.Num
		second := create()
		if first != 17 || second.Num != 19 { // every other one: there are two nodes
			t.Errorf("%s: the first numbers are %d and %d, want 17 and 19", profile, first, second.Num)
		}
		check(t, a.dev.DestroyQP(second.QP))
		if third := create(); third.Num != 21 {
			t.Errorf("%s: after 19 is free again comes %d, want 21", profile, third.Num)
		}
		n.numbers.next = n.slots() - 1
		end := create()
		if end.Num > last || end.Num+2 <= last {
			t.Errorf("%s: the last number is %d, want it within 1 of %d", profile, end.Num, last)
		}
		if again := create(); again.Num != 19 {
			t.Errorf("%s: after the last comes %d, want 19: 17 is in use", profile, again.Num)
		}
		if next := create(); next.Num != 23 {
			t.Errorf("%s: then comes %d, want 23: 21 is in use", profile, next.Num)
		}
		if n.qpOfNum(end.Num) == nil || n.qpOfNum(end.Num).num != end.Num || n.qpOfNum(18) != nil || z.dev.(*node).qpOfNum(17) != nil {
			t.Errorf("%s: numbers lead to other queue pairs", profile)
		}
		check(t, b.Close())
	}
}
