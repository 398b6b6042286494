package devicetest

import (
	"fmt"
	"slices"

	"rdmaprep/sim/verbs"
)

const stateTable = "drivers/infiniband/core/verbs.c qp_state_table and ib_modify_qp_is_ok (Linux 6.1)"

// reachable is, by state, where a modify may go. It is the same for every type
// (IBTA figure of the queue pair states, as qp_state_table has it). From SQE
// there is a way for UC and UD only where a device has that state.
var reachable = map[verbs.QPState][]verbs.QPState{
	verbs.RESET: {verbs.RESET, verbs.INIT},
	verbs.INIT:  {verbs.RESET, verbs.INIT, verbs.RTR, verbs.ERR},
	verbs.RTR:   {verbs.RESET, verbs.RTS, verbs.ERR},
	verbs.RTS:   {verbs.RESET, verbs.RTS, verbs.SQD, verbs.ERR},
	verbs.SQD:   {verbs.RESET, verbs.RTS, verbs.SQD, verbs.ERR},
	verbs.SQE:   {verbs.RESET, verbs.RTS, verbs.ERR},
	verbs.ERR:   {verbs.RESET, verbs.ERR},
}

// stateCases try every pair of states of every type with all that the target
// ever needs: what is not in the table is EINVAL and changes nothing.
func stateCases() []Case {
	var all []Case
	for _, typ := range qpTypes {
		for from := verbs.RESET; from <= verbs.ERR; from++ {
			for to := verbs.RESET; to <= verbs.ERR; to++ {
				if from != verbs.SQE || typ != verbs.RC { // RC never enters SQE
					all = append(all, transition(typ, from, to))
				}
			}
		}
	}
	return all
}

func transition(typ verbs.QPType, from, to verbs.QPState) Case {
	return Case{fmt.Sprintf("state/%s/%s-%s", typ, from, to), stateTable, func(t *T) {
		s, o := t.at(typ, from)
		attr, mask := t.attrs(s, o, to)
		// Within a state, and back to RTS from SQD or SQE, nothing is required.
		if from == to || to == verbs.RTS && from != verbs.RTR && slices.Contains(reachable[from], to) {
			mask = verbs.MaskState
		}
		err := s.dev.ModifyQP(s.qp.QP, attr, mask)
		if slices.Contains(reachable[from], to) {
			t.returns("modify_qp", err, "ok")
			t.state(s, to)
			return
		}
		t.returns("modify_qp", err, "EINVAL")
		t.state(s, from)
	}}
}

// at makes a QP and takes it to a state; SQE is reached by a send that fails.
func (t *T) at(typ verbs.QPType, state verbs.QPState) (*side, setup) {
	t.Helper()
	if state != verbs.SQE {
		return t.one(typ, state)
	}
	if t.rule("SQE is reached") != "true" {
		panic(notHere("this profile has no SQE"))
	}
	s, o := t.one(typ, verbs.RTS)
	t.failSend(s)
	t.state(s, verbs.SQE)
	return s, o
}

// failSend posts a SEND whose lkey names nothing.
func (t *T) failSend(s *side) {
	t.Helper()
	w := s.wr(99, verbs.WRSend, 8)
	w.SGL[0].LKey = s.mr.LKey ^ 0xff
	if s.typ == verbs.UD {
		w.AH = must[verbs.AH](t, "create_ah")(s.dev.CreateAH(s.pd, t.address(s, s)))
		w.RemoteQPN, w.RemoteQKey = s.qp.Num, udQKey
	}
	t.send(s, w)
	t.sent(s, "99 "+t.rule("SEND from a bad lkey"))
}

// attribute is one bit of the mask. Bits that no table row has are among them.
var attributes = []verbs.QPAttrMask{
	verbs.MaskEnSQDAsyncNotify, verbs.MaskAccessFlags, verbs.MaskPKeyIndex, verbs.MaskPort, verbs.MaskQKey, verbs.MaskAV,
	verbs.MaskPathMTU, verbs.MaskTimeout, verbs.MaskRetryCnt, verbs.MaskRNRRetry, verbs.MaskRQPSN, verbs.MaskMaxQPRDAtomic,
	verbs.MaskMinRNRTimer, verbs.MaskSQPSN, verbs.MaskMaxDestRDAtomic, verbs.MaskCap, verbs.MaskDestQPN,
}

