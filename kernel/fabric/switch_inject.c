// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Injections into the answers of a switch's agents, and its traps. Packets that pass through the
 * switch are left alone, directed-route SMPs included: cables have faults for that.
 */
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "core/net.h"
#include "core/task.h"
#include "packet/burst.h"
#include "proto/node.h"
#include "proto/smi.h"
#include "tracing/mad.h"
#include "tracing/transport.h"
#include "fabric/drop.h"
#include "fabric/forward.h"
#include "fabric/inject_mad.h"
#include "fabric/switch.h"
#include "fabric/switch_inject.h"

/* Most answers that wait. Neighbours ask as fast as they like, and what is beyond this is lost. */
#define LATE_ANSWERS_MAX	256

/**
 * struct late_answer - an answer that a rule has delayed
 * @entry: in pib_late_answers.answers
 * @b: answer; owned
 * @due: when it leaves, ns
 * @out_port: as pib_switch_send() has it
 */
struct late_answer {
	struct list_head entry;
	struct pib_burst *b;
	u64 due;
	u8 out_port;
};

/* ---- late answers ---- */

/*
 * Take the first answer that is due off the list.
 *
 * Return: the answer; NULL: none is due. @next is then the time of the next one, 0: there is none.
 */
static struct late_answer *late_dequeue(struct pib_late_answers *late, u64 now, u64 *next)
{
	struct late_answer *a;

	*next = 0;
	spin_lock_bh(&late->lock);
	list_for_each_entry(a, &late->answers, entry) {
		if (a->due <= now) {
			list_del(&a->entry);
			late->num--;
			spin_unlock_bh(&late->lock);
			return a;
		}
		if (!*next || a->due < *next)
			*next = a->due;
	}
	spin_unlock_bh(&late->lock);
	return NULL;
}

static void late_send(struct pib_switch *sw, struct late_answer *a)
{
	struct pib_burst *b = a->b;

	trace_pib_mad_sent(sw->name, a->out_port == PIB_PORT_BY_LID ? 0 : a->out_port, b->h.dqpn,
			   b->h.slid, b->h.dlid, b->linear);
	local_bh_disable();
	rcu_read_lock();
	pib_switch_send(sw, a->out_port, b);
	rcu_read_unlock();
	pib_tasks_run();
	local_bh_enable();
	kfree(a);
}

static void late_work(struct work_struct *work)
{
	struct pib_switch *sw = container_of(work, struct pib_switch, late.work.work);
	u64 now = ktime_get_ns(), next;
	struct late_answer *a;

	while ((a = late_dequeue(&sw->late, now, &next)))
		late_send(sw, a);
	if (next)
		queue_delayed_work(pib_wq, &sw->late.work, nsecs_to_jiffies(next - now) + 1);
}

/* Keep @b until @delay ns have passed. Return: false: no memory or no room, @b is the caller's. */
static bool late_enqueue(struct pib_switch *sw, u8 out_port, struct pib_burst *b, u64 delay)
{
	struct late_answer *a = kmalloc(sizeof(*a), GFP_ATOMIC);
	bool room;

	if (!a)
		return false;
	a->b = b;
	a->due = ktime_get_ns() + delay;
	a->out_port = out_port;
	spin_lock_bh(&sw->late.lock);
	room = sw->late.num < LATE_ANSWERS_MAX;
	if (room) {
		list_add_tail(&a->entry, &sw->late.answers);
		sw->late.num++;
	}
	spin_unlock_bh(&sw->late.lock);
	if (room)
		mod_delayed_work(pib_wq, &sw->late.work, 0);
	else
		kfree(a);
	return room;
}

void pib_switch_injects_init(struct pib_switch *sw)
{
	pib_injects_init(&sw->injects);
	spin_lock_init(&sw->late.lock);
	INIT_LIST_HEAD(&sw->late.answers);
	INIT_DELAYED_WORK(&sw->late.work, late_work);
}

void pib_switch_injects_exit(struct pib_switch *sw)
{
	struct late_answer *a;
	u64 next;

	pib_injects_del(&sw->injects, 0);
	cancel_delayed_work_sync(&sw->late.work);
	while ((a = late_dequeue(&sw->late, U64_MAX, &next))) {
		local_bh_disable();
		pib_burst_free(a->b);
		local_bh_enable();
		kfree(a);
	}
}

/* ---- rules ---- */

static bool is_agents_kind(u8 kind)
{
	return kind == PIB_INJECT_KIND_DROP || kind == PIB_INJECT_KIND_DELAY ||
	       kind == PIB_INJECT_KIND_MAD_STATUS || kind == PIB_INJECT_KIND_MAD_LIE;
}

static int check_rule(const struct pib_inject_cfg *cfg, struct netlink_ext_ack *extack)
{
	if (!is_agents_kind(cfg->kind)) {
		NL_SET_ERR_MSG(extack,
			       "what the agents of a switch send can only be dropped, delayed, or changed by mad-status or lie");
		return -EOPNOTSUPP;
	}
	if (cfg->object > 1 || cfg->port) {
		NL_SET_ERR_MSG(extack,
			       "a switch has queue pairs 0 and 1 alone, which belong to no port");
		return -ENOENT;
	}
	if (cfg->kind == PIB_INJECT_KIND_DELAY && !cfg->delay) {
		NL_SET_ERR_MSG(extack, "the delay of the answer is missing");
		return -EINVAL;
	}
	if (cfg->kind == PIB_INJECT_KIND_DROP || cfg->kind == PIB_INJECT_KIND_DELAY)
		return 0;
	return pib_inject_mad_check(cfg, extack);
}

int pib_switch_inject(struct pib_switch *sw, const struct pib_inject_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	return check_rule(cfg, extack) ?: pib_injects_add(&sw->injects, cfg, extack);
}

/* Return: the first rule that acts on @b, which its agent's queue pair sends; NULL: none does. */
static struct pib_inject *answer_rule(struct pib_switch *sw, struct pib_burst *b)
{
	struct pib_inject *rule;

	list_for_each_entry_rcu(rule, &sw->injects.rules, entry) {
		if (rule->cfg.object == b->h.sqpn && pib_inject_mad_wanted(&rule->cfg, b) &&
		    pib_inject_acts(rule))
			return rule;
	}
	return NULL;
}

static void drop_answer(struct pib_switch *sw, struct pib_burst *b)
{
	pib_kport_failed(sw->nd.ports[0], b, PIB_CAPTURE_OUT, PIB_CAPTURE_INJECTED);
	pib_burst_free(b);
}

struct pib_burst *pib_switch_inject_answer(struct pib_switch *sw, u8 out_port, struct pib_burst *b)
{
	struct pib_inject *rule = answer_rule(sw, b);
	struct pib_trace_qp who = { .device = sw->name, .qpn = b->h.sqpn };

	if (!rule)
		return b;
	trace_pib_injected(&who, rule->id, rule->cfg.kind);
	switch (rule->cfg.kind) {
	case PIB_INJECT_KIND_DELAY:
		if (late_enqueue(sw, out_port, b, rule->cfg.delay))
			return NULL;
		break;
	case PIB_INJECT_KIND_MAD_STATUS:
	case PIB_INJECT_KIND_MAD_LIE:
		pib_inject_mad_change(&rule->cfg, b->linear);
		return b;
	default:
		break;
	}
	drop_answer(sw, b);
	return NULL;
}
