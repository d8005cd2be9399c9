// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Control by generic netlink: injections. */
#include <linux/errno.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <net/genetlink.h>
#include "control/inject.h"
#include "control/netlink.h"
#include "control/netlink_gen.h"
#include "control/netlink_dump.h"
#include "core/net.h"
#include "tracing/values.h"

/*
 * Get the name of the HCA or switch. Return: the name; NULL: none is given, or both are, which the
 * extack says.
 */
static const char *get_node_name(struct genl_info *info, bool *is_switch)
{
	*is_switch = info->attrs[PIB_A_SWITCH_NAME];
	if (*is_switch && info->attrs[PIB_A_HCA_NAME]) {
		NL_SET_ERR_MSG(info->extack, "the request names both an HCA and a switch");
		return NULL;
	}
	return pib_nl_name(info, *is_switch ? PIB_A_SWITCH_NAME : PIB_A_HCA_NAME);
}

static int parse_inject(struct genl_info *info, struct nlattr **tb)
{
	int err = nla_parse_nested(tb, PIB_IN_MAX, info->attrs[PIB_A_INJECT],
				   pib_inject_nl_policy, info->extack);

	if (err || (!tb[PIB_IN_SEEN] && !tb[PIB_IN_DONE]))
		return err;
	NL_SET_ERR_MSG(info->extack, "the counts of the rule cannot be set");
	return -EINVAL;
}

/* Return: the first of these attributes that is given; NULL: none is. */
static const struct nlattr *first_given(struct nlattr **tb, const u8 *attrs, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (tb[attrs[i]])
			return tb[attrs[i]];
	return NULL;
}

/* Refuse attributes that say when a rule acts: other injections happen at once, and only once. */
static int check_when(struct genl_info *info, struct nlattr **tb)
{
	static const u8 when[] = {
		PIB_IN_DELAY, PIB_IN_AFTER, PIB_IN_EVERY, PIB_IN_COUNT, PIB_IN_PROBABILITY,
		PIB_IN_SEED, PIB_IN_PORT, PIB_IN_MGMT_CLASS, PIB_IN_MAD_ATTRIBUTE,
	};
	const struct nlattr *given = first_given(tb, when, ARRAY_SIZE(when));

	if (!given)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, given,
			    "the injection happens at once, so it takes no condition");
	return -EINVAL;
}

/* Calls that can fail without leaving anything behind. */
static const bool verb_may_fail[] = {
	[PIB_TRACED_ALLOC_CONTEXT] = true,
	[PIB_TRACED_ALLOC_PD] = true,
	[PIB_TRACED_ALLOC_XRCD] = true,
	[PIB_TRACED_CREATE_AH] = true,
	[PIB_TRACED_REG_MR] = true,
	[PIB_TRACED_REG_DMABUF_MR] = true,
	[PIB_TRACED_REG_DM_MR] = true,
	[PIB_TRACED_REREG_MR] = true,
	[PIB_TRACED_ADVISE_MR] = true,
	[PIB_TRACED_ALLOC_MW] = true,
	[PIB_TRACED_ALLOC_DM] = true,
	[PIB_TRACED_CREATE_CQ] = true,
	[PIB_TRACED_RESIZE_CQ] = true,
	[PIB_TRACED_CREATE_SRQ] = true,
	[PIB_TRACED_MODIFY_SRQ] = true,
	[PIB_TRACED_QUERY_SRQ] = true,
	[PIB_TRACED_CREATE_QP] = true,
	[PIB_TRACED_MODIFY_QP] = true,
	[PIB_TRACED_QUERY_QP] = true,
	[PIB_TRACED_ATTACH_MCAST] = true,
};

/* Return: enum pib_verb, or -EINVAL, with a reason. */
static int find_verb(struct genl_info *info, struct nlattr *attr)
{
	u32 verb;

	for (verb = 0; verb < ARRAY_SIZE(verb_may_fail); verb++)
		if (verb_may_fail[verb] && !nla_strcmp(attr, pib_verb_names[verb]))
			return verb;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "the call is unknown, or cannot be made to fail");
	return -EINVAL;
}

/*
 * Return: the number in the initial PID namespace of the process that has @number in the
 * requester's; 0: there is none.
 */
static u32 find_process(u32 number)
{
	struct pid *pid;
	u32 nr = 0;

	rcu_read_lock();
	pid = find_vpid(number);
	/* A thread's number is not that of a process. */
	if (pid && pid_task(pid, PIDTYPE_TGID))
		nr = pid_nr(pid);
	rcu_read_unlock();
	return nr;
}

/* Refuse attributes about queue pairs: the rule is about a call. */
static int check_no_object(struct genl_info *info, struct nlattr **tb)
{
	static const u8 others[] = {
		PIB_IN_OBJECT, PIB_IN_PORT, PIB_IN_MGMT_CLASS, PIB_IN_MAD_ATTRIBUTE,
	};
	const struct nlattr *given = first_given(tb, others, ARRAY_SIZE(others));

	if (!given)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, given, "the call has no queue pair, port or MAD");
	return -EINVAL;
}

static int get_verb_error(struct genl_info *info, struct nlattr **tb, struct pib_inject_cfg *cfg)
{
	int err = check_no_object(info, tb);
	int verb;

	if (err)
		return err;
	if (!tb[PIB_IN_VERB]) {
		NL_SET_ERR_MSG(info->extack, "the call that is to fail is missing");
		return -EINVAL;
	}
	verb = find_verb(info, tb[PIB_IN_VERB]);
	if (verb < 0)
		return verb;
	if (!cfg->arg || cfg->arg > EHWPOISON) {
		NL_SET_ERR_MSG(info->extack, "the error of the call is missing or unknown");
		return -EINVAL;
	}
	if (tb[PIB_IN_PID]) {
		cfg->pid = find_process(nla_get_u32(tb[PIB_IN_PID]));
		if (!cfg->pid) {
			NL_SET_ERR_MSG_ATTR(info->extack, tb[PIB_IN_PID],
					    "no process of that number in this PID namespace");
			return -ESRCH;
		}
	}
	cfg->verb = verb;
	cfg->object = PIB_INJECT_NO_QP;
	return 0;
}