// takes is, by type and transition, which of attributes the table allows beyond
// those that it requires. ALT_PATH and PATH_MIG_STATE are left out: RoCE has no
// path migration.
type move struct{ from, to verbs.QPState }

var takes = map[verbs.QPType]map[move]verbs.QPAttrMask{
	verbs.RC: {
		{verbs.RESET, verbs.INIT}: 0,
		{verbs.INIT, verbs.INIT}:  verbs.MaskPKeyIndex | verbs.MaskPort | verbs.MaskAccessFlags,
		{verbs.INIT, verbs.RTR}:   verbs.MaskAccessFlags | verbs.MaskPKeyIndex,
		{verbs.RTR, verbs.RTS}:    verbs.MaskAccessFlags | verbs.MaskMinRNRTimer,
		{verbs.RTS, verbs.RTS}:    verbs.MaskAccessFlags | verbs.MaskMinRNRTimer,
		{verbs.RTS, verbs.SQD}:    verbs.MaskEnSQDAsyncNotify,
		{verbs.SQD, verbs.SQD}: verbs.MaskPort | verbs.MaskAV | verbs.MaskTimeout | verbs.MaskRetryCnt | verbs.MaskRNRRetry |
			verbs.MaskMaxQPRDAtomic | verbs.MaskMaxDestRDAtomic | verbs.MaskAccessFlags | verbs.MaskPKeyIndex | verbs.MaskMinRNRTimer,
		{verbs.SQD, verbs.RTS}: verbs.MaskAccessFlags | verbs.MaskMinRNRTimer,
		{verbs.ERR, verbs.ERR}: 0,
	},
	verbs.UC: {
		{verbs.RESET, verbs.INIT}: 0,
		{verbs.INIT, verbs.INIT}:  verbs.MaskPKeyIndex | verbs.MaskPort | verbs.MaskAccessFlags,
		{verbs.INIT, verbs.RTR}:   verbs.MaskAccessFlags | verbs.MaskPKeyIndex,
		{verbs.RTR, verbs.RTS}:    verbs.MaskAccessFlags,
		{verbs.RTS, verbs.RTS}:    verbs.MaskAccessFlags,
		{verbs.RTS, verbs.SQD}:    verbs.MaskEnSQDAsyncNotify,
		// The table has AV, but uverbs_cmd.c modify_qp adds PORT to it, which
		// the table does not have.
		{verbs.SQD, verbs.SQD}: verbs.MaskAccessFlags | verbs.MaskPKeyIndex,
		{verbs.SQD, verbs.RTS}: verbs.MaskAccessFlags,
		{verbs.ERR, verbs.ERR}: 0,
	},
	verbs.UD: {
		{verbs.RESET, verbs.INIT}: 0,
		{verbs.INIT, verbs.INIT}:  verbs.MaskPKeyIndex | verbs.MaskPort | verbs.MaskQKey,
		{verbs.INIT, verbs.RTR}:   verbs.MaskPKeyIndex | verbs.MaskQKey,
		{verbs.RTR, verbs.RTS}:    verbs.MaskQKey,
		{verbs.RTS, verbs.RTS}:    verbs.MaskQKey,
		{verbs.RTS, verbs.SQD}:    verbs.MaskEnSQDAsyncNotify,
		{verbs.SQD, verbs.SQD}:    verbs.MaskPKeyIndex | verbs.MaskQKey,
		{verbs.SQD, verbs.RTS}:    verbs.MaskQKey,
		{verbs.ERR, verbs.ERR}:    0,
	},
}

