// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Arguments of the tracepoints of queue pairs, and reports of what queue pairs drop. */
#include "fabric/drop.h"
#include "transport/qp_trace.h"

/* Trace the MADs of a burst of a special QP, each a datagram. */
static void trace_mads(const struct pib_qp *qp, struct pib_burst *b, bool sent)
{
	struct pib_trace_qp who = pib_qp_traced(qp);
	u8 mad[PIB_TRACE_MAD_LEN];
	u32 i;

	for (i = 0; i < b->npkts; i++) {
		if (i * b->pmtu + sizeof(mad) > b->len ||
		    pib_burst_read(b, i * b->pmtu, mad, sizeof(mad)))
			return;
		if (sent)
			trace_pib_mad_sent(who.device, who.port, qp->qpn, b->h.slid, b->h.dlid,
					   mad);
		else
			trace_pib_mad_received(who.device, who.port, qp->qpn, b->h.slid, b->h.dlid,
					       mad);
	}
}

static bool is_special(const struct pib_qp *qp)
{
	return qp->type == IB_QPT_SMI || qp->type == IB_QPT_GSI;
}

void pib_qp_trace_tx(const struct pib_qp *qp, u32 index, struct pib_burst *b)
{
	struct pib_trace_qp who = pib_qp_traced(qp);
	struct pib_trace_burst t;

	lockdep_assert_held(&qp->lock);

	if (b->h.op == PIB_OP_ACK) {
		trace_pib_ack_sent(&who, b->h.dqpn, b->h.psn, b->h.syndrome, b->h.msn);
		return;
	}
	pib_trace_burst_set(&t, &b->h, b->npkts);
	trace_pib_qp_sent(&who, &t, b->len, index);
	if (trace_pib_mad_sent_enabled() && is_special(qp))
		trace_mads(qp, b, true);
}

/* Return: the QPN of the sender of @h, which packets of a connection do not carry. */
static u32 sender_qpn(const struct pib_qp *qp, const struct pib_hdrs *h)
{
	return h->tp == PIB_TP_UD ? h->sqpn : qp->attr.dest_qp_num;
}

void pib_qp_trace_rx(const struct pib_qp *qp, struct pib_burst *b)
{
	struct pib_trace_qp who = pib_qp_traced(qp);
	struct pib_trace_burst t;

	lockdep_assert_held(&qp->lock);

	if (b->traced)
		return;
	b->traced = true;
	if (b->h.op == PIB_OP_ACK) {
		trace_pib_ack_received(&who, sender_qpn(qp, &b->h), b->h.psn, b->h.syndrome,
				       b->h.msn);
		return;
	}
	pib_trace_burst_set(&t, &b->h, b->npkts);
	t.qpn = sender_qpn(qp, &b->h);
	trace_pib_qp_received(&who, &t, b->len);
	if (trace_pib_mad_received_enabled() && is_special(qp))
		trace_mads(qp, b, false);
}

void pib_qp_trace_complete(const struct pib_qp *qp, u32 index, const struct pib_cq *cq,
			   const struct pib_cqe *cqe)
{
	struct pib_trace_qp who = pib_qp_traced(qp);

	lockdep_assert_held(&qp->lock);
	trace_pib_completion(&who, cq->cqn, index, pib_qp_traced_id(qp, cqe->wr_id), cqe->opcode,
			     cqe->status, cqe->vendor_err, cqe->byte_len);
}

void pib_qp_trace_retry(const struct pib_qp *qp)
{
	const struct pib_req_stats *now = &qp->req.stats, *seen = &qp->counters.req_seen;
	const struct pib_req *r = &qp->req;
	struct pib_trace_qp who = pib_qp_traced(qp);
	const struct {
		u64 now;
		u64 seen;
	} counts[] = {
		[PIB_RETRY_TIMEOUT] = { now->timeouts, seen->timeouts },
		[PIB_RETRY_SEQUENCE] = { now->packet_seq_err, seen->packet_seq_err },
		[PIB_RETRY_RNR] = { now->rnr_nak_rcvd, seen->rnr_nak_rcvd },
		[PIB_RETRY_GAP] = { now->implied_nak, seen->implied_nak },
		[PIB_RETRY_LATE] = { now->late, seen->late },
	};
	u8 cause;

	lockdep_assert_held(&qp->lock);

	for (cause = 0; cause < ARRAY_SIZE(counts); cause++) {
		if (counts[cause].now != counts[cause].seen)
			trace_pib_retry(&who, r->cfg.dqpn, cause, r->una_psn, r->retries_left,
					r->rnr_left);
	}
}

