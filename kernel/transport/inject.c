// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults that are made to happen to queue pairs on purpose. A queue pair that fails does so by the
 * code by which it would fail by itself. Packets are treated where they leave the queue pair, each
 * on its own. Requests are refused, and work requests fail, before anything of them is done.
 */
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/rculist.h>
#include "fabric/drop.h"
#include "hca/hca.h"
#include "hca/hw_counters.h"
#include "hca/srq.h"
#include "transport/apm.h"
#include "transport/error.h"
#include "transport/inject.h"
#include "fabric/inject_mad.h"
#include "transport/qp_trace.h"
#include "transport/recv_queue.h"
#include "transport/stats.h"

/* Arguments of PIB_INJECT_KIND_NAK: the codes of NAKs (9.7.5.2.2 on). */
enum {
	NAK_SEQUENCE,
	NAK_INVALID_REQUEST,
	NAK_REMOTE_ACCESS,
	NAK_REMOTE_OPERATION,
	NAK_CODES
};

/* ---- at once ---- */

static int fail_qp(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
		   struct netlink_ext_ack *extack)
{
	static const int events[] = {
		[PIB_INJECT_REASON_NONE] = -1,
		[PIB_INJECT_REASON_FATAL] = IB_EVENT_QP_FATAL,
		[PIB_INJECT_REASON_ACCESS] = IB_EVENT_QP_ACCESS_ERR,
		[PIB_INJECT_REASON_REQUEST] = IB_EVENT_QP_REQ_ERR,
	};

	if (cfg->arg >= ARRAY_SIZE(events)) {
		NL_SET_ERR_MSG(extack, "the reason of the failure is unknown");
		return -EINVAL;
	}
	if (qp->state == IB_QPS_RESET) {
		NL_SET_ERR_MSG(extack, "the queue pair is in RESET, and cannot fail");
		return -EINVAL;
	}
	pib_qp_error(qp, PIB_CAUSE_INJECTED, events[cfg->arg]);
	return 0;
}

static int migrate_qp(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	if (qp->attr.path_mig_state != IB_MIG_ARMED) {
		NL_SET_ERR_MSG(extack, "the queue pair is not armed for a migration");
		return -EINVAL;
	}
	pib_apm_set(qp, IB_MIG_MIGRATED);
	pib_task_kick(&qp->task);
	return 0;
}

static int deny_migration(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
			  struct netlink_ext_ack *extack)
{
	if (pib_qp_is_datagram(qp) || qp->state == IB_QPS_RESET) {
		NL_SET_ERR_MSG(extack, "only connected queue pairs have paths to change");
		return -EINVAL;
	}
	qp->events |= BIT(IB_EVENT_PATH_MIG_ERR);
	pib_task_kick(&qp->task);
	return 0;
}

/* ---- rules: checks ---- */

static int check_reliable(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
			  struct netlink_ext_ack *extack)
{
	if (!pib_qp_is_reliable(qp)) {
		NL_SET_ERR_MSG(extack, "only queue pairs of reliable services refuse a request");
		return -EOPNOTSUPP;
	}
	if (cfg->kind == PIB_INJECT_KIND_NAK && cfg->arg >= NAK_CODES) {
		NL_SET_ERR_MSG(extack, "the NAK is unknown");
		return -EINVAL;
	}
	return 0;
}

static int check_status(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
			struct netlink_ext_ack *extack)
{
	if (!cfg->arg || cfg->arg > PIB_WC_GENERAL_ERR) {
		NL_SET_ERR_MSG(extack, "the status of the failure is unknown");
		return -EINVAL;
	}
	return 0;
}

static int check_delay(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
		       struct netlink_ext_ack *extack)
{
	if (cfg->delay)
		return 0;
	NL_SET_ERR_MSG(extack, "the delay of the packet is missing");
	return -EINVAL;
}

static int check_answer(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
			struct netlink_ext_ack *extack)
{
	return pib_inject_mad_check(cfg, extack);
}

/**
 * struct inject_how - properties of an enum pib_inject_kind that names a queue pair
 * @now: does at once the thing asked for; NULL: the kind is a rule. qp->lock held
 * @check: checks that the queue pair may have such a rule; NULL: each may. qp->lock held
 * @packets: the rule is about packets that the queue pair sends
 * @mads: the rule is about MADs alone
 */
struct inject_how {
	int (*now)(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
		   struct netlink_ext_ack *extack);
	int (*check)(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
		     struct netlink_ext_ack *extack);
	bool packets;
	bool mads;
};

