/*
 * A libibverbs for tests: one device, whose calls are counted, written down
 * (without addresses, which differ from run to run) and answered at once. Every
 * signaled send completes with success when it is posted.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static struct {
	char log[1 << 16];
	size_t used;
	int quiet;      /* write nothing down: for measuring */
	int devices;    /* how many ibv_get_device_list finds */
	int max_qp;     /* queue pairs that may exist; then ENOMEM */
	int open_errno; /* ibv_open_device fails with it */
	int living;     /* objects */
	int qps;
	int port_state;
	long bad_id; /* the request of this wr_id is refused */
	uint32_t key, qpn;
} stub = {.devices = 1, .max_qp = 1 << 20, .port_state = IBV_PORT_ACTIVE, .bad_id = -1};

static void say(const char *format, ...) {
	if (stub.quiet)
		return;
	va_list args;
	va_start(args, format);
	size_t room = sizeof stub.log - stub.used;
	int n = vsnprintf(stub.log + stub.used, room, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < room)
		stub.used += (size_t)n;
}

const char *stub_log(void) { return stub.log; }
void stub_reset(void) { stub.used = 0; stub.log[0] = 0; stub.key = 0; stub.qpn = 0; }
int stub_living(void) { return stub.living; }
void stub_set(int what, long value) {
	switch (what) {
	case 0: stub.devices = (int)value; break;
	case 1: stub.max_qp = (int)value; break;
	case 2: stub.open_errno = (int)value; break;
	case 3: stub.bad_id = value; break;
	case 4: stub.quiet = (int)value; break;
	case 5: stub.port_state = (int)value; break;
	}
}

/* The same for a program that loads this as its libibverbs.so.1. */
__attribute__((constructor)) static void from_environment(void) {
	static const char *const names[] = {"STUB_DEVICES", "STUB_MAX_QP", "STUB_OPEN_ERRNO"};
	for (int i = 0; i < 3; i++)
		if (getenv(names[i]))
			stub_set(i, atol(getenv(names[i])));
}

#define MAX_CQE 1024

struct stub_cq {
	struct ibv_cq cq;
	struct ibv_wc wcs[MAX_CQE];
	unsigned head, count;
	int armed;
	int taken; /* events that were not acknowledged: the library would wait for that */
	struct ibv_comp_channel *channel;
};

struct stub_channel {
	struct ibv_comp_channel ch;
	struct ibv_cq *events[64];
	unsigned head, count;
};

struct stub_qp {
	struct ibv_qp qp;
	int taken;
	int sig_all;
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
};

struct stub_context {
	struct verbs_context v;
	struct ibv_async_event events[64];
	unsigned head, count;
};

static struct ibv_device device = {
	.node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "stub0", .dev_name = "uverbs9",
};

static struct stub_context *of(struct ibv_context *ctx) {
	return (struct stub_context *)((char *)ctx - offsetof(struct stub_context, v.context));
}

static void *make(size_t size) {
	stub.living++;
	return calloc(1, size);
}

static int end(void *object) {
	stub.living--;
	free(object);
	return 0;
}

static void *fail(int err) {
	errno = err;
	return NULL;
}

static void ring(int fd) {
	uint64_t one = 1;
	if (write(fd, &one, sizeof one) != sizeof one)
		abort();
}

/* The descriptors are semaphores: a read takes one event, or finds EAGAIN. */
static int take(int fd) {
	uint64_t n;
	return read(fd, &n, sizeof n) == sizeof n ? 0 : -1;
}

struct ibv_device **(ibv_get_device_list)(int *num) {
	struct ibv_device **list = calloc(2, sizeof *list);
	*num = stub.devices;
	if (stub.devices)
		list[0] = &device;
	return list;
}
void ibv_free_device_list(struct ibv_device **list) { free(list); }
__be64 ibv_get_device_guid(struct ibv_device *d) {
	(void)d;
	static const unsigned char guid[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	__be64 n;
	memcpy(&n, guid, 8);
	return n;
}

static int query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *a, size_t len) {
	(void)ctx;
	say("query_port %d\n", port);
	if (port != 1 || len != sizeof *a)
		return EINVAL;
	memset(a, 0, sizeof *a);
	a->state = stub.port_state;
	a->max_mtu = IBV_MTU_4096;
	a->active_mtu = IBV_MTU_1024;
	a->gid_tbl_len = 4;
	a->max_msg_sz = 1 << 23;
	a->pkey_tbl_len = 1;
	return 0;
}
#undef ibv_query_port
int ibv_query_port(struct ibv_context *ctx, uint8_t port, struct _compat_ibv_port_attr *a) {
	(void)ctx, (void)port, (void)a;
	return ENOSYS; /* the shorter struct: nobody new should call it */
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type) {
	struct ibv_mw *mw = make(sizeof *mw);
	mw->context = pd->context;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = (900000u + ++stub.key) << 8;
	say("alloc_mw type=%d\n", type);
	return mw;
}
static int dealloc_mw(struct ibv_mw *mw) { say("dealloc_mw\n"); return end(mw); }

