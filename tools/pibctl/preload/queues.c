// SPDX-License-Identifier: GPL-2.0
/*
 * How a program posts, polls and waits. These calls never come to the module, nor are they
 * functions of libibverbs that could stand before its own: they go by a table of the device, whose
 * entries are replaced when it is opened. Those of the newer interfaces are in extended.c.
 *
 * A buffer is summed up when it is posted to be sent, and again when its completion is polled.
 * Nobody may change it in between but the HCA itself, by what it receives: where that may come to
 * is not judged. Memory is read by the kernel's help, for it may be gone, and without the lock: to
 * bring a page another thread may have to post or poll (userfaultfd).
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include "manners.h"
#include "queues.h"

/* Devices, CQs, regions and sends that are known at one time; of others nothing is said. */
#define DEVICES	16
#define CQS	256
#define REGIONS	256
#define SENDS	2048
/* Bytes of a piece that are summed up at its begin, and at its end. */
#define SUMMED	32768

/* Places in struct ibv_context_ops (selftests/lib/manners.c compares). */
enum {
	POLL_CQ = 11,
	REQ_NOTIFY_CQ = 12,
	POST_SRQ_RECV = 20,
	POST_SEND = 25,
	POST_RECV = 26,
};

/* enum ibv_access_flags */
enum {
	REMOTE_WRITE = 1 << 1,
	REMOTE_ATOMIC = 1 << 3,
	MW_BIND = 1 << 4,
	ZERO_BASED = 1 << 5,
};

/* enum ibv_wc_opcode, enum ibv_wc_status */
enum {
	WC_RECV = 1 << 7,
	FLUSHED = 5,
};

/* Among the objects that struct ibv_qp begins with. */
enum {
	SEND_CQ = 3,
	RECV_CQ = 4,
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
typedef int send_fn(struct qp *qp, struct send_wr *wr, struct send_wr **bad);
typedef int recv_fn(void *queue, struct recv_wr *wr, struct recv_wr **bad);

/* The device's own calls. */
static struct device {
	struct context *context;
	poll_fn *poll;
	notify_fn *notify;
	send_fn *send;
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

/* @low, @high: what comes from elsewhere lands there, as far as the program has said so by now. */
static struct region {
	uint64_t addr, length;
	uint32_t lkey;
	int is_open;
	uint64_t low, high;
} regions[REGIONS];

/*
 * A work request that was posted to the queue pair of that CQ and number; without @cq the place is
 * free. @num 0: nothing of it is judged. @of_call, @number_in_call: which call has posted it, and
 * which of its list it is.
 *
 * Once it is finished it belongs to who has polled that (@judge), who reads the memory without the
 * lock. If another thread comes to know meanwhile that the buffer is free (@is_free), what is read
 * says nothing.
 */
struct send {
	const struct cq *cq;
	uint32_t qp_number;
	int is_signaled, num, number_in_call;
	uint64_t of_call, wr_id, order, sum;
	struct piece pieces[PIECES];
	int is_free;
	struct judge *judge;
	struct send *next;
};

static struct send sends[SENDS];

/* The sends that one call has found finished, and looks at after give_lock(). */
struct judge {
	struct send *sends;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void) { pthread_mutex_lock(&lock); }
static void give_lock(void) { pthread_mutex_unlock(&lock); }

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

/* ---- memory ---- */

/* The place of @mr, or NULL. libibverbs' calls go by each other, and come here once for each. */
static struct region *same_region(const struct mr *mr)
{
	size_t i;

	for (i = 0; i < REGIONS; i++) {
		struct region *r = &regions[i];

		if (r->length && r->lkey == mr->lkey && r->addr == (uintptr_t)mr->addr &&
		    r->length == mr->length)
			return r;
	}
	return NULL;
}

static struct region *free_region(void)
{
	size_t i;

