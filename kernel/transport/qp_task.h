/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a QP does when it is run (transport/qp_task.c). */
#ifndef PIB_TRANSPORT_QP_TASK_H
#define PIB_TRANSPORT_QP_TASK_H

#include "core/task.h"

struct pib_qp;

/* QPs as tasks: of pib_qp.task. */
extern const struct pib_task_ops pib_qp_task_ops;

/*
 * SQD: is all that was begun completed (10.3.1.5)? Without acknowledgements: has the payload
 * landed? Under qp->lock.
 */
bool pib_qp_is_drained(const struct pib_qp *qp);

#endif
