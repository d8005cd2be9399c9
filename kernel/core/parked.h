/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tasks that wait for something that is not theirs: the window of a VL of a link. They look again
 * by timers of their own, which may be slow: they are run when what they wait for changes.
 */
#ifndef PIB_CORE_PARKED_H
#define PIB_CORE_PARKED_H

#include <linux/list.h>
#include <linux/spinlock.h>

struct pib_task;

/**
 * struct pib_parking - where tasks wait for one thing; a part of what they wait for
 * @lock: softirqs off; guards all that follows, and @entry of those that stand here
 * @tasks: those that wait, the first ones longest
 * @is_closed: nobody waits here any more
 */
struct pib_parking {
	spinlock_t lock;
	struct list_head tasks;
	bool is_closed;
};

/**
 * struct pib_parked - a task's place among those that wait
 * @entry: in @at->tasks
 * @task: the task; never changes
 * @at: where it waits; NULL: nowhere, and nobody holds on to the task
 */
struct pib_parked {
	struct list_head entry;
	struct pib_task *task;
	struct pib_parking *at;
};

/* Set up @g. Context: any. */
void pib_parking_init(struct pib_parking *g);
/*
 * Have nobody wait any more: the tasks look by themselves. @g may be freed a grace period later.
 * Context: softirqs off.
 */
void pib_parking_close(struct pib_parking *g);
/*
 * Have those run that have waited longest. They are not all, as what has changed is not enough for
 * many: the others look by themselves. The caller calls pib_tasks_run() later. Context: softirqs
 * off; no lock held under which anything waits.
 */
void pib_parking_wake(struct pib_parking *g);

/* Set up @p, a part of what @t is part of. Context: any. */
void pib_parked_init(struct pib_parked *p, struct pib_task *t);
/*
 * Have the task run when pib_parking_wake() is next called for @g, or behind those that have waited
 * for longer. If it waits there already it keeps its place. @again: it was run since, and got
 * nothing: it goes before those that come from now on. Context: softirqs off, RCU, under which @g
 * was found; @p's callers, and those of pib_parked_leave(), keep each other out.
 * Return: true: it waits from now on, and has to look once more at what it waits for.
 */
bool pib_parked_wait(struct pib_parked *p, struct pib_parking *g, bool again);
/* Have the task wait no longer, before it goes. Context: softirqs off; as pib_parked_wait(). */
void pib_parked_leave(struct pib_parked *p);

/* Return: true if the task may wait somewhere. Context: as pib_parked_leave(). */
static inline bool pib_parked_is_waiting(const struct pib_parked *p)
{
	return READ_ONCE(p->at);
}

#endif
