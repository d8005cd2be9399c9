/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters of QPs (stats.c). */
#ifndef PIB_TRANSPORT_STATS_H
#define PIB_TRANSPORT_STATS_H

#include "hca/hw_counters.h"
#include "transport/qp.h"

/* Count for a QP, into the HCA's counters or into those that it is bound to. qp->lock held. */
#define pib_qp_stat_add(qp, stat, n) this_cpu_add((qp)->counters.stats->v[stat], (n))
#define pib_qp_stat(qp, stat) pib_qp_stat_add(qp, stat, 1)

/**
 * pib_qp_stats_fold_req() - fold the requester's counters, for pib_qp_stats_fold()
 * @qp: queue pair whose requester has news
 *
 * Context: qp->lock held.
 */
void pib_qp_stats_fold_req(struct pib_qp *qp);
/**
 * pib_qp_stats_fold_resp() - fold the responder's counters, for pib_qp_stats_fold()
 * @qp: queue pair whose responder has news
 *
 * Context: qp->lock held.
 */
void pib_qp_stats_fold_resp(struct pib_qp *qp);
/**
 * pib_qp_stats_fold() - add to the counters what the transport has counted since the last call
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
static inline void pib_qp_stats_fold(struct pib_qp *qp)
{
	if (unlikely(qp->req.news))
		pib_qp_stats_fold_req(qp);
	if (unlikely(qp->resp.news))
		pib_qp_stats_fold_resp(qp);
}

/**
 * pib_qp_stats_send_error() - count a send work request that was completed in error
 * @qp: queue pair
 * @status: enum pib_wc
 *
 * Context: qp->lock held.
 */
void pib_qp_stats_send_error(struct pib_qp *qp, u32 status);
/**
 * pib_qp_stats_recv_error() - count a receive work request that was completed in error
 * @qp: queue pair
 * @status: enum pib_wc
 *
 * Context: qp->lock held.
 */
void pib_qp_stats_recv_error(struct pib_qp *qp, u32 status);

#endif
