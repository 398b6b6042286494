package verbs

import (
	"fmt"
	"syscall"
)

// Transition is one entry of the queue-pair state table: the attributes that a
// modify from one state to another must set and those that it may set.
// MaskState itself is in neither.
type Transition struct {
	From, To           QPState
	Required, Optional QPAttrMask
}

type edge struct{ from, to QPState }

type masks struct{ required, optional QPAttrMask }

// The table is qp_state_table of drivers/infiniband/core/verbs.c (Linux 6.1),
// which the kernel applies to every provider. A pair that is not listed is
// invalid.
var stateTable = map[QPType]map[edge]masks{
	RC: table(
		masks{MaskPKeyIndex | MaskPort | MaskAccessFlags, 0},
		masks{0, MaskPKeyIndex | MaskPort | MaskAccessFlags},
		masks{
			MaskAV | MaskPathMTU | MaskDestQPN | MaskRQPSN | MaskMaxDestRDAtomic | MaskMinRNRTimer,
			MaskAltPath | MaskAccessFlags | MaskPKeyIndex,
		},
		masks{
			MaskTimeout | MaskRetryCnt | MaskRNRRetry | MaskSQPSN | MaskMaxQPRDAtomic,
			MaskCurState | MaskAltPath | MaskAccessFlags | MaskMinRNRTimer | MaskPathMigState,
		},
		MaskCurState|MaskAccessFlags|MaskAltPath|MaskPathMigState|MaskMinRNRTimer,
		MaskPort|MaskAV|MaskTimeout|MaskRetryCnt|MaskRNRRetry|MaskMaxQPRDAtomic|MaskMaxDestRDAtomic|
			MaskAltPath|MaskAccessFlags|MaskPKeyIndex|MaskMinRNRTimer|MaskPathMigState,
		0,
	),
	UC: table(
		masks{MaskPKeyIndex | MaskPort | MaskAccessFlags, 0},
		masks{0, MaskPKeyIndex | MaskPort | MaskAccessFlags},
		masks{MaskAV | MaskPathMTU | MaskDestQPN | MaskRQPSN, MaskAltPath | MaskAccessFlags | MaskPKeyIndex},
		masks{MaskSQPSN, MaskCurState | MaskAltPath | MaskAccessFlags | MaskPathMigState},
		MaskCurState|MaskAccessFlags|MaskAltPath|MaskPathMigState,
		MaskAV|MaskAltPath|MaskAccessFlags|MaskPKeyIndex|MaskPathMigState,
		MaskCurState|MaskAccessFlags,
	),
	UD: table(
		masks{MaskPKeyIndex | MaskPort | MaskQKey, 0},
		masks{0, MaskPKeyIndex | MaskPort | MaskQKey},
		masks{0, MaskPKeyIndex | MaskQKey},
		masks{MaskSQPSN, MaskCurState | MaskQKey},
		MaskCurState|MaskQKey,
		MaskPKeyIndex|MaskQKey,
		MaskCurState|MaskQKey,
	),
}

// table lays out one type's transitions. SQD to RTS takes what RTS to RTS
// takes; every state but RESET may go to ERR, and every state to RESET.
func table(init, initInit, rtr, rts masks, rtsRts, sqdSqd, sqeRts QPAttrMask) map[edge]masks {
	t := map[edge]masks{
		{RESET, INIT}: init,
		{INIT, INIT}:  initInit,
		{INIT, RTR}:   rtr,
		{RTR, RTS}:    rts,
		{RTS, RTS}:    {0, rtsRts},
		{RTS, SQD}:    {0, MaskEnSQDAsyncNotify},
		{SQD, RTS}:    {0, rtsRts},
		{SQD, SQD}:    {0, sqdSqd},
		{SQE, RTS}:    {0, sqeRts},
	}
	for s := RESET; s <= ERR; s++ {
		t[edge{s, RESET}] = masks{}
		if s != RESET {
			t[edge{s, ERR}] = masks{}
		}
	}
	return t
}

// LookupTransition returns the table's entry, and whether the pair is valid.
func LookupTransition(t QPType, from, to QPState) (Transition, bool) {
	m, ok := stateTable[t][edge{from, to}]
	return Transition{From: from, To: to, Required: m.required, Optional: m.optional}, ok
}

// CheckModify applies the rule of ib_modify_qp_is_ok (verbs.c, Linux 6.1): it
// returns nil, or an *Error with EINVAL that names the pair or the attributes
// that are missing or not allowed. mask must hold MaskState when next differs
// from cur.
func CheckModify(t QPType, cur, next QPState, mask QPAttrMask) error {
	if mask&MaskCurState != 0 && cur != RTR && cur != RTS && cur != SQD && cur != SQE {
		return &Error{Op: "modify_qp", Errno: syscall.EINVAL, Why: fmt.Sprintf(
			"CUR_STATE may be set only in RTR, RTS, SQD or SQE, not in %s", cur)}
	}
	tr, ok := LookupTransition(t, cur, next)
	if !ok {
		return &Error{Op: "modify_qp", Errno: syscall.EINVAL, Why: fmt.Sprintf(
			"a %s QP has no transition from %s to %s", t, cur, next)}
	}
	if missing := tr.Required &^ mask; missing != 0 {
		return &Error{Op: "modify_qp", Errno: syscall.EINVAL, Why: fmt.Sprintf(
			"%s to %s of a %s QP also needs %s", cur, next, t, missing)}
	}
	if extra := mask &^ (tr.Required | tr.Optional | MaskState); extra != 0 {
		return &Error{Op: "modify_qp", Errno: syscall.EINVAL, Why: fmt.Sprintf(
			"%s to %s of a %s QP does not take %s", cur, next, t, extra)}
	}
	return nil
}
