package verbs_test

import (
	"errors"
	"syscall"
	"testing"

	"rdmaprep/sim/verbs"
)

// naive is qp_state_table of drivers/infiniband/core/verbs.c (Linux 6.1) told
// again as rules, to compare the table with.
func naive(t verbs.QPType, from, to verbs.QPState) (required, optional verbs.QPAttrMask, ok bool) {
	const (
		pkey, port, access, qkey = verbs.MaskPKeyIndex, verbs.MaskPort, verbs.MaskAccessFlags, verbs.MaskQKey
		alt, cur, mig, rnr       = verbs.MaskAltPath, verbs.MaskCurState, verbs.MaskPathMigState, verbs.MaskMinRNRTimer
	)
	ud, rc := t == verbs.UD, t == verbs.RC
	pick := func(forUD, forConnected, onlyRC verbs.QPAttrMask) verbs.QPAttrMask {
		if ud {
			return forUD
		}
		if rc {
			return forConnected | onlyRC
		}
		return forConnected
	}
	if to == verbs.RESET || (to == verbs.ERR && from != verbs.RESET) {
		return 0, 0, true
	}
	switch [2]verbs.QPState{from, to} {
	case [2]verbs.QPState{verbs.RESET, verbs.INIT}:
		return pkey | port | pick(qkey, access, 0), 0, true
	case [2]verbs.QPState{verbs.INIT, verbs.INIT}:
		return 0, pkey | port | pick(qkey, access, 0), true
	case [2]verbs.QPState{verbs.INIT, verbs.RTR}:
		return pick(0, verbs.MaskAV|verbs.MaskPathMTU|verbs.MaskDestQPN|verbs.MaskRQPSN, verbs.MaskMaxDestRDAtomic|rnr),
			pkey | pick(qkey, alt|access, 0), true
	case [2]verbs.QPState{verbs.RTR, verbs.RTS}:
		return verbs.MaskSQPSN | pick(0, 0, verbs.MaskTimeout|verbs.MaskRetryCnt|verbs.MaskRNRRetry|verbs.MaskMaxQPRDAtomic),
			cur | pick(qkey, alt|access|mig, rnr), true
	case [2]verbs.QPState{verbs.RTS, verbs.RTS}, [2]verbs.QPState{verbs.SQD, verbs.RTS}:
		return 0, cur | pick(qkey, alt|access|mig, rnr), true
	case [2]verbs.QPState{verbs.RTS, verbs.SQD}:
		return 0, verbs.MaskEnSQDAsyncNotify, true
	case [2]verbs.QPState{verbs.SQD, verbs.SQD}:
		return 0, pkey | pick(qkey, verbs.MaskAV|alt|access|mig, port|verbs.MaskTimeout|verbs.MaskRetryCnt|
			verbs.MaskRNRRetry|verbs.MaskMaxQPRDAtomic|verbs.MaskMaxDestRDAtomic|rnr), true
	case [2]verbs.QPState{verbs.SQE, verbs.RTS}:
		if rc {
			return 0, 0, true
		}
		return 0, cur | pick(qkey, access, 0), true
	}
	return 0, 0, false
}

// TestStateTable goes through every pair of states of every type, and for the
// valid ones through every attribute: left out or added.
func TestStateTable(t *testing.T) {
	for _, typ := range []verbs.QPType{verbs.RC, verbs.UC, verbs.UD} {
		for from := verbs.RESET; from <= verbs.ERR; from++ {
			for to := verbs.RESET; to <= verbs.ERR; to++ {
				required, optional, ok := naive(typ, from, to)
				base := required | verbs.MaskState
				err := verbs.CheckModify(typ, from, to, base)
				if (err == nil) != ok {
					t.Errorf("%s %s to %s: %v, want valid %v", typ, from, to, err, ok)
				}
				if err != nil && !errors.Is(err, syscall.EINVAL) {
					t.Errorf("%s %s to %s: %v is not EINVAL", typ, from, to, err)
				}
				for bit := verbs.MaskCurState; ok && bit <= verbs.MaskDestQPN; bit <<= 1 {
					mask, want := base^bit, required&bit == 0 && optional&bit != 0
					if bit == verbs.MaskCurState && (from < verbs.RTR || from == verbs.ERR) {
						want = false
					}
					if got := verbs.CheckModify(typ, from, to, mask) == nil; got != want {
						t.Errorf("%s %s to %s with %s: allowed %v, want %v", typ, from, to, mask, got, want)
					}
				}
			}
		}
	}
}
