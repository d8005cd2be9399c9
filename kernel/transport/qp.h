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
#include <linux/preempt.h>
#include <linux/seqlock.h>
#include <rdma/ib_verbs.h>
#include "hca/ah.h"
#include "hca/cq.h"
#include "hca/recv_wqe.h"
#include "packet/burst.h"
#include "transport/hold.h"
#include "memory/page_fault.h"
#include "proto/cc.h"
#include "proto/rc.h"
#include "core/idcache.h"
#include "core/parked.h"
#include "core/ring.h"
#include "core/task.h"
#include "transport/sqpoll.h"

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
 * Number of bursts at which an inbox is full. PIB_QP_INBOX_MAX is for senders of the same kernel,
 * which are then pushed back. PIB_QP_INBOX_UDP is for bursts that came over UDP: a window of single
 * packets must fit (rc_cwnd.c).
 */
#define PIB_QP_INBOX_MAX	256
#define PIB_QP_INBOX_UDP	8192
/*
 * Most bytes of bursts that came over UDP. PIB_QP_INBOX_BYTES is twice what an RC requester has on
 * its way at most (rc_cwnd.c). Bursts beyond PIB_QP_INBOX_FREE are charged to PIB_HCA_INBOX_BYTES,
 * which the QPs of an HCA share.
 */
#define PIB_QP_INBOX_BYTES	(8 << 20)
#define PIB_QP_INBOX_FREE	(1 << 20)
#define PIB_HCA_INBOX_BYTES	(128 << 20)

/* Longest time that a datagram waits in this machine until it is sent, or received. */
#define PIB_QP_HOME_MSEC	100

/* The QP's own bits of pib_task.state */
enum pib_qp_sched {
	PIB_QP_TIMER = PIB_TASK_OWN,	/* the timer fired */
	PIB_QP_DOORBELL,		/* posters have rung for the send ring */
	PIB_QP_ASTRAY,			/* the peer has migrated to a path unknown to the QP */
};

/**
 * struct pib_ksq_slot - a send work request as the kernel keeps it
 * @w: the requester's part of the work request; must stay first
 * @refs: bursts alive that refer to the work request's memory
 * @num_sge: entries in @sge
 * @is_inline: the payload stands in the ring slot @ring_index
 * @wc_opcode: enum ib_wc_opcode for the completion
 * @bad: enum pib_wc that validation has ended with; not 0: nothing is sent
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

/**
 * pib_ksq_slot() - get the slot of a work request that the requester has named
 * @w: the work request
 *
 * Context: any.
 * Return: the slot.
 */
static inline struct pib_ksq_slot *pib_ksq_slot(struct pib_swqe *w)
{
	return container_of(w, struct pib_ksq_slot, w);
}

/**
 * struct pib_deferred - a burst that waits for its payload, or a local operation that waits for its
 * turn
 * @pages: pages that @tx waits for
 * @set: @tx is valid; nothing else is sent in its direction
 * @tx: the deferred step
 */
struct pib_deferred {
	struct pib_pagein *pages;
	bool set;
	struct pib_tx_req tx;
};

/**
 * struct pib_qp_stub - an entry of the table of QPs
 * @entry: number of the QP, but of the special ones; must stay first
 * @ref: references to the QP: 1 for being published, the rest are takers of pib_qp_stub_get()
 * @qp: the queue pair; valid for holders of a reference
 * @rcu: the stub outlives the QP, whose memory is ib_core's, by a grace period
 */
struct pib_qp_stub {
	struct pib_idcache_entry entry;
	refcount_t ref;
	struct pib_qp *qp;
	struct rcu_head rcu;
};

/**
 * struct pib_qp_init - who has made the QP, and as what
 *
 * Set by pib_create_qp() (qp.c); never changes.
 *
 * @create_flags: flags of the init attributes
 * @ah_pd_at_post: a datagram by an AH of another PD is refused when it is posted
 * @pid: process that has made the QP, for tracepoints; 0: the kernel
 * @cap: capabilities as granted
 * @owner: see pib_quota_take()
 */
