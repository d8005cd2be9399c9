// SPDX-License-Identifier: GPL-2.0
/*
 * Sends that a program has posted. A buffer is summed up when it is posted, and again when its
 * completion is polled. Nobody may change it in between but the HCA itself, by what it receives:
 * where that may come to is not judged.
 */
#include <string.h>
#include "memory.h"
#include "sends.h"

/* Sends that are known at one time; of others nothing is said. */
#define SENDS	2048

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

void forget(const struct cq *cq, uint32_t number, const struct judge *judge)
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

void pass_judgement(const struct judge *judge)
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
		if (sum && was.sum && sum != was.sum && !was.is_free)
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

/* Which are before it nobody can say of one that is not known (ibv_bind_mw()). */
void finished(const struct cq *cq, const struct wc *wc, struct judge *judge)
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

void forget_all_of(const struct cq *cq)
{
	size_t i;

	for (i = 0; i < SENDS; i++)
		if (sends[i].cq == cq)
			forget_send(&sends[i], NULL);
}
