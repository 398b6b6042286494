package model

import (
	"fmt"
	"reflect"
)

// ProfileInfo describes a profile.
type ProfileInfo struct {
	Name     string
	About    string
	Switches []Switch // those that differ from spec
	Choices  []Choice // of spec
}

// Switch is one deviation of a profile, for a person.
type Switch struct {
	Name   string // the field of Profile
	Value  string // "true", or a duration
	Source string // the place in Linux 6.1 or in rdma-core
	Learn  string // what an engineer should know because of it
}

// Profiles lists the profiles and, of each, the switches that differ from spec.
func Profiles() []ProfileInfo {
	return []ProfileInfo{
		{Name: "spec", About: "IBTA as publicly quoted; where devices differ, what google/rdma-unit-test expects. " +
			"Counters have mlx5's names, queue sizes are powers of two.", Choices: choices},
		{Name: "rxe-6.1", About: "Soft-RoCE (rdma_rxe) of Linux 6.1, both ends on one device. " +
			"Counters have the names of rxe_hw_counters.c.", Switches: switchesOf(rxe61Profile())},
	}
}

func switchesOf(p Profile) []Switch {
	var out []Switch
	v := reflect.ValueOf(p)
	for _, s := range switches {
		f := v.FieldByName(s.Name)
		if f.IsZero() {
			continue
		}
		s.Value = fmt.Sprint(f.Interface())
		out = append(out, s)
	}
	return out
}

