/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	netlink/pib.yaml */
/*	sha256 d928a721d691f1a974b16e8fb735ae0a9f1fe2ef6f0e44b60238f58b24c6202e */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_PIB_H
#define _UAPI_LINUX_PIB_H

#define PIB_FAMILY_NAME		"pib"
#define PIB_FAMILY_VERSION	1

#define PIB_UDP_PORT	18514
#define PIB_NAME_MAX	32
#define PIB_PORTS_MAX	254

/**
 * enum pib_inject_kind - What is made to happen. Those up to port-error happen
 *   once and at once, the others are rules, which stay.
 * @PIB_INJECT_KIND_QP_ERROR: A queue pair fails; arg is as enum inject-reason.
 * @PIB_INJECT_KIND_QP_MIGRATE: A queue pair that is armed takes its alternate
 *   path.
 * @PIB_INJECT_KIND_QP_MIGRATE_ERROR: A queue pair is told that its path cannot
 *   be changed.
 * @PIB_INJECT_KIND_CQ_OVERRUN: A completion queue is lost, as if it had
 *   overflowed.
 * @PIB_INJECT_KIND_SRQ_ERROR: A shared receive queue fails, with its queue
 *   pairs.
 * @PIB_INJECT_KIND_SRQ_LIMIT: The event that few receives are left in a shared
 *   receive queue.
 * @PIB_INJECT_KIND_DEVICE_FATAL: The HCA fails, and all queue pairs with it
 *   but those of management.
 * @PIB_INJECT_KIND_PORT_ERROR: A port's cable comes loose for a moment.
 * @PIB_INJECT_KIND_DROP: A packet that a queue pair sends is lost.
 * @PIB_INJECT_KIND_DUPLICATE: A packet goes twice.
 * @PIB_INJECT_KIND_DAMAGE: A packet is damaged, which its checksums tell.
 * @PIB_INJECT_KIND_CORRUPT: A bit of a packet's payload is changed, which no
 *   checksum tells.
 * @PIB_INJECT_KIND_DELAY: A packet, and what the queue pair sends behind it,
 *   waits; delay says for how long.
 * @PIB_INJECT_KIND_NAK: A request is refused with a NAK; arg is the code of
 *   the IBA (9.7.5.2.8), 0 for PSN sequence error, where it is an
 *   acknowledgement that becomes a NAK.
 * @PIB_INJECT_KIND_RNR: A request is refused for now, as if its receiver were
 *   not ready.
 * @PIB_INJECT_KIND_SEND_STATUS: A request of the send queue ends with the
 *   status arg, as of completions.
 * @PIB_INJECT_KIND_RECV_STATUS: A receive ends with the status arg.
 */
enum pib_inject_kind {
	PIB_INJECT_KIND_QP_ERROR,
	PIB_INJECT_KIND_QP_MIGRATE,
	PIB_INJECT_KIND_QP_MIGRATE_ERROR,
	PIB_INJECT_KIND_CQ_OVERRUN,
	PIB_INJECT_KIND_SRQ_ERROR,
	PIB_INJECT_KIND_SRQ_LIMIT,
	PIB_INJECT_KIND_DEVICE_FATAL,
	PIB_INJECT_KIND_PORT_ERROR,
	PIB_INJECT_KIND_DROP,
	PIB_INJECT_KIND_DUPLICATE,
	PIB_INJECT_KIND_DAMAGE,
	PIB_INJECT_KIND_CORRUPT,
	PIB_INJECT_KIND_DELAY,
	PIB_INJECT_KIND_NAK,
	PIB_INJECT_KIND_RNR,
	PIB_INJECT_KIND_SEND_STATUS,
	PIB_INJECT_KIND_RECV_STATUS,
};

/**
 * enum pib_inject_reason - Why a queue pair is said to fail.
 * @PIB_INJECT_REASON_NONE: Nobody is told but by flushed completions.
 * @PIB_INJECT_REASON_FATAL: Event QP_FATAL.
 * @PIB_INJECT_REASON_ACCESS: Event QP_ACCESS_ERR.
 * @PIB_INJECT_REASON_REQUEST: Event QP_REQ_ERR.
 */
enum pib_inject_reason {
	PIB_INJECT_REASON_NONE,
	PIB_INJECT_REASON_FATAL,
	PIB_INJECT_REASON_ACCESS,
	PIB_INJECT_REASON_REQUEST,
};

