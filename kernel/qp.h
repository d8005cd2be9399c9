/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs. A QP is an actor: bursts arrive in its inbox, work requests in
 * its send ring, and one CPU at a time runs it (engine.c).
 */
#ifndef PIB_QP_H
#define PIB_QP_H

#include <linux/hrtimer.h>
#include <rdma/ib_verbs.h>
#include "burst.h"
#include "proto/rc.h"
#include "ring.h"

struct pib_cq;
struct pib_srq;
struct pib_hca;

/* enum of bits in pib_qp.sched */
enum pib_qp_sched {
	PIB_QP_SCHED = 0,	/* on a run list, or running: one CPU owns it */
	PIB_QP_MISSED = 1,	/* kicked while owned: run once more */
	PIB_QP_TIMER = 2,	/* the timer fired */
	PIB_QP_DEAD = 3,	/* being destroyed: not to be run again */
};

/**
 * struct pib_ksq_slot - a send work request as the kernel keeps it
 * @w: what the requester sees; must stay first
 * @refs: bursts alive that refer to its memory
 * @num_sge: entries in @sge
 * @avn: datagrams: AH number
 * @inline_data: payload in the ring slot @ring_index (IB_SEND_INLINE), else NULL
 * @kwr: REG_MR, LOCAL_INV, BIND_MW: operands
 * @sge: private copy
 */
struct pib_ksq_slot {
	struct pib_swqe w;
	atomic_t refs;
	u16 num_sge;
	bool is_inline;
	u32 ring_index;
	u32 avn;
	union {
		struct {
			struct ib_mr *mr;
			u32 key;
			u32 access;
		} reg;
		struct {
			u64 addr;
			u64 length;
			u32 mr_lkey;
			u32 mw_rkey;
			u32 new_rkey;
			u32 access;
		} bind;
	};
	struct pib_sge sge[];
};

/**
 * struct pib_rq_cur - the receive work request being filled
 */
struct pib_rq_cur {
	bool valid;
	u64 wr_id;
	u32 num_sge;
	u32 len;
	struct pib_sge sge[32];
};

/**
 * struct pib_qp - a queue pair
 * (the owner of qp.c orders and documents the fields under the lock that guards them)
 */
struct pib_qp {
	struct ib_qp ib;
	struct pib_hca *hca;
	u32 qpn;
	refcount_t ref;
	struct completion gone;
	struct rcu_head rcu;

	unsigned long sched;		/* enum pib_qp_sched */
	struct list_head run_entry;	/* on a CPU's run list */

	spinlock_t inbox_lock;		/* guards the inbox; softirqs off */
	struct list_head inbox;
	u32 inbox_len;

	spinlock_t lock;		/* softirqs off: all that follows */
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct pib_req req;
	struct pib_resp resp;
	struct pib_rd_res *rd_res;
	struct pib_kport *port;
	struct pib_av_data *av;		/* connected QPs: primary path, see ah.h */
	struct pib_burst *stalled;	/* refused with -EBUSY, to be sent first */
	struct pib_rq_cur cur;
	struct pib_ring sq;
	struct pib_ring rq;
	void *slots;			/* struct pib_ksq_slot ring of the requester */
	struct pib_srq *srq;
	struct pib_cq *scq;
	struct pib_cq *rcq;
	bool sq_sig_all;
	bool is_user;
	u32 max_inline;
	u32 max_send_sge;
	u32 max_recv_sge;
	struct hrtimer timer;
	spinlock_t post_lock;		/* kernel QPs: the producer side of sq and rq; interrupts off */
	spinlock_t rq_lock;		/* taking from rq */
};

static inline struct pib_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct pib_qp, ib);
}

/* Under rcu_read_lock(); takes a reference unless the QP is being destroyed. */
struct pib_qp *pib_qp_find(struct pib_hca *hca, u32 qpn);
void pib_qp_put(struct pib_qp *qp);

/* Something to do: have the QP run, soon, on this CPU. Any context. */
void pib_qp_kick(struct pib_qp *qp);
/* Run what is on this CPU's run list, within the budget; called with softirqs off by post_send and by the receive path when they are done. */
void pib_engine_run(void);
int pib_engine_init(void);
void pib_engine_exit(void);

/* A burst that referred to slot @slot's memory was freed. Any context, softirqs off. */
void pib_qp_burst_done(struct pib_qp *qp, u32 slot);

/* Events of misuse and failure: qp -> ERR, async event if @event >= 0. qp->lock held. */
void pib_qp_error(struct pib_qp *qp, int event);
/* From a CQ that has overflowed: process context, no locks. */
void pib_qp_fatal(struct pib_qp *qp);

/**
 * pib_hca_rx() - a burst has arrived at an HCA's port (from a cable or a UDP link)
 *
 * Checks DLID, port state, finds the QP (or the multicast group's QPs), checks
 * P_Key and transport service, and puts the burst into the inbox; the QP is
 * kicked, not run. Softirqs off, under rcu_read_lock().
 * Returns as pib_port_xmit().
 */
int pib_hca_rx(struct pib_kport *port, struct pib_burst *b);

#endif
