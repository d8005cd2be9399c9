// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: creation, destruction, attributes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "cq.h"
#include "pd.h"
#include "pib-cmd.h"
#include "qp.h"
#include "wqe.h"
#include "wr.h"

#define COMP_MASK (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | \
		   IBV_QP_INIT_ATTR_CREATE_FLAGS | \
		   IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

#define UD_OPS (PIB_OP(SEND) | PIB_OP(SEND_WITH_IMM))
#define UC_OPS (UD_OPS | PIB_OP(RDMA_WRITE) | PIB_OP(RDMA_WRITE_WITH_IMM) | \
		PIB_OP(LOCAL_INV) | PIB_OP(BIND_MW))
#define RC_OPS (UC_OPS | PIB_OP(SEND_WITH_INV) | PIB_OP(RDMA_READ) | \
		PIB_OP(ATOMIC_CMP_AND_SWP) | PIB_OP(ATOMIC_FETCH_AND_ADD) | \
		PIB_OP(FLUSH) | PIB_OP(ATOMIC_WRITE))

static uint32_t type_opcodes(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return RC_OPS;
	case IBV_QPT_UC:
		return UC_OPS;
	case IBV_QPT_UD:
		return UD_OPS;
	default:
		return 0;
	}
}

static int check_qp_attr(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t flags = attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ?
			 attr->create_flags : 0;

	if (!check_comp_mask(attr->comp_mask, COMP_MASK) ||
	    flags & ~(uint32_t)IBV_QP_CREATE_BLOCK_SELF_MCAST_LB)
		return EOPNOTSUPP;

	switch (attr->qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

static size_t send_slot_size(const struct ibv_qp_cap *cap)
{
	size_t data = cap->max_send_sge * sizeof(struct pib_sge);

	if (data < cap->max_inline_data)
		data = cap->max_inline_data;
	if (data < PIB_ATOMIC_WRITE_LEN)
		data = PIB_ATOMIC_WRITE_LEN;
	return sizeof(struct pib_send_wqe) + data;
}

static size_t recv_slot_size(const struct ibv_qp_cap *cap)
{
	return sizeof(struct pib_recv_wqe) +
	       cap->max_recv_sge * sizeof(struct pib_sge);
}

/* Map the rings of a QP. @cap: capabilities as granted */
static int map_rings(struct pib_qp *qp, int cmd_fd,
		     const struct ibv_qp_cap *cap,
		     const struct pib_create_qp_resp *resp)
{
	int err;

	err = pib_ring_map(&qp->sq, cmd_fd, &resp->sq, send_slot_size(cap),
			   cap->max_send_wr);
	if (err)
		return err;
	err = pib_ring_map(&qp->rq, cmd_fd, &resp->rq, recv_slot_size(cap),
			   cap->max_recv_wr);
	if (err) {
		pib_ring_unmap(&qp->sq);
		return err;
	}

	qp->max_send_sge = cap->max_send_sge;
	qp->max_recv_sge = cap->max_recv_sge;
	qp->max_inline = cap->max_inline_data;
	return 0;
}

/*
 * Remove completions of work that is gone: the application must not see them.
 */
static void clean_cqs(const struct ibv_qp *ibqp)
{
	if (ibqp->recv_cq)
		pib_cq_clean(to_pcq(ibqp->recv_cq), ibqp->qp_num);
	if (ibqp->send_cq && ibqp->send_cq != ibqp->recv_cq)
		pib_cq_clean(to_pcq(ibqp->send_cq), ibqp->qp_num);
}

static void begin_dying(struct pib_context *ctx, struct pib_qp *qp)
{
	qp->cleaned = false;
	pthread_mutex_lock(&ctx->dying_lock);
	list_add_tail(&ctx->dying, &qp->dying);
	pthread_mutex_unlock(&ctx->dying_lock);
}

static void end_dying(struct pib_context *ctx, struct pib_qp *qp, bool dead)
{
	pthread_mutex_lock(&ctx->dying_lock);
	if (dead && !qp->cleaned)
		clean_cqs(&qp->vqp.qp);
	list_del(&qp->dying);
	pthread_mutex_unlock(&ctx->dying_lock);
}

/*
 * Clean up after queue pairs that had @qpn before, which the kernel has given
 * to a new one. Later that would take completions of the new one, too.
 */
static void clean_dying(struct pib_context *ctx, uint32_t qpn)
{
	struct pib_qp *old;

	pthread_mutex_lock(&ctx->dying_lock);
	list_for_each(&ctx->dying, old, dying) {
		if (old->vqp.qp.qp_num != qpn || old->cleaned)
			continue;
		clean_cqs(&old->vqp.qp);
		old->cleaned = true;
	}
	pthread_mutex_unlock(&ctx->dying_lock);
}

static int create_qp(struct ibv_context *context, struct pib_qp *qp,
		     struct ibv_qp_init_attr_ex *attr)
{
	struct upib_create_qp_resp resp = {};
	struct ibv_create_qp_ex cmd = {};
	int err;

	err = pib_cmd_create_qp_ex(context, &qp->vqp, attr, &cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp));
	if (err)
		return err;

	clean_dying(to_pctx(context), qp->vqp.qp.qp_num);
	err = map_rings(qp, context->cmd_fd, &attr->cap, &resp.drv_payload);
	if (err) {
		ibv_cmd_destroy_qp(&qp->vqp.qp);
		return err;
	}
	qp->ah_pd_at_post = resp.drv_payload.flags & PIB_QP_AH_PD_AT_POST;
	if (attr->qp_type == IBV_QPT_UD)
		qp->pd_handle = attr->pd->handle;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		qp->vqp.comp_mask |= VERBS_QP_EX;
	return 0;
}

/* Set up the parts of a QP that the kernel does not know of */
static int init_qp(struct pib_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	bool threaded = pib_domain_threaded(qp->domain);
	int err;

	qp->opcodes = type_opcodes(attr->qp_type);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		err = pib_wr_setup(qp, attr->send_ops_flags);
		if (err)
			return err;
	}
	err = pib_lock_init(&qp->sq_lock, threaded);
	return err ? err : pib_lock_init(&qp->rq_lock, threaded);
}

