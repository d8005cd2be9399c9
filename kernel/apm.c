// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Automatic path migration (17.2.8). Both ends load an alternate path and ask
 * for REARM; each is ARMED once it has seen that the other is on its way, by
 * packets without MigReq. An armed end migrates when it is told to, when its
 * requester would give up, or when the peer's packets carry MigReq.
 */
#include "apm.h"
#include "hca.h"

static struct pib_req_cfg with_timeout(const struct pib_req *req, u8 timeout)
{
	struct pib_req_cfg cfg = req->cfg;

	cfg.timeout = timeout;
	return cfg;
}

/*
 * The alternate path becomes the primary one. What is on its way over the old
 * path is still taken in: that one is kept as the other path.
 */
static void migrate(struct pib_qp *qp)
{
	struct ib_qp_attr *a = &qp->attr;
	struct pib_req_cfg cfg = with_timeout(&qp->req, a->alt_timeout);

	/* REARM, which comes before ARMED, is refused without a path. */
	if (WARN_ON_ONCE(!pib_apm_has_path(qp)))
		return;

	swap(qp->av, qp->alt_av);
	swap(a->pkey_index, a->alt_pkey_index);
	swap(a->port_num, a->alt_port_num);
	swap(a->timeout, a->alt_timeout);
	WRITE_ONCE(qp->port, qp->hca->ports[a->port_num]);
	a->path_mig_state = IB_MIG_MIGRATED;
	pib_req_reconfig(&qp->req, &cfg);
}

void pib_apm_rx(struct pib_qp *qp, const struct pib_hdrs *h)
{
	lockdep_assert_held(&qp->lock);

	if (likely(qp->attr.path_mig_state == IB_MIG_MIGRATED))
		return;
	if (qp->attr.path_mig_state == IB_MIG_REARM) {
		if (!(h->flags & PIB_H_MIG))
			qp->attr.path_mig_state = IB_MIG_ARMED;
	} else if (h->flags & PIB_H_MIG) {
		migrate(qp);
		qp->events |= BIT(IB_EVENT_PATH_MIG);
	}
}

void pib_apm_rescue(struct pib_qp *qp, u64 now)
{
	lockdep_assert_held(&qp->lock);

	if (likely(qp->attr.path_mig_state != IB_MIG_ARMED) || qp->req.retries_left ||
	    !qp->req.ack_deadline || now < qp->req.ack_deadline)
		return;

	/* 17.2.8.1.3: with all its retries anew */
	migrate(qp);
	qp->events |= BIT(IB_EVENT_PATH_MIG);
}

void pib_apm_set(struct pib_qp *qp, enum ib_mig_state state)
{
	lockdep_assert_held(&qp->lock);

	if (state == IB_MIG_MIGRATED && qp->attr.path_mig_state == IB_MIG_ARMED)
		migrate(qp);
	qp->attr.path_mig_state = state;
}
