/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The provider's objects.
 */
#ifndef PIB_H
#define PIB_H

#include <pthread.h>
#include <stdatomic.h>

#include <ccan/container_of.h>
#include <ccan/list.h>
#include <infiniband/driver.h>

#include "ring.h"

struct pib_device {
	struct verbs_device vdev;
};

/**
 * struct pib_context - an open device
 * @vctx: the part that the application sees
 * @features: enum pib_uctx_features that the kernel has; never changes
 * @dying_lock: guards @dying. Not held over commands, since destroying a queue
 *	pair waits for threads that have an event of it
 * @dying: queue pairs that are being destroyed
 */
struct pib_context {
	struct verbs_context vctx;
	uint64_t features;
	pthread_mutex_t dying_lock;
	struct list_head dying;
};

/**
 * struct pib_lock - a queue's lock
 * @spin: the lock
 * @needed: false if the application has promised to use the queue from one
 *	thread at a time (thread domain, single-threaded CQ); never changes
 */
struct pib_lock {
	pthread_spinlock_t spin;
	bool needed;
};

static inline int pib_lock_init(struct pib_lock *lock, bool needed)
{
	lock->needed = needed;
	return pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
}

static inline void pib_lock(struct pib_lock *lock)
{
	if (lock->needed)
		pthread_spin_lock(&lock->spin);
}

static inline void pib_unlock(struct pib_lock *lock)
{
	if (lock->needed)
		pthread_spin_unlock(&lock->spin);
}

/**
 * struct pib_td - thread domain
 * @ibv_td: the part that the application sees
 * @users: number of parent domains made with it
 */
struct pib_td {
	struct ibv_td ibv_td;
	atomic_uint users;
};

/**
 * struct pib_pd - protection domain or parent domain
 * @ibv_pd: the part that the application sees
 * @users: number of parent domains on top of a protection domain, or of queues
 *	made with a parent domain
 * @base: protection domain below a parent domain; NULL otherwise
 * @td: thread domain of a parent domain, or NULL
 * @alloc: the application's allocator of a parent domain, or NULL. Kept, never
 *	called: every buffer of a queue is the kernel's.
 * @free: counterpart of @alloc
 * @pd_context: argument of both
 */
struct pib_pd {
	struct ibv_pd ibv_pd;
	atomic_uint users;
	struct pib_pd *base;
	struct pib_td *td;
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size,
		       size_t alignment, uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr,
		     uint64_t resource_type);
	void *pd_context;
};

/**
 * struct pib_ah - address handle
 * @ibv_ah: the part that the application sees
 * @ahn: number by which work requests name it
 * @pd_handle: its PD's; @ibv_ah.pd may be a parent domain that is gone
 */
struct pib_ah {
	struct ibv_ah ibv_ah;
	uint32_t ahn;
	uint32_t pd_handle;
};

/**
 * struct pib_cq - completion queue
 * @vcq: the part that the application sees
 * @lock: guards everything below and the ring's process side
 * @ring: the entries
 * @domain: parent domain it was made with, or NULL; never changes
 * @cqe: extended polling: the current entry
 * @wall_offset: extended polling: CLOCK_REALTIME less the clock of the
 *	timestamps, in ns
 * @wall_known: @wall_offset is valid for this polling sequence
 */
struct pib_cq {
	struct verbs_cq vcq;
	struct pib_lock lock;
	struct pib_ring ring;
	struct pib_pd *domain;
	const struct pib_cqe *cqe;
	int64_t wall_offset;
	bool wall_known;
};

/**
 * struct pib_srq - shared receive queue
 * @vsrq: the part that the application sees
 * @lock: guards @ring
 * @ring: the work requests
 * @max_sge: number of SGEs granted; never changes
 * @domain: parent domain it was made with, or NULL; never changes
 */
struct pib_srq {
	struct verbs_srq vsrq;
	struct pib_lock lock;
	struct pib_ring ring;
	uint32_t max_sge;
	struct pib_pd *domain;
};

/**
 * struct pib_qp - queue pair
 * @vqp: the part that the application sees
 * @dying: entry in the list of that name of the context
 * @cleaned: the CQs of a QP in that list have been cleaned; under dying_lock
 * @domain: parent domain it was made with, or NULL; never changes
 * @opcodes: a bit for each enum ibv_wr_opcode that this type of QP can post;
 *	never changes
 * @ah_pd_at_post: a datagram by an address handle of another PD is refused
 *	when it is posted; never changes
 * @pd_handle: its PD's, of one of datagrams; never changes
 * @max_send_sge: granted; never changes
 * @max_recv_sge: granted; never changes
 * @max_inline: granted; never changes
 * @sq_lock: guards @sq and the fields of the ibv_wr_* calls
 * @sq: send queue
 * @wr_next: ibv_wr_*: index of the slot after the one being built
 * @wr_err: ibv_wr_*: first error since ibv_wr_start, an errno value
 * @wqe: ibv_wr_*: the slot being built
 * @rq_lock: guards @rq
 * @rq: receive queue
 */
struct pib_qp {
	struct verbs_qp vqp;
	struct list_node dying;
	bool cleaned;
	struct pib_pd *domain;
	uint32_t opcodes;
	bool ah_pd_at_post;
	uint32_t pd_handle;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline;

	struct pib_lock sq_lock;
	struct pib_ring sq;
	uint32_t wr_next;
	int wr_err;
	struct pib_send_wqe *wqe;

	struct pib_lock rq_lock;
	struct pib_ring rq;
};

static inline struct pib_context *to_pctx(struct ibv_context *context)
{
	return container_of(context, struct pib_context, vctx.context);
}

static inline struct pib_td *to_ptd(struct ibv_td *td)
{
	return container_of(td, struct pib_td, ibv_td);
}

static inline struct pib_pd *to_ppd(struct ibv_pd *pd)
{
	return container_of(pd, struct pib_pd, ibv_pd);
}

static inline struct pib_ah *to_pah(struct ibv_ah *ah)
{
	return container_of(ah, struct pib_ah, ibv_ah);
}

static inline struct pib_cq *to_pcq(struct ibv_cq *cq)
{
	return container_of(cq, struct pib_cq, vcq.cq);
}

static inline struct pib_cq *to_pcq_ex(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct pib_cq, vcq.cq_ex);
}

static inline struct pib_srq *to_psrq(struct ibv_srq *srq)
{
	return container_of(srq, struct pib_srq, vsrq.srq);
}

static inline struct pib_qp *to_pqp(struct ibv_qp *qp)
{
	return container_of(qp, struct pib_qp, vqp.qp);
}

static inline struct pib_qp *to_pqp_ex(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct pib_qp, vqp.qp_ex);
}

#endif
