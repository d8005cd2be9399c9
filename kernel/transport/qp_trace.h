/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints of queue pairs, and what captures are told of them. While both are off, a call here
 * is a static branch.
 */
#ifndef PIB_TRANSPORT_QP_TRACE_H
#define PIB_TRANSPORT_QP_TRACE_H

#include "fabric/capture.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "hca/hw_counters.h"
#include "tracing/fabric.h"
#include "tracing/mad.h"
#include "tracing/transport.h"
#include "transport/qp.h"
#include "transport/stats.h"

/**
 * pib_qp_traced() - describe a QP for a trace
 * @qp: queue pair
 *
 * Context: any.
 * Return: the description, which is valid for as long as the QP.
 */
static inline struct pib_trace_qp pib_qp_traced(const struct pib_qp *qp)
{
	const struct pib_kport *port = READ_ONCE(qp->path.port);

	return (struct pib_trace_qp) {
		.device = qp->hca->nd.name,
		.port = port ? port->p.num : 0,
		.qpn = qp->qpn,
		.pid = qp->init.pid,
	};
}

/**
 * pib_qp_traced_id() - get the ID of a work request for a trace
 * @qp: queue pair
 * @wr_id: the ID
 *
 * Context: any.
 * Return: the ID; 0 for a kernel consumer, whose ID is an address.
 */
static inline u64 pib_qp_traced_id(const struct pib_qp *qp, u64 wr_id)
{
	return qp->is_user ? wr_id : 0;
}

/**
 * pib_qp_trace_tx() - trace a burst that is sent, for pib_qp_sends()
 * @qp: queue pair
 * @index: of the work request in its ring, 0: the burst is an answer
 * @b: the burst
 *
 * Context: qp->lock held.
 */
void pib_qp_trace_tx(const struct pib_qp *qp, u32 index, struct pib_burst *b);
/**
 * pib_qp_trace_rx() - trace a burst that has come, for pib_qp_takes()
 * @qp: queue pair
 * @b: the burst
 *
 * Context: qp->lock held.
 */
void pib_qp_trace_rx(const struct pib_qp *qp, struct pib_burst *b);
/**
 * pib_qp_trace_complete() - trace a completion, for pib_qp_complete()
 * @qp: queue pair
 * @index: of a send work request in its ring, 0: of a receive
 * @cq: completion queue
 * @cqe: the completion
 *
 * Context: qp->lock held.
 */
void pib_qp_trace_complete(const struct pib_qp *qp, u32 index, const struct pib_cq *cq,
			   const struct pib_cqe *cqe);
/**
 * pib_qp_trace_retry() - trace the causes of retries that were not folded yet, for
 * pib_qp_stats_fold()
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
void pib_qp_trace_retry(const struct pib_qp *qp);

/**
 * pib_kport_trace_stat() - trace packets that are dropped by a QP, or on the way to it
 * @port: port at which they are dropped
 * @why: their counter
 * @h: their headers
 * @packets: number of packets
 *
 * Context: any.
 */
void pib_kport_trace_stat(const struct pib_kport *port, enum pib_stat why,
			  const struct pib_hdrs *h, u32 packets);
/**
 * pib_qp_report_drop() - trace and capture packets that a QP drops
 * @qp: queue pair
 * @why: their counter
 * @b: burst with the packets
 * @first: index of the first of them
 * @packets: number of packets
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_qp_report_drop(const struct pib_qp *qp, enum pib_stat why, struct pib_burst *b, u32 first,
			u32 packets);
/**
 * pib_qp_report_resp_drops() - trace and capture packets that the responder has dropped
 * @qp: queue pair
 * @b: the packets
 * @before: the counters before, by enum pib_resp_drop
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_qp_report_resp_drops(const struct pib_qp *qp, struct pib_burst *b, const u64 *before);

/* Return: true if drops may have to be reported. Context: any. */
static inline bool pib_qp_reports_drops(void)
{
	return trace_pib_dropped_enabled() || static_branch_unlikely(&pib_capture_key);
}

/**
 * pib_qp_sends() - trace a burst that leaves a QP
 * @qp: queue pair
 * @index: of the work request in its ring, 0: the burst is an answer
 * @b: the burst, which has its headers
 *
 * Context: qp->lock held.
 */
static inline void pib_qp_sends(const struct pib_qp *qp, u32 index, struct pib_burst *b)
{
	if (trace_pib_qp_sent_enabled() || trace_pib_ack_sent_enabled() ||
	    trace_pib_mad_sent_enabled())
		pib_qp_trace_tx(qp, index, b);
}

/**
 * pib_qp_takes() - trace a burst that has come, once, though the QP may look at it more than once
 * @qp: queue pair
 * @b: the burst
 *
 * Context: qp->lock held.
 */
static inline void pib_qp_takes(const struct pib_qp *qp, struct pib_burst *b)
{
	if (trace_pib_qp_received_enabled() || trace_pib_ack_received_enabled() ||
	    trace_pib_mad_received_enabled())
		pib_qp_trace_rx(qp, b);
}

/**
 * pib_qp_complete() - trace a completion, then call pib_cq_push()
 * @qp: queue pair
 * @index: of a send work request in its ring, 0: of a receive
 * @cq: completion queue
 * @cqe: the completion
 * @solicited: a solicited event or an error
 *
 * Context: qp->lock held, softirqs off.
 */
static inline void pib_qp_complete(const struct pib_qp *qp, u32 index, struct pib_cq *cq,
				   const struct pib_cqe *cqe, bool solicited)
{
	if (trace_pib_completion_enabled())
		pib_qp_trace_complete(qp, index, cq, cqe);
	pib_cq_push(cq, cqe, solicited);
}

/**
 * pib_qp_drop_part() - count and report packets of a burst that are dropped
 * @qp: queue pair
 * @why: counter
 * @b: burst
 * @count: what the counter grows by: packets, or messages
 * @first: index of the first of the packets
 * @packets: number of packets
 *
 * Context: qp->lock held, softirqs off.
 */
static inline void pib_qp_drop_part(const struct pib_qp *qp, enum pib_stat why,
				    struct pib_burst *b, u32 count, u32 first, u32 packets)
{
	pib_qp_stat_add(qp, why, count);
	if (pib_qp_reports_drops())
		pib_qp_report_drop(qp, why, b, first, packets);
}

/* Drop all of @b. Parameters and context: as pib_qp_drop_part(). */
static inline void pib_qp_drop(const struct pib_qp *qp, enum pib_stat why, struct pib_burst *b,
			       u32 count)
{
	pib_qp_drop_part(qp, why, b, count, 0, b->npkts);
}

/*
 * Drop @packets of a burst that is being taken in, from qp->rx.datagrams on, which is 0 but for
 * datagrams. Context: as pib_qp_drop_part().
 */
static inline void pib_qp_drop_next(const struct pib_qp *qp, enum pib_stat why,
				    struct pib_burst *b, u32 packets)
{
	pib_qp_drop_part(qp, why, b, packets, qp->rx.datagrams, packets);
}

#endif
