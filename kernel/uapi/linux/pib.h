/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	netlink/pib.yaml */
/*	sha256 62a9d7b3c4619215319fc008d3956b67b964c7f4fc889c24822be49776088bd4 */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_PIB_H
#define _UAPI_LINUX_PIB_H

#define PIB_FAMILY_NAME		"pib"
#define PIB_FAMILY_VERSION	1

#define PIB_UDP_PORT	18514
#define PIB_NAME_MAX	32
#define PIB_PORTS_MAX	254

enum pib_object_kind {
	PIB_OBJECT_KIND_CONTEXT,
	PIB_OBJECT_KIND_PD,
	PIB_OBJECT_KIND_MR,
	PIB_OBJECT_KIND_MW,
	PIB_OBJECT_KIND_CQ,
	PIB_OBJECT_KIND_SRQ,
	PIB_OBJECT_KIND_QP,
	PIB_OBJECT_KIND_AH,
	PIB_OBJECT_KIND_XRCD,
	PIB_OBJECT_KIND_ATTACHMENT,
	PIB_OBJECT_KIND_DM,
	PIB_OBJECT_KIND_COUNTER,

	/* private: */
	__PIB_OBJECT_KIND_MAX,
	PIB_OBJECT_KIND_MAX = (__PIB_OBJECT_KIND_MAX - 1)
};

/**
 * enum pib_mr_type - Kinds of memory regions.
 * @PIB_MR_TYPE_DMA: All of the kernel's memory.
 * @PIB_MR_TYPE_USER: Memory of a process.
 * @PIB_MR_TYPE_FAST: FRWR, registered by a work request.
 * @PIB_MR_TYPE_DM: Device memory.
 * @PIB_MR_TYPE_DMABUF: Memory of another device.
 */
enum pib_mr_type {
	PIB_MR_TYPE_DMA,
	PIB_MR_TYPE_USER,
	PIB_MR_TYPE_FAST,
	PIB_MR_TYPE_DM,
	PIB_MR_TYPE_DMABUF,

	/* private: */
	__PIB_MR_TYPE_MAX,
	PIB_MR_TYPE_MAX = (__PIB_MR_TYPE_MAX - 1)
};

/**
 * enum pib_inject_kind - Faults that are made to happen. Those up to
 *   port-error happen once and at once, the others are rules, which stay.
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
 *   the IBA (9.7.5.2), 0 for PSN sequence error, where it is an
 *   acknowledgement that becomes a NAK.
 * @PIB_INJECT_KIND_RNR: A request is refused for now, as if its receiver were
 *   not ready.
 * @PIB_INJECT_KIND_SEND_STATUS: A request of the send queue ends with the
 *   status arg, as of completions.
 * @PIB_INJECT_KIND_RECV_STATUS: A receive ends with the status arg.
 * @PIB_INJECT_KIND_MAD_STATUS: A response that queue pair 0 or 1 sends has the
 *   MAD status arg.
 * @PIB_INJECT_KIND_MAD_LIE: A response of the subnet management agent tells
 *   value where arg, an inject-lie, says.
 * @PIB_INJECT_KIND_VERB_ERROR: A call of verb by a process fails with the
 *   error number arg.
 * @PIB_INJECT_KIND_TX_NOMEM: There is no memory for a packet that a queue pair
 *   sends.
 * @PIB_INJECT_KIND_RX_NOMEM: There is no memory for what comes for a queue
 *   pair.
 * @PIB_INJECT_KIND_RX_FULL: A queue pair has no room for what comes.
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
	PIB_INJECT_KIND_MAD_STATUS,
	PIB_INJECT_KIND_MAD_LIE,
	PIB_INJECT_KIND_VERB_ERROR,
	PIB_INJECT_KIND_TX_NOMEM,
	PIB_INJECT_KIND_RX_NOMEM,
	PIB_INJECT_KIND_RX_FULL,

	/* private: */
	__PIB_INJECT_KIND_MAX,
	PIB_INJECT_KIND_MAX = (__PIB_INJECT_KIND_MAX - 1)
};

/**
 * enum pib_inject_lie - Of what a subnet management agent does not tell the
 *   truth.
 * @PIB_INJECT_LIE_NODE_GUID: NodeInfo:NodeGUID.
 * @PIB_INJECT_LIE_PORT_GUID: NodeInfo:PortGUID.
 * @PIB_INJECT_LIE_SYSTEM_IMAGE_GUID: NodeInfo:SystemImageGUID.
 * @PIB_INJECT_LIE_PORT_STATE: PortInfo:PortState, 1 is DOWN, 2 INIT, 3 ARMED,
 *   4 ACTIVE.
 */
