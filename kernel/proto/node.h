/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Nodes and ports as subnet management sees them (IBA 14.2.5): the state that
 * an SM reads and writes, and the agents that answer it. A node is an HCA or a
 * switch, in the kernel or in pibnetd.
 *
 * Locking: env holds the node's lock around a call that takes a node or port. For
 * performance management that may be another lock, since it shares nothing with the rest
 * and may take long where counters are many. Functions whose context is "any" need no lock:
 * they read what never changes, or single words, which are written with WRITE_ONCE().
 */
#ifndef PIB_PROTO_NODE_H
#define PIB_PROTO_NODE_H

#include "cc.h"
#include "hdrs.h"

#define PIB_MAD_SIZE		256
#define PIB_MAX_PORTS		254
#define PIB_PKEYS		128	/* P_Key table entries of an HCA's port, a multiple of 32 */
#define PIB_SWITCH_PKEYS	32	/* of a switch's port: each packet is looked up in it */
#define PIB_GUIDS		16	/* GUID table entries, a multiple of 8 */
#define PIB_LFT_SIZE		0xC000
#define PIB_MFT_SIZE		1024	/* multicast forwarding entries per switch */
#define PIB_VLS			8	/* data VLs */
#define PIB_LFT_DROP		0xFF
#define PIB_PORTMASK_WORDS	4	/* 256 bits */
#define PIB_MAX_HOPS		64	/* in one kernel, or one pibnetd */
/*
 * Copies that one multicast makes at most, which is twice what the largest fabric needs. Where the
 * tables have it go in circles, each round may double them; a packet has no field that would end
 * that.
 */
#define PIB_MAX_COPIES		8192
#define PIB_VL_DISCARD		0xF	/* of the SL to VL mapping: the packet has no VL */

enum pib_node_type {	/* NodeInfo.NodeType */
	PIB_NODE_CA = 1,
	PIB_NODE_SWITCH = 2,
};

enum pib_port_state {	/* PortInfo.PortState */
	PIB_PORT_NOP = 0,
	PIB_PORT_DOWN = 1,
	PIB_PORT_INIT = 2,
	PIB_PORT_ARMED = 3,
	PIB_PORT_ACTIVE = 4,
};

enum pib_phys_state {	/* PortInfo.PortPhysicalState */
	PIB_PHYS_NOP = 0,
	PIB_PHYS_SLEEP = 1,
	PIB_PHYS_POLLING = 2,
	PIB_PHYS_DISABLED = 3,
	PIB_PHYS_TRAINING = 4,
	PIB_PHYS_LINKUP = 5,
};

/**
 * struct pib_counts - 64-bit counters of a port since it was made
 * @xmit_bytes: PortXmitData, in bytes on the wire, LRH to ICRC
 * @rcv_bytes: PortRcvData, likewise
 * @xmit_pkts: PortXmitPkts
 * @rcv_pkts: PortRcvPkts
 * @ucast_xmit: PortUnicastXmitPkts
 * @ucast_rcv: PortUnicastRcvPkts
 * @mcast_xmit: PortMulticastXmitPkts
 * @mcast_rcv: PortMulticastRcvPkts
 * @symbol_err: SymbolErrorCounter
 * @link_recovery: LinkErrorRecoveryCounter
 * @link_downed: LinkDownedCounter
 * @rcv_err: PortRcvErrors
 * @rcv_remphys_err: PortRcvRemotePhysicalErrors
 * @rcv_switch_relay_err: PortRcvSwitchRelayErrors
 * @xmit_discard: PortXmitDiscards
 * @xmit_constraint_err: PortXmitConstraintErrors
 * @rcv_constraint_err: PortRcvConstraintErrors
 * @local_integrity_err: LocalLinkIntegrityErrors
 * @buffer_overrun: ExcessiveBufferOverrunErrors, see pib_port_overrun()
 * @vl15_dropped: VL15Dropped
 * @xmit_wait: PortXmitWait
 * @qp1_dropped: QP1Dropped
 * @discard_inactive: of @xmit_discard: the port is not ACTIVE
 * @discard_mtu: of @xmit_discard: NeighborMTU
 * @discard_life: of @xmit_discard: SwitchInfo.LifeTimeValue
 * @discard_hoq: of @xmit_discard: HOQLife, and stalled VLs
 * @rcv_physical: of @rcv_err: damaged or lost on the cable
 * @rcv_overrun: of @rcv_err: no room
 * @relay_dlid: of @rcv_switch_relay_err: no route
 * @relay_vl: of @rcv_switch_relay_err: no VL for the packet at the out port
 * @relay_loop: of @rcv_switch_relay_err: the packet would go back
 * @xmit_flow_pkts: PortXmitFlowPkts
 * @rcv_flow_pkts: PortRcvFlowPkts
 * @rcv_fecn: PortPktRcvFECN
 * @rcv_becn: PortPktRcvBECN
 * @sl_rcv_fecn: the same per service level
 * @sl_rcv_becn: the same per service level
 * @sl_xmit_bytes: PortXmitDataSL, in bytes
 * @sl_rcv_bytes: PortRcvDataSL, in bytes
 * @vl_xmit_pkts: PortVLOpPackets
 * @vl_xmit_bytes: PortVLOpData, in bytes
 * @vl_xmit_wait: PortVLXmitWait
 *
 * Env keeps them (per CPU in the kernel) and gives sums. The PMA subtracts the
 * base that a Set recorded and saturates as the attribute demands.
 */
