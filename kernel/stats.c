// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What QPs count. */
#include "counters.h"
#include "qp.h"
#include "stats.h"

static_assert(sizeof(struct pib_req_stats) % sizeof(u64) == 0 &&
	      sizeof(struct pib_resp_stats) % sizeof(u64) == 0);

#define FOLD(qp, stat, now, seen, field) \
	pib_qp_stat_add(qp, PIB_STAT_##stat, (now)->field - (seen)->field)

/* On every turn of every QP, and hardly ever true: worth more than memcmp(). */
static __always_inline bool differ(const void *a, const void *b, size_t size)
{
	const u64 *x = a, *y = b;
	u64 diff = 0;
	size_t i;

	for (i = 0; i < size / sizeof(u64); i++)
		diff |= x[i] ^ y[i];
	return diff;
}

static void fold_req(struct pib_qp *qp)
{
	const struct pib_req_stats *now = &qp->req.stats, *seen = &qp->req_seen;

	FOLD(qp, PACKET_SEQ_ERR, now, seen, packet_seq_err);
	FOLD(qp, RNR_NAK_RETRY, now, seen, rnr_nak_rcvd);
	FOLD(qp, LOCAL_ACK_TIMEOUT, now, seen, timeouts);
	FOLD(qp, RETRANSMITS, now, seen, retransmits);
	FOLD(qp, IMPLIED_NAK_SEQ_ERR, now, seen, implied_nak);
	qp->req_seen = *now;
}

static void fold_resp(struct pib_qp *qp)
{
	const struct pib_resp_stats *now = &qp->resp.stats, *seen = &qp->resp_seen;

	FOLD(qp, DUPLICATE_REQUEST, now, seen, duplicates);
	FOLD(qp, OUT_OF_SEQUENCE, now, seen, out_of_sequence);
	FOLD(qp, OUT_OF_BUFFER, now, seen, rnr_nak_sent);
	FOLD(qp, OUT_OF_BUFFER, now, seen, drops[PIB_DROP_RESOURCES]);
	FOLD(qp, RX_BAD_OPCODE, now, seen, drops[PIB_DROP_BAD_OPCODE]);
	FOLD(qp, RX_BAD_LENGTH, now, seen, drops[PIB_DROP_BAD_LENGTH]);
	qp->resp_seen = *now;
}

void pib_stats_fold(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (unlikely(differ(&qp->req.stats, &qp->req_seen, sizeof(qp->req_seen))))
		fold_req(qp);
	/* An ACK sent is no news: it is counted, but not here. */
	qp->resp_seen.acks_sent = qp->resp.stats.acks_sent;
	if (unlikely(differ(&qp->resp.stats, &qp->resp_seen, sizeof(qp->resp_seen))))
		fold_resp(qp);
}

void pib_stats_send_error(struct pib_qp *qp, u32 status)
{
	static const u8 stats[] = {
		[PIB_WC_REM_INV_REQ_ERR] = PIB_STAT_REQ_REMOTE_INVALID,
		[PIB_WC_REM_ACCESS_ERR] = PIB_STAT_REQ_REMOTE_ACCESS,
		[PIB_WC_RETRY_EXC_ERR] = PIB_STAT_RETRY_EXCEEDED,
		[PIB_WC_RNR_RETRY_EXC_ERR] = PIB_STAT_RETRY_RNR_EXCEEDED,
	};

	if (status == PIB_WC_WR_FLUSH_ERR) {
		pib_qp_stat(qp, PIB_STAT_REQ_CQE_FLUSH);
		return;
	}
	pib_qp_stat(qp, PIB_STAT_REQ_CQE_ERR);
	if (status < ARRAY_SIZE(stats) && stats[status])
		pib_qp_stat(qp, stats[status]);
}

void pib_stats_recv_error(struct pib_qp *qp, u32 status)
{
	if (status == PIB_WC_WR_FLUSH_ERR) {
		pib_qp_stat(qp, PIB_STAT_RESP_CQE_FLUSH);
		return;
	}
	pib_qp_stat(qp, PIB_STAT_RESP_CQE_ERR);
	if (status == PIB_WC_LOC_LEN_ERR)
		pib_qp_stat(qp, PIB_STAT_RESP_LOCAL_LENGTH);
}
