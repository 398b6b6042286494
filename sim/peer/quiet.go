package peer

import (
	"maps"
	"time"

	"rdmaprep/sim/verbs"
)

// timers is a node's device, and what is known of the timers of its queue
// pairs: after which stillness nothing more comes of its own accord.
type timers struct {
	verbs.Device
	qps map[verbs.QP]*pending
}

// pending is a queue pair's timers and whether a send may be unfinished.
type pending struct {
	num      uint32
	ack, rnr time.Duration
	waiting  bool
	last     uint64 // wr_id of the newest send
}

func newTimers(d verbs.Device) *timers { return &timers{Device: d, qps: map[verbs.QP]*pending{}} }

// rnrTimers are the RNR NAK timer codes in units of 10 us (IBTA 9.7.5.2.8).
var rnrTimers = [32]time.Duration{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

func (t *timers) CreateQP(pd verbs.PD, init verbs.QPInitAttr) (verbs.QPInfo, error) {
	q, err := t.Device.CreateQP(pd, init)
	if err == nil && init.Type == verbs.RC {
		t.qps[q.QP] = &pending{num: q.Num}
	}
	return q, err
}

func (t *timers) DestroyQP(qp verbs.QP) error {
	err := t.Device.DestroyQP(qp)
	if err == nil {
		delete(t.qps, qp)
	}
	return err
}

func (t *timers) ModifyQP(qp verbs.QP, a verbs.QPAttr, mask verbs.QPAttrMask) error {
	err := t.Device.ModifyQP(qp, a, mask)
	p := t.qps[qp]
	if err != nil || p == nil {
		return err
	}
	if mask&verbs.MaskTimeout != 0 {
		p.ack = 0 // a code of 0 never runs out
		if a.Timeout != 0 {
			p.ack = 4096 * time.Nanosecond << (a.Timeout & 31)
		}
	}
	if mask&verbs.MaskMinRNRTimer != 0 {
		p.rnr = 10 * time.Microsecond * rnrTimers[a.MinRNRTimer&31]
	}
	if mask&verbs.MaskState != 0 && (a.State == verbs.RESET || a.State == verbs.ERR) {
		p.waiting = false
	}
	return nil
}

func (t *timers) PostSend(qp verbs.QP, wrs []verbs.SendWR) (int, error) {
	n, err := t.Device.PostSend(qp, wrs)
	if p := t.qps[qp]; p != nil && n > 0 && n <= len(wrs) {
		p.waiting, p.last = true, wrs[n-1].ID
	}
	return n, err
}

func (t *timers) PollCQ(cq verbs.CQ, wc []verbs.WC) (int, error) {
	n, err := t.Device.PollCQ(cq, wc)
	for _, c := range wc[:max(0, min(n, len(wc)))] {
		recv := c.Status == verbs.WCSuccess && c.Opcode >= verbs.WCRecv
		for _, p := range t.qps {
			if p.num == c.QPNum && p.last == c.ID && !recv {
				p.waiting = false
			}
		}
	}
	return n, err
}

// longest are the longest timers of a node that may be running, and whether a
// send may be unfinished.
func (t *timers) longest() (ack, rnr time.Duration, waiting bool) {
	for _, p := range t.qps {
		rnr = max(rnr, p.rnr)
		if p.waiting {
			ack, waiting = max(ack, p.ack), true
		}
	}
	return ack, rnr, waiting
}

// stillness is what a wait knows of the devices' activity.
type stillness struct {
	since, looked time.Duration
	counters      []map[string]uint64
}

// How long the counters of all nodes stand still before nothing is taken to be
// left. Soft-RoCE's retransmission takes up to twice the time of its code, as
// that of other NICs may (IBTA 9.7.6.1.3 permits four times).
const (
	lookEvery  = 25 * time.Millisecond
	quietLeast = 50 * time.Millisecond
	idleLeast  = 500 * time.Millisecond // of a wait for something: a busy host may be late
)

// still reads the counters and says whether they have stood still for long
// enough. patient is a wait for something.
func (b *Bench) still(s *stillness, now time.Duration, patient bool) (bool, error) {
	if s.counters != nil && now-s.looked < lookEvery {
		return false, nil
	}
	s.looked = now
	all := make([]map[string]uint64, len(b.names))
	same := s.counters != nil
	var ack, rnr time.Duration
	waiting := false
	for i, n := range b.names {
		d := b.nodes[n]
		c, err := d.Counters()
		if err != nil {
			return false, err
		}
		all[i] = c
		same = same && maps.Equal(c, s.counters[i])
		a, r, w := d.longest()
		ack, rnr, waiting = max(ack, a), max(rnr, r), waiting || w
	}
	if !same {
		s.counters, s.since = all, now
		return false, nil
	}
	least := quietLeast
	if waiting {
		least += 2 * max(ack, rnr)
	}
	if patient {
		least = max(2*least, idleLeast)
	}
	return now-s.since >= least, nil
}