static const struct inject_how kinds[] = {
	[PIB_INJECT_KIND_QP_ERROR] = { .now = fail_qp },
	[PIB_INJECT_KIND_QP_MIGRATE] = { .now = migrate_qp },
	[PIB_INJECT_KIND_QP_MIGRATE_ERROR] = { .now = deny_migration },
	[PIB_INJECT_KIND_DROP] = { .packets = true },
	[PIB_INJECT_KIND_DUPLICATE] = { .packets = true },
	[PIB_INJECT_KIND_DAMAGE] = { .packets = true },
	[PIB_INJECT_KIND_CORRUPT] = { .packets = true },
	[PIB_INJECT_KIND_DELAY] = { .check = check_delay, .packets = true },
	[PIB_INJECT_KIND_NAK] = { .check = check_reliable, .packets = true },
	[PIB_INJECT_KIND_RNR] = { .check = check_reliable },
	[PIB_INJECT_KIND_SEND_STATUS] = { .check = check_status },
	[PIB_INJECT_KIND_RECV_STATUS] = { .check = check_status },
	[PIB_INJECT_KIND_MAD_STATUS] = { .check = check_answer, .packets = true, .mads = true },
	[PIB_INJECT_KIND_MAD_LIE] = { .check = check_answer, .packets = true, .mads = true },
	[PIB_INJECT_KIND_TX_NOMEM] = { .packets = true },
	[PIB_INJECT_KIND_RX_NOMEM] = { },
	[PIB_INJECT_KIND_RX_FULL] = { },
};

/* Take a reference to a queue pair. Return: NULL: there is none of this number, and port. */
static struct pib_qp *find_named_qp(struct pib_hca *hca, const struct pib_inject_cfg *cfg)
{
	unsigned long index = cfg->object;
	struct pib_qp *qp;

	if (index > PIB_QPN_MASK)
		return NULL;
	if (index <= 1)
		index = PIB_QP_SPECIAL(cfg->port, cfg->object);
	rcu_read_lock();
	qp = pib_qp_stub_get(xa_load(&hca->qps, index));
	rcu_read_unlock();
	return qp;
}

/*
 * Check a rule for queue pairs 0 and 1. Management must go on: packets that they send may go wrong,
 * and nothing else of them.
 */
static int check_special(const struct pib_inject_cfg *cfg, struct netlink_ext_ack *extack)
{
	if (kinds[cfg->kind].packets && cfg->kind != PIB_INJECT_KIND_NAK)
		return 0;
	NL_SET_ERR_MSG(extack,
		       "queue pairs 0 and 1 carry management, so only their packets can go wrong");
	return -EOPNOTSUPP;
}

static int check_ordinary(const struct pib_inject_cfg *cfg, struct netlink_ext_ack *extack)
{
	if (!kinds[cfg->kind].mads && !cfg->port && !cfg->mgmt_class && !cfg->mad_attr)
		return 0;
	NL_SET_ERR_MSG(extack, "only queue pairs 0 and 1 have a port of their own, and send MADs");
	return -EOPNOTSUPP;
}

/* Check a rule, or do at once what is asked, under the lock. */
static int consult_qp(struct pib_qp *qp, const struct pib_inject_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	const struct inject_how *kind = &kinds[cfg->kind];
	int err = 0;

	spin_lock_bh(&qp->lock);
	if (kind->now)
		err = kind->now(qp, cfg, extack);
	else if (kind->check)
		err = kind->check(qp, cfg, extack);
	spin_unlock_bh(&qp->lock);
	return err;
}

int pib_inject_qp(struct pib_hca *hca, const struct pib_inject_cfg *cfg,
		  struct netlink_ext_ack *extack)
{
	struct pib_qp *qp;
	int err;

	if (cfg->object <= 1)
		err = check_special(cfg, extack);
	else
		err = check_ordinary(cfg, extack);
	if (err)
		return err;
	qp = find_named_qp(hca, cfg);
	if (!qp && cfg->object <= 1) {
		NL_SET_ERR_MSG(extack, "the HCA has no port of that number");
		return -ENOENT;
	}
	if (!qp) {
		NL_SET_ERR_MSG(extack, "the HCA has no queue pair of that number");
		return -ENOENT;
	}
	err = consult_qp(qp, cfg, extack);
	if (!err && !kinds[cfg->kind].now)
		err = pib_injects_add(&hca->injects, cfg, extack);
	pib_qp_put(qp);
	return err;
}

/*
 * Have all ordinary queue pairs fail, or those that were made with @srq if it is not NULL. They are
 * visited one after the other, without a common lock.
 */
