package difftest_test

// known is a case in which rxe of Linux 6.1 is known to differ from the model's
// profile rxe-6.1, because of what the model is not: one device with both nodes
// on it, with other queue pairs before ours, and a kernel that must not be hurt.
type known struct {
	name string // of the case
	why  string
	// live is the first line that differs, as the device gives it; "" where it
	// is not always the same.
	live string
	// hurts: the device refuses a line that is known to damage its kernel, so
	// only the model carries it out.
	hurts bool
}

const (
	notFirst = "17 is the number of the first queue pair of a device (rxe_param.h RXE_MIN_QP_INDEX); this device has made others before"
	inPost   = "a queue pair of the same device is served inside ibv_post_send, before the next call: what the script " +
		"catches in the middle is over. The model's wire takes time"
	freeWindow = "LOCAL_INV of a window that is not bound would crash the kernel's task (rxe_mw.c rxe_do_invalidate_mw, a null pointer)"
	boundUnder = "destroy_qp under a bound type 2 window would wait 50 seconds in the kernel (rxe_pool.c __rxe_cleanup)"
)

var knowns = []known{
	{name: `golden.txt: live "qp caps rounding req 16/16/2/2/64": send_wr=31 recv_wr=31 send_sge=4 ...`, why: notFirst},
	{name: `golden.txt: live "good send with imm: flags both sides": req opcode=0 flags=0x2 len=100 of ...`, why: notFirst},
	{name: "statuses.txt: REM_ACCESS_ERR, the region is deregistered in the middle of a READ: what was read ...", why: inPost},
	{name: "conformance/mr.txt: MrLoopbackTest.OutstandingRead", why: inPost},
	{name: "conformance/mr.txt: MrLoopbackTest.OutstandingWrite", why: inPost},
	{name: "conformance/qp_states.txt: QpStateTest.PostSendErrConcurrent", why: inPost},
	{
		name: "conformance/mw.txt: MwType2Test.UnsignaledLocalInvalidateError", why: "both nodes are one device, so the key of the other " +
			"node's window is one of this device, and rxe lets any queue pair invalidate it (rxe_mw.c rxe_check_invalidate_mw)",
		live: "a: cq1 -> expected wr_id=1 status!=SUCCESS, got no completion",
	},
	{name: "transport.txt: LOCAL_INV of a window that is not bound: a NIC fails the request; on rxe the ...", why: freeWindow, hurts: true},
	{name: "transport.txt: destroy_qp under a bound type 2 window: rxe waits 50 s for it (rxe_pool.c ...", why: boundUnder, hurts: true},
	{name: "conformance/mw.txt: MwType2Test.DestroyQpWithType2Bound", why: boundUnder, hurts: true},
}