struct ibv_qp *pib_create_qp_ex(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr)
{
	struct pib_qp *qp;
	int err;

	err = check_qp_attr(attr);
	if (err) {
		errno = err;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		qp->domain = pib_domain_get(attr->pd);

	err = init_qp(qp, attr);
	if (err)
		goto err_free;
	err = create_qp(context, qp, attr);
	if (err)
		goto err_free;
	return &qp->vqp.qp;

err_free:
	pib_domain_put(qp->domain);
	free(qp);
	errno = err;
	return NULL;
}

struct ibv_qp *pib_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp = pib_create_qp_ex(pd->context, &ex);

	if (ibqp)
		attr->cap = ex.cap;
	return ibqp;
}

/* Become another owner of an XRC target QP. It has no queues. */
struct ibv_qp *pib_open_qp(struct ibv_context *context,
			   struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct pib_qp *qp;
	int err;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(qp);
		errno = err;
		return NULL;
	}
	return &qp->vqp.qp;
}

int pib_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd,
				sizeof(cmd));
}

int pib_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp cmd = {};
	int err;

	err = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (!err && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		clean_cqs(ibqp);
	return err;
}

int pib_destroy_qp(struct ibv_qp *ibqp)
{
	struct pib_context *ctx = to_pctx(ibqp->context);
	struct pib_qp *qp = to_pqp(ibqp);
	int err;

	begin_dying(ctx, qp);
	err = ibv_cmd_destroy_qp(ibqp);
	end_dying(ctx, qp, !err);
	if (err)
		return err;
	pib_ring_unmap(&qp->sq);
	pib_ring_unmap(&qp->rq);
	pib_domain_put(qp->domain);
	free(qp);
	return 0;
}