struct pib_counts {
	u64 xmit_bytes;
	u64 rcv_bytes;
	u64 xmit_pkts;
	u64 rcv_pkts;
	u64 ucast_xmit;
	u64 ucast_rcv;
	u64 mcast_xmit;
	u64 mcast_rcv;
	u64 symbol_err;
	u64 link_recovery;
	u64 link_downed;
	u64 rcv_err;
	u64 rcv_remphys_err;
	u64 rcv_switch_relay_err;
	u64 xmit_discard;
	u64 xmit_constraint_err;
	u64 rcv_constraint_err;
	u64 local_integrity_err;
	u64 buffer_overrun;
	u64 vl15_dropped;
	u64 xmit_wait;
	u64 qp1_dropped;
	u64 discard_inactive;
	u64 discard_mtu;
	u64 discard_life;
	u64 discard_hoq;
	u64 rcv_physical;
	u64 rcv_overrun;
	u64 relay_dlid;
	u64 relay_vl;
	u64 relay_loop;
	u64 xmit_flow_pkts;
	u64 rcv_flow_pkts;
	u64 rcv_fecn;
	u64 rcv_becn;
	u64 sl_rcv_fecn[16];
	u64 sl_rcv_becn[16];
	u64 sl_xmit_bytes[16];
	u64 sl_rcv_bytes[16];
	u64 vl_xmit_pkts[16];
	u64 vl_xmit_bytes[16];
	u64 vl_xmit_wait[16];
};

#define PIB_COUNTS (sizeof(struct pib_counts) / sizeof(u64))

/*
 * Counters of a port that netlink and pibnetd tell: the attribute's name behind PIB_C_, and the
 * field of struct pib_counts.
 */
#define PIB_PORT_COUNTERS(X)						\
	X(XMIT_BYTES, xmit_bytes)					\
	X(RCV_BYTES, rcv_bytes)						\
	X(XMIT_PKTS, xmit_pkts)						\
	X(RCV_PKTS, rcv_pkts)						\
	X(UNICAST_XMIT, ucast_xmit)					\
	X(UNICAST_RCV, ucast_rcv)					\
	X(MCAST_XMIT, mcast_xmit)					\
	X(MCAST_RCV, mcast_rcv)						\
	X(SYMBOL_ERR, symbol_err)					\
	X(LINK_RECOVERY, link_recovery)					\
	X(LINK_DOWNED, link_downed)					\
	X(RCV_ERR, rcv_err)						\
	X(RCV_REMPHYS_ERR, rcv_remphys_err)				\
	X(RCV_SWITCH_RELAY_ERR, rcv_switch_relay_err)			\
	X(XMIT_DISCARD, xmit_discard)					\
	X(XMIT_CONSTRAINT_ERR, xmit_constraint_err)			\
	X(RCV_CONSTRAINT_ERR, rcv_constraint_err)			\
	X(LOCAL_INTEGRITY_ERR, local_integrity_err)			\
	X(VL15_DROPPED, vl15_dropped)					\
	X(XMIT_WAIT, xmit_wait)						\
	X(QP1_DROPPED, qp1_dropped)

/*
 * Tasks that the agents leave to env when a call returns; bits of pib_node.events
 * (NODE_DESC, TRAP) and pib_port.events (the others). Env clears the bits that it has seen to.
 */
