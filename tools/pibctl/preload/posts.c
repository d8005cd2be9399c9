// SPDX-License-Identifier: GPL-2.0
/*
 * Where in the program work requests are posted. The module finds something in one of them when it
 * fetches it, on any thread, and names it by its number: that is how many were posted to its queue
 * pair before. A stack is told when it is another one than that of the last call, with the number
 * of the first work request of the call.
 */
#include "manners.h"
#include "posts.h"
#include "queues.h"

/* Queue pairs that are known at one time; where others post is not known. */
#define POSTERS	256

/*
 * @last: of the stack that was told last, 0: none. @is_bare: the last line had none. @is_lost: the
 * number of those that were posted is not known any more.
 */
static struct poster {
	const void *context;
	uint32_t qp_number, posted;
	uint64_t last;
	int is_bare, is_lost;
} posters[POSTERS];

/* The context of those that are about to go. */
static const char leaving;

static struct poster *poster_of(const void *context, uint32_t number)
{
	size_t i;

	for (i = 0; i < POSTERS; i++)
		if (posters[i].context == context && (!context || posters[i].qp_number == number))
			return &posters[i];
	return NULL;
}

/*
 * The same, which may become known now. Return: NULL: there is no room. One that becomes known
 * after that may have posted meanwhile.
 */
static struct poster *poster_made(const struct qp *qp)
{
	static int was_full;
	struct poster *p = poster_of(qp->objects[0], qp->number);

	if (p)
		return p;
	p = poster_of(NULL, 0);
	if (p)
		*p = (struct poster){ .context = qp->objects[0], .qp_number = qp->number,
				      .is_lost = was_full };
	else
		was_full = 1;
	return p;
}

static int tell_from(const struct qp *qp, uint32_t first, int has_stack)
{
	const struct context *context = qp->objects[0];

	return tell_post(NEXT(ibv_get_device_name)(context->device), qp->number, first, has_stack);
}

/* @sum: of the stack of a call. Return: whether that is to be told. */
static int has_news(const struct poster *p, uint64_t sum)
{
	return p->is_lost ? !p->is_bare : p->last != sum;
}

/*
 * Without room for the stack one line without it is told, so that what is found later does not get
 * the stack of a place before; each post tries the stack again.
 */
static void tell_place(const struct qp *qp, uint64_t sum, int is_lost)
{
	struct poster *p, was = { 0 };
	int has_stack, is_bare;

	take_lock();
	p = poster_made(qp);
	if (p) {
		p->is_lost |= is_lost;
		was = *p;
		p->last = sum;
	}
	give_lock();
	if (!p || !has_news(&was, sum))
		return;
	has_stack = !was.is_lost && tell_from(qp, was.posted, 1);
	is_bare = !has_stack && (was.is_bare || tell_from(qp, was.posted, 0));
	take_lock();
	p = poster_of(qp->objects[0], qp->number);
	if (p) {
		p->is_bare = is_bare;
		if (!has_stack && p->last == sum)
			p->last = 0;
	}
	give_lock();
}

void posts_begin(const struct qp *qp)
{
	tell_place(qp, stack_sum(), 0);
}

void posts_end(const struct qp *qp, uint32_t num)
{
	struct poster *p;

	take_lock();
	p = poster_of(qp->objects[0], qp->number);
	if (p)
		p->posted += num;
	give_lock();
}

void posts_lost(const struct qp *qp)
{
	tell_place(qp, 0, 1);
}

int posts_leaves(const struct qp *qp)
{
	struct poster *p;

	take_lock();
	p = poster_of(qp->objects[0], qp->number);
	if (p)
		p->context = &leaving;
	give_lock();
	return p ? (int)(p - posters) : -1;
}

void posts_left(int place, const struct qp *qp, int err)
{
	if (place < 0)
		return;
	take_lock();
	posters[place].context = err ? qp->objects[0] : NULL;
	give_lock();
}
