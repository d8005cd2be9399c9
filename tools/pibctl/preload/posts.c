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

/* Queue pairs that are known at one time; of others nothing is said. */
#define POSTERS	256

/* @last: of the stack that was told last, 0: none. @is_lost: their number is not known any more. */
static struct poster {
	const void *context;
	uint32_t qp_number, posted;
	uint64_t last;
	int is_lost;
} posters[POSTERS];

static struct poster *poster_of(const void *context, uint32_t number)
{
	size_t i;

	for (i = 0; i < POSTERS; i++)
		if (posters[i].context == context && (!context || posters[i].qp_number == number))
			return &posters[i];
	return NULL;
}

/* The same, which may become known now. Return: NULL: there is no room. */
static struct poster *poster_made(const struct qp *qp)
{
	struct poster *p = poster_of(qp->objects[0], qp->number);

	if (p)
		return p;
	p = poster_of(NULL, 0);
	if (p)
		*p = (struct poster){ .context = qp->objects[0], .qp_number = qp->number };
	return p;
}

static void tell_from(const struct qp *qp, uint32_t first, int has_stack)
{
	const struct context *context = qp->objects[0];

	tell_post(NEXT(ibv_get_device_name)(context->device), qp->number, first, has_stack);
}

void posts_begin(const struct qp *qp)
{
	uint64_t sum = stack_sum();
	struct poster *p;
	uint32_t first = 0;
	int is_new;

	take_lock();
	p = poster_made(qp);
	is_new = p && !p->is_lost && p->last != sum;
	if (is_new) {
		p->last = sum;
		first = p->posted;
	}
	give_lock();
	if (is_new)
		tell_from(qp, first, 1);
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
	struct poster *p;
	uint32_t first = 0;
	int is_new;

	take_lock();
	p = poster_made(qp);
	is_new = p && !p->is_lost;
	if (is_new) {
		p->is_lost = 1;
		first = p->posted;
	}
	give_lock();
	if (is_new)
		tell_from(qp, first, 0);
}

void posts_gone(const struct qp *qp)
{
	struct poster *p;

	take_lock();
	p = poster_of(qp->objects[0], qp->number);
	if (p)
		p->context = NULL;
	give_lock();
}
