// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send: lists of struct ibv_send_wr into the slots of a send queue.
 *
 * Errors that must be immediate, and work requests that a slot cannot hold, are
 * found here. The kernel judges all else from its own copy, and answers by a
 * completion.
 */
#include "doorbell.h"
#include "send.h"
#include "wqe.h"

#define SEND_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
		    IBV_SEND_SOLICITED | IBV_SEND_INLINE)

/* Requests that send payload: inline data has a meaning */
#define OPS_WITH_PAYLOAD (PIB_OP(SEND) | PIB_OP(SEND_WITH_IMM) | \
			  PIB_OP(SEND_WITH_INV) | PIB_OP(RDMA_WRITE) | \
			  PIB_OP(RDMA_WRITE_WITH_IMM) | PIB_OP(ATOMIC_WRITE))

/* Requests without a local buffer */
#define OPS_WITHOUT_DATA (PIB_OP(LOCAL_INV) | PIB_OP(BIND_MW))

/* Requests that struct ibv_send_wr has no fields for */
#define OPS_WR_ONLY PIB_OP(FLUSH)

static bool opcode_valid(const struct pib_qp *qp, uint32_t opcode)
{
	return opcode < 32 && (qp->opcodes & ~OPS_WR_ONLY) >> opcode & 1;
}

static int set_operands(const struct pib_qp *qp, struct pib_send_wqe *wqe,
			const struct ibv_send_wr *wr)
{
	switch ((int)wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		if (qp->vqp.qp.qp_type != IBV_QPT_UD)
			return 0;
		if (!wr->wr.ud.ah)
			return EINVAL;
		return wqe_set_ud(qp, wqe, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
				  wr->wr.ud.remote_qkey);
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_WRITE:
		wqe_set_rdma(wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe_set_atomic(wqe, wr->wr.atomic.remote_addr,
			       wr->wr.atomic.rkey, wr->wr.atomic.compare_add,
			       wr->wr.atomic.swap);
		return 0;
	case IBV_WR_BIND_MW:
		if (!wr->bind_mw.mw)
			return EINVAL;
		wqe_set_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
			     &wr->bind_mw.bind_info);
		return 0;
	default:
		return 0;
	}
}

static int set_inline(const struct pib_qp *qp, struct pib_send_wqe *wqe,
		      const struct ibv_send_wr *wr)
{
	size_t max = qp->max_inline;
	int err, i;

	if (!(OPS_WITH_PAYLOAD >> wr->opcode & 1))
		return EINVAL;
	if (wr->opcode == IBV_WR_ATOMIC_WRITE)
		max = PIB_ATOMIC_WRITE_LEN;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		err = wqe_add_inline(wqe, (const void *)(uintptr_t)sge->addr,
				     sge->length, max);
		if (err)
			return err;
	}
	return 0;
}

static int set_data(const struct pib_qp *qp, struct pib_send_wqe *wqe,
		    const struct ibv_send_wr *wr)
{
	if (OPS_WITHOUT_DATA >> wr->opcode & 1)
		return 0;
	if (wr->num_sge < 0)
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE)
		return set_inline(qp, wqe, wr);
	return wqe_set_sges(qp, wqe, wr->sg_list, (size_t)wr->num_sge);
}

static int build_send(struct pib_qp *qp, uint32_t producer,
		      const struct ibv_send_wr *wr)
{
	struct pib_send_wqe *wqe = pib_ring_slot(&qp->sq, producer);
	int err;

	if (!opcode_valid(qp, wr->opcode) || wr->send_flags & ~SEND_FLAGS)
		return EINVAL;
	if (pib_ring_full(&qp->sq, producer))
		return ENOMEM;

	wqe_init(wqe, wr->wr_id, wr->opcode, wr->send_flags);
	/* the union holds the R_Key to invalidate as well */
	memcpy(&wqe->ex, &wr->imm_data, sizeof(wqe->ex));
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND)
		wqe->srqn = wr->qp_type.xrc.remote_srqn;

	err = set_operands(qp, wqe, wr);
	return err ? err : set_data(qp, wqe, wr);
}

int pib_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr)
{
	struct pib_qp *qp = to_pqp(ibqp);
	struct ibv_send_wr *first = wr;
	uint32_t producer, start;
	int err = 0, bell = 0;

	if (!sq_accepts(qp)) {
		*bad_wr = wr;
		return EINVAL;
	}

	pib_lock(&qp->sq_lock);
	producer = pib_ring_producer(&qp->sq);
	start = producer;
	for (; wr; wr = wr->next) {
		err = build_send(qp, producer, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		producer++;
	}
	if (producer != start)
		pib_ring_publish(&qp->sq, producer);
	pib_unlock(&qp->sq_lock);

	if (producer != start && pib_ring_idle(&qp->sq))
		bell = pib_doorbell_send(ibqp);
	if (bell && !err) {
		*bad_wr = first;
		err = bell;
	}
	return err;
}

/**
 * pib_bind_mw() - bind a window of type 1
 * @ibqp: QP whose send queue the binding goes to
 * @mw: window
 * @bind: memory to bind the window to
 *
 * The new key is the old one with the next value of its consumer-owned byte.
 * @mw has it at once; should the binding fail, the application restores the
 * old one (ibv_bind_mw(3)).
 *
 * Return: 0 or an errno value.
 */
int pib_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad;
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = bind->bind_info,
		},
	};
	int err;

	/* only type 2 can be zero-based */
	if (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return EINVAL;

	err = pib_post_send(ibqp, &wr, &bad);
	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
