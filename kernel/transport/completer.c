// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer. What responses carry goes to the memory of the work request. What is finished,
 * acknowledged or not, is completed in the order in which it was posted.
 */
#include "transport/completer.h"
#include "hca/cq.h"
#include "hca/hw_counters.h"
#include "memory/pd.h"
#include "transport/qp_trace.h"
#include "transport/recv_queue.h"
#include "transport/send_queue.h"
#include "transport/stats.h"

static int place_response(struct pib_qp *qp, struct pib_burst *b, const struct pib_place *pl)
{
	const struct pib_ksq_slot *s = pib_ksq_slot(pl->wqe);

	if (pl->is_atomic)
		return pib_sges_put(qp, qp->pd, s->sge, s->num_sge, 0, &pl->orig, sizeof(pl->orig));
	if (!pl->len)
		return 0;
	return pib_sges_write(qp, qp->pd, s->sge, s->num_sge, pl->wqe_off, b, pl->src_off, pl->len);
}

/* Let a response go: the responder's memory is not kept for a page that does not come. */
static void forget_response(struct pib_qp *qp, const struct pib_burst *b)
{
	pib_req_forget_response(&qp->req, &qp->rx.place);
	qp->rx.place.wqe = NULL;
	qp->rx.hold.unplaced = true;
	pib_qp_drop(qp, PIB_STAT_RX_NO_PAGE, b, 1);
}

bool pib_completer_rx(struct pib_qp *qp, struct pib_burst *b, u64 now)
{
	struct pib_place *pl = &qp->rx.place;
	int err;

	lockdep_assert_held(&qp->lock);

	/* What comes behind a response that was let go of will come again, too. */
	if (unlikely(qp->rx.hold.unplaced))
		return true;
	/* else it is the burst that could not be placed before */
	if (!pl->wqe) {
		memset(pl, 0, sizeof(*pl));
		pib_req_response(&qp->req, &b->h, b->npkts, b->len, now, pl);
	}
	if (!pl->wqe)
		return true;

	err = place_response(qp, b, pl);
	if (err == -EAGAIN && !qp->rx.hold.refuses)
		return false;
	if (err == -EAGAIN) {
		forget_response(qp, b);
		return true;
	}
	if (err)
		pib_req_local_error(&qp->req, pl->wqe, PIB_WC_LOC_PROT_ERR);
	pl->wqe = NULL;
	return true;
}

void pib_completer_finish(struct pib_qp *qp, struct pib_ksq_slot *s)
{
	struct pib_cqe cqe = {
		.wr_id = s->w.wr_id,
		.status = s->w.status,
		.opcode = s->wc_opcode,
		.qp_num = qp->qpn,
		.user_qp = (unsigned long)&qp->ib,
	};
	bool report = s->w.status || s->w.flags & PIB_WR_SIGNALED;

	lockdep_assert_held(&qp->lock);

	if (s->wc_opcode == IB_WC_RDMA_READ)
		cqe.byte_len = s->w.len;
	else if (s->w.opcode == PIB_WR_CAS || s->w.opcode == PIB_WR_FAA)
		cqe.byte_len = 8;

	if (unlikely(s->w.status))
		pib_stats_send_error(qp, s->w.status);

	/* First the slot, then the completion: who has seen it may post again. */
	pib_req_retire(&qp->req);
	pib_sq_retire(qp);
	if (report)
		pib_qp_complete(qp, qp->scq, &cqe, cqe.status);
}
