// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting. Processes fill their rings themselves and ring a doorbell, by a method of their own or
 * by posting without work requests. The QP is run there and then, unless the calls come one after
 * the other (transport/sqpoll.c). Work requests of kernel users are written into rings of the same
 * format. These users may hold locks and have interrupts off, so the QP is run a moment later.
 */
#include "hca/ah.h"
#include "core/task.h"
#include "hca/hca.h"
#include "transport/post.h"
#include "transport/qp.h"
#include "transport/send_queue.h"
#include "hca/srq.h"
#include "proto/ipoib.h"
#include "uapi/rdma/pib-abi.h"

#define UVERBS_MODULE_NAME pib
#include <rdma/uverbs_named_ioctl.h>

#define KERNEL_SEND_FLAGS (IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)
#define IPOIB_SEND_FLAGS (KERNEL_SEND_FLAGS | IB_SEND_IP_CSUM)

/*
 * Count a doorbell for the send ring. Return: true: many have come in a row, and the QP should be
 * handed to the poller.
 */
static bool count_doorbell(struct pib_sqpoll *s)
{
	u32 run = READ_ONCE(s->run);

	if (!run)
		WRITE_ONCE(s->since, jiffies);
	if (unlikely(run >= PIB_SQPOLL_RUN))
		return pib_sqpoll_due(s);
	WRITE_ONCE(s->run, run + 1);
	return false;
}

static void activate_sender(struct pib_qp *qp)
{
	if (count_doorbell(&qp->sqpoll))
		pib_task_hand_off(&qp->task);
	else
		pib_task_activate_here(&qp->task);
}

static int ring_doorbell(struct pib_qp *qp, bool sends)
{
	if (READ_ONCE(qp->state) == IB_QPS_RESET)
		return -EINVAL;

	local_bh_disable();
	if (sends)
		activate_sender(qp);
	else
		pib_task_activate(&qp->task);
	pib_tasks_run();
	local_bh_enable();
	return 0;
}

static int fill_inline(const struct pib_qp *qp, struct pib_send_wqe *wqe,
		       const struct ib_send_wr *wr)
{
	int i;

	wqe->num_sge = 0;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > pib_sq_max_inline(qp, wqe->opcode) - wqe->length)
			return -EINVAL;
		memcpy(wqe->data + wqe->length, (void *)(uintptr_t)sge->addr, sge->length);
		wqe->length += sge->length;
	}
	return 0;
}

static int post_fill_data(const struct pib_qp *qp, struct pib_send_wqe *wqe,
			  const struct ib_send_wr *wr)
{
	int i;

	if (wr->send_flags & IB_SEND_INLINE)
		return fill_inline(qp, wqe, wr);
	if (wr->num_sge < 0 || wr->num_sge > qp->sq.max_sge)
		return -EINVAL;

	wqe->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		wqe->sge[i].addr = wr->sg_list[i].addr;
		wqe->sge[i].length = wr->sg_list[i].length;
		wqe->sge[i].lkey = wr->sg_list[i].lkey;
	}
	return 0;
}

/* An AH of another PD is found later, too, when the request is sent (requester.c). */
static int fill_datagram(const struct pib_qp *qp, struct pib_send_wqe *wqe,
			 const struct ib_ud_wr *wr)
{
	if (unlikely(qp->init.ah_pd_at_post) && wr->ah->pd != qp->ib.pd)
		return -EINVAL;
	wqe->ud.ahn = to_ah(wr->ah)->avn;
	wqe->ud.remote_qpn = wr->remote_qpn;
	wqe->ud.remote_qkey = wr->remote_qkey;
	wqe->ud.reserved = wr->pkey_index;	/* looked at for GSI only */
	return 0;
}

static void fill_reg(struct pib_send_wqe *wqe, const struct ib_reg_wr *wr)
{
	wqe->opcode = PIB_WR_REG_MR;
	wqe->raw[0] = (uintptr_t)wr->mr;
	wqe->raw[1] = wr->key;
	wqe->raw[2] = wr->access;
}

