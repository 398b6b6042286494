/*
 * The script of the test TestSameCalls, as a person writes it in C: two nodes
 * on one device, each a context of its own. It prints what the stub wrote down.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const char *stub_log(void);
void stub_reset(void);

struct node {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	void *buf;
};

static void must(int bad, const char *what) {
	if (bad) {
		perror(what);
		exit(1);
	}
}

static void objects(struct node *n) {
	n->pd = ibv_alloc_pd(n->ctx);
	n->cq = ibv_create_cq(n->ctx, 64, NULL, NULL, 0);
	n->buf = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	n->mr = ibv_reg_mr(n->pd, n->buf, 4096,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	struct ibv_qp_init_attr init = {
		.send_cq = n->cq, .recv_cq = n->cq, .qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64},
	};
	n->qp = ibv_create_qp(n->pd, &init);
	must(!n->pd || !n->cq || !n->mr || !n->qp, "objects");
}

static void to_init(struct node *n) {
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	must(ibv_modify_qp(n->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
}

static void to_rtr(struct node *n, struct node *peer) {
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp->qp_num, .rq_psn = 0x100,
		.max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 2, .hop_limit = 64}},
	};
	must(ibv_query_gid(peer->ctx, 1, 2, &a.ah_attr.grh.dgid), "the peer's GID");
	must(ibv_modify_qp(n->qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
}

static void to_rts(struct node *n) {
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 6, .rnr_retry = 6, .sq_psn = 0x100, .max_rd_atomic = 4,
	};
	must(ibv_modify_qp(n->qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			   IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

static struct ibv_sge sge(struct node *n, int from, int to) {
	return (struct ibv_sge){.addr = (uintptr_t)n->buf + from, .length = to - from, .lkey = n->mr->lkey};
}

static void post(struct node *n, struct ibv_send_wr wr, struct ibv_sge s) {
	struct ibv_send_wr *bad;
	wr.sg_list = &s;
	wr.num_sge = 1;
	wr.send_flags |= IBV_SEND_SIGNALED;
	must(ibv_post_send(n->qp, &wr, &bad), "post_send");
}

static void poll_one(struct ibv_cq *cq) {
	struct ibv_wc wc;
	must(ibv_poll_cq(cq, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS, "poll_cq");
}

int main(void) {
	int num;
	struct ibv_device **list = ibv_get_device_list(&num);
	struct node a = {.ctx = ibv_open_device(list[0])}, b = {.ctx = ibv_open_device(list[0])};
	stub_reset();

	/* pair rc */
	objects(&a);
	objects(&b);
	to_init(&a);
	to_init(&b);
	to_rtr(&a, &b);
	to_rtr(&b, &a);
	to_rts(&a);
	to_rts(&b);

	/* a channel, and a CQ that uses it */
	struct ibv_comp_channel *ch = ibv_create_comp_channel(a.ctx);
	struct ibv_cq *cq2 = ibv_create_cq(a.ctx, 16, NULL, ch, 0);
	must(ibv_resize_cq(cq2, 32), "resize_cq");
	must(ibv_req_notify_cq(cq2, 0), "req_notify_cq");
	struct ibv_qp_init_attr init = {
		.send_cq = cq2, .recv_cq = cq2, .qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *ud = ibv_create_qp(a.pd, &init);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};
	must(ibv_modify_qp(ud, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), "UD INIT");
	struct ibv_ah_attr way = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 2, .hop_limit = 64}};
	must(ibv_query_gid(b.ctx, 1, 2, &way.grh.dgid), "the peer's GID");
	struct ibv_ah *ah = ibv_create_ah(a.pd, &way);
	struct ibv_sge s = sge(&a, 0, 16);
	struct ibv_send_wr wr = {
		.wr_id = 9, .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(0x2a), .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &s, .num_sge = 1, .wr.ud = {.ah = ah, .remote_qpn = b.qp->qp_num, .remote_qkey = 0x11},
	}, *bad;
	must(ibv_post_send(ud, &wr, &bad), "UD send");
	struct ibv_cq *got;
	void *got_ctx;
	must(ibv_get_cq_event(ch, &got, &got_ctx), "get_cq_event");
	ibv_ack_cq_events(got, 1);
	poll_one(cq2);

	/* receives: one, and a list of two on an SRQ */
	struct ibv_sge r = sge(&b, 0, 64);
	struct ibv_recv_wr rwr = {.wr_id = 100, .sg_list = &r, .num_sge = 1}, *rbad;
	must(ibv_post_recv(b.qp, &rwr, &rbad), "post_recv");
	struct ibv_srq_init_attr sattr = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(b.pd, &sattr);
	struct ibv_sge r2[2] = {sge(&b, 0, 8), sge(&b, 8, 16)};
	struct ibv_recv_wr two[2] = {
		{.wr_id = 1, .next = &two[1], .sg_list = &r2[0], .num_sge = 1}, {.wr_id = 2, .sg_list = &r2[1], .num_sge = 1},
	};
	must(ibv_post_srq_recv(srq, two, &rbad), "post_srq_recv");
	must(ibv_modify_srq(srq, &(struct ibv_srq_attr){.srq_limit = 2}, IBV_SRQ_LIMIT), "modify_srq");

	/* every operation */
	uintptr_t there = (uintptr_t)b.buf;
	post(&a, (struct ibv_send_wr){.wr_id = 1, .opcode = IBV_WR_SEND}, sge(&a, 0, 64));
	poll_one(a.cq);
	post(&a, (struct ibv_send_wr){.wr_id = 2, .opcode = IBV_WR_RDMA_WRITE, .wr.rdma = {there + 8, b.mr->rkey}}, sge(&a, 0, 64));
	poll_one(a.cq);
	post(&a, (struct ibv_send_wr){.wr_id = 3, .opcode = IBV_WR_RDMA_READ, .wr.rdma = {there, b.mr->rkey}}, sge(&a, 0, 64));
	poll_one(a.cq);
	post(&a, (struct ibv_send_wr){.wr_id = 4, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = {.remote_addr = there + 16, .compare_add = 5, .swap = 7, .rkey = b.mr->rkey}}, sge(&a, 0, 8));
	poll_one(a.cq);
	post(&a, (struct ibv_send_wr){.wr_id = 5, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE}, sge(&a, 0, 32));
	poll_one(a.cq);

	/* a window of type 2, bound and invalidated; one of type 1 */
	struct ibv_mw *mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr bind = {
		.wr_id = 6, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			    .bind_info = {.mr = b.mr, .addr = there + 64, .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_READ}},
	};
	must(ibv_post_send(b.qp, &bind, &bad), "bind");
	mw->rkey = bind.bind_mw.rkey;
	poll_one(b.cq);
	struct ibv_send_wr inv = {.wr_id = 7, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = mw->rkey};
	must(ibv_post_send(b.qp, &inv, &bad), "invalidate");
	poll_one(b.cq);
	must(ibv_dealloc_mw(mw), "dealloc_mw");
	struct ibv_mw *mw1 = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind one = {
		.wr_id = 8, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = {.mr = b.mr, .addr = there, .length = 32, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE},
	};
	must(ibv_bind_mw(b.qp, mw1, &one), "bind_mw");
	poll_one(b.cq);

	/* the end of some of them */
	must(ibv_destroy_ah(ah) || ibv_destroy_qp(ud) || ibv_destroy_cq(cq2) || ibv_destroy_comp_channel(ch), "destroy");
	must(ibv_destroy_srq(srq) || ibv_dealloc_mw(mw1), "destroy");
	must(ibv_destroy_qp(a.qp) || ibv_dereg_mr(a.mr) || ibv_destroy_cq(a.cq) || ibv_dealloc_pd(a.pd), "destroy");
	fputs(stub_log(), stdout);
	return 0;
}
