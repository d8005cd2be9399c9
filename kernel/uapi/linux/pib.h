/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * pib: generic netlink family. The specification is netlink/pib.yaml.
 */
#ifndef _UAPI_LINUX_PIB_H
#define _UAPI_LINUX_PIB_H

#include <linux/types.h>

#define PIB_GENL_NAME		"pib"
#define PIB_GENL_VERSION	1
#define PIB_UDP_PORT		18514
#define PIB_NAME_MAX		32	/* with the terminating NUL; HCA and switch names */
#define PIB_PORTS_MAX		254

/*
 * Commands. NEW, DEL and SET are requests with an acknowledgement and need
 * CAP_NET_ADMIN in the initial user namespace; GET answers one
 * object, or with NLM_F_DUMP all of the caller's network namespace.
 */
enum pib_cmd {
	PIB_CMD_UNSPEC,
	/*
	 * HCA_NAME; NETDEV | IFINDEX and with it PEER.., STANDALONE, FABRIC, UDP_PORT, KEY; without, the HCA
	 * has no cables but those of LINK_NEW. NUM_PORTS, DESCRIPTION, NODE_GUID and with it PORT.. (NUM, GUID),
	 * SYS_IMAGE_GUID, VENDOR_ID, DEVICE_ID optional
	 */
	PIB_CMD_HCA_NEW,
	PIB_CMD_HCA_DEL,	/* HCA_NAME */
	PIB_CMD_HCA_GET,	/* [HCA_NAME] -> HCA_*, NODE_GUID, NETDEV and FABRIC if it has one, NUM_PORTS, STANDALONE, PORT nests */
	/* SWITCH_NAME, NUM_PORTS; NODE_GUID, DESCRIPTION, SYS_IMAGE_GUID, VENDOR_ID, DEVICE_ID, ENHANCED_PORT0 optional */
	PIB_CMD_SWITCH_NEW,
	PIB_CMD_SWITCH_DEL,	/* SWITCH_NAME */
	PIB_CMD_SWITCH_GET,	/* [SWITCH_NAME] -> SWITCH_NAME, NODE_GUID, NUM_PORTS, PORT nests */
	PIB_CMD_LINK_NEW,	/* LINK_A (END), LINK_B (END) | UDP_LINK nest */
	PIB_CMD_LINK_DEL,	/* LINK_A: one end names the cable */
	PIB_CMD_LINK_SET,	/* LINK_A; LINK_STATE (0 unplugged, 1 plugged), LINK_WIDTH, LINK_SPEED, LINK_FAULT: one or more */
	PIB_CMD_LINK_GET,	/* dump -> LINK_A, LINK_B | UDP_LINK, LINK_STATE, LINK_FAULT if it has any */
	PIB_CMD_UPLINK_GET,	/* dump -> NETDEV, IFINDEX, FABRIC, UDP_PORT, SWITCH_NAME, STATS nest */
	__PIB_CMD_MAX
};
#define PIB_CMD_MAX (__PIB_CMD_MAX - 1)

enum pib_attr {
	PIB_A_UNSPEC,
	PIB_A_PAD,
	PIB_A_HCA_NAME,		/* string */
	PIB_A_SWITCH_NAME,	/* string */
	PIB_A_IFINDEX,		/* u32 */
	PIB_A_NETDEV,		/* string */
	PIB_A_NODE_GUID,	/* u64, host order */
	PIB_A_NUM_PORTS,	/* u32; switches: without port 0 */
	PIB_A_FABRIC,		/* u32, fabric id, 0 by default */
	PIB_A_UDP_PORT,		/* u16, host order */
	PIB_A_STANDALONE,	/* flag */
	PIB_A_PEER,		/* nest of PIB_EP_*; may repeat */
	PIB_A_PORT,		/* nest of PIB_P_*; may repeat */
	PIB_A_LINK_A,		/* nest of PIB_END_* */
	PIB_A_LINK_B,		/* nest of PIB_END_* */
	PIB_A_UDP_LINK,		/* nest of PIB_UL_* */
	PIB_A_LINK_STATE,	/* u8 */
	PIB_A_STATS,		/* nest of PIB_US_* */
	PIB_A_IBDEV_INDEX,	/* u32, the rdma device index of an HCA */
	PIB_A_DESCRIPTION,	/* string, NodeDescription */
	PIB_A_KEY,		/* binary, pre-shared key of the fabric, 16..64 bytes */
	PIB_A_MODULE_VERSION,	/* string, in every GET answer */
	PIB_A_AUTO,		/* flag: made by the system (host switch, trunk), not by request */
	PIB_A_LINK_WIDTH,	/* u8, greatest width that the link may have, as PortInfo */
	PIB_A_LINK_SPEED,	/* u16, greatest speed, enum ib_port_speed */
	PIB_A_LINK_FAULT,	/* nest of PIB_F_* */
	PIB_A_SYS_IMAGE_GUID,	/* u64, host order, SystemImageGUID; NODE_GUID by default */
	PIB_A_VENDOR_ID,	/* u32, NodeInfo.VendorID, 24 bits */
	PIB_A_DEVICE_ID,	/* u32, NodeInfo.DeviceID, 16 bits */
	PIB_A_ENHANCED_PORT0,	/* flag, SwitchInfo.EnhancedPort0 */
	__PIB_A_MAX
};
#define PIB_A_MAX (__PIB_A_MAX - 1)