enum pib_inject_lie {
	PIB_INJECT_LIE_NODE_GUID,
	PIB_INJECT_LIE_PORT_GUID,
	PIB_INJECT_LIE_SYSTEM_IMAGE_GUID,
	PIB_INJECT_LIE_PORT_STATE,

	/* private: */
	__PIB_INJECT_LIE_MAX,
	PIB_INJECT_LIE_MAX = (__PIB_INJECT_LIE_MAX - 1)
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

	/* private: */
	__PIB_INJECT_REASON_MAX,
	PIB_INJECT_REASON_MAX = (__PIB_INJECT_REASON_MAX - 1)
};

/**
 * enum pib_accept - Hosts that get a port of the host switch when they say
 *   hello. Trunks are made with hosts on the link only.
 * @PIB_ACCEPT_NOBODY: Only links that are asked for here come up.
 * @PIB_ACCEPT_PEERS: Hosts that are named as peers of the uplink's links.
 * @PIB_ACCEPT_LINK: Those peers, and hosts on the same link, behind no router.
 * @PIB_ACCEPT_ANYBODY: All hosts that have the fabric's key, or all hosts if
 *   it has none.
 */
enum pib_accept {
	PIB_ACCEPT_NOBODY,
	PIB_ACCEPT_PEERS,
	PIB_ACCEPT_LINK,
	PIB_ACCEPT_ANYBODY,
};

/**
 * enum pib_event_kind - News of the object that the event names.
 * @PIB_EVENT_KIND_HCA_NEW: The HCA was made.
 * @PIB_EVENT_KIND_HCA_DEL: The HCA is gone, and its cables with it.
 * @PIB_EVENT_KIND_SWITCH_NEW: The switch was made.
 * @PIB_EVENT_KIND_SWITCH_DEL: The switch is gone, and its cables with it.
 * @PIB_EVENT_KIND_LINK_NEW: The cable from link-a to link-b or, over UDP,
 *   udp-link was laid.
 * @PIB_EVENT_KIND_LINK_DEL: The cable was taken away.
 * @PIB_EVENT_KIND_LINK_PLUGGED: The cable was pulled or put back, as
 *   link-state says.
 * @PIB_EVENT_KIND_PORT_STATE: States or LIDs of a port have changed to what is
 *   told.
 * @PIB_EVENT_KIND_SESSION_UP: A session over UDP with the peer was
 *   established.
 * @PIB_EVENT_KIND_SESSION_ANEW: The session gave way to another one with the
 *   same peer at once.
 * @PIB_EVENT_KIND_SESSION_DOWN: There is no session with the peer any more.
 * @PIB_EVENT_KIND_KEYS: The keys of the fabric on the HCA's netdev were
 *   changed.
 * @PIB_EVENT_KIND_ASYNC: The HCA has told its consumers of the asynchronous
 *   event ib-event.
 * @PIB_EVENT_KIND_HCA_RENAMED: The HCA has another name than old-name.
 * @PIB_EVENT_KIND_SESSION_MOVED: Within a session over UDP, packets for the
 *   peer go to another address, which udp-link has.
 * @PIB_EVENT_KIND_TRAP: A node has sent the trap to the subnet manager, from
 *   the port that is told. That is so at each repetition.
 */
enum pib_event_kind {
	PIB_EVENT_KIND_HCA_NEW,
	PIB_EVENT_KIND_HCA_DEL,
	PIB_EVENT_KIND_SWITCH_NEW,
	PIB_EVENT_KIND_SWITCH_DEL,
	PIB_EVENT_KIND_LINK_NEW,
	PIB_EVENT_KIND_LINK_DEL,
	PIB_EVENT_KIND_LINK_PLUGGED,
	PIB_EVENT_KIND_PORT_STATE,
	PIB_EVENT_KIND_SESSION_UP,
	PIB_EVENT_KIND_SESSION_ANEW,
	PIB_EVENT_KIND_SESSION_DOWN,
	PIB_EVENT_KIND_KEYS,
	PIB_EVENT_KIND_ASYNC,
	PIB_EVENT_KIND_HCA_RENAMED,
	PIB_EVENT_KIND_SESSION_MOVED,
	PIB_EVENT_KIND_TRAP,

	/* private: */
	__PIB_EVENT_KIND_MAX,
	PIB_EVENT_KIND_MAX = (__PIB_EVENT_KIND_MAX - 1)
};

