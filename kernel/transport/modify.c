// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * modify_qp and query_qp (IBA 11.2.5.2, 11.2.5.3). Everything is checked
 * before anything is changed.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include "compat/compat.h"
#include "hca/ah.h"
#include "transport/apm.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "transport/modify.h"
#include "transport/qp.h"
#include "transport/qp_task.h"
#include "transport/recv_queue.h"
#include "transport/responder.h"
#include "transport/send_queue.h"
#include "transport/error.h"
#include "core/mmap.h"
#include "core/refuse.h"
#include "transport/qp_debug.h"

/*
 * The flags of the last line are for regions, but programs give QPs the flags of their regions. No
 * memory here is persistent, but ib_cm asks for IB_ACCESS_FLUSH_PERSISTENT for every QP.
 */
#define ACCESS_FLAGS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
		      IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL | \
		      IB_ACCESS_FLUSH_PERSISTENT | IB_ACCESS_RELAXED_ORDERING | \
		      IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB | IB_ZERO_BASED)

/**
 * struct change - a checked modify_qp
 * @attr: attributes as asked for
 * @mask: enum ib_qp_attr_mask
 * @cur: state before
 * @next: state after
 * @av: the primary path's address vector, checked
 * @alt_av: the alternate path's
 */
struct change {
	const struct ib_qp_attr *attr;
	int mask;
	enum ib_qp_state cur;
	enum ib_qp_state next;
	struct pib_av_data av;
	struct pib_av_data alt_av;
};

