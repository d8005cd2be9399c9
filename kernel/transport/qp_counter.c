// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters that QPs are bound to. A bound QP counts there and no longer into the HCA's counters.
 * ib_core adds the values of counters to those that the port shows, also after the counters are
 * gone.
 *
 * A counter is found by its number, which ib_core keeps. Numbers go round, for ib_core forgets a
 * counter only some time after it has told the driver to.
 */
#include <linux/percpu.h>
#include <linux/slab.h>
#include "core/refuse.h"
#include "hca/hw_counters.h"
#include "hca/hca.h"
#include "transport/qp.h"
#include "transport/qp_counter.h"

struct rdma_hw_stats *pib_counter_alloc_stats(struct rdma_counter *counter)
{
	return pib_stats_alloc();
}

/**
 * struct pib_counter - a counter that QPs are bound to
 * @stats: counters of these QPs, per CPU
 * @number: number by which the counter is found
 * @obj: in pib_hca.objects
 */
struct pib_counter {
	struct pib_stats __percpu *stats;
	u32 number;
	struct pib_object obj;
};

u32 pib_counter_number(const struct pib_object *o)
{
	return container_of(o, struct pib_counter, obj)->number;
}

static void counter_free(struct pib_counter *c)
{
	if (!c)
		return;
	free_percpu(c->stats);
	kfree(c);
}

static int counter_make(struct pib_hca *hca, struct rdma_counter *counter)
{
	struct pib_counter *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int err = -ENOMEM;

	if (!c)
		return err;
	c->stats = alloc_percpu(struct pib_stats);
	if (!c->stats)
		goto err_free;
	err = xa_alloc_cyclic(&hca->qp_counters, &counter->id, c, XA_LIMIT(1, U16_MAX),
			      &hca->next_counter, GFP_KERNEL);
	if (err < 0)
		goto err_free;
	c->number = counter->id;
	pib_object_add(&hca->objects, &c->obj, PIB_OBJECT_KIND_COUNTER, 0, NULL);
	return 0;

err_free:
	counter_free(c);
	return err;
}

/* Have the QP count into @stats from now on. */
static void change_counters(struct pib_qp *qp, struct pib_stats __percpu *stats)
{
	spin_lock_bh(&qp->lock);
	qp->counters.stats = stats;
	spin_unlock_bh(&qp->lock);
}

int pib_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct pib_hca *hca = to_hca(ibqp->device);
	struct pib_counter *c;
	int err;

	if (!counter->id) {
		err = counter_make(hca, counter);
		if (err)
			return err;
	}
	c = xa_load(&hca->qp_counters, counter->id);
	change_counters(to_qp(ibqp), c->stats);
	ibqp->counter = counter;
	return 0;
}

int pib_counter_unbind_qp(struct ib_qp *ibqp)
{
	change_counters(to_qp(ibqp), to_hca(ibqp->device)->stats);
	ibqp->counter = NULL;
	return 0;
}

/* Read a counter, which may be going meanwhile: the table's lock keeps it until it is read. */
int pib_counter_update_stats(struct rdma_counter *counter)
{
	struct pib_hca *hca = to_hca(counter->device);
	struct pib_counter *c;

	xa_lock(&hca->qp_counters);
	c = xa_load(&hca->qp_counters, counter->id);
	if (c)
		pib_stats_sum(c->stats, counter->stats);
	xa_unlock(&hca->qp_counters);
	if (!c)
		return pib_refuse(counter->device, -EINVAL, "counter %u: update_stats: it is gone",
				  counter->id);
	return 0;
}

/* Free a counter that no QP is bound to any more. */
int pib_counter_dealloc(struct rdma_counter *counter)
{
	struct pib_hca *hca = to_hca(counter->device);
	struct pib_counter *c = counter->id ? xa_erase(&hca->qp_counters, counter->id) : NULL;

	if (c)
		pib_object_del(&hca->objects, &c->obj);
	counter_free(c);
	return 0;
}
