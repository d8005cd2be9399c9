/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What QPs count (stats.c). */
#ifndef PIB_TRANSPORT_STATS_H
#define PIB_TRANSPORT_STATS_H

#include <linux/types.h>

struct pib_qp;

/* Under qp->lock. */

/* Bring the counters up to the transport's. */
void pib_stats_fold(struct pib_qp *qp);
/* A work request was completed with this enum pib_wc, which is not SUCCESS. */
void pib_stats_send_error(struct pib_qp *qp, u32 status);
void pib_stats_recv_error(struct pib_qp *qp, u32 status);

#endif