/* An end of a cable: a port of a named HCA or switch of this namespace. */
enum pib_end_attr {
	PIB_END_UNSPEC,
	PIB_END_NODE,		/* string, name of an HCA or switch */
	PIB_END_PORT,		/* u32, 1.. */
	__PIB_END_MAX
};
#define PIB_END_MAX (__PIB_END_MAX - 1)

/*
 * Faults of a cable. A set changes those that are given; all sequences of choices then
 * begin anew. Of a link over UDP they meet what arrives at this end.
 */
enum pib_f_attr {
	PIB_F_UNSPEC,
	PIB_F_PAD,
	PIB_F_NONE,		/* flag, set: what is not given becomes as in a good cable */
	PIB_F_SEED,		/* u64, of all random choices; random unless given */
	PIB_F_LOSS,		/* u32, packets lost, in 10^9 */
	PIB_F_DUPLICATE,	/* u32, packets that come twice, in 10^9 */
	PIB_F_REORDER,		/* u32, packets that up to three others overtake, in 10^9 */
	PIB_F_BIT_ERRORS,	/* u64, bits damaged, in 10^15; at most 10^13 */
	PIB_F_LATENCY,		/* u64, ns; at most 10^10 */
	PIB_F_RATE,		/* u64, bits per second; 0: no limit */
	PIB_F_FLAP_UP,		/* u32, ms that a flapping cable holds; 0: it does not flap */
	PIB_F_FLAP_DOWN,	/* u32, ms that it is out */
	PIB_F_COUNTS,		/* get: nest of PIB_FC_*; one for each end at which packets arrive */
	PIB_F_BUFFER,		/* u32, bytes of room for each VL at the far end: its credits; 0: no limit */
	__PIB_F_MAX
};
#define PIB_F_MAX (__PIB_F_MAX - 1)

/* What has become of the packets to one end since the faults were set. */
enum pib_fc_attr {
	PIB_FC_UNSPEC,
	PIB_FC_PAD,
	PIB_FC_TO,		/* nest of PIB_END_* */
	PIB_FC_PACKETS,		/* u64, sent into the cable */
	PIB_FC_LOST,		/* u64 */
	PIB_FC_DAMAGED,		/* u64 */
	PIB_FC_DUPLICATED,	/* u64 */
	PIB_FC_REORDERED,	/* u64 */
	__PIB_FC_MAX
};
#define PIB_FC_MAX (__PIB_FC_MAX - 1)

/* An endpoint of UDP. */
enum pib_ep_attr {
	PIB_EP_UNSPEC,
	PIB_EP_ADDR4,		/* binary, 4 bytes */
	PIB_EP_ADDR6,		/* binary, 16 bytes */
	PIB_EP_PORT,		/* u16, host order */
	__PIB_EP_MAX
};
#define PIB_EP_MAX (__PIB_EP_MAX - 1)

/* A link over UDP. */
enum pib_ul_attr {
	PIB_UL_UNSPEC,
	PIB_UL_PAD,
	PIB_UL_NETDEV,		/* string */
	PIB_UL_PEER,		/* nest of PIB_EP_* */
	PIB_UL_LOCAL_ID,	/* u32, link id that the peer must use; told to whom changes are allowed */
	PIB_UL_REMOTE_ID,	/* u32; likewise */
	PIB_UL_UP,		/* u8, session established */
	PIB_UL_PEER_NODE_GUID,	/* u64 */
	PIB_UL_PEER_PORT_NUM,	/* u32 */
	PIB_UL_PEER_DESC,	/* string */
	PIB_UL_LAST_HEARD_MS,	/* u32 */
	PIB_UL_RESTARTS,	/* u32, sessions lost since the link was made */
	PIB_UL_REFUSAL,		/* string, why the peer has no port for this link, as it keeps saying */
	__PIB_UL_MAX
};
#define PIB_UL_MAX (__PIB_UL_MAX - 1)

/* A port. States are numbered as in PortInfo. */
enum pib_p_attr {
	PIB_P_UNSPEC,
	PIB_P_PAD,
	PIB_P_NUM,		/* u32 */
	PIB_P_GUID,		/* u64 */
	PIB_P_STATE,		/* u8: 1 Down 2 Init 3 Armed 4 Active */
	PIB_P_PHYS_STATE,	/* u8: 1 Sleep 2 Polling 3 Disabled 4 Training 5 LinkUp */
	PIB_P_LID,		/* u16 */
	PIB_P_LMC,		/* u8 */
	PIB_P_SM_LID,		/* u16 */
	PIB_P_MTU,		/* u32, active MTU in bytes */
	PIB_P_WIDTH,		/* u8, active, as PortInfo */
	PIB_P_SPEED,		/* u16, active, enum ib_port_speed */
	PIB_P_COUNTERS,		/* nest of PIB_C_* */
	PIB_P_NETDEV,		/* string, of the uplink behind the port if there is one */
	__PIB_P_MAX
};
#define PIB_P_MAX (__PIB_P_MAX - 1)

/* Counters of a port, u64 each; data in bytes. */
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
	__PIB_C_MAX
};
#define PIB_C_MAX (__PIB_C_MAX - 1)

/* Counters of an uplink, u64 each. A drop is counted by its reason. */
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
	__PIB_US_MAX
};
#define PIB_US_MAX (__PIB_US_MAX - 1)

#endif
