// SPDX-License-Identifier: GPL-2.0
/*
 * The newer interfaces of libibverbs: objects that are made with a comp_mask, by calls of the
 * device's, and what a queue pair and a CQ that were made like that have calls of their own for:
 * ibv_wr_start() and the like, ibv_start_poll() and ibv_next_poll(). These are replaced in the
 * object. A list of work requests is put together as the program does it, and told of when it is
 * posted (sends.c).
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include "manners.h"
#include "memory.h"
#include "queues.h"
#include "posts.h"
#include "sends.h"

/* Queue pairs and CQs of that kind, and work requests of a list; of others nothing is said. */
#define OBJECTS	64
#define BATCH	64

/* ---- objects that are made with a comp_mask ---- */

/* enum ibv_qp_init_attr_mask, ibv_srq_init_attr_mask, ibv_cq_init_attr_mask, ... */
enum {
	QP_PD = 1 << 0,
	QP_XRCD = 1 << 1,
	QP_CREATE_FLAGS = 1 << 2,
	QP_IND_TABLE = 1 << 4,
	KNOWN_QP = (1 << 7) - 1,
	/* enum ibv_qp_create_flags */
	KNOWN_CREATE_FLAGS = 1 << 1 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11,
	SRQ_PD = 1 << 1,
	SRQ_XRCD = 1 << 2,
	SRQ_CQ = 1 << 3,
	KNOWN_SRQ = (1 << 5) - 1,
	CQ_FLAGS = 1 << 0,
	CQ_PD = 1 << 1,
	KNOWN_CQ = (1 << 2) - 1,
	KNOWN_CQ_FLAGS = (1 << 2) - 1,
	KNOWN_WC_FLAGS = (1 << 12) - 1,
	OPEN_XRCD = 1 << 1,
	KNOWN_OPEN_QP = (1 << 4) - 1,
	KNOWN_XRCD = (1 << 2) - 1,
};

struct qp_init {
	void *objects[4];
	uint32_t cap[5];
	int type, sq_sig_all;
	uint32_t comp_mask;
	void *pd, *xrcd;
	uint32_t create_flags;
	uint16_t max_tso_header;
	void *ind_table;
};

struct srq_init {
	void *srq_context;
	uint32_t attr[3], comp_mask;
	int type;
	void *pd, *xrcd, *cq;
};

struct cq_init {
	uint32_t cqe;
	void *cq_context, *channel;
	uint32_t vector;
	uint64_t wc_flags;
	uint32_t comp_mask, flags;
	void *parent_domain;
};

struct qp_open {
	uint32_t comp_mask, number;
	void *xrcd;
};

struct xrcd_init {
	uint32_t comp_mask;
	int fd, flags;
};

/* Return: as tell(). */
static int check_filled(const char *call, unsigned int is_said, const char *field,
			const void *value)
{
	if (!is_said || value)
		return 0;
	return tell("empty-field", "%s: comp_mask has %s, which is NULL", call, field);
}

static int check_qp(const struct qp_init *init)
{
	static const char call[] = "ibv_create_qp_ex";
	uint32_t mask = init->comp_mask;
	int err = check_bits(call, "comp_mask", mask, KNOWN_QP);

	if (mask & QP_CREATE_FLAGS)
		err |= check_bits(call, "create_flags", init->create_flags, KNOWN_CREATE_FLAGS);
	err |= check_filled(call, mask & QP_PD, "pd", init->pd);
	err |= check_filled(call, mask & QP_XRCD, "xrcd", init->xrcd);
	if (mask & QP_IND_TABLE)
		err |= check_filled(call, 1, "rwq_ind_tbl", init->ind_table);
	return err;
}

static int check_srq(const struct srq_init *init)
{
	static const char call[] = "ibv_create_srq_ex";
	uint32_t mask = init->comp_mask;

	return check_bits(call, "comp_mask", mask, KNOWN_SRQ) |
	       check_filled(call, mask & SRQ_PD, "pd", init->pd) |
	       check_filled(call, mask & SRQ_XRCD, "xrcd", init->xrcd) |
	       check_filled(call, mask & SRQ_CQ, "cq", init->cq);
}

