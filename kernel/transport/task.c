// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine: QPs with something to do stand on a run list of the CPU that
 * found it out, and are run from there in turn.
 *
 * A QP has one owner at a time. Who sets PIB_QP_SCHED puts it on a list; who
 * finds it set leaves PIB_QP_MISSED behind, and the owner runs it once more.
 * Standing on a list holds a reference. While something that a QP has sent over UDP may be
 * on its way, it is put on the list of the CPU that has sent it, wherever the news is.
 *
 * The list is worked off where the news came in (a doorbell, a datagram, a
 * timer), as far as the budget goes; the rest is left to a work item, so that
 * neither a system call nor a softirq lasts for long. One work item is enough
 * for a CPU, since it goes through the list round by round.
 *
 * What a process posts in a stream is handed to the companion of its CPU, a work item
 * that the scheduler puts where there is room. It runs the QPs as a doorbell would, many
 * work requests at a time, and lingers: while it looks at the ring, no doorbell is needed.
 */
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>
#include "compat/compat.h"
#include "transport/task.h"
#include "hca/hca.h"
#include "transport/qp.h"
#include "transport/qp_task.h"
#include "transport/send_queue.h"
#include "udp/socket.h"

#define PIB_ENGINE_RUNS		64
#define PIB_ENGINE_BYTES	(1 << 20)
#define PIB_ENGINE_CLOCK	(100 * PIB_NSEC_PER_USEC)
/* For so long a CPU from which a request has left over UDP is expected to send the next. */
#define PIB_ENGINE_ASKS_MSEC	10
/* How often a poster looks whether the QP's owner has done. */
#define PIB_ENGINE_SPINS	64

/**
 * struct pib_engine - run list of a CPU
 * @list: QPs to run, latest first
 * @running: bit 0: someone is working the list off and will see what is added
 * @work: takes over when the budget is used up or nobody else will come
 * @cpu: whose
 * @now: ns, when the clock was read last
 * @local: what the CPU's own clock said then
 * @asks_until: jiffies: see pib_engine_asks()
 * @streams: QPs handed to @companion
 * @companion: runs elsewhere what is posted here in a stream
 */
struct pib_engine {
	struct llist_head list;
	unsigned long running;
	struct work_struct work;
	int cpu;
	u64 now;
	u64 local;
	unsigned long asks_until;
	struct llist_head streams;
	struct work_struct companion;
};

static DEFINE_PER_CPU(struct pib_engine, pib_engines);
static struct workqueue_struct *pib_engine_wq;
static struct workqueue_struct *pib_companion_wq;

/* Become the owner of an idle QP; otherwise its owner will run it again. */
static bool claim(struct pib_qp *qp)
{
	unsigned long old = READ_ONCE(qp->sched), new;

	do {
		if (old & BIT(PIB_QP_DEAD))
			return false;
		new = old | BIT(old & BIT(PIB_QP_SCHED) ? PIB_QP_MISSED : PIB_QP_SCHED);
	} while (!try_cmpxchg(&qp->sched, &old, new));

	return !(old & BIT(PIB_QP_SCHED));
}

/* Give it up, unless there is more to do. */
static bool release(struct pib_qp *qp, bool more)
{
	unsigned long old = READ_ONCE(qp->sched), new;

	do {
		if (!(old & BIT(PIB_QP_DEAD)) && (more || old & BIT(PIB_QP_MISSED)))
			return false;
		new = old & ~(BIT(PIB_QP_SCHED) | BIT(PIB_QP_MISSED));
	} while (!try_cmpxchg(&qp->sched, &old, new));

	return true;
}

/* Claimed. Is nothing on its way any more that could be overtaken by what is sent from another CPU? */
static bool may_move(const struct pib_qp *qp)
{
	return time_after(jiffies, qp->home_until) || !pib_usocks_in_flight(qp->hca->net);
}

/* Claimed: may it run on its home CPU only? */
static bool is_bound(const struct pib_qp *qp)
{
	int cpu = READ_ONCE(qp->home);

	return unlikely(cpu != PIB_ANY_CPU) && cpu_online(cpu) && !may_move(qp);
}

/* Claimed: the CPU that is to run it. */
static struct pib_engine *engine_of(struct pib_qp *qp)
{
	int cpu = READ_ONCE(qp->home);

