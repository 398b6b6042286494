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

// TestQueueMixed pushes and takes in turns, as a clock does: the queue must give
// what a plain search of a slice finds, the earliest time and of one time the
// oldest push. The events are what a model makes: at this moment, one latency
// later, far away, and, so that no run fits, anywhere before those.
func TestQueueMixed(t *testing.T) {
	r := NewRand(11, 0)
	type item struct {
		at time.Duration
		no int
	}
	var q Queue[item]
	var naive []item
	now := time.Duration(0)
	for i := range 20000 {
		if len(naive) > 0 && (len(naive) > 500 || r.Below(2) == 0) {
			first := 0
			for k := range naive {
				if naive[k].at < naive[first].at {
					first = k
				}
			}
			want := naive[first]
			naive = append(naive[:first], naive[first+1:]...)
			if at, ev, ok := q.Peek(); r.Below(2) == 0 && (!ok || at != want.at || *ev != want) {
				t.Fatalf("step %d: the first is %v at %v, want %v", i, *ev, at, want)
			}
			if at, got := q.Pop(); at != want.at || got != want {
				t.Fatalf("step %d: took %v at %v, want %v", i, got, at, want)
			}
			now = want.at
		} else {
			after := []time.Duration{0, 1000, 67000, time.Duration(r.Below(100000))}[r.Below(4)]
			it := item{now + after, i}
			naive = append(naive, it)
			if r.Below(2) == 0 {
				q.Peek() // it remembers what it found
			}
			q.Push(it.at, it)
		}
		if q.Len() != len(naive) {
			t.Fatalf("step %d: %d events wait, want %d", i, q.Len(), len(naive))
		}
	}
	if len(q.heap) == 0 {
		t.Error("the heap was never needed: the test shows half of the queue only")
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
