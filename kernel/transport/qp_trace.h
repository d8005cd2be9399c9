/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints of queue pairs. While they are off, a call here is a static branch. */
#ifndef PIB_TRANSPORT_QP_TRACE_H
#define PIB_TRANSPORT_QP_TRACE_H

#include "hca/cq.h"
#include "hca/hca.h"
#include "hca/hw_counters.h"
#include "tracing/fabric.h"
#include "tracing/mad.h"
#include "tracing/transport.h"
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

/* Return: the ID of a work request for a trace; 0 for a kernel consumer, whose ID is an address. */
static inline u64 pib_qp_traced_id(const struct pib_qp *qp, u64 wr_id)
{
	return qp->is_user ? wr_id : 0;
}

/* Parts of other functions for tracepoints that are on. qp->lock held. */
void pib_qp_trace_tx(const struct pib_qp *qp, struct pib_burst *b);
void pib_qp_trace_rx(const struct pib_qp *qp, struct pib_burst *b);
void pib_qp_trace_complete(const struct pib_qp *qp, const struct pib_cq *cq,
			   const struct pib_cqe *cqe);
void pib_qp_trace_retry(const struct pib_qp *qp);

/**
 * pib_qp_trace_drop() - trace packets that are dropped by a QP, or on the way to it
 * @port: port at which they are dropped
 * @why: their counter
 * @h: their headers
 * @packets: number of packets
 *
 * Context: any.
 */
void pib_qp_trace_drop(const struct pib_kport *port, enum pib_stat why, const struct pib_hdrs *h,
		       u32 packets);
/*
 * Trace packets that the responder has dropped since its counters were @before, by enum
 * pib_resp_drop. qp->lock held.
 */
void pib_qp_trace_resp_drops(const struct pib_qp *qp, const struct pib_burst *b,
			     const u64 *before);

/* Trace @b, which leaves the QP and has its headers. qp->lock held. */
static inline void pib_qp_sends(const struct pib_qp *qp, struct pib_burst *b)
{
	if (trace_pib_qp_sent_enabled() || trace_pib_ack_sent_enabled() ||
	    trace_pib_mad_sent_enabled())
		pib_qp_trace_tx(qp, b);
}

/* Trace @b once, though the QP may look at it more than once. qp->lock held. */
static inline void pib_qp_takes(const struct pib_qp *qp, struct pib_burst *b)
{
	if (trace_pib_qp_received_enabled() || trace_pib_ack_received_enabled() ||
	    trace_pib_mad_received_enabled())
		pib_qp_trace_rx(qp, b);
}

/* Trace a completion of the QP, then call pib_cq_push(). qp->lock held. */
static inline void pib_qp_complete(const struct pib_qp *qp, struct pib_cq *cq,
				   const struct pib_cqe *cqe, bool solicited)
{
	if (trace_pib_completion_enabled())
		pib_qp_trace_complete(qp, cq, cqe);
	pib_cq_push(cq, cqe, solicited);
}

/* Count and trace that @packets of @b are dropped. qp->lock held. */
static inline void pib_qp_drop(const struct pib_qp *qp, enum pib_stat why,
			       const struct pib_burst *b, u32 packets)
{
	pib_qp_stat_add(qp, why, packets);
	if (trace_pib_dropped_enabled())
		pib_qp_trace_drop(qp->port, why, &b->h, packets);
}

#endif