static void fail_all(struct pib_hca *hca, const struct pib_srq *srq)
{
	unsigned long index;
	struct pib_qp *qp;

	pib_for_each_qp(hca, qp, index, 0, PIB_QPN_MASK) {
		if (srq && qp->rq.srq != srq)
			continue;
		spin_lock_bh(&qp->lock);
		if (qp->state != IB_QPS_RESET)
			pib_qp_error(qp, PIB_CAUSE_INJECTED, -1);
		spin_unlock_bh(&qp->lock);
	}
}

void pib_inject_srq_qps(struct pib_srq *srq)
{
	fail_all(to_hca(srq->ib.device), srq);
}

void pib_inject_all_qps(struct pib_hca *hca)
{
	fail_all(hca, NULL);
}

bool pib_inject_is_managements(struct pib_hca *hca, const struct pib_cq *cq)
{
	unsigned long index;
	bool found = false;
	struct pib_qp *qp;

	pib_for_each_qp(hca, qp, index, PIB_QP_FIRST_SPECIAL, ULONG_MAX)
		found |= qp->sq.cq == cq || qp->rq.cq == cq;
	return found;
}

/* ---- rules: looking for them ---- */

#define for_each_rule(rule, qp) \
	list_for_each_entry_rcu(rule, &(qp)->hca->injects.rules, entry)

static bool rule_concerns(const struct pib_inject *rule, const struct pib_qp *qp)
{
	return rule->cfg.object == qp->qpn &&
	       (qp->qpn > 1 || rule->cfg.port == qp->path.port->p.num);
}

/* Trace a rule that has acted. */
static void trace_injected(const struct pib_qp *qp, const struct pib_inject *rule)
{
	struct pib_trace_qp who = pib_qp_traced(qp);

	trace_pib_injected(&who, rule->id, rule->cfg.kind);
}

static bool is_ack(const struct pib_burst *b)
{
	return b->h.op == PIB_OP_ACK && PIB_AETH_KIND(b->h.syndrome) == PIB_AETH_ACK;
}

/* Return: true if the rule is about packets such as those of @b. */
static bool wants_packets(const struct pib_inject *rule, struct pib_burst *b)
{
	if (!pib_inject_mad_wanted(&rule->cfg, b))
		return false;
	switch (rule->cfg.kind) {
	case PIB_INJECT_KIND_CORRUPT:
		return b->len;
	case PIB_INJECT_KIND_NAK:
		return rule->cfg.arg == NAK_SEQUENCE && is_ack(b);
	default:
		return kinds[rule->cfg.kind].packets;
	}
}

/* Return: the first rule that acts on the next packet of @b; NULL: none does. */
static struct pib_inject *packet_rule(struct pib_qp *qp, struct pib_burst *b)
{
	struct pib_inject *rule;

	for_each_rule(rule, qp) {
		if (rule_concerns(rule, qp) && wants_packets(rule, b) && pib_inject_acts(rule))
			return rule;
	}
	return NULL;
}

static bool has_packet_rule(struct pib_qp *qp, struct pib_burst *b)
{
	struct pib_inject *rule;

	for_each_rule(rule, qp) {
		if (rule_concerns(rule, qp) && wants_packets(rule, b))
			return true;
	}
	return false;
}

/* ---- packets ---- */

static void drop_packet(struct pib_qp *qp, struct pib_burst *p, u8 reason)
{
	pib_qp_stat(qp, PIB_STAT_TX_INJECTED);
	pib_kport_failed(qp->path.port, p, PIB_CAPTURE_OUT, reason);
	pib_burst_free(p);
}

/* Change the payload of the rule's packet. */
static void corrupt_bytes(struct pib_inject *rule, u8 *bytes, u32 len)
{
	if (rule->cfg.kind != PIB_INJECT_KIND_CORRUPT) {
		pib_inject_mad_change(&rule->cfg, bytes);
		return;
	}
	spin_lock(&rule->lock);
	pib_fault_damage(&rule->fault, PIB_FAULT_MGMT, 1, bytes, len);
	spin_unlock(&rule->lock);
}

/* Copy @p, with another payload. Return: NULL: no memory. */
static struct pib_burst *corrupt_copy(struct pib_inject *rule, struct pib_burst *p)
{
	struct pib_burst *c = pib_burst_make(&p->h, 1, p->len, p->pmtu);
	void *bytes;

	if (!c)
		return NULL;
	bytes = pib_burst_own(c, c->len);
	if (!bytes || pib_burst_read(p, 0, bytes, c->len)) {
		pib_burst_free(c);
		return NULL;
	}
	corrupt_bytes(rule, bytes, c->len);
	return c;
}