struct pib_qp_init {
	u32 create_flags;
	bool ah_pd_at_post;
	u32 pid;
	struct ib_qp_cap cap;
	struct pib_user *owner;
};

/**
 * struct pib_qp_entries - where others find the QP
 *
 * Creation and destruction enter and remove the QP (qp.c), and multicast attachments come and go
 * (mcast.c): in process context, each under the lock of its table.
 *
 * @stub: entry of the table of QPs; never changes
 * @gone: the last reference was dropped: whoever has found the QP is done with it
 * @obj: in pib_hca.objects
 * @mcast: its attachments to multicast groups; under the lock of mcast.c
 */
struct pib_qp_entries {
	struct pib_qp_stub *stub;
	struct completion gone;
	struct pib_object obj;
	struct hlist_head mcast;
};

/**
 * struct pib_qp_lent - memory of the QP that bursts on their way refer to
 *
 * Used without a lock, in any context: each such burst calls pib_completer_burst_done() when it
 * is freed. The turn lends, and waits for it (requester.c, responder.c, completer.c).
 *
 * @owner: owner of these bursts; each holds a reference on the QP, and a slot or one of @answers.
 *	Its @flushes goes with the state, in SQE after a while; its @waits is of the verbs
 * @answers: pib_qp_lends_pages(): bursts alive that answer READs from memory
 * @awaited: the oldest work request is finished but for bursts that refer to its memory
 */
struct pib_qp_lent {
	struct pib_burst_owner owner;
	atomic_t answers;
	bool awaited;
};

/**
 * struct pib_inbox - bursts that have arrived, put there by their senders and taken by the turn
 * @lock: guards the members below; taken with softirqs off
 * @list: the bursts
 * @len: number of bursts; also read without the lock
 * @bytes: bytes that the bursts are charged with
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
 * struct pib_qp_sq - the send queue
 *
 * Posters fill the ring (post.c). The rest is the turn's, under the QP's lock: send_queue.c,
 * requester.c, completer.c.
 *
 * @ring: the ring that posters fill; @ring.index is the next to fetch
 * @busy: posters have been told that they need not ring. Written without the lock, by the CPU that
 *	runs the QP or has claimed it to hand it on (core/task.c)
 * @done: index of the oldest work request not retired, published as the ring's consumer index
 * @slots: ring of struct pib_ksq_slot, the fetched work requests; never changes, nor does any of
 *	the members below up to @cq
 * @slot_size: bytes to a slot
 * @num_slots: a power of two
 * @max_inline: bytes of inline data that a work request may carry
 * @max_sge: most entries in a work request
 * @sig_all: every work request makes a completion
 * @cq: send completions; NULL for XRC target QPs
 * @late_at: time, ns, until which finished work requests do not complete; 0: none is kept back
 * @deferred: step that the requester has deferred; it holds a reference of its slot
 * @cq_link: in the list of @cq, under its @links_lock
 */
struct pib_qp_sq {
	struct pib_ring ring;
	bool busy;
	u32 done;
	void *slots;
	u32 slot_size;
	u32 num_slots;
	u32 max_inline;
	u32 max_sge;
	bool sig_all;
	struct pib_cq *cq;
	u64 late_at;
	struct pib_deferred deferred;
	struct pib_cq_link cq_link;
};

/**
 * struct pib_qp_answers - answers to the peer's requests
 *
 * The turn's, under the QP's lock: responder.c. struct pib_resp, which decides about the
 * answers, works on @res.
 *
 * @res: the responder's resources for READs and atomics; never changes
 * @num_res: a power of two; never changes
 * @deferred: step that the responder has deferred
 */
struct pib_qp_answers {
	struct pib_rd_res *res;
	u32 num_res;
	struct pib_deferred deferred;
};

