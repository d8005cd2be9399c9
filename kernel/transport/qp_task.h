/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs as tasks (transport/qp_task.c). */
#ifndef PIB_TRANSPORT_QP_TASK_H
#define PIB_TRANSPORT_QP_TASK_H

#include "core/task.h"

struct pib_qp;

/* Operations of pib_qp.task. */
extern const struct pib_task_ops pib_qp_task_ops;

/**
 * pib_qp_is_drained() - tell whether all that was begun is finished, for SQD (10.3.1.5)
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: requests are completed or, without acknowledgements, their payload has landed.
 */
bool pib_qp_is_drained(const struct pib_qp *qp);

#endif
