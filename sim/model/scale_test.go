package model

import (
	"math"
	"runtime"
	"testing"
	"time"

	"rdmaprep/sim/verbs"
)

// scalings are what may grow without a message costing more: the same messages
// in the same pattern, on a small fleet and on a large one.
var scalings = []struct {
	name         string
	small, large fleetSize
	round        func(*fleet) error
}{
	{"QPs one after the other", fleetSize{1, 1, 4096, 1}, fleetSize{10000, 1, 4096, 1}, (*fleet).inTurn},
	{"QPs one after the other in batches", fleetSize{1, 16, 4096, 1}, fleetSize{10000, 16, 4096, 1}, (*fleet).inTurn},
	{"QPs all at once", fleetSize{1, 1, 4096, 1}, fleetSize{10000, 1, 4096, 1}, (*fleet).atOnce},
	{"QPs all but one idle", fleetSize{1, 64, 4096, 1}, fleetSize{10000, 64, 4096, 1}, (*fleet).onFirst},
	{"memory in one region", fleetSize{1, 64, 1024, 1}, fleetSize{1, 64, 1 << 30, 1}, (*fleet).onFirst},
	{"memory in regions of 64 KiB", fleetSize{1, 64, 1024, 1}, fleetSize{1, 64, 65536, 16384}, (*fleet).onFirst},
}

// work is what the engine has done, by its own counters.
func (f *fleet) work() (events, looks uint64) {
	for _, n := range f.n {
		looks += n.pds.looks + n.mrs.looks + n.mws.looks + n.chans.looks + n.cqs.looks +
			n.srqs.looks + n.ahs.looks + n.qps.looks + n.mem.looks
	}
	return f.b.popped, looks
}

// perMessage is the work of some rounds for each of its messages, as a fraction:
// equal work means equal fractions, not nearly equal ones.
type perMessage struct{ events, looks, messages uint64 }

func (x perMessage) equal(y perMessage) bool {
	return x.events*y.messages == y.events*x.messages && x.looks*y.messages == y.looks*x.messages
}

// TestScaleWork: from 1 to 10,000 queue pairs and from 1 KiB to 1 GiB of
// registered memory, a message takes the same number of events and look-ups.
func TestScaleWork(t *testing.T) {
	var alive []*fleet // a GiB that is used again would be zeroed, a fresh one is not
	for _, s := range scalings {
		var work [2]perMessage
		for i, size := range []fleetSize{s.small, s.large} {
			f := newFleet(t, size)
			alive = append(alive, f)
			check(t, f.lap(s.round)) // queues and pools have their size afterwards
			e, l := f.work()
			m := f.msgs
			check(t, f.lap(s.round))
			events, looks := f.work()
			work[i] = perMessage{events - e, looks - l, f.msgs - m}
			for k, n := range f.n {
				if c := must(n.PollCQ(f.cq[k], f.wc)); c != 0 {
					t.Errorf("%s: %d completions too many", s.name, c)
				}
			}
		}
		small, large := work[0], work[1]
		if small.messages == 0 || small.events < small.messages || small.looks < 4*small.messages {
			t.Errorf("%s: %+v counts less than the packet and the keys of each message", s.name, small)
		}
		if !small.equal(large) {
			t.Errorf("%s: %+v on the small fleet, %+v on the large one", s.name, small, large)
		}
		t.Logf("%s: %.3f events and %.3f look-ups a message", s.name,
			float64(large.events)/float64(large.messages), float64(large.looks)/float64(large.messages))
	}
	runtime.KeepAlive(alive)
}

// TestIdleQPMemory: a queue pair in RTS takes less than 4 KiB, whether it is
// fresh or has carried a message and waits for the next.
func TestIdleQPMemory(t *testing.T) {
	const qps, limit = 10000, 4096
	before := liveBytes()
	f := newFleet(t, fleetSize{qps: qps, batch: 1, region: 4096, regions: 1})
	fresh := float64(liveBytes()-before) / (2 * qps)
	check(t, f.lap((*fleet).inTurn))
	used := float64(liveBytes()-before) / (2 * qps)
	for _, q := range f.n[0].qps.rows {
		if q.state != verbs.RTS {
			t.Fatalf("a queue pair is in %s", q.state)
		}
	}
	t.Logf("%.0f bytes for a fresh queue pair, %.0f for one that has carried a message", fresh, used)
	if fresh >= limit || used >= limit {
		t.Errorf("%.0f and %.0f bytes for an idle queue pair, want less than %d", fresh, used, limit)
	}
	runtime.KeepAlive(f)
}

// liveBytes is what the heap holds after a collection.
func liveBytes() uint64 {
	runtime.GC()
	runtime.GC() // what the first one only found to be garbage
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// turns are how often each side of a comparison is measured; the best counts,
// since another process can only make one slower. They are short, so that some
// are not disturbed.
const (
	turns    = 120
	turnTime = 10 * time.Millisecond
)

// measure runs rounds for a while and returns ns per message.
func measure(f *fleet, round func(*fleet) error) (float64, error) {
	from, start := f.msgs, time.Now()
	for time.Since(start) < turnTime {
		if err := round(f); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start).Nanoseconds()) / float64(f.msgs-from), nil
}

// BenchmarkScale prints, for each pattern, ns per message of the small and of
// the large fleet, measured in turns, and their ratio.
func BenchmarkScale(b *testing.B) {
	for _, s := range scalings {
		b.Run(s.name, func(b *testing.B) {
			fleets := [2]*fleet{newFleet(b, s.small), newFleet(b, s.large)}
			fleets[0].touch(b)
			fleets[1].touch(b)
			for _, f := range fleets {
				check(b, f.lap(s.round))
			}
			best := [2]float64{math.MaxFloat64, math.MaxFloat64}
			for b.Loop() {
				for range turns {
					for k, f := range fleets {
						per, err := measure(f, s.round)
						check(b, err)
						best[k] = min(best[k], per)
					}
				}
			}
			b.ReportMetric(best[0], "small-ns/msg")
			b.ReportMetric(best[1], "large-ns/msg")
			b.ReportMetric(best[1]/best[0], "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// touch writes to every page, so that no message pays for a page fault.
func (f *fleet) touch(tb failer) {
	for i, n := range f.n {
		for _, m := range f.mrs[i] {
			for off := uint64(0); off < m.Length; off += pageSize {
				check(tb, n.Store(m.Addr+off, []byte{1}))
			}
		}
	}
}