enum pib_attr {
	PIB_A_UNSPEC,
	PIB_A_PAD,
	PIB_A_HCA_NAME,
	PIB_A_SWITCH_NAME,
	PIB_A_IFINDEX,
	PIB_A_NETDEV,
	PIB_A_NODE_GUID,
	PIB_A_NUM_PORTS,
	PIB_A_FABRIC,
	PIB_A_UDP_PORT,
	PIB_A_STANDALONE,
	PIB_A_PEER,
	PIB_A_PORT,
	PIB_A_LINK_A,
	PIB_A_LINK_B,
	PIB_A_UDP_LINK,
	PIB_A_LINK_STATE,
	PIB_A_STATS,
	PIB_A_IBDEV_INDEX,
	PIB_A_DESCRIPTION,
	PIB_A_KEY,
	PIB_A_MODULE_VERSION,
	PIB_A_AUTO,
	PIB_A_LINK_WIDTH,
	PIB_A_LINK_SPEED,
	PIB_A_LINK_FAULT,
	PIB_A_SYS_IMAGE_GUID,
	PIB_A_VENDOR_ID,
	PIB_A_DEVICE_ID,
	PIB_A_ENHANCED_PORT0,
	PIB_A_CAPTURE,
	PIB_A_INJECT,

	__PIB_A_MAX,
	PIB_A_MAX = (__PIB_A_MAX - 1)
};

enum pib_in_attr {
	PIB_IN_UNSPEC,
	PIB_IN_PAD,
	PIB_IN_ID,
	PIB_IN_KIND,
	PIB_IN_OBJECT,
	PIB_IN_ARG,
	PIB_IN_DELAY,
	PIB_IN_AFTER,
	PIB_IN_EVERY,
	PIB_IN_COUNT,
	PIB_IN_PROBABILITY,
	PIB_IN_SEED,
	PIB_IN_SEEN,
	PIB_IN_DONE,

	__PIB_IN_MAX,
	PIB_IN_MAX = (__PIB_IN_MAX - 1)
};

enum pib_ca_attr {
	PIB_CA_UNSPEC,
	PIB_CA_NODE,
	PIB_CA_PORT,
	PIB_CA_DIRECTION,
	PIB_CA_SNAP_LEN,
	PIB_CA_BUFFER,
	PIB_CA_MATCH,
	PIB_CA_FD,

	__PIB_CA_MAX,
	PIB_CA_MAX = (__PIB_CA_MAX - 1)
};

enum pib_cm_attr {
	PIB_CM_UNSPEC,
	PIB_CM_FIELD,
	PIB_CM_VALUE,
	PIB_CM_MASK,

	__PIB_CM_MAX,
	PIB_CM_MAX = (__PIB_CM_MAX - 1)
};

enum pib_f_attr {
	PIB_F_UNSPEC,
	PIB_F_PAD,
	PIB_F_NONE,
	PIB_F_SEED,
	PIB_F_LOSS,
	PIB_F_DUPLICATE,
	PIB_F_REORDER,
	PIB_F_BIT_ERRORS,
	PIB_F_LATENCY,
	PIB_F_RATE,
	PIB_F_FLAP_UP,
	PIB_F_FLAP_DOWN,
	PIB_F_COUNTS,
	PIB_F_BUFFER,

	__PIB_F_MAX,
	PIB_F_MAX = (__PIB_F_MAX - 1)
};

enum pib_fc_attr {
	PIB_FC_UNSPEC,
	PIB_FC_PAD,
	PIB_FC_TO,
	PIB_FC_PACKETS,
	PIB_FC_LOST,
	PIB_FC_DAMAGED,
	PIB_FC_DUPLICATED,
	PIB_FC_REORDERED,

	__PIB_FC_MAX,
	PIB_FC_MAX = (__PIB_FC_MAX - 1)
};

enum pib_end_attr {
	PIB_END_UNSPEC,
	PIB_END_NODE,
	PIB_END_PORT,

	__PIB_END_MAX,
	PIB_END_MAX = (__PIB_END_MAX - 1)
};

enum pib_ep_attr {
	PIB_EP_UNSPEC,
	PIB_EP_ADDR4,
	PIB_EP_ADDR6,
	PIB_EP_PORT,

	__PIB_EP_MAX,
	PIB_EP_MAX = (__PIB_EP_MAX - 1)
};

