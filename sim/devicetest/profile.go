package devicetest

import (
	"fmt"
	"strings"

	"rdmaprep/sim/verbs"
)

// difference is one thing that is not the same under every profile. A live
// device is Linux 6.1's rxe and does what rxe does, unless live says what it does
// instead, and why says why.
type difference struct {
	spec, rxe string
	live, why string
	source    string
}

// differences is the only place of the suite that knows profiles.
var differences = map[string]difference{
	"device limits": {
		spec:   "sge=30 qp_wr=32768 cqe=4194303 srq_wr=32767 srq_sge=31 rd_atom=16/16 inline=512 pkeys=1 ports=1 atomic=true mw=true/true",
		rxe:    "sge=32 qp_wr=1048576 cqe=32767 srq_wr=1048576 srq_sge=27 rd_atom=128/128 inline=512 pkeys=64 ports=1 atomic=true mw=true/true",
		source: "rxe_param.h, rxe.c rxe_init_device_param; spec: a ConnectX's round figures",
	},
	"gid_tbl_len":                 {spec: "2", rxe: "1024", source: "rxe_param.h RXE_PORT_GID_TBL_LEN"},
	"max_msg_sz":                  {spec: "2147483648", rxe: "8388608", source: "rxe_param.h RXE_PORT_MAX_MSG_SZ"},
	"create_ah with an empty GID": {spec: "EINVAL", rxe: "ENODATA", source: "core/cache.c rdma_get_gid_attr: EINVAL past the table, ENODATA in it"},

	"reg_mr of no bytes":                   {spec: "ok", rxe: "EINVAL", source: "core/umem.c ib_umem_get: npages is 0"},
	"a local region's rkey is 0":           {spec: "false", rxe: "true", source: "rxe_mr.c rxe_mr_init"},
	"ZERO_BASED of a region has an effect": {spec: "true", rxe: "false", source: "rxe_mr.c rxe_mr_init_user keeps the iova"},
	"rereg_mr":                             {spec: "ok", rxe: "EOPNOTSUPP", source: "rxe_verbs.c rxe_dev_ops has no rereg_user_mr"},
	"rereg_mr with bad access":             {spec: "EINVAL", rxe: "EOPNOTSUPP", source: "rxe_verbs.c rxe_dev_ops has no rereg_user_mr"},
	"rereg_mr under a window":              {spec: "EBUSY", rxe: "EOPNOTSUPP", source: "rxe_verbs.c rxe_dev_ops has no rereg_user_mr"},
	"send CQ overflow, events":             {spec: "CQ_ERR QP_FATAL", rxe: "CQ_ERR CQ_ERR", source: "rxe_cq.c rxe_cq_post; IBTA 10.2.6"},
	"send CQ overflow, state":              {spec: "ERR", rxe: "RTS", source: "rxe_comp.c do_complete ignores what rxe_cq_post returns"},
	"dereg_mr under a window":              {spec: "EBUSY", rxe: "EINVAL", source: "rxe_mr.c rxe_dereg_mr"},

	"create tells the capacity":                    {spec: "true", rxe: "false", source: "rxe_qp.c rxe_qp_init_req and rxe_srq.c rxe_srq_from_init leave max_wr as it was asked; query tells"},
	"srq resized to what is rounded up to hold it": {spec: "EINVAL", rxe: "ok", source: "rxe_queue.c resize_finish compares after rounding"},

	"srq made smaller than its content": {
		spec: "EINVAL", rxe: "EINVAL", live: "EPERM",
		why:    "refused before it reaches the kernel, since rxe before Linux 6.1.191 crashes",
		source: "rxe_queue.c resize_finish; CVE-2025-68379",
	},

	"CUR_STATE is checked":            {spec: "EINVAL", rxe: "ok", source: "rxe_qp.c rxe_qp_chk_attr takes cur_qp_state at its word"},
	"cur_qp_state is told":            {spec: "true", rxe: "false", source: "rxe_qp.c rxe_qp_to_attr gives what was last set"},
	"SQE is reached":                  {spec: "true", rxe: "false", source: "rxe_req.c: every error of every type goes to ERR"},
	"retry_cnt above 7":               {spec: "EINVAL", rxe: "ok", source: "rxe_qp.c rxe_qp_chk_attr has no check"},
	"rnr_retry above 7":               {spec: "EINVAL", rxe: "ok", source: "rxe_qp.c rxe_qp_chk_attr has no check"},
	"min_rnr_timer above 31":          {spec: "EINVAL", rxe: "ok", source: "rxe_qp.c rxe_qp_chk_attr has no check"},
	"max_dest_rd_atomic out of range": {spec: "EINVAL", rxe: "ok", source: "rxe_qp.c rxe_qp_chk_attr has no check"},
	"path_mtu 0":                      {spec: "EINVAL", rxe: "ok", source: "rxe_qp.c rxe_qp_chk_attr checks the upper bound alone"},
	"rd_atomic 5 becomes":             {spec: "5", rxe: "8", source: "rxe_qp.c rxe_qp_from_attr rounds up to a power of two"},
	"Q_Key with the high bit": {
		spec: "EPERM", rxe: "EPERM", live: "ok",
		why:    "the guest's test runs as root, which has CAP_NET_RAW; the model's program is an ordinary user's",
		source: "core/uverbs_cmd.c modify_qp, core/nldev.c rdma_nl_get_privileged_qkey",
	},

	"pkey_index out of range":     {spec: "EINVAL", rxe: "ok", source: "rxe_qp.c rxe_qp_chk_attr has no check, though the table has one entry"},
	"modify_qp with an empty GID": {spec: "EINVAL", rxe: "ENODATA", source: "core/cache.c rdma_get_gid_attr: EINVAL past the table, ENODATA in it"},
	"srq_limit given to create":   {spec: "0", rxe: "2", source: "rxe_srq.c rxe_srq_from_init"},

	"a send posted early is done later": {spec: "false", rxe: "true", source: "rdma-core providers/rxe/rxe.c post_send_db"},
	"inline READ":                       {spec: "EINVAL", rxe: "ok", source: "rdma-core providers/rxe/rxe.c validate_send_wr"},
	"atomic at a bad address":           {spec: "ok", rxe: "EINVAL", source: "rdma-core providers/rxe/rxe.c validate_send_wr"},
	"slots free without a poll":         {spec: "false", rxe: "true", source: "rxe_comp.c advance_queue"},

	"flags of an RC receive":   {spec: "0", rxe: "GRH", source: "rxe_resp.c do_complete"},
	"flags of an immediate":    {spec: "WITH_IMM", rxe: "GRH|WITH_IMM", source: "rxe_resp.c do_complete"},
	"flags of a WITH_IMM send": {spec: "0", rxe: "WITH_IMM", source: "rxe_comp.c make_send_cqe"},
	"WITH_INV is told": {
		spec: "true", rxe: "false",
		source: "rxe_resp.c do_complete; include/rdma/ib_verbs.h enum ib_wc_flags: the kernel's flag 4 is IP_CSUM_OK of the header",
	},

	"SEND from a bad lkey":             {spec: "LOC_PROT_ERR", rxe: "LOC_QP_OP_ERR", source: "rxe_req.c finish_packet maps only EFAULT"},
	"SEND too long, sender":            {spec: "REM_INV_REQ_ERR", rxe: "REM_OP_ERR", source: "rxe_mr.c copy_data, rxe_resp.c send_data_in"},
	"SEND too long, receiver":          {spec: "LOC_LEN_ERR", rxe: "LOC_QP_OP_ERR", source: "rxe_mr.c copy_data, rxe_resp.c send_data_in"},
	"receive with a bad lkey":          {spec: "LOC_PROT_ERR", rxe: "LOC_QP_OP_ERR", source: "rxe_resp.c send_data_in"},
	"WRITE_WITH_IMM, bad rkey":         {spec: "LOC_ACCESS_ERR", rxe: "REM_ACCESS_ERR", source: "rxe_resp.c do_class_ac_error"},
	"LOCAL_INV of a region":            {spec: "MW_BIND_ERR", rxe: "LOC_QP_OP_ERR", source: "rxe_req.c rxe_do_local_ops"},
	"state after a UC send error":      {spec: "SQE", rxe: "ERR", source: "rxe_req.c rxe_qp_error for every type"},
	"UD above the MTU":                 {spec: "LOC_LEN_ERR", rxe: "SUCCESS SEND len=5000", source: "rxe_req.c rxe_requester, after C10-93.1.1"},
	"UD into a small buffer, state":    {spec: "RTS", rxe: "ERR", source: "rxe_resp.c send_data_in"},
	"UD into a small buffer, receiver": {spec: "", rxe: "1 LOC_QP_OP_ERR", source: "rxe_resp.c send_data_in"},
	"access event at the responder":    {spec: "QP_ACCESS_ERR", rxe: "", source: "rxe_resp.c of 6.1 raises none"},
	"a receive posted in ERR":          {spec: "flushed", rxe: "waits", source: "rdma-core providers/rxe/rxe.c rxe_post_recv rings no doorbell"},
	"SRQ, moved to ERR":                {spec: "QP_LAST_WQE_REACHED", rxe: "", source: "rxe_resp.c of 6.1; 6.12 has it in flush_recv_queue"},
	"SQ_DRAINED unasked":               {spec: "", rxe: "SQ_DRAINED", source: "rxe_req.c next_wqe"},
	"arming without a channel":         {spec: "EINVAL", rxe: "ok", source: "rxe_verbs.c rxe_req_notify_cq"},
	"a failed send is solicited":       {spec: "true", rxe: "false", source: "rxe_comp.c do_complete passes 0"},
	"counter of an RNR NAK":            {spec: "rnr_nak_retry_err", rxe: "rcvd_rnr_err", source: "rxe_hw_counters.c; mlx5"},
}

