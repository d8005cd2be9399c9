/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs. A QP is an actor: bursts arrive in its inbox, work requests in
 * its send ring, and one CPU at a time runs it (core/task.c, transport/qp_task.c).
 */
#ifndef PIB_TRANSPORT_QP_H
#define PIB_TRANSPORT_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "hca/ah.h"
#include "hca/recv_wqe.h"
#include "packet/burst.h"
#include "transport/hold.h"
#include "memory/page_fault.h"
#include "proto/cc.h"
#include "proto/rc.h"
#include "core/ring.h"
#include "core/task.h"
#include "tracing/values.h"
#include "transport/sqpoll.h"

struct pib_cq;
struct pib_hca;
struct pib_pd;
struct pib_srq;
struct pib_stats;

/* Limits; pib_query_device() advertises them. */
#define PIB_QP_MAX_WR		16384
#define PIB_QP_MAX_INLINE	4096
#define PIB_QP_MAX_RD_ATOMIC	16
#define PIB_QP_RD_RES		32	/* responder resources, a power of two above the former */

/*
 * Bursts that an inbox holds: from senders of the same kernel, who are then pushed
 * back, and from afar, where a window of single packets must fit (rc_cwnd.c).
 */
#define PIB_QP_INBOX_MAX	256
#define PIB_QP_INBOX_UDP	8192
/*
 * Bytes of bursts from afar: twice what an RC requester has on its way at most (rc_cwnd.c). What
 * exceeds the second figure comes out of what the QPs of an HCA share.
 */
#define PIB_QP_INBOX_BYTES	(8 << 20)
#define PIB_QP_INBOX_FREE	(1 << 20)
#define PIB_HCA_INBOX_BYTES	(128 << 20)

/* How long a datagram may wait in this machine until it is sent, or received. */
#define PIB_QP_HOME_MSEC	100

/* The QP's own bits of pib_task.state */
enum pib_qp_sched {
	PIB_QP_TIMER = PIB_TASK_OWN,	/* the timer fired */
	PIB_QP_RUNG,			/* the send ring is to be looked at */
	PIB_QP_ASTRAY,			/* the peer has migrated to a path that is none of its */
};

/**
 * struct pib_ksq_slot - a send work request as the kernel keeps it
 * @w: what the requester sees; must stay first
 * @refs: bursts alive that refer to the work request's memory
 * @num_sge: entries in @sge
 * @is_inline: the payload stands in the ring slot @ring_index
 * @wc_opcode: enum ib_wc_opcode for the completion
 * @bad: enum pib_wc in which validation has ended; not 0: nothing is sent
 * @ring_index: index in the posting ring
 * @avn: datagrams: AH number
 * @pkey_index: GSI: P_Key to send with
 * @reg: REG_MR
 * @bind: BIND_MW
 * @sge: private copy
 */