enum pib_event {
	PIB_EV_LID_CHANGE = 1 << 0,
	PIB_EV_SM_CHANGE = 1 << 1,
	PIB_EV_PKEY_CHANGE = 1 << 2,
	PIB_EV_GID_CHANGE = 1 << 3,
	PIB_EV_CLIENT_REREGISTER = 1 << 4,
	PIB_EV_PORT_ACTIVE = 1 << 5,
	PIB_EV_PORT_ERR = 1 << 6,
	PIB_EV_NODE_DESC = 1 << 7,
	PIB_EV_PHYS_CHANGE = 1 << 8,	/* SM set the physical state: retrain, disable, enable */
	PIB_EV_TRAP = 1 << 9,		/* pib_trap_next() has something to send */
	PIB_EV_SL2VL = 1 << 10,
};

struct pib_node;

/* Bases, each shared by some attributes of the PMA: a Set of one does not clear the others. */
enum pib_pma_base {
	PIB_BASE_COUNTERS,	/* PortCounters */
	PIB_BASE_EXT,		/* PortCountersExtended */
	PIB_BASE_DETAILS,	/* the error and discard details */
	PIB_BASES
};

#define PIB_SAMPLES 15		/* counters of PortSamplesControl */

/**
 * struct pib_samples - PortSamplesControl and its result (16.1.3.2)
 * @tag: of the sample
 * @select: CounterSelect0 .. 14
 * @start: SampleStart, ticks
 * @interval: SampleInterval, ticks
 * @begun: ns when it was asked for; 0: no sample is running
 * @from: values when it began
 * @result: Counter0 .. 14 of the last sample
 */
struct pib_samples {
	u16 tag;
	u16 select[PIB_SAMPLES];
	u32 start;
	u32 interval;
	u64 begun;
	u64 from[PIB_SAMPLES];
	u64 result[PIB_SAMPLES];
};

/**
 * struct pib_port - a port, as PortInfo and its fellow tables describe it
 * @node: owner
 * @num: 0 (switch management port) .. node->num_ports
 * @state: enum pib_port_state; read without the lock by the data path
 * @phys: enum pib_phys_state
 * @link_down_default: PortInfo.LinkDownDefaultState
 * @far_mtu_cap: MTU code of the other end, told by the link
 * @far_width_en: the other end's LinkWidthEnabled; 0: unknown, takes all. Env may
 *	set this and the next two before pib_port_link_up()
 * @far_speed_en: the other end's LinkSpeedEnabled
 * @far_ext_speed_en: the other end's extended speeds
 * @cc_slow: bit per service level at which all senders are slowed down, see pib_cc_sl_flow()
 * @events: enum pib_event bits not yet handled by env
 * @guid: port GUID, host order
 * @mtu_cap: MTU code 1..5 (256..4096)
 * @nbr_mtu: NeighborMTU code, most that the port sends
 * @pkey: partition keys
 * @guids: GUIDInfo; entry 0 is @guid
 * @gid_prefix: subnet prefix, host order
 * @m_key: management key, host order
 * @sl2vl: SLtoVLMappingTable [in port][SL] for switches, [0][SL] for HCAs; NULL: the
 *	power-on mapping, which then cannot be changed
 * @vlarb: VLArbitrationTable blocks 1-4 (low 1, low 2, high 1, high 2), 32 entries of VL
 *	and weight
 * @base: counter values at the last PMA Set, per enum pib_pma_base and counter
 * @samples: PortSamplesControl
 * @cc_sw: switches: congestion setting of the port
 * @cc_ca: HCAs: congestion control of the port; env's memory, zero; NULL: there is none
 * @cap_mask: PortInfo.CapabilityMask
 * @link_up: the link under the port has its other end (told by env)
 * @led: LedInfo
 * @integrity: packets with physical errors, less those without: see pib_port_integrity()
 * @overruns: update periods on end in which something found no room
 * @overrun_period: the last of them; read without the lock
 *
 * Components of PortInfo, in host order:
 * @lid: LID; read without the lock
 * @lmc: LMC; read without the lock
 * @sm_lid: MasterSMLID
 * @sm_sl: MasterSMSL
 * @cap_mask2: CapabilityMask2
 * @diag_code: DiagCode
 * @m_key_lease: M_KeyLeasePeriod, s
 * @m_key_prot: M_KeyProtectBits
 * @m_key_viol: M_KeyViolations
 * @pkey_viol: P_KeyViolations
 * @qkey_viol: Q_KeyViolations
 * @m_key_lease_end: end of the lease, ns; 0: no lease is running
 * @width_en: LinkWidthEnabled
 * @width_sup: LinkWidthSupported
 * @width_act: LinkWidthActive
 * @speed_en: LinkSpeedEnabled
 * @speed_sup: LinkSpeedSupported
 * @speed_act: LinkSpeedActive
 * @ext_speed_en: LinkSpeedExtEnabled in bits 0-3 (FDR, EDR, HDR, NDR), LinkSpeedExtEnabled2 in bit
 *	4 (XDR)
 * @ext_speed_sup: LinkSpeedExtSupported, likewise
 * @ext_speed_act: LinkSpeedExtActive, likewise
 * @vl_cap: VLCap
 * @op_vls: OperationalVLs
 * @vl_high_limit: VLHighLimit
 * @vl_arb_high_cap: VLArbitrationHighCap
 * @vl_arb_low_cap: VLArbitrationLowCap
 * @init_type: InitType
 * @init_type_reply: InitTypeReply
 * @vl_stall_count: VLStallCount
 * @hoq_life: HOQLife
 * @part_enforce: partition enforcement: 0x8 inbound, 0x4 outbound; 0x2, 0x1 raw filters
 * @subnet_timeout: SubnetTimeOut
 * @resp_time: RespTimeValue
 * @local_phy_err: LocalPhyErrors
 * @overrun_err: OverrunErrors
 * @max_credit_hint: MaxCreditHint
 * @link_rtt: LinkRoundTripLatency
 * @client_rereg: ClientReregister
 */
