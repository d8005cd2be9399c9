// SPDX-License-Identifier: GPL-2.0
/*
 * How a program posts, polls and waits. These calls never come to the module, nor are they
 * functions of libibverbs that could stand before its own: they go by a table of the device, whose
 * entries are replaced when it is opened. Those of the newer interfaces are in extended.c.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "manners.h"
#include "memory.h"
#include "posts.h"
#include "queues.h"
#include "sends.h"

/* Devices and CQs that are known at one time; of others nothing is said. */
#define DEVICES	16
#define CQS	256

/* Places in struct ibv_context_ops (selftests/lib/manners.c compares). */
enum {
	PLACE_BIND = 8,
	POLL_CQ = 11,
	REQ_NOTIFY_CQ = 12,
	POST_SRQ_RECV = 20,
	POST_SEND = 25,
	POST_RECV = 26,
};

/* enum ibv_wc_opcode, enum ibv_wc_status */
enum {
	WC_RECV = 1 << 7,
	FLUSHED = 5,
};

struct channel {
	void *context;
	int fd;
};

struct cq {
	struct context *context;
	struct channel *channel;
};

struct recv_wr {
	uint64_t wr_id;
	struct recv_wr *next;
	struct piece *pieces;
	int num_pieces;
};

typedef int poll_fn(struct cq *cq, int n, struct wc *wc);
typedef int notify_fn(struct cq *cq, int solicited);
typedef int bind_fn(struct qp *qp, void *mw, void *bind);
typedef int send_fn(struct qp *qp, struct send_wr *wr, struct send_wr **bad);
typedef int recv_fn(void *queue, struct recv_wr *wr, struct recv_wr **bad);

/* The device's own calls. */
static struct device {
	struct context *context;
	poll_fn *poll;
	notify_fn *notify;
	send_fn *send;
	bind_fn *bind;
	recv_fn *recv, *srq_recv;
	struct more_calls more;
} devices[DEVICES];

/*
 * A CQ with a channel. Whether there are completions in it when it is armed nobody can tell but who
 * polls it: the first one is taken out then, and given to the program when that polls. A program
 * that waits instead of polling may wait for ever.
 *
 * @armed: how often it was armed more than events were taken. Which event came of which time nobody
 * can tell: if it was armed again before an event was taken that had come, it is armed still.
 */
static struct known_cq {
	struct cq *cq;
	/* Made by ibv_create_cq(): ibv_poll_cq() is the one way to poll it. */
	int is_plain;
	int armed, has_first, late;
	struct wc first;
} cqs[CQS];

/*
 * In the places of what is about to go: another one may have its address before it is known that it
 * has.
 */
static struct context leaving_context;
static struct cq leaving_cq;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void take_lock(void) { pthread_mutex_lock(&lock); }
void give_lock(void) { pthread_mutex_unlock(&lock); }

void queues_stop(void)
{
	take_lock();
	extended_stop();
}

void queues_go_on(void)
{
	extended_go_on();
	give_lock();
}

/* A copy: devices are opened and closed meanwhile. The caller has @context open. */
static struct device device_of(const struct context *context)
{
	struct device found = { 0 };
	size_t i;

	take_lock();
	for (i = 0; i < DEVICES; i++)
		if (devices[i].context == context)
			found = devices[i];
	give_lock();
	return found;
}

struct more_calls more_calls_of(const struct context *context)
{
	return device_of(context).more;
}

/* ---- posts ---- */

/* Once it is posted the list is not read again: another thread may have freed it. */
static int post_send(struct qp *qp, struct send_wr *list, struct send_wr **bad)
{
	struct device device = device_of(qp->objects[0]);
	struct send_wr *wr;
	uint64_t call;
	int err = 0, n = 0;

	for (wr = list; wr; wr = wr->next, n++)
		err |= check_bits("ibv_post_send", "send_flags", wr->flags, KNOWN_FLAGS);
	if (err) {
		*bad = list;
		return err;
	}
	posts_begin(qp);
	call = posts(qp, list);
	err = device.send(qp, list, bad);
	if (err)
		for (wr = list, n = 0; wr && wr != *bad; wr = wr->next)
			n++;
	posts_end(qp, (uint32_t)n);
	if (err)
		posts_refused(call, n);
	return err;
}

/* It posts a work request by itself. */
static int bind_mw(struct qp *qp, void *mw, void *bind)
{
	int err;

	posts_begin(qp);
	err = device_of(qp->objects[0]).bind(qp, mw, bind);
	if (!err)
		posts_end(qp, 1);
	return err;
}

static void post_lands(const struct recv_wr *wr)
{
	for (; wr; wr = wr->next)
		pieces_land(wr->pieces, wr->num_pieces > 0 ? (size_t)wr->num_pieces : 0);
}

static int post_recv(void *qp, struct recv_wr *wr, struct recv_wr **bad)
{
	post_lands(wr);
	return device_of(*(struct context **)qp).recv(qp, wr, bad);
}

static int post_srq_recv(void *srq, struct recv_wr *wr, struct recv_wr **bad)
{
	post_lands(wr);
	return device_of(*(struct context **)srq).srq_recv(srq, wr, bad);
}

/* ---- polls ---- */

static struct known_cq *known(const struct cq *cq)
{
	size_t i;

	for (i = 0; i < CQS; i++)
		if (cqs[i].cq == cq)
			return &cqs[i];
	return NULL;
}

/* The same, which may become known now. Return: NULL: there is no room. */
static struct known_cq *remembered(struct cq *cq)
{
	struct known_cq *k = known(cq);

	if (k)
		return k;
	k = known(NULL);
	if (k)
		*k = (struct known_cq){ .cq = cq };
	return k;
}

/*
 * The buffers of a flushed send may be changed when they are known to be free, and no one time is
 * known for that.
 */
static void take_completion(const struct cq *cq, const struct wc *wc, struct judge *judge)
{
	if (wc->status)
		forget(cq, wc->qp_num, judge);
	else if (!(wc->opcode & WC_RECV))
		finished(cq, wc, judge);
}

void polled(const void *cq, const struct wc *wc)
{
	struct judge judge = { NULL };

	take_lock();
	take_completion(cq, wc, &judge);
	give_lock();
	pass_judgement(&judge);
}

void polled_unknown(const void *cq)
{
	take_lock();
	forget_all_of(cq);
	give_lock();
}

/* The newer interface keeps the CQ while it waits for the lock: this must not wait for the CQ. */
static int poll_cq_ex(const struct device *device, struct cq *cq, int n, struct wc *wc)
{
	int i, has = device->poll(cq, n, wc);

	for (i = 0; i < has; i++)
		polled(cq, &wc[i]);
	return has;
}

/*
 * All under the lock: what two threads poll is judged in the order of the CQ, and so is what
 * req_notify_cq() has taken out.
 */
static int poll_cq(struct cq *cq, int n, struct wc *wc)
{
	struct device device = device_of(cq->context);
	struct judge judge = { NULL };
	struct known_cq *k;
	int i, has = 0, more;

	if (is_extended_cq(cq))
		return poll_cq_ex(&device, cq, n, wc);
	take_lock();
	k = known(cq);
	if (k && n > 0) {
		k->late = 0;
		if (k->has_first)
			wc[has++] = k->first;
		k->has_first = 0;
	}
	more = has < n || !has ? device.poll(cq, n - has, wc + has) : 0;
	if (more > 0)
		has += more;
	for (i = 0; i < has; i++)
		take_completion(cq, &wc[i], &judge);
	give_lock();
	pass_judgement(&judge);
	return has ? has : more;
}

/* ---- events ---- */

static int req_notify_cq(struct cq *cq, int solicited)
{
	struct device device = device_of(cq->context);
	struct known_cq *k;

	take_lock();
	k = cq->channel ? remembered(cq) : NULL;
	if (k) {
		if (k->is_plain && !k->has_first)
			k->has_first = device.poll(cq, 1, &k->first) == 1;
		k->late = k->has_first;
		k->armed++;
	}
	give_lock();
	return device.notify(cq, solicited);
}

static int is_alone(void)
{
	char text[1024], *at;
	ssize_t length;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), field;

	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return 0;
	text[length] = 0;
	/* Behind the name, which ends with the last parenthesis, num_threads is the 18th field. */
	at = strrchr(text, ')');
	for (field = 0; at && field < 18; field++)
		at = strchr(at + 1, ' ');
	return at && atoi(at + 1) == 1;
}

/*
 * A program that does not block waits elsewhere, and nobody waits if an event is there. With other
 * threads one of them may arm the CQ meanwhile, or poll it.
 */
void waits_for(void *object)
{
	struct channel *channel = object;
	struct pollfd events = { .events = POLLIN };
	int of_channel = 0, armed = 0, late = 0;
	size_t i;

	if (!is_heard() || (fcntl(channel->fd, F_GETFL) & O_NONBLOCK) || !is_alone())
		return;
	events.fd = channel->fd;
	if (poll(&events, 1, 0) > 0)
		return;
	take_lock();
	for (i = 0; i < CQS; i++) {
		if (!cqs[i].cq || cqs[i].cq->channel != channel)
			continue;
		of_channel++;
		armed |= cqs[i].armed > 0;
		late |= cqs[i].armed > 0 && cqs[i].late;
	}
	give_lock();
	if (of_channel && !armed)
		tell("unarmed-wait", "ibv_get_cq_event, and no CQ of the channel is armed");
	if (late)
		tell("armed-late",
		     "ibv_get_cq_event, and what was in the CQ when it was armed was not polled");
}

void event_taken(void *cq)
{
	struct known_cq *k;

	take_lock();
	k = known(cq);
	if (k && k->armed)
		k->armed--;
	give_lock();
}

/* ---- objects ---- */

/* An entry with the address of the new CQ is that of an earlier one. */
VISIBLE struct cq *ibv_create_cq(struct context *context, int cqe, void *cq_context,
				 struct channel *channel, int vector)
{
	struct cq *cq = NEXT(ibv_create_cq)(context, cqe, cq_context, channel, vector);
	struct known_cq *k;

	if (!cq || !is_heard() || !device_of(context).poll)
		return cq;
	take_lock();
	k = channel ? remembered(cq) : known(cq);
	if (k)
		*k = (struct known_cq){ .cq = channel ? cq : NULL, .is_plain = 1 };
	give_lock();
	return cq;
}

void qp_gone(const struct qp *qp, const char *kind, const char *call)
{
	int lost = 0;
	size_t i;

	take_lock();
	for (i = 0; i < CQS; i++) {
		if (!cqs[i].cq || !cqs[i].has_first || cqs[i].first.qp_num != qp->number ||
		    (qp->objects[SEND_CQ] != cqs[i].cq && qp->objects[RECV_CQ] != cqs[i].cq))
			continue;
		lost += cqs[i].first.status != FLUSHED;
		cqs[i].has_first = 0;
		cqs[i].late = 0;
	}
	forget(qp->objects[SEND_CQ], qp->number, NULL);
	give_lock();
	if (lost)
		tell(kind, "%s of queue pair %u with a completion", call, qp->number);
}

int cq_leaves(void *cq)
{
	struct known_cq *k;

	take_lock();
	k = cq ? known(cq) : NULL;
	if (k)
		k->cq = &leaving_cq;
	give_lock();
	return k ? (int)(k - cqs) : -1;
}

void cq_left(int place, void *cq, int err)
{
	struct known_cq *k;
	int unpolled;

	if (place < 0)
		return;
	take_lock();
	k = &cqs[place];
	k->cq = err ? cq : NULL;
	unpolled = !err && k->has_first && k->first.status != FLUSHED;
	give_lock();
	if (unpolled)
		tell("unpolled", "ibv_destroy_cq with a completion");
}

void queues_end(void)
{
	size_t i;

	for (i = 0; i < CQS; i++)
		if (cqs[i].cq && cqs[i].has_first && cqs[i].first.status != FLUSHED)
			tell("unpolled", "the end with a completion");
}

/* It was told that the process has this library, and uses libibverbs by it. */
static int has_opened;

VISIBLE struct context *ibv_open_device(void *device)
{
	struct context *context = NEXT(ibv_open_device)(device);
	size_t i;

	if (!context || !is_heard())
		return context;
	if (!__atomic_exchange_n(&has_opened, 1, __ATOMIC_RELAXED))
		tell("loaded", "ibv_open_device");
	take_lock();
	for (i = 0; i < DEVICES; i++) {
		if (devices[i].context)
			continue;
		devices[i] = (struct device){ context,
					      context->ops[POLL_CQ],
					      context->ops[REQ_NOTIFY_CQ],
					      context->ops[POST_SEND],
					      context->ops[PLACE_BIND],
					      context->ops[POST_RECV],
					      context->ops[POST_SRQ_RECV],
					      more_calls_begin(context) };
		context->ops[POLL_CQ] = poll_cq;
		context->ops[REQ_NOTIFY_CQ] = req_notify_cq;
		context->ops[POST_SEND] = post_send;
		context->ops[PLACE_BIND] = bind_mw;
		context->ops[POST_RECV] = post_recv;
		context->ops[POST_SRQ_RECV] = post_srq_recv;
		break;
	}
	give_lock();
	return context;
}

VISIBLE int ibv_close_device(struct context *context)
{
	struct device *place = NULL;
	size_t i;
	int err;

	take_lock();
	for (i = 0; i < DEVICES; i++)
		if (devices[i].context == context)
			place = &devices[i];
	if (place)
		place->context = &leaving_context;
	give_lock();
	err = NEXT(ibv_close_device)(context);
	if (place) {
		take_lock();
		place->context = err ? context : NULL;
		give_lock();
	}
	return err;
}
