// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended polling: entries are read in place, between start_poll and
 * end_poll, with the CQ's lock held. The entry in hand is not yet consumed.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cq.h"
#include "cq_ex.h"

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/**
 * pib_raw_clock_ns() - read the clock of struct pib_cqe's timestamps
 *
 * Return: ns.
 */
uint64_t pib_raw_clock_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

static void take_cqe(struct pib_cq *cq, uint32_t index)
{
	cq->cqe = pib_ring_slot(&cq->ring, index);
	cq->vcq.cq_ex.wr_id = cq->cqe->wr_id;
	cq->vcq.cq_ex.status = cq->cqe->status;
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct pib_cq *cq = to_pcq_ex(ibcq);
	uint32_t consumer;

	if (attr->comp_mask)
		return EINVAL;

	pib_lock(&cq->lock);
	consumer = pib_ring_consumer(&cq->ring);
	if (!pib_ring_filled(&cq->ring, consumer)) {
		pib_unlock(&cq->lock);
		return ENOENT;
	}
	cq->wall_known = false;
	take_cqe(cq, consumer);
	return 0;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct pib_cq *cq = to_pcq_ex(ibcq);
	uint32_t next = pib_ring_consumer(&cq->ring) + 1;

	if (!pib_ring_filled(&cq->ring, next))
		return ENOENT;
	pib_ring_consume(&cq->ring, next);
	take_cqe(cq, next);
	return 0;
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct pib_cq *cq = to_pcq_ex(ibcq);

	cq->cqe = NULL;
	pib_ring_consume(&cq->ring, pib_ring_consumer(&cq->ring) + 1);
	pib_unlock(&cq->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ibcq)
{
	return pib_cqe_wc_flags(to_pcq_ex(ibcq)->cqe);
}

static uint32_t read_byte_len(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->byte_len;
}

/*
 * Read the immediate data, or the invalidated R_Key:
 * ibv_wc_read_invalidated_rkey() takes the same bits as a number in the host's
 * order.
 */
static __be32 read_imm_data(struct ibv_cq_ex *ibcq)
{
	__be32 ex;

	memcpy(&ex, &to_pcq_ex(ibcq)->cqe->ex, sizeof(ex));
	return ex;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->src_qp;
}

static uint32_t read_slid(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->dlid_path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ibcq)
{
	return to_pcq_ex(ibcq)->cqe->timestamp;
}

/*
 * Use one offset for all entries of a polling sequence, so that they keep their
 * distances.
 */
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ibcq)
{
	struct pib_cq *cq = to_pcq_ex(ibcq);

	if (!cq->wall_known) {
		cq->wall_offset = (int64_t)(clock_ns(CLOCK_REALTIME) -
					    pib_raw_clock_ns());
		cq->wall_known = true;
	}
	return cq->cqe->timestamp + (uint64_t)cq->wall_offset;
}

static void set_readers(struct ibv_cq_ex *cq, uint64_t wc_flags)
{
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cq->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cq->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cq->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns =
			read_completion_wallclock_ns;
}

/**
 * pib_cq_ex_setup() - equip a CQ with the calls of extended polling
 * @cq: new
 * @wc_flags: part of PIB_CQ_WC_FLAGS
 */
void pib_cq_ex_setup(struct pib_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	set_readers(ex, wc_flags);
}