/**
 * enum pib_behavior - Ways in which an HCA differs from its default where the
 *   IBA leaves them to it.
 * @PIB_BEHAVIOR_ERROR_WC_NOISE: Fields that a completion with an error does
 *   not define are filled by chance.
 * @PIB_BEHAVIOR_SRQ_ANY_ORDER: Receives are taken from an SRQ in any order.
 * @PIB_BEHAVIOR_REUSE_QPN: A new queue pair has the lowest number that is
 *   free.
 * @PIB_BEHAVIOR_WRITE_IMM_RECEIVE: An RDMA WRITE with immediate whose R_Key is
 *   refused uses up a receive.
 * @PIB_BEHAVIOR_LONG_MESSAGE_ERROR: A message of UD or UC that is too long for
 *   its receive ends this in error.
 * @PIB_BEHAVIOR_SGE_ZERO_2GIB: A scatter or gather element of 0 bytes stands
 *   for 2^31.
 * @PIB_BEHAVIOR_LATE_COMPLETIONS: Sends complete 10 ms later than they could.
 * @PIB_BEHAVIOR_RNR_TIMER_LONG: A receiver that is not ready is tried again
 *   after two to four times what it has asked for.
 * @PIB_BEHAVIOR_EXACT_CQ: A CQ has as many entries as were asked for, and no
 *   more.
 * @PIB_BEHAVIOR_DATA_OUT_OF_ORDER: The packets of a message are placed from
 *   the last to the first.
 * @PIB_BEHAVIOR_EARLY_INVALIDATE: A local invalidation waits for no request
 *   before it.
 * @PIB_BEHAVIOR_AH_PD_AT_POST: A datagram by an address handle of another PD
 *   is refused when it is posted.
 * @PIB_BEHAVIOR_ACK_EACH: Each message is acknowledged, and by an
 *   acknowledgement of its own.
 */
enum pib_behavior {
	PIB_BEHAVIOR_ERROR_WC_NOISE = 1,
	PIB_BEHAVIOR_SRQ_ANY_ORDER = 2,
	PIB_BEHAVIOR_REUSE_QPN = 4,
	PIB_BEHAVIOR_WRITE_IMM_RECEIVE = 8,
	PIB_BEHAVIOR_LONG_MESSAGE_ERROR = 16,
	PIB_BEHAVIOR_SGE_ZERO_2GIB = 32,
	PIB_BEHAVIOR_LATE_COMPLETIONS = 64,
	PIB_BEHAVIOR_RNR_TIMER_LONG = 128,
	PIB_BEHAVIOR_EXACT_CQ = 256,
	PIB_BEHAVIOR_DATA_OUT_OF_ORDER = 512,
	PIB_BEHAVIOR_EARLY_INVALIDATE = 1024,
	PIB_BEHAVIOR_AH_PD_AT_POST = 2048,
	PIB_BEHAVIOR_ACK_EACH = 4096,