struct pib_ksq_slot {
	struct pib_swqe w;
	atomic_t refs;
	u16 num_sge;
	bool is_inline;
	u8 bad;
	u32 wc_opcode;
	u32 ring_index;
	u32 avn;
	u16 pkey_index;
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

/* The slot of a work request that the requester has named. */
static inline struct pib_ksq_slot *pib_ksq_slot(struct pib_swqe *w)
{
	return container_of(w, struct pib_ksq_slot, w);
}

/**
 * struct pib_put_off - something to send that waits for its payload, or a local operation for its
 * turn
 * @pages: what it waits for
 * @set: there is something; nothing else is sent in its direction
 * @tx: what is put off
 */
struct pib_put_off {
	struct pib_pagein *pages;
	bool set;
	struct pib_tx tx;
};

/**
 * struct pib_qp_stub - what the table of QPs points to
 * @ref: references to the QP: 1 for being published, the rest are takers of pib_qp_stub_get()
 * @qpn: number of the QP
 * @qp: the queue pair; valid for whoever has taken a reference
 * @rcu: the stub outlives the QP, whose memory is ib_core's, by a grace period
 */
struct pib_qp_stub {
	refcount_t ref;
	u32 qpn;
	struct pib_qp *qp;
	struct rcu_head rcu;
};

/**
 * struct pib_inbox - bursts that have arrived, put there by their senders and taken by the turn
 * @lock: guards what follows; softirqs off
 * @list: the bursts
 * @len: how many bursts; also read without the lock
 * @bytes: what the bursts are charged with
 * @closed: the inbox accepts no more
 */
struct pib_inbox {
	spinlock_t lock;
	struct list_head list;
	u32 len;
	u32 bytes;
	bool closed;
};

/**
 * struct pib_qp_rx - what the turn takes in, and waits for
 * @list: bursts taken from the inbox and not yet looked at
 * @bytes: what these bursts are charged with; also read without the lock
 * @datagrams: of the first burst of @list: how many of its datagrams were taken in
 * @judged: of that burst: the request that waits was looked at by rules of injection
 * @pages: what the first burst of @list waits for
 * @hold: what happens meanwhile to what else comes
 * @place: @place.wqe is not NULL: that burst is a response, already told to the requester, whose
 *	payload is still to be placed
 */
struct pib_qp_rx {
	struct list_head list;
	u32 bytes;
	u32 datagrams;
	bool judged;
	struct pib_pagein *pages;
	struct pib_hold hold;
	struct pib_place place;
};

/**
 * struct pib_stall - a burst that was refused with -EBUSY, or is kept, to be sent before all others
 * @burst: the burst, or NULL
 * @until: ns: the burst is kept until then, on purpose; 0: it is not
 * @tries: how often in a row the burst was refused since the timer has fired
 * @nsec: for how long the receiver was left alone the last time; 0: not yet
 */
struct pib_stall {
	struct pib_burst *burst;
	u64 until;
	u32 tries;
	u32 nsec;
};

/**
 * struct pib_qp_sq - the send queue
 * @ring: as it was posted; @ring.index is the next to fetch
 * @busy: posters have been told that they need not ring; of who runs the QP or has claimed it to
 *	hand it on (core/task.c), without the lock
 * @done: index of the oldest work request not retired, published as the ring's consumer index
 * @slots: ring of struct pib_ksq_slot, as it was fetched; this and what follows never changes
 * @slot_size: bytes to a slot
 * @num_slots: a power of two
 */
struct pib_qp_sq {
	struct pib_ring ring;
	bool busy;
	u32 done;
	void *slots;
	u32 slot_size;
	u32 num_slots;
};

/**
 * struct pib_qp_rq - the receive queue
 * @ring: as it was posted; @ring.hdr is NULL if the QP has none of its own
 * @srqn: SRQ that @cur came from, for XRC
 * @cur: receive work request being filled
 * @empty_since: ns: when the first of the datagrams that wait, or have waited, found nothing
 *	posted; 0: none waits, or none may wait; also read without the lock
 */
struct pib_qp_rq {
	struct pib_ring ring;
	u32 srqn;
	struct pib_rq_cur cur;
	u64 empty_since;
};

/**
 * struct pib_qp - a queue pair
 *
 * The members stand in the order of those to whom they belong.
 *
 * @ib: ib_core's
 *
 * Set at creation, constant until destruction:
 * @hca: owner
 * @stub: what the table of QPs points to
 * @pd: protection domain; NULL for XRC target QPs
 * @srq: shared receive queue, or NULL
 * @scq: send completions; NULL for XRC target QPs
 * @rcq: receive completions; NULL for XRC QPs
 * @qpn: number; 0 and 1 for the special QPs
 * @type: enum ib_qp_type
 * @tp: enum pib_tp
 * @is_user: rings are mapped by a process
 * @sq_sig_all: every send work request makes a completion
 * @max_inline: bytes of inline data that a work request may carry
 * @max_send_sge: most entries in a send work request
 * @max_recv_sge: most entries in a receive work request
 * @cap: as granted
 * @create_flags: of the init attributes
 * @owner: see pib_quota_take()
 * @pid: process that has made it, for tracepoints; 0: the kernel
 * @obj: in pib_hca.objects
 * @burst_owner: of bursts that refer to the QP's memory; each holds a reference on the QP and a
 *	slot
 *
 * Of the verbs that change and destroy it (process context):
 * @gone: the last reference was dropped
 * @modify_mutex: serialises modify_qp, which may have to wait in its middle
 * @mcast: its attachments to multicast groups; under the lock of mcast.c
 *
 * Of all who want it to run, without a lock; and of the one CPU that runs it (core/task.c):
 * @task: has it run; its @state also has the bits of enum pib_qp_sched
 * @sqpoll: the poster's pace, and how long its ring is polled without news
 *
 * Of senders, who add, and of the turn, which takes; under a lock of its own (softirqs off):
 * @inbox: what has arrived
 *
 * All that follows is under @lock (softirqs off), which a turn holds from its beginning to its end.
 * First what the turn and modify_qp have in common:
 * @lock: see above
 * @state: enum ib_qp_state; also read without the lock
 * @cause: enum pib_cause: why the state is what it is; the same
 * @req: requester
 * @resp: responder
 * @rd_res: its resources for READs and atomics; constant
 * @num_rd_res: a power of two; constant
 *
 * Set by rdma_counter_bind_qpn(), and what the turn has told it of:
 * @stats: where it counts: the HCA's counters, or those that it is bound to
 * @req_seen: requester's counters that @stats has been told of
 * @resp_seen: the same for the responder
 *
 * Set by modify_qp and by path migration, also read without the lock where packets arrive:
 * @port: port that it uses
 * @av: connected QPs: primary path
 * @alt_av: connected QPs: alternate path; port 0: none was loaded
 * @alt_spent: @alt_av is the path that was left by a migration: none was loaded since
 * @alt_open: packets may come by @alt_av (17.2.8): the peer may migrate to it, or has been left
 *	there
 * @astray: since the QP was ARMED, it was told of a peer that had migrated to another path
 *
 * The turn's alone, but for RESET and destruction, which forget it:
 * @rx_pd: XRC target QPs: PD of the SRQ that the request being executed names
 * @rx: what has come
 * @stall: what the receiver had no room for
 * @behind: bursts to be sent after it; empty where there is none
 * @req_off: of the requester; a reference of the slot is held
 * @resp_off: of the responder
 * @via_udp: what it has sent last has left by a UDP link
 * @waits: the requester's deadlines are suspended: what it waits for may be waiting here
 * @draining: an invalidation waits for others to let go of the memory
 * @comm_est: COMM_EST was reported
 * @becn_due: a congested packet has come: the next answer says so
 * @events: bits of enum ib_event_type to be reported once @lock is dropped; modify_qp adds to them,
 *	too
 * @sq: send work requests
 * @cc: how slow congestion has made it
 * @asks_first: the last burst that had to be slow was an answer: a request is next, if there is one
 * @timer_at: when @timer will fire, ns; 0: not armed
 * @timer: for the requester's deadlines and for stalled bursts
 * @rq: receive work requests
 *
 * Set by modify_qp; by the turn: the states and the migration state:
 * @attr: what query_qp answers
 *
 * Of kernel users that post, interrupts off:
 * @post_lock: the producer side of both rings
 */
struct pib_qp {
	struct ib_qp ib;

