// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tasks with something to do stand on a run list of the CPU that found it out, and are
 * run from there in turn.
 *
 * A task has one owner at a time. The CPU that sets PIB_TASK_SCHED puts the task on a
 * list. A CPU that finds the bit set leaves PIB_TASK_MISSED behind, and the owner runs the
 * task once more. Standing on a list holds a reference. While something that a task has sent over a
 * network may be on its way, the task is put on the list of the CPU that has sent it, on
 * whatever CPU the news came in.
 *
 * The list is worked off where the news came in (a doorbell, a datagram, a
 * timer), as far as the budget goes; the rest is left to a work item, so that
 * neither a system call nor a softirq lasts for long. One work item is enough
 * for a CPU, since it goes through the list round by round: what the budget did not
 * suffice for comes first in the next run. Timers that are due
 * together fire one after the other in one softirq: they share a budget.
 *
 * A task for which a process posts in quick succession is handed to the poller of its CPU, a work
 * item that the scheduler puts where there is room. The poller runs the tasks as a doorbell would,
 * many work requests at a time, and goes on looking at the ring: meanwhile no doorbell is needed.
 * Its tasks stand on a list of their own, since the poller runs at nice 0 and may have to wait for
 * a CPU. The tasks of others are on the run lists; and a guard takes those of a poller that has
 * waited for long.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>
#include "compat/compat.h"
#include "core/task.h"

#define RUN_TASKS	64
#define RUN_BYTES	(1 << 20)
#define RUN_COPIES	32	/* copies of multicasts that count as one more task */
#define CLOCK_NSEC	(100 * NSEC_PER_USEC)
/* Time within which a CPU that has sent a request over a network is expected to send another. */
#define ASKS_MSEC	10
/* Time that a poller may wait for a CPU before its tasks are put on a run list. */
#define GUARD_MSEC	10
/* Number of looks that a poster takes whether the task's owner has done. */
#define OWNER_SPINS	64

/**
 * struct pib_taskq - tasks that wait for their turn
 * @next: those of the next round, latest first
 * @rest: those of this round, in their turn; belongs to who works the tasks off
 */
struct pib_taskq {
	struct llist_head next;
	struct llist_node *rest;
};

/**
 * struct pib_runlist - run list of a CPU
 * @tasks: tasks to run
 * @running: bit 0: someone is working @tasks off and will see what is added
 * @work: takes over when the budget is used up or nobody else will come
 * @cpu: the CPU
 * @now: ns, time at which the clock was read last
 * @local: the CPU's own clock at that time
 * @asks_until: jiffies: see pib_tasks_note_request()
 * @copies: copies of multicasts made on this CPU so far, modulo 2^32
 * @due_by: ns: timers that were due by then share @due
 * @due: what these timers may still do
 * @poller: runs, on any CPU, tasks for which is posted here in quick succession
 * @polled: tasks handed to @poller
 * @polling: bit 0: someone is working @polled off
 * @polled_on: CPU on which @polled was worked off last
 * @rounds: times that @poller had a CPU, modulo 2^32
 * @guard: puts the tasks of a poller that has no CPU on a run list
 * @guarded: @rounds when @guard looked last
 * @in_turn: a task has its turn on this CPU
 * @put_off: what waits for its end
 */
struct pib_runlist {
	struct pib_taskq tasks;
	unsigned long running;
	struct work_struct work;
	int cpu;
	u64 now;
	u64 local;
	unsigned long asks_until;
	u32 copies;
	u64 due_by;
	struct pib_budget due;
	struct work_struct poller;
	struct pib_taskq polled;
	unsigned long polling;
	int polled_on;
	u32 rounds;
	struct delayed_work guard;
	u32 guarded;
	bool in_turn;
	struct pib_put_off *put_off;
};

static DEFINE_PER_CPU(struct pib_runlist, pib_runlists);
struct workqueue_struct *pib_task_wq;
static struct workqueue_struct *pib_poller_wq;

static bool taskq_is_empty(const struct pib_taskq *q)
{
	return llist_empty(&q->next) && !READ_ONCE(q->rest);
}

/*
 * Take the next task. The tasks of a round all go before what was put there meanwhile, however
 * many runs that takes. Return: NULL: there is none.
 */
static struct pib_task *taskq_take(struct pib_taskq *q)
{
	struct llist_node *node = q->rest;

	if (!node)
		node = llist_reverse_order(llist_del_all(&q->next));
	if (!node)
		return NULL;
	WRITE_ONCE(q->rest, node->next);
	return llist_entry(node, struct pib_task, node);
}

