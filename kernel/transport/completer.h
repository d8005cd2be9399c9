/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Responses of the reliable services (completer.c). */
#ifndef PIB_TRANSPORT_COMPLETER_H
#define PIB_TRANSPORT_COMPLETER_H

#include "transport/qp.h"

/* Under qp->lock, softirqs off, under rcu_read_lock(). False: it waits for pages and is to be given anew. */
bool pib_completer_rx(struct pib_qp *qp, struct pib_burst *b, u64 now);

#endif