static void complete(struct ibv_qp *qp, struct ibv_cq *to, uint64_t id, int opcode, uint32_t len) {
	struct stub_cq *c = (struct stub_cq *)to;
	if (c->count == MAX_CQE)
		return;
	struct ibv_wc *wc = &c->wcs[(c->head + c->count++) % MAX_CQE];
	memset(wc, 0, sizeof *wc);
	wc->wr_id = id;
	wc->opcode = opcode;
	wc->byte_len = len;
	wc->qp_num = qp->qp_num;
	if (c->armed && c->channel) {
		struct stub_channel *ch = (struct stub_channel *)c->channel;
		c->armed = 0;
		ch->events[(ch->head + ch->count++) % 64] = to;
		ring(ch->ch.fd);
	}
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *b) {
	say("bind_mw id=%lu flags=%u off=%lu length=%lu access=%u\n", b->wr_id, b->send_flags,
	    b->bind_info.addr & 0xfff, b->bind_info.length, b->bind_info.mw_access_flags);
	mw->rkey = (mw->rkey & ~0xffu) | ((mw->rkey + 1) & 0xff);
	if (b->send_flags & IBV_SEND_SIGNALED)
		complete(qp, qp->send_cq, b->wr_id, IBV_WC_BIND_MW, 0);
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc) {
	struct stub_cq *c = (struct stub_cq *)cq;
	int got = 0;
	while (got < n && c->count) {
		wc[got++] = c->wcs[c->head % MAX_CQE];
		c->head++, c->count--;
	}
	say("poll_cq %d -> %d\n", n, got);
	return got;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited) {
	say("req_notify_cq %d\n", solicited);
	((struct stub_cq *)cq)->armed = 1;
	return 0;
}

