/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion control (IBA Annex A10): the agent of class 0x21, and the effect of its
 * tables on packets. A switch port whose queue is longer than its threshold marks
 * packets (FECN). The receiver tells the sender (BECN). The sender's index into its
 * congestion control table then grows, by which it waits between packets, and shrinks
 * again with time.
 */
#ifndef PIB_PROTO_CC_H
#define PIB_PROTO_CC_H

#include "env.h"

struct pib_hdrs;
struct pib_node;
struct pib_port;

#define PIB_CC_BLOCKS		2	/* of the congestion control table */
#define PIB_CC_BLOCK_ENTRIES	64
#define PIB_CC_ENTRIES		(PIB_CC_BLOCKS * PIB_CC_BLOCK_ENTRIES)
#define PIB_CC_SW_EVENTS	15	/* in a CongestionLog */
#define PIB_CC_CA_EVENTS	13

/**
 * struct pib_cc_sw_event - a packet that a switch has marked
 * @slid: its source
 * @dlid: and destination
 * @sl: service level
 * @at: when, units of 1.024 us
 */
struct pib_cc_sw_event {
	u16 slid;
	u16 dlid;
	u8 sl;
	u32 at;
};

/**
 * struct pib_cc_ca_event - a flow whose index has passed the trigger threshold
 * @qpn: own QP
 * @remote_qpn: the other end's
 * @remote_lid: and its LID
 * @sl: service level
 * @at: when, units of 1.024 us
 */
struct pib_cc_ca_event {
	u32 qpn;
	u32 remote_qpn;
	u16 remote_lid;
	u8 sl;
	u32 at;
};

/**
 * struct pib_cc_node - congestion control of a node; guarded by the node's lock
 * @key: CC_Key
 * @protect: CC_KeyProtectBit: the key is not shown to senders that do not have it
 * @lease: CC_KeyLeasePeriod, s
 * @lease_end: ns, 0: no lease is running
 * @violations: CC_KeyViolations
 * @control_map: SwitchCongestionSetting.Control_Map: the fields below that are used
 * @victim_mask: ports that mark even if others hold them up; stored
 * @credit_mask: ports that do credit starvation marking; stored
 * @threshold: 0: no marking, 1 .. 15: the higher the sooner
 * @packet_size: in 64 bytes; smaller packets are not marked
 * @cs_threshold: stored, as nothing marks for want of credits
 * @cs_return_delay: stored
 * @marking_rate: packets left alone between two that are marked
 * @events: marked packets, since the log was read
 * @event_ports: ports that have marked
 * @sw_log: switches: the last events, at @events modulo its size
 */
struct pib_cc_node {
	u64 key;
	bool protect;
	u16 lease;
	u64 lease_end;
	u16 violations;

	u32 control_map;
	u8 victim_mask[32];
	u8 credit_mask[32];
	u8 threshold;
	u8 packet_size;
	u8 cs_threshold;
	u16 cs_return_delay;
	u16 marking_rate;
	u16 events;
	u8 event_ports[32];
	struct pib_cc_sw_event sw_log[PIB_CC_SW_EVENTS];
};

/**
 * struct pib_cc_sw_port - an element of SwitchPortCongestionSetting
 * @valid: the setting is the port's own, instead of that in struct pib_cc_node
 * @control_type: Control_Type
 * @threshold: as in struct pib_cc_node
 * @packet_size: as in struct pib_cc_node
 * @marking_rate: as in struct pib_cc_node
 * @unmarked: eligible packets since the last that was marked
 */
struct pib_cc_sw_port {
	bool valid;
	u8 control_type;
	u8 threshold;
	u8 packet_size;
	u16 marking_rate;
	u16 unmarked;
};

/**
 * struct pib_cc_entry - CACongestionSetting of a service level
 * @timer: units of 1.024 us in which the index goes down by one
 * @increase: amount by which it goes up with a BECN
 * @threshold: index at which an event is logged
 * @min: least value of the index
 */
struct pib_cc_entry {
	u16 timer;
	u8 increase;
	u8 threshold;
	u8 min;
};

/**
 * struct pib_cc_flow - congestion control of a QP at its sender, or of a service level
 * @index: CCTI
 * @since: ns: time up to which @index has been lowered
 * @next: ns: time from which the next packet may be sent
 */
