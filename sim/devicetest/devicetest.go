// Package devicetest is the conformance suite that every verbs.Device and
// verbs.Bench passes: the software model under each of its profiles, and a live
// device of Linux 6.1's Soft-RoCE.
//
// It promises that a call that is in a case returns what the case says, errno
// included, and that where the profiles differ the difference is a row of the
// one table in profile.go, with its source. It does not look at packets, times,
// keys or queue pair numbers, nor at races: those are the model's own tests and
// the comparison of transcripts. No case does what is known to harm a kernel: no
// LOCAL_INV of a free window of type 2, no destroy_qp under a bound one, no UD
// post without an address handle.
package devicetest

import (
	"strings"
	"testing"

	"rdmaprep/sim/verbs"
)

// Case is one named claim about a device.
type Case struct {
	Name   string // group/what
	Source string // where the claim comes from: man page, kernel file, "measured"
	Run    func(*T)
}

// Cases are all cases of the suite, in order. Names are unique.
func Cases() []Case {
	var all []Case
	for _, group := range [][]Case{
		memoryCases(), queryCases(), pdCases(), mrCases(), regionCases(), reregCases(), reregEffectCases(), mwCases(), bindCases(), ahCases(),
		channelCases(), cqCases(), cqContentCases(), srqCases(), srqModifyCases(), srqUseCases(), qpCases(), capacityCases(),
		stateCases(), maskCases(), rangeCases(), attrCases(), attrRuleCases(),
		postStateCases(), postCases(), postRuleCases(), postFlagCases(), queueCases(),
		reliableCases(), unreliableCases(), datagramCases(), datagramEdgeCases(), atomicCases(), sizeCases(),
		windowCases(), windowTwoCases(), statusCases(), flushCases(), flushOrderCases(), discardCases(),
		notifyCases(), notifyEventCases(), notifyEdgeCases(), overflowCases(), asyncCases(), asyncResponderCases(), counterCases(), closeCases(),
	} {
		all = append(all, group...)
	}
	return all
}

// Run runs every case and returns how many ran. open makes a Bench of two nodes,
// a and b. On the model each case has a fresh one; a live Bench, which is dear to
// open, is shared by up to perBench cases, each of which makes its own objects.
// A Bench closes without an error.
func Run(t *testing.T, open func(t *testing.T) verbs.Bench) int {
	t.Helper()
	r := runner{open: open}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { r.run(t, c) })
	}
	r.close(t)
	t.Logf("profile %s: %d cases ran, %d do not apply to it", r.profile, r.ran, r.skipped)
	return r.ran
}

// perBench bounds what earlier cases may leave behind on a shared Bench.
const perBench = 60

type runner struct {
	open         func(t *testing.T) verbs.Bench
	bench        verbs.Bench
	used         int // cases on bench
	profile      string
	ran, skipped int
}

func (r *runner) run(t *testing.T, c Case) {
	alone := strings.HasPrefix(c.Name, "close/") || strings.HasPrefix(c.Name, "counter/")
	if alone || r.used >= perBench {
		r.close(t)
	}
	if r.bench == nil {
		r.bench = r.open(t)
		r.profile = r.bench.Profile()
	}
	r.used++
	ct := &T{T: t, bench: r.bench, profile: r.profile, source: c.Source}
	applies := true
	defer func() {
		if applies {
			r.ran++
		} else {
			r.skipped++
		}
		if alone || t.Failed() || !r.bench.Live() {
			r.close(t)
		} else {
			ct.leave()
		}
	}()
	applies = ct.try(c)
}

// notHere ends a case that a profile has no use for; it is counted, and is no
// skipped test.
type notHere string

// try runs a case and says whether it applies.
func (t *T) try(c Case) (applies bool) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case notHere:
			t.Logf("does not apply: %s", string(why))
		default:
			panic(why)
		}
	}()
	c.Run(t)
	return true
}

func (r *runner) close(t *testing.T) {
	t.Helper()
	if r.bench == nil {
		return
	}
	if err := r.bench.Close(); err != nil {
		t.Errorf("close of the Bench: %v", err)
	}
	r.bench, r.used = nil, 0
}