/*
 * Return: true if the packets of a large send fit. A request that is taken and then fails would
 * flush all that stand behind it.
 */
static bool lso_fits(const struct pib_qp *qp, const struct ib_ud_wr *wr)
{
	u32 len = 0, max = pib_sq_datagram_max(qp);
	int i;

	for (i = 0; i < wr->wr.num_sge; i++)
		len = max(len, len + wr->wr.sg_list[i].length);
	return min_t(u32, len, wr->mss) + wr->hlen <= max;
}

/*
 * Fill in a large send. The headers are copied, since the consumer promises them for this call
 * only. They must be those of TCP, and nothing else. Multicast is refused: it would have each
 * packet copied in one piece.
 */
static int fill_lso(const struct pib_qp *qp, struct pib_send_wqe *wqe, const struct ib_ud_wr *wr)
{
	u8 *head = pib_sq_head(qp, wqe);
	struct pib_ipoib ip;

	if (!pib_qp_is_ipoib(qp) || wr->wr.send_flags & IB_SEND_INLINE ||
	    wr->remote_qpn <= 1 || (wr->remote_qpn & PIB_QPN_MASK) == IB_MULTICAST_QPN)
		return -EINVAL;
	if (!wr->header || wr->hlen <= 0 || wr->hlen > PIB_IPOIB_HEAD_MAX || wr->mss <= 0 ||
	    wr->mss > PIB_MTU_MAX || !lso_fits(qp, wr))
		return -EINVAL;
	memcpy(head, wr->header, wr->hlen);
	if (!pib_ipoib_parse(&ip, head, wr->hlen) || ip.len != wr->hlen ||
	    ip.proto != PIB_IPPROTO_TCP)
		return -EINVAL;
	wqe->raw[2] = wr->mss;
	wqe->raw[3] = wr->hlen;
	return fill_datagram(qp, wqe, wr);
}

static int fill_wqe(const struct pib_qp *qp, struct pib_send_wqe *wqe, const struct ib_send_wr *wr)
{
	int err = 0;

	if (wr->send_flags & ~(pib_qp_is_ipoib(qp) ? IPOIB_SEND_FLAGS : KERNEL_SEND_FLAGS))
		return -EINVAL;

	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->send_flags = wr->send_flags;
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->ex = (__force u32)wr->ex.imm_data;
	wqe->srqn = 0;

	switch (wr->opcode) {
	case IB_WR_REG_MR:
		fill_reg(wqe, reg_wr(wr));
		return 0;
	case IB_WR_LOCAL_INV:
		return 0;
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		if (pib_qp_is_datagram(qp))
			err = fill_datagram(qp, wqe, ud_wr(wr));
		break;
	case IB_WR_LSO:
		err = fill_lso(qp, wqe, ud_wr(wr));
		break;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
		wqe->atomic.compare_add = atomic_wr(wr)->compare_add;
		wqe->atomic.swap = atomic_wr(wr)->swap;
		wqe->atomic.rkey = atomic_wr(wr)->rkey;
		break;
	default:
		return -EINVAL;
	}
	return err ?: post_fill_data(qp, wqe, wr);
}

/* Under post_lock. */
static int post_sends(struct pib_qp *qp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad)
{
	struct pib_ring_hdr *hdr = qp->sq.ring.hdr;
	u32 producer = hdr->producer;
	int err = 0;

	for (; wr; wr = wr->next) {
		err = -ENOMEM;
		/* Pairs with the release in pib_sq_retire(). */
		if (producer - smp_load_acquire(&hdr->consumer) < qp->sq.ring.entries)
			err = fill_wqe(qp, pib_ring_slot(&qp->sq.ring, producer), wr);
		if (err) {
			*bad = wr;
			break;
		}
		producer++;
	}
	/* Pairs with the acquire in pib_ring_pending(). */
	smp_store_release(&hdr->producer, producer);
	return err;
}