// maskCases take each attribute that a transition requires away, which is
// EINVAL, and add each other one, which is EINVAL unless the table has it.
func maskCases() []Case {
	var all []Case
	for _, typ := range qpTypes {
		for _, m := range []move{
			{verbs.RESET, verbs.INIT},
			{verbs.INIT, verbs.INIT},
			{verbs.INIT, verbs.RTR},
			{verbs.RTR, verbs.RTS},
			{verbs.RTS, verbs.RTS},
			{verbs.RTS, verbs.SQD},
			{verbs.SQD, verbs.SQD},
			{verbs.SQD, verbs.RTS},
			{verbs.ERR, verbs.ERR},
		} {
			need := verbs.QPAttrMask(0)
			if m.to == m.from+1 && m.to <= verbs.RTS {
				need = required(typ, m.to)
			}
			for _, bit := range attributes {
				name := fmt.Sprintf("mask/%s/%s-%s", typ, m.from, m.to)
				switch {
				case need&bit != 0:
					all = append(all, masked(name+"-without-"+bit.String(), typ, m, need&^bit, "EINVAL"))
				case takes[typ][m]&bit != 0:
					all = append(all, masked(name+"-with-"+bit.String(), typ, m, need|bit, "ok"))
				default:
					all = append(all, masked(name+"-with-"+bit.String(), typ, m, need|bit, "EINVAL"))
				}
			}
		}
	}
	return all
}

func masked(name string, typ verbs.QPType, m move, mask verbs.QPAttrMask, want string) Case {
	return Case{name, stateTable, func(t *T) {
		s, o := t.one(typ, m.from)
		attr, _ := t.attrs(s, o, m.to)
		attr.Cap = s.qp.Cap
		t.returns("modify_qp", s.dev.ModifyQP(s.qp.QP, attr, mask|verbs.MaskState), want)
		if want == "ok" {
			t.state(s, m.to)
		} else {
			t.state(s, m.from)
		}
	}}
}

// rangeCases give one attribute a value out of range, from the state before.
func rangeCases() []Case {
	const chk = "rxe_qp.c rxe_qp_chk_attr"
	const core = "core/uverbs_cmd.c modify_qp"
	one := func(name, source, want string, to verbs.QPState, set func(a *verbs.QPAttr)) Case {
		return Case{"range/" + name, source, func(t *T) {
			s, o := t.one(verbs.RC, to-1)
			o.attr = set
			if _, known := differences[want]; known {
				want = t.rule(want)
			}
			t.returns("modify_qp", t.modify(s, o, to), want)
			if want == "ok" {
				t.state(s, to)
			} else {
				t.state(s, to-1)
			}
		}}
	}
	return []Case{
		one("port-0", core, "EINVAL", verbs.INIT, func(a *verbs.QPAttr) { a.Port = 0 }),
		one("port-2", core, "EINVAL", verbs.INIT, func(a *verbs.QPAttr) { a.Port = 2 }),
		one("pkey-index", chk, "pkey_index out of range", verbs.INIT, func(a *verbs.QPAttr) { a.PKeyIndex = 1 }),
		one("path-mtu-0", chk, "path_mtu 0", verbs.RTR, func(a *verbs.QPAttr) { a.PathMTU = 0 }),
		one("path-mtu-6", chk, "EINVAL", verbs.RTR, func(a *verbs.QPAttr) { a.PathMTU = 6 }),
		one("path-mtu-4096", chk, "ok", verbs.RTR, func(a *verbs.QPAttr) { a.PathMTU = verbs.MTU4096 }),
		one("max-dest-rd-atomic-129", chk, "max_dest_rd_atomic out of range", verbs.RTR, func(a *verbs.QPAttr) { a.MaxDestRDAtomic = 129 }),
		one("max-dest-rd-atomic-0", chk, "ok", verbs.RTR, func(a *verbs.QPAttr) { a.MaxDestRDAtomic = 0 }),
		one("min-rnr-timer-32", chk, "min_rnr_timer above 31", verbs.RTR, func(a *verbs.QPAttr) { a.MinRNRTimer = 32 }),
		one("min-rnr-timer-31", chk, "ok", verbs.RTR, func(a *verbs.QPAttr) { a.MinRNRTimer = 31 }),
		one("no-grh", "core/verbs.c rdma_check_ah_attr", "EINVAL", verbs.RTR, func(a *verbs.QPAttr) { a.AV.NoGRH = true }),
		one("av-port-0", core, "EINVAL", verbs.RTR, func(a *verbs.QPAttr) { a.AV.Port = 0 }),
		one("av-port-2", core, "EINVAL", verbs.RTR, func(a *verbs.QPAttr) { a.AV.Port = 2 }),
		one("av-empty-gid", "core/cache.c rdma_get_gid_attr", "modify_qp with an empty GID", verbs.RTR, func(a *verbs.QPAttr) { a.AV.SGIDIndex = 200 }),
		one("psn-25-bits", "core/verbs.c _ib_modify_qp masks it", "ok", verbs.RTR, func(a *verbs.QPAttr) { a.RQPSN |= 1 << 24 }),
		one("timeout-32", chk, "EINVAL", verbs.RTS, func(a *verbs.QPAttr) { a.Timeout = 32 }),
		one("timeout-0", chk, "ok", verbs.RTS, func(a *verbs.QPAttr) { a.Timeout = 0 }),
		one("retry-cnt-8", chk, "retry_cnt above 7", verbs.RTS, func(a *verbs.QPAttr) { a.RetryCnt = 8 }),
		one("rnr-retry-8", chk, "rnr_retry above 7", verbs.RTS, func(a *verbs.QPAttr) { a.RNRRetry = 8 }),
		one("max-rd-atomic-129", chk, "EINVAL", verbs.RTS, func(a *verbs.QPAttr) { a.MaxRDAtomic = 129 }),
		one("max-rd-atomic-0", chk, "ok", verbs.RTS, func(a *verbs.QPAttr) { a.MaxRDAtomic = 0 }),
		{"range/qkey-high-bit", core, func(t *T) {
			s, o := t.one(verbs.UD, verbs.RESET)
			o.attr = func(a *verbs.QPAttr) { a.QKey = 0x80000001 }
			t.returns("modify_qp", t.modify(s, o, verbs.INIT), t.rule("Q_Key with the high bit"))
		}},
		{"range/no-such-state", core, func(t *T) {
			s, _ := t.one(verbs.RC, verbs.INIT)
			t.returns("modify_qp", s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{State: 7}, verbs.MaskState), "EINVAL")
			t.returns("modify_qp", s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{CurState: 7}, verbs.MaskCurState), "EINVAL")
			t.state(s, verbs.INIT)
		}},
		{"range/rate-limit", "core/uverbs_cmd.c ib_uverbs_modify_qp: no standard bit", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			t.returns("modify_qp", s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{}, verbs.MaskRateLimit), "EOPNOTSUPP")
		}},
	}
}

