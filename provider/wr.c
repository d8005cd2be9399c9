// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_wr_*: building work requests in place, in the slots of a send queue.
 *
 * From wr_start to wr_complete or wr_abort the queue's lock is held. Slots
 * are filled beyond the producer index, so that an abort has nothing to undo.
 * The first error is kept and turns everything after it into nothing.
 */
#include "doorbell.h"
#include "wqe.h"
#include "wr.h"

#define WR_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)

static void wr_fail(struct pib_qp *qp, int err)
{
	if (!qp->wr_err)
		qp->wr_err = err;
}

static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct pib_qp *qp = to_pqp_ex(ibqp);

	pib_lock(&qp->sq_lock);
	qp->wqe = NULL;
	qp->wr_err = 0;
	if (sq_accepts(qp))
		qp->wr_next = pib_ring_producer(&qp->sq);
	else
		wr_fail(qp, EINVAL);
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	pib_unlock(&to_pqp_ex(ibqp)->sq_lock);
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct pib_qp *qp = to_pqp_ex(ibqp);
	int err = qp->wr_err;
	bool posted = !err && qp->wqe;

	if (posted)
		pib_ring_publish(&qp->sq, qp->wr_next);
	pib_unlock(&qp->sq_lock);

	if (posted && pib_ring_idle(&qp->sq))
		err = pib_doorbell_send(&qp->vqp.qp);
	return err;
}

/* Begin the next slot. Return: the slot; NULL after an error. */
static struct pib_send_wqe *wr_begin(struct ibv_qp_ex *ibqp, uint32_t opcode)
{
	struct pib_qp *qp = to_pqp_ex(ibqp);

	if (qp->wr_err)
		return NULL;
	if (pib_ring_full(&qp->sq, qp->wr_next)) {
		wr_fail(qp, ENOMEM);
		return NULL;
	}

	qp->wqe = pib_ring_slot(&qp->sq, qp->wr_next++);
	wqe_init(qp->wqe, ibqp->wr_id, opcode, ibqp->wr_flags & WR_FLAGS);
	return qp->wqe;
}

/* Return: the slot being built; NULL if there is none or it is lost. */
static struct pib_send_wqe *wr_current(struct pib_qp *qp)
{
	if (!qp->wqe)
		wr_fail(qp, EINVAL);
	return qp->wr_err ? NULL : qp->wqe;
}

static void wr_send(struct ibv_qp_ex *ibqp)
{
	wr_begin(ibqp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm_data)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_SEND_WITH_IMM);

	if (wqe)
		memcpy(&wqe->ex, &imm_data, sizeof(wqe->ex));
}

static void wr_send_inv(struct ibv_qp_ex *ibqp, uint32_t invalidate_rkey)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_SEND_WITH_INV);

	if (wqe)
		wqe->ex = invalidate_rkey;
}

static void wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
			  uint64_t remote_addr)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_RDMA_WRITE);

	if (wqe)
		wqe_set_rdma(wqe, remote_addr, rkey);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm_data)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_RDMA_WRITE_WITH_IMM);

	if (!wqe)
		return;
	wqe_set_rdma(wqe, remote_addr, rkey);
	memcpy(&wqe->ex, &imm_data, sizeof(wqe->ex));
}

static void wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey,
			 uint64_t remote_addr)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_RDMA_READ);

	if (wqe)
		wqe_set_rdma(wqe, remote_addr, rkey);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ibqp, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_ATOMIC_CMP_AND_SWP);

	if (wqe)
		wqe_set_atomic(wqe, remote_addr, rkey, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ibqp, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_ATOMIC_FETCH_AND_ADD);

	if (wqe)
		wqe_set_atomic(wqe, remote_addr, rkey, add, 0);
}

static void wr_local_inv(struct ibv_qp_ex *ibqp, uint32_t invalidate_rkey)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_LOCAL_INV);

	if (wqe)
		wqe->ex = invalidate_rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw,
		       uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_BIND_MW);

	if (wqe)
		wqe_set_bind(wqe, mw, rkey, info);
}

#ifdef PIB_HAVE_FLUSH
static void wr_flush(struct ibv_qp_ex *ibqp, uint32_t rkey,
		     uint64_t remote_addr, size_t len, uint8_t type,
		     uint8_t level)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_FLUSH);

	if (wqe)
		wqe_set_flush(wqe, remote_addr, rkey, len, type, level);
}
#endif

#ifdef PIB_HAVE_ATOMIC_WRITE
static void wr_atomic_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
			    uint64_t remote_addr, const void *atomic_wr)
{
	struct pib_send_wqe *wqe = wr_begin(ibqp, IBV_WR_ATOMIC_WRITE);

	if (!wqe)
		return;
	wqe_set_rdma(wqe, remote_addr, rkey);
	wqe_add_inline(wqe, atomic_wr, PIB_ATOMIC_WRITE_LEN,
		       PIB_ATOMIC_WRITE_LEN);
}
#endif

