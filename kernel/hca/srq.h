/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues (10.2.9). */
#ifndef PIB_HCA_SRQ_H
#define PIB_HCA_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "core/objects.h"
#include "core/ring.h"
#include "hca/recv_wqe.h"

struct pib_hca;

/**
 * struct pib_srq - a shared receive queue
 * @ib: ib_core's
 * @srqn: object number, by which XRC senders name the SRQ
 * @is_user: the rings are mapped by a process; never changes, unlike @ring
 * @max_wr: size as asked for; never more than @ring.entries. Written under @lock
 * @max_sge: scatter elements granted; never changes
 * @resize_mutex: serialises changes of @ring for another one
 * @lock: taken with interrupts off; guards all below
 * @ring: slots of struct pib_recv_wqe
 * @moving: posted work requests are being copied to another ring, and keep their order meanwhile
 * @limit: SRQ_LIMIT_REACHED is raised when fewer work requests are left; 0: not armed, as when the
 *	SRQ is created
 * @failed: SRQ_ERR was raised
 * @limit_work: raises SRQ_LIMIT_REACHED in process context
 * @obj: in pib_hca.objects
 */
struct pib_srq {
	struct ib_srq ib;
	u32 srqn;
	bool is_user;
	u32 max_wr;
	u32 max_sge;
	struct mutex resize_mutex;
	spinlock_t lock;
	struct pib_ring ring;
	bool moving;
	u32 limit;
	bool failed;
	struct work_struct limit_work;
	struct pib_object obj;
};

static inline struct pib_srq *to_srq(struct ib_srq *ib)
{
	return container_of(ib, struct pib_srq, ib);
}

/**
 * pib_srq_take() - take the next receive work request
 * @srq: shared receive queue
 * @cur: result, a checked copy; @cur->valid is set
 *
 * Context: any.
 * Return: 0; -EAGAIN: none is posted; -EINVAL: one is taken and is malformed. @cur->wr_id is then
 *	set, and the work request completes LOC_QP_OP_ERR.
 */
int pib_srq_take(struct pib_srq *srq, struct pib_rq_cur *cur);

/**
 * pib_srq_find() - find an XRC SRQ
 * @hca: HCA
 * @srqn: its number
 *
 * Context: under rcu_read_lock(), which keeps the SRQ.
 * Return: the SRQ; NULL: there is no such SRQ.
 */
struct pib_srq *pib_srq_find(struct pib_hca *hca, u32 srqn);

/**
 * pib_srq_raise() - raise an event of an SRQ on purpose
 * @srq: shared receive queue, which the caller keeps by a reference to its ib.res
 * @event: IB_EVENT_SRQ_ERR, or IB_EVENT_SRQ_LIMIT_REACHED, which disarms the SRQ
 *
 * Context: process.
 */
void pib_srq_raise(struct pib_srq *srq, enum ib_event_type event);

/*
 * ib_device_ops.
 *
 * Context: process; of pib_post_srq_recv() any.
 * Return: 0 or -errno.
 */
int pib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int pib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata);
int pib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int pib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int pib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);

#endif
