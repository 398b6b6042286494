package model

// Choice is a point on which the IBTA, as publicly quoted, leaves room or
// devices differ, and what the profile spec does.
type Choice struct {
	Rule   string // what was to be decided
	Does   string // what spec does
	Source string // whose expectation it follows, or why
	Shown  string // the transcript that shows it: FILE of testdata and a line of it
}

// choices is every choice of spec that somebody could have made otherwise.
var choices = []Choice{
	{
		"a full completion queue", "CQ_ERR; the CQ and every queue pair on it are dead.",
		"mlx5 and most NICs; rdma-unit-test skips its overwriting cases for them", "objects.txt: type=CQ_ERR",
	},
	{
		"RDMA of no bytes with a bad rkey", "The key is not looked at; SUCCESS.",
		"IBTA C9-88; BufferMrTest.WriteZeroByteInvalidRKey", "conformance/buffers.txt: BufferMrTest.WriteZeroByteInvalidRKey",
	},
	{
		"an atomic that is both misaligned and without a valid key", "REM_INV_REQ_ERR: the alignment is looked at first.",
		"LoopbackRcQpTest.FetchAddUnalignedInvalidRKey", "conformance/rc_atomic.txt: FetchAddUnalignedInvalidRKey",
	},
	{
		"SEND_WITH_INV of a key that cannot be invalidated",
		"The receive and the receiver fail, nothing is answered, and the sender runs out of retries (class J).",
		"LoopbackRcQpTest.SendWithInvalidateBadRkey", "conformance/rc_messages.txt: SendWithInvalidateBadRkey",
	},
	{
		"LOCAL_INV that fails", "MW_BIND_ERR.", "MwType2Test.CrossQpInvalidate, mlx5", "conformance/mw.txt: MwType2Test.CrossQpInvalidate",
	},
	{
		"the new key of a type 2 bind", "Its low byte may be the one before.",
		"MwType2Test.DistinctRKeys binds thousands of windows with one key", "conformance/mw.txt: MwType2Test.DistinctRKeys",
	},
	{
		"dereg_mr under a bound window", "EBUSY.", "MwGeneralTest.DeregMrWhenBound", "conformance/mw.txt: MwGeneralTest.DeregMrWhenBound",
	},
	{
		"destroy_cq with events that were taken and not acknowledged", "EBUSY, where libibverbs would wait for ever.",
		"CompChannelTest.DeleteWithUnacked asks only that it does not return 0", "conformance/channel.txt: CompChannelTest.DeleteWithUnacked",
	},
	{
		"req_notify_cq on a CQ without a channel", "EINVAL.",
		"CompChannelTest.RequestNotificationOnCqWithoutCompChannel", "conformance/channel.txt: RequestNotificationOnCqWithoutCompChannel",
	},
	{
		"post_send in RESET, INIT and RTR", "EINVAL, and nothing is kept.",
		"ibv_post_send(3); QpStateTest.PostSendInit permits keeping it", "conformance/qp_states.txt: QpStateTest.PostSendInit",
	},
	{
		"a datagram longer than its receive", "Dropped; the receive stays.",
		"LoopbackUdQpTest.SendWithTooSmallRecv", "conformance/ud.txt: LoopbackUdQpTest.SendWithTooSmallRecv",
	},
	{
		"when a slot of a queue is free again", "When a completion at or after it was polled.",
		"mlx5 and mlx4 count so; a queue of unsignaled requests fills up", "objects.txt: # When a slot of the send queue is free again",
	},
	{
		"credits before the first acknowledgement", "Nothing is limited until the responder has told of credits.",
		"IBTA 9.7.7.2 begins with none, as rdmavt does; RoCE NICs are not seen to hold back a first burst", "transport.txt: # Credits: the responder tells",
	},
	{
		"how acknowledgements are grouped", "Those that come due within 250 ns go out as one, at most 16.",
		"IBTA 9.7.5.1.2 permits it; how NICs do it is not published", "transport.txt: # Coalescing:",
	},
	{
		"rereg_mr", "The keys stay; a region under a window is EBUSY.",
		"ibv_rereg_mr(3) leaves it open", "conformance/mr.txt: MrTest.ReregMrChangeAddress",
	},
	{
		"the sequence of a READ's responses", "Only their PSNs and their end are looked at: a LAST without a FIRST is taken.",
		"rxe goes on with MIDDLE and LAST in a READ that it repeats from its middle; hfi1/rc.c takes it too",
		"forged.txt: # LAST where a READ has one response",
	},
	{
		"a READ response or an atomic's whose AETH is no ACK", "BAD_RESP_ERR.",
		"nothing public says; hfi1/rc.c takes it as the NAK that it is", "forged.txt: # A READ response whose AETH is a NAK",
	},
	{
		"a reserved AETH syndrome", "The answer is dropped.", "hfi1/rc.c do_rc_ack", "forged.txt: # A reserved syndrome.",
	},
	{
		"COMM_EST", "Once for the first packet in RTR that is in sequence, on RC and UC.",
		"rdmavt rvt_comm_est as hfi1/rc.c and uc.c call it", "states.txt: # COMM_EST",
	},
	{
		"query_qp in RESET", "The attributes of modify_qp are 0 again.",
		"a new life has none; mlx4_ib_query_qp fills in the state only", "states.txt: # query_qp in RESET",
	},
	{
		"a UC message that is longer than its receive", "The receive completes LOC_LEN_ERR and the queue pair goes to ERR.",
		"no public test or clause settles it: rdmamojo on IBV_WC_LOC_LEN_ERR names no transport; " +
			"hfi1/uc.c drops the message and keeps the receive, and rxe_resp.c calls a length error of UC class D",
		"states.txt: # A UC message that is too long",
	},
	{
		"timers", "Exact, and without a floor: NICs have floors of their own that nobody promises.",
		"IBTA 9.7.6.1.3: at least 4.096 us << timeout, at most four times that", "transport.txt: # The local ACK timeout",
	},
}