/* Become the owner of an idle task; otherwise its owner will run it again. */
static bool task_claim(struct pib_task *t)
{
	unsigned long old = READ_ONCE(t->state), new;

	do {
		if (old & BIT(PIB_TASK_DEAD))
			return false;
		new = old | BIT(old & BIT(PIB_TASK_SCHED) ? PIB_TASK_MISSED : PIB_TASK_SCHED);
		/*
		 * Pairs with try_cmpxchg() in task_release(): the owner sees MISSED and goes on, or
		 * has given the task up. And with smp_mb__after_atomic() in task_run_one(), by
		 * which the run sees what the caller has left for it.
		 */
	} while (!try_cmpxchg(&t->state, &old, new));

	return !(old & BIT(PIB_TASK_SCHED));
}

/* Give the task up, unless there is more to do. Return: false: the owner keeps it. */
static bool task_release(struct pib_task *t, bool more)
{
	unsigned long old = READ_ONCE(t->state), new;

	do {
		if (!(old & BIT(PIB_TASK_DEAD)) && (more || old & BIT(PIB_TASK_MISSED)))
			return false;
		new = old & ~(BIT(PIB_TASK_SCHED) | BIT(PIB_TASK_MISSED));
		/*
		 * Pairs with try_cmpxchg() in task_claim(): the next owner, maybe of another CPU,
		 * sees what this one has done.
		 */
	} while (!try_cmpxchg(&t->state, &old, new));

	return true;
}

/* @t is claimed. Return: true if packets that it sends from another CPU can overtake none. */
static bool task_may_move(const struct pib_task *t)
{
	return time_after(jiffies, t->home_until) || t->ops->may_move(t);
}

/* @t is claimed. Return: true if it may run on its home CPU only. */
static bool task_is_bound(const struct pib_task *t)
{
	int cpu = READ_ONCE(t->home);

	return unlikely(cpu != PIB_ANY_CPU) && cpu_online(cpu) && !task_may_move(t);
}

/* Return: the run list for @t, which is claimed: this CPU's or that of its home. */
static struct pib_runlist *runlist_of(struct pib_task *t)
{
	int cpu = READ_ONCE(t->home);

	if (cpu == smp_processor_id())
		return this_cpu_ptr(&pib_runlists);
	if (task_is_bound(t))
		return per_cpu_ptr(&pib_runlists, cpu);
	t->is_away = false;
	return this_cpu_ptr(&pib_runlists);
}

void pib_tasks_note_request(void)
{
	this_cpu_ptr(&pib_runlists)->asks_until = jiffies + msecs_to_jiffies(ASKS_MSEC);
}

void pib_tasks_copied(u32 n)
{
	this_cpu_add(pib_runlists.copies, n);
}

u32 pib_tasks_copies(void)
{
	return this_cpu_read(pib_runlists.copies);
}

static struct pib_runlist *runlist_next(const struct pib_runlist *rl)
{
	unsigned int cpu = cpumask_next(rl->cpu, cpu_online_mask);

	return per_cpu_ptr(&pib_runlists, cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask));
}

/*
 * The run list for @t, which is claimed and for which a lot has come. Packets sent within a
 * machine, over veth, are received by the CPU that sends them, in softirqs of the stack: one CPU
 * would do all the work. So a CPU that asks leaves the answering to the next one.
 */
static struct pib_runlist *runlist_for_bulk(struct pib_task *t)
{
	struct pib_runlist *rl = runlist_of(t);

	if (rl != this_cpu_ptr(&pib_runlists) || !time_before(jiffies, rl->asks_until) ||
	    task_is_bound(t))
		return rl;
	t->is_away = true;
	return runlist_next(rl);
}

/* A CPU that works the list off looks at it again after it has cleared the bit. */
static void runlist_wake(struct pib_runlist *rl)
{
	if (!test_bit(0, &rl->running))
		queue_work_on(rl->cpu, pib_task_wq, &rl->work);
}

/* Put @t, which is claimed, on @rl. */
static void task_enlist(struct pib_task *t, struct pib_runlist *rl)
{
	pib_task_get(t);
	llist_add(&t->node, &rl->tasks.next);
	if (unlikely(rl != this_cpu_ptr(&pib_runlists)))
		runlist_wake(rl);
}

void pib_task_activate(struct pib_task *t)
{
	if (task_claim(t))
		task_enlist(t, runlist_of(t));
}

void pib_task_activate_bulk(struct pib_task *t)
{
	if (task_claim(t))
		task_enlist(t, runlist_for_bulk(t));
}

/*
 * When a process posts the answer to a message, the CPU that delivered the message is still busy
 * with the task: it acknowledges. Left to that CPU, the answer would be sent while the poster's CPU
 * does nothing, and the reply to it would find its receiver in the middle of that. So the two CPUs
 * would take turns, where they could work side by side.
 */
