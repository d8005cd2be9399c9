/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tasks: which one runs when, and where (core/task.c). The caller that has something for a task
 * chooses how to schedule it:
 *
 *   call                         when                                  the task is run by
 *   pib_task_kick()              in any context, where nobody calls     the work item of this CPU
 *                                pib_tasks_run() afterwards            or of the task's home
 *   pib_task_activate()          something has come in, with softirqs  pib_tasks_run() of this CPU,
 *                                off                                   or its home's work item
 *   pib_task_activate_bulk()     the same, and it is long to copy      the same, or the next CPU
 *                                                                      if this one sends requests
 *   pib_task_activate_here()     a process has rung for its sends      as pib_task_activate()
 *   pib_task_hand_off()          a process rings again and again       the poller of this CPU
 */
#ifndef PIB_CORE_TASK_H
#define PIB_CORE_TASK_H

#include <linux/bitops.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct pib_task;
struct workqueue_struct;

/*
 * The run lists' work, and that of who has datagrams for the tasks. It runs while memory is short,
 * too, and neither sleeps nor waits for other work.
 */
extern struct workqueue_struct *pib_task_wq;

#define PIB_ANY_CPU	(-1)

/* Bits of pib_task.state */
enum pib_task_bit {
	PIB_TASK_SCHED = 0,	/* on a run list, or running: one CPU owns it */
	PIB_TASK_MISSED = 1,	/* kicked while owned: run once more */
	PIB_TASK_DEAD = 2,	/* never run again */
	PIB_TASK_OWN = 3,	/* this bit and those above belong to the object around the task */
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
 * @may_move: returns true if nothing that the task has sent is on its way any more. Otherwise
 *	packets that it sends from another CPU could overtake it. Any context, claimed
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
 * struct pib_task - a unit of work that is run when there is something to do, by one CPU at a time
 * @ops: what the task does; never changes
 * @ref: references to what the task is part of; a list on which the task stands holds one. Never
 *	changes once anybody can activate the task
 * @state: bits of enum pib_task_bit
 * @node: on a CPU's run list; owned by the CPU that has set PIB_TASK_SCHED
 * @home: CPU on which the task is run while packets that it has sent may be overtaken, PIB_ANY_CPU:
 *	on any; written by the CPU that runs the task
 * @is_away: the task is run by another CPU than the one that receives for it, and the CPU that runs
 *	it becomes its home; written by the CPU that has claimed the task
 * @home_until: jiffies after which nothing can be overtaken; written by the CPU that runs the task
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

/* Set up @t, which is filled with zeroes; @ref is set later. Context: any. */
static inline void pib_task_init(struct pib_task *t, const struct pib_task_ops *ops)
{
	t->ops = ops;
	t->home = PIB_ANY_CPU;
}

/* Take a reference. The caller has one, or knows that there is one. Context: any. */
static inline void pib_task_get(struct pib_task *t)
{
	refcount_inc(t->ref);
}

/* Drop a reference; the last one calls @ops->gone. Context: any. */
static inline void pib_task_put(struct pib_task *t)
{
	if (refcount_dec_and_test(t->ref))
		t->ops->gone(t);
}

/* Have no turn of the task begin any more; one may be under way. Context: any. */
static inline void pib_task_stop(struct pib_task *t)
{
	set_bit(PIB_TASK_DEAD, &t->state);
}

/**
 * struct pib_put_off - something that can wait until the turn of a task is over; of one CPU
 * @do_it: does it. Softirqs off, under rcu_read_lock(); the task has its owner yet
 * @next: what was put off before it in the same turn
 * @waits: it was put off
 */
struct pib_put_off {
	void (*do_it)(struct pib_put_off *o);
	struct pib_put_off *next;
	bool waits;
};

/*
 * Have @o done as soon as the turn of the task is over that runs on this CPU. Nobody else runs the
 * task before that. It does no harm to call this again. Context: softirqs off.
 *
 * Return: true; false: no task has its turn on this CPU.
 */
bool pib_put_off_add(struct pib_put_off *o);
/* Have done now what this turn has put off. Context: softirqs off, in a turn of a task. */
void pib_put_off_do(void);

/* Have the task, which has something to do, run soon, on this CPU or its home. Context: any. */
void pib_task_kick(struct pib_task *t);
/*
 * Put the task on this CPU's run list, or its home's. The caller calls pib_tasks_run() later.
 *
 * Context: softirqs off.
 */
void pib_task_activate(struct pib_task *t);
/*
 * As pib_task_activate(), for a task that has much to copy before it has done. Context: softirqs
 * off.
 */
void pib_task_activate_bulk(struct pib_task *t);
/*
 * As pib_task_activate(), for a caller that has something for the task to send. If another CPU runs
 * the task at this moment, the caller waits until that CPU has done, but for a few microseconds at
 * most.
 *
 * Context: softirqs off.
 */
void pib_task_activate_here(struct pib_task *t);
/*
 * Have the task run by a CPU that has the time to look for what is posted next. A task that has a
 * home stays there. The caller calls pib_tasks_run() later.
 *
 * Context: softirqs off.
 */
void pib_task_hand_off(struct pib_task *t);

/*
 * Run the tasks on this CPU's run list, within the budget. A caller that has activated tasks,
 * itself or by what it has sent, calls this when it is done.
 *
 * Context: softirqs off; no lock held that a completion handler may want.
 */
void pib_tasks_run(void);
/*
 * As pib_tasks_run(), for a timer that was due at @due, ns of CLOCK_MONOTONIC. Timers that are due
 * together share a budget. The tasks that are left when it is spent are left to the work item.
 *
 * Context: the softirq of timers.
 */
void pib_tasks_run_due(u64 due);
/* Note that a request has left this CPU over a network: more will follow. Context: softirqs off. */
void pib_tasks_note_request(void);

/*
 * Note that a multicast was copied @n times on this CPU, or that as much else was done. A caller
 * that bounds the bursts that it passes on counts each copy as one: it reads pib_tasks_copies()
 * before and after.
 *
 * Context: softirqs off.
 */
void pib_tasks_copied(u32 n);
/* Return: the copies made on this CPU so far, modulo 2^32. Context: softirqs off. */
u32 pib_tasks_copies(void);

/* Make the run lists, before the first task is made. Context: process. Return: 0 or -ENOMEM. */
int pib_tasks_init(void);
/* Destroy the run lists, when no task is left. Context: process; sleeps. */
void pib_tasks_exit(void);

#endif