static const int opcodes[] = {
	[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_SEND] = IBV_WC_SEND, [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND, [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP, [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	[IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV, [IBV_WR_BIND_MW] = IBV_WC_BIND_MW, [IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
};

static void say_send(struct ibv_qp *qp, struct ibv_send_wr *wr) {
	say(" id=%lu opcode=%d flags=%u", wr->wr_id, wr->opcode, wr->send_flags);
	for (int i = 0; i < wr->num_sge; i++)
		say(" sge=%lu+%u/%u", wr->sg_list[i].addr & 0xfff, wr->sg_list[i].length, wr->sg_list[i].lkey);
	if (wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_SEND_WITH_INV)
		say(" inv=%u", wr->invalidate_rkey);
	else
		say(" imm=%u", ntohl(wr->imm_data));
	if (qp->qp_type == IBV_QPT_UD)
		say(" ah=%d qpn=%u qkey=%u", wr->wr.ud.ah != NULL, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		say(" remote=%lu/%u add=%lu swap=%lu", wr->wr.atomic.remote_addr & 0xfff, wr->wr.atomic.rkey,
		    wr->wr.atomic.compare_add, wr->wr.atomic.swap);
	else if (wr->opcode == IBV_WR_BIND_MW)
		say(" mw=%u mr=%u key=%u off=%lu length=%lu access=%u", wr->bind_mw.mw->rkey, wr->bind_mw.bind_info.mr->lkey,
		    wr->bind_mw.rkey, wr->bind_mw.bind_info.addr & 0xfff, wr->bind_mw.bind_info.length,
		    wr->bind_mw.bind_info.mw_access_flags);
	else
		say(" remote=%lu/%u", wr->wr.rdma.remote_addr & 0xfff, wr->wr.rdma.rkey);
	say("\n");
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
	struct stub_qp *q = (struct stub_qp *)qp;
	for (; wr; wr = wr->next) {
		if ((long)wr->wr_id == stub.bad_id) {
			say("post_send refuses id=%lu\n", wr->wr_id);
			*bad = wr;
			return EINVAL;
		}
		if (!stub.quiet) {
			say("post_send");
			say_send(qp, wr);
		}
		uint32_t length = 0;
		for (int i = 0; i < wr->num_sge; i++)
			length += wr->sg_list[i].length;
		if (q->sig_all || wr->send_flags & IBV_SEND_SIGNALED)
			complete(qp, qp->send_cq, wr->wr_id, opcodes[wr->opcode], length);
	}
	return 0;
}

static int receives(const char *name, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
	for (; wr; wr = wr->next) {
		if ((long)wr->wr_id == stub.bad_id) {
			*bad = wr;
			return ENOMEM;
		}
		say("%s id=%lu", name, wr->wr_id);
		for (int i = 0; i < wr->num_sge; i++)
			say(" sge=%lu+%u/%u", wr->sg_list[i].addr & 0xfff, wr->sg_list[i].length, wr->sg_list[i].lkey);
		say("\n");
	}
	return 0;
}
static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
	(void)qp;
	return receives("post_recv", wr, bad);
}
static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
	(void)srq;
	return receives("post_srq_recv", wr, bad);
}

struct ibv_context *ibv_open_device(struct ibv_device *d) {
	if (stub.open_errno)
		return fail(stub.open_errno);
	struct stub_context *c = make(sizeof *c);
	c->v.sz = sizeof c->v;
	c->v.query_port = query_port;
	struct ibv_context *ctx = &c->v.context;
	ctx->device = d;
	ctx->abi_compat = __VERBS_ABI_IS_EXTENDED;
	ctx->async_fd = eventfd(0, EFD_SEMAPHORE);
	ctx->cmd_fd = -1;
	ctx->ops.alloc_mw = alloc_mw;
	ctx->ops.bind_mw = bind_mw;
	ctx->ops.dealloc_mw = dealloc_mw;
	ctx->ops.poll_cq = poll_cq;
	ctx->ops.req_notify_cq = req_notify_cq;
	ctx->ops.post_send = post_send;
	ctx->ops.post_recv = post_recv;
	ctx->ops.post_srq_recv = post_srq_recv;
	return ctx;
}
int ibv_close_device(struct ibv_context *ctx) {
	close(ctx->async_fd);
	return end(of(ctx));
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *a) {
	(void)ctx;
	say("query_device\n");
	memset(a, 0, sizeof *a);
	a->max_qp = 1000;
	a->max_qp_wr = 2000;
	a->max_sge = 30;
	a->max_srq_sge = 27;
	a->max_pkeys = 64;
	a->local_ca_ack_delay = 15;
	a->phys_port_cnt = 1;
	a->device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	a->atomic_cap = IBV_ATOMIC_HCA;
	return 0;
}
int ibv_query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid) {
	(void)ctx;
	say("query_gid %d %d\n", port, index);
	if (port != 1 || index > 2) {
		errno = EINVAL;
		return -1;
	}
	memset(gid, 0, sizeof *gid);
	gid->raw[10] = gid->raw[11] = 0xff;
	gid->raw[12] = 10;
	gid->raw[15] = 7;
	return 0;
}
/* Index 1 looks right and is RoCE v1; index 2 is the one to use. */
ssize_t _ibv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *e, size_t max, uint32_t flags, size_t size) {
	(void)ctx, (void)flags;
	if (max < 3 || size != sizeof *e)
		return -EINVAL;
	memset(e, 0, 3 * sizeof *e);
	for (int i = 0; i < 3; i++) {
		e[i].gid_index = i;
		e[i].port_num = 1;
		e[i].gid_type = i == 1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
		e[i].gid.raw[0] = i == 0 ? 0xfe : 0;
		e[i].gid.raw[15] = 7;
		if (i > 0)
			e[i].gid.raw[10] = e[i].gid.raw[11] = 0xff, e[i].gid.raw[12] = 10;
	}
	return 3;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx) {
	struct ibv_pd *pd = make(sizeof *pd);
	pd->context = ctx;
	say("alloc_pd\n");
	return pd;
}
int ibv_dealloc_pd(struct ibv_pd *pd) { say("dealloc_pd\n"); return end(pd); }

static struct ibv_mr *reg(const char *name, struct ibv_pd *pd, void *addr, size_t length, unsigned access) {
	struct ibv_mr *mr = make(sizeof *mr);
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = mr->rkey = ++stub.key << 8;
	say("%s length=%zu access=%u\n", name, length, access);
	return mr;
}
#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access) {
	return reg("reg_mr", pd, addr, length, (unsigned)access);
}
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access) {
	(void)iova;
	return reg("reg_mr_iova2", pd, addr, length, access);
}
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access) {
	say("rereg_mr flags=%d length=%zu access=%d\n", flags, length, access);
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	return 0;
}
int ibv_dereg_mr(struct ibv_mr *mr) { say("dereg_mr\n"); return end(mr); }

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx) {
	struct stub_channel *ch = make(sizeof *ch);
	ch->ch.context = ctx;
	ch->ch.fd = eventfd(0, EFD_SEMAPHORE);
	say("create_comp_channel\n");
	return &ch->ch;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel *ch) {
	say("destroy_comp_channel\n");
	close(ch->fd);
	return end(ch);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *cq_context, struct ibv_comp_channel *ch, int vector) {
	(void)vector;
	struct stub_cq *c = make(sizeof *c);
	c->cq.context = ctx;
	c->cq.cq_context = cq_context;
	c->cq.channel = c->channel = ch;
	c->cq.cqe = cqe;
	say("create_cq %d channel=%d\n", cqe, ch != NULL);
	return &c->cq;
}
int ibv_resize_cq(struct ibv_cq *cq, int cqe) {
	say("resize_cq %d\n", cqe);
	if (cqe > MAX_CQE) {
		errno = EINVAL;
		return -1;
	}
	cq->cqe = cqe;
	return 0;
}
int ibv_destroy_cq(struct ibv_cq *cq) {
	say("destroy_cq\n");
	return ((struct stub_cq *)cq)->taken ? EDEADLK : end(cq);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **ctx) {
	struct stub_channel *ch = (struct stub_channel *)channel;
	say("get_cq_event\n");
	if (take(channel->fd))
		return -1;
	*cq = ch->events[ch->head++ % 64];
	ch->count--;
	*ctx = (*cq)->cq_context;
	((struct stub_cq *)*cq)->taken++;
	return 0;
}
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n) {
	((struct stub_cq *)cq)->taken -= (int)n;
	if (n)
		say("ack_cq_events %u\n", n);
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a) {
	struct ibv_srq *srq = make(sizeof *srq);
	srq->context = pd->context;
	srq->pd = pd;
	say("create_srq %u %u\n", a->attr.max_wr, a->attr.max_sge);
	a->attr.max_wr++;
	return srq;
}
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *a, int mask) {
	(void)srq;
	say("modify_srq mask=%d max_wr=%u limit=%u\n", mask, a->max_wr, a->srq_limit);
	return 0;
}
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *a) {
	(void)srq;
	say("query_srq\n");
	a->max_wr = 17;
	a->max_sge = 1;
	a->srq_limit = 2;
	return 0;
}
int ibv_destroy_srq(struct ibv_srq *srq) { say("destroy_srq\n"); return end(srq); }

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *a) {
	struct ibv_ah *ah = make(sizeof *ah);
	ah->context = pd->context;
	say("create_ah dgid=%d sgid_index=%d hop=%d port=%d global=%d\n", a->grh.dgid.raw[15], a->grh.sgid_index,
	    a->grh.hop_limit, a->port_num, a->is_global);
	return ah;
}
int ibv_destroy_ah(struct ibv_ah *ah) { say("destroy_ah\n"); return end(ah); }

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a) {
	if (stub.qps >= stub.max_qp)
		return fail(ENOMEM);
	if (a->cap.max_inline_data > 512)
		return fail(EINVAL);
	struct stub_qp *q = make(sizeof *q);
	stub.qps++;
	q->qp.context = pd->context;
	q->qp.pd = pd;
	q->qp.send_cq = a->send_cq;
	q->qp.recv_cq = a->recv_cq;
	q->qp.qp_type = a->qp_type;
	q->qp.qp_num = 100 + ++stub.qpn;
	q->sig_all = a->sq_sig_all;
	q->cap = a->cap;
	say("create_qp type=%d wr=%u,%u sge=%u,%u inline=%u all=%d srq=%d\n", a->qp_type, a->cap.max_send_wr, a->cap.max_recv_wr,
	    a->cap.max_send_sge, a->cap.max_recv_sge, a->cap.max_inline_data, a->sq_sig_all, a->srq != NULL);
	return &q->qp;
}
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init) {
	struct stub_qp *q = (struct stub_qp *)qp;
	(void)mask;
	say("query_qp\n");
	*a = q->attr;
	a->qp_state = qp->state;
	a->cap = q->cap;
	memset(init, 0, sizeof *init);
	return 0;
}
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask) {
	struct stub_qp *q = (struct stub_qp *)qp;
	say("modify_qp mask=%#x", mask);
#define ATTR(bit, field) \
	if (mask & IBV_QP_##bit) { \
		say(" " #field "=%u", (unsigned)a->field); \
		q->attr.field = a->field; \
	}
	ATTR(STATE, qp_state)
	ATTR(CUR_STATE, cur_qp_state)
	ATTR(EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify)
	ATTR(ACCESS_FLAGS, qp_access_flags)
	ATTR(PKEY_INDEX, pkey_index)
	ATTR(PORT, port_num)
	ATTR(QKEY, qkey)
	ATTR(PATH_MTU, path_mtu)
	ATTR(TIMEOUT, timeout)
	ATTR(RETRY_CNT, retry_cnt)
	ATTR(RNR_RETRY, rnr_retry)
	ATTR(RQ_PSN, rq_psn)
	ATTR(MAX_QP_RD_ATOMIC, max_rd_atomic)
	ATTR(MIN_RNR_TIMER, min_rnr_timer)
	ATTR(SQ_PSN, sq_psn)
	ATTR(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)
	ATTR(DEST_QPN, dest_qp_num)
	if (mask & IBV_QP_AV) {
		say(" av=%d,%d,%d,%d,%d,%u,%d", a->ah_attr.grh.dgid.raw[15], a->ah_attr.grh.sgid_index, a->ah_attr.grh.hop_limit,
		    a->ah_attr.port_num, a->ah_attr.is_global, a->ah_attr.grh.flow_label, a->ah_attr.grh.traffic_class);
		q->attr.ah_attr = a->ah_attr;
	}
	say("\n");
	if (mask & IBV_QP_STATE)
		qp->state = a->qp_state;
	return 0;
}
int ibv_destroy_qp(struct ibv_qp *qp) {
	say("destroy_qp\n");
	if (((struct stub_qp *)qp)->taken)
		return EDEADLK;
	stub.qps--;
	return end(qp);
}

/* Nanoseconds that n calls take from C: of ibv_post_send of one request and, if
 * polls, of ibv_poll_cq of its completion. */
long stub_time(struct ibv_qp *qp, long n, int polls) {
	char buf[64];
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = sizeof buf, .lkey = 1};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < n; i++) {
		struct ibv_send_wr wr = {
			.wr_id = i, .opcode = IBV_WR_SEND, .send_flags = polls ? IBV_SEND_SIGNALED : 0, .sg_list = &sge, .num_sge = 1,
		};
		if (ibv_post_send(qp, &wr, &bad) || (polls && ibv_poll_cq(qp->send_cq, 1, &wc) != 1))
			return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec;
}

