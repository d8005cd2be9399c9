// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Arrival at an HCA's port: what the channel adapter checks before a queue
 * pair sees the packet (9.6.1), and the way into its inbox.
 */
#include "compat/compat.h"
#include "proto/trap.h"
#include "hca/hw_counters.h"
#include "core/task.h"
#include "fabric/capture.h"
#include "hca/hca.h"
#include "hca/port_event.h"
#include "transport/inject.h"
#include "transport/input.h"
#include "transport/inbox.h"
#include "transport/mcast.h"
#include "transport/qp_trace.h"

#define TRAP_BAD_PKEY	257
#define TRAP_BAD_QKEY	258

/* Bytes from which on a copy takes longer than to have another CPU make it. */
#define BULK		(16 << 10)

/*
 * Length that an inbox has only where something is slow. Bursts beyond it keep no more memory than
 * they need.
 */
#define LONG_INBOX	64

/* Times that a datagram is offered to a QP that is full: about 10 ms. */
#define DATAGRAM_TRIES	40

/* Return: how many messages a dropped burst counts for. Datagrams are a message each. */
static u32 message_count(const struct pib_burst *b)
{
	return b->h.tp == PIB_TP_UD ? b->npkts : 1;
}

static void count_drop(struct pib_kport *port, const struct pib_burst *b, enum pib_stat why)
{
	pib_hca_stat_add(pib_kport_hca(port), why, message_count(b));
	if (trace_pib_dropped_enabled())
		pib_kport_trace_stat(port, why, &b->h, b->npkts);
}

/* Count and free a dropped burst. Return: as struct pib_node_ops.rx. */
static int input_drop(struct pib_kport *port, struct pib_burst *b, enum pib_stat why)
{
	static const u8 reasons[PIB_STATS] = {
		[PIB_STAT_RX_BAD_PATH] = PIB_CAPTURE_BAD_PATH,
		[PIB_STAT_RX_NO_QP] = PIB_CAPTURE_NO_QP,
		[PIB_STAT_RX_NO_GROUP] = PIB_CAPTURE_NO_GROUP,
		[PIB_STAT_RX_BAD_SERVICE] = PIB_CAPTURE_BAD_SERVICE,
		[PIB_STAT_RX_QP_STATE] = PIB_CAPTURE_QP_STATE,
		[PIB_STAT_RX_FULL] = PIB_CAPTURE_FULL,
		[PIB_STAT_RX_NOMEM] = PIB_CAPTURE_NO_MEMORY,
	};

	count_drop(port, b, why);
	pib_burst_free(b);
	return reasons[why];
}

/* Count the violations, one a packet, and tell the SM as often as proto/ allows (trap.c). */
static void raise_key_trap(struct pib_kport *port, u16 trap, const struct pib_burst *b)
{
	struct pib_hca *hca = pib_kport_hca(port);
	unsigned long flags;

	spin_lock_irqsave(&hca->nd.lock, flags);
	pib_trap_bad_key(&port->p, trap, b->npkts, &b->h, ktime_get_ns());
	spin_unlock_irqrestore(&hca->nd.lock, flags);
	pib_hca_events(hca);
}

static void bad_pkey(struct pib_kport *port, struct pib_qp *qp, const struct pib_burst *b)
{
	WRITE_ONCE(qp->refused.pkey, b->h.pkey);
	atomic_add(b->npkts, &qp->refused.pkeys);
	count_drop(port, b, PIB_STAT_RX_BAD_PKEY);
	raise_key_trap(port, TRAP_BAD_PKEY, b);
}

void pib_input_bad_qkey(struct pib_qp *qp, struct pib_burst *b)
{
	struct pib_kport *port = qp->path.port;

	lockdep_assert_held(&qp->lock);
	atomic_add(b->npkts, &qp->refused.qkeys);
	pib_qp_drop(qp, PIB_STAT_RX_BAD_QKEY, b, b->npkts);
	raise_key_trap(port, TRAP_BAD_QKEY, b);
}

/*
 * Return: true if the packet is for this port (9.6.1.1). A port without a LID hears the permissive
 * LID only.
 */
static bool dlid_ok(const struct pib_port *p, const struct pib_hdrs *h)
{
	if (h->dlid == PIB_LID_PERMISSIVE)
		return h->dqpn == 0;
	if (pib_lid_is_mcast(h->dlid))
		return h->dqpn == PIB_QPN_MCAST;
	return pib_port_owns_lid(p, h->dlid);
}

