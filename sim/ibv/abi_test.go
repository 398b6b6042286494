//go:build linux && (amd64 || arm64) && !noibv

package ibv

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"rdmaprep/sim/verbs"
)

// What the Go code takes the header to say.
var (
	ctx     cContext
	mr      cMR
	mw      cMW
	ch      cChannel
	cq      cCQ
	qp      cQP
	sge     cSGE
	send    cSendWR
	recv    cRecvWR
	wc      cWC
	ah      cAHAttr
	qpInit  cQPInitAttr
	attr    cQPAttr
	port    cPortAttr
	dev     cDeviceAttr
	srq     cSRQAttr
	srqInit cSRQInitAttr
	bind    cMWBind
	event   cAsyncEvent
	gid     cGIDEntry
)

var layout = map[string]uint64{
	"size ibv_context":                                     uint64(unsafe.Sizeof(ctx)),
	"offset ibv_context.device":                            uint64(unsafe.Offsetof(ctx.device)),
	"offset ibv_context.ops":                               uint64(unsafe.Offsetof(ctx.ops)),
	"offset ibv_context.cmd_fd":                            uint64(unsafe.Offsetof(ctx.cmdFD)),
	"offset ibv_context.async_fd":                          uint64(unsafe.Offsetof(ctx.asyncFD)),
	"offset ibv_context.num_comp_vectors":                  uint64(unsafe.Offsetof(ctx.vectors)),
	"offset ibv_context.mutex":                             uint64(unsafe.Offsetof(ctx.mutex)),
	"offset ibv_context.abi_compat":                        uint64(unsafe.Offsetof(ctx.abiCompt)),
	"offset ibv_context_ops.alloc_mw":                      uint64(8 * opAllocMW),
	"offset ibv_context_ops.bind_mw":                       uint64(8 * opBindMW),
	"offset ibv_context_ops.dealloc_mw":                    uint64(8 * opDeallocMW),
	"offset ibv_context_ops.poll_cq":                       uint64(8 * opPollCQ),
	"offset ibv_context_ops.req_notify_cq":                 uint64(8 * opReqNotify),
	"offset ibv_context_ops.post_srq_recv":                 uint64(8 * opPostSRQRecv),
	"offset ibv_context_ops.post_send":                     uint64(8 * opPostSend),
	"offset ibv_context_ops.post_recv":                     uint64(8 * opPostRecv),
	"offset verbs_context.query_port":                      uint64(vctxQueryPort),
	"offset verbs_context.sz":                              uint64(vctxSize),
	"offset verbs_context.context":                         uint64(vctxContext),
	"offset ibv_device.name":                               uint64(devName),
	"offset ibv_device.dev_name":                           uint64(devUverbs),
	"value IBV_SYSFS_NAME_MAX":                             uint64(sysNameMax),
	"offset ibv_mr.pd":                                     uint64(unsafe.Offsetof(mr.pd)),
	"offset ibv_mr.addr":                                   uint64(unsafe.Offsetof(mr.addr)),
	"offset ibv_mr.length":                                 uint64(unsafe.Offsetof(mr.length)),
	"offset ibv_mr.lkey":                                   uint64(unsafe.Offsetof(mr.lkey)),
	"offset ibv_mr.rkey":                                   uint64(unsafe.Offsetof(mr.rkey)),
	"size ibv_mr":                                          uint64(unsafe.Sizeof(mr)),
	"offset ibv_mw.pd":                                     uint64(unsafe.Offsetof(mw.pd)),
	"offset ibv_mw.rkey":                                   uint64(unsafe.Offsetof(mw.rkey)),
	"offset ibv_mw.type":                                   uint64(unsafe.Offsetof(mw.kind)),
	"offset ibv_comp_channel.fd":                           uint64(unsafe.Offsetof(ch.fd)),
	"offset ibv_cq.channel":                                uint64(unsafe.Offsetof(cq.channel)),
	"offset ibv_cq.cqe":                                    uint64(unsafe.Offsetof(cq.cqe)),
	"offset ibv_qp.send_cq":                                uint64(unsafe.Offsetof(qp.sendCQ)),
	"offset ibv_qp.recv_cq":                                uint64(unsafe.Offsetof(qp.recvCQ)),
	"offset ibv_qp.srq":                                    uint64(unsafe.Offsetof(qp.srq)),
	"offset ibv_qp.qp_num":                                 uint64(unsafe.Offsetof(qp.num)),
	"offset ibv_qp.state":                                  uint64(unsafe.Offsetof(qp.state)),
	"offset ibv_qp.qp_type":                                uint64(unsafe.Offsetof(qp.kind)),
	"size ibv_sge":                                         uint64(unsafe.Sizeof(sge)),
	"offset ibv_sge.addr":                                  uint64(unsafe.Offsetof(sge.addr)),
	"offset ibv_sge.length":                                uint64(unsafe.Offsetof(sge.length)),
	"offset ibv_sge.lkey":                                  uint64(unsafe.Offsetof(sge.lkey)),
	"size ibv_send_wr":                                     uint64(unsafe.Sizeof(send)),
	"offset ibv_send_wr.wr_id":                             uint64(unsafe.Offsetof(send.id)),
	"offset ibv_send_wr.next":                              uint64(unsafe.Offsetof(send.next)),
	"offset ibv_send_wr.sg_list":                           uint64(unsafe.Offsetof(send.sgList)),
	"offset ibv_send_wr.num_sge":                           uint64(unsafe.Offsetof(send.numSGE)),
	"offset ibv_send_wr.opcode":                            uint64(unsafe.Offsetof(send.opcode)),
	"offset ibv_send_wr.send_flags":                        uint64(unsafe.Offsetof(send.flags)),
	"offset ibv_send_wr.imm_data":                          uint64(unsafe.Offsetof(send.immOrKey)),
	"offset ibv_send_wr.invalidate_rkey":                   uint64(unsafe.Offsetof(send.immOrKey)),
	"offset ibv_send_wr.wr":                                uint64(unsafe.Offsetof(send.union)),
	"offset ibv_send_wr.wr.rdma.remote_addr":               uint64(unsafe.Offsetof(send.union)),
	"offset ibv_send_wr.wr.rdma.rkey":                      uint64(unsafe.Offsetof(send.union)) + 8,
	"offset ibv_send_wr.wr.atomic.remote_addr":             uint64(unsafe.Offsetof(send.union)),
	"offset ibv_send_wr.wr.atomic.compare_add":             uint64(unsafe.Offsetof(send.union)) + 8,
	"offset ibv_send_wr.wr.atomic.swap":                    uint64(unsafe.Offsetof(send.union)) + 16,
	"offset ibv_send_wr.wr.atomic.rkey":                    uint64(unsafe.Offsetof(send.union)) + 24,
	"offset ibv_send_wr.wr.ud.ah":                          uint64(unsafe.Offsetof(send.union)),
	"offset ibv_send_wr.wr.ud.remote_qpn":                  uint64(unsafe.Offsetof(send.union)) + 8,
	"offset ibv_send_wr.wr.ud.remote_qkey":                 uint64(unsafe.Offsetof(send.union)) + 12,
	"offset ibv_send_wr.bind_mw.mw":                        uint64(unsafe.Offsetof(send.mw)),
	"offset ibv_send_wr.bind_mw.rkey":                      uint64(unsafe.Offsetof(send.bindRKey)),
	"offset ibv_send_wr.bind_mw.bind_info.mr":              uint64(unsafe.Offsetof(send.mr)),
	"offset ibv_send_wr.bind_mw.bind_info.addr":            uint64(unsafe.Offsetof(send.bindAddr)),
	"offset ibv_send_wr.bind_mw.bind_info.length":          uint64(unsafe.Offsetof(send.bindLength)),
	"offset ibv_send_wr.bind_mw.bind_info.mw_access_flags": uint64(unsafe.Offsetof(send.bindAccess)),
	"size ibv_recv_wr":                                     uint64(unsafe.Sizeof(recv)),
	"offset ibv_recv_wr.wr_id":                             uint64(unsafe.Offsetof(recv.id)),
	"offset ibv_recv_wr.next":                              uint64(unsafe.Offsetof(recv.next)),
	"offset ibv_recv_wr.sg_list":                           uint64(unsafe.Offsetof(recv.sgList)),
	"offset ibv_recv_wr.num_sge":                           uint64(unsafe.Offsetof(recv.numSGE)),
	"size ibv_wc":                                          uint64(unsafe.Sizeof(wc)),
	"offset ibv_wc.wr_id":                                  uint64(unsafe.Offsetof(wc.id)),
	"offset ibv_wc.status":                                 uint64(unsafe.Offsetof(wc.status)),
	"offset ibv_wc.opcode":                                 uint64(unsafe.Offsetof(wc.opcode)),
	"offset ibv_wc.vendor_err":                             uint64(unsafe.Offsetof(wc.vendorErr)),
	"offset ibv_wc.byte_len":                               uint64(unsafe.Offsetof(wc.byteLen)),
	"offset ibv_wc.imm_data":                               uint64(unsafe.Offsetof(wc.immOrKey)),
	"offset ibv_wc.invalidated_rkey":                       uint64(unsafe.Offsetof(wc.immOrKey)),
	"offset ibv_wc.qp_num":                                 uint64(unsafe.Offsetof(wc.qpNum)),
	"offset ibv_wc.src_qp":                                 uint64(unsafe.Offsetof(wc.srcQP)),
	"offset ibv_wc.wc_flags":                               uint64(unsafe.Offsetof(wc.flags)),
	"size ibv_ah_attr":                                     uint64(unsafe.Sizeof(ah)),
	"offset ibv_ah_attr.grh.dgid":                          uint64(unsafe.Offsetof(ah.dgid)),
	"offset ibv_ah_attr.grh.flow_label":                    uint64(unsafe.Offsetof(ah.flowLabel)),
	"offset ibv_ah_attr.grh.sgid_index":                    uint64(unsafe.Offsetof(ah.sgidIndex)),
	"offset ibv_ah_attr.grh.hop_limit":                     uint64(unsafe.Offsetof(ah.hopLimit)),
	"offset ibv_ah_attr.grh.traffic_class":                 uint64(unsafe.Offsetof(ah.trafficClass)),
	"offset ibv_ah_attr.is_global":                         uint64(unsafe.Offsetof(ah.isGlobal)),
	"offset ibv_ah_attr.port_num":                          uint64(unsafe.Offsetof(ah.port)),
	"size ibv_qp_init_attr":                                uint64(unsafe.Sizeof(qpInit)),
	"offset ibv_qp_init_attr.send_cq":                      uint64(unsafe.Offsetof(qpInit.sendCQ)),
	"offset ibv_qp_init_attr.recv_cq":                      uint64(unsafe.Offsetof(qpInit.recvCQ)),
	"offset ibv_qp_init_attr.srq":                          uint64(unsafe.Offsetof(qpInit.srq)),
	"offset ibv_qp_init_attr.cap.max_send_wr":              uint64(unsafe.Offsetof(qpInit.cap)),
	"offset ibv_qp_init_attr.cap.max_recv_wr":              uint64(unsafe.Offsetof(qpInit.cap)) + 4,
	"offset ibv_qp_init_attr.cap.max_send_sge":             uint64(unsafe.Offsetof(qpInit.cap)) + 8,
	"offset ibv_qp_init_attr.cap.max_recv_sge":             uint64(unsafe.Offsetof(qpInit.cap)) + 12,
	"offset ibv_qp_init_attr.cap.max_inline_data":          uint64(unsafe.Offsetof(qpInit.cap)) + 16,
	"offset ibv_qp_init_attr.qp_type":                      uint64(unsafe.Offsetof(qpInit.kind)),
	"offset ibv_qp_init_attr.sq_sig_all":                   uint64(unsafe.Offsetof(qpInit.sqSigAll)),
	"size ibv_qp_attr":                                     uint64(unsafe.Sizeof(attr)),
	"offset ibv_qp_attr.qp_state":                          uint64(unsafe.Offsetof(attr.state)),
	"offset ibv_qp_attr.cur_qp_state":                      uint64(unsafe.Offsetof(attr.curState)),
	"offset ibv_qp_attr.path_mtu":                          uint64(unsafe.Offsetof(attr.pathMTU)),
	"offset ibv_qp_attr.qkey":                              uint64(unsafe.Offsetof(attr.qkey)),
	"offset ibv_qp_attr.rq_psn":                            uint64(unsafe.Offsetof(attr.rqPSN)),
	"offset ibv_qp_attr.sq_psn":                            uint64(unsafe.Offsetof(attr.sqPSN)),
	"offset ibv_qp_attr.dest_qp_num":                       uint64(unsafe.Offsetof(attr.destQPN)),
	"offset ibv_qp_attr.qp_access_flags":                   uint64(unsafe.Offsetof(attr.access)),
	"offset ibv_qp_attr.cap":                               uint64(unsafe.Offsetof(attr.cap)),
	"offset ibv_qp_attr.ah_attr":                           uint64(unsafe.Offsetof(attr.av)),
	"offset ibv_qp_attr.pkey_index":                        uint64(unsafe.Offsetof(attr.pkeyIndex)),
	"offset ibv_qp_attr.alt_pkey_index":                    uint64(unsafe.Offsetof(attr.altPKeyIndex)),
	"offset ibv_qp_attr.en_sqd_async_notify":               uint64(unsafe.Offsetof(attr.enSQDAsyncNotify)),
	"offset ibv_qp_attr.sq_draining":                       uint64(unsafe.Offsetof(attr.sqDraining)),
	"offset ibv_qp_attr.max_rd_atomic":                     uint64(unsafe.Offsetof(attr.maxRDAtomic)),
	"offset ibv_qp_attr.max_dest_rd_atomic":                uint64(unsafe.Offsetof(attr.maxDestRDAtomic)),
	"offset ibv_qp_attr.min_rnr_timer":                     uint64(unsafe.Offsetof(attr.minRNRTimer)),
	"offset ibv_qp_attr.port_num":                          uint64(unsafe.Offsetof(attr.port)),
	"offset ibv_qp_attr.timeout":                           uint64(unsafe.Offsetof(attr.timeout)),
	"offset ibv_qp_attr.retry_cnt":                         uint64(unsafe.Offsetof(attr.retryCnt)),
	"offset ibv_qp_attr.rnr_retry":                         uint64(unsafe.Offsetof(attr.rnrRetry)),
	"offset ibv_qp_attr.alt_port_num":                      uint64(unsafe.Offsetof(attr.altPort)),
	"size ibv_port_attr":                                   uint64(unsafe.Sizeof(port)),
	"offset ibv_port_attr.state":                           uint64(unsafe.Offsetof(port.state)),
	"offset ibv_port_attr.max_mtu":                         uint64(unsafe.Offsetof(port.maxMTU)),
	"offset ibv_port_attr.active_mtu":                      uint64(unsafe.Offsetof(port.activeMTU)),
	"offset ibv_port_attr.gid_tbl_len":                     uint64(unsafe.Offsetof(port.gidTableLen)),
	"offset ibv_port_attr.max_msg_sz":                      uint64(unsafe.Offsetof(port.maxMsgSize)),
	"offset ibv_port_attr.pkey_tbl_len":                    uint64(unsafe.Offsetof(port.pkeyTableLen)),
	"offset ibv_port_attr.link_layer":                      uint64(unsafe.Offsetof(port.linkLayer)),
	"offset ibv_port_attr.flags":                           uint64(unsafe.Offsetof(port.flags)),
	"size ibv_device_attr":                                 uint64(unsafe.Sizeof(dev)),
	"offset ibv_device_attr.max_qp":                        uint64(unsafe.Offsetof(dev.maxQP)),
	"offset ibv_device_attr.max_qp_wr":                     uint64(unsafe.Offsetof(dev.maxQPWR)),
	"offset ibv_device_attr.device_cap_flags":              uint64(unsafe.Offsetof(dev.capFlags)),
	"offset ibv_device_attr.max_sge":                       uint64(unsafe.Offsetof(dev.maxSGE)),
	"offset ibv_device_attr.max_cq":                        uint64(unsafe.Offsetof(dev.maxCQ)),
	"offset ibv_device_attr.max_cqe":                       uint64(unsafe.Offsetof(dev.maxCQE)),
	"offset ibv_device_attr.max_mr":                        uint64(unsafe.Offsetof(dev.maxMR)),
	"offset ibv_device_attr.max_pd":                        uint64(unsafe.Offsetof(dev.maxPD)),
	"offset ibv_device_attr.max_qp_rd_atom":                uint64(unsafe.Offsetof(dev.maxQPRDAtom)),
	"offset ibv_device_attr.max_res_rd_atom":               uint64(unsafe.Offsetof(dev.maxResRDAtom)),
	"offset ibv_device_attr.max_qp_init_rd_atom":           uint64(unsafe.Offsetof(dev.maxQPInitRDAtom)),
	"offset ibv_device_attr.atomic_cap":                    uint64(unsafe.Offsetof(dev.atomicCap)),
	"offset ibv_device_attr.max_mw":                        uint64(unsafe.Offsetof(dev.maxMW)),
	"offset ibv_device_attr.max_ah":                        uint64(unsafe.Offsetof(dev.maxAH)),
	"offset ibv_device_attr.max_srq":                       uint64(unsafe.Offsetof(dev.maxSRQ)),
	"offset ibv_device_attr.max_srq_wr":                    uint64(unsafe.Offsetof(dev.maxSRQWR)),
	"offset ibv_device_attr.max_srq_sge":                   uint64(unsafe.Offsetof(dev.maxSRQSGE)),
	"offset ibv_device_attr.max_pkeys":                     uint64(unsafe.Offsetof(dev.maxPKeys)),
	"offset ibv_device_attr.local_ca_ack_delay":            uint64(unsafe.Offsetof(dev.localCAAckDelay)),
	"offset ibv_device_attr.phys_port_cnt":                 uint64(unsafe.Offsetof(dev.physPortCount)),
	"size ibv_srq_attr":                                    uint64(unsafe.Sizeof(srq)),
	"offset ibv_srq_attr.max_wr":                           uint64(unsafe.Offsetof(srq.maxWR)),
	"offset ibv_srq_attr.max_sge":                          uint64(unsafe.Offsetof(srq.maxSGE)),
	"offset ibv_srq_attr.srq_limit":                        uint64(unsafe.Offsetof(srq.limit)),
	"size ibv_srq_init_attr":                               uint64(unsafe.Sizeof(srqInit)),
	"offset ibv_srq_init_attr.attr":                        uint64(unsafe.Offsetof(srqInit.attr)),
	"size ibv_mw_bind":                                     uint64(unsafe.Sizeof(bind)),
	"offset ibv_mw_bind.wr_id":                             uint64(unsafe.Offsetof(bind.id)),
	"offset ibv_mw_bind.send_flags":                        uint64(unsafe.Offsetof(bind.flags)),
	"offset ibv_mw_bind.bind_info.mr":                      uint64(unsafe.Offsetof(bind.mr)),
	"offset ibv_mw_bind.bind_info.addr":                    uint64(unsafe.Offsetof(bind.addr)),
	"offset ibv_mw_bind.bind_info.length":                  uint64(unsafe.Offsetof(bind.length)),
	"offset ibv_mw_bind.bind_info.mw_access_flags":         uint64(unsafe.Offsetof(bind.access)),
	"size ibv_async_event":                                 uint64(unsafe.Sizeof(event)),
	"offset ibv_async_event.element":                       uint64(unsafe.Offsetof(event.element)),
	"offset ibv_async_event.event_type":                    uint64(unsafe.Offsetof(event.kind)),
	"size ibv_gid_entry":                                   uint64(unsafe.Sizeof(gid)),
	"offset ibv_gid_entry.gid":                             uint64(unsafe.Offsetof(gid.gid)),
	"offset ibv_gid_entry.gid_index":                       uint64(unsafe.Offsetof(gid.index)),
	"offset ibv_gid_entry.port_num":                        uint64(unsafe.Offsetof(gid.port)),
	"offset ibv_gid_entry.gid_type":                        uint64(unsafe.Offsetof(gid.kind)),
	"value IBV_GID_TYPE_ROCE_V2":                           uint64(gidRoCEv2),
	"value IBV_DEVICE_MEM_WINDOW":                          uint64(capMemWindow),
	"value IBV_DEVICE_MEM_WINDOW_TYPE_2B":                  uint64(capMemWindow2B),
	"value IBV_ATOMIC_HCA":                                 uint64(atomicHCA),
	"value IBV_ACCESS_OPTIONAL_RANGE":                      uint64(optionalAccess),
	"value IBV_EVENT_CQ_ERR":                               uint64(verbs.EventCQErr),
	"value IBV_EVENT_QP_FATAL":                             uint64(verbs.EventQPFatal),
	"value IBV_EVENT_QP_LAST_WQE_REACHED":                  uint64(verbs.EventQPLastWQEReached),
	"value IBV_EVENT_SQ_DRAINED":                           uint64(verbs.EventSQDrained),
	"value IBV_EVENT_SRQ_LIMIT_REACHED":                    uint64(verbs.EventSRQLimitReached),
	"value IBV_EVENT_SRQ_ERR":                              uint64(verbs.EventSRQErr),
	"value IBV_EVENT_PORT_ERR":                             uint64(verbs.EventPortErr),
	"value IBV_SEND_SIGNALED":                              uint64(verbs.SendSignaled),
	"value IBV_SEND_INLINE":                                uint64(verbs.SendInline),
	"value IBV_WC_WITH_INV":                                uint64(verbs.WCWithInv),
	"value IBV_WC_WITH_IMM":                                uint64(verbs.WCWithImm),
	"value IBV_WC_RECV":                                    uint64(verbs.WCRecv),
	"value IBV_WC_BIND_MW":                                 uint64(verbs.WCBindMW),
	"value IBV_WC_LOCAL_INV":                               uint64(verbs.WCLocalInv),
	"value IBV_WC_MW_BIND_ERR":                             uint64(verbs.WCMWBindErr),
	"value IBV_WR_LOCAL_INV":                               uint64(verbs.WRLocalInv),
	"value IBV_WR_BIND_MW":                                 uint64(verbs.WRBindMW),
	"value IBV_WR_SEND_WITH_INV":                           uint64(verbs.WRSendWithInv),
	"value IBV_QP_DEST_QPN":                                uint64(verbs.MaskDestQPN),
	"value IBV_QPT_RC":                                     uint64(verbs.RC),
	"value IBV_QPT_UD":                                     uint64(verbs.UD),
	"value IBV_QPS_ERR":                                    uint64(verbs.ERR),
	"value IBV_MW_TYPE_2":                                  uint64(verbs.MWType2),
	"value IBV_SRQ_LIMIT":                                  uint64(verbs.MaskSRQLimit),
	"value ABI_EXTENDED":                                   1,
}

// TestLayout compares every size, offset and value that the package relies on
// with what the C compiler says of <infiniband/verbs.h>.
func TestLayout(t *testing.T) {
	msg, err := exec.Command(compile(t, t.TempDir(), "probe.c")).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(msg)) {
		f := strings.Fields(line)
		key := f[0] + " " + f[1]
		want, err := strconv.ParseUint(f[2], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		seen[key] = true
		if got, ok := layout[key]; !ok || got != want {
			t.Errorf("%s is %d in C, %d here (known: %v)", key, want, got, ok)
		}
	}
	for key := range layout {
		if !seen[key] {
			t.Errorf("the probe does not print %s", key)
		}
	}
	if len(seen) < 190 {
		t.Errorf("the probe printed only %d lines", len(seen))
	}
}
