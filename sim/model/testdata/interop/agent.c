// The other end of the interoperation test: a program in the guest that does to
// its Soft-RoCE device what it is told by datagrams of one line, and answers with
// one line. "SEQ VERB ARGUMENTS"; a SEQ that was the last one is answered again
// and not carried out again.
//
// Copyright of this repository, MIT licence.
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 47911, SIZE = 4 << 20, QUIET = 60, QKEY = 0x11111111, LOOK_US = 1000, LOOKS = 100 };

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;
static struct ibv_ah *ah;
static unsigned far_qpn;
static uint8_t *mem;
static char answer[4096];
static int used;

static void say(const char *fmt, ...) {
	va_list ap;
	va_start(ap, fmt);
	used += vsnprintf(answer + used, sizeof answer - used, fmt, ap);
	va_end(ap);
}

static void result(int rc) {
	if (rc)
		say("errno %d", rc > 0 ? rc : errno);
	else
		say("ok");
}

static void die(const char *what) {
	perror(what);
	exit(1);
}

static void open_device(void) {
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	if (!list || !n) die("no device");
	if (!(ctx = ibv_open_device(list[0]))) die("ibv_open_device");
	if (!(pd = ibv_alloc_pd(ctx))) die("ibv_alloc_pd");
	if (!(cq = ibv_create_cq(ctx, 4096, NULL, NULL, 0))) die("ibv_create_cq");
	if (posix_memalign((void **)&mem, 4096, SIZE)) die("memory");
	memset(mem, 0, SIZE);
	mr = ibv_reg_mr(pd, mem, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr) die("ibv_reg_mr");
}

// create TYPE
static void create(char *args) {
	struct ibv_wc wc;
	unsigned type;
	if (sscanf(args, "%u", &type) != 1) {
		say("bad line");
		return;
	}
	if ((qp && ibv_destroy_qp(qp)) || (ah && ibv_destroy_ah(ah))) {
		result(errno);
		return;
	}
	qp = NULL;
	ah = NULL;
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = {.max_send_wr = 256, .max_recv_wr = 256, .max_send_sge = 1, .max_recv_sge = 1}};
	qp = ibv_create_qp(pd, &init);
	if (qp)
		say("%u %llu %u", qp->qp_num, (unsigned long long)(uintptr_t)mem, mr->rkey);
	else
		result(errno);
}

static struct ibv_ah_attr address_of(const char *addr) {
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = strchr(addr, ':') ? 0 : 1, .hop_limit = 64}};
	if (strchr(addr, ':')) {
		inet_pton(AF_INET6, addr, &a.grh.dgid);
	} else {
		a.grh.dgid.raw[10] = a.grh.dgid.raw[11] = 0xff;
		inet_pton(AF_INET, addr, &a.grh.dgid.raw[12]);
	}
	return a;
}

// connect DQPN RQ_PSN SQ_PSN MTU RD_ATOMIC TIMEOUT RETRY RNR_RETRY MIN_RNR ACCESS ADDRESS
static void connect_qp(char *args) {
	unsigned dqpn, rq, sq, mtu, rd, timeout, retry, rnr, min_rnr, access;
	char addr[32];
	if (sscanf(args, "%u %u %u %u %u %u %u %u %u %u %31s", &dqpn, &rq, &sq, &mtu, &rd, &timeout, &retry, &rnr, &min_rnr, &access, addr) != 11) {
		say("bad line");
		return;
	}
	int type = qp->qp_type, connected = type != IBV_QPT_UD, reliable = type == IBV_QPT_RC;
	far_qpn = dqpn;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .qp_access_flags = access};
	int rc = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (connected ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY));
	if (rc) {
		result(rc);
		return;
	}
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = mtu;
	a.dest_qp_num = dqpn;
	a.rq_psn = rq;
	a.max_dest_rd_atomic = rd;
	a.min_rnr_timer = min_rnr;
	a.ah_attr = address_of(addr);
	if (!connected && !(ah = ibv_create_ah(pd, &a.ah_attr))) {
		result(errno);
		return;
	}
	rc = ibv_modify_qp(qp, &a, IBV_QP_STATE | (connected ? IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN : 0) |
		(reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
	if (rc) {
		result(rc);
		return;
	}
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = sq;
	a.timeout = timeout;
	a.retry_cnt = retry;
	a.rnr_retry = rnr;
	a.max_rd_atomic = rd;
	result(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN |
		(reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0)));
}

// recv ID OFFSET LENGTH LKEY_XOR
static void post_recv(char *args) {
	unsigned id, off, len, bad;
	if (sscanf(args, "%u %u %u %u", &id, &off, &len, &bad) != 4) {
		say("bad line");
		return;
	}
	struct ibv_sge sge = {(uintptr_t)mem + off, len, mr->lkey ^ bad};
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad_wr;
	result(ibv_post_recv(qp, &wr, &bad_wr));
}

