// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams that have arrived at a UD, SMI or GSI QP (9.8.3). */
#include "compat/compat.h"
#include "hca/hw_counters.h"
#include "transport/datagram.h"
#include "hca/hca.h"
#include "transport/inject.h"
#include "transport/input.h"
#include "memory/pd.h"
#include "packet/offload.h"
#include "proto/opcode.h"
#include "transport/recv_queue.h"
#include "transport/error.h"
#include "transport/qp_debug.h"
#include "transport/qp_trace.h"

#define GRH_NEXT_IBA	0x1B

/*
 * Return: the QP's Q_Key. QP0 has none (10.2.5), so any fits. QP1's is well known; ib_mad sets it.
 */
static u32 qkey_of(const struct pib_qp *qp, const struct pib_hdrs *h)
{
	return qp->type == IB_QPT_SMI ? h->qkey : qp->attr.qkey;
}

/* Return: the bytes of datagram @i of a burst. */
static u32 datagram_len(const struct pib_burst *b, u32 i)
{
	return i + 1 < b->npkts ? b->pmtu : b->len - i * b->pmtu;
}

/* Check whether the QP may take these datagrams in, and count them if not. */
static bool datagram_ok(struct pib_qp *qp, struct pib_burst *b)
{
	u32 mtu = pib_mtu_bytes(READ_ONCE(qp->path.port->p.mtu_cap));

	switch (pib_ud_check(&b->h, datagram_len(b, 0), qkey_of(qp, &b->h), mtu)) {
	case PIB_RESP_DROP_NONE:
		return true;
	case PIB_RESP_DROP_QKEY:
		pib_input_bad_qkey(qp, b);
		return false;
	case PIB_RESP_DROP_BAD_LENGTH:
		pib_qp_drop(qp, PIB_STAT_RX_BAD_LENGTH, b, b->npkts);
		return false;
	default:
		pib_qp_drop(qp, PIB_STAT_RX_BAD_OPCODE, b, b->npkts);
		return false;
	}
}

/* Build the GRH as it stood, or would have stood, in the packet (8.3). */
static void build_grh(const struct pib_hdrs *h, u32 len, u8 *out)
{
	u32 paylen = pib_opcode_wire_len(h, len) - 8 - PIB_GRH_LEN;

	put_unaligned_be32(6 << 28 | h->tclass << 20 | (h->flow & 0xFFFFF), out);
	put_unaligned_be16(paylen, out + 4);
	out[6] = GRH_NEXT_IBA;
	out[7] = h->hop;
	memcpy(out + 8, h->sgid, 16);
	memcpy(out + 24, h->dgid, 16);
}

static int place_grh(struct pib_qp *qp, const struct pib_burst *b, u32 len)
{
	const struct pib_rq_cur *cur = &qp->rq.cur;
	u8 grh[PIB_GRH_LEN];

	if (!(b->h.flags & PIB_H_GRH))
		return 0;

	build_grh(&b->h, len, grh);
	return pib_sges_put(qp, pib_rq_pd(qp), cur->sge, cur->num_sge, 0, grh, sizeof(grh));
}

/*
 * Return: true if a work request ends with a datagram that is longer than its buffer. It waits for
 * the next one, unless the HCA completes it in error, as many do. A work request from an SRQ would
 * wait for this QP alone: it completes in error, which ends the QP (9.9.3, classes D and E).
 */
static bool long_datagram_ends(const struct pib_qp *qp)
{
	return qp->rq.srq || (pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_LONG_MESSAGE_ERROR) &&
			      qp->type > IB_QPT_GSI);
}

/* Drop a datagram that is longer than the buffer of the work request in hand. */
static void datagram_too_long(struct pib_qp *qp, struct pib_burst *b)
{
	pib_qp_drop_next(qp, PIB_STAT_RX_BAD_LENGTH, b, 1);
	if (!long_datagram_ends(qp))
		return;
	pib_rq_complete(qp, PIB_WC_LOC_LEN_ERR, 0, NULL);
	pib_qp_dbg(qp, "a datagram is longer than its receive");
	pib_qp_to_err(qp, PIB_CAUSE_RECEIVE);
}

