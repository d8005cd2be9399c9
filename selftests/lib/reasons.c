// SPDX-License-Identifier: GPL-2.0
/*
 * reasons NEAR FAR: queue pairs of two devices to which something is to happen, made as each line
 * of the standard input says.
 *
 *	make rc|uc|ud [KEY=VALUE]...	a new pair: "made NEARQPN FARQPN". By KEY is out of order:
 *		far=rc|uc|ud		the far one's service
 *		qpn=N			whom the near one names as its peer
 *		mlid=N			it sends to this multicast LID (ud)
 *		gid=bad			it names the peer by a GID that nobody has
 *		pkey=N			the near one's P_Key; 0: an empty place of the table
 *		timeout=N, retry=N, rnr_retry=N, rnr_timer=N	as ibv_modify_qp() has them
 *		access=0		the far one lets nobody read or write
 *	take LENGTH [lkey=bad]		the far one posts a receive
 *	post OPCODE LENGTH [KEY=VALUE]... [+ OPCODE ...]
 *					the near one posts send, write, read, add or bind (of a
 *					window, which its region does not allow), and what stands
 *					behind each "+" with it. By KEY:
 *		n=N			so many
 *		lkey=bad, rkey=bad, qkey=bad
 *		to=slow			to memory of the far one that is paged in on demand, whose
 *					pages do not come
 *	release				they come. Until then whoever brings one in holds the lock
 *					of this process's memory: nothing may be made
 *	fail				the near one goes to ERR, with a receive posted
 *	end near|far			what the next completion of this end is: "ended STATUS"
 *
 * A line that says nothing else is answered by "done".
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "device.h"

#define SIZE		(64 << 10)
#define DEPTH		1024
#define SECONDS		60
#define QKEY		7
#define GRH_BYTES	40
#define MULTICAST_QPN	0xFFFFFF
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

enum { NEAR, FAR };

struct end {
	struct ibv_context *ctx;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mr *slow_mr;
	struct ibv_mw *mw;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	uint8_t memory[SIZE] __attribute__((aligned(4096)));
};

static struct end ends[2];
/* shared with the server of memory whose pages do not come */
static atomic_bool *slow_held;
static uint32_t to_qpn;
static char *words[32];
static int num_words;

static void die(const char *what)
{
	fprintf(stderr, "reasons: %s: %m\n", what);
	if (slow_held)
		*slow_held = false;
	exit(1);
}

static void *made(void *object, const char *what)
{
	if (!object)
		die(what);
	return object;
}

static void must(int err, const char *what)
{
	if (err)
		die(what);
}

/* ---- memory whose pages do not come ---- */

#define SLOW_SIZE	(8 * SIZE)
/* of 10 ms: nobody waits for ever if the process is killed */
#define HELD_MOST	12000

/* a private mapping of a file of FUSE that is nothing but this file */
static uint8_t *slow;
static unsigned int slow_used;		/* of its parts, each of which is good for one line */

static void answer(int dev, const struct fuse_in_header *in, int error, const void *data,
		   size_t len)
{
	static uint8_t out[sizeof(struct fuse_out_header) + SIZE];
	struct fuse_out_header head = {
		.len = sizeof(head) + len, .error = error, .unique = in->unique,
	};

	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), data, len);
	if (write(dev, out, head.len) < 0)
		return;			/* who has asked is gone */
}