// send ID OPCODE OFFSET LENGTH REMOTE RKEY IMM COMPARE SWAP
static void post_send(char *args) {
	unsigned id, op, off, len, rkey, imm;
	unsigned long long remote, compare, swap;
	if (sscanf(args, "%u %u %u %u %llu %u %u %llu %llu", &id, &op, &off, &len, &remote, &rkey, &imm, &compare, &swap) != 9) {
		say("bad line");
		return;
	}
	struct ibv_sge sge = {(uintptr_t)mem + off, len, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = IBV_SEND_SIGNALED}, *bad_wr;
	wr.imm_data = htonl(imm);
	if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = far_qpn;
		wr.wr.ud.remote_qkey = QKEY;
	} else if (op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = compare;
		wr.wr.atomic.swap = swap;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = rkey;
	}
	result(ibv_post_send(qp, &wr, &bad_wr));
}

// poll N: the completions that there are, once there are N or a tenth of a second is over
static void poll_all(char *args) {
	struct ibv_wc wc;
	unsigned want = 0, n = 0;
	sscanf(args, "%u", &want);
	for (int look = 0;; look++) {
		while (n < 32 && ibv_poll_cq(cq, 1, &wc) > 0) {
			say("%llu %u %u %u %u %u %u;", (unsigned long long)wc.wr_id, wc.status, wc.opcode, wc.byte_len,
				wc.wc_flags & IBV_WC_WITH_IMM ? ntohl(wc.imm_data) : 0, wc.wc_flags, wc.src_qp);
			n++;
		}
		if (n >= want || look == LOOKS) return;
		usleep(LOOK_US);
	}
}

// fill OFFSET LENGTH SEED: byte i is i*7 + i/251 + seed. sum is FNV-1a, 64 bits;
// show is the bytes in hexadecimal.
static void memory(const char *verb, char *args) {
	unsigned off, len;
	unsigned long long v = 0;
	if (sscanf(args, "%u %u %llu", &off, &len, &v) < 2 || off + len > SIZE) {
		say("bad line");
	} else if (!strcmp(verb, "fill")) {
		for (unsigned i = 0; i < len; i++)
			mem[off + i] = i * 7 + i / 251 + v;
		say("ok");
	} else if (!strcmp(verb, "sum")) {
		uint64_t h = 0xcbf29ce484222325;
		for (unsigned i = 0; i < len; i++)
			h = (h ^ mem[off + i]) * 0x100000001b3;
		say("%llu", (unsigned long long)h);
	} else if (!strcmp(verb, "show")) {
		for (unsigned i = 0; i < len && i < 1024; i++)
			say("%02x", mem[off + i]);
	} else if (!strcmp(verb, "store")) {
		memcpy(mem + off, &v, 8);
		say("ok");
	} else {
		memcpy(&v, mem + off, 8);
		say("%llu", v);
	}
}

static int carry_out(char *verb, char *args) {
	if (!strcmp(verb, "create"))
		create(args);
	else if (!strcmp(verb, "connect"))
		connect_qp(args);
	else if (!strcmp(verb, "recv"))
		post_recv(args);
	else if (!strcmp(verb, "send"))
		post_send(args);
	else if (!strcmp(verb, "poll"))
		poll_all(args);
	else if (!strcmp(verb, "quit"))
		say("bye");
	else
		memory(verb, args);
	return !strcmp(verb, "quit");
}

int main(void) {
	static char line[32768];
	open_device();
	int s = socket(AF_INET, SOCK_DGRAM, 0), over = 0;
	struct sockaddr_in me = {.sin_family = AF_INET, .sin_port = htons(PORT)}, peer;
	struct timeval quiet = {QUIET, 0};
	if (s < 0 || bind(s, (struct sockaddr *)&me, sizeof me) || setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet))
		die("socket");
	unsigned last = 0;
	while (!over) {
		socklen_t n = sizeof peer;
		ssize_t got = recvfrom(s, line, sizeof line - 1, 0, (struct sockaddr *)&peer, &n);
		if (got < 0) die("nothing heard");
		line[got] = 0;
		unsigned seq;
		char verb[16];
		int at = 0;
		if (sscanf(line, "%u %15s%n", &seq, verb, &at) != 2) continue;
		if (seq != last) {
			used = 0;
			say("%u ", seq);
			if (!strcmp(verb, "echo")) {
				line[strcspn(line, "\n")] = 0;
				sendto(s, line, strlen(line), 0, (struct sockaddr *)&peer, n);
				continue;
			}
			over = carry_out(verb, line + at);
			last = seq;
		}
		sendto(s, answer, used, 0, (struct sockaddr *)&peer, n);
	}
	return 0;
}