struct pib_port {
	struct pib_node *node;
	u8 num;
	u8 state;
	u8 phys;
	u8 link_down_default;
	u8 far_mtu_cap;
	u8 far_width_en;
	u8 far_speed_en;
	u8 far_ext_speed_en;
	bool link_up;
	bool led;
	u16 cc_slow;
	u32 events;

	u64 guid;
	u64 gid_prefix;
	u64 m_key;
	u16 lid;
	u8 lmc;
	u16 sm_lid;
	u8 sm_sl;
	u32 cap_mask;
	u16 cap_mask2;
	u16 diag_code;
	u16 m_key_lease;
	u8 m_key_prot;
	u16 m_key_viol;
	u16 pkey_viol;
	u16 qkey_viol;
	u64 m_key_lease_end;
	u8 width_en, width_sup, width_act;
	u8 speed_en, speed_sup, speed_act;
	u8 ext_speed_en, ext_speed_sup, ext_speed_act;
	u8 mtu_cap;
	u8 nbr_mtu;
	u8 vl_cap;
	u8 op_vls;
	u8 vl_high_limit;
	u8 vl_arb_high_cap, vl_arb_low_cap;
	u8 init_type, init_type_reply;
	u8 vl_stall_count, hoq_life;
	u8 part_enforce;
	u8 subnet_timeout;
	u8 resp_time;
	u8 local_phy_err, overrun_err;
	u8 integrity;
	u8 overruns;
	u32 overrun_period;
	u16 max_credit_hint;
	u32 link_rtt;
	u8 client_rereg;

	u16 pkey[PIB_PKEYS];
	u64 guids[PIB_GUIDS];
	u8 (*sl2vl)[16];
	u8 vlarb[4][32][2];

	struct pib_counts base[PIB_BASES];
	struct pib_samples samples;
	struct pib_cc_sw_port cc_sw;
	struct pib_cc_ca *cc_ca;
};

#define PIB_NOTICE_DETAILS 54

/**
 * struct pib_trap - a Notice waiting to be sent to the SM
 * @num: 128, 144, ...
 * @port: port it is about
 * @data: DataDetails, wire order
 * @repeats: times sent
 * @sent: ns: time when it was last sent, kept when the slot is free; 0: never
 * @due: ns: time to send it (again); 0: slot free
 * @tid: TransactionID, by which TrapRepress names it
 */
struct pib_trap {
	u16 num;
	u8 port;
	u8 data[PIB_NOTICE_DETAILS];
	u8 repeats;
	u64 sent;
	u64 due;
	u64 tid;
};