/**
 * struct pib_qp_rq - the receive queue
 *
 * Posters fill the ring (post.c). The rest is the turn's, under the QP's lock: recv_queue.c.
 *
 * @ring: the ring that posters fill; @ring.hdr is NULL if the QP has none of its own
 * @srqn: SRQ that @cur came from, for XRC
 * @named: XRC: SRQ that the last message in need of a receive has named; 0: there was none yet;
 *	also read without the lock
 * @cur: receive work request being filled
 * @empty_since: time, ns, at which the first of the datagrams that wait, or have waited, found no
 *	receive; 0: none waits, or none may wait; also read without the lock
 * @max_sge: most entries in a work request; never changes, nor do @srq and @cq
 * @srq: shared receive queue, or NULL
 * @cq: receive completions; NULL for XRC QPs
 * @cq_link: in the list of @cq, under its @links_lock, if the send queue has another CQ
 */
struct pib_qp_rq {
	struct pib_ring ring;
	u32 srqn;
	u32 named;
	struct pib_rq_cur cur;
	u64 empty_since;
	u32 max_sge;
	struct pib_srq *srq;
	struct pib_cq *cq;
	struct pib_cq_link cq_link;
};

/**
 * struct pib_qp_path - the paths to the peer
 *
 * modify_qp sets them (modify.c), and migration has them change places (apm.c): under the QP's
 * lock, between pib_qp_paths_begin() and pib_qp_paths_end(). Where packets arrive they are read
 * without it (input.c).
 *
 * @seq: of @port, @alt_open, @av, @alt_av and the P_Key indices in the QP's attributes: who reads
 *	several of them without the lock knows whether they are of one moment
 * @port: port that the QP uses; the special QPs' never changes
 * @alt_open: packets may come by @alt_av (17.2.8): the peer may migrate to it, or has been left
 *	there
 * @alt_spent: @alt_av is the path that a migration has left, and no other was loaded since
 * @astray: the QP was told, since it was ARMED, of a peer that has migrated to an unknown path
 * @av: connected QPs: primary path
 * @alt_av: connected QPs: alternate path; port 0: none was loaded
 */
struct pib_qp_path {
	struct pib_kport *port;
	seqcount_t seq;
	bool alt_open;
	bool alt_spent;
	bool astray;
	struct pib_av_data av;
	struct pib_av_data alt_av;
};

/**
 * struct pib_qp_rx - bursts that the turn takes in, and pages that it waits for
 *
 * The turn's, under the QP's lock: qp_task.c, hold.c, and those who are given the first burst:
 * datagram.c, completer.c, responder.c. RESET and destruction clear it (error.c).
 *
 * @list: bursts taken from the inbox and not yet looked at
 * @bytes: bytes that these bursts are charged with; also read without the lock
 * @datagrams: datagrams of the first burst of @list that were taken in
 * @rules_asked: rules of injection were asked about the request of that burst, which waits
 * @comm_est: COMM_EST was reported
 * @pages: pages that the first burst of @list waits for
 * @hold: handling of the bursts that come meanwhile
 * @place: place of a response's payload. If @place.wqe is not NULL, the first burst is a response
 *	that the requester has been told of, and its payload was not placed yet
 * @pd: XRC target QPs: PD of the SRQ that the request being executed names
 */
struct pib_qp_rx {
	struct list_head list;
	u32 bytes;
	u32 datagrams;
	bool rules_asked;
	bool comm_est;
	struct pib_pagein *pages;
	struct pib_hold hold;
	struct pib_place place;
	struct pib_pd *pd;
};

/**
 * struct pib_stall - a burst that was refused with -EBUSY, or is kept, to be sent before all others
 * @burst: the burst, or NULL
 * @until: time, ns, until which the burst is kept on purpose; 0: it is not
 * @tries: refusals in a row since the timer has fired
 * @nsec: last pause between tries, ns; 0: there was none
 */
struct pib_stall {
	struct pib_burst *burst;
	u64 until;
	u32 tries;
	u32 nsec;
};