#define qp_refuse(qp, err, fmt, ...) \
	pib_refuse(&(qp)->hca->ib, err, "qp %u: modify_qp: " fmt, (qp)->qpn, ##__VA_ARGS__)

static int check_port(struct pib_qp *qp, u8 port)
{
	if (!port || port > qp->hca->nd.node.num_ports)
		return qp_refuse(qp, -EINVAL, "no port %u", port);
	/* Special QPs belong to a port for life. */
	if (qp->type <= IB_QPT_GSI && port != qp->path.port->p.num)
		return qp_refuse(qp, -EINVAL, "port %u, but it is of port %u", port,
				 qp->path.port->p.num);
	return 0;
}

static struct pib_kport *changed_port(struct pib_qp *qp, const struct change *c)
{
	return c->mask & IB_QP_PORT ? qp->hca->nd.ports[c->attr->port_num] : qp->path.port;
}

static int check_mtu(struct pib_qp *qp, const struct change *c)
{
	struct pib_kport *port = changed_port(qp, c);
	enum ib_mtu mtu = c->attr->path_mtu;

	return !port || mtu < IB_MTU_256 || mtu > IB_MTU_4096 || mtu > port->p.mtu_cap ?
	       -EINVAL : 0;
}

/* 17.2.8.1: only the peer leads from REARM on, and ARMED leads to MIGRATED alone. */
static int check_rearm(const struct pib_qp *qp, const struct change *c)
{
	if (qp->attr.path_mig_state == IB_MIG_ARMED)
		return qp_refuse(qp, -EINVAL, "it is armed");
	if (c->next != IB_QPS_RTS)
		return qp_refuse(qp, -EINVAL, "armed in %s", pib_qp_state_name(c->next));
	if (c->mask & IB_QP_ALT_PATH || pib_apm_has_path(qp))
		return 0;
	return qp_refuse(qp, -EINVAL, "no alternate path to be armed");
}

/* Only the HCA sets ARMED (17.2.8.1.1). MIGRATED changes nothing where the QP is in it already. */
static int check_migration(const struct pib_qp *qp, const struct change *c)
{
	if (!(c->mask & IB_QP_PATH_MIG_STATE))
		return 0;
	switch (c->attr->path_mig_state) {
	case IB_MIG_REARM:
		return check_rearm(qp, c);
	case IB_MIG_MIGRATED:
		if (qp->attr.path_mig_state == IB_MIG_REARM)
			return qp_refuse(qp, -EINVAL, "it waits for its peer to be armed");
		return 0;
	default:
		return qp_refuse(qp, -EINVAL, "migration state %d", c->attr->path_mig_state);
	}
}

static int check_paths(struct pib_qp *qp, struct change *c)
{
	const struct ib_qp_attr *a = c->attr;
	int err;

	if (c->mask & IB_QP_PORT) {
		err = check_port(qp, a->port_num);
		if (err)
			return err;
	}
	if (c->mask & IB_QP_PKEY_INDEX && a->pkey_index >= PIB_PKEYS)
		return qp_refuse(qp, -EINVAL, "no P_Key at %u", a->pkey_index);
	if (c->mask & IB_QP_AV) {
		err = pib_av_from_attr(qp->hca, &a->ah_attr, &c->av);
		if (err)
			return qp_refuse(qp, err, "address");
	}
	if (c->mask & IB_QP_ALT_PATH) {
		if (a->alt_pkey_index >= PIB_PKEYS || a->alt_timeout > 31)
			return qp_refuse(qp, -EINVAL, "alternate path: P_Key at %u, timeout %u",
					 a->alt_pkey_index, a->alt_timeout);
		err = check_port(qp, a->alt_port_num);
		if (!err)
			err = pib_av_from_attr(qp->hca, &a->alt_ah_attr, &c->alt_av);
		if (err)
			return qp_refuse(qp, err, "alternate path: address");
	}
	return check_migration(qp, c);
}

static int check_numbers(struct pib_qp *qp, const struct change *c)
{
	const struct ib_qp_attr *a = c->attr;

	if ((c->mask & IB_QP_PATH_MTU && check_mtu(qp, c)) ||
	    (c->mask & IB_QP_DEST_QPN && a->dest_qp_num > PIB_QPN_MASK) ||
	    (c->mask & IB_QP_TIMEOUT && a->timeout > 31) ||
	    (c->mask & IB_QP_RETRY_CNT && a->retry_cnt > 7) ||
	    (c->mask & IB_QP_RNR_RETRY && a->rnr_retry > 7) ||
	    (c->mask & IB_QP_MIN_RNR_TIMER && a->min_rnr_timer > 31) ||
	    (c->mask & IB_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > PIB_QP_MAX_RD_ATOMIC) ||
	    (c->mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	     a->max_dest_rd_atomic > PIB_QP_MAX_RD_ATOMIC) ||
	    (c->mask & IB_QP_ACCESS_FLAGS && a->qp_access_flags & ~ACCESS_FLAGS))
		return qp_refuse(qp, -EINVAL,
				 "mask %#x: MTU %d, peer %#x, timeout %u, retries %u, %u, RNR %u, READs %u, %u, access %#x",
				 c->mask, a->path_mtu, a->dest_qp_num, a->timeout, a->retry_cnt,
				 a->rnr_retry, a->min_rnr_timer, a->max_rd_atomic,
				 a->max_dest_rd_atomic, a->qp_access_flags);
	return 0;
}

/*
 * Return: true if the change comes too early. In SQD, requests that have begun end first
 * (10.3.1.5). Then the QP may go back to RTS, and attributes may change.
 */
static bool is_draining(const struct pib_qp *qp, const struct change *c)
{
	return c->cur == IB_QPS_SQD && (c->next == IB_QPS_RTS || c->next == IB_QPS_SQD) &&
	       qp->attr.sq_draining && !pib_qp_is_drained(qp);
}

static int check_change(struct pib_qp *qp, struct change *c)
{
	int err;

	lockdep_assert_held(&qp->lock);

	c->cur = qp->state;
	c->next = c->mask & IB_QP_STATE ? c->attr->qp_state : c->cur;
	if (c->mask & ~IB_QP_ATTR_STANDARD_BITS)
		return qp_refuse(qp, -EOPNOTSUPP, "mask %#x", c->mask);
	if (c->mask & IB_QP_CUR_STATE && c->attr->cur_qp_state != qp->state)
		return qp_refuse(qp, -EINVAL, "it is in %s", pib_qp_state_name(qp->state));
	if (!ib_modify_qp_is_ok(c->cur, c->next, qp->type, c->mask))
		return qp_refuse(qp, -EINVAL, "%s to %s with mask %#x", pib_qp_state_name(c->cur),
				 pib_qp_state_name(c->next), c->mask);
	if (is_draining(qp, c))
		return qp_refuse(qp, -EINVAL, "the send queue drains");
	err = check_paths(qp, c);
	return err ? err : check_numbers(qp, c);
}

static void set_paths(struct pib_qp *qp, const struct change *c)
{
	const struct ib_qp_attr *a = c->attr;
	struct ib_qp_attr *to = &qp->attr;

	pib_qp_paths_begin(qp);
	if (c->mask & IB_QP_PORT) {
		to->port_num = a->port_num;
		WRITE_ONCE(qp->path.port, qp->hca->nd.ports[a->port_num]);
		/* The vector stays and leads from there on by this port (SQD). */
		WRITE_ONCE(qp->path.av.port, a->port_num);
	}
	if (c->mask & IB_QP_PKEY_INDEX)
		WRITE_ONCE(to->pkey_index, a->pkey_index);
	if (c->mask & IB_QP_AV) {
		qp->path.av = c->av;
		qp->path.av.port = qp->path.port->p.num;
	}
	if (c->mask & IB_QP_ALT_PATH) {
		qp->path.alt_av = c->alt_av;
		qp->path.alt_av.port = a->alt_port_num;
		qp->path.alt_spent = false;
		WRITE_ONCE(qp->path.alt_open, to->path_mig_state != IB_MIG_MIGRATED);
		to->alt_pkey_index = a->alt_pkey_index;
		to->alt_port_num = a->alt_port_num;
		to->alt_timeout = a->alt_timeout;
	}
	pib_qp_paths_end(qp);
	if (c->mask & IB_QP_PATH_MIG_STATE)
		pib_apm_set(qp, a->path_mig_state);
}

static void set_numbers(struct pib_qp *qp, const struct change *c)
{
	const struct ib_qp_attr *a = c->attr;
	struct ib_qp_attr *to = &qp->attr;

	if (c->mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = a->qp_access_flags;
	if (c->mask & IB_QP_QKEY)
		to->qkey = a->qkey;
	if (c->mask & IB_QP_PATH_MTU)
		to->path_mtu = a->path_mtu;
	if (c->mask & IB_QP_TIMEOUT)
		to->timeout = a->timeout;
	if (c->mask & IB_QP_RETRY_CNT)
		to->retry_cnt = a->retry_cnt;
	if (c->mask & IB_QP_RNR_RETRY)
		to->rnr_retry = a->rnr_retry;
	if (c->mask & IB_QP_RQ_PSN)
		to->rq_psn = a->rq_psn & PIB_PSN_MASK;
	if (c->mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = a->max_rd_atomic;
	if (c->mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = a->min_rnr_timer;
	if (c->mask & IB_QP_SQ_PSN)
		to->sq_psn = a->sq_psn & PIB_PSN_MASK;
	if (c->mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (c->mask & IB_QP_DEST_QPN)
		to->dest_qp_num = a->dest_qp_num;
}

/*
 * Return: factor by which RNR timers stretch the time that the peer has asked for, which is the
 * minimum (9.7.5.2.8); 0: they do not.
 */
static u8 rnr_times(const struct pib_qp *qp)
{
	struct pib_behaviors *b = &qp->hca->behaviors;

	return pib_behaves(b, PIB_BEHAVIOR_RNR_TIMER_LONG) ? 2 + pib_behavior_draw(b, 3) : 0;
}

static struct pib_req_cfg req_cfg(const struct pib_qp *qp)
{
	const struct ib_qp_attr *a = &qp->attr;

	return (struct pib_req_cfg) {
		.tp = qp->tp,
		.retry_cnt = a->retry_cnt,
		.rnr_retry = a->rnr_retry,
		.timeout = a->timeout,
		.max_rd_atomic = a->max_rd_atomic,
		.pmtu = pib_qp_is_datagram(qp) ? PIB_MTU_MAX : ib_mtu_enum_to_int(a->path_mtu),
		.dqpn = a->dest_qp_num,
		.max_burst = PIB_BURST_MAX,
		.rnr_times = rnr_times(qp),
		.early_inv = pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_EARLY_INVALIDATE),
	};
}

static struct pib_resp_cfg resp_cfg(const struct pib_qp *qp)
{
	const struct ib_qp_attr *a = &qp->attr;

	return (struct pib_resp_cfg) {
		.tp = qp->tp,
		.min_rnr_timer = a->min_rnr_timer,
		.max_rd_atomic = a->max_dest_rd_atomic,
		.credits = qp->rq.ring.hdr && qp->tp == PIB_TP_RC,
		.ack_each = pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_ACK_EACH),
		.pmtu = ib_mtu_enum_to_int(a->path_mtu),
		.dqpn = a->dest_qp_num,
		.max_burst = PIB_BURST_MAX,
	};
}

static void apply_resp(struct pib_qp *qp)
{
	struct pib_resp_cfg resp = resp_cfg(qp);

	if (qp->state >= IB_QPS_RTR && !pib_qp_is_datagram(qp))
		pib_resp_reconfig(&qp->resp, &resp);
}

static void apply_path(struct pib_qp *qp)
{
	struct pib_req_cfg req = req_cfg(qp);

	apply_resp(qp);
	if (qp->state >= IB_QPS_RTS)
		pib_req_reconfig(&qp->req, &req);
}

static void start_resp(struct pib_qp *qp)
{
	struct pib_resp_cfg cfg = resp_cfg(qp);

	if (!pib_qp_is_datagram(qp))
		pib_resp_start(&qp->resp, &cfg, qp->attr.rq_psn);
}

static void start_req(struct pib_qp *qp)
{
	struct pib_req_cfg cfg = req_cfg(qp);

	pib_req_start(&qp->req, &cfg, qp->attr.sq_psn);
}

static void enter_state(struct pib_qp *qp, const struct change *c)
{
	switch (c->next) {
	case IB_QPS_RTR:
		if (c->cur == IB_QPS_INIT)
			start_resp(qp);
		break;
	case IB_QPS_RTS:
		if (c->cur == IB_QPS_RTR) {
			/* MIN_RNR_TIMER may be among the attributes (11.2.5.2). */
			apply_resp(qp);
			start_req(qp);
		} else if (c->cur == IB_QPS_SQE) {
			WRITE_ONCE(qp->lent.owner.flushes, false);
			pib_req_resume(&qp->req);
		} else {
			apply_path(qp);
		}
		pib_req_stop(&qp->req, false);
		qp->attr.sq_draining = 0;
		break;
	case IB_QPS_SQD:
		if (c->cur != IB_QPS_RTS) {
			apply_path(qp);
			break;
		}
		pib_req_stop(&qp->req, true);
		qp->attr.sq_draining = 1;
		qp->attr.en_sqd_async_notify = c->mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
					       c->attr->en_sqd_async_notify;
		break;
	default:
		break;
	}
}

static void apply_change(struct pib_qp *qp, const struct change *c)
{
	lockdep_assert_held(&qp->lock);

	if (c->next == IB_QPS_ERR) {
		pib_qp_to_err(qp, PIB_CAUSE_ASKED);
		return;
	}
	set_paths(qp, c);
	set_numbers(qp, c);
	enter_state(qp, c);
	pib_qp_set_state(qp, c->next, PIB_CAUSE_ASKED);
}

static bool has_bursts_out(const struct pib_qp *qp)
{
	u32 i;

	if (atomic_read(&qp->lent.answers))
		return true;
	for (i = 0; i < qp->sq.num_slots; i++) {
		const struct pib_ksq_slot *s = qp->sq.slots + (size_t)i * qp->sq.slot_size;

		if (atomic_read(&s->refs))
			return true;
	}
	return false;
}

/*
 * Wait for bursts on their way, which do not stay there for long (hold.c). Those that still wait
 * for room then are asked to go. A task that is being killed does not wait here, but in
 * destroy_qp.
 *
 * Return: 0; -EINTR: the task is being killed.
 */
static int wait_for_bursts(struct pib_qp *qp)
{
	unsigned long ask_at = jiffies + msecs_to_jiffies(PIB_MEM_ASK_MSEC);
	int err = 0;

	while (!err && has_bursts_out(qp)) {
		if (time_after(jiffies, ask_at)) {
			WRITE_ONCE(qp->lent.owner.waits, true);
			pib_mem_ask_back();
			ask_at = jiffies + msecs_to_jiffies(PIB_MEM_ASK_MSEC);
		}
		usleep_range(50, 200);
		err = fatal_signal_pending(current) ? -EINTR : 0;
	}
	WRITE_ONCE(qp->lent.owner.waits, false);
	return err;
}

/* Return: the index behind what is posted. The turn fetches from the ring meanwhile. */
static u32 posted_end(struct pib_qp *qp)
{
	u32 end = 0;

	spin_lock_bh(&qp->lock);
	if (qp->sq.ring.hdr)
		end = qp->sq.ring.index + pib_ring_pending(&qp->sq.ring);
	spin_unlock_bh(&qp->lock);
	return end;
}

/*
 * Leave SQE. The process may go on posting: only work requests that are posted by now are flushed.
 */
static int leave_sqe(struct pib_qp *qp)
{
	u32 end = posted_end(qp);
	bool done = false;
	int err;

	while (!done) {
		err = wait_for_bursts(qp);
		if (err)
			return err;
		spin_lock_bh(&qp->lock);
		done = qp->state != IB_QPS_SQE || !pib_qp_flush(qp) ||
		       (s32)(qp->sq.done - end) >= 0;
		spin_unlock_bh(&qp->lock);
		cond_resched();
	}
	return 0;
}

/*
 * Abandon a wait for a page, so that it does not keep a QP that begins again from its work. Without
 * memory the wait stays.
 */
static void leave_page(struct pib_qp *qp, struct pib_pagein **pages)
{
	struct pib_pagein *p;

	if (!pib_pagein_busy(*pages))
		return;
	p = pib_pagein_create(&qp->task, &qp->lock);
	if (!p)
		return;
	spin_lock_bh(&qp->lock);
	swap(*pages, p);
	spin_unlock_bh(&qp->lock);
	pib_pagein_leave(p);
	pib_pagein_put(p);
}

static void leave_pages(struct pib_qp *qp)
{
	leave_page(qp, &qp->rx.pages);
	leave_page(qp, &qp->sq.deferred.pages);
	leave_page(qp, &qp->answers.deferred.pages);
}

/*
 * Reset the QP: it takes in and sends nothing any more. Bursts on their way must land before slots
 * are used again.
 */
static int reset_qp(struct pib_qp *qp, enum ib_qp_state cur)
{
	int err;

	spin_lock_bh(&qp->lock);
	qp->state = IB_QPS_RESET;
	pib_qp_drop_bursts(qp);
	spin_unlock_bh(&qp->lock);

	err = wait_for_bursts(qp);
	if (!err)
		leave_pages(qp);
	spin_lock_bh(&qp->lock);
	qp->state = cur;
	if (err) {
		/* it cannot be started again before it has been reset */
		pib_qp_error(qp, PIB_CAUSE_KILLED, -1);
	} else {
		pib_qp_reset(qp);
	}
	spin_unlock_bh(&qp->lock);
	if (err)
		return err;

	if (qp->sq.cq)
		pib_cq_clean(qp->sq.cq, qp->qpn);
	if (qp->rq.cq && qp->rq.cq != qp->sq.cq)
		pib_cq_clean(qp->rq.cq, qp->qpn);
	return 0;
}

/* If the QP is about to end, and may, have it acknowledge first what it has received. */
static int leave_first(struct pib_qp *qp, struct change *c)
{
	int err;

	if (!(c->mask & IB_QP_STATE) ||
	    (c->attr->qp_state != IB_QPS_ERR && c->attr->qp_state != IB_QPS_RESET))
		return 0;
	spin_lock_bh(&qp->lock);
	err = check_change(qp, c);
	spin_unlock_bh(&qp->lock);
	if (!err)
		pib_responder_leave(qp);
	return err;
}

int pib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct pib_qp *qp = to_qp(ibqp);
	struct change c = { .attr = attr, .mask = mask };
	int err = 0;

	err = pib_udata_check(udata, 0);
	if (err)
		return err;
	mutex_lock(&qp->modify_mutex);
	if (READ_ONCE(qp->state) == IB_QPS_SQE && mask & IB_QP_STATE &&
	    attr->qp_state == IB_QPS_RTS)
		err = leave_sqe(qp);
	if (err)
		goto out;
	err = leave_first(qp, &c);
	if (err)
		goto out;
	spin_lock_bh(&qp->lock);
	err = check_change(qp, &c);
	if (!err && c.next != IB_QPS_RESET)
		apply_change(qp, &c);
	spin_unlock_bh(&qp->lock);

	if (!err && c.next == IB_QPS_RESET)
		err = reset_qp(qp, c.cur);
	if (!err && c.next != c.cur)
		pib_qp_dbg(qp, "modify_qp: %s to %s", pib_qp_state_name(c.cur),
			   pib_qp_state_name(c.next));
out:
	mutex_unlock(&qp->modify_mutex);

	if (!err)
		pib_task_kick(&qp->task);
	return err;
}

/* The PSNs are those of the next packets (11.2.5.3), not those that were set. */
static void query_psns(const struct pib_qp *qp, struct ib_qp_attr *attr)
{
	if (qp->state >= IB_QPS_RTS && qp->sq.slots)
		attr->sq_psn = qp->req.next_psn;
	if (qp->state >= IB_QPS_RTR && !pib_qp_is_datagram(qp))
		attr->rq_psn = qp->resp.epsn;
}

/* Between a migration and the next path that is loaded, both are the same (17.2.8). */
static void query_alternate(const struct pib_qp *qp, struct ib_qp_attr *attr)
{
	if (!qp->path.alt_spent) {
		pib_av_to_attr(qp->hca, &qp->path.alt_av, &attr->alt_ah_attr);
		return;
	}
	attr->alt_ah_attr = attr->ah_attr;
	attr->alt_pkey_index = attr->pkey_index;
	attr->alt_port_num = attr->port_num;
	attr->alt_timeout = attr->timeout;
}

int pib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct pib_qp *qp = to_qp(ibqp);

	spin_lock_bh(&qp->lock);
	*attr = qp->attr;
	attr->cap = qp->init.cap;
	query_psns(qp, attr);
	pib_av_to_attr(qp->hca, &qp->path.av, &attr->ah_attr);
	query_alternate(qp, attr);
	spin_unlock_bh(&qp->lock);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->xrcd = ibqp->xrcd;
	init->cap = qp->init.cap;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->create_flags = qp->init.create_flags;
	init->port_num = attr->port_num;
	return 0;
}