/* Raises an asynchronous event about the send CQ of qp, or about its port. */
void stub_raise(struct ibv_qp *qp, int type) {
	struct stub_context *c = of(qp->context);
	struct ibv_async_event *e = &c->events[(c->head + c->count++) % 64];
	e->event_type = type;
	e->element.port_num = 1;
	if (type == IBV_EVENT_CQ_ERR)
		e->element.cq = qp->send_cq;
	if (type == IBV_EVENT_SQ_DRAINED)
		e->element.qp = qp;
	ring(c->v.context.async_fd);
}
static void note(struct ibv_async_event *e, int taken) {
	if (e->event_type == IBV_EVENT_CQ_ERR)
		((struct stub_cq *)e->element.cq)->taken += taken;
	else if (e->event_type <= IBV_EVENT_PATH_MIG_ERR || e->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
		((struct stub_qp *)e->element.qp)->taken += taken;
}
int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *e) {
	struct stub_context *c = of(ctx);
	say("get_async_event\n");
	if (take(ctx->async_fd))
		return -1;
	*e = c->events[c->head++ % 64];
	c->count--;
	note(e, 1);
	return 0;
}
void ibv_ack_async_event(struct ibv_async_event *e) {
	say("ack_async_event %d\n", e->event_type);
	note(e, -1);
}