enum pib_ul_attr {
	PIB_UL_UNSPEC,
	PIB_UL_PAD,
	PIB_UL_NETDEV,
	PIB_UL_PEER,
	PIB_UL_LOCAL_ID,
	PIB_UL_REMOTE_ID,
	PIB_UL_UP,
	PIB_UL_PEER_NODE_GUID,
	PIB_UL_PEER_PORT_NUM,
	PIB_UL_PEER_DESC,
	PIB_UL_LAST_HEARD_MS,
	PIB_UL_RESTARTS,
	PIB_UL_REFUSAL,

	__PIB_UL_MAX,
	PIB_UL_MAX = (__PIB_UL_MAX - 1)
};

enum pib_p_attr {
	PIB_P_UNSPEC,
	PIB_P_PAD,
	PIB_P_NUM,
	PIB_P_GUID,
	PIB_P_STATE,
	PIB_P_PHYS_STATE,
	PIB_P_LID,
	PIB_P_LMC,
	PIB_P_SM_LID,
	PIB_P_MTU,
	PIB_P_WIDTH,
	PIB_P_SPEED,
	PIB_P_COUNTERS,
	PIB_P_NETDEV,

	__PIB_P_MAX,
	PIB_P_MAX = (__PIB_P_MAX - 1)
};

enum pib_c_attr {
	PIB_C_UNSPEC,
	PIB_C_PAD,
	PIB_C_XMIT_BYTES,
	PIB_C_RCV_BYTES,
	PIB_C_XMIT_PKTS,
	PIB_C_RCV_PKTS,
	PIB_C_UNICAST_XMIT,
	PIB_C_UNICAST_RCV,
	PIB_C_MCAST_XMIT,
	PIB_C_MCAST_RCV,
	PIB_C_SYMBOL_ERR,
	PIB_C_LINK_RECOVERY,
	PIB_C_LINK_DOWNED,
	PIB_C_RCV_ERR,
	PIB_C_RCV_REMPHYS_ERR,
	PIB_C_RCV_SWITCH_RELAY_ERR,
	PIB_C_XMIT_DISCARD,
	PIB_C_XMIT_CONSTRAINT_ERR,
	PIB_C_RCV_CONSTRAINT_ERR,
	PIB_C_LOCAL_INTEGRITY_ERR,
	PIB_C_VL15_DROPPED,
	PIB_C_XMIT_WAIT,
	PIB_C_QP1_DROPPED,

	__PIB_C_MAX,
	PIB_C_MAX = (__PIB_C_MAX - 1)
};

enum pib_us_attr {
	PIB_US_UNSPEC,
	PIB_US_PAD,
	PIB_US_TX_DATAGRAMS,
	PIB_US_RX_DATAGRAMS,
	PIB_US_TX_ERRORS,
	PIB_US_RX_SHORT,
	PIB_US_RX_VERSION,
	PIB_US_RX_UNKNOWN_LINK,
	PIB_US_RX_WRONG_ADDR,
	PIB_US_RX_BAD_HELLO,
	PIB_US_RX_BAD_AUTH,
	PIB_US_RX_MALFORMED,
	PIB_US_RX_BAD_ICRC,
	PIB_US_RX_FABRIC,
	PIB_US_RX_REASM,
	PIB_US_RX_OVERRUNS,
	PIB_US_RX_UNSEALED,
	PIB_US_RX_BAD_SEAL,
	PIB_US_RX_REPLAYED,

	__PIB_US_MAX,
	PIB_US_MAX = (__PIB_US_MAX - 1)
};

enum pib_cmd {
	PIB_CMD_HCA_NEW = 1,
	PIB_CMD_HCA_DEL,
	PIB_CMD_HCA_GET,
	PIB_CMD_SWITCH_NEW,
	PIB_CMD_SWITCH_DEL,
	PIB_CMD_SWITCH_GET,
	PIB_CMD_LINK_NEW,
	PIB_CMD_LINK_DEL,
	PIB_CMD_LINK_SET,
	PIB_CMD_LINK_GET,
	PIB_CMD_UPLINK_GET,
	PIB_CMD_CAPTURE_NEW,
	PIB_CMD_INJECT_NEW,
	PIB_CMD_INJECT_DEL,
	PIB_CMD_INJECT_GET,

	__PIB_CMD_MAX,
	PIB_CMD_MAX = (__PIB_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_PIB_H */