	if (cpu == smp_processor_id())
		return this_cpu_ptr(&pib_engines);
	if (is_bound(qp))
		return per_cpu_ptr(&pib_engines, cpu);
	qp->is_away = false;
	return this_cpu_ptr(&pib_engines);
}

void pib_engine_asks(void)
{
	this_cpu_ptr(&pib_engines)->asks_until = jiffies + msecs_to_jiffies(PIB_ENGINE_ASKS_MSEC);
}

static struct pib_engine *next_engine(const struct pib_engine *e)
{
	unsigned int cpu = cpumask_next(e->cpu, cpu_online_mask);

	return per_cpu_ptr(&pib_engines, cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask));
}

/*
 * Claimed, and a lot has come for it. What is sent within a machine, over veth, is received by the CPU that
 * sends it, in softirqs of the stack: one CPU would do all the work. So a CPU that asks leaves the answering
 * to the next one.
 */
static struct pib_engine *engine_for_bulk(struct pib_qp *qp)
{
	struct pib_engine *e = engine_of(qp);

	if (e != this_cpu_ptr(&pib_engines) || !time_before(jiffies, e->asks_until) || is_bound(qp))
		return e;
	qp->is_away = true;
	return next_engine(e);
}

/* Who works the list off looks at it again after it has cleared the bit. */
static void wake(struct pib_engine *e)
{
	if (!test_bit(0, &e->running))
		queue_work_on(e->cpu, pib_engine_wq, &e->work);
}

/* Claimed. */
static void enlist(struct pib_qp *qp, struct pib_engine *e)
{
	pib_qp_get(qp);
	llist_add(&qp->run_node, &e->list);
	if (unlikely(e != this_cpu_ptr(&pib_engines)))
		wake(e);
}

void pib_qp_activate(struct pib_qp *qp)
{
	if (claim(qp))
		enlist(qp, engine_of(qp));
}

void pib_qp_activate_bulk(struct pib_qp *qp)
{
	if (claim(qp))
		enlist(qp, engine_for_bulk(qp));
}

/*
 * What is posted in answer to what has just come finds the CPU that delivered it still busy with the
 * QP: it acknowledges. Left to that CPU, the answer would be sent while the one who posted does nothing,
 * and what comes back would find its receiver in the middle of that. So the two would take turns, where
 * they could work side by side.
 */
void pib_qp_activate_here(struct pib_qp *qp)
{
	int i;

	/* A QP on this CPU's own list is run next. */
	if (llist_empty(&this_cpu_ptr(&pib_engines)->list))
		for (i = 0; i < PIB_ENGINE_SPINS && READ_ONCE(qp->sched) & BIT(PIB_QP_SCHED); i++)
			cpu_relax();
	pib_qp_activate(qp);
}

void pib_qp_kick(struct pib_qp *qp)
{
	struct pib_engine *e;

	if (!claim(qp))
		return;

	pib_qp_get(qp);
	preempt_disable();
	e = engine_of(qp);
	llist_add(&qp->run_node, &e->list);
	wake(e);
	preempt_enable();
}

void pib_qp_hand_off(struct pib_qp *qp)
{
	struct pib_engine *e = this_cpu_ptr(&pib_engines);

	if (!claim(qp))
		return;
	if (is_bound(qp)) {
		enlist(qp, engine_of(qp));
		return;
	}

	pib_qp_get(qp);
	pib_sq_busy(qp);
	llist_add(&qp->run_node, &e->streams);
	queue_work(pib_companion_wq, &e->companion);
}

static void run_one(struct pib_engine *e, struct pib_qp *qp, struct pib_budget *budget)
{
	bool more;

	clear_bit(PIB_QP_MISSED, &qp->sched);
	smp_mb__after_atomic();
	more = pib_qp_run(qp, budget);

	if (release(qp, more))
		pib_qp_put(qp);
	else
		llist_add(&qp->run_node, &e->list);
}

