/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters of QPs (stats.c). */
#ifndef PIB_TRANSPORT_STATS_H
#define PIB_TRANSPORT_STATS_H

#include "transport/qp.h"

/* All of these: under qp->lock. */

/* Out-of-line parts of pib_stats_fold(), for a half that has news. */
void pib_stats_fold_req(struct pib_qp *qp);
void pib_stats_fold_resp(struct pib_qp *qp);
/* Add to the counters what the transport has counted since the last call. */
static inline void pib_stats_fold(struct pib_qp *qp)
{
	if (unlikely(qp->req.news))
		pib_stats_fold_req(qp);
	if (unlikely(qp->resp.news))
		pib_stats_fold_resp(qp);
}

/* Count a work request that was completed with @status, an enum pib_wc other than SUCCESS. */
void pib_stats_send_error(struct pib_qp *qp, u32 status);
void pib_stats_recv_error(struct pib_qp *qp, u32 status);

#endif