	/* Constant. */
	struct pib_hca *hca;
	struct pib_qp_stub *stub;
	struct pib_pd *pd;
	struct pib_srq *srq;
	struct pib_cq *scq;
	struct pib_cq *rcq;
	u32 qpn;
	u8 type;
	u8 tp;
	bool is_user;
	bool sq_sig_all;
	u32 max_inline;
	u32 max_send_sge;
	u32 max_recv_sge;
	struct ib_qp_cap cap;
	u32 create_flags;
	struct pib_user *owner;
	u32 pid;
	struct pib_object obj;
	struct pib_burst_owner burst_owner;

	/* Verbs. */
	struct completion gone;
	struct mutex modify_mutex;
	struct hlist_head mcast;

	/* Whoever has something for it to do. */
	struct pib_task task ____cacheline_aligned_in_smp;
	struct pib_sqpoll sqpoll;

	/* Senders and the turn, inbox.lock. */
	struct pib_inbox inbox;

	/* The turn and verbs, lock. */
	spinlock_t lock ____cacheline_aligned_in_smp;
	enum ib_qp_state state;
	u8 cause;
	struct pib_req req;
	struct pib_resp resp;
	struct pib_rd_res *rd_res;
	u32 num_rd_res;
	struct pib_stats __percpu *stats;
	struct pib_req_stats req_seen;
	struct pib_resp_stats resp_seen;

