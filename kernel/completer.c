// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The completer: what acknowledgements carry goes to the memory of the work request. */
#include "completer.h"
#include "pd.h"
#include "rq.h"

void pib_completer_rx(struct pib_qp *qp, struct pib_burst *b, u64 now)
{
	struct pib_place pl = { };
	struct pib_ksq_slot *s;
	int err;

	lockdep_assert_held(&qp->lock);

	pib_req_response(&qp->req, &b->h, b->npkts, b->len, now, &pl);
	if (!pl.wqe)
		return;

	s = container_of(pl.wqe, struct pib_ksq_slot, w);
	if (pl.is_atomic)
		err = pib_sges_put(qp->pd, s->sge, s->num_sge, 0, &pl.orig, sizeof(pl.orig));
	else if (pl.len)
		err = pib_sges_write(qp->pd, s->sge, s->num_sge, pl.wqe_off, b, pl.src_off,
				     pl.len);
	else
		err = 0;
	if (err)
		pib_req_local_error(&qp->req, pl.wqe, PIB_WC_LOC_PROT_ERR);
}
