/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Automatic path migration (apm.c). All under qp->lock. */
#ifndef PIB_TRANSPORT_APM_H
#define PIB_TRANSPORT_APM_H

#include "transport/qp.h"

/*
 * Return: true if there is a path to migrate to: one was loaded since RESET and since the last
 * migration.
 */
static inline bool pib_apm_has_path(const struct pib_qp *qp)
{
	return qp->alt_av.port && !qp->alt_spent;
}

/* Out-of-line part of pib_apm_rx(), for a QP that is not in MIGRATED. */
void pib_apm_heed(struct pib_qp *qp, const struct pib_burst *b);
/* Heed the MigReq bit of a packet from the peer: it may arm the QP, or have it migrate. */
static inline void pib_apm_rx(struct pib_qp *qp, const struct pib_burst *b)
{
	if (unlikely(qp->attr.path_mig_state != IB_MIG_MIGRATED))
		pib_apm_heed(qp, b);
}

/*
 * Tell the consumer, once for each arming (11.6.3.3), of a packet that has gone astray: the peer
 * has migrated to a path that this end does not know.
 */
void pib_apm_astray(struct pib_qp *qp);
/* Migrate, since the requester has used up its retries, and there is another path. */
void pib_apm_rescue(struct pib_qp *qp);
/* Report PATH_MIG_ERR if the requester has failed on a path by which the peer was never heard. */
void pib_apm_verdict(struct pib_qp *qp);
/* Set the migration state for modify_qp. An ARMED QP that becomes MIGRATED changes its path. */
void pib_apm_set(struct pib_qp *qp, enum ib_mig_state state);

#endif