/* Return: true if the GRH's destination, if there is a GRH, is one of the port's GIDs (9.6.1.2). */
static bool dgid_ok(const struct pib_port *p, const struct pib_hdrs *h)
{
	u64 prefix = get_unaligned_be64(h->dgid), guid = get_unaligned_be64(h->dgid + 8);
	u32 i;

	if (!(h->flags & PIB_H_GRH))
		return true;
	if (prefix != READ_ONCE(p->gid_prefix) && prefix != PIB_GID_PREFIX_LOCAL)
		return false;
	for (i = 0; i < PIB_GUIDS; i++) {
		if (guid && guid == READ_ONCE(p->guids[i]))
			return true;
	}
	return false;
}

/*
 * Return: true if the packet has come by the path of this address vector: port, source, and a GRH
 * with the GIDs of both ends or none (9.6.1.2 to 9.6.1.5). The QP is not locked: while paths change
 * places, both may seem not to match. Then judge_again() asks again.
 */
static bool path_matches(const struct pib_av_data *av, const struct pib_kport *port,
			 const struct pib_hdrs *h)
{
	bool grh = READ_ONCE(av->grh);
	u64 own_guid = 0;

	if (READ_ONCE(av->dlid) != h->slid || READ_ONCE(av->port) != port->p.num)
		return false;
	if (grh)
		own_guid = READ_ONCE(port->p.guids[READ_ONCE(av->sgid_index) % PIB_GUIDS]);
	/* The GID may change meanwhile: see above. */
	return data_race(pib_grh_fits(h, grh, av->dgid, own_guid));
}

static bool pkey_matches(const struct pib_kport *port, u16 index, const struct pib_hdrs *h)
{
	return pib_pkeys_match(pib_port_pkey(&port->p, index), h->pkey);
}

bool pib_input_by_alternate(const struct pib_qp *qp, const struct pib_kport *port,
			    const struct pib_hdrs *h)
{
	return READ_ONCE(qp->path.alt_open) && path_matches(&qp->path.alt_av, port, h) &&
	       pkey_matches(port, READ_ONCE(qp->attr.alt_pkey_index), h);
}

static __always_inline bool pkey_ok(const struct pib_qp *qp, const struct pib_kport *port,
				    const struct pib_hdrs *h)
{
	switch (qp->type) {
	case IB_QPT_SMI:
		return true;
	case IB_QPT_GSI:
		return pib_port_pkey_match(&port->p, h->pkey) >= 0;
	default:
		return pkey_matches(port, READ_ONCE(qp->attr.pkey_index), h) ||
		       pib_input_by_alternate(qp, port, h);
	}
}

/* Return: true if a request of XRC has come to who asks, or a response to who answers. */
static bool goes_wrong_way(const struct pib_qp *qp, const struct pib_hdrs *h)
{
	return qp->tp == PIB_TP_XRC && pib_op_is_response(h->op) != (qp->type == IB_QPT_XRC_INI);
}

/*
 * Note a packet for a connected QP that has come by none of its paths. If the packet asks an ARMED
 * QP to migrate, the consumer is told that the QP cannot (17.2.8): once for each arming, since
 * anybody in the QP's partition may send such packets. The QP's own turn does the rest, since the
 * caller may be the turn of a sender, which does not take this QP's lock.
 */
static void note_astray(struct pib_qp *qp, const struct pib_kport *port, const struct pib_hdrs *h)
{
	if (!(h->flags & PIB_H_MIG) || h->tp != qp->tp || goes_wrong_way(qp, h) ||
	    READ_ONCE(qp->path.astray) ||
	    READ_ONCE(qp->attr.path_mig_state) != IB_MIG_ARMED)
		return;
	if (!pkey_matches(port, READ_ONCE(qp->attr.pkey_index), h) &&
	    !pkey_matches(port, READ_ONCE(qp->attr.alt_pkey_index), h))
		return;
	if (!test_and_set_bit(PIB_QP_ASTRAY, &qp->task.state))
		pib_task_activate(&qp->task);
}

/*
 * Check the transport service and, for a connection, that the packet has come from its other end by
 * either path (9.6.1.3, 9.6.1.5).
 */
static __always_inline bool service_ok(const struct pib_qp *qp, const struct pib_kport *port,
				       const struct pib_hdrs *h)
{
	if (h->tp == PIB_TP_CNP)
		return qp->qpn > 1;
	if (h->tp != qp->tp)
		return false;
	if (pib_qp_is_datagram(qp))
		return qp->type != IB_QPT_SMI || pib_hdrs_from_qp0(h);
	if (goes_wrong_way(qp, h))
		return false;
	return path_matches(&qp->path.av, port, h) ||
	       (READ_ONCE(qp->path.alt_open) && path_matches(&qp->path.alt_av, port, h));
}

/*
 * Judge a packet that did not seem to fit by the paths of one moment. Between two moments a packet
 * by the path to which the QP migrates meets the P_Key of the other one, and would be a violation.
 * Return: why it is refused; 0: it fits.
 */
