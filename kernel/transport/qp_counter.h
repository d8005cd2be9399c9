/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters that `rdma statistic qp` binds QPs to, one by one or by rule. */
#ifndef PIB_TRANSPORT_QP_COUNTER_H
#define PIB_TRANSPORT_QP_COUNTER_H

#include <rdma/ib_verbs.h>

struct pib_object;

/**
 * pib_counter_number() - get the number of a counter
 * @o: object that is a counter
 *
 * Context: as pib_object_look.see.
 * Return: the number.
 */
u32 pib_counter_number(const struct pib_object *o);

/*
 * ib_device_ops.
 *
 * Context: process; ib_core holds counter->lock in all but the first and the last.
 * Return: the counters, NULL: no memory; 0 or -errno.
 */
struct rdma_hw_stats *pib_counter_alloc_stats(struct rdma_counter *counter);
int pib_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int pib_counter_unbind_qp(struct ib_qp *ibqp);
int pib_counter_update_stats(struct rdma_counter *counter);
int pib_counter_dealloc(struct rdma_counter *counter);

#endif
