/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One turn of a QP (transport/qp_task.c). */
#ifndef PIB_RUN_H
#define PIB_RUN_H

#include <linux/types.h>

struct pib_budget;
struct pib_qp;

/* Softirqs off, under rcu_read_lock(), as its owner. True: there is more to do at once. */
bool pib_qp_run(struct pib_qp *qp, struct pib_budget *budget);

#endif
