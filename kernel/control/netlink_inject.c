// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Control by generic netlink: what is made to happen on purpose. */
#include <linux/random.h>
#include <net/genetlink.h>
#include "control/inject.h"
#include "control/netlink.h"
#include "control/netlink_gen.h"
#include "control/netlink_get.h"
#include "core/net.h"

static u32 given_u32(struct nlattr **tb, int attr, u32 otherwise)
{
	return tb[attr] ? nla_get_u32(tb[attr]) : otherwise;
}

static u64 given_u64(struct nlattr **tb, int attr, u64 otherwise)
{
	return tb[attr] ? nla_get_u64(tb[attr]) : otherwise;
}

/* What stands behind the seed is told, not asked for. */
static int parse_inject(struct genl_info *info, struct nlattr **tb)
{
	return nla_parse_nested(tb, PIB_IN_SEED, info->attrs[PIB_A_INJECT], pib_inject_nl_policy,
				info->extack);
}

/* What happens at once happens once: it has no use for what says when. */
static int check_when(struct genl_info *info, struct nlattr **tb)
{
	static const u8 when[] = {
		PIB_IN_DELAY, PIB_IN_AFTER, PIB_IN_EVERY, PIB_IN_COUNT, PIB_IN_PROBABILITY,
		PIB_IN_SEED,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(when); i++) {
		if (!tb[when[i]])
			continue;
		NL_SET_ERR_MSG_ATTR(info->extack, tb[when[i]],
				    "this happens at once, and only once");
		return -EINVAL;
	}
	return 0;
}

static int get_inject(struct genl_info *info, struct pib_inject_cfg *cfg)
{
	struct nlattr *tb[PIB_IN_SEED + 1];
	int err;

	if (!info->attrs[PIB_A_INJECT]) {
		NL_SET_ERR_MSG(info->extack, "what is to happen is missing");
		return -EINVAL;
	}
	err = parse_inject(info, tb);
	if (err)
		return err;
	if (!tb[PIB_IN_KIND]) {
		NL_SET_ERR_MSG(info->extack, "what is to happen is missing");
		return -EINVAL;
	}
	cfg->kind = nla_get_u8(tb[PIB_IN_KIND]);
	if (!tb[PIB_IN_OBJECT] && cfg->kind != PIB_INJECT_KIND_DEVICE_FATAL) {
		NL_SET_ERR_MSG(info->extack, "the number of what this happens to is missing");
		return -EINVAL;
	}
	cfg->object = given_u32(tb, PIB_IN_OBJECT, 0);
	cfg->arg = given_u32(tb, PIB_IN_ARG, 0);
	if (!pib_inject_is_rule(cfg->kind))
		return check_when(info, tb);
	if (tb[PIB_IN_DELAY] && cfg->kind != PIB_INJECT_KIND_DELAY) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PIB_IN_DELAY], "nothing is delayed by this");
		return -EINVAL;
	}
	cfg->delay = given_u64(tb, PIB_IN_DELAY, 0);
	cfg->after = given_u32(tb, PIB_IN_AFTER, 0);
	cfg->every = given_u32(tb, PIB_IN_EVERY, 1);
	cfg->count = given_u32(tb, PIB_IN_COUNT, !tb[PIB_IN_EVERY] && !tb[PIB_IN_PROBABILITY]);
	cfg->probability = given_u32(tb, PIB_IN_PROBABILITY, PIB_FAULT_ALWAYS);
	cfg->seed = given_u64(tb, PIB_IN_SEED, get_random_u32());
	return 0;
}

/* Tell the number of a rule. */
static int answer_id(struct genl_info *info, u32 id)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlattr *nest;
	void *head;

	if (!msg)
		return -ENOMEM;
	head = genlmsg_put_reply(msg, info, &pib_genl_family, 0, PIB_CMD_INJECT_NEW);
	nest = head ? nla_nest_start(msg, PIB_A_INJECT) : NULL;
	if (!nest || nla_put_u32(msg, PIB_IN_ID, id)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	genlmsg_end(msg, head);
	return genlmsg_reply(msg, info);
}

int pib_nl_inject_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = pib_nl_name(info, PIB_A_HCA_NAME);
	struct pib_net *pn = pib_net(genl_info_net(info));
	struct pib_inject_cfg cfg = {};
	int err, id;

	if (!name)
		return -EINVAL;
	err = get_inject(info, &cfg);
	if (err)
		return err;
	id = pib_inject(pn, name, &cfg, info->extack);
	if (id <= 0)
		return id;
	err = answer_id(info, id);
	if (err)	/* nobody knows its number */
		pib_inject_del(pn, name, id, info->extack);
	return err;
}

int pib_nl_inject_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[PIB_IN_SEED + 1] = {};
	const char *name = pib_nl_name(info, PIB_A_HCA_NAME);
	int err;

	if (!name)
		return -EINVAL;
	if (info->attrs[PIB_A_INJECT]) {
		err = parse_inject(info, tb);
		if (err)
			return err;
	}
	return pib_inject_del(pib_net(genl_info_net(info)), name, given_u32(tb, PIB_IN_ID, 0),
			      info->extack);
}
