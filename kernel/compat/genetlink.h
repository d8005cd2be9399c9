/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Families of split operations came with Linux 6.2, ranges that are constant with 6.7. */
#ifndef PIB_COMPAT_GENETLINK_H
#define PIB_COMPAT_GENETLINK_H

#include <linux/version.h>
#include <net/genetlink.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define COMPAT_RANGE_CONST const
#else
#define COMPAT_RANGE_CONST
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)

static inline int compat_genl_register(struct genl_family *family,
				       const struct genl_split_ops *ops, unsigned int n)
{
	family->split_ops = ops;
	family->n_split_ops = n;
	return genl_register_family(family);
}

#else

struct genl_split_ops {
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd;
	u8 flags;
};

#define COMPAT_GENL_OPS	32

/* A do and the dump behind it become one operation, with the policy of the do. */
static inline int compat_genl_register(struct genl_family *family,
				       const struct genl_split_ops *ops, unsigned int n)
{
	static struct genl_ops joined[COMPAT_GENL_OPS];
	unsigned int i, used = 0;

	for (i = 0; i < n; i++) {
		if (used && joined[used - 1].cmd == ops[i].cmd) {
			joined[used - 1].dumpit = ops[i].dumpit;
			continue;
		}
		if (used == COMPAT_GENL_OPS)
			return -E2BIG;
		joined[used++] = (struct genl_ops) {
			.cmd = ops[i].cmd,
			.doit = ops[i].doit,
			.dumpit = ops[i].dumpit,
			.policy = ops[i].policy,
			.maxattr = ops[i].maxattr,
			.flags = ops[i].flags & GENL_ADMIN_PERM,
		};
	}
	family->ops = joined;
	family->n_ops = used;
	return genl_register_family(family);
}

#endif
#endif
