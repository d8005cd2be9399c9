/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Automatic path migration (apm.c). All under qp->lock. */
#ifndef PIB_TRANSPORT_APM_H
#define PIB_TRANSPORT_APM_H

#include "transport/qp.h"

/* Is there another path to migrate to? It was loaded since RESET and since the last migration. */
static inline bool pib_apm_has_path(const struct pib_qp *qp)
{
	return qp->alt_av.port && !qp->alt_spent;
}

/* What pib_apm_rx() does where there may be something to do. */
void pib_apm_heed(struct pib_qp *qp, const struct pib_burst *b);
/* A packet has come from the peer: its MigReq bit may arm or migrate. */
static inline void pib_apm_rx(struct pib_qp *qp, const struct pib_burst *b)
{
	if (unlikely(qp->attr.path_mig_state != IB_MIG_MIGRATED))
		pib_apm_heed(qp, b);
}

/*
 * A packet that has gone astray says that the peer has migrated to a path that this end does not
 * know: tell the consumer, once for each arming (11.6.3.3).
 */
void pib_apm_astray(struct pib_qp *qp);
/* The requester has used up its retries, and there is another path: take that. */
void pib_apm_rescue(struct pib_qp *qp);
/* The requester has failed: was it for want of a path? */
void pib_apm_verdict(struct pib_qp *qp);
/* modify_qp sets the migration state. */
void pib_apm_set(struct pib_qp *qp, enum ib_mig_state state);

#endif
