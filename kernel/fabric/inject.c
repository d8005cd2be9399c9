// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of injections: the list of them, and when they act. Random choices are made as those of a
 * bad cable (proto/fault.c), from a seed.
 */
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "fabric/inject.h"

DEFINE_STATIC_KEY_DEFERRED_FALSE(pib_inject_key, HZ);

void pib_injects_init(struct pib_injects *in)
{
	mutex_init(&in->lock);
	INIT_LIST_HEAD(&in->rules);
}

void pib_injects_exit(void)
{
	static_key_deferred_flush(&pib_inject_key);
}

/* Return: true if the rule will never act again. */
static bool rule_spent(struct pib_inject *rule)
{
	return rule->cfg.count && READ_ONCE(rule->done) >= rule->cfg.count;
}

/* Take the rule off the list. It is freed after a grace period, for readers may still use it. */
static void rule_drop(struct pib_injects *in, struct pib_inject *rule)
{
	lockdep_assert_held(&in->lock);

	list_del_rcu(&rule->entry);
	in->num--;
	kfree_rcu(rule, rcu);
	static_branch_slow_dec_deferred(&pib_inject_key);
}

static bool check_number(const struct pib_injects *in, struct netlink_ext_ack *extack)
{
	if (in->last_id < INT_MAX)
		return true;
	NL_SET_ERR_MSG(extack, "no number is left for the injection");
	return false;
}

static bool make_room(struct pib_injects *in, struct netlink_ext_ack *extack)
{
	struct pib_inject *rule;

	if (in->num < PIB_INJECT_MAX)
		return true;
	list_for_each_entry(rule, &in->rules, entry) {
		if (rule_spent(rule)) {
			rule_drop(in, rule);
			return true;
		}
	}
	NL_SET_ERR_MSG(extack, "the HCA or switch has 64 injections, none of which is over");
	return false;
}

static struct pib_inject *rule_alloc(const struct pib_inject_cfg *cfg)
{
	const struct pib_fault_cfg fault = { .seed = cfg->seed, .loss = cfg->probability };
	struct pib_inject *rule = kzalloc(sizeof(*rule), GFP_KERNEL);

	if (!rule)
		return NULL;
	spin_lock_init(&rule->lock);
	rule->cfg = *cfg;
	pib_fault_init(&rule->fault, &fault, 0);
	return rule;
}

void pib_injects_prepare(void)
{
	static_branch_deferred_inc(&pib_inject_key);
}

void pib_injects_unprepare(void)
{
	static_branch_slow_dec_deferred(&pib_inject_key);
}

int pib_injects_add(struct pib_injects *in, const struct pib_inject_cfg *cfg,
		    struct netlink_ext_ack *extack)
{
	struct pib_inject *rule = rule_alloc(cfg);
	int id;

	if (!rule)
		return -ENOMEM;
	mutex_lock(&in->lock);
	if (!check_number(in, extack) || !make_room(in, extack)) {
		mutex_unlock(&in->lock);
		kfree(rule);
		return -ENOSPC;
	}
	id = ++in->last_id;
	rule->id = id;
	list_add_tail_rcu(&rule->entry, &in->rules);
	in->num++;
	mutex_unlock(&in->lock);
	return id;
}

int pib_injects_del(struct pib_injects *in, u32 id)
{
	struct pib_inject *rule, *next;
	int err = id ? -ENOENT : 0;

	mutex_lock(&in->lock);
	list_for_each_entry_safe(rule, next, &in->rules, entry) {
		if (id && rule->id != id)
			continue;
		rule_drop(in, rule);
		err = 0;
	}
	mutex_unlock(&in->lock);
	return err;
}

void pib_injects_del_qp(struct pib_injects *in, u32 qpn)
{
	struct pib_inject *rule, *next;

	/* Nobody adds a rule now: whoever makes one for this queue pair holds a reference to it. */
	if (list_empty_careful(&in->rules))
		return;
	mutex_lock(&in->lock);
	list_for_each_entry_safe(rule, next, &in->rules, entry)
		if (rule->cfg.object == qpn)
			rule_drop(in, rule);
	mutex_unlock(&in->lock);
}

bool pib_injects_next(struct pib_injects *in, u32 id, struct pib_inject *copy)
{
	struct pib_inject *rule;
	bool found = false;

	mutex_lock(&in->lock);
	list_for_each_entry(rule, &in->rules, entry) {
		if (rule->id <= id)
			continue;
		copy->id = rule->id;
		copy->cfg = rule->cfg;
		spin_lock_bh(&rule->lock);
		copy->seen = rule->seen;
		copy->done = rule->done;
		spin_unlock_bh(&rule->lock);
		found = true;
		break;
	}
	mutex_unlock(&in->lock);
	return found;
}

u32 pib_injects_of_qp(const struct pib_injects *in, u32 qpn)
{
	struct pib_inject *rule;
	u32 n = 0;

	if (!pib_injects_any(in))
		return 0;
	rcu_read_lock();
	list_for_each_entry_rcu(rule, &in->rules, entry)
		n += rule->cfg.object == qpn && !rule_spent(rule);
	rcu_read_unlock();
	return n;
}

static bool rule_chance(struct pib_inject *rule)
{
	struct pib_fate fate;

	if (rule->cfg.probability == PIB_FAULT_ALWAYS)
		return true;
	pib_fault_packet(&rule->fault, PIB_FAULT_DATA, 0, &fate);
	return fate.lost;
}

/* Return: true if it is the turn of the packet or request that was just counted in @seen. */
static bool rule_due(const struct pib_inject *rule)
{
	u64 nth;

	if (rule->seen <= rule->cfg.after)
		return false;
	div64_u64_rem(rule->seen - rule->cfg.after, rule->cfg.every, &nth);
	return !nth;
}

bool pib_inject_acts(struct pib_inject *rule)
{
	bool acts = false;

	spin_lock(&rule->lock);
	if (!rule_spent(rule)) {
		rule->seen++;
		acts = rule_due(rule) && rule_chance(rule);
		WRITE_ONCE(rule->done, rule->done + acts);
	}
	spin_unlock(&rule->lock);
	return acts;
}

/* Return: true if the rule is about @verb and the calling process. */
static bool rule_refuses(const struct pib_inject *rule, u32 verb)
{
	const struct pib_inject_cfg *cfg = &rule->cfg;

	return cfg->kind == PIB_INJECT_KIND_VERB_ERROR && cfg->verb == verb &&
	       (!cfg->pid || cfg->pid == task_tgid_nr(current));
}

int pib_inject_verb(const struct pib_injects *in, u32 verb)
{
	struct pib_inject *rule;
	int err = 0;

	local_bh_disable();
	rcu_read_lock();
	list_for_each_entry_rcu(rule, &in->rules, entry) {
		if (!rule_refuses(rule, verb) || !pib_inject_acts(rule))
			continue;
		err = -(int)rule->cfg.arg;
		break;
	}
	rcu_read_unlock();
	local_bh_enable();
	return err;
}