// attrCases compare query_qp with what modify_qp set.
func attrCases() []Case {
	var all []Case
	for _, typ := range qpTypes {
		for to := verbs.INIT; to <= verbs.RTS; to++ {
			all = append(all, Case{fmt.Sprintf("query-qp/%s-%s", typ, to), "ibv_query_qp(3)", func(t *T) { t.queried(typ, to) }})
		}
	}
	return all
}

func (t *T) queried(typ verbs.QPType, to verbs.QPState) {
	s, o := t.one(typ, to)
	set, _ := t.attrs(s, o, to)
	a := must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP))
	t.is("state", a.State, to)
	t.is("port_num", a.Port, 1)
	t.is("pkey_index", a.PKeyIndex, 0)
	t.is("max_recv_sge", a.Cap.MaxRecvSGE, s.qp.Cap.MaxRecvSGE)
	if typ == verbs.UD {
		t.is("qkey", a.QKey, udQKey)
	} else {
		t.is("qp_access_flags", a.Access, set.Access)
	}
	if to >= verbs.RTR && typ != verbs.UD {
		t.is("path_mtu", a.PathMTU, set.PathMTU)
		t.is("dest_qp_num", a.DestQPN, set.DestQPN)
		t.is("rq_psn", a.RQPSN, set.RQPSN)
		t.is("dgid", a.AV.DGID, set.AV.DGID)
		t.is("sgid_index", a.AV.SGIDIndex, set.AV.SGIDIndex)
		t.is("hop_limit", a.AV.HopLimit, set.AV.HopLimit)
		t.is("is_global", !a.AV.NoGRH, true)
	}
	if to >= verbs.RTR && typ == verbs.RC {
		t.is("max_dest_rd_atomic", a.MaxDestRDAtomic, 4)
		t.is("min_rnr_timer", a.MinRNRTimer, 12)
	}
	if to >= verbs.RTS {
		t.is("sq_psn", a.SQPSN, set.SQPSN)
	}
	if to >= verbs.RTS && typ == verbs.RC {
		t.is("timeout, retry_cnt, rnr_retry, max_rd_atomic",
			[]uint8{a.Timeout, a.RetryCnt, a.RNRRetry, a.MaxRDAtomic}, []uint8{14, 6, 6, 4})
	}
}

func attrRuleCases() []Case {
	return []Case{
		{"query-qp/rd-atomic", "rxe_qp.c rxe_qp_from_attr", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS, func(o *setup) {
				o.attr = func(a *verbs.QPAttr) { a.MaxRDAtomic, a.MaxDestRDAtomic = 5, 5 }
			})
			a := must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP))
			t.is("max_rd_atomic", a.MaxRDAtomic, t.rule("rd_atomic 5 becomes"))
			t.is("max_dest_rd_atomic", a.MaxDestRDAtomic, t.rule("rd_atomic 5 becomes"))
		}},
		{"query-qp/cur-state", "ibv_query_qp(3); rxe_qp.c rxe_qp_to_attr", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			a := must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP))
			t.is("cur_qp_state is RTS", a.CurState == verbs.RTS, t.rule("cur_qp_state is told"))
		}},
		{"query-qp/cur-state-lie", "rxe_qp.c rxe_qp_chk_attr; the specification has the device check it", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RESET)
			err := s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{State: verbs.RTS, CurState: verbs.RTS}, verbs.MaskState|verbs.MaskCurState)
			t.returns("modify_qp", err, t.rule("CUR_STATE is checked"))
		}},
		{"query-qp/cur-state-true", stateTable, func(t *T) {
			s, _ := t.one(verbs.RC, verbs.RTS)
			err := s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{State: verbs.RTS, CurState: verbs.RTS}, verbs.MaskState|verbs.MaskCurState)
			t.returns("modify_qp", err, "ok")
		}},
		{"query-qp/refused-changes-nothing", "ibv_modify_qp(3): on failure no attribute is changed", func(t *T) {
			s, o := t.one(verbs.RC, verbs.RTR)
			before := must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP))
			o.attr = func(a *verbs.QPAttr) { a.RetryCnt, a.RNRRetry, a.SQPSN, a.Timeout = 3, 3, 77, 32 }
			t.returns("modify_qp", t.modify(s, o, verbs.RTS), "EINVAL")
			t.is("attributes", must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP)), before)
		}},
		{"query-qp/psn-moves", "rxe_qp.c rxe_qp_to_attr: rq_psn and sq_psn are those of the next packet", func(t *T) {
			a, b := t.pair(verbs.RC)
			t.send(a, a.wr(1, verbs.WRRDMAWrite, 3000)) // three packets
			t.sent(a, "1 SUCCESS RDMA_WRITE len=3000")
			t.is("sq_psn", must[verbs.QPAttr](t, "query_qp")(a.dev.QueryQP(a.qp.QP)).SQPSN, firstPSN+3)
			t.is("rq_psn", must[verbs.QPAttr](t, "query_qp")(b.dev.QueryQP(b.qp.QP)).RQPSN, firstPSN+3)
		}},
		{"query-qp/after-reset", "ibv_modify_qp(3): RESET and up again", func(t *T) {
			a, b := t.pair(verbs.RC)
			o := defaultSetup()
			for _, s := range []*side{a, b} {
				t.move(s, verbs.RESET)
			}
			for _, s := range []*side{a, b} {
				t.raise(s, o, verbs.RTS)
			}
			t.store(a, 0, pattern(1, 64))
			t.send(a, a.wr(1, verbs.WRRDMAWrite, 64))
			t.sent(a, "1 SUCCESS RDMA_WRITE len=64")
			t.holds(b, remoteOff, pattern(1, 64))
		}},
		{"query-qp/draining", "ibv_query_qp(3): sq_draining", func(t *T) {
			s, _ := t.one(verbs.RC, verbs.SQD)
			t.is("sq_draining", must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP)).SQDraining, false)
		}},
		{"query-qp/sqd-changes", stateTable, func(t *T) {
			s, _ := t.one(verbs.RC, verbs.SQD)
			t.ok("modify_qp", s.dev.ModifyQP(s.qp.QP, verbs.QPAttr{RetryCnt: 2, Timeout: 9}, verbs.MaskRetryCnt|verbs.MaskTimeout))
			a := must[verbs.QPAttr](t, "query_qp")(s.dev.QueryQP(s.qp.QP))
			t.is("retry_cnt, timeout", []uint8{a.RetryCnt, a.Timeout}, []uint8{2, 9})
		}},
	}
}