#define PIB_TRAPS 8
/* Security notices that a node begins with in SubnetTimeOut. */
#define PIB_TRAPS_SECURITY 4
#define PIB_TRAP_REPEATS 10	/* OpenSM ignores the 11th identical one */

/**
 * struct pib_node - an HCA or switch
 * @type: enum pib_node_type
 * @num_ports: physical ports
 * @ports: [0 .. num_ports]; an HCA does not use [0]
 * @guid: NodeGUID, host order
 * @sys_guid: SystemImageGUID
 * @vendor_id: NodeInfo.VendorID
 * @device_id: NodeInfo.DeviceID
 * @revision: NodeInfo.Revision
 * @desc: NodeDescription
 * @events: enum pib_event bits not yet handled by env
 * @lft_top: SwitchInfo.LinearFDBTop
 * @default_port: SwitchInfo.DefaultPort; stored only, there is no random table
 * @default_mcast_primary: SwitchInfo.DefaultMulticastPrimaryPort, 0xFF: drop
 * @default_mcast_secondary: SwitchInfo.DefaultMulticastNotPrimaryPort, 0xFF: drop
 * @life_time: SwitchInfo.LifeTimeValue
 * @port_state_change: SwitchInfo.PortStateChange
 * @change_untold: since an SM last read that, a port has changed for which no trap could be sent
 * @mft_top: SwitchInfo.MulticastFDBTop; 0 limits nothing
 * @enhanced_sp0: SwitchInfo.EnhancedPort0; set by env before the ports' pib_port_init()
 * @lft: switches: LinearForwardingTable, PIB_LFT_SIZE bytes from env
 * @mft: switches: MulticastForwardingTable, PIB_MFT_SIZE port masks from env
 * @cc: congestion control
 * @traps: notices on their way to the SM
 * @trap_tid: TransactionID of the last one
 * @security_since: ns: time since which security notices are counted
 * @security_traps: their number since then
 * @count: from env: a counter of a port right now, by its place in struct pib_counts
 * @priv: env's
 */
struct pib_node {
	u8 type;
	u8 num_ports;
	struct pib_port **ports;
	u64 guid;
	u64 sys_guid;
	u32 vendor_id;
	u16 device_id;
	u32 revision;
	char desc[64];
	u32 events;

	/* switches */
	u16 lft_top;
	u8 default_port;
	u8 default_mcast_primary;
	u8 default_mcast_secondary;
	u8 life_time;
	bool port_state_change;
	bool change_untold;
	bool enhanced_sp0;
	u16 mft_top;
	u8 *lft;
	u32 (*mft)[PIB_PORTMASK_WORDS * 2];

	struct pib_cc_node cc;

	struct pib_trap traps[PIB_TRAPS];
	u64 trap_tid;
	u64 security_since;
	u32 security_traps;
	u64 (*count)(const struct pib_port *p, u32 counter);
	void *priv;
};

/*
 * Add @bits, enum pib_event, to the events of a node or port. Env may look without the lock whether
 * there are any. Context: under the node's lock.
 */
static inline void pib_events_add(u32 *events, u32 bits)
{
	WRITE_ONCE(*events, *events | bits);
}

/*
 * Fill in a node as it is after power-on. Env has set type, num_ports, ports[],
 * guid, lft, mft, count, priv, and may have set sys_guid, vendor_id, device_id,
 * revision and desc, which are given defaults where they are zero. Context: before anybody else
 * knows the node.
 */
void pib_node_init(struct pib_node *n);

/*
 * Fill in port @num with the GUID @guid, in host order: LID 0, state DOWN; port 0 of a switch is up
 * from the start. Env has set sl2vl, cc_ca and the node's type, num_ports, guid and enhanced_sp0.
 * Context: before anybody else knows the node.
 */
void pib_port_init(struct pib_port *p, struct pib_node *n, u8 num, u64 guid);

/*
 * Set and enable the port's widths and speeds, as PortInfo encodes them (14.2.5.6). @ext_speed_sup:
 * as struct pib_port.ext_speed_sup. The port is DOWN. Context: under the node's lock.
 */
void pib_port_set_link_caps(struct pib_port *p, u8 width_sup, u8 speed_sup, u8 ext_speed_sup);

/*
 * Set PortInfo.CapabilityMask to @caps at @now, in ns. A change, as of IsSM, raises trap 144
 * (13.4.8.2). Context: under the node's lock.
 */
