package sim

import (
	"sort"
	"testing"
	"time"
)

// TestQueueOrder compares the heap with a stable sort by time, which is the
// order that the queue promises.
func TestQueueOrder(t *testing.T) {
	r := NewRand(7, 0)
	type item struct{ at, no int }
	var q Queue[item]
	var want []item
	for i := range 5000 {
		it := item{int(r.Below(50)), i}
		want = append(want, it)
		q.Push(time.Duration(it.at), it)
	}
	sort.SliceStable(want, func(i, j int) bool { return want[i].at < want[j].at })
	for i, w := range want {
		if at, got := q.Pop(); got != w || int(at) != w.at {
			t.Fatalf("pop %d is %v at %d, want %v", i, got, at, w)
		}
	}
	if q.Len() != 0 {
		t.Errorf("%d events are left", q.Len())
	}
}

// TestRand: the first outputs of pcg32_srandom(42, 54), as printed by the demo
// of the reference implementation, pcg-c-basic (pcg32-demo.c, round 1).
func TestRand(t *testing.T) {
	r := NewRand(42, 54)
	for i, want := range []uint32{0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e} {
		if got := r.Uint32(); got != want {
			t.Errorf("output %d is %#x, want %#x", i, got, want)
		}
	}
}