static int check_cq(const struct cq_init *init)
{
	static const char call[] = "ibv_create_cq_ex";
	uint32_t mask = init->comp_mask;
	int err = check_bits(call, "comp_mask", mask, KNOWN_CQ);

	if (init->wc_flags >> 32)
		err |= tell("reserved-bits", "%s: wc_flags 0x%llx", call,
			    (unsigned long long)init->wc_flags);
	err |= check_bits(call, "wc_flags", (uint32_t)init->wc_flags, KNOWN_WC_FLAGS);
	if (mask & CQ_FLAGS)
		err |= check_bits(call, "flags", init->flags, KNOWN_CQ_FLAGS);
	if (mask & CQ_PD)
		err |= check_filled(call, 1, "parent_domain", init->parent_domain);
	return err;
}

/* A call that has told of something does not fail unless that is asked for, as tell() says. */
static void *refused(int err)
{
	errno = err;
	return NULL;
}

static void *create_qp_ex(struct context *context, struct qp_init *init)
{
	__typeof__(create_qp_ex) *own = more_calls_of(context).create_qp_ex;
	int err = check_qp(init);

	return err ? refused(err) : own(context, init);
}

static void *create_srq_ex(struct context *context, struct srq_init *init)
{
	__typeof__(create_srq_ex) *own = more_calls_of(context).create_srq_ex;
	int err = check_srq(init);

	return err ? refused(err) : own(context, init);
}

static void *open_qp(struct context *context, struct qp_open *attr)
{
	__typeof__(open_qp) *own = more_calls_of(context).open_qp;
	int err = check_bits("ibv_open_qp", "comp_mask", attr->comp_mask, KNOWN_OPEN_QP);

	err |= check_filled("ibv_open_qp", attr->comp_mask & OPEN_XRCD, "xrcd", attr->xrcd);
	return err ? refused(err) : own(context, attr);
}

static void *open_xrcd(struct context *context, struct xrcd_init *init)
{
	__typeof__(open_xrcd) *own = more_calls_of(context).open_xrcd;
	int err = check_bits("ibv_open_xrcd", "comp_mask", init->comp_mask, KNOWN_XRCD);

	return err ? refused(err) : own(context, init);
}

/* ---- objects with calls of their own ---- */

struct qp_ex;

/* As they stand in struct ibv_qp_ex, but for the last two, which older libraries do not have. */
struct qp_calls {
	void (*cmp_swp)(struct qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare,
			uint64_t swap);
	void (*fetch_add)(struct qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add);
	void (*bind_mw)(struct qp_ex *qp, void *mw, uint32_t rkey, const void *info);
	void (*local_inv)(struct qp_ex *qp, uint32_t rkey);
	void (*rdma_read)(struct qp_ex *qp, uint32_t rkey, uint64_t addr);
	void (*rdma_write)(struct qp_ex *qp, uint32_t rkey, uint64_t addr);
	void (*rdma_write_imm)(struct qp_ex *qp, uint32_t rkey, uint64_t addr, uint32_t imm);
	void (*send)(struct qp_ex *qp);
	void (*send_imm)(struct qp_ex *qp, uint32_t imm);
	void (*send_inv)(struct qp_ex *qp, uint32_t rkey);
	void (*send_tso)(struct qp_ex *qp, void *header, uint16_t size, uint16_t segment);
	void *set_ud_addr, *set_xrc_srqn;
	void (*set_inline_data)(struct qp_ex *qp, void *addr, size_t length);
	void (*set_inline_data_list)(struct qp_ex *qp, size_t num, const void *list);
	void (*set_sge)(struct qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length);
	void (*set_sge_list)(struct qp_ex *qp, size_t num, const struct piece *list);
	void (*start)(struct qp_ex *qp);
	int (*complete)(struct qp_ex *qp);
	void (*abort)(struct qp_ex *qp);
};

struct qp_ex {
	struct qp qp;
	int state, type;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
	uint64_t comp_mask, wr_id;
	unsigned int flags;
	struct qp_calls calls;
};

struct poll_attr {
	uint32_t comp_mask;
};

struct cq_ex;

struct cq_calls {
	int (*start)(struct cq_ex *cq, struct poll_attr *attr);
	int (*next)(struct cq_ex *cq);
	void (*end)(struct cq_ex *cq);
};