	/* private: */
	PIB_BEHAVIOR_MASK = 8191,
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
	PIB_A_OBJECT,
	PIB_A_INJECT,
	PIB_A_SECOND_KEY,
	PIB_A_NO_SECOND_KEY,
	PIB_A_NUM_KEYS,
	PIB_A_FORCE,
	PIB_A_EVENT,
	PIB_A_TIME,
	PIB_A_IB_EVENT,
	PIB_A_BEHAVIOR,
	PIB_A_BEHAVIOR_SEED,
	PIB_A_ACCEPT,
	PIB_A_OLD_NAME,
	PIB_A_ECN,
	PIB_A_DSCP,
	PIB_A_FLOW_PORTS,
	PIB_A_TRAP,
	PIB_A_WINDOWS,

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
	PIB_IN_PORT,
	PIB_IN_MGMT_CLASS,
	PIB_IN_MAD_ATTRIBUTE,
	PIB_IN_VALUE,
	PIB_IN_VERB,
	PIB_IN_PID,

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

enum pib_o_attr {
	PIB_O_UNSPEC,
	PIB_O_PAD,
	PIB_O_KIND,
	PIB_O_ID,
	PIB_O_CREATED,
	PIB_O_OWNER,
	PIB_O_PID,
	PIB_O_UID,
	PIB_O_HANDLE,
	PIB_O_RESOURCE,
	PIB_O_GID,
	PIB_O_PD,
	PIB_O_CONTEXT,
	PIB_O_QPN,
	PIB_O_CQN,
	PIB_O_SRQN,
	PIB_O_AHN,
	PIB_O_KEY,
	PIB_O_TYPE,
	PIB_O_STATE,
	PIB_O_ACCESS,
	PIB_O_VALID,
	PIB_O_START,
	PIB_O_LENGTH,
	PIB_O_PAGES,
	PIB_O_PAGE_SHIFT,
	PIB_O_REFERENCES,
	PIB_O_WINDOWS,
	PIB_O_REGION,
	PIB_O_ENTRIES,
	PIB_O_PRODUCER,
	PIB_O_CONSUMER,
	PIB_O_ARMED,
	PIB_O_OVERFLOW,
	PIB_O_CPU,
	PIB_O_MODERATION_COUNT,
	PIB_O_MODERATION_USEC,
	PIB_O_POSTED,
	PIB_O_LIMIT,
	PIB_O_MAX_SGE,
	PIB_O_PORT,
	PIB_O_DLID,
	PIB_O_SL,
	PIB_O_PKEY,
	PIB_O_REMOTE_QPN,
	PIB_O_SEND_CQN,
	PIB_O_RECV_CQN,
	PIB_O_SQ_ENTRIES,
	PIB_O_SQ_FETCHED,
	PIB_O_SQ_DONE,
	PIB_O_SQ_UNREAD,
	PIB_O_SQ_POSTED,
	PIB_O_RQ_ENTRIES,
	PIB_O_RQ_INDEX,
	PIB_O_RQ_POSTED,
	PIB_O_UNA_PSN,
	PIB_O_NEXT_PSN,
	PIB_O_EXPECTED_PSN,
	PIB_O_MSN,
	PIB_O_SSN,
	PIB_O_CREDIT_LIMIT,
	PIB_O_CREDITS,
	PIB_O_WINDOW,
	PIB_O_RETRIES_LEFT,
	PIB_O_RNR_LEFT,
	PIB_O_TIMEOUTS,
	PIB_O_RETRANSMITS,
	PIB_O_INBOX,
	PIB_O_SCHEDULED,
	PIB_O_ACK_USEC,
	PIB_O_RNR_USEC,
	PIB_O_PAGE_WAIT,
	PIB_O_PUSHED_BACK,
	PIB_O_CCTI,
	PIB_O_ERROR,
	PIB_O_MIGRATION,
	PIB_O_COUNTER,
	PIB_O_BOUND,
	PIB_O_BAD_PKEYS,
	PIB_O_BAD_QKEYS,
	PIB_O_FAILED,

	__PIB_O_MAX,
	PIB_O_MAX = (__PIB_O_MAX - 1)
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
	PIB_UL_BY_SECOND_KEY,
	PIB_UL_BY_FLOW,
	PIB_UL_PATH_MTU,
	PIB_UL_OWN,
	PIB_UL_MOVES,
	PIB_UL_WINDOWS,
	PIB_UL_VL_WINDOW,

	__PIB_UL_MAX,
	PIB_UL_MAX = (__PIB_UL_MAX - 1)
};

enum pib_vw_attr {
	PIB_VW_UNSPEC,
	PIB_VW_VL,
	PIB_VW_WINDOW,
	PIB_VW_ON_WAY,
	PIB_VW_WAITS,
	PIB_VW_UNBOUNDED,

	__PIB_VW_MAX,
	PIB_VW_MAX = (__PIB_VW_MAX - 1)
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
	PIB_US_RX_WRONG_ADDRESS,
	PIB_US_RX_BAD_HELLO,
	PIB_US_RX_BAD_AUTHENTICATION,
	PIB_US_RX_MALFORMED,
	PIB_US_RX_BAD_ICRC,
	PIB_US_RX_OTHER_FABRIC,
	PIB_US_RX_REASSEMBLY,
	PIB_US_RX_OVERRUNS,
	PIB_US_RX_UNSEALED,
	PIB_US_RX_BAD_SEAL,
	PIB_US_RX_REPLAYED,
	PIB_US_RX_STRANGER,
	PIB_US_RX_CE,
	PIB_US_RX_NO_PORT,
	PIB_US_TX_SHRUNK,
	PIB_US_TX_DROPPED,
	PIB_US_TX_WAITS,
	PIB_US_TX_OVERDRAWN,
	PIB_US_RX_BAD_CREDITS,

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
	PIB_CMD_OBJECT_GET,
	PIB_CMD_INJECT_NEW,
	PIB_CMD_INJECT_DEL,
	PIB_CMD_INJECT_GET,
	PIB_CMD_HCA_SET,
	PIB_CMD_EVENT,

	__PIB_CMD_MAX,
	PIB_CMD_MAX = (__PIB_CMD_MAX - 1)
};

#define PIB_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_PIB_H */
