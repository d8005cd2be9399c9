/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tasks: which one runs when, and where (core/task.c). */
#ifndef PIB_CORE_TASK_H
#define PIB_CORE_TASK_H

#include <linux/bitops.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct pib_task;

#define PIB_ANY_CPU	(-1)

/* Bits of pib_task.state */
enum pib_task_bit {
	PIB_TASK_SCHED = 0,	/* on a run list, or running: one CPU owns it */
	PIB_TASK_MISSED = 1,	/* kicked while owned: run once more */
	PIB_TASK_DEAD = 2,	/* not to be run again */
	PIB_TASK_OWN = 3,	/* this bit and those above belong to what the task is part of */
};

/**
 * struct pib_budget - what one run of a CPU's list may still do
 * @runs: tasks to run; copies of multicasts count, too
 * @bytes: payload to copy or send
 * @now: ns; the clock is read once for all of them
 * @polls: rings may be looked at again and again for more
 */
struct pib_budget {
	s32 runs;
	s32 bytes;
	u64 now;
	bool polls;
};

/**
 * struct pib_task_ops - what tasks of a kind do
 * @run: one turn. Softirqs off, under rcu_read_lock(), as the task's owner. True: there is more
 *	to do at once
 * @may_move: is nothing that the task has sent on its way any more? What is on its way could be
 *	overtaken by what the task sends from another CPU. Any context, claimed
 * @handed_off: the poller of this CPU will run the task, and look by itself for what is posted
 *	next. Softirqs off, claimed
 * @gone: the last reference was put. Any context
 */
struct pib_task_ops {
	bool (*run)(struct pib_task *t, struct pib_budget *budget);
	bool (*may_move)(const struct pib_task *t);
	void (*handed_off)(struct pib_task *t);
	void (*gone)(struct pib_task *t);
};

/**
 * struct pib_task - what is run when there is something to do, by one CPU at a time
 * @ops: what the task does; never changes
 * @ref: references to what the task is part of; a list on which the task stands holds one. Never
 *	changes once anybody can activate the task
 * @state: bits of enum pib_task_bit
 * @node: on a CPU's run list; owned by who has set PIB_TASK_SCHED
 * @home: CPU on which the task is run while what it has sent may be overtaken, PIB_ANY_CPU: on any;
 *	written by who runs the task
 * @is_away: the task was given to another CPU than the one that has what comes for it: that is its
 *	home; written by who has claimed the task
 * @home_until: jiffies: by then nothing can be overtaken; written by who runs the task
 */
struct pib_task {
	const struct pib_task_ops *ops;
	refcount_t *ref;
	unsigned long state;
	struct llist_node node;
	int home;
	bool is_away;
	unsigned long home_until;
};

/* @t is filled with zeroes; @ref is set later. */
static inline void pib_task_init(struct pib_task *t, const struct pib_task_ops *ops)
{
	t->ops = ops;
	t->home = PIB_ANY_CPU;
}

/* For who has a reference, or knows that there is one. */
static inline void pib_task_get(struct pib_task *t)
{
	refcount_inc(t->ref);
}

static inline void pib_task_put(struct pib_task *t)
{
	if (refcount_dec_and_test(t->ref))
		t->ops->gone(t);
}

/* No turn of the task begins any more; one may be under way. */
static inline void pib_task_stop(struct pib_task *t)
{
	set_bit(PIB_TASK_DEAD, &t->state);
}

/* The task has something to do: have it run, soon, on this CPU or its home. Any context. */
void pib_task_kick(struct pib_task *t);
/*
 * Put the task on this CPU's run list, or its home's. The caller will call pib_tasks_run().
 * Softirqs off.
 */
void pib_task_activate(struct pib_task *t);
/* The same for a task that has much to copy before it has done. */
void pib_task_activate_bulk(struct pib_task *t);
/*
 * The same for who has something for the task to send. If another CPU runs the task at this moment,
 * the caller waits until that CPU has done, but for a few microseconds at most. Softirqs off.
 */
void pib_task_activate_here(struct pib_task *t);
/*
 * Have the task run by a CPU that has the time to look for what is posted next. A task that has a
 * home stays there. The caller will call pib_tasks_run(). Softirqs off.
 */
void pib_task_hand_off(struct pib_task *t);

/*
 * Run what is on this CPU's run list, within the budget. For whoever has activated tasks, by
 * himself or by what he has sent, when he is done and holds no lock that a completion handler may
 * want. Softirqs off.
 */
void pib_tasks_run(void);
/*
 * The same for a timer that was due at @due, ns of CLOCK_MONOTONIC. Timers that are due together
 * share a budget: what is left when it is spent is left to the work item. In the softirq of timers.
 */
void pib_tasks_run_due(u64 due);
/* A request has left this CPU over a network: others will follow. Softirqs off. */
void pib_tasks_ask(void);

/*
 * A multicast was copied @n times on this CPU, or as much else was done. Who bounds the bursts that
 * he passes on counts each copy as one, by how much pib_tasks_copies() has grown meanwhile.
 * Softirqs off.
 */
void pib_tasks_copied(u32 n);
/* Copies made on this CPU so far, modulo 2^32. Softirqs off. */
u32 pib_tasks_copies(void);

/* Before the first task is made. Process context. Return: 0 or -ENOMEM. */
int pib_tasks_init(void);
/* When no task is left. Process context; sleeps. */
void pib_tasks_exit(void);

#endif