struct cq_ex {
	void *context, *channel, *cq_context;
	uint32_t handle;
	int cqe;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed[2], comp_mask;
	int status;
	uint64_t wr_id;
	struct cq_calls calls;
	int (*read_opcode)(struct cq_ex *cq);
	void *read_vendor_err, *read_byte_len, *read_imm_data;
	uint32_t (*read_qp_num)(struct cq_ex *cq);
};

/*
 * @num: work requests that were put together since wr_start(), more than BATCH if there were. Its
 * caller has the queue pair for itself. @is_leaving: it is about to be destroyed; a new one may
 * have its address before it is known that it has.
 */
static struct queue {
	struct qp_ex *qp;
	struct qp_calls own;
	int is_leaving, num;
	struct send_wr list[BATCH];
	struct piece pieces[BATCH][PIECES];
} queues[OBJECTS];

static struct {
	struct cq_ex *cq;
	struct cq_calls own;
	int is_leaving;
} cqs[OBJECTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void extended_stop(void) { pthread_mutex_lock(&lock); }
void extended_go_on(void) { pthread_mutex_unlock(&lock); }

static int place_of_qp(const void *qp)
{
	int i;

	for (i = 0; i < OBJECTS; i++)
		if (queues[i].qp == qp)
			return i;
	return -1;
}

static int place_of_cq(const void *cq)
{
	int i;

	for (i = 0; i < OBJECTS; i++)
		if (cqs[i].cq == cq)
			return i;
	return -1;
}

/* The queue of a call that was replaced, and so is known. */
static struct queue *queue_of(const struct qp_ex *qp)
{
	int place;

	pthread_mutex_lock(&lock);
	place = place_of_qp(qp);
	pthread_mutex_unlock(&lock);
	return &queues[place];
}

static struct cq_calls calls_of(const struct cq_ex *cq)
{
	struct cq_calls own;

	pthread_mutex_lock(&lock);
	own = cqs[place_of_cq(cq)].own;
	pthread_mutex_unlock(&lock);
	return own;
}

/* ---- posts ---- */

static struct queue *begins(struct qp_ex *qp, int opcode)
{
	struct queue *q = queue_of(qp);

	if (q->num < BATCH) {
		q->list[q->num] = (struct send_wr){
			.wr_id = qp->wr_id, .opcode = opcode, .flags = qp->flags,
			.pieces = q->pieces[q->num],
		};
		if (q->num)
			q->list[q->num - 1].next = &q->list[q->num];
	}
	if (q->num <= BATCH)
		q->num++;
	return q;
}

/* The work request that is put together; NULL: there was no room for it. */
static struct send_wr *last_of(struct queue *q)
{
	return q->num && q->num <= BATCH ? &q->list[q->num - 1] : NULL;
}

static void wr_cmp_swp(struct qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare,
		       uint64_t swap)
{
	begins(qp, CMP_AND_SWP)->own.cmp_swp(qp, rkey, addr, compare, swap);
}

static void wr_fetch_add(struct qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	begins(qp, FETCH_AND_ADD)->own.fetch_add(qp, rkey, addr, add);
}

static void wr_bind_mw(struct qp_ex *qp, void *mw, uint32_t rkey, const void *info)
{
	begins(qp, BIND_MW)->own.bind_mw(qp, mw, rkey, info);
}

static void wr_local_inv(struct qp_ex *qp, uint32_t rkey)
{
	begins(qp, LOCAL_INV)->own.local_inv(qp, rkey);
}

static void wr_rdma_read(struct qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	begins(qp, RDMA_READ)->own.rdma_read(qp, rkey, addr);
}

static void wr_rdma_write(struct qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	begins(qp, RDMA_WRITE)->own.rdma_write(qp, rkey, addr);
}

static void wr_rdma_write_imm(struct qp_ex *qp, uint32_t rkey, uint64_t addr, uint32_t imm)
{
	begins(qp, RDMA_WRITE_WITH_IMM)->own.rdma_write_imm(qp, rkey, addr, imm);
}

static void wr_send(struct qp_ex *qp)
{
	begins(qp, SEND)->own.send(qp);
}

static void wr_send_imm(struct qp_ex *qp, uint32_t imm)
{
	begins(qp, SEND_WITH_IMM)->own.send_imm(qp, imm);
}

static void wr_send_inv(struct qp_ex *qp, uint32_t rkey)
{
	begins(qp, SEND_WITH_INV)->own.send_inv(qp, rkey);
}

static void wr_set_inline_data(struct qp_ex *qp, void *addr, size_t length)
{
	struct queue *q = queue_of(qp);
	struct send_wr *wr = last_of(q);

	if (wr)
		wr->flags |= INLINE;
	q->own.set_inline_data(qp, addr, length);
}

static void wr_set_inline_data_list(struct qp_ex *qp, size_t num, const void *list)
{
	struct queue *q = queue_of(qp);
	struct send_wr *wr = last_of(q);

	if (wr)
		wr->flags |= INLINE;
	q->own.set_inline_data_list(qp, num, list);
}

/* Of those to which something comes that is known at once; a longer list is not looked at. */
static void take_pieces(struct queue *q, size_t num, const struct piece *list)
{
	struct send_wr *wr = last_of(q);

	if (!wr)
		return;
	if (wr->opcode >= RDMA_READ && wr->opcode <= FETCH_AND_ADD) {
		pieces_land(list, num);
	} else if (num <= PIECES) {
		memcpy(wr->pieces, list, num * sizeof(*list));
		wr->num_pieces = (int)num;
	}
}

static void wr_set_sge(struct qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct queue *q = queue_of(qp);

	take_pieces(q, 1, &(struct piece){ addr, length, lkey });
	q->own.set_sge(qp, lkey, addr, length);
}

static void wr_set_sge_list(struct qp_ex *qp, size_t num, const struct piece *list)
{
	struct queue *q = queue_of(qp);

	take_pieces(q, num, list);
	q->own.set_sge_list(qp, num, list);
}

static void wr_start(struct qp_ex *qp)
{
	struct queue *q = queue_of(qp);

	q->own.start(qp);
	q->num = 0;
}

static int check_list(const struct queue *q)
{
	int i, err = 0;

	for (i = 0; i < q->num && i < BATCH; i++)
		err |= check_bits("ibv_wr_complete", "wr_flags", q->list[i].flags, KNOWN_FLAGS);
	return err;
}

/* Behind complete() another thread may have the queue pair, and its list. */
static int wr_complete(struct qp_ex *qp)
{
	struct queue *q = queue_of(qp);
	int err = check_list(q), num = q->num;
	uint64_t of_call;

	if (err) {
		q->own.abort(qp);
		return err;
	}
	if (!num)
		return q->own.complete(qp);
	if (num > BATCH) {
		posts_unknown(&qp->qp);
		posts_lost(&qp->qp);
		return q->own.complete(qp);
	}
	posts_begin(&qp->qp);
	of_call = posts(&qp->qp, q->list);
	err = q->own.complete(qp);
	if (err)
		posts_refused(of_call, 0);
	else
		posts_end(&qp->qp, (uint32_t)num);
	return err;
}

static void replace_qp_calls(struct qp_calls *calls)
{
#define REPLACE(name)	do { if (calls->name) calls->name = wr_##name; } while (0)
	REPLACE(cmp_swp);
	REPLACE(fetch_add);
	REPLACE(bind_mw);
	REPLACE(local_inv);
	REPLACE(rdma_read);
	REPLACE(rdma_write);
	REPLACE(rdma_write_imm);
	REPLACE(send);
	REPLACE(send_imm);
	REPLACE(send_inv);
	REPLACE(set_inline_data);
	REPLACE(set_inline_data_list);
	REPLACE(set_sge);
	REPLACE(set_sge_list);
	REPLACE(start);
	REPLACE(complete);
#undef REPLACE
}

/* The program asks for the queue pair's calls, maybe again. */
VISIBLE struct qp_ex *ibv_qp_to_qp_ex(struct qp *plain)
{
	struct qp_ex *qp = NEXT(ibv_qp_to_qp_ex)(plain);
	int place;

	if (!qp || !is_heard())
		return qp;
	pthread_mutex_lock(&lock);
	place = place_of_qp(qp);
	if (place < 0)
		place = place_of_qp(NULL);
	if (place >= 0 && qp->calls.start != wr_start) {
		queues[place].qp = qp;
		queues[place].own = qp->calls;
		queues[place].is_leaving = 0;
		queues[place].num = 0;
		replace_qp_calls(&qp->calls);
	}
	pthread_mutex_unlock(&lock);
	return qp;
}

int extended_qp_leaves(const void *qp)
{
	int place;

	pthread_mutex_lock(&lock);
	place = place_of_qp(qp);
	if (place >= 0)
		queues[place].is_leaving = 1;
	pthread_mutex_unlock(&lock);
	return place;
}

void extended_qp_left(int place, int err)
{
	if (place < 0)
		return;
	pthread_mutex_lock(&lock);
	if (queues[place].is_leaving && !err)
		queues[place].qp = NULL;
	queues[place].is_leaving = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- polls ---- */

/* Of a CQ that was made without it nobody can say of which queue pair a completion is. */
static void one_polled(struct cq_ex *cq)
{
	struct wc wc = { .wr_id = cq->wr_id, .status = cq->status };

	if (!cq->read_qp_num) {
		polled_unknown(cq);
		return;
	}
	wc.qp_num = cq->read_qp_num(cq);
	if (!wc.status)
		wc.opcode = cq->read_opcode(cq);
	polled(cq, &wc);
}

static int start_poll(struct cq_ex *cq, struct poll_attr *attr)
{
	int err = check_bits("ibv_start_poll", "comp_mask", attr->comp_mask, 0);

	if (!err)
		err = calls_of(cq).start(cq, attr);
	if (!err)
		one_polled(cq);
	return err;
}

static int next_poll(struct cq_ex *cq)
{
	int err = calls_of(cq).next(cq);

	if (!err)
		one_polled(cq);
	return err;
}

static void cq_made(struct cq_ex *cq)
{
	int place;

	pthread_mutex_lock(&lock);
	place = place_of_cq(cq);
	if (place < 0)
		place = place_of_cq(NULL);
	if (place >= 0) {
		cqs[place].cq = cq;
		cqs[place].is_leaving = 0;
		cqs[place].own = cq->calls;
		cq->calls.start = start_poll;
		cq->calls.next = next_poll;
	}
	pthread_mutex_unlock(&lock);
}

static struct cq_ex *create_cq_ex(struct context *context, struct cq_init *init)
{
	__typeof__(create_cq_ex) *own = more_calls_of(context).create_cq_ex;
	int err = check_cq(init);
	struct cq_ex *cq;

	if (err)
		return refused(err);
	cq = own(context, init);
	if (cq && cq->calls.start)
		cq_made(cq);
	return cq;
}

int is_extended_cq(const void *cq)
{
	int place;

	pthread_mutex_lock(&lock);
	place = place_of_cq(cq);
	pthread_mutex_unlock(&lock);
	return place >= 0;
}

int extended_cq_leaves(const void *cq)
{
	int place;

	pthread_mutex_lock(&lock);
	place = place_of_cq(cq);
	if (place >= 0)
		cqs[place].is_leaving = 1;
	pthread_mutex_unlock(&lock);
	return place;
}

void extended_cq_left(int place, int err)
{
	if (place < 0)
		return;
	pthread_mutex_lock(&lock);
	if (cqs[place].is_leaving && !err)
		cqs[place].cq = NULL;
	cqs[place].is_leaving = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- the device ---- */

/* A provider of the time before these calls has nothing there. */
static int has_more_calls(const struct context *context)
{
	return context->abi_compat == (void *)UINTPTR_MAX;
}

struct more_calls more_calls_begin(struct context *context)
{
	struct more_calls *calls = (struct more_calls *)context - 1, own;

	if (!has_more_calls(context) || calls->size < sizeof(*calls))
		return (struct more_calls){ 0 };
	own = *calls;
#define REPLACE(name)	do { if (calls->name) calls->name = name; } while (0)
	REPLACE(create_cq_ex);
	REPLACE(create_qp_ex);
	REPLACE(create_srq_ex);
	REPLACE(open_qp);
	REPLACE(open_xrcd);
#undef REPLACE
	return own;
}