/**
 * struct pib_qp_tx - what the QP sends, requests and answers alike
 *
 * The turn's, under the QP's lock: output.c, with congestion.c and static_rate.h for the pace.
 * qp_task.c plans the next try of @stall, error.c has it dropped.
 *
 * @stall: burst that is sent before all others
 * @behind: bursts that follow @stall.burst; empty where there is none
 * @refused_since: QPs of management: time, ns, since which the port has refused all that there was
 *	to send; 0: it has not
 * @parked: has the QP run when the window for which @stall.burst waits opens
 * @via_udp: the last burst that was sent has left by a UDP link
 * @becn_due: a packet marked for congestion has come: the next answer carries the mark back
 * @asks_first: the last burst that was slowed down was an answer: a request is next,
 *	if there is one
 * @leaves: the QP is about to end: the last ACK and the last NAK do not wait for room
 * @cc: state of congestion control; @cc.next is set by static rates, too
 */
struct pib_qp_tx {
	struct pib_stall stall;
	struct list_head behind;
	u64 refused_since;
	struct pib_parked parked;
	bool via_udp;
	bool becn_due;
	bool asks_first;
	bool leaves;
	struct pib_cc_flow cc;
};

/**
 * struct pib_qp_timer - the timer, and what the turn makes of it
 *
 * The turn's, under the QP's lock: qp_task.c. Requester and responder set @draining. The timer
 * itself takes no lock: it has the QP run (error.c).
 *
 * @at: time, ns, at which @hrtimer will fire; 0: not armed
 * @suspended: the requester's deadlines are suspended: the answer that it waits for may be waiting
 *	here, or what it asks for was not sent
 * @draining: an invalidation waits for others to release the memory
 * @ask_at: time, ns, at which the QP asks for memory that it waits for; 0: it does not wait
 * @hrtimer: timer for the requester's deadlines and for stalled bursts
 */
struct pib_qp_timer {
	u64 at;
	bool suspended;
	bool draining;
	u64 ask_at;
	struct hrtimer hrtimer;
};

/**
 * struct pib_qp_counters - what the QP counts
 *
 * Binding to a counter sets @stats under the QP's lock (qp_counter.c). The turn adds what is
 * new (stats.c).
 *
 * @stats: counters that the QP adds to: the HCA's, or those that it is bound to
 * @req_seen: the requester's counters as last added to @stats
 * @resp_seen: the responder's counters as last added to @stats
 */
struct pib_qp_counters {
	struct pib_stats __percpu *stats;
	struct pib_req_stats req_seen;
	struct pib_resp_stats resp_seen;
};

/**
 * struct pib_qp_refused - packets for a QP that were dropped for their keys
 *
 * Counted without a lock, by everyone who brings packets (input.c); RESET clears the numbers.
 *
 * @pkeys: number of those with a P_Key that does not fit
 * @qkeys: number of those with a wrong Q_Key
 * @pkey: P_Key of the last of @pkeys
 */
struct pib_qp_refused {
	atomic_t pkeys;
	atomic_t qkeys;
	u16 pkey;
};

/**
 * struct pib_qp - a queue pair
 *
 * Its parts are described above, each with who uses it.
 *
 * @ib: ib_core's
 *
 * Never change after creation (qp.c):
 * @hca: owner
 * @pd: protection domain; NULL for XRC target QPs
 * @qpn: number; 0 and 1 for the special QPs
 * @type: enum ib_qp_type
 * @tp: enum pib_tp
 * @is_user: rings are mapped by a process
 * @init: who has made the QP, and as what
 *
 * Of process context:
 * @entries: where others find the QP
 * @modify_mutex: serialises modify_qp, which may wait for bursts
 *
 * Of everyone who has the QP run, and of the one CPU that runs it (core/task.c), without @lock:
 * @task: runs the QP; its @state also has the bits of enum pib_qp_sched
 * @sqpoll: the poster's pace, and the time for which its ring is polled without news
 * @lent: memory that bursts on their way refer to
 * @inbox: bursts that have arrived; under a lock of its own
 *
 * Of the turn, which holds @lock from its beginning to its end, and of the verbs that take it:
 * @lock: guards what follows, but @post_lock; taken with softirqs off
 * @state: enum ib_qp_state; also read without the lock
 * @cause: enum pib_cause: reason of @state; also read without the lock
 * @events: bits of enum ib_event_type to be reported once @lock is dropped; modify_qp adds to
 *	them, too
 * @req: requester
 * @sq: send queue
 * @resp: responder
 * @answers: answers to the peer's requests
 * @rq: receive queue
 * @path: paths to the peer
 * @rx: bursts that the turn takes in
 * @tx: what is sent
 * @timer: what the turn comes again for
 * @counters: what is counted
 * @attr: attributes that query_qp returns. modify_qp sets them; the turn sets the states and the
 *	migration state, too
 *
 * Of everyone who brings packets for the QP, without a lock:
 * @refused: packets with keys that are not the QP's
 *
 * Of kernel users that post:
 * @post_lock: guards the producer side of both rings; taken with interrupts off
 */