static void corrupt_packet(struct pib_qp *qp, struct pib_inject *rule, struct pib_burst *p,
			   struct list_head *out)
{
	struct pib_burst *c = corrupt_copy(rule, p);

	if (c)
		list_add_tail(&c->entry, out);
	else
		pib_qp_drop(qp, PIB_STAT_TX_NOMEM, p, 1);
	pib_burst_free(p);
}

/* Send @p twice, or once where there is no memory. */
static void duplicate_packet(struct pib_burst *p, struct list_head *out)
{
	struct pib_burst *c = pib_burst_clone(p);

	list_add_tail(&p->entry, out);
	if (!c)
		return;
	c->copy = true;
	list_add_tail(&c->entry, out);
}

static void apply_rule(struct pib_qp *qp, struct pib_inject *rule, struct pib_burst *p,
		       struct list_head *out)
{
	switch (rule->cfg.kind) {
	case PIB_INJECT_KIND_DROP:
		drop_packet(qp, p, PIB_CAPTURE_INJECTED);
		return;
	case PIB_INJECT_KIND_DAMAGE:
		drop_packet(qp, p, PIB_CAPTURE_DAMAGED);
		return;
	case PIB_INJECT_KIND_CORRUPT:
	case PIB_INJECT_KIND_MAD_STATUS:
	case PIB_INJECT_KIND_MAD_LIE:
		corrupt_packet(qp, rule, p, out);
		return;
	case PIB_INJECT_KIND_DUPLICATE:
		duplicate_packet(p, out);
		return;
	case PIB_INJECT_KIND_TX_NOMEM:
		pib_qp_drop(qp, PIB_STAT_TX_NOMEM, p, 1);
		pib_burst_free(p);
		return;
	case PIB_INJECT_KIND_DELAY:
		p->due = ktime_get_ns() + rule->cfg.delay;
		break;
	default:
		p->h.syndrome = PIB_AETH(PIB_AETH_NAK, PIB_NAK_PSN);
		break;
	}
	list_add_tail(&p->entry, out);
}

/* Copy the bytes of kept bursts, if there is memory, so that nobody's memory is held for long. */
static void detach_packets(struct list_head *out)
{
	struct pib_burst *b;

	list_for_each_entry(b, out, entry)
		pib_burst_detach(b);
}

/* Make packets [@from, @to) of @b a burst of their own. Return: NULL: none, or no memory. */
static struct pib_burst *cut_packets(struct pib_qp *qp, struct pib_burst *b, u32 from, u32 to)
{
	struct pib_burst *p;

	if (from == to)
		return NULL;
	p = pib_burst_slice(b, from, to - from);
	if (!p)
		pib_qp_drop_part(qp, PIB_STAT_TX_NOMEM, b, to - from, from, to - from);
	return p;
}

static void pass_packets(struct pib_qp *qp, struct pib_burst *b, u32 from, u32 to,
			 struct list_head *out)
{
	struct pib_burst *p = cut_packets(qp, b, from, to);

	if (p)
		list_add_tail(&p->entry, out);
}

void pib_inject_tx(struct pib_qp *qp, struct pib_burst *b, struct list_head *out)
{
	struct pib_inject *rule;
	bool delayed = false;
	struct pib_burst *p;
	u32 i, from = 0;

	lockdep_assert_held(&qp->lock);

	if (!has_packet_rule(qp, b)) {
		list_add_tail(&b->entry, out);
		return;
	}
	for (i = 0; i < b->npkts; i++) {
		rule = packet_rule(qp, b);
		if (!rule)
			continue;
		trace_injected(qp, rule);
		pass_packets(qp, b, from, i, out);
		p = cut_packets(qp, b, i, i + 1);
		if (p)
			apply_rule(qp, rule, p, out);
		delayed |= rule->cfg.kind == PIB_INJECT_KIND_DELAY;
		from = i + 1;
	}
	if (!from) {
		list_add_tail(&b->entry, out);
		return;
	}
	pass_packets(qp, b, from, b->npkts, out);
	pib_burst_free(b);
	if (delayed)
		detach_packets(out);
}

/* ---- requests and work requests ---- */

static bool begins_request(const struct pib_act *act)
{
	switch (act->kind) {
	case PIB_ACT_SEND:
	case PIB_ACT_WRITE:
		return act->first;
	case PIB_ACT_ABORT_RECV:
		return false;
	default:
		return true;
	}
}

/* Return: how the rule refuses a request; PIB_RES_OK: the rule is about something else. */
static enum pib_res rule_refusal(const struct pib_inject *rule)
{
	static const u8 naks[NAK_CODES] = {
		[NAK_INVALID_REQUEST] = PIB_RES_INV_REQ,
		[NAK_REMOTE_ACCESS] = PIB_RES_ACCESS,
		[NAK_REMOTE_OPERATION] = PIB_RES_OP,
	};

