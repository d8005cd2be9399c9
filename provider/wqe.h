/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Writers for the slots of a send queue, for ibv_post_send and ibv_wr_*.
 *
 * Every slot starts with wqe_init(), which leaves a request without data. A
 * later writer only adds to that.
 */
#ifndef PIB_WQE_H
#define PIB_WQE_H

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "pib.h"

/* Bytes of data that an ATOMIC_WRITE carries */
#define PIB_ATOMIC_WRITE_LEN 8

#ifndef PIB_HAVE_FLUSH
#define IBV_WR_FLUSH		14
#endif
#ifndef PIB_HAVE_ATOMIC_WRITE
#define IBV_WR_ATOMIC_WRITE	15
#endif

#define PIB_OP(name) (1U << IBV_WR_##name)

/* The ABI has uverbs' numbers, the API its own: they must agree. */
static_assert((int)IBV_WR_RDMA_WRITE == 0 &&
	      (int)IBV_WR_RDMA_WRITE_WITH_IMM == 1 &&
	      (int)IBV_WR_SEND == 2 && (int)IBV_WR_SEND_WITH_IMM == 3 &&
	      (int)IBV_WR_RDMA_READ == 4 &&
	      (int)IBV_WR_ATOMIC_CMP_AND_SWP == 5 &&
	      (int)IBV_WR_ATOMIC_FETCH_AND_ADD == 6 &&
	      (int)IBV_WR_LOCAL_INV == 7 && (int)IBV_WR_BIND_MW == 8 &&
	      (int)IBV_WR_SEND_WITH_INV == 9 && (int)IBV_WR_FLUSH == 14 &&
	      (int)IBV_WR_ATOMIC_WRITE == 15,
	      "opcode numbers differ from the ABI's");
static_assert(IBV_SEND_FENCE == 1 && IBV_SEND_SIGNALED == 2 &&
	      IBV_SEND_SOLICITED == 4 && IBV_SEND_INLINE == 8,
	      "send flags differ from the ABI's");
static_assert(sizeof(struct ibv_sge) == sizeof(struct pib_sge) &&
	      offsetof(struct ibv_sge, addr) ==
	      offsetof(struct pib_sge, addr) &&
	      offsetof(struct ibv_sge, length) ==
	      offsetof(struct pib_sge, length) &&
	      offsetof(struct ibv_sge, lkey) == offsetof(struct pib_sge, lkey),
	      "struct ibv_sge differs from the ABI's");

static inline void wqe_init(struct pib_send_wqe *wqe, uint64_t wr_id,
			    uint32_t opcode, uint32_t send_flags)
{
	wqe->wr_id = wr_id;
	wqe->opcode = opcode;
	wqe->send_flags = send_flags;
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->ex = 0;
	wqe->srqn = 0;
}

static inline void wqe_set_rdma(struct pib_send_wqe *wqe,
				uint64_t remote_addr, uint32_t rkey)
{
	wqe->rdma.remote_addr = remote_addr;
	wqe->rdma.rkey = rkey;
	wqe->rdma.reserved = 0;
}

static inline void wqe_set_atomic(struct pib_send_wqe *wqe,
				  uint64_t remote_addr, uint32_t rkey,
				  uint64_t compare_add, uint64_t swap)
{
	wqe->atomic.remote_addr = remote_addr;
	wqe->atomic.compare_add = compare_add;
	wqe->atomic.swap = swap;
	wqe->atomic.rkey = rkey;
	wqe->atomic.reserved = 0;
}

/*
 * Parent domains have the handle of their PD. Return: 0 or an errno value.
 */
static inline int wqe_set_ud(const struct pib_qp *qp, struct pib_send_wqe *wqe,
			     struct ibv_ah *ah, uint32_t remote_qpn,
			     uint32_t remote_qkey)
{
	if (qp->ah_pd_at_post && to_pah(ah)->pd_handle != qp->pd_handle)
		return EINVAL;

	wqe->ud.ahn = to_pah(ah)->ahn;
	wqe->ud.remote_qpn = remote_qpn;
	wqe->ud.remote_qkey = remote_qkey;
	wqe->ud.reserved = 0;
	return 0;
}

/*
 * Fill in a binding. One without a region (and of no length) takes the old one
 * back.
 */
static inline void wqe_set_bind(struct pib_send_wqe *wqe,
				const struct ibv_mw *mw, uint32_t new_rkey,
				const struct ibv_mw_bind_info *info)
{
	wqe->bind.addr = info->addr;
	wqe->bind.length = info->length;
	wqe->bind.mr_lkey = info->mr ? info->mr->lkey : 0;
	wqe->bind.mw_rkey = mw->rkey;
	wqe->bind.new_rkey = new_rkey;
	wqe->bind.access = info->mw_access_flags;
}

static inline void wqe_set_flush(struct pib_send_wqe *wqe,
				 uint64_t remote_addr, uint32_t rkey,
				 uint64_t length, uint32_t type,
				 uint32_t level)
{
	wqe->flush.remote_addr = remote_addr;
	wqe->flush.length = length;
	wqe->flush.rkey = rkey;
	wqe->flush.type = type;
	wqe->flush.level = level;
	wqe->flush.reserved = 0;
}

/* Return: 0 or an errno value. */
static inline int wqe_set_sges(const struct pib_qp *qp,
			       struct pib_send_wqe *wqe,
			       const struct ibv_sge *sges, size_t num)
{
	if (num > qp->max_send_sge)
		return EINVAL;

	if (num)
		memcpy(wqe->sge, sges, num * sizeof(*sges));
	wqe->num_sge = (uint32_t)num;
	return 0;
}

/*
 * Append inline data, @max bytes in all at most. Return: 0 or an errno value.
 */
static inline int wqe_add_inline(struct pib_send_wqe *wqe, const void *data,
				 size_t length, size_t max)
{
	if (length > max - wqe->length)
		return EINVAL;

	wqe->send_flags |= IBV_SEND_INLINE;
	if (length)
		memcpy(wqe->data + wqe->length, data, length);
	wqe->length += (uint32_t)length;
	return 0;
}

/*
 * Return: true if work may be posted to the send queue. In the other states
 * that is an immediate error (IBA 10.3.1); libibverbs keeps the state that was
 * set last.
 */
static inline bool sq_accepts(const struct pib_qp *qp)
{
	enum ibv_qp_state state = qp->vqp.qp.state;

	return qp->sq.hdr && state != IBV_QPS_RESET &&
	       state != IBV_QPS_INIT && state != IBV_QPS_RTR;
}

#endif
