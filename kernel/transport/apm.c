// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Automatic path migration (17.2.8). Both ends load an alternate path and ask
 * for REARM. Each is ARMED once it has seen that the other is on its way, by
 * packets without MigReq. An armed end migrates when it is told to, when its
 * requester would give up, or when the peer's packets carry MigReq and have
 * come by the alternate path. A MigReq that comes by the primary path was sent
 * before the peer asked for REARM, and is late. A MigReq that comes by neither
 * path is one that the QP cannot follow: the packet is dropped (input.c), the
 * consumer is told, and the QP stays ARMED.
 */
#include "transport/apm.h"
#include "hca/hca.h"
#include "transport/input.h"
#include "transport/output.h"

/*
 * Make the alternate path the primary one. The old path takes its place, but for arriving packets
 * only: packets on their way by it are still taken in. No migration leads back to it.
 */
static void apm_migrate(struct pib_qp *qp, bool heard)
{
	struct ib_qp_attr *a = &qp->attr;

	/* REARM, which comes before ARMED, is refused without a path. */
	if (WARN_ON_ONCE(!pib_apm_has_path(qp)))
		return;
	pib_qp_paths_begin(qp);
	swap(qp->path.av, qp->path.alt_av);
	swap(a->pkey_index, a->alt_pkey_index);
	swap(a->port_num, a->alt_port_num);
	swap(a->timeout, a->alt_timeout);
	WRITE_ONCE(qp->path.port, qp->hca->nd.ports[a->port_num]);
	WRITE_ONCE(a->path_mig_state, IB_MIG_MIGRATED);
	WRITE_ONCE(qp->path.alt_open, true);
	pib_qp_paths_end(qp);
	qp->path.alt_spent = true;
	pib_req_new_path(&qp->req, a->timeout, heard);
	pib_output_redirect(qp);
	qp->events |= BIT(IB_EVENT_PATH_MIG);
}

void pib_apm_heed(struct pib_qp *qp, const struct pib_burst *b)
{
	lockdep_assert_held(&qp->lock);

	if (qp->attr.path_mig_state == IB_MIG_REARM) {
		if (b->h.flags & PIB_H_MIG)
			return;
		/* Packets that have gone astray until now do not concern this arming. */
		clear_bit(PIB_QP_ASTRAY, &qp->task.state);
		WRITE_ONCE(qp->path.astray, false);
		WRITE_ONCE(qp->attr.path_mig_state, IB_MIG_ARMED);
		pib_req_set_spare(&qp->req, true);
	} else if (b->h.flags & PIB_H_MIG && pib_input_by_alternate(qp, b->in_port, &b->h)) {
		apm_migrate(qp, true);
	}
}

void pib_apm_astray(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	clear_bit(PIB_QP_ASTRAY, &qp->task.state);
	if (qp->attr.path_mig_state != IB_MIG_ARMED || qp->path.astray)
		return;
	WRITE_ONCE(qp->path.astray, true);
	if (qp->state == IB_QPS_ERR)
		return;
	qp->events |= BIT(IB_EVENT_PATH_MIG_ERR);
}

void pib_apm_rescue(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	apm_migrate(qp, false);
}

/* 11.6.3.3: the path that replaced a dead one does not work, either. */
void pib_apm_report(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (qp->req.error == PIB_WC_RETRY_EXC_ERR && qp->req.unproven)
		qp->events |= BIT(IB_EVENT_PATH_MIG_ERR);
}

void pib_apm_set(struct pib_qp *qp, enum ib_mig_state state)
{
	lockdep_assert_held(&qp->lock);

	if (state == IB_MIG_MIGRATED && qp->attr.path_mig_state == IB_MIG_ARMED) {
		apm_migrate(qp, false);
	} else if (state != qp->attr.path_mig_state) {
		pib_qp_paths_begin(qp);
		WRITE_ONCE(qp->path.alt_open, state != IB_MIG_MIGRATED);
		pib_qp_paths_end(qp);
	}
	WRITE_ONCE(qp->attr.path_mig_state, state);
	pib_req_set_spare(&qp->req, false);
}