static const u8 drops[PIB_STATS] = {
	[PIB_STAT_OUT_OF_BUFFER] = PIB_DROP_NO_RECEIVE,
	[PIB_STAT_TX_NOMEM] = PIB_DROP_TX_NOMEM,
	[PIB_STAT_TX_NO_PKEY] = PIB_DROP_TX_NO_PKEY,
	[PIB_STAT_RX_NO_QP] = PIB_DROP_RX_NO_QP,
	[PIB_STAT_RX_NO_GROUP] = PIB_DROP_RX_NO_GROUP,
	[PIB_STAT_RX_QP_STATE] = PIB_DROP_RX_QP_STATE,
	[PIB_STAT_RX_BAD_SERVICE] = PIB_DROP_RX_BAD_SERVICE,
	[PIB_STAT_RX_BAD_PKEY] = PIB_DROP_RX_BAD_PKEY,
	[PIB_STAT_RX_BAD_QKEY] = PIB_DROP_RX_BAD_QKEY,
	[PIB_STAT_RX_BAD_PATH] = PIB_DROP_RX_BAD_PATH,
	[PIB_STAT_RX_BAD_LENGTH] = PIB_DROP_RX_BAD_LENGTH,
	[PIB_STAT_RX_BAD_OPCODE] = PIB_DROP_RX_BAD_OPCODE,
	[PIB_STAT_RX_BAD_RESPONSE] = PIB_DROP_RX_BAD_RESPONSE,
	[PIB_STAT_DUPLICATE_RESPONSE] = PIB_DROP_DUPLICATE_RESPONSE,
	[PIB_STAT_RX_FULL] = PIB_DROP_RX_FULL,
	[PIB_STAT_RX_NOMEM] = PIB_DROP_RX_NOMEM,
	[PIB_STAT_RX_NO_PAGE] = PIB_DROP_RX_NO_PAGE,
};

void pib_kport_trace_stat(const struct pib_kport *port, enum pib_stat why,
			  const struct pib_hdrs *h, u32 packets)
{
	pib_kport_trace_drop(port, drops[why], h, packets);
}

/* Return: the port by which @b has come, of those of the present path and of the other one. */
static struct pib_kport *came_by(const struct pib_qp *qp, const struct pib_burst *b)
{
	struct pib_kport *alt =
		qp->path.alt_open ? qp->hca->nd.ports[qp->path.alt_av.port] : NULL;

	return alt && b->in_port == alt ? alt : qp->path.port;
}

void pib_qp_report_drop(const struct pib_qp *qp, enum pib_stat why, struct pib_burst *b, u32 first,
			u32 packets)
{
	lockdep_assert_held(&qp->lock);

	pib_kport_judged(came_by(qp, b), drops[why], b, first, packets);
}

void pib_qp_report_resp_drops(const struct pib_qp *qp, struct pib_burst *b, const u64 *before)
{
	static const u8 reasons[PIB_RESP_DROP_REASONS] = {
		[PIB_RESP_DROP_DUPLICATE] = PIB_DROP_DUPLICATE,
		[PIB_RESP_DROP_OUT_OF_SEQUENCE] = PIB_DROP_OUT_OF_SEQUENCE,
		[PIB_RESP_DROP_BAD_OPCODE] = PIB_DROP_RX_BAD_OPCODE,
		[PIB_RESP_DROP_BAD_LENGTH] = PIB_DROP_RX_BAD_LENGTH,
		[PIB_RESP_DROP_RESOURCES] = PIB_DROP_NO_RECEIVE,
		[PIB_RESP_DROP_ERROR_STATE] = PIB_DROP_REFUSED,
		[PIB_RESP_DROP_QKEY] = PIB_DROP_RX_BAD_QKEY,
	};
	u32 i;

	lockdep_assert_held(&qp->lock);

	for (i = PIB_RESP_DROP_NONE + 1; i < PIB_RESP_DROP_REASONS; i++) {
		if (qp->resp.stats.drops[i] != before[i])
			pib_kport_judged(came_by(qp, b), reasons[i], b, 0, b->npkts);
	}
}