	for (i = 0; i < REGIONS; i++)
		if (!regions[i].length)
			return &regions[i];
	return NULL;
}

/* By a memory window that is bound to it peers may write, too. */
void memory_made(const struct mr *mr, unsigned int access)
{
	int is_open = !!(access & (REMOTE_WRITE | REMOTE_ATOMIC | MW_BIND));
	struct region *r;

	if (!mr || (access & ZERO_BASED))
		return;
	take_lock();
	r = same_region(mr);
	if (r) {
		r->is_open |= is_open;
	} else {
		r = free_region();
		if (r)
			*r = (struct region){ .addr = (uintptr_t)mr->addr,
					      .length = mr->length,
					      .lkey = mr->lkey,
					      .is_open = is_open };
	}
	give_lock();
}

void memory_gone(const struct mr *mr)
{
	size_t i;

	take_lock();
	for (i = 0; i < REGIONS; i++)
		if (regions[i].length && regions[i].lkey == mr->lkey)
			regions[i].length = 0;
	give_lock();
}

static int overlaps(const struct piece *p, uint64_t low, uint64_t high)
{
	return p->addr < high && low < p->addr + p->length;
}

/*
 * Return: whether @p is memory of the program by its own address, to which nothing comes from
 * elsewhere.
 */
static int is_quiet_piece(const struct piece *p)
{
	int known = 0;
	size_t i;

	for (i = 0; i < REGIONS; i++) {
		const struct region *r = &regions[i];

		if (!r->length)
			continue;
		known |= r->lkey == p->lkey && p->addr >= r->addr &&
			 p->addr + p->length <= r->addr + r->length;
		if (overlaps(p, r->low, r->high) ||
		    (r->is_open && overlaps(p, r->addr, r->addr + r->length)))
			return 0;
	}
	return known;
}

static int is_quiet(const struct piece *pieces, int num)
{
	int i, quiet = 1;

	for (i = 0; i < num && quiet; i++)
		quiet = is_quiet_piece(&pieces[i]);
	return quiet;
}

static void lands(const struct piece *p)
{
	size_t i;

	for (i = 0; i < REGIONS; i++) {
		struct region *r = &regions[i];

		if (!r->length || r->lkey != p->lkey)
			continue;
		if (!r->high || p->addr < r->low)
			r->low = p->addr;
		if (p->addr + p->length > r->high)
			r->high = p->addr + p->length;
	}
}

static uint64_t add_bytes(uint64_t sum, uint64_t addr, uint64_t length)
{
	unsigned char bytes[8192];

	while (length) {
		struct iovec here = { bytes, length < sizeof(bytes) ? length : sizeof(bytes) };
		struct iovec there = { (void *)(uintptr_t)addr, here.iov_len };
		ssize_t i, got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);

		if (got <= 0)
			break;
		for (i = 0; i < got; i++)
			sum = (sum ^ bytes[i]) * 0x100000001b3ULL;
		addr += (uint64_t)got;
		length -= (uint64_t)got;
	}
	return sum;
}

static uint64_t sum_up(const struct piece *pieces, int num)
{
	uint64_t sum = 0xcbf29ce484222325ULL;
	int i;

	for (i = 0; i < num; i++) {
		const struct piece *p = &pieces[i];
		uint64_t head = p->length < SUMMED ? p->length : SUMMED, tail = p->length - head;

		if (tail > SUMMED)
			tail = SUMMED;
		sum = add_bytes(sum, p->addr, head);
		sum = add_bytes(sum, p->addr + p->length - tail, tail);
	}
	return sum;
}

/* ---- what is posted ---- */

/*
 * Return: whether the HCA reads the bytes of @wr in the program's memory, when it likes. Inline
 * data was copied.
 */
static int reads_memory(const struct send_wr *wr)
{
	return ((wr->opcode >= RDMA_WRITE && wr->opcode <= SEND_WITH_IMM) ||
		wr->opcode == SEND_WITH_INV) &&
	       !(wr->flags & INLINE) && wr->num_pieces > 0 && wr->num_pieces <= PIECES;
}

/* Numbers of queue pairs are those of one device: two that complete to one CQ differ. */
static int is_of(const struct send *s, const struct cq *cq, uint32_t number)
{
	return s->cq && s->cq == cq && s->qp_number == number;
}

/* A send that another thread looks at keeps its place until that is done. Sends of @judge stay. */
static void forget_send(struct send *s, const struct judge *judge)
{
	if (!s->judge)
		s->cq = NULL;
	else if (s->judge != judge)
		s->is_free = 1;
}

/* Forget all sends of a queue pair but those that @judge has; NULL: that is nobody. */
static void forget(const struct cq *cq, uint32_t number, const struct judge *judge)
{
	size_t i;

	for (i = 0; i < SENDS; i++)
		if (is_of(&sends[i], cq, number))
			forget_send(&sends[i], judge);
}

static struct send *free_place(void)
{
	size_t i;

	for (i = 0; i < SENDS; i++)
		if (!sends[i].cq)
			return &sends[i];
	return NULL;
}

/* Return: whether the memory of @wr is to stay as it is until @wr is finished. */
static int stays(const struct send_wr *wr)
{
	int i, quiet;

	take_lock();
	if (wr->opcode >= RDMA_READ && wr->opcode <= FETCH_AND_ADD)
		for (i = 0; i < wr->num_pieces; i++)
			lands(&wr->pieces[i]);
	quiet = reads_memory(wr) && is_quiet(wr->pieces, wr->num_pieces);
	give_lock();
	return quiet;
}

/*
 * If there is no room all of the queue pair are forgotten: without this one nobody could say when
 * older ones are finished.
 */
static struct send *make_place(const struct qp *qp)
{
	struct send *s = free_place();

