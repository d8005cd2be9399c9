/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Automatic path migration (apm.c). All under qp->lock. */
#ifndef PIB_TRANSPORT_APM_H
#define PIB_TRANSPORT_APM_H

#include "transport/qp.h"

/**
 * pib_apm_has_path() - tell whether there is a path to migrate to
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: one was loaded since RESET and since the last migration.
 */
static inline bool pib_apm_has_path(const struct pib_qp *qp)
{
	return qp->path.alt_av.port && !qp->path.alt_spent;
}

/**
 * pib_apm_heed() - do the work of pib_apm_rx() for a QP that is not in MIGRATED
 * @qp: queue pair
 * @b: packets from the peer
 *
 * Context: qp->lock held.
 */
void pib_apm_heed(struct pib_qp *qp, const struct pib_burst *b);
/**
 * pib_apm_rx() - heed the MigReq bit of packets from the peer
 * @qp: queue pair
 * @b: the packets
 *
 * The bit may arm the QP, or have it migrate.
 *
 * Context: qp->lock held.
 */
static inline void pib_apm_rx(struct pib_qp *qp, const struct pib_burst *b)
{
	if (unlikely(qp->attr.path_mig_state != IB_MIG_MIGRATED))
		pib_apm_heed(qp, b);
}

/**
 * pib_apm_astray() - tell the consumer of a packet that has gone astray
 * @qp: queue pair whose peer has migrated to a path that this end does not know
 *
 * That is done once for each arming (11.6.3.3).
 *
 * Context: qp->lock held.
 */
void pib_apm_astray(struct pib_qp *qp);
/**
 * pib_apm_rescue() - migrate, since the requester has used up its retries
 * @qp: queue pair with another path
 *
 * Context: qp->lock held.
 */
void pib_apm_rescue(struct pib_qp *qp);
/**
 * pib_apm_report() - report PATH_MIG_ERR if the requester has failed on a path by which the peer
 * was never heard
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
void pib_apm_report(struct pib_qp *qp);
/**
 * pib_apm_set() - set the migration state for modify_qp
 * @qp: queue pair
 * @state: new state; an ARMED QP that becomes MIGRATED changes its path
 *
 * Context: qp->lock held.
 */
void pib_apm_set(struct pib_qp *qp, enum ib_mig_state state);

#endif