// rule is what the profile says of one of the differences.
func (t *T) rule(name string) string {
	t.Helper()
	d, ok := differences[name]
	if !ok {
		t.Fatalf("no difference is called %q", name)
	}
	t.source = d.source
	switch t.profile {
	case "spec":
		return d.spec
	case "rxe-6.1":
		return d.rxe
	case "live":
		if d.why != "" {
			return d.live
		}
		return d.rxe
	}
	t.Fatalf("the suite knows no profile %q", t.profile)
	return ""
}

// rxe says whether the Bench follows rxe of Linux 6.1, model or live.
func (t *T) rxe() bool { return t.profile != "spec" }

func limitText(a *verbs.DeviceAttr) string {
	return strings.TrimSpace(fmt.Sprintf("sge=%d qp_wr=%d cqe=%d srq_wr=%d srq_sge=%d rd_atom=%d/%d inline=%d pkeys=%d ports=%d atomic=%t mw=%t/%t",
		a.MaxSGE, a.MaxQPWR, a.MaxCQE, a.MaxSRQWR, a.MaxSRQSGE, a.MaxQPRDAtom, a.MaxQPInitRDAtom, a.MaxInline, a.MaxPKeys,
		a.PhysPortCount, a.AtomicHCA, a.MemWindowType1, a.MemWindow2B))
}

func powerOfTwoLessOne(n int) int {
	p := 2
	for p-1 < n {
		p *= 2
	}
	return p - 1
}