/* Get the attributes that only some kinds have. */
static int get_kind_attrs(struct genl_info *info, struct nlattr **tb, struct pib_inject_cfg *cfg)
{
	bool is_verb = cfg->kind == PIB_INJECT_KIND_VERB_ERROR;

	if (!is_verb && (tb[PIB_IN_VERB] || tb[PIB_IN_PID])) {
		NL_SET_ERR_MSG(info->extack, "the injection is not about a call");
		return -EINVAL;
	}
	if (tb[PIB_IN_VALUE] && cfg->kind != PIB_INJECT_KIND_MAD_LIE) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PIB_IN_VALUE],
				    "the injection writes no value");
		return -EINVAL;
	}
	if (is_verb)
		return get_verb_error(info, tb, cfg);
	cfg->port = pib_nl_u32(tb, PIB_IN_PORT,
			       cfg->object <= 1 && !info->attrs[PIB_A_SWITCH_NAME]);
	cfg->mgmt_class = pib_nl_u8(tb, PIB_IN_MGMT_CLASS, 0);
	cfg->mad_attr = pib_nl_u16(tb, PIB_IN_MAD_ATTRIBUTE, 0);
	cfg->value = pib_nl_u64(tb, PIB_IN_VALUE, 0);
	return 0;
}

static bool kind_has_object(u8 kind)
{
	return kind != PIB_INJECT_KIND_DEVICE_FATAL && kind != PIB_INJECT_KIND_VERB_ERROR;
}

static int get_inject(struct genl_info *info, struct pib_inject_cfg *cfg)
{
	struct nlattr *tb[PIB_IN_MAX + 1];
	int err;

	if (!info->attrs[PIB_A_INJECT]) {
		NL_SET_ERR_MSG(info->extack, "the injection is missing");
		return -EINVAL;
	}
	err = parse_inject(info, tb);
	if (err)
		return err;
	if (!tb[PIB_IN_KIND]) {
		NL_SET_ERR_MSG(info->extack, "the kind of the injection is missing");
		return -EINVAL;
	}
	cfg->kind = nla_get_u8(tb[PIB_IN_KIND]);
	if (!tb[PIB_IN_OBJECT] && kind_has_object(cfg->kind)) {
		NL_SET_ERR_MSG(info->extack, "the number of the injection's object is missing");
		return -EINVAL;
	}
	cfg->object = pib_nl_u32(tb, PIB_IN_OBJECT, 0);
	cfg->arg = pib_nl_u32(tb, PIB_IN_ARG, 0);
	err = get_kind_attrs(info, tb, cfg);
	if (err)
		return err;
	if (!pib_inject_is_rule(cfg->kind))
		return check_when(info, tb);
	if (tb[PIB_IN_DELAY] && cfg->kind != PIB_INJECT_KIND_DELAY) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PIB_IN_DELAY], "the injection delays nothing");
		return -EINVAL;
	}
	cfg->delay = pib_nl_u64(tb, PIB_IN_DELAY, 0);
	cfg->after = pib_nl_u32(tb, PIB_IN_AFTER, 0);
	cfg->every = pib_nl_u32(tb, PIB_IN_EVERY, 1);
	cfg->count = pib_nl_u32(tb, PIB_IN_COUNT, !tb[PIB_IN_EVERY] && !tb[PIB_IN_PROBABILITY]);
	cfg->probability = pib_nl_u32(tb, PIB_IN_PROBABILITY, PIB_FAULT_ALWAYS);
	cfg->seed = pib_nl_u64(tb, PIB_IN_SEED, get_random_u32());
	return 0;
}

/* Take away a rule, or all of the HCA or switch if @id is 0. Return: 0; -errno, with a reason. */
static int delete_rule(struct genl_info *info, const char *name, bool is_switch, u32 id)
{
	struct pib_net *pn = pib_net(genl_info_net(info));

	return is_switch ? pib_inject_switch_del(pn, name, id, info->extack) :
			   pib_inject_del(pn, name, id, info->extack);
}

int pib_nl_inject_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pib_net *pn = pib_net(genl_info_net(info));
	struct pib_inject_cfg cfg = {};
	const char *name;
	bool is_switch;
	int err, id;

	name = get_node_name(info, &is_switch);
	if (!name)
		return -EINVAL;
	err = get_inject(info, &cfg);
	if (err)
		return err;
	id = is_switch ? pib_inject_switch(pn, name, &cfg, info->extack) :
			 pib_inject(pn, name, &cfg, info->extack);
	if (id <= 0)
		return id;
	err = pib_nl_reply_u32(info, PIB_CMD_INJECT_NEW, PIB_A_INJECT, PIB_IN_ID, id);
	if (err)	/* the user does not know its number */
		delete_rule(info, name, is_switch, id);
	return err;
}

int pib_nl_inject_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PIB_IN_MAX + 1] = {};
	const char *name;
	bool is_switch;
	int err;

	name = get_node_name(info, &is_switch);
	if (!name)
		return -EINVAL;
	if (info->attrs[PIB_A_INJECT]) {
		err = parse_inject(info, tb);
		if (err)
			return err;
	}
	return delete_rule(info, name, is_switch, pib_nl_u32(tb, PIB_IN_ID, 0));
}
