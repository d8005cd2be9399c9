// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "cq.h"
#include "cq_ex.h"
#include "pd.h"
#include "pib-cmd.h"

#define CQ_FLAGS IBV_CREATE_CQ_ATTR_SINGLE_THREADED

static int check_cq_attr(const struct ibv_cq_init_attr_ex *attr)
{
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ?
			 attr->flags : 0;

	if (!check_comp_mask(attr->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS |
					      IBV_CQ_INIT_ATTR_MASK_PD) ||
	    !check_comp_mask(attr->wc_flags, PIB_CQ_WC_FLAGS) ||
	    !check_comp_mask(flags, CQ_FLAGS))
		return EOPNOTSUPP;
	return 0;
}

/* Set up the parts of a CQ that the kernel does not know of */
static int init_cq(struct pib_cq *cq, const struct ibv_cq_init_attr_ex *attr)
{
	bool threaded = true;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		cq->domain = pib_domain_get(attr->parent_domain);
		if (!cq->domain)
			return EINVAL;
		threaded = pib_domain_threaded(cq->domain);
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		threaded = false;
	return pib_lock_init(&cq->lock, threaded);
}

static int create_cq(struct ibv_context *context, struct pib_cq *cq,
		     struct ibv_cq_init_attr_ex *attr)
{
	struct upib_create_cq_resp resp = {};
	struct upib_create_cq cmd = {};
	int err;

	err = pib_cmd_create_cq_ex(context, attr, &cq->vcq, &cmd.ibv_cmd,
				   sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		return err;

	err = pib_ring_map(&cq->ring, context->cmd_fd, &resp.drv_payload.ring,
			   sizeof(struct pib_cqe), 0);
	if (!err && !cq->ring.hdr)
		err = EPROTO;
	if (err)
		ibv_cmd_destroy_cq(&cq->vcq.cq);
	return err;
}

struct ibv_cq_ex *pib_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr)
{
	struct pib_cq *cq;
	int err;

	err = check_cq_attr(attr);
	if (err) {
		errno = err;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	err = init_cq(cq, attr);
	if (err)
		goto err_free;
	err = create_cq(context, cq, attr);
	if (err)
		goto err_free;
	pib_cq_ex_setup(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;

err_free:
	pib_domain_put(cq->domain);
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *pib_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = (uint32_t)cqe,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
	};
	struct ibv_cq_ex *cq_ex = pib_create_cq_ex(context, &attr);

	return cq_ex ? ibv_cq_ex_to_cq(cq_ex) : NULL;
}

static void fill_wc(struct ibv_wc *wc, const struct pib_cqe *cqe)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	/* the union holds an invalidated R_Key as well */
	memcpy(&wc->imm_data, &cqe->ex, sizeof(wc->imm_data));
	wc->qp_num = cqe->qp_num;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = pib_cqe_wc_flags(cqe);
	wc->pkey_index = cqe->pkey_index;
	wc->slid = cqe->slid;
	wc->sl = cqe->sl;
	wc->dlid_path_bits = cqe->dlid_path_bits;
}

int pib_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct pib_cq *cq = to_pcq(ibcq);
	uint32_t consumer, filled;
	int n;

	pib_lock(&cq->lock);
	consumer = pib_ring_consumer(&cq->ring);
	filled = pib_ring_filled(&cq->ring, consumer);
	for (n = 0; n < num_entries && (uint32_t)n < filled; n++)
		fill_wc(&wc[n], pib_ring_slot(&cq->ring, consumer + n));
	if (n > 0)
		pib_ring_consume(&cq->ring, consumer + n);
	pib_unlock(&cq->lock);
	return n;
}

/*
 * Arm the CQ; the application polls once more after this. The kernel publishes
 * an entry and then takes what is armed: with a full barrier between the two
 * steps on either side, one of the two sees the other. The lock keeps the ring
 * from being exchanged by pib_resize_cq() meanwhile.
 */
int pib_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	uint32_t want = solicited_only ? PIB_CQ_ARM_SOLICITED : PIB_CQ_ARM_ANY;
	struct pib_cq *cq = to_pcq(ibcq);
	uint32_t *arm, old;

	pib_lock(&cq->lock);
	arm = &cq->ring.hdr->arm;
	old = __atomic_load_n(arm, __ATOMIC_RELAXED);
	/*
	 * The stronger of two requests counts (11.4.2.2). Pairs with xchg() in the
	 * kernel's cq_disarm().
	 */
	while (old < want &&
	       !__atomic_compare_exchange_n(arm, &old, want, false,
					    __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	/* Pairs with smp_mb() in the kernel's cq_event_due(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	pib_unlock(&cq->lock);
	return 0;
}

/*
 * Resize the CQ. The kernel moves entries that were not polled, the indices and
 * what is armed to a new ring. The lock is held meanwhile, for entries that
 * were consumed from the old ring after that would come again.
 */
int pib_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct pib_cq *cq = to_pcq(ibcq);
	struct upib_resize_cq_resp resp = {};
	struct upib_resize_cq cmd = {};
	struct pib_ring ring;
	int err;

	pib_lock(&cq->lock);
	err = ibv_cmd_resize_cq(ibcq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (err || !resp.drv_payload.ring.size)
		goto out;
	/* on failure the old ring still has what was there: keep it */
	err = pib_ring_map(&ring, ibcq->context->cmd_fd,
			   &resp.drv_payload.ring, sizeof(struct pib_cqe), 0);
	if (err)
		goto out;
	pib_ring_unmap(&cq->ring);
	cq->ring = ring;
out:
	pib_unlock(&cq->lock);
	return err;
}

int pib_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

int pib_destroy_cq(struct ibv_cq *ibcq)
{
	struct pib_cq *cq = to_pcq(ibcq);
	int err;

	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;
	pib_ring_unmap(&cq->ring);
	pib_domain_put(cq->domain);
	free(cq);
	return 0;
}

/**
 * pib_cq_clean() - drop the entries of a QP that has gone
 * @cq: may receive entries of other QPs meanwhile
 * @qp_num: the kernel makes no more entries for it
 *
 * Entries that stay move towards the producer, in order; then the consumer
 * index skips the slots that are left over. The kernel writes no slot between
 * the two indices. Entries that it adds after the producer was read are not
 * looked at.
 */
void pib_cq_clean(struct pib_cq *cq, uint32_t qp_num)
{
	uint32_t consumer, from, to;

	pib_lock(&cq->lock);
	consumer = pib_ring_consumer(&cq->ring);
	from = consumer + pib_ring_filled(&cq->ring, consumer);
	to = from;
	while (from != consumer) {
		const struct pib_cqe *cqe = pib_ring_slot(&cq->ring, --from);

		if (cqe->qp_num == qp_num)
			continue;
		if (--to != from)
			memcpy(pib_ring_slot(&cq->ring, to), cqe, sizeof(*cqe));
	}
	if (to != consumer)
		pib_ring_consume(&cq->ring, to);
	pib_unlock(&cq->lock);
}
