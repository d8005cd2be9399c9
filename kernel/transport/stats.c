// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters of QPs. */
#include "hca/hw_counters.h"
#include "transport/qp_trace.h"
#include "transport/stats.h"

#define FOLD(qp, stat, now, seen, field) \
	pib_qp_stat_add(qp, PIB_STAT_##stat, (now)->field - (seen)->field)

void pib_qp_stats_fold_req(struct pib_qp *qp)
{
	const struct pib_req_stats *now = &qp->req.stats, *seen = &qp->counters.req_seen;

	lockdep_assert_held(&qp->lock);

	if (trace_pib_retry_enabled())
		pib_qp_trace_retry(qp);
	FOLD(qp, PACKET_SEQ_ERR, now, seen, packet_seq_err);
	FOLD(qp, RNR_NAK_RETRY, now, seen, rnr_nak_rcvd);
	FOLD(qp, LOCAL_ACK_TIMEOUT, now, seen, timeouts);
	FOLD(qp, LATE_RESPONSE, now, seen, late);
	FOLD(qp, RETRANSMITS, now, seen, retransmits);
	FOLD(qp, IMPLIED_NAK_SEQ_ERR, now, seen, implied_nak);
	FOLD(qp, RX_BAD_RESPONSE, now, seen, bad_responses);
	FOLD(qp, DUPLICATE_RESPONSE, now, seen, dup_acks);
	qp->counters.req_seen = *now;
	qp->req.news = false;
}

void pib_qp_stats_fold_resp(struct pib_qp *qp)
{
	const struct pib_resp_stats *now = &qp->resp.stats, *seen = &qp->counters.resp_seen;

	lockdep_assert_held(&qp->lock);

	FOLD(qp, DUPLICATE_REQUEST, now, seen, duplicates);
	FOLD(qp, OUT_OF_SEQUENCE, now, seen, out_of_sequence);
	FOLD(qp, OUT_OF_BUFFER, now, seen, rnr_nak_sent);
	FOLD(qp, OUT_OF_BUFFER, now, seen, drops[PIB_RESP_DROP_RESOURCES]);
	FOLD(qp, RNR_NO_PAGE, now, seen, deferrals);
	FOLD(qp, RX_BAD_OPCODE, now, seen, drops[PIB_RESP_DROP_BAD_OPCODE]);
	FOLD(qp, RX_BAD_LENGTH, now, seen, drops[PIB_RESP_DROP_BAD_LENGTH]);
	FOLD(qp, RX_QP_STATE, now, seen, drops[PIB_RESP_DROP_ERROR_STATE]);
	qp->counters.resp_seen = *now;
	qp->resp.news = false;
}

void pib_qp_stats_send_error(struct pib_qp *qp, u32 status)
{
	static const u8 stats[] = {
		[PIB_WC_REM_INV_REQ_ERR] = PIB_STAT_REQ_REMOTE_INVALID,
		[PIB_WC_REM_ACCESS_ERR] = PIB_STAT_REQ_REMOTE_ACCESS,
		[PIB_WC_RETRY_EXC_ERR] = PIB_STAT_RETRY_EXCEEDED,
		[PIB_WC_RNR_RETRY_EXC_ERR] = PIB_STAT_RETRY_RNR_EXCEEDED,
	};

	lockdep_assert_held(&qp->lock);
	if (status == PIB_WC_WR_FLUSH_ERR) {
		pib_qp_stat(qp, PIB_STAT_REQ_CQE_FLUSH);
		return;
	}
	pib_qp_stat(qp, PIB_STAT_REQ_CQE_ERR);
	if (status < ARRAY_SIZE(stats) && stats[status])
		pib_qp_stat(qp, stats[status]);
}

void pib_qp_stats_recv_error(struct pib_qp *qp, u32 status)
{
	lockdep_assert_held(&qp->lock);
	if (status == PIB_WC_WR_FLUSH_ERR) {
		pib_qp_stat(qp, PIB_STAT_RESP_CQE_FLUSH);
		return;
	}
	pib_qp_stat(qp, PIB_STAT_RESP_CQE_ERR);
	if (status == PIB_WC_LOC_LEN_ERR)
		pib_qp_stat(qp, PIB_STAT_RESP_LOCAL_LENGTH);
}