static noinline enum pib_stat judge_again(const struct pib_qp *qp, const struct pib_kport *port,
					  const struct pib_hdrs *h)
{
	enum pib_stat why;
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&qp->path.seq);
		if (!service_ok(qp, port, h))
			why = PIB_STAT_RX_BAD_SERVICE;
		else
			why = pkey_ok(qp, port, h) ? 0 : PIB_STAT_RX_BAD_PKEY;
	} while (read_seqcount_retry(&qp->path.seq, seq));
	return why;
}

/*
 * Drop a packet whose P_Key does not fit. That is no violation where the QP takes nothing in: the
 * state is checked before the key (9.6.1.1). RESET clears the QP's P_Key, and the sender does not
 * know of that yet.
 */
static int refuse_key(struct pib_kport *port, struct pib_qp *qp, struct pib_burst *b)
{
	enum ib_qp_state state;

	/* The key was read before. Pairs with smp_wmb() in pib_qp_reset(). */
	smp_rmb();
	state = READ_ONCE(qp->state);
	if (state < IB_QPS_RTR || state == IB_QPS_ERR)
		return input_drop(port, b, PIB_STAT_RX_QP_STATE);
	bad_pkey(port, qp, b);
	pib_burst_free(b);
	return PIB_CAPTURE_BAD_PKEY;
}

/* Drop a packet that does not fit. Return: as struct pib_node_ops.rx. */
static int refuse_packet(struct pib_kport *port, struct pib_qp *qp, struct pib_burst *b,
			 enum pib_stat why)
{
	if (why == PIB_STAT_RX_BAD_PKEY)
		return refuse_key(port, qp, b);
	note_astray(qp, port, &b->h);
	return input_drop(port, b, why);
}

/* Return: true if the burst takes its receiver long, by its payload or by that of its answer. */
static bool is_bulk(const struct pib_burst *b)
{
	return b->via_udp &&
	       (b->len >= BULK || (b->h.op == PIB_OP_READ_REQ && b->h.dmalen >= BULK));
}

static bool inbox_full(struct pib_qp *qp, struct pib_burst *b)
{
	u32 bytes = qp->inbox.bytes + READ_ONCE(qp->rx.bytes) + b->charge;

	lockdep_assert_held(&qp->inbox.lock);

	if (qp->inbox.len >= (b->via_udp ? PIB_QP_INBOX_UDP : PIB_QP_INBOX_MAX))
		return true;
	if (likely(!b->charge || bytes <= PIB_QP_INBOX_FREE))
		return false;
	if (bytes > PIB_QP_INBOX_BYTES)
		return true;
	b->shared = atomic_add_return(b->charge, &qp->hca->inbox_bytes) <= PIB_HCA_INBOX_BYTES;
	if (!b->shared)
		atomic_sub(b->charge, &qp->hca->inbox_bytes);
	return !b->shared;
}

/*
 * Charge the payload. Once LONG_INBOX bursts wait, an skb is at most twice as large as the part of
 * it that is used.
 */
static void inbox_charge(struct pib_qp *qp, struct pib_burst *b)
{
	if (READ_ONCE(qp->inbox.len) >= LONG_INBOX)
		pib_burst_shrink(b);
	b->shared = false;
	b->charge = b->len + sizeof(*b);
}

/* Return: 0; -EBUSY: the inbox is full; -ESHUTDOWN: the QP is going. */
static int inbox_add(struct pib_qp *qp, struct pib_burst *b)
{
	int err = 0;

	if (b->via_udp)
		inbox_charge(qp, b);
	spin_lock(&qp->inbox.lock);
	if (qp->inbox.closed) {
		err = -ESHUTDOWN;
	} else if (inbox_full(qp, b)) {
		err = -EBUSY;
	} else {
		list_add_tail(&b->entry, &qp->inbox.list);
		qp->inbox.bytes += b->charge;
		WRITE_ONCE(qp->inbox.len, qp->inbox.len + 1);
	}
	spin_unlock(&qp->inbox.lock);
	return err;
}

/* Call inbox_add(), then have the QP run. */
static int input_enqueue(struct pib_qp *qp, struct pib_burst *b)
{
	bool bulk = is_bulk(b);
	int err = inbox_add(qp, b);

	if (err)
		return err;
	if (unlikely(bulk))
		pib_task_activate_bulk(&qp->task);
	else
		pib_task_activate(&qp->task);
	return 0;
}

/*
 * Return: true if the sender of @b is pushed back. A sender of datagrams has others to send to, and
 * waits for nobody's receives.
 */
static bool pushes_back(const struct pib_qp *qp, struct pib_burst *b)
{
	if (b->via_udp || READ_ONCE(qp->rq.empty_since))
		return false;
	return b->h.tp != PIB_TP_UD || ++b->tries < DATAGRAM_TRIES;
}

/*
 * Put @b into the QP's inbox. The caller has the reference on the QP. Return: as struct
 * pib_node_ops.rx.
 */