void pib_task_activate_here(struct pib_task *t)
{
	int i;

	/* A task on this CPU's own list is run next. */
	if (taskq_is_empty(&this_cpu_ptr(&pib_runlists)->tasks))
		for (i = 0; i < OWNER_SPINS && READ_ONCE(t->state) & BIT(PIB_TASK_SCHED); i++)
			cpu_relax();
	pib_task_activate(t);
}

void pib_task_kick(struct pib_task *t)
{
	struct pib_runlist *rl;

	if (!task_claim(t))
		return;

	pib_task_get(t);
	preempt_disable();
	rl = runlist_of(t);
	llist_add(&t->node, &rl->tasks.next);
	runlist_wake(rl);
	preempt_enable();
}

/* Have the guard look at the poller of @rl in a while, unless it is to look anyway. */
static void guard_later(struct pib_runlist *rl)
{
	queue_delayed_work_on(rl->cpu, pib_task_wq, &rl->guard, msecs_to_jiffies(GUARD_MSEC));
}

void pib_task_hand_off(struct pib_task *t)
{
	struct pib_runlist *rl = this_cpu_ptr(&pib_runlists);

	if (!task_claim(t))
		return;
	if (task_is_bound(t)) {
		task_enlist(t, runlist_of(t));
		return;
	}

	pib_task_get(t);
	t->ops->handed_off(t);
	llist_add(&t->node, &rl->polled.next);
	queue_work(pib_poller_wq, &rl->poller);
	guard_later(rl);
}

