/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The answers to gets. */
#ifndef PIB_NETLINK_GET_H
#define PIB_NETLINK_GET_H

struct genl_family;
struct genl_info;
struct netlink_callback;
struct sk_buff;

extern struct genl_family pib_genl_family;

int pib_nl_hca_get(struct sk_buff *skb, struct genl_info *info);
int pib_nl_hca_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_switch_get(struct sk_buff *skb, struct genl_info *info);
int pib_nl_switch_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_link_dump(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_uplink_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif
