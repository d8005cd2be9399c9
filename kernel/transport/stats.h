/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What QPs count (stats.c). */
#ifndef PIB_TRANSPORT_STATS_H
#define PIB_TRANSPORT_STATS_H

#include "transport/qp.h"

/* All of these: under qp->lock. */

/* What pib_stats_fold() does where a half has news. */
void pib_stats_fold_req(struct pib_qp *qp);
void pib_stats_fold_resp(struct pib_qp *qp);
/* Bring the counters up to the transport's. */
static inline void pib_stats_fold(struct pib_qp *qp)
{
	if (unlikely(qp->req.news))
		pib_stats_fold_req(qp);
	if (unlikely(qp->resp.news))
		pib_stats_fold_resp(qp);
}

/* A work request was completed with this enum pib_wc, which is not SUCCESS. */
void pib_stats_send_error(struct pib_qp *qp, u32 status);
void pib_stats_recv_error(struct pib_qp *qp, u32 status);

#endif