bool pib_put_off_add(struct pib_put_off *o)
{
	struct pib_runlist *rl = this_cpu_ptr(&pib_runlists);

	/* There other softirqs may preempt a turn, on the same CPU. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || !rl->in_turn)
		return false;
	if (!o->waits) {
		o->waits = true;
		o->next = rl->put_off;
		rl->put_off = o;
	}
	return true;
}

static void do_put_off(struct pib_runlist *here)
{
	struct pib_put_off *o;

	while (unlikely(o = here->put_off)) {
		here->put_off = o->next;
		o->waits = false;
		o->do_it(o);
	}
}

void pib_put_off_do(void)
{
	do_put_off(this_cpu_ptr(&pib_runlists));
}

/* Give @t its turn, and do what it puts off. Return: there is more to do at once. */
static bool task_take_turn(struct pib_runlist *here, struct pib_task *t, struct pib_budget *budget)
{
	bool more;

	here->in_turn = true;
	more = t->ops->run(t, budget);
	here->in_turn = false;
	do_put_off(here);
	return more;
}

/* Run a task of @q, whose list may be that of a CPU that is offline: copies count on this one. */
static void task_run_one(struct pib_taskq *q, struct pib_task *t, struct pib_budget *budget)
{
	struct pib_runlist *here = this_cpu_ptr(&pib_runlists);
	u32 copies = here->copies;
	bool more;

	clear_bit(PIB_TASK_MISSED, &t->state);
	/* Pairs with try_cmpxchg() in task_claim(): this run sees what came before the bit. */
	smp_mb__after_atomic();
	more = task_take_turn(here, t, budget);
	budget->runs -= 1 + (here->copies - copies) / RUN_COPIES;

	if (task_release(t, more))
		pib_task_put(t);
	else
		llist_add(&t->node, &q->next);
}

static bool budget_is_spent(const struct pib_budget *budget)
{
	return budget->runs <= 0 || budget->bytes <= 0;
}

static void runlist_drain(struct pib_runlist *rl, struct pib_budget *budget)
{
	struct pib_task *t;

	while (!budget_is_spent(budget) && (t = taskq_take(&rl->tasks)))
		task_run_one(&rl->tasks, t, budget);
}

/*
 * ktime_get_ns(), but for the drift between the clocks of the CPU and of the kernel within
 * CLOCK_NSEC. Where the clocksource is a device, as the HPET is in many guests, reading it takes as
 * long as a good part of a message.
 */
static u64 runlist_clock(struct pib_runlist *rl)
{
	u64 local = local_clock();

	if (local - rl->local >= CLOCK_NSEC) {
		rl->now = ktime_get_ns();
		rl->local = local;
	}
	return rl->now + (local - rl->local);
}

/* The budget of a run that begins at @now. */
static struct pib_budget full_budget(u64 now, bool polls)
{
	return (struct pib_budget) {
		.runs = RUN_TASKS,
		.bytes = RUN_BYTES,
		.now = now,
		.polls = polls,
	};
}

/* Run what is on the list, as far as @budget goes. Return: false: something is left to do. */
static bool runlist_spend(struct pib_runlist *rl, struct pib_budget *budget)
{
	do {
		/*
		 * Another CPU can be at it only after this list's own CPU has gone offline. Pairs
		 * with clear_bit_unlock() below.
		 */
		if (test_and_set_bit_lock(0, &rl->running))
			return true;
		rcu_read_lock();
		runlist_drain(rl, budget);
		rcu_read_unlock();
		/* Pairs with test_and_set_bit_lock() above, on the CPU that runs the list next. */
		clear_bit_unlock(0, &rl->running);
		/* Pairs with llist_add(), after which runlist_wake() looks at the bit. */
		smp_mb__after_atomic();
		if (budget_is_spent(budget))
			return taskq_is_empty(&rl->tasks);
	} while (!taskq_is_empty(&rl->tasks));

	return true;
}

/* As runlist_spend(), with a budget of its own. */
static bool runlist_run(struct pib_runlist *rl)
{
	/* This CPU's clock: that of @rl may be offline, or have just come back and read its own. */
	u64 now = runlist_clock(this_cpu_ptr(&pib_runlists));
	struct pib_budget budget = full_budget(now, false);

	return runlist_spend(rl, &budget);
}

void pib_tasks_run(void)
{
	struct pib_runlist *rl = this_cpu_ptr(&pib_runlists);

	if (!taskq_is_empty(&rl->tasks) && !runlist_run(rl))
		queue_work_on(rl->cpu, pib_task_wq, &rl->work);
}

/*
 * A softirq calls all timers that are due when it begins. The first of them sets @due_by to a time
 * at which that has begun, so none of the others gets a new budget. A timer that finds the budget
 * spent leaves its task on the list, which holds a reference (task_enlist()): the destruction of
 * the task's object waits for the work item.
 */
void pib_tasks_run_due(u64 due)
{
	struct pib_runlist *rl = this_cpu_ptr(&pib_runlists);
	u64 now = runlist_clock(rl);

	if (due > rl->due_by) {
		/* The timer may have been set again meanwhile: @due may lie in the future. */
		rl->due_by = max(now, min(due, now + CLOCK_NSEC));
		rl->due = full_budget(now, false);
	}
	rl->due.now = now;
	if (!taskq_is_empty(&rl->tasks) && !runlist_spend(rl, &rl->due))
		queue_work_on(rl->cpu, pib_task_wq, &rl->work);
}

static void runlist_work(struct work_struct *work)
{
	struct pib_runlist *rl = container_of(work, struct pib_runlist, work);
	bool done;

	local_bh_disable();
	done = runlist_run(rl);
	/* If the CPU of @rl is offline, tasks that its tasks have woken are on this CPU's list. */
	if (rl != this_cpu_ptr(&pib_runlists))
		pib_tasks_run();
	local_bh_enable();

	/* The work item is queued again and does not loop: the CPU's other work has its turn. */
	if (!done)
		queue_work_on(rl->cpu, pib_task_wq, work);
}

/*
 * Put the tasks of the poller on the run list of the CPU that has run them: packets that they sent
 * from another one might overtake those. Softirqs off; @rl->polling is held.
 */
static void leave_polled(struct pib_runlist *rl)
{
	struct pib_runlist *to = per_cpu_ptr(&pib_runlists, rl->polled_on);
	struct pib_task *t;

	while ((t = taskq_take(&rl->polled)))
		llist_add(&t->node, &to->tasks.next);
	runlist_wake(to);
}

/* Give each task of the poller a turn on this CPU, whose list is @here. */
static void polled_round(struct pib_runlist *rl, struct pib_runlist *here,
			 struct pib_budget *budget)
{
	struct pib_task *t;

	/* Pairs with clear_bit_unlock() below, in poller_begins() and in guard_work(). */
	if (test_and_set_bit_lock(0, &rl->polling))
		return;
	rcu_read_lock();
	if (rl->polled_on != here->cpu)
		leave_polled(rl);
	while (!budget_is_spent(budget) && (t = taskq_take(&rl->polled))) {
		task_run_one(&rl->polled, t, budget);
		if (!rl->polled.rest)
			break;
	}
	rcu_read_unlock();
	/* Pairs with test_and_set_bit_lock() above, in poller_begins() and in guard_work(). */
	clear_bit_unlock(0, &rl->polling);
}

/*
 * Run the poller's tasks and, in turn, what they leave on the list of this CPU. The rest of that is
 * left to the work item, and does not wait for the poller to have a CPU again.
 *
 * Return: false: the poller has more to do.
 */
static bool run_polled(struct pib_runlist *rl)
{
	struct pib_runlist *here = this_cpu_ptr(&pib_runlists);
	u64 now = runlist_clock(here);
	struct pib_budget polled = full_budget(now, true), woken = full_budget(now, false);

	WRITE_ONCE(rl->rounds, rl->rounds + 1);
	woken.runs *= 2;
	do {
		polled_round(rl, here, &polled);
		if (!taskq_is_empty(&here->tasks) && !runlist_spend(here, &woken)) {
			runlist_wake(here);
			break;
		}
	} while (!budget_is_spent(&polled) && !taskq_is_empty(&rl->polled));

	return taskq_is_empty(&rl->polled);
}

/* Tasks handed over since the poller ran last may run on any CPU: this one. Softirqs off. */
static void poller_begins(struct pib_runlist *rl)
{
	/* Pairs with clear_bit_unlock() in polled_round() and in guard_work(), which takes them. */
	if (test_and_set_bit_lock(0, &rl->polling))
		return;
	rl->polled_on = smp_processor_id();
	/* Pairs with test_and_set_bit_lock() in polled_round() and in guard_work(). */
	clear_bit_unlock(0, &rl->polling);
}

static void poller_work(struct work_struct *work)
{
	struct pib_runlist *rl = container_of(work, struct pib_runlist, poller);

	local_bh_disable();
	poller_begins(rl);
	while (!run_polled(rl)) {
		local_bh_enable();
		cond_resched();
		local_bh_disable();
	}
	local_bh_enable();
}

/* Return: true if the poller has tasks, or had some when the guard looked last. */
static bool must_guard(const struct pib_runlist *rl, u32 rounds)
{
	return rounds != rl->guarded || !taskq_is_empty(&rl->polled) || test_bit(0, &rl->polling);
}

/* The poller's tasks hold what others may wait for: bursts that have come for them. */
static void guard_work(struct work_struct *work)
{
	struct pib_runlist *rl = container_of(to_delayed_work(work), struct pib_runlist, guard);
	u32 rounds = READ_ONCE(rl->rounds);
	bool again = must_guard(rl, rounds);

	local_bh_disable();
	/* Pairs with clear_bit_unlock() in polled_round() and in poller_begins(). */
	if (rounds == rl->guarded && !taskq_is_empty(&rl->polled) &&
	    !test_and_set_bit_lock(0, &rl->polling)) {
		leave_polled(rl);
		/* Pairs with test_and_set_bit_lock() in polled_round() and in poller_begins(). */
		clear_bit_unlock(0, &rl->polling);
	}
	local_bh_enable();
	rl->guarded = rounds;
	if (again)
		guard_later(rl);
}

int pib_tasks_init(void)
{
	struct pib_runlist *rl;
	int cpu;

	/*
	 * This work runs at nice -20, though much of it is a user's. All tasks of a CPU stand on
	 * one list, the kernel's own QPs and other users' among them. A process that deregisters
	 * memory waits, unkillably, for bursts that QPs on this list have not taken in yet. At nice
	 * 0 a user with many busy threads could make that wait as long as he likes. At -20 a user
	 * who posts without end takes most of a CPU's time, as softirqs do where packets come
	 * without end. But the scheduler leaves the others on that CPU a share, and moves them to
	 * CPUs with less to do. The poller runs, at nice 0, what a process posts in quick
	 * succession: there it competes with the process itself. A rescuer (WQ_MEM_RECLAIM) would
	 * run it at -20. The kernel's own QPs are not the poller's, so no storage waits for it.
	 */
	pib_task_wq = alloc_workqueue("pib", WQ_HIGHPRI | WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!pib_task_wq)
		return -ENOMEM;
	pib_poller_wq = alloc_workqueue("pib_poller", WQ_UNBOUND, 0);
	if (!pib_poller_wq) {
		destroy_workqueue(pib_task_wq);
		return -ENOMEM;
	}

	for_each_possible_cpu(cpu) {
		rl = per_cpu_ptr(&pib_runlists, cpu);
		init_llist_head(&rl->tasks.next);
		init_llist_head(&rl->polled.next);
		INIT_WORK(&rl->work, runlist_work);
		INIT_WORK(&rl->poller, poller_work);
		INIT_DELAYED_WORK(&rl->guard, guard_work);
		rl->cpu = cpu;
		rl->polled_on = cpu;
	}
	return 0;
}

void pib_tasks_exit(void)
{
	int cpu;

	destroy_workqueue(pib_poller_wq);
	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu_ptr(&pib_runlists, cpu)->guard);
	destroy_workqueue(pib_task_wq);
}
