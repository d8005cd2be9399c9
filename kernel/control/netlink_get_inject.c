// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The answers to gets about injections. */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <net/genetlink.h>
#include "control/netlink_dump.h"
#include "control/netlink_gen.h"
#include "control/registry.h"
#include "hca/hca.h"
#include "verbs/name.h"

/*
 * Return: the number of a process in the requester's PID namespace, from that in the initial one;
 * 0: none.
 */
static u32 requester_pid(u32 pid)
{
	u32 nr;

	rcu_read_lock();
	nr = pid_vnr(find_pid_ns(pid, &init_pid_ns));
	rcu_read_unlock();
	return nr;
}

/* Put the attributes that only some kinds have. */
static int put_kind_attrs(struct sk_buff *skb, const struct pib_inject_cfg *cfg)
{
	if (cfg->object != PIB_INJECT_NO_QP && nla_put_u32(skb, PIB_IN_OBJECT, cfg->object))
		return -EMSGSIZE;
	if (cfg->port && nla_put_u32(skb, PIB_IN_PORT, cfg->port))
		return -EMSGSIZE;
	if (cfg->mgmt_class && nla_put_u8(skb, PIB_IN_MGMT_CLASS, cfg->mgmt_class))
		return -EMSGSIZE;
	if (cfg->mad_attr && nla_put_u16(skb, PIB_IN_MAD_ATTRIBUTE, cfg->mad_attr))
		return -EMSGSIZE;
	if (cfg->kind == PIB_INJECT_KIND_MAD_LIE &&
	    nla_put_u64_64bit(skb, PIB_IN_VALUE, cfg->value, PIB_IN_PAD))
		return -EMSGSIZE;
	if (cfg->kind == PIB_INJECT_KIND_VERB_ERROR &&
	    nla_put_string(skb, PIB_IN_VERB, pib_verb_names[cfg->verb]))
		return -EMSGSIZE;
	return cfg->pid ? nla_put_u32(skb, PIB_IN_PID, requester_pid(cfg->pid)) : 0;
}

static int put_inject(struct sk_buff *skb, const struct pib_inject *rule)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_A_INJECT);
	const struct pib_inject_cfg *cfg = &rule->cfg;

	if (!nest || nla_put_u32(skb, PIB_IN_ID, rule->id) ||
	    nla_put_u8(skb, PIB_IN_KIND, cfg->kind) ||
	    put_kind_attrs(skb, cfg) ||
	    nla_put_u32(skb, PIB_IN_ARG, cfg->arg) ||
	    nla_put_u64_64bit(skb, PIB_IN_DELAY, cfg->delay, PIB_IN_PAD) ||
	    nla_put_u32(skb, PIB_IN_AFTER, cfg->after) ||
	    nla_put_u32(skb, PIB_IN_EVERY, cfg->every) ||
	    nla_put_u32(skb, PIB_IN_COUNT, cfg->count) ||
	    nla_put_u32(skb, PIB_IN_PROBABILITY, cfg->probability) ||
	    nla_put_u64_64bit(skb, PIB_IN_SEED, cfg->seed, PIB_IN_PAD) ||
	    nla_put_u64_64bit(skb, PIB_IN_SEEN, rule->seen, PIB_IN_PAD) ||
	    nla_put_u64_64bit(skb, PIB_IN_DONE, rule->done, PIB_IN_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Put a message. @name: the value of @attr, which is PIB_A_HCA_NAME or PIB_A_SWITCH_NAME */
static int put_rule(struct pib_nl_answer *a, int attr, const char *name,
		    const struct pib_inject *rule)
{
	void *hdr = pib_nl_answer_begin(a);

	if (!hdr)
		return -EMSGSIZE;
	return pib_nl_answer_end(a, hdr, !nla_put_string(a->skb, attr, name) &&
				 !put_inject(a->skb, rule));
}

/* Put the rules of node @id, from behind the one whose number the cursor has as its port. */
static int dump_rules(struct pib_nl_answer *a, struct pib_nl_cursor *c, u32 id, int attr,
		      const char *name, struct pib_injects *in)
{
	struct pib_inject rule = { .id = c->begun == id ? c->port : 0 };
	int err;

	while (pib_injects_next(in, rule.id, &rule)) {
		err = put_rule(a, attr, name, &rule);
		if (err)
			return err;
		c->begun = id;
		c->port = rule.id;
	}
	c->id = id;
	return 0;
}

static int dump_hcas_rules(struct pib_nl_answer *a, struct pib_nl_cursor *c, struct pib_net *pn)
{
	char name[IB_DEVICE_NAME_MAX];
	struct pib_hca_ctl *ctl;
	int err = 0;

	while (!err && (ctl = pib_hca_ctl_from(pn, c->id + 1))) {
		pib_hca_get_name(ctl->hca, name);
		err = dump_rules(a, c, ctl->id, PIB_A_HCA_NAME, name, &ctl->hca->injects);
	}
	return err;
}

static int dump_switches_rules(struct pib_nl_answer *a, struct pib_nl_cursor *c,
			       struct pib_net *pn)
{
	struct pib_switch *sw;
	int err = 0;

	while (!err && (sw = pib_switch_from(pn, c->id + 1)))
		err = dump_rules(a, c, sw->id, PIB_A_SWITCH_NAME, sw->name, &sw->injects);
	return err;
}

int pib_nl_inject_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pib_nl_cursor *c = (struct pib_nl_cursor *)cb->args;
	struct pib_nl_answer a;
	struct pib_net *pn;
	int err = 0;

	pn = pib_nl_dump_begin(skb, cb, &a, PIB_CMD_INJECT_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	if (!c->phase) {
		err = dump_hcas_rules(&a, c, pn);
		if (!err) {
			c->phase = 1;
			c->id = 0;
		}
	}
	if (!err)
		err = dump_switches_rules(&a, c, pn);
	return pib_nl_dump_end(pn, skb, err);
}