static void serve(int dev, const struct fuse_in_header *in, const void *arg)
{
	static const uint8_t page[SIZE];
	struct fuse_attr_out attr = {
		.attr_valid = 1 << 20,
		.attr = { .ino = 1,
			  .size = SLOW_SIZE,
			  .blocks = SLOW_SIZE / 512,
			  .mode = S_IFREG | 0600,
			  .nlink = 1 },
	};
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096,
	};
	struct fuse_open_out open = { .open_flags = FOPEN_KEEP_CACHE };
	int i;

	switch (in->opcode) {
	case FUSE_INIT:
		answer(dev, in, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		answer(dev, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(dev, in, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		for (i = 0; *slow_held && i < HELD_MOST; i++)
			poll(NULL, 0, 10);
		answer(dev, in, 0, page, ((const struct fuse_read_in *)arg)->size);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(dev, in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
	case FUSE_DESTROY:
		break;
	default:
		answer(dev, in, -ENOSYS, NULL, 0);
	}
}

static void serve_all(int dev)
{
	static uint8_t in[FUSE_MIN_READ_BUFFER + SIZE];

	while (read(dev, in, sizeof(in)) >= (ssize_t)sizeof(struct fuse_in_header))
		serve(dev, (const void *)in, in + sizeof(struct fuse_in_header));
	_exit(0);
}

/* A process that ends waits for what has been asked of its regions. */
static void end_process(int signal)
{
	*slow_held = false;
	_exit(signal);
}

static void make_slow(void)
{
	char path[] = "/tmp/reasons.XXXXXX", options[96];
	int dev = open("/dev/fuse", O_RDWR), file = mkstemp(path);
	struct stat st;

	must(dev < 0 || file < 0, "/dev/fuse");
	close(file);
	slow_held = mmap(NULL, sizeof(*slow_held), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(slow_held == MAP_FAILED, "mmap");
	snprintf(options, sizeof(options), "fd=%d,rootmode=100600,user_id=0,group_id=0", dev);
	must(mount("reasons", path, "fuse", MS_NOSUID | MS_NODEV, options), "mount");
	if (!fork())
		serve_all(dev);
	signal(SIGTERM, end_process);
	file = open(path, O_RDONLY);
	/* only then does the kernel know how long it is */
	must(file < 0 || fstat(file, &st), path);
	umount2(path, MNT_DETACH);
	close(dev);
	unlink(path);
	slow = mmap(NULL, SLOW_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	must(slow == MAP_FAILED, "mmap");
}

/* ---- words ---- */

/* The text behind "KEY=" in words @from on, up to a "+"; NULL: there is no such word. */
static const char *value_from(int from, const char *key)
{
	size_t len = strlen(key);
	int i;

	for (i = from; i < num_words && strcmp(words[i], "+"); i++)
		if (!strncmp(words[i], key, len) && words[i][len] == '=')
			return words[i] + len + 1;
	return NULL;
}

static unsigned long number_from(int from, const char *key, unsigned long otherwise)
{
	const char *value = value_from(from, key);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

static bool is_bad(int from, const char *key)
{
	const char *value = value_from(from, key);

	return value && !strcmp(value, "bad");
}

static enum ibv_qp_type service_of(const char *word)
{
	if (!strcmp(word, "ud"))
		return IBV_QPT_UD;
	return strcmp(word, "uc") ? IBV_QPT_RC : IBV_QPT_UC;
}

/* ---- queue pairs ---- */

static void open_end(int i, const char *name)
{
	struct end *e = &ends[i];

	e->ctx = made(open_device(name), name);
	must(ibv_query_port(e->ctx, 1, &e->port), "port");
	e->pd = made(ibv_alloc_pd(e->ctx), "PD");
	e->mr = made(ibv_reg_mr(e->pd, e->memory, SIZE, ACCESS), "region");
	e->slow_mr = made(ibv_reg_mr(e->pd, slow, SLOW_SIZE, ACCESS | IBV_ACCESS_ON_DEMAND),
			  "slow region");
	e->mw = made(ibv_alloc_mw(e->pd, IBV_MW_TYPE_2), "window");
}

static void make_qp(int i, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	attr.send_cq = attr.recv_cq = ends[i].cq =
		made(ibv_create_cq(ends[i].ctx, 2 * DEPTH, NULL, NULL, 0), "CQ");
	ends[i].qp = made(ibv_create_qp(ends[i].pd, &attr), "queue pair");
}

static void destroy_qp(int i)
{
	struct end *e = &ends[i];

	if (!e->qp)
		return;
	must(ibv_destroy_qp(e->qp), "destroy");
	must(ibv_destroy_cq(e->cq), "destroy");
	if (e->ah)
		must(ibv_destroy_ah(e->ah), "destroy");
	e->qp = NULL;
	e->ah = NULL;
}

static uint16_t pkey_index(const struct end *e, unsigned int key)
{
	__be16 at;
	int i;

	for (i = 0; i < e->port.pkey_tbl_len; i++) {
		must(ibv_query_pkey(e->ctx, 1, i, &at), "P_Key");
		if (be16toh(at) == key)
			return i;
	}
	die("no such P_Key");
	return 0;
}

static struct ibv_ah_attr way_from(int i)
{
	struct ibv_ah_attr attr = { .dlid = ends[!i].port.lid, .port_num = 1 };

	if (i == FAR)
		return attr;
	attr.dlid = number_from(1, "mlid", attr.dlid);
	attr.is_global = is_bad(1, "gid") || value_from(1, "mlid");
	attr.grh.hop_limit = 1;
	if (value_from(1, "mlid")) {
		attr.grh.dgid.raw[0] = 0xFF;
		attr.grh.dgid.raw[1] = 0x12;
		attr.grh.dgid.raw[15] = 9;
	} else if (attr.is_global) {
		must(ibv_query_gid(ends[FAR].ctx, 1, 0, &attr.grh.dgid), "GID");
		attr.grh.dgid.raw[15] ^= 0x55;
	}
	return attr;
}

static void to_init(int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS, .qkey = QKEY,
	};
	bool ud = ends[i].qp->qp_type == IBV_QPT_UD;

	if (i == FAR)
		attr.qp_access_flags = number_from(1, "access", ACCESS);
	attr.pkey_index = pkey_index(&ends[i], i == NEAR ? number_from(1, "pkey", 0xFFFF) : 0xFFFF);
	must(ibv_modify_qp(ends[i].qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			   (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)), "INIT");
}

static void to_rts(int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.dest_qp_num = i == NEAR ? to_qpn : ends[NEAR].qp->qp_num, .ah_attr = way_from(i),
		.min_rnr_timer = number_from(1, "rnr_timer", 1),
		.timeout = number_from(1, "timeout", 20),
		.retry_cnt = number_from(1, "retry", 7),
		.rnr_retry = number_from(1, "rnr_retry", 7),
	};
	enum ibv_qp_type type = ends[i].qp->qp_type;
	int rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN, rts = 0;

	if (type == IBV_QPT_UD)
		rtr = 0;
	if (type == IBV_QPT_RC) {
		rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		rts = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		      IBV_QP_MAX_QP_RD_ATOMIC;
	}
	must(ibv_modify_qp(ends[i].qp, &attr, IBV_QP_STATE | rtr), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	must(ibv_modify_qp(ends[i].qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | rts), "RTS");
}

static void make(void)
{
	const char *far = value_from(1, "far");
	struct ibv_ah_attr way;

	destroy_qp(NEAR);
	destroy_qp(FAR);
	make_qp(NEAR, service_of(words[1]));
	make_qp(FAR, service_of(far ?: words[1]));
	way = way_from(NEAR);
	to_qpn =
		number_from(1, "qpn", value_from(1, "mlid") ? MULTICAST_QPN : ends[FAR].qp->qp_num);
	if (ends[NEAR].qp->qp_type == IBV_QPT_UD)
		ends[NEAR].ah = made(ibv_create_ah(ends[NEAR].pd, &way), "AH");
	to_init(NEAR);
	to_init(FAR);
	to_rts(NEAR);
	to_rts(FAR);
	printf("made %u %u\n", ends[NEAR].qp->qp_num, ends[FAR].qp->qp_num);
}

/* ---- requests ---- */

static struct ibv_sge piece(const struct end *e, unsigned long len, bool bad)
{
	return (struct ibv_sge) { (uintptr_t)e->memory, len, e->mr->lkey ^ (bad ? 0x5500 : 0) };
}

static void take(int i, unsigned long len, bool bad)
{
	struct ibv_sge sge = piece(&ends[i], len, bad);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *spoilt;

	must(ibv_post_recv(ends[i].qp, &wr, &spoilt), "receive");
}

/* The region lets no window be bound to it. */
static void fill_bind(struct ibv_send_wr *wr)
{
	struct end *e = &ends[NEAR];

	wr->opcode = IBV_WR_BIND_MW;
	wr->num_sge = 0;
	wr->bind_mw.mw = e->mw;
	wr->bind_mw.rkey = ibv_inc_rkey(e->mw->rkey);
	wr->bind_mw.bind_info = (struct ibv_mw_bind_info) {
		.mr = e->mr, .addr = (uintptr_t)e->memory, .length = 64,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
}

/* Words @at on: OPCODE LENGTH [KEY=VALUE]... */
static void fill_request(int at, struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	static const struct {
		const char *word;
		enum ibv_wr_opcode opcode;
	} opcodes[] = {
		{ "send", IBV_WR_SEND }, { "write", IBV_WR_RDMA_WRITE },
		{ "read", IBV_WR_RDMA_READ },
		{ "add", IBV_WR_ATOMIC_FETCH_AND_ADD }, { "bind", IBV_WR_BIND_MW },
	};
	uint32_t rkey = ends[FAR].mr->rkey ^ (is_bad(at, "rkey") ? 0x5500 : 0);
	uint64_t to = (uintptr_t)ends[FAR].memory;
	unsigned int i = 0;

	while (strcmp(opcodes[i].word, words[at]))
		if (++i == sizeof(opcodes) / sizeof(opcodes[0]))
			die("no such opcode");
	*sge = piece(&ends[NEAR], strtoul(words[at + 1], NULL, 0), is_bad(at, "lkey"));
	*wr = (struct ibv_send_wr) { .opcode = opcodes[i].opcode, .sg_list = sge, .num_sge = 1 };
	if (ends[NEAR].ah) {
		wr->wr.ud.ah = ends[NEAR].ah;
		wr->wr.ud.remote_qpn = to_qpn;
		wr->wr.ud.remote_qkey = QKEY ^ (is_bad(at, "qkey") ? 1 : 0);
	} else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = to;
		wr->wr.atomic.rkey = rkey;
	} else {
		wr->wr.rdma.remote_addr = to;
		wr->wr.rdma.rkey = rkey;
	}
	if (value_from(at, "to")) {
		*slow_held = true;
		wr->wr.rdma.remote_addr = (uintptr_t)slow + slow_used * SIZE;
		wr->wr.rdma.rkey = ends[FAR].slow_mr->rkey;
	}
	if (wr->opcode == IBV_WR_BIND_MW)
		fill_bind(wr);
}

/* All of a line are posted at once. */
static void post(void)
{
	struct ibv_send_wr wr[DEPTH], *spoilt;
	struct ibv_sge sge[DEPTH];
	int at = 1, n = 0;
	unsigned long i;

	while (at + 1 < num_words) {
		for (i = number_from(at, "n", 1); i && n < DEPTH; i--, n++) {
			fill_request(at, &wr[n], &sge[n]);
			if (n)
				wr[n - 1].next = &wr[n];
		}
		while (at < num_words && strcmp(words[at], "+"))
			at++;
		at++;
	}
	must(ibv_post_send(ends[NEAR].qp, wr, &spoilt), "post");
	slow_used = (slow_used + *slow_held) % (SLOW_SIZE / SIZE);
}

static void fail(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	take(NEAR, 64, false);
	must(ibv_modify_qp(ends[NEAR].qp, &attr, IBV_QP_STATE), "ERR");
}

static void tell_end(int i)
{
	time_t until = time(NULL) + SECONDS;
	struct timespec pause = { .tv_nsec = 1000000 };
	struct ibv_wc wc;

	while (!ibv_poll_cq(ends[i].cq, 1, &wc)) {
		if (time(NULL) > until) {
			puts("ended not");
			return;
		}
		nanosleep(&pause, NULL);
	}
	printf("ended %s\n", ibv_wc_status_str(wc.status));
}

static void obey(void)
{
	if (!strcmp(words[0], "make") && num_words > 1) {
		make();
		return;
	}
	if (!strcmp(words[0], "end") && num_words > 1) {
		tell_end(strcmp(words[1], "near") ? FAR : NEAR);
		return;
	}
	if (!strcmp(words[0], "take") && num_words > 1)
		take(FAR, strtoul(words[1], NULL, 0), is_bad(2, "lkey"));
	else if (!strcmp(words[0], "post"))
		post();
	else if (!strcmp(words[0], "fail"))
		fail();
	else if (!strcmp(words[0], "release"))
		*slow_held = false;
	else
		die(words[0]);
	puts("done");
}

int main(int argc, char **argv)
{
	char line[256], *word;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_slow();
	open_end(NEAR, argv[1]);
	open_end(FAR, argv[2]);
	while (fgets(line, sizeof(line), stdin)) {
		num_words = 0;
		for (word = strtok(line, " \n"); word && num_words < 32; word = strtok(NULL, " \n"))
			words[num_words++] = word;
		if (num_words)
			obey();
	}
	return 0;
}
