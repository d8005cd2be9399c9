/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues. */
#ifndef PIB_HCA_CQ_H
#define PIB_HCA_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <rdma/ib_verbs.h>
#include "core/objects.h"
#include "core/ring.h"

/**
 * struct pib_cq_link - a link to a CQ of somebody whose completions come there
 * @entry: in pib_cq.links, or pib_cq.notified
 * @who: object whose completions come there
 */
struct pib_cq_link {
	struct list_head entry;
	void *who;
};

/**
 * struct pib_cq - a completion queue
 * @ib: ib_core's
 * @cqn: object number
 * @lock: guards all below; taken with interrupts off, since kernel consumers poll under their own
 *	locks
 * @ring: entries of struct pib_cqe, mapped by user space if @ring.user
 * @limit: most entries that it holds, @ring.entries or fewer
 * @notify: kernel CQs: enum pib_cq_arm
 * @overflow: an entry was lost: CQ_ERR was raised, nothing more is added
 * @err_work: reports @overflow in process context
 * @on_overflow: called by @err_work, for those whose completions come here; NULL: there are none.
 *	Written without the lock, and never cleared
 *
 * @links_lock: guards @links and @notified; process context
 * @links: links of those whose completions come here: struct pib_cq_link
 * @notified: those of them that @on_overflow has notified
 *
 * @mod_count: an event that is due waits for this many entries ...
 * @mod_period: ... or for so many us; 0: it does not wait
 * @mod_seen: entries since an event has been due
 * @mod_solicited: one of these entries was solicited
 * @mod_timer: ends @mod_period
 *
 * @owner: see pib_quota_take(); never changes
 * @resize_mutex: serialises resize_cq
 *
 * @stamped: entries have the time at which they were made; never changes
 * @cpu: CPU of the completion vector, on which upcalls are made; never changes
 * @due: upcalls that @cpu was asked for and has not finished
 * @upcall: asks @cpu
 * @upcall_work: makes the upcalls that are @due when they are too many for one interrupt
 *
 * @obj: in pib_hca.objects
 */
struct pib_cq {
	struct ib_cq ib;
	u32 cqn;
	spinlock_t lock;
	struct pib_ring ring;
	u32 limit;
	u32 notify;
	bool overflow;
	struct work_struct err_work;
	void (*on_overflow)(struct pib_cq *cq);

	spinlock_t links_lock;
	struct list_head links;
	struct list_head notified;

	u16 mod_count;
	u16 mod_period;
	u16 mod_seen;
	bool mod_solicited;
	struct hrtimer mod_timer;

	struct pib_user *owner;
	struct mutex resize_mutex;

	bool stamped;
	int cpu;
	atomic_t due;
	call_single_data_t upcall;
	struct work_struct upcall_work;

	struct pib_object obj;
};

/* Most entries of a CQ. */
#define PIB_CQ_MAX_CQE		(1 << 20)
/* Most entries, and most us, that modify_cq accepts. */
#define PIB_CQ_MODERATION_MAX	U16_MAX

static inline struct pib_cq *to_cq(struct ib_cq *ib)
{
	return container_of(ib, struct pib_cq, ib);
}

/**
 * pib_cq_push() - add a completion
 * @cq: completion queue
 * @cqe: without timestamp; @cqe->user_qp is the address of the struct ib_qp, which
 *	poll_cq of kernel consumers hands out as wc->qp (processes do not get to see it)
 * @solicited: a solicited event or an error
 *
 * Raises the completion event if the CQ is armed for it. The upcall is made after the lock is
 * dropped, on the CPU of the CQ's completion vector: at once if that is this CPU, otherwise in
 * interrupt context there, or from a work item when many are due. On overflow the CQ goes bad:
 * IB_EVENT_CQ_ERR and IB_EVENT_QP_FATAL for its QPs, from err_work.
 *
 * Context: softirqs off; a QP's lock may be held.
 */
void pib_cq_push(struct pib_cq *cq, const struct pib_cqe *cqe, bool solicited);
/**
 * pib_cq_overrun() - have a CQ fail on purpose, as an overflow does
 * @cq: completion queue, which the caller keeps by a reference to its ib.res
 *
 * Context: process.
 * Return: 0; -EALREADY: that has happened before.
 */
int pib_cq_overrun(struct pib_cq *cq);
/**
 * pib_cq_clean() - drop the entries of a QP that is reset or destroyed
 * @cq: completion queue; nothing is done if it is a process', which cleans its own
 * @qpn: number of the QP
 *
 * Context: any.
 */
void pib_cq_clean(struct pib_cq *cq, u32 qpn);

/**
 * pib_cq_vectors() - count the completion vectors
 *
 * Context: process.
 * Return: their number: one for each CPU that is not isolated, at least 1.
 */
int pib_cq_vectors(void);

/*
 * ib_device_ops.
 *
 * Context: process; of pib_poll_cq() and pib_req_notify_cq() any.
 * Return: 0 or -errno; of pib_poll_cq() the number of completions, of pib_req_notify_cq() also 1:
 *	completions may have been missed.
 */

/**
 * pib_cq_create() - create a CQ
 * @ibcq: the CQ
 * @attr: size, completion vector, flags
 * @udata: of the process; NULL for a CQ of the kernel's own
 *
 * Context: process; may sleep.
 * Return: 0 or -errno.
 */
int pib_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, struct ib_udata *udata);
/**
 * pib_pre_destroy_cq() - end the calls of the consumer before ib_core ends its own polling
 * @ibcq: CQ of a consumer in the kernel
 *
 * Context: process; sleeps.
 * Return: 0.
 */
int pib_pre_destroy_cq(struct ib_cq *ibcq);
int pib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int pib_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int pib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int pib_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int pib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif
