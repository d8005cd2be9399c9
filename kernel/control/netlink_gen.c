// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	netlink/pib.yaml */
/*	sha256 62a9d7b3c4619215319fc008d3956b67b964c7f4fc889c24822be49776088bd4 */
/* YNL-GEN kernel source */

#include <net/netlink.h>

#include "control/netlink_gen.h"

#include <uapi/linux/pib.h>

/* Integer value ranges */
static COMPAT_RANGE_CONST struct netlink_range_validation pib_in_delay_range = {
	.min	= 1ULL,
	.max	= 10000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_in_probability_range = {
	.min	= 1ULL,
	.max	= 1000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_ca_buffer_range = {
	.min	= 262144ULL,
	.max	= 268435456ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_loss_range = {
	.max	= 1000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_duplicate_range = {
	.max	= 1000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_reorder_range = {
	.max	= 1000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_bit_errors_range = {
	.max	= 10000000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_latency_range = {
	.max	= 10000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_rate_range = {
	.max	= 100000000000000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_flap_up_range = {
	.max	= 3600000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_flap_down_range = {
	.max	= 3600000ULL,
};

static COMPAT_RANGE_CONST struct netlink_range_validation pib_f_buffer_range = {
	.max	= 131072ULL,
};

/* Common nested types */
const struct nla_policy pib_capture_nl_policy[PIB_CA_FD + 1] = {
	[PIB_CA_NODE] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_CA_PORT] = NLA_POLICY_RANGE(NLA_U32, 1, 254),
	[PIB_CA_DIRECTION] = NLA_POLICY_RANGE(NLA_U8, 1, 7),
	[PIB_CA_SNAP_LEN] = NLA_POLICY_MIN(NLA_U32, 1),
	[PIB_CA_BUFFER] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_ca_buffer_range),
	[PIB_CA_MATCH] = NLA_POLICY_NESTED(pib_capture_match_nl_policy),
	[PIB_CA_FD] = { .type = NLA_U32, },
};

const struct nla_policy pib_capture_match_nl_policy[PIB_CM_MASK + 1] = {
	[PIB_CM_FIELD] = { .type = NLA_U8, },
	[PIB_CM_VALUE] = { .type = NLA_U32, },
	[PIB_CM_MASK] = { .type = NLA_U32, },
};

const struct nla_policy pib_counters_nl_policy[PIB_C_QP1_DROPPED + 1] = {
	[PIB_C_XMIT_BYTES] = { .type = NLA_U64, },
	[PIB_C_RCV_BYTES] = { .type = NLA_U64, },
	[PIB_C_XMIT_PKTS] = { .type = NLA_U64, },
	[PIB_C_RCV_PKTS] = { .type = NLA_U64, },
	[PIB_C_UNICAST_XMIT] = { .type = NLA_U64, },
	[PIB_C_UNICAST_RCV] = { .type = NLA_U64, },
	[PIB_C_MCAST_XMIT] = { .type = NLA_U64, },
	[PIB_C_MCAST_RCV] = { .type = NLA_U64, },
	[PIB_C_SYMBOL_ERR] = { .type = NLA_U64, },
	[PIB_C_LINK_RECOVERY] = { .type = NLA_U64, },
	[PIB_C_LINK_DOWNED] = { .type = NLA_U64, },
	[PIB_C_RCV_ERR] = { .type = NLA_U64, },
	[PIB_C_RCV_REMPHYS_ERR] = { .type = NLA_U64, },
	[PIB_C_RCV_SWITCH_RELAY_ERR] = { .type = NLA_U64, },
	[PIB_C_XMIT_DISCARD] = { .type = NLA_U64, },
	[PIB_C_XMIT_CONSTRAINT_ERR] = { .type = NLA_U64, },
	[PIB_C_RCV_CONSTRAINT_ERR] = { .type = NLA_U64, },
	[PIB_C_LOCAL_INTEGRITY_ERR] = { .type = NLA_U64, },
	[PIB_C_VL15_DROPPED] = { .type = NLA_U64, },
	[PIB_C_XMIT_WAIT] = { .type = NLA_U64, },
	[PIB_C_QP1_DROPPED] = { .type = NLA_U64, },
};

const struct nla_policy pib_end_nl_policy[PIB_END_PORT + 1] = {
	[PIB_END_NODE] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_END_PORT] = NLA_POLICY_RANGE(NLA_U32, 1, 254),
};

const struct nla_policy pib_endpoint_nl_policy[PIB_EP_PORT + 1] = {
	[PIB_EP_ADDR4] = NLA_POLICY_EXACT_LEN(4),
	[PIB_EP_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[PIB_EP_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

const struct nla_policy pib_fault_nl_policy[PIB_F_BUFFER + 1] = {
	[PIB_F_NONE] = { .type = NLA_FLAG, },
	[PIB_F_SEED] = { .type = NLA_U64, },
	[PIB_F_LOSS] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_f_loss_range),
	[PIB_F_DUPLICATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_f_duplicate_range),
	[PIB_F_REORDER] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_f_reorder_range),
	[PIB_F_BIT_ERRORS] = NLA_POLICY_FULL_RANGE(NLA_U64, &pib_f_bit_errors_range),
	[PIB_F_LATENCY] = NLA_POLICY_FULL_RANGE(NLA_U64, &pib_f_latency_range),
	[PIB_F_RATE] = NLA_POLICY_FULL_RANGE(NLA_U64, &pib_f_rate_range),
	[PIB_F_FLAP_UP] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_f_flap_up_range),
	[PIB_F_FLAP_DOWN] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_f_flap_down_range),
	[PIB_F_COUNTS] = NLA_POLICY_NESTED(pib_fault_counts_nl_policy),
	[PIB_F_BUFFER] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_f_buffer_range),
};

const struct nla_policy pib_fault_counts_nl_policy[PIB_FC_REORDERED + 1] = {
	[PIB_FC_TO] = NLA_POLICY_NESTED(pib_end_nl_policy),
	[PIB_FC_PACKETS] = { .type = NLA_U64, },
	[PIB_FC_LOST] = { .type = NLA_U64, },
	[PIB_FC_DAMAGED] = { .type = NLA_U64, },
	[PIB_FC_DUPLICATED] = { .type = NLA_U64, },
	[PIB_FC_REORDERED] = { .type = NLA_U64, },
};

const struct nla_policy pib_inject_nl_policy[PIB_IN_PID + 1] = {
	[PIB_IN_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[PIB_IN_KIND] = NLA_POLICY_MAX(NLA_U8, 22),
	[PIB_IN_OBJECT] = { .type = NLA_U32, },
	[PIB_IN_ARG] = { .type = NLA_U32, },
	[PIB_IN_DELAY] = NLA_POLICY_FULL_RANGE(NLA_U64, &pib_in_delay_range),
	[PIB_IN_AFTER] = { .type = NLA_U32, },
	[PIB_IN_EVERY] = NLA_POLICY_MIN(NLA_U32, 1),
	[PIB_IN_COUNT] = { .type = NLA_U32, },
	[PIB_IN_PROBABILITY] = NLA_POLICY_FULL_RANGE(NLA_U32, &pib_in_probability_range),
	[PIB_IN_SEED] = { .type = NLA_U64, },
	[PIB_IN_SEEN] = { .type = NLA_U64, },
	[PIB_IN_DONE] = { .type = NLA_U64, },
	[PIB_IN_PORT] = NLA_POLICY_RANGE(NLA_U32, 1, 254),
	[PIB_IN_MGMT_CLASS] = NLA_POLICY_MIN(NLA_U8, 1),
	[PIB_IN_MAD_ATTRIBUTE] = NLA_POLICY_MIN(NLA_U16, 1),
	[PIB_IN_VALUE] = { .type = NLA_U64, },
	[PIB_IN_VERB] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_IN_PID] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy pib_port_nl_policy[PIB_P_NETDEV + 1] = {
	[PIB_P_NUM] = NLA_POLICY_RANGE(NLA_U32, 1, 254),
	[PIB_P_GUID] = { .type = NLA_U64, },
	[PIB_P_STATE] = { .type = NLA_U8, },
	[PIB_P_PHYS_STATE] = { .type = NLA_U8, },
	[PIB_P_LID] = { .type = NLA_U16, },
	[PIB_P_LMC] = { .type = NLA_U8, },
	[PIB_P_SM_LID] = { .type = NLA_U16, },
	[PIB_P_MTU] = { .type = NLA_U32, },
	[PIB_P_WIDTH] = { .type = NLA_U8, },
	[PIB_P_SPEED] = { .type = NLA_U16, },
	[PIB_P_COUNTERS] = NLA_POLICY_NESTED(pib_counters_nl_policy),
	[PIB_P_NETDEV] = { .type = NLA_NUL_STRING, },
};

const struct nla_policy pib_udp_link_nl_policy[PIB_UL_VL_WINDOW + 1] = {
	[PIB_UL_NETDEV] = { .type = NLA_NUL_STRING, .len = 15, },
	[PIB_UL_PEER] = NLA_POLICY_NESTED(pib_endpoint_nl_policy),
	[PIB_UL_LOCAL_ID] = { .type = NLA_U32, },
	[PIB_UL_REMOTE_ID] = { .type = NLA_U32, },
	[PIB_UL_UP] = { .type = NLA_U8, },
	[PIB_UL_PEER_NODE_GUID] = { .type = NLA_U64, },
	[PIB_UL_PEER_PORT_NUM] = { .type = NLA_U32, },
	[PIB_UL_PEER_DESC] = { .type = NLA_NUL_STRING, },
	[PIB_UL_LAST_HEARD_MS] = { .type = NLA_U32, },
	[PIB_UL_RESTARTS] = { .type = NLA_U32, },
	[PIB_UL_REFUSAL] = { .type = NLA_NUL_STRING, },
	[PIB_UL_BY_SECOND_KEY] = { .type = NLA_FLAG, },
	[PIB_UL_BY_FLOW] = { .type = NLA_FLAG, },
	[PIB_UL_PATH_MTU] = { .type = NLA_U32, },
	[PIB_UL_OWN] = NLA_POLICY_NESTED(pib_endpoint_nl_policy),
	[PIB_UL_MOVES] = { .type = NLA_U32, },
	[PIB_UL_WINDOWS] = { .type = NLA_U8, },
	[PIB_UL_VL_WINDOW] = NLA_POLICY_NESTED(pib_vl_window_nl_policy),
};

const struct nla_policy pib_vl_window_nl_policy[PIB_VW_UNBOUNDED + 1] = {
	[PIB_VW_VL] = { .type = NLA_U8, },
	[PIB_VW_WINDOW] = { .type = NLA_U32, },
	[PIB_VW_ON_WAY] = { .type = NLA_U32, },
	[PIB_VW_WAITS] = { .type = NLA_FLAG, },
	[PIB_VW_UNBOUNDED] = { .type = NLA_FLAG, },
};

/* PIB_CMD_HCA_NEW - do */
static const struct nla_policy pib_hca_new_nl_policy[PIB_A_WINDOWS + 1] = {
	[PIB_A_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_A_NETDEV] = { .type = NLA_NUL_STRING, .len = 15, },
	[PIB_A_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[PIB_A_PEER] = NLA_POLICY_NESTED(pib_endpoint_nl_policy),
	[PIB_A_STANDALONE] = { .type = NLA_FLAG, },
	[PIB_A_FABRIC] = { .type = NLA_U32, },
	[PIB_A_UDP_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[PIB_A_NUM_PORTS] = NLA_POLICY_RANGE(NLA_U32, 1, 254),
	[PIB_A_KEY] = { .type = NLA_BINARY, },
	[PIB_A_SECOND_KEY] = { .type = NLA_BINARY, },
	[PIB_A_ACCEPT] = NLA_POLICY_MAX(NLA_U8, 3),
	[PIB_A_ECN] = NLA_POLICY_MAX(NLA_U8, 1),
	[PIB_A_DSCP] = NLA_POLICY_EXACT_LEN(16),
	[PIB_A_FLOW_PORTS] = NLA_POLICY_MAX(NLA_U8, 1),
	[PIB_A_WINDOWS] = NLA_POLICY_MAX(NLA_U8, 1),
	[PIB_A_NODE_GUID] = { .type = NLA_U64, },
	[PIB_A_DESCRIPTION] = { .type = NLA_NUL_STRING, .len = 63, },
	[PIB_A_PORT] = NLA_POLICY_NESTED(pib_port_nl_policy),
	[PIB_A_SYS_IMAGE_GUID] = { .type = NLA_U64, },
	[PIB_A_VENDOR_ID] = { .type = NLA_U32, },
	[PIB_A_DEVICE_ID] = { .type = NLA_U32, },
	[PIB_A_BEHAVIOR] = NLA_POLICY_MASK(NLA_U32, 0x1fff),
	[PIB_A_BEHAVIOR_SEED] = { .type = NLA_U64, },
};

/* PIB_CMD_HCA_DEL - do */
static const struct nla_policy pib_hca_del_nl_policy[PIB_A_HCA_NAME + 1] = {
	[PIB_A_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* PIB_CMD_HCA_GET - do */
static const struct nla_policy pib_hca_get_nl_policy[PIB_A_HCA_NAME + 1] = {
	[PIB_A_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* PIB_CMD_SWITCH_NEW - do */
static const struct nla_policy pib_switch_new_nl_policy[PIB_A_ENHANCED_PORT0 + 1] = {
	[PIB_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_A_NUM_PORTS] = NLA_POLICY_RANGE(NLA_U32, 1, 254),
	[PIB_A_NODE_GUID] = { .type = NLA_U64, },
	[PIB_A_DESCRIPTION] = { .type = NLA_NUL_STRING, .len = 63, },
	[PIB_A_SYS_IMAGE_GUID] = { .type = NLA_U64, },
	[PIB_A_VENDOR_ID] = { .type = NLA_U32, },
	[PIB_A_DEVICE_ID] = { .type = NLA_U32, },
	[PIB_A_ENHANCED_PORT0] = { .type = NLA_FLAG, },
};

/* PIB_CMD_SWITCH_DEL - do */
static const struct nla_policy pib_switch_del_nl_policy[PIB_A_SWITCH_NAME + 1] = {
	[PIB_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* PIB_CMD_SWITCH_GET - do */
static const struct nla_policy pib_switch_get_nl_policy[PIB_A_SWITCH_NAME + 1] = {
	[PIB_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* PIB_CMD_LINK_NEW - do */
static const struct nla_policy pib_link_new_nl_policy[PIB_A_KEY + 1] = {
	[PIB_A_LINK_A] = NLA_POLICY_NESTED(pib_end_nl_policy),
	[PIB_A_LINK_B] = NLA_POLICY_NESTED(pib_end_nl_policy),
	[PIB_A_UDP_LINK] = NLA_POLICY_NESTED(pib_udp_link_nl_policy),
	[PIB_A_FABRIC] = { .type = NLA_U32, },
	[PIB_A_UDP_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[PIB_A_KEY] = { .type = NLA_BINARY, },
};

/* PIB_CMD_LINK_DEL - do */
static const struct nla_policy pib_link_del_nl_policy[PIB_A_LINK_A + 1] = {
	[PIB_A_LINK_A] = NLA_POLICY_NESTED(pib_end_nl_policy),
};

/* PIB_CMD_LINK_SET - do */
static const struct nla_policy pib_link_set_nl_policy[PIB_A_LINK_FAULT + 1] = {
	[PIB_A_LINK_A] = NLA_POLICY_NESTED(pib_end_nl_policy),
	[PIB_A_LINK_STATE] = NLA_POLICY_MAX(NLA_U8, 1),
	[PIB_A_LINK_WIDTH] = NLA_POLICY_MIN(NLA_U8, 1),
	[PIB_A_LINK_SPEED] = NLA_POLICY_MIN(NLA_U16, 1),
	[PIB_A_LINK_FAULT] = NLA_POLICY_NESTED(pib_fault_nl_policy),
};

/* PIB_CMD_CAPTURE_NEW - do */
static const struct nla_policy pib_capture_new_nl_policy[PIB_A_CAPTURE + 1] = {
	[PIB_A_CAPTURE] = NLA_POLICY_NESTED(pib_capture_nl_policy),
};

/* PIB_CMD_INJECT_NEW - do */
static const struct nla_policy pib_inject_new_nl_policy[PIB_A_INJECT + 1] = {
	[PIB_A_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_A_INJECT] = NLA_POLICY_NESTED(pib_inject_nl_policy),
};

/* PIB_CMD_INJECT_DEL - do */
static const struct nla_policy pib_inject_del_nl_policy[PIB_A_INJECT + 1] = {
	[PIB_A_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_A_INJECT] = NLA_POLICY_NESTED(pib_inject_nl_policy),
};

/* PIB_CMD_HCA_SET - do */
static const struct nla_policy pib_hca_set_nl_policy[PIB_A_WINDOWS + 1] = {
	[PIB_A_HCA_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[PIB_A_KEY] = { .type = NLA_BINARY, },
	[PIB_A_SECOND_KEY] = { .type = NLA_BINARY, },
	[PIB_A_NO_SECOND_KEY] = { .type = NLA_FLAG, },
	[PIB_A_FORCE] = { .type = NLA_FLAG, },
	[PIB_A_BEHAVIOR] = NLA_POLICY_MASK(NLA_U32, 0x1fff),
	[PIB_A_BEHAVIOR_SEED] = { .type = NLA_U64, },
	[PIB_A_ACCEPT] = NLA_POLICY_MAX(NLA_U8, 3),
	[PIB_A_ECN] = NLA_POLICY_MAX(NLA_U8, 1),
	[PIB_A_DSCP] = NLA_POLICY_EXACT_LEN(16),
	[PIB_A_FLOW_PORTS] = NLA_POLICY_MAX(NLA_U8, 1),
	[PIB_A_WINDOWS] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* Ops table for pib */
const struct genl_split_ops pib_nl_ops[PIB_NL_OPS] = {
	{
		.cmd		= PIB_CMD_HCA_NEW,
		.doit		= pib_nl_hca_new_doit,
		.policy		= pib_hca_new_nl_policy,
		.maxattr	= PIB_A_WINDOWS,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PIB_CMD_HCA_DEL,
		.doit		= pib_nl_hca_del_doit,
		.policy		= pib_hca_del_nl_policy,
		.maxattr	= PIB_A_HCA_NAME,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PIB_CMD_HCA_GET,
		.doit		= pib_nl_hca_get_doit,
		.policy		= pib_hca_get_nl_policy,
		.maxattr	= PIB_A_HCA_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= PIB_CMD_HCA_GET,
		.dumpit	= pib_nl_hca_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PIB_CMD_SWITCH_NEW,
		.doit		= pib_nl_switch_new_doit,
		.policy		= pib_switch_new_nl_policy,
		.maxattr	= PIB_A_ENHANCED_PORT0,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PIB_CMD_SWITCH_DEL,
		.doit		= pib_nl_switch_del_doit,
		.policy		= pib_switch_del_nl_policy,
		.maxattr	= PIB_A_SWITCH_NAME,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PIB_CMD_SWITCH_GET,
		.doit		= pib_nl_switch_get_doit,
		.policy		= pib_switch_get_nl_policy,
		.maxattr	= PIB_A_SWITCH_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= PIB_CMD_SWITCH_GET,
		.dumpit	= pib_nl_switch_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PIB_CMD_LINK_NEW,
		.doit		= pib_nl_link_new_doit,
		.policy		= pib_link_new_nl_policy,
		.maxattr	= PIB_A_KEY,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PIB_CMD_LINK_DEL,
		.doit		= pib_nl_link_del_doit,
		.policy		= pib_link_del_nl_policy,
		.maxattr	= PIB_A_LINK_A,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PIB_CMD_LINK_SET,
		.doit		= pib_nl_link_set_doit,
		.policy		= pib_link_set_nl_policy,
		.maxattr	= PIB_A_LINK_FAULT,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= PIB_CMD_LINK_GET,
		.dumpit	= pib_nl_link_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= PIB_CMD_UPLINK_GET,
		.dumpit	= pib_nl_uplink_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PIB_CMD_CAPTURE_NEW,
		.doit		= pib_nl_capture_new_doit,
		.policy		= pib_capture_new_nl_policy,
		.maxattr	= PIB_A_CAPTURE,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= PIB_CMD_OBJECT_GET,
		.dumpit	= pib_nl_object_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PIB_CMD_INJECT_NEW,
		.doit		= pib_nl_inject_new_doit,
		.policy		= pib_inject_new_nl_policy,
		.maxattr	= PIB_A_INJECT,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PIB_CMD_INJECT_DEL,
		.doit		= pib_nl_inject_del_doit,
		.policy		= pib_inject_del_nl_policy,
		.maxattr	= PIB_A_INJECT,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= PIB_CMD_INJECT_GET,
		.dumpit	= pib_nl_inject_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PIB_CMD_HCA_SET,
		.doit		= pib_nl_hca_set_doit,
		.policy		= pib_hca_set_nl_policy,
		.maxattr	= PIB_A_WINDOWS,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

const struct genl_multicast_group pib_nl_mcgrps[PIB_NLGRPS] = {
	[PIB_NLGRP_EVENTS] = { "events", },
};