static void count_no_receive(struct pib_qp *qp, struct pib_burst *b)
{
	pib_qp_drop_next(qp, PIB_STAT_OUT_OF_BUFFER, b, 1);
	if (qp->type == IB_QPT_SMI)
		pib_kport_count(qp->path.port, vl15_dropped, 1);
	else if (qp->type == IB_QPT_GSI)
		pib_kport_count(qp->path.port, qp1_dropped, 1);
}

static enum pib_res place_datagram(struct pib_qp *qp, struct pib_burst *b, u32 off, u32 len)
{
	enum pib_res res = pib_rq_scatter(qp, b, off, len, PIB_GRH_LEN);
	int err;

	if (res)
		return res;
	err = place_grh(qp, b, len);
	if (err == -EAGAIN)
		return PIB_RES_WAIT;
	if (!err)
		return PIB_RES_OK;
	pib_rq_complete(qp, PIB_WC_LOC_PROT_ERR, 0, NULL);
	return PIB_RES_OP;
}

/*
 * Return: true if the consumer may rely on the checksums of the IP packet. The ICRC says only that
 * the packet is as its sender made it. Nothing is said of memory that its owner may have changed
 * since it was copied: the consumer checks the copy.
 */
static bool checksum_ok(struct pib_qp *qp, struct pib_burst *b, u32 off, u32 len)
{
	return pib_qp_is_ipoib(qp) && (b->csum_ok ||
	       (pib_burst_is_stable(b) && pib_offload_verify(b, off, len)));
}

/* Take in datagram @i of @b. Return: false: it waits for pages, or for a receive. */
static bool take_datagram(struct pib_qp *qp, struct pib_burst *b, u32 i, u64 now)
{
	u32 off = i * b->pmtu, len = datagram_len(b, i);
	enum pib_res res = pib_rq_take(qp, 0);
	bool too_long;

	if (res == PIB_RES_RNR) {
		if (pib_rq_awaits(qp, now))
			return false;
		count_no_receive(qp, b);
		return true;
	}
	too_long = !res && PIB_GRH_LEN + len > qp->rq.cur.len;
	/* Of a work request that waits for the next datagram the rules are asked then. */
	if (!res && pib_injects_requests(qp) && (!too_long || long_datagram_ends(qp)))
		res = pib_inject_recv(qp);
	if (!res && too_long) {
		datagram_too_long(qp, b);
		return true;
	}
	if (!res)
		res = place_datagram(qp, b, off, len);
	qp->rx.rules_asked = res == PIB_RES_WAIT;
	if (res == PIB_RES_WAIT)
		return false;
	if (res) {
		pib_qp_dbg(qp, "a datagram was not placed: %s", pib_res_name(res));
		pib_qp_to_err(qp, PIB_CAUSE_RECEIVE);
		return true;
	}
	if (checksum_ok(qp, b, off, len))
		pib_rq_complete_ip(qp, PIB_GRH_LEN + len, &b->h);
	else
		pib_rq_complete(qp, PIB_WC_SUCCESS, PIB_GRH_LEN + len, &b->h);
	return true;
}

bool pib_datagram_rx(struct pib_qp *qp, struct pib_burst *b, u64 now)
{
	lockdep_assert_held(&qp->lock);

	if (!qp->rx.datagrams && !datagram_ok(qp, b))
		return true;
	for (; qp->rx.datagrams < b->npkts && qp->state != IB_QPS_ERR; qp->rx.datagrams++) {
		if (!take_datagram(qp, b, qp->rx.datagrams, now))
			return false;
	}
	qp->rx.datagrams = 0;
	return true;
}