void pib_port_set_caps(struct pib_port *p, u32 caps, u64 now);

/*
 * Set NodeDescription to @desc (64 bytes, or up to a NUL) locally, at @now in ns: event, and trap
 * 144 of each port that has a LID (13.4.8.2). Context: under the node's lock.
 */
void pib_node_set_desc(struct pib_node *n, const char *desc, u64 now);

/*
 * Have the port work without an SM: it takes @lid and goes from INIT or ARMED to ACTIVE. Context:
 * under the node's lock.
 */
void pib_port_set_standalone(struct pib_port *p, u16 lid);

/*
 * Return: true if the port carries LID, M_Key and the like: those of HCAs do, and port 0 of a
 * switch. Context: any.
 */
static inline bool pib_port_is_mgmt(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_CA || p->num == 0;
}

/*
 * Return: true if it is a switch's port 0 without the abilities of an HCA port: it has no link
 * states of its own. Context: any.
 */
static inline bool pib_port_is_base0(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_SWITCH && p->num == 0 && !p->node->enhanced_sp0;
}

/* Return: the port whose M_Key, LID and SM speak for @p (14.2.4). Context: any. */
static inline struct pib_port *pib_port_mgmt(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_CA ? p->node->ports[p->num] : p->node->ports[0];
}

/* ---- calls of links, for their ports ---- */

/*
 * Note that both ends are connected: POLLING -> LINK_UP, DOWN -> INIT, unless disabled.
 * Width and speed become the best that both ends enable (@far_*_en); the port
 * stays DOWN if there is none. @far_mtu_cap: MTU code of the other end; 0: unknown. No effect if
 * already up. Context: under the node's lock.
 */
void pib_port_link_up(struct pib_port *p, u8 far_mtu_cap);

/*
 * Note that the other end is gone: LinkDownDefaultState, DOWN; events, trap 128 on switches
 * (14.2.5.1). No effect on port 0 of a switch. Context: under the node's lock.
 */
void pib_port_link_down(struct pib_port *p);

/*
 * Leave the link: state DOWN, physical state @phys, enum pib_phys_state. Context: under the node's
 * lock.
 */
void pib_port_set_down(struct pib_port *p, u8 phys);

/*
 * Return: true if the link may be up at all. After PIB_EV_PHYS_CHANGE env bounces the link (both
 * ends hear pib_port_link_down()), and brings it up again where both ends say true. Context: any.
 */
static inline bool pib_port_wants_link(const struct pib_port *p)
{
	return READ_ONCE(p->phys) != PIB_PHYS_DISABLED;
}

/* ---- questions of env on the data path (no lock) ---- */

/*
 * Return: true if the port may send a packet for the QP @dqpn, of which only 0 matters (7.2).
 * Context: any.
 */
static inline bool pib_port_admits(const struct pib_port *p, u32 dqpn)
{
	u8 s = READ_ONCE(p->state);

	return s == PIB_PORT_ACTIVE || (dqpn == 0 && s >= PIB_PORT_INIT);
}

/*
 * Return: true if the port may take a packet for the QP @dqpn: data from ARMED on (7.2.7). Context:
 * any.
 */
static inline bool pib_port_takes(const struct pib_port *p, u32 dqpn)
{
	u8 s = READ_ONCE(p->state);

	return s >= PIB_PORT_ARMED || (dqpn == 0 && s >= PIB_PORT_INIT);
}

/*
 * Return: true if @lid, which may be any, is one of the port's own (4.1.3). With LMC its low bits
 * are path bits. No port has the permissive LID, or that of a multicast. Context: any.
 */
static inline bool pib_port_owns_lid(const struct pib_port *p, u16 lid)
{
	u16 own = READ_ONCE(p->lid);

	return own && !((own ^ lid) >> READ_ONCE(p->lmc));
}

/*
 * Return: true if a packet that an HCA's port sends to @h->dlid turns round in the HCA. The LID
 * must be the port's own, and the port must be able to send. An ARMED port sends no data (7.2.7),
 * to itself neither. Context: any.
 */
static inline bool pib_port_loops_back(const struct pib_port *p, const struct pib_hdrs *h)
{
	return pib_port_owns_lid(p, h->dlid) && pib_port_admits(p, h->dqpn);
}

/*
 * Return: true if @pkey is of a partition: none has the key 0, full or limited (10.9.1.2). Context:
 * any.
 */
