package model

import (
	"fmt"
	"strings"
	"time"
)

// Profile is one set of rules. A switch that is false, or a number that is
// zero, is what the profile spec does; each switch names one deviation of
// Soft-RoCE and the place in Linux 6.1 that causes it.
type Profile struct {
	Name string

	// RecvTooSmallIsOpErr: a SEND longer than the receive buffer is a remote
	// operational error (0x63), not an invalid request. rxe_mr.c copy_data
	// returns -EINVAL, rxe_resp.c send_data_in makes it MALFORMED_WQE.
	RecvTooSmallIsOpErr bool
	// RecvProtIsOpErr: a bad receive SGE completes LOC_QP_OP_ERR at the
	// responder. The same place.
	RecvProtIsOpErr bool
	// SendLKeyIsOpErr: a source lkey that names no usable region completes
	// LOC_QP_OP_ERR. rxe_req.c finish_packet maps only -EFAULT to LOC_PROT_ERR.
	SendLKeyIsOpErr bool
	// GatherByPacket: a source SGE is looked at by the packet that needs it, so
	// what comes before a bad one is sent. rxe_req.c finish_packet.
	GatherByPacket bool
	// WriteImmErrIsRemAccess: the receive request consumed by a
	// WRITE_WITH_IMM with a bad rkey completes REM_ACCESS_ERR. rxe_resp.c
	// do_class_ac_error.
	WriteImmErrIsRemAccess bool
	// NoAccessEvent: no QP_ACCESS_ERR, QP_REQ_ERR, QP_FATAL or
	// QP_LAST_WQE_REACHED. rxe_resp.c of 6.1 raises none.
	NoAccessEvent bool
	// NoSQE: a send error of UC or UD moves the QP to ERR. rxe_req.c,
	// rxe_qp_error for every type.
	NoSQE bool
	// UDOversizeSilent: a UD message above the MTU completes SUCCESS and is
	// not sent. rxe_req.c rxe_requester, after C10-93.1.1.
	UDOversizeSilent bool
	// UDSmallRecvIsErr: a UD message longer than the receive buffer moves the
	// receiver to ERR. rxe_resp.c send_data_in.
	UDSmallRecvIsErr bool
	// RetrySevenForever: retry_cnt 7 never runs out. rxe_comp.c,
	// COMPST_ERROR_RETRY.
	RetrySevenForever bool
	// Jiffy: timers count in ticks of this length, at least one, and start in
	// the middle of one. rxe_qp.c rxe_qp_from_attr, rxe_comp.c rnrnak_jiffies.
	Jiffy time.Duration
	// InvalidateErrAcks: a SEND_WITH_INV of a bad rkey is acknowledged although
	// the responder fails. rxe_resp.c RESPST_ERR_INVALIDATE_RKEY.
	InvalidateErrAcks bool
	// LocalInvErrIsOpErr: a failed LOCAL_INV completes LOC_QP_OP_ERR.
	// rxe_req.c rxe_do_local_ops.
	LocalInvErrIsOpErr bool
	// InvalidateAnyQP: LOCAL_INV and SEND_WITH_INV of a type 2 window do not
	// check its QP. rxe_mw.c rxe_check_invalidate_mw.
	InvalidateAnyQP bool
	// InvFlagIsCsum: the receive completion of a SEND_WITH_INV has the flag
	// IP_CSUM_OK in place of WITH_INV: the kernel's IB_WC_WITH_INVALIDATE, 4, is
	// given to the program as it is. rxe_resp.c do_complete.
	InvFlagIsCsum bool
	// RKeyZeroIfLocal: a region without remote access has rkey 0. rxe_mr.c
	// rxe_mr_init.
	RKeyZeroIfLocal bool
	// NoZeroLengthMR: reg_mr of no bytes is EINVAL. core/umem.c ib_umem_get.
	NoZeroLengthMR bool
	// NoZeroBasedMR: ZERO_BASED has no effect on a region. rxe_mr.c
	// rxe_mr_init_user keeps the iova that it is given.
	NoZeroBasedMR bool
	// AtomicCheckedAtPost: a misaligned or short atomic is EINVAL at post time;
	// a longer one is accepted. providers/rxe/rxe.c validate_send_wr.
	AtomicCheckedAtPost bool
	// RDAtomicPow2: max_rd_atomic and max_dest_rd_atomic are rounded up to a
	// power of two. rxe_qp.c rxe_qp_from_attr.
	RDAtomicPow2 bool
	// NoDestRDAtomicLimit: more READs than max_dest_rd_atomic are served.
	// rxe_resp.c rxe_prepare_res recycles the oldest.
	NoDestRDAtomicLimit bool
	// EarlyPostStays: post_send in RESET, INIT or RTR is EINVAL and the request
	// stays queued. providers/rxe/rxe.c post_send_db.
	EarlyPostStays bool
	// ErrRecvWaits: receives posted in ERR are not flushed until the next
	// modify_qp. providers/rxe/rxe.c rxe_post_recv rings no doorbell.
	ErrRecvWaits bool
	// DrainedAlwaysTold: SQ_DRAINED is raised although it was not asked for.
	// rxe_req.c next_wqe, rxe_comp.c comp_check_sq_drain_done.
	DrainedAlwaysTold bool
	// SQDNeedsDoorbell: after SQD to RTS the queue moves at the next post_send.
	// rxe_qp.c rxe_qp_from_attr starts no task.
	SQDNeedsDoorbell bool
	// SendOverflowSurvives: a full send CQ loses the completion, raises CQ_ERR
	// each time, and neither CQ nor QP stops. rxe_comp.c ignores rxe_cq_post.
	SendOverflowSurvives bool
	// SRQNotLast: see NoAccessEvent; kept apart because 6.12 changed it.
	// rxe_resp.c flush_recv_queue.
	SRQNotLast bool
	// RecvAlwaysGRH: RC and UC receive completions carry the GRH flag.
	// rxe_resp.c do_complete.
	RecvAlwaysGRH bool
	// SendImmFlag: send completions of WITH_IMM carry WITH_IMM. rxe_comp.c
	// make_send_cqe.
	SendImmFlag bool
	// ErrSendNotSolicited: an error on the send side does not wake a CQ armed
	// for solicited completions. rxe_comp.c do_complete passes 0.
	ErrSendNotSolicited bool
	// LocalErrOrphans: after a local send error the acknowledgements of older
	// requests are dropped; those hang until the QP is moved to ERR.
	// rxe_recv.c check_type_state. Off in rxe-6.1: within one device, where the
	// acknowledgement is back before the next request is looked at, it cannot
	// be seen.
	LocalErrOrphans bool
	// ReadRespIsFatal: a READ response that answers another request is
	// FATAL_ERR, not BAD_RESP_ERR. rxe_comp.c check_ack.
	ReadRespIsFatal bool
	// ReadNAKNamesRequest: a READ that fails halfway is refused under the PSN of
	// its request, which the requester has passed. rxe_resp.c acknowledge.
	ReadNAKNamesRequest bool
	// RNRKeepsNAKing: after an RNR NAK the next packet draws a NAK sequence.
	// rxe_resp.c check_psn.
	RNRKeepsNAKing bool
	// InlineReadAccepted: INLINE on a READ is accepted and fails LOC_PROT_ERR.
	// providers/rxe/rxe.c validate_send_wr.
	InlineReadAccepted bool
	// DeregBoundIsInvalid: dereg_mr under a bound window is EINVAL, not EBUSY.
	// rxe_mr.c rxe_dereg_mr.
	DeregBoundIsInvalid bool
	// WindowUnbounded: a window's key reaches all of the region under it; only
	// the region's range is checked. rxe_resp.c check_rkey, measured on 6.1.
	WindowUnbounded bool
	// CurStateTrusted: modify_qp takes the state that CUR_STATE claims.
	// rxe_qp.c rxe_qp_chk_attr.
	CurStateTrusted bool
	// CurStateZero: query_qp's cur_qp_state is 0 unless CUR_STATE was set.
	// rxe_qp.c rxe_qp_to_attr.
	CurStateZero bool
	// NotifyWithoutChannel: req_notify_cq without a channel returns 0.
	// rxe_verbs.c rxe_req_notify_cq.
	NotifyWithoutChannel bool
	// SlotsFreedByDevice: the send and receive queues have room again when a
	// request is done, not when its completion is polled. rxe_comp.c
	// advance_queue.
	SlotsFreedByDevice bool
	// CapacityLessOne: queues hold one less than a power of two. rxe_queue.c
	// rxe_queue_init.
	CapacityLessOne bool
	// CapacityUntold: create_qp and create_srq give back max_wr as it was asked;
	// query_qp and query_srq tell what there is. rxe_qp.c rxe_qp_init_req,
	// rxe_srq.c rxe_srq_from_init.
	CapacityUntold bool
	// SRQLimitAtCreate: create_srq arms the limit that it is given, which
	// ibv_create_srq(3) calls irrelevant. rxe_srq.c rxe_srq_from_init.
	SRQLimitAtCreate bool
	// InlineRaisesSGE: max_inline raises max_send_sge and the reverse.
	// rxe_qp.c rxe_qp_init_req.
	InlineRaisesSGE bool
	// QKeyHighBitSent: a Q_Key with the high bit set is sent as it is, where the
	// IBTA has the queue pair's own Q_Key sent. rxe_req.c init_req_packet.
	QKeyHighBitSent bool
	// AckEveryMessage: the last packet of every message asks for an
	// acknowledgement, not only of signaled ones and of the last that is ready.
	// rxe_req.c init_req_packet.
	AckEveryMessage bool
	// AckAtOnce: every request that asks for an acknowledgement gets one of its
	// own. rxe_resp.c acknowledge.
	AckAtOnce bool
	// NoCredits: acknowledgements tell of no credits (code 31), and the
	// requester obeys none. rxe_resp.c send_ack, rxe_hdr.h AETH_ACK_UNLIMITED.
	NoCredits bool
	// RNR25Short: RNR timer code 25 is 61.41 ms, not 61.44. rxe_comp.c
	// rnrnak_usec.
	RNR25Short bool
	// BindAnyPD: a bind does not compare the region's protection domain, nor for
	// type 1 the window's, with the queue pair's. rxe_mw.c rxe_check_bind_mw.
	BindAnyPD bool
	// FreeWindowInvHangs: LOCAL_INV of a type 2 window that is not bound
	// dereferences a nil pointer; the task dies and nothing more comes from the
	// queue. rxe_mw.c rxe_do_invalidate_mw, measured on 6.1.
	FreeWindowInvHangs bool
	// DestroyWaitsForWindow: destroy_qp under a bound type 2 window waits 50
	// seconds for it. rxe_pool.c __rxe_cleanup.
	DestroyWaitsForWindow bool
	// NoRereg: rereg_mr is not there. rxe_verbs.c rxe_dev_ops.
	NoRereg bool
	// SeqErrIfNewAck: a NAK sequence counts only if it acknowledges something.
	// rxe_comp.c check_ack.
	SeqErrIfNewAck bool
	// OneRetryAtATime: while a retry has brought no acknowledgement of a message,
	// a NAK sequence or a missing response starts no other; the timer does.
	// rxe_comp.c COMPST_ERROR_RETRY, started_retry.
	OneRetryAtATime bool
	// ReadHoleWaits: a hole inside a READ's responses is not asked for at once
	// but by the timer. rxe_comp.c check_psn.
	ReadHoleWaits bool
	// UCGapCostsNext: after a loss within a UC message the first packet of the
	// next is dropped as well; after a WRITE, of every one. rxe_resp.c
	// check_op_seq, do_class_d1e_error.
	UCGapCostsNext bool
	// RNRKeepsAckTimer: the ACK timer runs on while an RNR NAK is waited out, and
	// takes retries. rxe_comp.c COMPST_RNR_RETRY, measured on 6.1.
	RNRKeepsAckTimer bool
	// RNRAcksMessages: an RNR NAK acknowledges the messages before its own, and
	// not the packets of its own, which is sent again whole. rxe_comp.c
	// check_ack, measured on 6.1 with a WRITE_WITH_IMM of three packets.
	RNRAcksMessages bool
	// ErrRecvAsPacket: a failed receive is a solicited event only if its packet
	// asks for one. rxe_resp.c do_complete, measured on 6.1.
	ErrRecvAsPacket bool
	// ReplayGoesOn: the answer to a READ that is repeated from its middle goes on
	// with MIDDLE or LAST, and does not begin with FIRST or ONLY. rxe_resp.c
	// read_reply, rdatm_res_state_replay.
	ReplayGoesOn bool
	// GhostAcknowledges: an answer whose PSN was never sent acknowledges all that
	// was sent whole, whatever it says. rxe_comp.c check_psn, COMPST_COMP_WQE,
	// measured on 6.1.
	GhostAcknowledges bool
	// ErrorKeepsStatus: a response that does not fit (the sequence of a READ's
	// responses, a READ response or an atomic's that is no ACK, an atomic's to
	// another request, a reserved syndrome) ends the request and the queue pair,
	// and the request completes with the status that it has, SUCCESS. rxe_comp.c
	// COMPST_ERROR, which warns of it in the kernel's log; measured on 6.1.
	ErrorKeepsStatus bool
	// AckCompletesReads: an acknowledgement under the last PSN of a READ or an atomic
	// completes it without its data. rxe_comp.c check_ack, COMPST_WRITE_SEND,
	// measured on 6.1 with an atomic.
	AckCompletesReads bool
	// RepeatAckSkipsReads: a repeated SEND or WRITE is acknowledged under the PSN of
	// the latest SEND, WRITE or atomic, not of the latest request, and under
	// 0xffffff if there was none. rxe_resp.c duplicate_request, ack_psn.
	RepeatAckSkipsReads bool
	// NoCommEst: no COMM_EST for the first packet in RTR. rxe_resp.c raises none.
	NoCommEst bool
	// ResetKeepsAttrs: query_qp in RESET shows the attributes and PSNs of the last
	// life. rxe_qp.c rxe_qp_reset clears none of what rxe_qp_to_attr tells.
	ResetKeepsAttrs bool
	// SRQUsesQPPD: receives of an SRQ are checked in the queue pair's protection
	// domain, not the SRQ's. rxe_resp.c send_data_in.
	SRQUsesQPPD bool
	// NoLengthCheck: the lengths of SENDs and READ responses are not compared
	// with the path MTU; those of WRITEs are, after the rkey. rxe_resp.c
	// check_length, check_rkey, rxe_comp.c do_read.
	NoLengthCheck bool
}

