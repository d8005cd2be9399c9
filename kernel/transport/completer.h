/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Acknowledgements, and completions of what was sent (transport/completer.c). */
#ifndef PIB_TRANSPORT_COMPLETER_H
#define PIB_TRANSPORT_COMPLETER_H

#include "transport/qp.h"

/*
 * A response of a reliable service. False: it waits for pages and is to be given anew. Under qp->lock, softirqs off,
 * under rcu_read_lock().
 */
bool pib_completer_rx(struct pib_qp *qp, struct pib_burst *b, u64 now);
/* Completions for the send work requests that are finished. Under qp->lock, softirqs off. */
void pib_completer_complete(struct pib_qp *qp);

#endif