static inline bool pib_pkey_valid(u16 pkey)
{
	return pkey & 0x7FFF;
}

/* Return: the P_Key at @index, which may be any, of an HCA's port; 0: none. Context: any. */
static inline u16 pib_port_pkey(const struct pib_port *p, u16 index)
{
	return READ_ONCE(p->pkey[index % PIB_PKEYS]);
}

/*
 * Return: true if @a and @b are of one partition and not both of limited members (10.9.3). Context:
 * any.
 */
static inline bool pib_pkeys_match(u16 a, u16 b)
{
	return !((a ^ b) & 0x7FFF) && pib_pkey_valid(a) && (a | b) & 0x8000;
}

/*
 * Make an ARMED port ACTIVE: data has come by it, so the other end is ACTIVE (7.2.7). Context:
 * under the node's lock.
 */
void pib_port_armed_data(struct pib_port *p);

/*
 * Return: LinkSpeedActive and LinkSpeedExtActive as one number: 1, 2 and 4 for SDR to QDR, 16 to
 * 256 for FDR to XDR (ib_core's enum ib_port_speed). A port without either counts as SDR. Context:
 * any.
 */
static inline u16 pib_port_speed(const struct pib_port *p)
{
	u8 speed = READ_ONCE(p->speed_act), ext = READ_ONCE(p->ext_speed_act);

	if (ext)
		return ext << 4;
	return speed ? speed : 1;
}

/* Return: megabits per second of the port: lanes times rate of a lane. Context: any. */
u32 pib_port_mbps(const struct pib_port *p);

/*
 * Return: the number of the port's P_Key table entries: NodeInfo.PartitionCap,
 * SwitchInfo.PartitionEnforcementCap. Context: any.
 */
static inline u32 pib_port_pkeys(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_CA ? PIB_PKEYS : PIB_SWITCH_PKEYS;
}

/* Return: the number of GUIDInfo entries: port 0 of a switch has but its own. Context: any. */
static inline u32 pib_port_guids(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_CA ? PIB_GUIDS : 1;
}

/*
 * Look @pkey up in the port's table, by the rule of membership (10.9.3). Context: any.
 *
 * Return: the index of the first entry that fits; -1: none does.
 */
int pib_port_pkey_match(const struct pib_port *p, u16 pkey);

/* Return: bytes of an MTU code, 1 to 5. Context: any. */
static inline u32 pib_mtu_bytes(u8 code)
{
	return 128u << code;
}

/*
 * Return: the number of VLs that a code of VLCap or OperationalVLs stands for (14.2.5.6). Context:
 * any.
 */
static inline u8 pib_vls_of(u8 code)
{
	static const u8 vls[] = { 1, 1, 2, 4, 8, 15 };

	return code < sizeof(vls) ? vls[code] : 1;
}

/*
 * Find the VL by which a packet with service level @sl leaves by @p, having come in by @in_port (0:
 * from the HCA or switch itself). Context: any.
 *
 * Return: the VL; PIB_VL_DISCARD: the packet is discarded.
 */
static inline u8 pib_port_vl(const struct pib_port *p, u8 in_port, u8 sl)
{
	const u8 (*map)[16] = (const u8 (*)[16])p->sl2vl;
	u8 vl;

	sl &= 0xF;
	if (p->node->type == PIB_NODE_CA)
		in_port = 0;
	vl = map ? READ_ONCE(map[in_port][sl]) : sl % PIB_VLS;
	return vl < pib_vls_of(READ_ONCE(p->op_vls)) ? vl : PIB_VL_DISCARD;
}

/* ---- notices and time ---- */

/*
 * Tell the SM of changed ports, by trap 128, if it could not be told before: it has now told the
 * switch @n where it is, and may have read the ports' states before they changed. Context: under
 * the node's lock.
 */
void pib_node_sm_known(struct pib_node *n);

/*
 * Set SystemImageGUID, in host order, at @now in ns, and raise trap 145, whether it changes or not
 * (13.4.8.2). Context: under the node's lock.
 */
void pib_node_set_sys_guid(struct pib_node *n, u64 sys_guid, u64 now);

/*
 * End the M_Key leases that have run out at @now, in ns (14.2.4.2). Context: under the node's lock.
 */
void pib_node_timer(struct pib_node *n, u64 now);

#endif