	if (s)
		return s;
	forget(qp->objects[SEND_CQ], qp->number, NULL);
	return free_place();
}

static void remember(const struct qp *qp, const struct send_wr *wr, uint64_t of_call,
		     int number_in_call)
{
	static uint64_t last_order;
	int num = stays(wr) ? wr->num_pieces : 0;
	uint64_t sum = sum_up(wr->pieces, num);
	struct send *s;

	take_lock();
	s = make_place(qp);
	if (s) {
		*s = (struct send){
			.cq = qp->objects[SEND_CQ], .qp_number = qp->number,
			.is_signaled = !!(wr->flags & SIGNALED), .num = num,
			.of_call = of_call, .number_in_call = number_in_call, .wr_id = wr->wr_id,
			.order = ++last_order, .sum = sum,
		};
		if (num)
			memcpy(s->pieces, wr->pieces, sizeof(struct piece) * (size_t)num);
	}
	give_lock();
}

/* Forget those of one call from its number @from on. */
static void forget_refused(uint64_t of_call, int from)
{
	size_t i;

	for (i = 0; i < SENDS; i++)
		if (sends[i].cq && sends[i].of_call == of_call && sends[i].number_in_call >= from)
			forget_send(&sends[i], NULL);
}

uint64_t posts(const struct qp *qp, const struct send_wr *list)
{
	static uint64_t last_call;
	uint64_t call;
	int n;

	take_lock();
	call = ++last_call;
	give_lock();
	for (n = 0; list; list = list->next, n++)
		remember(qp, list, call, n);
	return call;
}

void posts_refused(uint64_t of_call, int from)
{
	take_lock();
	forget_refused(of_call, from);
	give_lock();
}

void posts_unknown(const struct qp *qp)
{
	take_lock();
	forget(qp->objects[SEND_CQ], qp->number, NULL);
	give_lock();
}

static int post_send(struct qp *qp, struct send_wr *list, struct send_wr **bad)
{
	struct device device = device_of(qp->objects[0]);
	struct send_wr *wr;
	uint64_t call;
	int err = 0, n;

	for (wr = list; wr; wr = wr->next)
		err |= check_bits("ibv_post_send", "send_flags", wr->flags, KNOWN_FLAGS);
	if (err) {
		*bad = list;
		return err;
	}
	call = posts(qp, list);
	err = device.send(qp, list, bad);
	if (!err)
		return 0;
	for (wr = list, n = 0; wr && wr != *bad; wr = wr->next)
		n++;
	posts_refused(call, n);
	return err;
}

void pieces_land(const struct piece *pieces, size_t num)
{
	size_t i;

	take_lock();
	for (i = 0; i < num; i++)
		lands(&pieces[i]);
	give_lock();
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

/* ---- what is polled ---- */

/* Not under the lock, for memory is read. */
static void pass_judgement(const struct judge *judge)
{
	struct send *s, *next, was;
	uint64_t sum;

	for (s = judge->sends; s; s = next) {
		sum = sum_up(s->pieces, s->num);
		take_lock();
		next = s->next;
		was = *s;
		s->cq = NULL;
		give_lock();
		if (sum != was.sum && !was.is_free)
			tell("buffer-changed",
			     "ibv_poll_cq of queue pair %u: the buffer of work request 0x%llx is not as it was posted",
			     was.qp_number, (unsigned long long)was.wr_id);
	}
}

static void finish_send(struct send *s, struct judge *judge)
{
	if (s->judge || !s->num || !is_quiet(s->pieces, s->num)) {
		forget_send(s, judge);
		return;
	}
	s->judge = judge;
	s->next = judge->sends;
	judge->sends = s;
}

/*
 * The send that @wc completes, or NULL. One without IBV_SEND_SIGNALED completes with success only
 * if its queue pair was made with sq_sig_all, which is not known here. To take one that was posted
 * later does no harm: more is judged too early, when nobody may have changed it yet.
 */
static const struct send *completed(const struct cq *cq, const struct wc *wc)
{
	const struct send *oldest = NULL;
	size_t i;

	for (i = 0; i < SENDS; i++) {
		const struct send *s = &sends[i];

		if (!is_of(s, cq, wc->qp_num) || s->judge || s->wr_id != wc->wr_id)
			continue;
		if (!oldest || s->is_signaled > oldest->is_signaled ||
		    (s->is_signaled == oldest->is_signaled && s->order < oldest->order))
			oldest = s;
	}
	return oldest;
}

/*
 * It is finished, and so are those before it. Which those are nobody can say of one that is not
 * known (ibv_bind_mw()).
 */
static void finished(const struct cq *cq, const struct wc *wc, struct judge *judge)
{
	const struct send *last = completed(cq, wc);
	uint64_t order;
	size_t i;

	if (!last) {
		forget(cq, wc->qp_num, judge);
		return;
	}
	order = last->order;
	for (i = 0; i < SENDS; i++)
		if (is_of(&sends[i], cq, wc->qp_num) && sends[i].order <= order)
			finish_send(&sends[i], judge);
}

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
	size_t i;

	take_lock();
	for (i = 0; i < SENDS; i++)
		if (sends[i].cq == cq)
			forget_send(&sends[i], NULL);
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
					      context->ops[POST_RECV],
					      context->ops[POST_SRQ_RECV],
					      more_calls_begin(context) };
		context->ops[POLL_CQ] = poll_cq;
		context->ops[REQ_NOTIFY_CQ] = req_notify_cq;
		context->ops[POST_SEND] = post_send;
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
