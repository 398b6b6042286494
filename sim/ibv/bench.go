//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"rdmaprep/sim/verbs"
)

// Bench is nodes on one real device. It implements verbs.Bench and
// script.GIDChooser.
type Bench struct {
	clock   Clock
	device  string
	uverbs  string
	remake  string // how the device is made again, for a message
	watch   bool   // the device's disappearance can be seen
	names   []string
	nodes   []*device
	windows *windows
	sys     sysfs
}

// Profile is "live".
func (b *Bench) Profile() string { return "live" }

// Live is true.
func (b *Bench) Live() bool { return true }

// Nodes are the names in order.
func (b *Bench) Nodes() []string { return slices.Clone(b.names) }

// Node returns a node's device, nil if there is no such node.
func (b *Bench) Node(name string) verbs.Device {
	if i := slices.Index(b.names, name); i >= 0 && i < len(b.nodes) {
		return b.nodes[i]
	}
	return nil
}

// GIDIndex is the index of the GID that a node uses.
func (b *Bench) GIDIndex(name string) int {
	if i := slices.Index(b.names, name); i >= 0 && i < len(b.nodes) {
		return b.nodes[i].gid
	}
	return 0
}

// How Wait looks.
const (
	spins      = 64 // looks without a pause between them
	pauseLeast = 200 * time.Microsecond
	pauseMost  = 2 * time.Millisecond
	// quietLeast is how long the counters stand still before nothing is taken
	// to be left; a timer that may run makes it longer.
	quietLeast = 30 * time.Millisecond
	// idleLeast is the same for a wait for something: generous, because a
	// busy machine may be late.
	idleLeast = 500 * time.Millisecond
)

// Wait looks again and again until ready says true, limit of wall time has
// passed, or the device has been still for longer than any timer of a queue
// pair with unfinished sends. It fails with Gone when the device is removed:
// the caller then closes the Bench, which lets the removal finish.
func (b *Bench) Wait(ctx context.Context, limit time.Duration, ready func() (bool, error)) (bool, error) {
	start := b.clock.Now()
	still := stillness{since: start}
	pause := time.Duration(0)
	for i := 0; ; i++ {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if ready != nil {
			if ok, err := ready(); ok || err != nil {
				return ok, err
			}
		}
		if i < spins && ready != nil {
			continue
		}
		now := b.clock.Now()
		if now.Sub(start) >= limit {
			return false, nil
		}
		quiet, err := b.quiet(&still, now, ready != nil)
		if err != nil {
			return false, err
		}
		if quiet {
			return ready == nil, nil
		}
		pause = min(max(2*pause, pauseLeast), pauseMost)
		b.clock.Pause(ctx, pause)
	}
}

// stillness is what a wait knows of the device's activity.
type stillness struct {
	since, looked time.Time
	counters      map[string]uint64
}

// quiet reads the counters, no more often than the kernel does, and says
// whether they have stood still for long enough.
func (b *Bench) quiet(s *stillness, now time.Time, patient bool) (bool, error) {
	every := max(b.sys.lifespan(b.device)+pauseLeast, 5*time.Millisecond)
	if s.counters != nil && now.Sub(s.looked) < every {
		return false, nil
	}
	s.looked = now
	counters, err := b.sys.counters(b.device)
	if gone := b.Present(); gone != nil { // after the reading: it may have gone while being read
		return false, gone
	}
	if err != nil {
		return false, err
	}
	if s.counters == nil || !maps.Equal(counters, s.counters) {
		s.counters, s.since = counters, now
		return false, nil
	}
	least := b.quietTime()
	if patient {
		least = max(4*least, idleLeast)
	}
	return now.Sub(s.since) >= least, nil
}

// Present fails with Gone if the device was removed, or its removal waits for
// this Bench to be closed. No event tells of it on rxe.
func (b *Bench) Present() error {
	if !b.watch || !b.sys.gone(b.uverbs) {
		return nil
	}
	return &OpenError{
		Trouble: Gone, Device: b.device, Why: "the device was removed, or its removal waited for this program to close it",
		Fix: b.remake,
	}
}

// Endless names the queue pairs that retry for ever on rxe and still have sends
// without a completion: a wait for one can only end at a limit. "" is none.
// rxe takes retry_cnt 7 for endless, as rnr_retry 7 is by the specification
// (rxe_comp.c, Linux 6.1: the count goes down unless it is 7).
func (b *Bench) Endless() string {
	var out []string
	for i, d := range b.nodes {
		for _, q := range d.qps.rows {
			if q == nil || q.typ != verbs.RC || q.count == 0 || q.state() != verbs.RTS {
				continue
			}
			switch {
			case q.retryCnt == endless:
				out = append(out, fmt.Sprintf("%s: QP number %d waits with retry_cnt=7 (unfinished sends: %d), and rxe never gives up at 7: "+
					"the wait was ended here; retry_cnt=6 ends in RETRY_EXC_ERR", b.names[i], q.num, q.count))
			case q.rnrRetry == endless:
				out = append(out, fmt.Sprintf("%s: QP number %d waits with rnr_retry=7 (unfinished sends: %d), which is for ever until the "+
					"peer posts a receive: the wait was ended here; rnr_retry=6 ends in RNR_RETRY_EXC_ERR", b.names[i], q.num, q.count))
			}
		}
	}
	return strings.Join(out, "\n")
}

