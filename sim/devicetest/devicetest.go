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
		memoryCases(), queryCases(), pdCases(), mrCases(), mwCases(), ahCases(), channelCases(), cqCases(), srqCases(),
		qpCases(), capacityCases(), stateCases(), maskCases(), rangeCases(), attrCases(),
		postStateCases(), postCases(), queueCases(),
		reliableCases(), unreliableCases(), datagramCases(), atomicCases(), windowCases(), sizeCases(),
		statusCases(), flushCases(), notifyCases(), asyncCases(), counterCases(), closeCases(),
	} {
		all = append(all, group...)
	}
	return all
}

// Run runs every case on a fresh Bench of two nodes, a and b, which open makes,
// and returns how many ran. A case ends with the Bench closed without an error.
func Run(t *testing.T, open func(t *testing.T) verbs.Bench) int {
	t.Helper()
	ran, skipped := 0, 0
	profile := ""
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			b := open(t)
			profile = b.Profile()
			ct := &T{T: t, bench: b, profile: profile, source: c.Source}
			defer func() {
				if err := b.Close(); err != nil {
					t.Errorf("close of the Bench: %v", err)
				}
				if t.Skipped() {
					skipped++
				} else {
					ran++
				}
			}()
			c.Run(ct)
		})
	}
	t.Logf("profile %s: %d cases ran, %d do not apply to it", profile, ran, skipped)
	return ran
}