	/* Verbs and migration, lock; arrival reads it without. */
	struct pib_kport *port;
	struct pib_av_data av;
	struct pib_av_data alt_av;
	bool alt_spent;
	bool alt_open;
	bool astray;

	/* The turn, lock. */
	struct pib_pd *rx_pd;
	struct pib_qp_rx rx;
	struct pib_stall stall;
	struct list_head behind;
	struct pib_put_off req_off;
	struct pib_put_off resp_off;
	bool via_udp;
	bool waits;
	bool draining;
	bool comm_est;
	bool becn_due;
	u32 events;
	struct pib_qp_sq sq;
	struct pib_cc_flow cc;
	bool asks_first;
	u64 timer_at;
	struct hrtimer timer;
	struct pib_qp_rq rq;

	/* Verbs, lock. */
	struct ib_qp_attr attr;

	/* Posting by kernel users. */
	spinlock_t post_lock;
};

static inline struct pib_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct pib_qp, ib);
}

/* Are the QP's requests acknowledged? */
static inline bool pib_qp_is_reliable(const struct pib_qp *qp)
{
	return qp->tp == PIB_TP_RC || qp->tp == PIB_TP_XRC;
}

static inline bool pib_qp_is_datagram(const struct pib_qp *qp)
{
	return qp->tp == PIB_TP_UD;
}

/* Does the QP carry IP for a consumer in the kernel, with what an HCA does to that? */
static inline bool pib_qp_is_ipoib(const struct pib_qp *qp)
{
	return qp->create_flags & IB_QP_CREATE_IPOIB_UD_LSO;
}

/*
 * What the keys of the QP's requests, and of a peer's, are checked against. An XRC target QP must
 * have entered the domain of the request (@rx_pd). qp->lock held.
 */
static inline struct pib_mem_ctx pib_qp_mem_ctx(const struct pib_qp *qp)
{
	return (struct pib_mem_ctx) { .pd = qp->pd ? qp->pd : qp->rx_pd, .qpn = qp->qpn };
}

/* ib_device_ops */
int pib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int pib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
/* transport/modify.c */
int pib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int pib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
/* post.c */
int pib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int pib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);

/* Where the table of QPs has the special QPs of a port: beyond every QPN. */
#define PIB_QP_SPECIAL(port, qpn) ((unsigned long)(PIB_QPN_MASK + 1) | (port) << 1 | (qpn))

/*
 * Take a reference to the QP of a stub that stands in the table of QPs. Under rcu_read_lock().
 *
 * Return: the QP; NULL: @stub is NULL, or the QP is being destroyed.
 */
static inline struct pib_qp *pib_qp_stub_get(struct pib_qp_stub *stub)
{
	if (!stub || !refcount_inc_not_zero(&stub->ref))
		return NULL;
	return stub->qp;
}

/* Take a reference. The caller has one, or knows that destroy_qp cannot have begun. Any context. */
static inline void pib_qp_get(struct pib_qp *qp)
{
	pib_task_get(&qp->task);
}

/* Drop a reference. Any context. */
static inline void pib_qp_put(struct pib_qp *qp)
{
	pib_task_put(&qp->task);
}

/* Misuse or failure: the QP goes to ERR, with an async event if @event >= 0. qp->lock held. */
void pib_qp_error(struct pib_qp *qp, enum pib_cause cause, int event);

#endif