// endless is the retry count that is none.
const endless = 7

// rnrTimers are the RNR NAK timer codes in units of 10 us (IBTA 9.7.5.2.8).
var rnrTimers = [32]int{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

// quietTime is how long stillness must last: longer than any timer that may
// be running. rxe's retransmission takes up to twice the time of the code, as
// other NICs' may (IBTA 9.7.6.1.3 permits four times).
func (b *Bench) quietTime() time.Duration {
	var ack, rnr time.Duration
	waiting := false
	for _, d := range b.nodes {
		for _, q := range d.qps.rows {
			if q == nil || q.typ != verbs.RC {
				continue
			}
			rnr = max(rnr, time.Duration(rnrTimers[q.minRNR&31])*10*time.Microsecond)
			if s := q.state(); q.count > 0 && (s == verbs.RTS || s == verbs.SQD) {
				waiting = true
				if q.timeout != 0 {
					ack = max(ack, 4096*time.Nanosecond<<min(q.timeout, 31))
				}
			}
		}
	}
	if !waiting {
		return quietLeast
	}
	return quietLeast + max(2*ack, 2*rnr)
}

// Close destroys everything that is left, what depends on something before it,
// and gives back the memory. It reports the first failures but goes on. A second
// Close does nothing.
func (b *Bench) Close() error {
	var errs []error
	for _, d := range b.nodes {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// Close closes one node's context; the Bench's Close does it too.
func (d *device) Close() error {
	if d.closed {
		return nil
	}
	d.closed = true
	errs := d.closeQueues()
	each := func(n int, do func(h uint32) error) {
		for h := uint32(1); int(h) <= n; h++ {
			errs = append(errs, do(h))
		}
	}
	each(len(d.ahs.rows), func(h uint32) error { return living(d.ahs.get(h), func() error { return d.DestroyAH(verbs.AH(h)) }) })
	each(len(d.mrs.rows), func(h uint32) error { return living(d.mrs.get(h), func() error { return d.DeregMR(verbs.MR(h)) }) })
	each(len(d.pds.rows), func(h uint32) error { return living(d.pds.get(h), func() error { return d.DeallocPD(verbs.PD(h)) }) })
	each(len(d.chans.rows), func(h uint32) error {
		return living(d.chans.get(h), func() error { return d.DestroyChannel(verbs.Channel(h)) })
	})
	if errno := d.lib.status(d.lib.fn[symCloseDevice], d.ctx); errno != 0 {
		errs = append(errs, refuse("close_device", errno, ""))
	}
	for _, m := range d.heap.blocks {
		errs = append(errs, m.unmap())
	}
	d.heap = heap{}
	d.pds, d.mrs, d.mws, d.ahs = table[pdObject]{}, table[mrObject]{}, table[window]{}, table[ahObject]{}
	d.chans, d.cqs, d.srqs, d.qps = table[chanObject]{}, table[cqObject]{}, table[srqObject]{}, table[qpObject]{}
	errs = append(errs, d.ws.free())
	return errors.Join(errs...)
}

// closeQueues destroys windows before the queue pairs that they are bound to,
// and acknowledges what was taken, since destroying waits for that.
func (d *device) closeQueues() []error {
	var errs []error
	for h, w := range d.mws.rows {
		if w != nil {
			errs = append(errs, d.DeallocMW(verbs.MW(h+1)))
		}
	}
	for h, q := range d.qps.rows {
		if q != nil {
			for ; q.async > 0; q.async-- {
				d.ackAsync(verbs.EventQPFatal, q.ptr)
			}
			errs = append(errs, d.destroyQP(verbs.QP(h+1), q))
		}
	}
	for h, s := range d.srqs.rows {
		if s != nil {
			for ; s.async > 0; s.async-- {
				d.ackAsync(verbs.EventSRQErr, s.ptr)
			}
			errs = append(errs, d.DestroySRQ(verbs.SRQ(h+1)))
		}
	}
	for h, c := range d.cqs.rows {
		if c != nil {
			for ; c.async > 0; c.async-- {
				d.ackAsync(verbs.EventCQErr, c.ptr)
			}
			errs = append(errs, d.AckCQEvents(verbs.CQ(h+1), c.unacked), d.DestroyCQ(verbs.CQ(h+1)))
		}
	}
	return errs
}

// open refuses a call on a context that was closed.
func (d *device) open(op string) error {
	if d.closed {
		return refuse(op, syscall.ENODEV, "the device was closed")
	}
	return nil
}

func living[T any](o *T, do func() error) error {
	if o == nil {
		return nil
	}
	return do()
}