// switches is every switch of Profile in its order.
var switches = []Switch{
	{Name: "RecvTooSmallIsOpErr", Source: "rxe_mr.c copy_data, rxe_resp.c send_data_in", Learn: "A SEND that is too long shows as REM_OP_ERR and LOC_QP_OP_ERR, not as REM_INV_REQ_ERR and LOC_LEN_ERR: do not conclude a bad lkey."},
	{Name: "RecvProtIsOpErr", Source: "rxe_mr.c copy_data, rxe_resp.c send_data_in", Learn: "A bad receive SGE shows as LOC_QP_OP_ERR at the responder; NICs say LOC_PROT_ERR."},
	{Name: "SendLKeyIsOpErr", Source: "rxe_req.c rxe_requester", Learn: "A wrong source lkey shows as LOC_QP_OP_ERR; only a range outside a valid region is LOC_PROT_ERR."},
	{Name: "GatherByPacket", Source: "rxe_req.c finish_packet", Learn: "A message with a bad SGE at its end is half sent: the peer holds a receive request that never completes."},
	{Name: "WriteImmErrIsRemAccess", Source: "rxe_resp.c do_class_ac_error", Learn: "A receive completion may carry REM_ACCESS_ERR, a status that NICs give to requesters only."},
	{Name: "NoAccessEvent", Source: "rxe_resp.c", Learn: "A responder whose key was abused hears nothing: only the requester's completion tells."},
	{Name: "NoSQE", Source: "rxe_req.c rxe_qp_error", Learn: "Code that recovers a UD or UC queue pair from SQE is never exercised on rxe."},
	{Name: "UDOversizeSilent", Source: "rxe_req.c rxe_requester, C10-93.1.1", Learn: "A datagram above the MTU seems to be sent; NICs give LOC_LEN_ERR."},
	{Name: "UDSmallRecvIsErr", Source: "rxe_resp.c send_data_in", Learn: "A datagram longer than the buffer (with its 40 bytes of GRH) kills the receiving queue pair; NICs drop it."},
	{Name: "RetrySevenForever", Source: "rxe_comp.c COMPST_ERROR_RETRY", Learn: "With retry_cnt 7 a dead peer is never noticed; test failure handling with 6 or less."},
	{Name: "Jiffy", Source: "rxe_qp.c rxe_qp_from_attr, rxe_comp.c rnrnak_jiffies", Learn: "Timeouts under some milliseconds mean nothing on rxe; NICs have floors as well."},
	{Name: "InvalidateErrAcks", Source: "rxe_resp.c RESPST_ERR_INVALIDATE_RKEY", Learn: "The sender of a SEND_WITH_INV sees SUCCESS although the receiver failed."},
	{Name: "LocalInvErrIsOpErr", Source: "rxe_req.c rxe_do_local_ops, rxe_mr.c rxe_invalidate_mr", Learn: "A failed LOCAL_INV is LOC_QP_OP_ERR; mlx5 says MW_BIND_ERR."},
	{Name: "InvalidateAnyQP", Source: "rxe_mw.c rxe_check_invalidate_mw", Learn: "Any queue pair of the node, and so the peer of any, can invalidate a type 2 window; the IBTA binds it to one."},
	{Name: "InvFlagIsCsum", Source: "rxe_resp.c do_complete, ib_verbs.h IB_WC_WITH_INVALIDATE", Learn: "On rxe 6.1 a program that looks for WITH_INV in a receive completion does not find it: the flag says IP_CSUM_OK."},
	{Name: "RKeyZeroIfLocal", Source: "rxe_mr.c rxe_mr_init", Learn: "Do not use the rkey of a region without remote access, nor assume that rkey equals lkey."},
	{Name: "NoZeroLengthMR", Source: "core/umem.c ib_umem_get", Learn: "Registering nothing is EINVAL here and works on some NICs."},
	{Name: "NoZeroBasedMR", Source: "rxe_mr.c rxe_mr_init_user", Learn: "ZERO_BASED on a region has no effect: peers go on using virtual addresses."},
	{Name: "AtomicCheckedAtPost", Source: "rdma-core providers/rxe/rxe.c validate_send_wr", Learn: "A misaligned atomic is refused by post_send; on a NIC it fails later with REM_INV_REQ_ERR."},
	{Name: "RDAtomicPow2", Source: "rxe_qp.c rxe_qp_from_attr", Learn: "Query what you got: 5 becomes 8."},
	{Name: "NoDestRDAtomicLimit", Source: "rxe_resp.c rxe_prepare_res", Learn: "Exceeding the peer's max_dest_rd_atomic goes unnoticed; on a NIC it is REM_INV_REQ_ERR."},
	{Name: "EarlyPostStays", Source: "rdma-core providers/rxe/rxe.c post_send_db", Learn: "A post that failed with EINVAL may still be carried out once the queue pair is in RTS."},
	{Name: "ErrRecvWaits", Source: "rdma-core providers/rxe/rxe.c rxe_post_recv", Learn: "A drain that waits for the flush of a receive posted in ERR hangs on rxe."},
	{Name: "DrainedAlwaysTold", Source: "rxe_req.c next_wqe, rxe_comp.c", Learn: "SQ_DRAINED may come unasked."},
	{Name: "SQDNeedsDoorbell", Source: "rxe_qp.c rxe_qp_from_attr", Learn: "After SQD to RTS post something, or what was queued stays queued."},
	{Name: "SendOverflowSurvives", Source: "rxe_comp.c rxe_cq_post", Learn: "An overrun send CQ loses completions and goes on; on a NIC the CQ and its queue pairs are dead."},
	{Name: "SRQNotLast", Source: "rxe_resp.c (added in 6.12, flush_recv_queue)", Learn: "Tearing down a queue pair with an SRQ cannot wait for LAST_WQE_REACHED on 6.1."},
	{Name: "RecvAlwaysGRH", Source: "rxe_resp.c do_complete", Learn: "The GRH flag says nothing on RC: no 40 bytes are in the buffer."},
	{Name: "SendImmFlag", Source: "rxe_comp.c make_send_cqe", Learn: "Compare flags by bit, not for equality."},
	{Name: "ErrSendNotSolicited", Source: "rxe_comp.c do_complete", Learn: "With solicited-only arming a failed send does not wake the program."},
	{Name: "LocalErrOrphans", Source: "rxe_recv.c check_type_state", Learn: "Between two hosts, requests older than a local error may hang until the queue pair is moved to ERR."},
	{Name: "ReadRespIsFatal", Source: "rxe_comp.c check_ack", Learn: "BAD_RESP_ERR is never seen on rxe: a peer that breaks the protocol shows as FATAL_ERR at best."},
	{Name: "ReadNAKNamesRequest", Source: "rxe_resp.c acknowledge, rxe_recheck_mr", Learn: "A region that is deregistered under a READ shows as RETRY_EXC_ERR, which looks like a dead peer; NICs say REM_ACCESS_ERR."},
	{Name: "RNRKeepsNAKing", Source: "rxe_resp.c check_psn", Learn: "An RNR NAK with packets behind it costs a retry as well as an RNR retry."},
	{Name: "InlineReadAccepted", Source: "rdma-core providers/rxe/rxe.c validate_send_wr", Learn: "INLINE on a READ is not refused and ends in LOC_PROT_ERR."},
	{Name: "DeregBoundIsInvalid", Source: "rxe_mr.c rxe_dereg_mr", Learn: "dereg_mr under a bound window is EINVAL, not EBUSY."},
	{Name: "WindowUnbounded", Source: "rxe_resp.c check_rkey, rxe_mw.c rxe_lookup_mw", Learn: "A memory window does not narrow anything: its key reaches the whole region. On a NIC the window's bounds hold."},
	{Name: "CurStateTrusted", Source: "rxe_qp.c rxe_qp_chk_attr, core/verbs.c ib_modify_qp_is_ok", Learn: "CUR_STATE can lie a RESET queue pair into RTS."},
	{Name: "CurStateZero", Source: "rxe_qp.c rxe_qp_to_attr", Learn: "Read qp_state of query_qp, not cur_qp_state."},
	{Name: "NotifyWithoutChannel", Source: "rxe_verbs.c rxe_req_notify_cq", Learn: "Arming a CQ that has no channel is not refused; nothing will come."},
	{Name: "SlotsFreedByDevice", Source: "rxe_comp.c advance_queue", Learn: "rxe forgives a program that never polls: on mlx5 a slot is free when a completion at or after it was polled, so a queue of unsignaled requests fills up."},
	{Name: "CapacityLessOne", Source: "rxe_queue.c rxe_queue_init", Learn: "You get one less than a power of two, at least what was asked: 16 becomes 31."},
	{Name: "CapacityUntold", Source: "rxe_qp.c rxe_qp_init_req, rxe_srq.c rxe_srq_from_init", Learn: "create_qp repeats what you asked for; query_qp tells how much there really is."},
	{Name: "SRQLimitAtCreate", Source: "rxe_srq.c rxe_srq_from_init", Learn: "A limit that is left in the attributes of create_srq is armed on rxe; on other devices only modify_srq arms it."},
	{Name: "InlineRaisesSGE", Source: "rxe_qp.c rxe_qp_init_req", Learn: "max_inline_data and max_send_sge share their room."},
	{Name: "QKeyHighBitSent", Source: "rxe_req.c init_req_packet", Learn: "A Q_Key with the high bit set goes out as it is instead of the queue pair's own."},
	{Name: "AckEveryMessage", Source: "rxe_req.c init_req_packet", Learn: "Every message is acknowledged, signaled or not."},
	{Name: "AckAtOnce", Source: "rxe_resp.c acknowledge", Learn: "rxe answers every message by itself; other responders let one acknowledgement stand for a burst."},
	{Name: "NoCredits", Source: "rxe_resp.c send_ack, rxe_hdr.h AETH_ACK_UNLIMITED", Learn: "With rxe a sender never knows how many receives are posted, and finds out by RNR NAK."},
	{Name: "RNR25Short", Source: "rxe_comp.c rnrnak_usec", Learn: "Timer code 25 is 61.41 ms here, 61.44 in the table."},
	{Name: "BindAnyPD", Source: "rxe_mw.c rxe_check_bind_mw", Learn: "rxe 6.1 lets a window be bound across protection domains; NICs give MW_BIND_ERR."},
	{Name: "FreeWindowInvHangs", Source: "rxe_mw.c rxe_do_invalidate_mw", Learn: "Invalidating a window that is not bound crashes the kernel's task on rxe: never do it on a shared machine."},
	{Name: "DestroyWaitsForWindow", Source: "rxe_pool.c __rxe_cleanup", Learn: "Deallocate or invalidate type 2 windows before their queue pair, or destroy_qp takes 50 seconds."},
	{Name: "NoRereg", Source: "rxe_verbs.c rxe_dev_ops", Learn: "rxe 6.1 cannot change a region: deregister it and register anew, with new keys."},
	{Name: "SeqErrIfNewAck", Source: "rxe_comp.c check_ack", Learn: "rcvd_seq_err stays 0 when the very first packet in flight is lost: count completer_retry_err too."},
	{Name: "OneRetryAtATime", Source: "rxe_comp.c COMPST_ERROR_RETRY", Learn: "A second loss within one message waits for the local ACK timeout; NICs go back at every NAK."},
	{Name: "ReadHoleWaits", Source: "rxe_comp.c check_psn", Learn: "A lost response of a READ costs a whole local ACK timeout; NICs ask again at once (implied NAK)."},
	{Name: "UCGapCostsNext", Source: "rxe_resp.c check_op_seq, do_class_d1e_error", Learn: "On rxe a loss within a UC message takes the next message with it, and after a WRITE all that follow."},
	{Name: "RNRKeepsAckTimer", Source: "rxe_comp.c COMPST_RNR_RETRY", Learn: "rnr_retry 7 is not for ever on rxe: a receiver that posts nothing ends in RETRY_EXC_ERR after retry_cnt timeouts."},
	{Name: "RNRAcksMessages", Source: "rxe_comp.c check_ack", Learn: "In a capture of rxe a long WRITE_WITH_IMM that meets an RNR NAK at its last packet is sent again whole, and an acknowledgement of the repeated packets starts rnr_retry anew."},
	{Name: "ErrRecvAsPacket", Source: "rxe_resp.c do_complete", Learn: "With solicited-only arming a failed receive does not wake the program, unless its packet was solicited; a flushed one does."},
	{Name: "ReplayGoesOn", Source: "rxe_resp.c read_reply", Learn: "In a capture of rxe a READ that is asked for again from its middle is answered by MIDDLE and LAST; a NIC begins with FIRST or ONLY."},
	{Name: "GhostAcknowledges", Source: "rxe_comp.c check_psn", Learn: "On rxe one forged or stray acknowledgement of a PSN that was never sent completes every request that is under way, a lost one too; NICs drop it."},
	{Name: "ErrorKeepsStatus", Source: "rxe_comp.c COMPST_ERROR", Learn: "On rxe a completion with SUCCESS may be the one that killed the queue pair: look at its state too when a peer may send nonsense."},
	{Name: "AckCompletesReads", Source: "rxe_comp.c check_ack", Learn: "On rxe an acknowledgement completes a READ or an atomic whose response was lost, with SUCCESS and stale bytes: after a loss a SEND followed by an atomic can meet it."},
	{Name: "RepeatAckSkipsReads", Source: "rxe_resp.c duplicate_request", Learn: "In a capture of rxe the answer to a repeated request may name a PSN before that of the latest READ, and 0xffffff where nothing was executed."},
	{Name: "NoCommEst", Source: "rxe_resp.c", Learn: "A server that moves to RTS when COMM_EST tells of the first packet waits for ever on rxe; and a receive may complete before the event on any device."},
	{Name: "ResetKeepsAttrs", Source: "rxe_qp.c rxe_qp_reset, rxe_qp_to_attr", Learn: "What query_qp says in RESET besides the state is of the last life on rxe; do not take it for what the next one will use."},
	{Name: "SRQUsesQPPD", Source: "rxe_resp.c send_data_in", Learn: "Keep an SRQ in the protection domain of its queue pairs, or rxe cannot write its buffers."},
	{Name: "NoLengthCheck", Source: "rxe_resp.c check_length, rxe_comp.c do_read", Learn: "Peers that disagree on the path MTU are caught by WRITE and not by SEND; a READ from the one with the smaller MTU never completes."},
}