	if (rule->cfg.kind == PIB_INJECT_KIND_RNR)
		return PIB_RES_RNR;
	return rule->cfg.kind == PIB_INJECT_KIND_NAK ? naks[rule->cfg.arg] : PIB_RES_OK;
}

enum pib_res pib_inject_request(struct pib_qp *qp, struct pib_act *act)
{
	struct pib_inject *rule;
	enum pib_res res;

	lockdep_assert_held(&qp->lock);

	if (!pib_qp_is_reliable(qp) || !begins_request(act))
		return PIB_RES_OK;
	for_each_rule(rule, qp) {
		res = rule_refusal(rule);
		if (!res || !rule_concerns(rule, qp) || !pib_inject_acts(rule))
			continue;
		trace_injected(qp, rule);
		/* The request is refused as a whole: no head of the message is taken in first. */
		if (res == PIB_RES_RNR)
			act->take_recv = false;
		/* No receive reports this, since none was taken. */
		if (res == PIB_RES_OP)
			qp->events |= BIT(IB_EVENT_QP_FATAL);
		return res;
	}
	return PIB_RES_OK;
}

/* Return: the status of the first rule of @kind that acts, or 0. */
static u32 chosen_status(struct pib_qp *qp, u8 kind)
{
	struct pib_inject *rule;

	lockdep_assert_held(&qp->lock);

	for_each_rule(rule, qp) {
		if (rule->cfg.kind != kind || !rule_concerns(rule, qp) || !pib_inject_acts(rule))
			continue;
		trace_injected(qp, rule);
		return rule->cfg.arg;
	}
	return 0;
}

u32 pib_inject_send(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	return chosen_status(qp, PIB_INJECT_KIND_SEND_STATUS);
}

enum pib_res pib_inject_recv(struct pib_qp *qp)
{
	u32 status = chosen_status(qp, PIB_INJECT_KIND_RECV_STATUS);

	lockdep_assert_held(&qp->lock);
	if (!status)
		return PIB_RES_OK;
	pib_rq_complete(qp, status, 0, NULL);
	return status == PIB_WC_LOC_LEN_ERR ? PIB_RES_LEN : PIB_RES_OP;
}

/* ---- arriving bursts ---- */

/*
 * Return: the counter of what the rule does to an arriving burst; 0: the rule is about something
 * else.
 */
static enum pib_stat arrival_counter(const struct pib_inject *rule)
{
	switch (rule->cfg.kind) {
	case PIB_INJECT_KIND_RX_NOMEM:
		return PIB_STAT_RX_NOMEM;
	case PIB_INJECT_KIND_RX_FULL:
		return PIB_STAT_RX_FULL;
	default:
		return 0;
	}
}

enum pib_stat pib_inject_rx(struct pib_qp *qp, struct pib_burst *b)
{
	struct pib_inject *rule;
	enum pib_stat why;

	if (b->rules_asked)
		return 0;
	b->rules_asked = true;
	for_each_rule(rule, qp) {
		why = arrival_counter(rule);
		if (!why || !rule_concerns(rule, qp) || !pib_inject_acts(rule))
			continue;
		trace_injected(qp, rule);
		return why;
	}
	return 0;
}

/* ---- traps ---- */

static bool drops_trap(struct pib_inject *rule, const struct pib_kport *port, struct pib_burst *b)
{
	return rule->cfg.kind == PIB_INJECT_KIND_DROP && !rule->cfg.object &&
	       rule->cfg.port == port->p.num && pib_inject_mad_wanted(&rule->cfg, b) &&
	       pib_inject_acts(rule);
}

struct pib_burst *pib_kport_inject_trap(struct pib_kport *port, struct pib_burst *b)
{
	struct pib_hca *hca = pib_kport_hca(port);
	struct pib_trace_qp who = { .device = hca->nd.name, .port = port->p.num };
	struct pib_inject *rule;

	if (!pib_injects_any(&hca->injects))
		return b;
	list_for_each_entry_rcu(rule, &hca->injects.rules, entry) {
		if (!drops_trap(rule, port, b))
			continue;
		trace_pib_injected(&who, rule->id, rule->cfg.kind);
		pib_hca_stat(hca, PIB_STAT_TX_INJECTED);
		pib_kport_failed(port, b, PIB_CAPTURE_OUT, PIB_CAPTURE_INJECTED);
		pib_burst_free(b);
		return NULL;
	}
	return b;
}
