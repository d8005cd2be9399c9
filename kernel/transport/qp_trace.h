/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What tracepoints are told of queue pairs. While they are off, a call here is a static branch. */
#ifndef PIB_TRANSPORT_QP_TRACE_H
#define PIB_TRANSPORT_QP_TRACE_H

#include "hca/cq.h"
#include "hca/hca.h"
#include "hca/hw_counters.h"
#include "tracing/events.h"
#include "transport/qp.h"

static inline struct pib_trace_qp pib_qp_traced(const struct pib_qp *qp)
{
	const struct pib_kport *port = READ_ONCE(qp->port);

	return (struct pib_trace_qp) {
		.device = qp->hca->nd.name,
		.port = port ? port->p.num : 0,
		.qpn = qp->qpn,
		.pid = qp->pid,
	};
}

/* What a trace shows of a work request: that of a kernel consumer is an address. */
static inline u64 pib_qp_traced_id(const struct pib_qp *qp, u64 wr_id)
{
	return qp->is_user ? wr_id : 0;
}

/* What the following functions do where somebody looks. qp->lock held. */
void pib_qp_trace_tx(const struct pib_qp *qp, struct pib_burst *b);
void pib_qp_trace_rx(const struct pib_qp *qp, struct pib_burst *b);
void pib_qp_trace_complete(const struct pib_qp *qp, const struct pib_cq *cq,
			   const struct pib_cqe *cqe);
void pib_qp_trace_retry(const struct pib_qp *qp);

/*
 * Packets with headers @h are dropped at @port, by a QP or on the way to it. @why: their counter.
 * Any context.
 */
void pib_qp_trace_drop(const struct pib_kport *port, enum pib_stat why, const struct pib_hdrs *h,
		       u32 packets);
/* What the responder has dropped since it had counted @before, by enum pib_resp_drop. */
void pib_qp_trace_resp_drops(const struct pib_qp *qp, const struct pib_burst *b,
			     const u64 *before);

/* @b leaves the QP, and has its headers. qp->lock held. */
static inline void pib_qp_sends(const struct pib_qp *qp, struct pib_burst *b)
{
	if (trace_pib_qp_sent_enabled() || trace_pib_ack_sent_enabled() ||
	    trace_pib_mad_sent_enabled())
		pib_qp_trace_tx(qp, b);
}

/* The QP looks at @b. It may do so more than once, which is seen. qp->lock held. */
static inline void pib_qp_takes(const struct pib_qp *qp, struct pib_burst *b)
{
	if (trace_pib_qp_received_enabled() || trace_pib_ack_received_enabled() ||
	    trace_pib_mad_received_enabled())
		pib_qp_trace_rx(qp, b);
}

/* As pib_cq_push(), for each completion of a QP. qp->lock held. */
static inline void pib_qp_complete(const struct pib_qp *qp, struct pib_cq *cq,
				   const struct pib_cqe *cqe, bool solicited)
{
	if (trace_pib_completion_enabled())
		pib_qp_trace_complete(qp, cq, cqe);
	pib_cq_push(cq, cqe, solicited);
}

/* @packets of @b are dropped: count and trace that. qp->lock held. */
static inline void pib_qp_drop(const struct pib_qp *qp, enum pib_stat why,
			       const struct pib_burst *b, u32 packets)
{
	pib_qp_stat_add(qp, why, packets);
	if (trace_pib_dropped_enabled())
		pib_qp_trace_drop(qp->port, why, &b->h, packets);
}

#endif