int pib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct pib_qp *qp = to_qp(ibqp);
	unsigned long flags;
	int err;

	*bad = wr;
	if (!qp->sq.ring.hdr)
		return -EINVAL;
	if (qp->is_user) {
		if (wr)
			return -EINVAL;
		pib_sq_ring(qp);
		return ring_doorbell(qp, true);
	}
	if (READ_ONCE(qp->state) < IB_QPS_RTS)	/* C10-96 */
		return -EINVAL;

	spin_lock_irqsave(&qp->post_lock, flags);
	err = post_sends(qp, wr, bad);
	spin_unlock_irqrestore(&qp->post_lock, flags);

	/* Pairs with smp_mb() in pib_sq_idle(): see struct pib_ring_hdr, @busy. */
	smp_mb();
	if (!READ_ONCE(qp->sq.ring.hdr->busy))
		pib_task_kick(&qp->task);
	return err;
}

static int post_recvs(struct pib_qp *qp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct pib_ring_hdr *hdr = qp->rq.ring.hdr;
	u32 producer = hdr->producer;
	int err = 0;

	for (; wr; wr = wr->next) {
		err = -ENOMEM;
		/* Pairs with the release in pib_ring_consume(). */
		if (producer - smp_load_acquire(&hdr->consumer) < qp->rq.ring.entries)
			err = pib_recv_wqe_fill(pib_ring_slot(&qp->rq.ring, producer),
						qp->rq.max_sge, wr);
		if (err) {
			*bad = wr;
			break;
		}
		producer++;
	}
	/* Pairs with the acquire in pib_ring_pending(). */
	smp_store_release(&hdr->producer, producer);
	return err;
}

int pib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct pib_qp *qp = to_qp(ibqp);
	unsigned long flags;
	int err;

	*bad = wr;
	if (!qp->rq.ring.hdr || READ_ONCE(qp->state) == IB_QPS_RESET)	/* C10-97 */
		return -EINVAL;
	if (qp->is_user)
		return wr ? -EINVAL : ring_doorbell(qp, false);

	spin_lock_irqsave(&qp->post_lock, flags);
	err = post_recvs(qp, wr, bad);
	spin_unlock_irqrestore(&qp->post_lock, flags);

	/*
	 * Pairs with smp_mb() in pib_rq_flush() and pib_rq_awaits(): see struct pib_ring_hdr,
	 * @arm.
	 */
	smp_mb();
	if (READ_ONCE(qp->rq.ring.hdr->arm))
		pib_task_kick(&qp->task);
	return err;
}

/*
 * Unlike a post command this method is not refused to a process that has changed its credentials,
 * has inherited the device or was handed it. The uobject may stand for an XRC target QP that
 * somebody else has opened.
 */
static int UVERBS_HANDLER(PIB_METHOD_QP_RING_SEND)(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *ibqp = uverbs_attr_get_obj(attrs, PIB_ATTR_QP_RING_HANDLE);
	const struct ib_send_wr *bad;

	return pib_post_send(ibqp->real_qp, NULL, &bad);
}

static int UVERBS_HANDLER(PIB_METHOD_QP_RING_RECV)(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *ibqp = uverbs_attr_get_obj(attrs, PIB_ATTR_QP_RING_HANDLE);
	const struct ib_recv_wr *bad;

	return pib_post_recv(ibqp->real_qp, NULL, &bad);
}

DECLARE_UVERBS_NAMED_METHOD(
	PIB_METHOD_QP_RING_SEND,
	UVERBS_ATTR_IDR(PIB_ATTR_QP_RING_HANDLE, UVERBS_OBJECT_QP, UVERBS_ACCESS_READ,
			UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	PIB_METHOD_QP_RING_RECV,
	UVERBS_ATTR_IDR(PIB_ATTR_QP_RING_HANDLE, UVERBS_OBJECT_QP, UVERBS_ACCESS_READ,
			UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_QP, &UVERBS_METHOD(PIB_METHOD_QP_RING_SEND),
			      &UVERBS_METHOD(PIB_METHOD_QP_RING_RECV));

const struct uapi_definition pib_post_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_QP),
	{}
};
