// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tasks that wait for something that is not theirs.
 *
 * A task stands in one list at most, and only its owner puts it there. It is taken out under the
 * list's lock, and last of all it is said that it stands nowhere: until then the task stays. Its
 * owner finds the list by the task, maybe when that has just been taken out: under RCU.
 */
#include <linux/rcupdate.h>
#include "core/parked.h"
#include "core/task.h"

/* Tasks that are woken at once: a window has no room for more, and all of them take their time. */
#define PARKED_WOKEN_MOST	64

void pib_parking_init(struct pib_parking *g)
{
	spin_lock_init(&g->lock);
	INIT_LIST_HEAD(&g->tasks);
	g->is_closed = false;
}

/* Nothing refers to @p any more when it says that it stands nowhere. */
static void parked_remove(struct pib_parked *p, bool wakes)
{
	list_del_init(&p->entry);
	if (wakes)
		pib_task_activate(p->task);
	/* Pairs with pib_parked_leave(): who sees it may free the task. */
	smp_store_release(&p->at, NULL);
}

void pib_parking_wake(struct pib_parking *g)
{
	struct pib_parked *p, *next;
	u32 left = PARKED_WOKEN_MOST;

	spin_lock(&g->lock);
	list_for_each_entry_safe(p, next, &g->tasks, entry) {
		if (!left--)
			break;
		parked_remove(p, true);
	}
	spin_unlock(&g->lock);
}

void pib_parking_close(struct pib_parking *g)
{
	struct pib_parked *p, *next;

	spin_lock(&g->lock);
	g->is_closed = true;
	list_for_each_entry_safe(p, next, &g->tasks, entry)
		parked_remove(p, false);
	spin_unlock(&g->lock);
}

void pib_parked_init(struct pib_parked *p, struct pib_task *t)
{
	INIT_LIST_HEAD(&p->entry);
	p->task = t;
	p->at = NULL;
}

bool pib_parked_wait(struct pib_parked *p, struct pib_parking *g, bool again)
{
	bool is_new;

	/* If it is being taken out now it is run again, and may come back then. */
	if (READ_ONCE(p->at) == g)
		return false;
	pib_parked_leave(p);
	spin_lock(&g->lock);
	is_new = !g->is_closed;
	if (is_new) {
		if (again)
			list_add(&p->entry, &g->tasks);
		else
			list_add_tail(&p->entry, &g->tasks);
		WRITE_ONCE(p->at, g);
	}
	spin_unlock(&g->lock);
	return is_new;
}

void pib_parked_leave(struct pib_parked *p)
{
	struct pib_parking *g;

	rcu_read_lock();
	/* Pairs with parked_remove(). */
	g = smp_load_acquire(&p->at);
	if (g) {
		spin_lock(&g->lock);
		if (READ_ONCE(p->at))
			parked_remove(p, false);
		spin_unlock(&g->lock);
	}
	rcu_read_unlock();
}
