// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues, and the XRC domains that some of them belong to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pd.h"
#include "pib-cmd.h"
#include "srq.h"

static size_t slot_size(uint32_t max_sge)
{
	return sizeof(struct pib_recv_wqe) + max_sge * sizeof(struct pib_sge);
}

static int create_srq(struct ibv_context *context, struct pib_srq *srq,
		      struct ibv_srq_init_attr_ex *attr)
{
	struct upib_create_srq_resp resp = {};
	struct ibv_create_xsrq cmd = {};
	int err;

	err = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd,
				    sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		return err;

	srq->max_sge = attr->attr.max_sge;
	err = pib_ring_map(&srq->ring, context->cmd_fd, &resp.drv_payload.ring,
			   slot_size(srq->max_sge), attr->attr.max_wr);
	if (!err && !srq->ring.hdr)
		err = EPROTO;
	if (err)
		ibv_cmd_destroy_srq(&srq->vsrq.srq);
	return err;
}

static bool type_supported(const struct ibv_srq_init_attr_ex *attr)
{
	return !(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) ||
	       attr->srq_type == IBV_SRQT_BASIC ||
	       attr->srq_type == IBV_SRQT_XRC;
}

struct ibv_srq *pib_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr)
{
	struct pib_srq *srq;
	int err;

	if (!type_supported(attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD)) {
		errno = EINVAL;
		return NULL;
	}

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	srq->domain = pib_domain_get(attr->pd);
	err = pib_lock_init(&srq->lock, pib_domain_threaded(srq->domain));
	if (err)
		goto err_free;
	err = create_srq(context, srq, attr);
	if (err)
		goto err_free;

	srq->vsrq.srq.context = context;
	srq->vsrq.srq.srq_context = attr->srq_context;
	srq->vsrq.srq.pd = attr->pd;
	return &srq->vsrq.srq;

err_free:
	pib_domain_put(srq->domain);
	free(srq);
	errno = err;
	return NULL;
}

struct ibv_srq *pib_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	struct ibv_srq *ibsrq = pib_create_srq_ex(pd->context, &ex);

	if (ibsrq)
		attr->attr = ex.attr;
	return ibsrq;
}

/*
 * Resize the SRQ. The kernel moves posted work requests to a new ring. The lock
 * is held meanwhile, for those that were posted to the old ring after that
 * would be lost.
 */
static int resize_srq(struct pib_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct ibv_srq *ibsrq = &srq->vsrq.srq;
	struct pib_ring_info info = {};
	struct upib_modify_srq cmd = {
		.drv_payload.ring_addr = (uintptr_t)&info,
		.drv_payload.ring_size = sizeof(info),
	};
	struct pib_ring ring;
	int err;

	pib_lock(&srq->lock);
	err = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	if (err || !info.size)
		goto out;
	err = pib_ring_map(&ring, ibsrq->context->cmd_fd, &info,
			   slot_size(srq->max_sge), info.entries);
	if (err) {
		/* the old ring leads nowhere now: take nothing more */
		srq->ring.limit = 0;
		goto out;
	}
	pib_ring_unmap(&srq->ring);
	srq->ring = ring;
out:
	pib_unlock(&srq->lock);
	return err;
}

int pib_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct upib_modify_srq cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return resize_srq(to_psrq(ibsrq), attr, mask);
	return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd,
				  sizeof(cmd));
}

int pib_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int pib_destroy_srq(struct ibv_srq *ibsrq)
{
	struct pib_srq *srq = to_psrq(ibsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;
	pib_ring_unmap(&srq->ring);
	pib_domain_put(srq->domain);
	free(srq);
	return 0;
}

int pib_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num)
{
	struct pib_srq *srq = to_psrq(ibsrq);

	if (srq->vsrq.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*num = srq->vsrq.srq_num;
	return 0;
}

struct ibv_xrcd *pib_open_xrcd(struct ibv_context *context,
			       struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp = {};
	struct ibv_open_xrcd cmd = {};
	struct verbs_xrcd *xrcd;
	int err;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	err = ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(xrcd);
		errno = err;
		return NULL;
	}
	return &xrcd->xrcd;
}

int pib_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err;

	err = ibv_cmd_close_xrcd(xrcd);
	if (!err)
		free(xrcd);
	return err;
}
