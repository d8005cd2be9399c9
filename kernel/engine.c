// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine: QPs with something to do stand on a run list of the CPU that
 * found it out, and are run from there in turn.
 *
 * A QP has one owner at a time. Who sets PIB_QP_SCHED puts it on a list; who
 * finds it set leaves PIB_QP_MISSED behind, and the owner runs it once more.
 * Standing on a list holds a reference. While a QP has a home, it is put on the list
 * of that CPU, wherever the news is.
 *
 * The list is worked off where the news came in (a doorbell, a datagram, a
 * timer), as far as the budget goes; the rest is left to a work item, so that
 * neither a system call nor a softirq lasts for long. One work item is enough
 * for a CPU, since it goes through the list round by round.
 */
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include "compat/compat.h"
#include "engine.h"
#include "qp.h"
#include "run.h"

#define PIB_ENGINE_RUNS		64
#define PIB_ENGINE_BYTES	(1 << 20)

/**
 * struct pib_engine - run list of a CPU
 * @list: QPs to run, latest first
 * @running: bit 0: someone is working the list off and will see what is added
 * @work: takes over when the budget is used up or nobody else will come
 * @cpu: whose
 */
struct pib_engine {
	struct llist_head list;
	unsigned long running;
	struct work_struct work;
	int cpu;
};

static DEFINE_PER_CPU(struct pib_engine, pib_engines);
static struct workqueue_struct *pib_engine_wq;

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

static struct pib_engine *engine_of(const struct pib_qp *qp)
{
	int cpu = READ_ONCE(qp->home);

	if (likely(cpu == PIB_ANY_CPU) || !cpu_online(cpu))
		return this_cpu_ptr(&pib_engines);
	return per_cpu_ptr(&pib_engines, cpu);
}

/* Who works the list off looks at it again after it has cleared the bit. */
static void wake(struct pib_engine *e)
{
	if (!test_bit(0, &e->running))
		queue_work_on(e->cpu, pib_engine_wq, &e->work);
}

void pib_qp_activate(struct pib_qp *qp)
{
	struct pib_engine *e;

	if (!claim(qp))
		return;

	pib_qp_get(qp);
	e = engine_of(qp);
	llist_add(&qp->run_node, &e->list);
	if (unlikely(e != this_cpu_ptr(&pib_engines)))
		wake(e);
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

/* Returns false if something is left to do. */
static bool engine_run(struct pib_engine *e)
{
	struct pib_budget budget = { .runs = PIB_ENGINE_RUNS, .bytes = PIB_ENGINE_BYTES };

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

	if (!llist_empty(&e->list) && !engine_run(e))
		queue_work_on(e->cpu, pib_engine_wq, &e->work);
}

static void engine_work(struct work_struct *work)
{
	struct pib_engine *e = container_of(work, struct pib_engine, work);
	bool done;

	local_bh_disable();
	done = engine_run(e);
	local_bh_enable();

	/* Queued anew instead of looped: the CPU's other work has its turn. */
	if (!done)
		queue_work_on(e->cpu, pib_engine_wq, work);
}

int pib_engine_init(void)
{
	struct pib_engine *e;
	int cpu;

	pib_engine_wq = alloc_workqueue("pib", WQ_HIGHPRI | WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!pib_engine_wq)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		e = per_cpu_ptr(&pib_engines, cpu);
		init_llist_head(&e->list);
		INIT_WORK(&e->work, engine_work);
		e->cpu = cpu;
	}
	return 0;
}

void pib_engine_exit(void)
{
	destroy_workqueue(pib_engine_wq);
}