static int input_deliver(struct pib_kport *port, struct pib_qp *qp, struct pib_burst *b)
{
	enum pib_stat why;
	int err;

	if (unlikely(!service_ok(qp, port, &b->h) || !pkey_ok(qp, port, &b->h))) {
		why = judge_again(qp, port, &b->h);
		if (why)
			return refuse_packet(port, qp, b, why);
	}
	why = pib_injects_any(&qp->hca->injects) ? pib_inject_rx(qp, b) : 0;
	if (unlikely(why))
		return input_drop(port, b, why);
	err = input_enqueue(qp, b);
	if (!err)
		return 0;
	if (err == -EBUSY && pushes_back(qp, b))
		return -EBUSY;
	return input_drop(port, b, err == -EBUSY ? PIB_STAT_RX_FULL : PIB_STAT_RX_NO_QP);
}

/* Return: true if one of the QP's paths leads by this port. */
static bool leads_by(const struct pib_qp *qp, const struct pib_kport *port)
{
	unsigned int seq;
	bool leads;

	do {
		seq = read_seqcount_begin(&qp->path.seq);
		leads = READ_ONCE(qp->path.port) == port ||
			READ_ONCE(qp->path.alt_av.port) == port->p.num;
	} while (read_seqcount_retry(&qp->path.seq, seq));
	return leads;
}

/* Find the QP, and take a reference. QPNs 0 and 1 are those of the port's special QPs. */
static struct pib_qp *find_qp(struct pib_kport *port, const struct pib_hdrs *h)
{
	struct pib_hca *hca = pib_kport_hca(port);
	struct pib_qp *qp;
	u32 qpn = h->dqpn;

	if (qpn <= 1)
		return pib_qp_stub_get(xa_load(&hca->qps, PIB_QP_SPECIAL(port->p.num, qpn)));

	qp = pib_qp_stub_get(pib_idcache_find(&hca->qp_cache, &hca->qps, qpn));
	/* An alternate path may lead by another port. */
	if (qp && READ_ONCE(qp->path.port) != port && !leads_by(qp, port)) {
		note_astray(qp, port, h);
		pib_qp_put(qp);
		return NULL;
	}
	return qp;
}

/**
 * struct mcast_rx - a multicast datagram being given out
 * @port: arrival port
 * @b: the datagram
 * @except: the QP that has sent it
 * @joined: a QP of the port is attached
 */
struct mcast_rx {
	struct pib_kport *port;
	struct pib_burst *b;
	const struct pib_qp *except;
	bool joined;
};

static void mcast_copy(struct pib_qp *qp, void *arg)
{
	struct mcast_rx *rx = arg;
	struct pib_burst *c;

	if (qp == rx->except || READ_ONCE(qp->path.port) != rx->port)
		return;
	rx->joined = true;
	pib_tasks_copied(1);
	c = pib_burst_clone(rx->b);
	if (!c) {
		pib_hca_stat(pib_kport_hca(rx->port), PIB_STAT_RX_NOMEM);
		pib_kport_trace_stat(rx->port, PIB_STAT_RX_NOMEM, &rx->b->h, 1);
		return;
	}
	/* A group's slow member must not stop the others: no push-back. */
	if (input_deliver(rx->port, qp, c) == -EBUSY)
		input_drop(rx->port, c, PIB_STAT_RX_FULL);
}

bool pib_input_mcast(struct pib_kport *port, struct pib_burst *b, const struct pib_qp *except)
{
	struct mcast_rx rx = { .port = port, .b = b, .except = except };

	pib_mcast_deliver(pib_kport_hca(port), &b->h, mcast_copy, &rx);
	return rx.joined;
}

int pib_input(struct pib_kport *port, struct pib_burst *b)
{
	struct pib_qp *qp;
	int err;

	if (!dlid_ok(&port->p, &b->h))
		return input_drop(port, b, PIB_STAT_RX_BAD_PATH);
	if (b->h.dqpn == PIB_QPN_MCAST) {
		/* The MLID alone does not say which group: several may share it (9.6.1.2). */
		if (!(b->h.flags & PIB_H_GRH))
			return input_drop(port, b, PIB_STAT_RX_BAD_PATH);
		if (!pib_input_mcast(port, b, NULL))
			return input_drop(port, b, PIB_STAT_RX_NO_GROUP);
		pib_burst_free(b);
		return 0;
	}
	if (!dgid_ok(&port->p, &b->h))
		return input_drop(port, b, PIB_STAT_RX_BAD_PATH);

	qp = find_qp(port, &b->h);
	if (!qp)
		return input_drop(port, b, PIB_STAT_RX_NO_QP);
	err = input_deliver(port, qp, b);
	pib_qp_put(qp);
	return err;
}