struct pib_cc_flow {
	u16 index;
	u64 since;
	u64 next;
};

/**
 * struct pib_cc_ca - congestion control of an HCA's port; guarded by the node's lock. The
 *	data path reads single words of it
 * @port_control: Port_Control
 * @control_map: service levels to which it applies
 * @entry: per service level
 * @limit: CCTI_Limit
 * @table: congestion control table: shift in the upper two bits, multiplier in the others
 * @events: threshold events since the log was read
 * @event_sls: service levels that had some
 * @log: the last events, at @events modulo its size
 * @flow: per service level, if @port_control says that QPs have none of their own
 */
struct pib_cc_ca {
	u16 port_control;
	u16 control_map;
	struct pib_cc_entry entry[16];
	u16 limit;
	u16 table[PIB_CC_ENTRIES];
	u16 events;
	u16 event_sls;
	struct pib_cc_ca_event log[PIB_CC_CA_EVENTS];
	struct pib_cc_flow flow[16];
};

/**
 * pib_cc_process() - answer a MAD of class 0x21 (A10.4)
 * @p: port 0 of a switch, arrival port of an HCA
 * @in: the request, PIB_MAD_SIZE bytes
 * @out: a copy of @in; gets the status and the attribute of the answer
 * @now: ns
 *
 * Context: under the node's lock.
 * Return: false: no answer is due, for the request would write without the CC_Key (A10.4.1).
 */
bool pib_cc_process(struct pib_port *p, const u8 *in, u8 *out, u64 now);

/**
 * pib_cc_marks() - count the packets to mark of those that leave by a switch port
 * @p: switch port
 * @queued: filling of the queue before the port, in 1/256
 * @bytes: of each packet
 * @npkts: packets
 *
 * pib_cc_marked() then logs each of them.
 *
 * Context: any; without the node's lock. Two callers at a time may mark a packet too many or too
 *	few.
 * Return: the number of packets to mark, of @npkts.
 */
u32 pib_cc_marks(struct pib_port *p, u32 queued, u32 bytes, u32 npkts);
/*
 * Return: true if the port marks some packets and leaves others alone (Marking_Rate). Context: any;
 * without the node's lock.
 */
bool pib_cc_picks(const struct pib_port *p);
/* Log a packet that was marked at @p, a switch port (A10). Context: under the node's lock. */
void pib_cc_marked(struct pib_port *p, const struct pib_hdrs *h, u64 now);

/**
 * pib_cc_becn() - take in a BECN, by which the index of a flow rises
 * @p: port of the HCA
 * @f: the flow: its QP's, or that of pib_cc_sl_flow()
 * @sl: its service level
 * @now: ns
 *
 * Context: under the lock of @f: its QP's, or the node's.
 * Return: true: the index has passed the trigger threshold, which pib_cc_triggered() logs.
 */
bool pib_cc_becn(struct pib_port *p, struct pib_cc_flow *f, u8 sl, u64 now);
/**
 * pib_cc_triggered() - log that the index of a flow has passed the trigger threshold
 * @p: port of the HCA, with congestion control
 * @sl: service level
 * @qpn: own QP
 * @remote_qpn: the other end's
 * @remote_lid: and its LID
 * @now: ns
 *
 * Context: under the node's lock.
 */
void pib_cc_triggered(struct pib_port *p, u8 sl, u32 qpn, u32 remote_qpn, u16 remote_lid, u64 now);

/*
 * Find the flow of all senders of @sl. While its index is not 0 there is a bit in the port's
 * cc_slow.
 *
 * Context: any; the flow itself is read and written under the node's lock.
 * Return: the flow; NULL: each QP has a flow of its own (A10.4.3.8, Port_Control).
 */
struct pib_cc_flow *pib_cc_sl_flow(const struct pib_port *p, u8 sl);

/**
 * pib_cc_sent() - set the time from which a flow may send its next packet (A10.2.1)
 * @p: port of the HCA
 * @f: the flow
 * @sl: its service level
 * @bytes: size of the packets that are sent now, headers included, at most 128 KiB
 * @mbps: speed of the link
 * @now: ns
 *
 * Context: under the lock of @f: its QP's, or the node's.
 */
void pib_cc_sent(struct pib_port *p, struct pib_cc_flow *f, u8 sl, u32 bytes, u32 mbps,
		 u64 now);

#endif