func specProfile() Profile { return Profile{Name: "spec"} }

func rxe61Profile() Profile {
	return Profile{
		Name: "rxe-6.1", RecvTooSmallIsOpErr: true, RecvProtIsOpErr: true, SendLKeyIsOpErr: true,
		GatherByPacket: true, WriteImmErrIsRemAccess: true, NoAccessEvent: true, NoSQE: true, UDOversizeSilent: true,
		UDSmallRecvIsErr: true, RetrySevenForever: true, Jiffy: 4 * time.Millisecond,
		InvalidateErrAcks: true, LocalInvErrIsOpErr: true, InvalidateAnyQP: true, RKeyZeroIfLocal: true,
		NoZeroLengthMR: true, NoZeroBasedMR: true, AtomicCheckedAtPost: true, RDAtomicPow2: true,
		NoDestRDAtomicLimit: true, EarlyPostStays: true, ErrRecvWaits: true, DrainedAlwaysTold: true,
		SQDNeedsDoorbell: true, SendOverflowSurvives: true, SRQNotLast: true, RecvAlwaysGRH: true,
		SendImmFlag: true, ErrSendNotSolicited: true, ReadRespIsFatal: true, ReadNAKNamesRequest: true,
		RNRKeepsNAKing: true, RNRAcksMessages: true, InlineReadAccepted: true, DeregBoundIsInvalid: true, WindowUnbounded: true,
		CurStateTrusted: true, CurStateZero: true,
		NotifyWithoutChannel: true, SlotsFreedByDevice: true, CapacityLessOne: true,
		CapacityUntold: true, SRQLimitAtCreate: true,
		InlineRaisesSGE: true, NoLengthCheck: true, QKeyHighBitSent: true, AckEveryMessage: true,
		AckAtOnce: true, NoCredits: true, RNR25Short: true, BindAnyPD: true, FreeWindowInvHangs: true,
		DestroyWaitsForWindow: true, NoRereg: true, SeqErrIfNewAck: true, OneRetryAtATime: true,
		ReadHoleWaits: true, UCGapCostsNext: true, RNRKeepsAckTimer: true, ErrRecvAsPacket: true,
		ReplayGoesOn: true, GhostAcknowledges: true, ErrorKeepsStatus: true,
		RepeatAckSkipsReads: true, AckCompletesReads: true,
		NoCommEst: true, ResetKeepsAttrs: true, SRQUsesQPPD: true, InvFlagIsCsum: true,
	}
}

// ProfileNames lists the profiles that Open knows.
func ProfileNames() []string { return []string{"spec", "rxe-6.1"} }

func findProfile(name string) (Profile, error) {
	switch name {
	case "spec":
		return specProfile(), nil
	case "rxe-6.1":
		return rxe61Profile(), nil
	}
	return Profile{}, fmt.Errorf("no profile %q: the model has %s", name, strings.Join(ProfileNames(), " and "))
}
