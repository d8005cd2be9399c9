// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_recv and ibv_post_srq_recv. The kernel looks at a receive ring
 * when a message comes, so that posting is a matter of memory only; a QP in
 * error, where none comes any more, asks for a doorbell by the ring's arm.
 */
#include <errno.h>
#include <string.h>

#include "doorbell.h"
#include "pib.h"
#include "recv.h"

static int build_recv(struct pib_ring *ring, uint32_t max_sge, uint32_t producer,
		      const struct ibv_recv_wr *wr)
{
	struct pib_recv_wqe *wqe = pib_ring_slot(ring, producer);

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > max_sge)
		return EINVAL;
	if (pib_ring_full(ring, producer))
		return ENOMEM;

	wqe->wr_id = wr->wr_id;
	wqe->num_sge = (uint32_t)wr->num_sge;
	wqe->reserved = 0;
	if (wr->num_sge)
		memcpy(wqe->sge, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(*wr->sg_list));
	return 0;
}

/*
 * Post receives, under the ring's lock. Return: 0, or an errno value; then
 * @bad_wr is set.
 */
static int post_recvs(struct pib_ring *ring, uint32_t max_sge,
		      struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t producer = pib_ring_producer(ring);
	int err = 0;

	for (; wr; wr = wr->next) {
		err = build_recv(ring, max_sge, producer, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		producer++;
	}
	pib_ring_publish(ring, producer);
	return err;
}

int pib_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr)
{
	struct pib_qp *qp = to_pqp(ibqp);
	int err, bell = 0;

	/* an immediate error (IBA 10.3.1) */
	if (!qp->rq.hdr || ibqp->state == IBV_QPS_RESET) {
		*bad_wr = wr;
		return EINVAL;
	}

	pib_lock(&qp->rq_lock);
	err = post_recvs(&qp->rq, qp->max_recv_sge, wr, bad_wr);
	pib_unlock(&qp->rq_lock);

	if (pib_ring_armed(&qp->rq))
		bell = pib_doorbell_recv(ibqp);
	if (bell && !err) {
		*bad_wr = wr;
		err = bell;
	}
	return err;
}

int pib_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr)
{
	struct pib_srq *srq = to_psrq(ibsrq);
	int err;

	pib_lock(&srq->lock);
	if (pib_ring_gone(&srq->ring)) {
		*bad_wr = wr;
		err = EIO;
	} else {
		err = post_recvs(&srq->ring, srq->max_sge, wr, bad_wr);
	}
	pib_unlock(&srq->lock);
	return err;
}