static void wr_set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct pib_qp *qp = to_pqp_ex(ibqp);
	struct pib_send_wqe *wqe = wr_current(qp);
	int err;

	if (!wqe)
		return;
	err = wqe_set_ud(qp, wqe, ah, remote_qpn, remote_qkey);
	if (err)
		wr_fail(qp, err);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ibqp, uint32_t remote_srqn)
{
	struct pib_send_wqe *wqe = wr_current(to_pqp_ex(ibqp));

	if (wqe)
		wqe->srqn = remote_srqn;
}

static void wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge,
			    const struct ibv_sge *sg_list)
{
	struct pib_qp *qp = to_pqp_ex(ibqp);
	struct pib_send_wqe *wqe = wr_current(qp);
	int err;

	if (!wqe)
		return;
	err = wqe_set_sges(qp, wqe, sg_list, num_sge);
	if (err)
		wr_fail(qp, err);
}

static void wr_set_sge(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ibqp, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num_buf,
				    const struct ibv_data_buf *buf_list)
{
	struct pib_qp *qp = to_pqp_ex(ibqp);
	struct pib_send_wqe *wqe = wr_current(qp);
	int err = 0;
	size_t i;

	for (i = 0; wqe && !err && i < num_buf; i++)
		err = wqe_add_inline(wqe, buf_list[i].addr, buf_list[i].length,
				     qp->max_inline);
	if (err)
		wr_fail(qp, err);
}

static void wr_set_inline_data(struct ibv_qp_ex *ibqp, void *addr,
			       size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ibqp, 1, &buf);
}

static void set_builder(struct ibv_qp_ex *qp, uint32_t opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
		qp->wr_send = wr_send;
		break;
	case IBV_WR_SEND_WITH_IMM:
		qp->wr_send_imm = wr_send_imm;
		break;
	case IBV_WR_SEND_WITH_INV:
		qp->wr_send_inv = wr_send_inv;
		break;
	case IBV_WR_RDMA_WRITE:
		qp->wr_rdma_write = wr_rdma_write;
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		qp->wr_rdma_write_imm = wr_rdma_write_imm;
		break;
	case IBV_WR_RDMA_READ:
		qp->wr_rdma_read = wr_rdma_read;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
		break;
	case IBV_WR_LOCAL_INV:
		qp->wr_local_inv = wr_local_inv;
		break;
	case IBV_WR_BIND_MW:
		qp->wr_bind_mw = wr_bind_mw;
		break;
#ifdef PIB_HAVE_FLUSH
	case IBV_WR_FLUSH:
		qp->wr_flush = wr_flush;
		break;
#endif
#ifdef PIB_HAVE_ATOMIC_WRITE
	case IBV_WR_ATOMIC_WRITE:
		qp->wr_atomic_write = wr_atomic_write;
		break;
#endif
	}
}

static const struct {
	uint64_t flag;
	uint32_t opcode;
} send_ops_table[] = {
	{ IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE },
	{ IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ IBV_QP_EX_WITH_SEND, IBV_WR_SEND },
	{ IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM },
	{ IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ },
	{ IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP },
	{ IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ IBV_QP_EX_WITH_LOCAL_INV, IBV_WR_LOCAL_INV },
	{ IBV_QP_EX_WITH_BIND_MW, IBV_WR_BIND_MW },
	{ IBV_QP_EX_WITH_SEND_WITH_INV, IBV_WR_SEND_WITH_INV },
#ifdef PIB_HAVE_FLUSH
	{ IBV_QP_EX_WITH_FLUSH, IBV_WR_FLUSH },
#endif
#ifdef PIB_HAVE_ATOMIC_WRITE
	{ IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE },
#endif
};

/**
 * pib_wr_setup() - equip a QP with the calls of ibv_wr_*
 * @qp: new; its @opcodes are set
 * @send_ops: enum ibv_qp_create_send_ops_flags
 *
 * Return: 0, or EOPNOTSUPP if the QP cannot do all that is asked for.
 */
int pib_wr_setup(struct pib_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	size_t i;

	for (i = 0; i < sizeof(send_ops_table) / sizeof(*send_ops_table); i++) {
		uint32_t opcode = send_ops_table[i].opcode;

		if (!(send_ops & send_ops_table[i].flag))
			continue;
		if (!(qp->opcodes >> opcode & 1))
			return EOPNOTSUPP;
		set_builder(ex, opcode);
		send_ops &= ~send_ops_table[i].flag;
	}
	if (send_ops)
		return EOPNOTSUPP;

	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	return 0;
}