/* Round by round, so that each QP gets its turn. */
static void work_off(struct pib_engine *e, struct pib_budget *budget)
{
	struct llist_node *node;
	struct pib_qp *qp;

	while (budget->runs > 0 && budget->bytes > 0) {
		node = llist_del_all(&e->list);
		if (!node)
			return;
		node = llist_reverse_order(node);
		while (node) {
			qp = llist_entry(node, struct pib_qp, run_node);
			node = node->next;
			if (budget->runs-- > 0 && budget->bytes > 0)
				run_one(e, qp, budget);
			else
				llist_add(&qp->run_node, &e->list);
		}
	}
}

/*
 * ktime_get_ns(), but for what the clocks of the CPU and of the kernel drift apart in so short
 * a time: where the clocksource is a device, as the HPET is in many guests, reading it takes as
 * long as a good part of a message.
 */
static u64 engine_clock(struct pib_engine *e)
{
	u64 local = local_clock();

	if (local - e->local >= PIB_ENGINE_CLOCK) {
		e->now = ktime_get_ns();
		e->local = local;
	}
	return e->now + (local - e->local);
}

/* Returns false if something is left to do. */
static bool engine_run(struct pib_engine *e, bool lingers)
{
	struct pib_budget budget = {
		.runs = PIB_ENGINE_RUNS,
		.bytes = PIB_ENGINE_BYTES,
		.now = engine_clock(e),
		.lingers = lingers,
	};

	do {
		/* Only after a CPU has gone can another one be at it. */
		if (test_and_set_bit_lock(0, &e->running))
			return true;
		rcu_read_lock();
		work_off(e, &budget);
		rcu_read_unlock();
		clear_bit_unlock(0, &e->running);
		smp_mb__after_atomic();
		if (budget.runs <= 0 || budget.bytes <= 0)
			return llist_empty(&e->list);
	} while (!llist_empty(&e->list));

	return true;
}

void pib_engine_run(void)
{
	struct pib_engine *e = this_cpu_ptr(&pib_engines);

	if (!llist_empty(&e->list) && !engine_run(e, false))
		queue_work_on(e->cpu, pib_engine_wq, &e->work);
}

static void engine_work(struct work_struct *work)
{
	struct pib_engine *e = container_of(work, struct pib_engine, work);
	bool done;

	local_bh_disable();
	done = engine_run(e, false);
	local_bh_enable();

	/* Queued anew instead of looped: the CPU's other work has its turn. */
	if (!done)
		queue_work_on(e->cpu, pib_engine_wq, work);
}

static void take_streams(struct pib_engine *from, struct pib_engine *to)
{
	struct llist_node *node = llist_del_all(&from->streams), *next;

	for (; node; node = next) {
		next = node->next;
		llist_add(node, &to->list);
	}
}

/* Returns false if something is left to do on the CPU of @here. */
static bool accompany(struct pib_engine *e, struct pib_engine **here)
{
	bool done;

	local_bh_disable();
	*here = this_cpu_ptr(&pib_engines);
	take_streams(e, *here);
	done = engine_run(*here, true);
	local_bh_enable();
	return done;
}

static void companion(struct work_struct *work)
{
	struct pib_engine *e = container_of(work, struct pib_engine, companion);
	struct pib_engine *here = NULL, *before;
	bool done;

	do {
		before = here;
		done = accompany(e, &here);
		/* Moved to another CPU: what it has left there is that CPU's to finish. */
		if (before && before != here)
			wake(before);
		cond_resched();
	} while (!done);
}

int pib_engine_init(void)
{
	struct pib_engine *e;
	int cpu;

	pib_engine_wq = alloc_workqueue("pib", WQ_HIGHPRI | WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!pib_engine_wq)
		return -ENOMEM;
	pib_companion_wq = alloc_workqueue("pib_companion", WQ_UNBOUND, 0);
	if (!pib_companion_wq) {
		destroy_workqueue(pib_engine_wq);
		return -ENOMEM;
	}

	for_each_possible_cpu(cpu) {
		e = per_cpu_ptr(&pib_engines, cpu);
		init_llist_head(&e->list);
		init_llist_head(&e->streams);
		INIT_WORK(&e->work, engine_work);
		INIT_WORK(&e->companion, companion);
		e->cpu = cpu;
	}
	return 0;
}

void pib_engine_exit(void)
{
	destroy_workqueue(pib_companion_wq);
	destroy_workqueue(pib_engine_wq);
}
