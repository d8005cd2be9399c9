/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	netlink/pib.yaml */
/*	sha256 62a9d7b3c4619215319fc008d3956b67b964c7f4fc889c24822be49776088bd4 */
/* YNL-GEN kernel header */

#ifndef _LINUX_PIB_GEN_H
#define _LINUX_PIB_GEN_H

#include <net/netlink.h>
#include "compat/genetlink.h"

#include <uapi/linux/pib.h>

/* Common nested types */
extern const struct nla_policy pib_capture_nl_policy[PIB_CA_FD + 1];
extern const struct nla_policy pib_capture_match_nl_policy[PIB_CM_MASK + 1];
extern const struct nla_policy pib_counters_nl_policy[PIB_C_QP1_DROPPED + 1];
extern const struct nla_policy pib_end_nl_policy[PIB_END_PORT + 1];
extern const struct nla_policy pib_endpoint_nl_policy[PIB_EP_PORT + 1];
extern const struct nla_policy pib_fault_nl_policy[PIB_F_BUFFER + 1];
extern const struct nla_policy pib_fault_counts_nl_policy[PIB_FC_REORDERED + 1];
extern const struct nla_policy pib_inject_nl_policy[PIB_IN_PID + 1];
extern const struct nla_policy pib_port_nl_policy[PIB_P_NETDEV + 1];
extern const struct nla_policy pib_udp_link_nl_policy[PIB_UL_VL_WINDOW + 1];
extern const struct nla_policy pib_vl_window_nl_policy[PIB_VW_UNBOUNDED + 1];

int pib_nl_hca_new_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_hca_del_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_hca_get_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_hca_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_switch_new_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_switch_del_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_switch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_link_new_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_link_del_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_uplink_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_capture_new_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_object_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_inject_new_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_inject_del_doit(struct sk_buff *skb, struct genl_info *info);
int pib_nl_inject_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int pib_nl_hca_set_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	PIB_NLGRP_EVENTS,
	PIB_NLGRPS
};

#define PIB_NL_OPS 19
extern const struct genl_split_ops pib_nl_ops[PIB_NL_OPS];
extern const struct genl_multicast_group pib_nl_mcgrps[PIB_NLGRPS];

#endif /* _LINUX_PIB_GEN_H */