struct pib_qp {
	struct ib_qp ib;

	struct pib_hca *hca;
	struct pib_pd *pd;
	u32 qpn;
	u8 type;
	u8 tp;
	bool is_user;
	struct pib_qp_init init;

	struct pib_qp_entries entries;
	struct mutex modify_mutex;

	struct pib_task task ____cacheline_aligned_in_smp;
	struct pib_sqpoll sqpoll;
	struct pib_qp_lent lent;
	struct pib_inbox inbox;

	spinlock_t lock ____cacheline_aligned_in_smp;
	enum ib_qp_state state;
	u8 cause;
	u32 events;
	struct pib_req req;
	struct pib_qp_sq sq;
	struct pib_resp resp;
	struct pib_qp_answers answers;
	struct pib_qp_rq rq;
	struct pib_qp_path path;
	struct pib_qp_rx rx;
	struct pib_qp_tx tx;
	struct pib_qp_timer timer;
	struct pib_qp_counters counters;
	struct ib_qp_attr attr;

	struct pib_qp_refused refused;

	spinlock_t post_lock;
};

static inline struct pib_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct pib_qp, ib);
}

/**
 * pib_qp_paths_begin() - begin to change the paths
 * @qp: queue pair
 *
 * Nothing is sent until pib_qp_paths_end(): what is sent may arrive at the same QP, which waits for
 * that. The count is not tied to the lock, for with PREEMPT_RT its readers would then take the
 * lock, and a reader may hold that of another QP.
 *
 * Context: qp->lock held.
 */
static inline void pib_qp_paths_begin(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	preempt_disable_nested();
	write_seqcount_begin(&qp->path.seq);
}

/**
 * pib_qp_paths_end() - show the paths to those who read them without the lock
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
static inline void pib_qp_paths_end(struct pib_qp *qp)
{
	write_seqcount_end(&qp->path.seq);
	preempt_enable_nested();
}

/**
 * pib_qp_lends_pages() - tell whether nothing keeps the pages of a QP's memory but its consumer
 * @qp: queue pair
 *
 * A consumer in the kernel takes its pages back when it is told that it may. The regions of
 * processes keep theirs as long as a burst needs them; XRC targets, which ib_core makes as if they
 * were the kernel's, are of processes.
 *
 * Context: any.
 * Return: true: it is so.
 */
static inline bool pib_qp_lends_pages(const struct pib_qp *qp)
{
	return !qp->is_user && qp->type != IB_QPT_XRC_TGT;
}

/* pib_burst.owner_slot of an answer, which belongs to no slot of the QP */
#define PIB_SLOT_ANSWERS	U32_MAX

/**
 * pib_qp_awaits_answers() - tell whether answers keep the QP from being flushed
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: answers to READs still refer to memory that the flush would give back.
 */
static inline bool pib_qp_awaits_answers(const struct pib_qp *qp)
{
	if (likely(qp->state != IB_QPS_ERR))
		return false;
	/* Pairs with the last answer's release_answer(), which looks at the state after that. */
	smp_mb();
	return atomic_read(&qp->lent.answers);
}

/**
 * pib_qp_is_reliable() - tell whether a QP's requests are acknowledged
 * @qp: queue pair
 *
 * Context: any.
 * Return: true: they are.
 */
static inline bool pib_qp_is_reliable(const struct pib_qp *qp)
{
	return pib_tp_reliable(qp->tp);
}

/**
 * pib_qp_counts_bursts() - tell whether sends finish only when no burst refers to their memory
 * @qp: queue pair
 *
 * Unacknowledged services: the payload has landed then. A consumer in the kernel takes its pages
 * back on completion, which no region prevents. Reliable services: a burst may outlive the answer
 * to it, or the flush. The regions of processes keep their pages as long as a burst needs them.
 *
 * Context: any.
 * Return: true: they do.
 */
static inline bool pib_qp_counts_bursts(const struct pib_qp *qp)
{
	return pib_qp_lends_pages(qp) || !pib_qp_is_reliable(qp);
}

/**
 * pib_qp_is_datagram() - tell whether a QP sends and receives datagrams
 * @qp: queue pair
 *
 * Context: any.
 * Return: true: its type is UD, SMI or GSI.
 */
static inline bool pib_qp_is_datagram(const struct pib_qp *qp)
{
	return qp->tp == PIB_TP_UD;
}

/**
 * pib_qp_is_ipoib() - tell whether a QP carries IP for a consumer in the kernel, with an HCA's
 * offloads for IP
 * @qp: queue pair
 *
 * Context: any.
 * Return: true: it does.
 */
static inline bool pib_qp_is_ipoib(const struct pib_qp *qp)
{
	return qp->init.create_flags & IB_QP_CREATE_IPOIB_UD_LSO;
}

/**
 * pib_qp_mem_ctx() - get the context that keys of a QP's requests, and of a peer's, are checked
 * against
 * @qp: queue pair; an XRC target QP has entered the domain of the request (@rx.pd)
 *
 * Context: qp->lock held.
 * Return: the context.
 */
static inline struct pib_mem_ctx pib_qp_mem_ctx(const struct pib_qp *qp)
{
	return (struct pib_mem_ctx) { .pd = qp->pd ? qp->pd : qp->rx.pd, .qpn = qp->qpn };
}

/* ib_device_ops. Context: process. Return: 0 or -errno. */
int pib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int pib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* Indices of the special QPs of a port in the table of QPs: beyond every QPN. */
#define PIB_QP_FIRST_SPECIAL ((unsigned long)PIB_QPN_MASK + 1)
#define PIB_QP_SPECIAL(port, qpn) (PIB_QP_FIRST_SPECIAL | (port) << 1 | (qpn))

/**
 * pib_qp_stub_get() - take a reference to the QP of a stub
 * @stub: stub that stands in the table of QPs, or NULL
 *
 * Context: under rcu_read_lock(), or under the links_lock of a CQ to which the QP is linked.
 * Return: the QP; NULL: @stub is NULL, or the QP is being destroyed.
 */
static inline struct pib_qp *pib_qp_stub_get(struct pib_qp_stub *stub)
{
	if (!stub || !refcount_inc_not_zero(&stub->ref))
		return NULL;
	return stub->qp;
}

/**
 * pib_qp_get() - take a reference
 * @qp: queue pair; the caller has a reference, or knows that destroy_qp cannot have begun
 *
 * Context: any.
 */
static inline void pib_qp_get(struct pib_qp *qp)
{
	pib_task_get(&qp->task);
}

/**
 * pib_qp_put() - drop a reference
 * @qp: queue pair
 *
 * Context: any.
 */
static inline void pib_qp_put(struct pib_qp *qp)
{
	pib_task_put(&qp->task);
}

/**
 * pib_qp_next() - find the next queue pair in the table of QPs
 * @hca: HCA of the table
 * @index: index at which the search begins; moves behind the queue pair
 * @last: last index to search
 *
 * Context: process; may sleep.
 * Return: the queue pair, with a reference; NULL: there is none.
 */
struct pib_qp *pib_qp_next(struct pib_hca *hca, unsigned long *index, unsigned long last);

/*
 * Walk over the queue pairs from index @first to @last. The loop has a reference to the present
 * one, which code that leaves the loop drops. May sleep.
 */
#define pib_for_each_qp(hca, qp, index, first, last) \
	for (index = (first); (qp = pib_qp_next(hca, &(index), last)); pib_qp_put(qp))

#endif
