/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events of HCAs, switches, ports and cables, for their listeners (netlink/pib.yaml). The part of
 * pib that notices an event calls pib_notify(). The part that tells the listeners registers itself.
 */
#ifndef PIB_CORE_NOTIFY_H
#define PIB_CORE_NOTIFY_H

#include <linux/types.h>
#include "uapi/linux/pib.h"

struct pib_addr;
struct pib_net;

/**
 * struct pib_note_end - a node, or a port of it
 * @node: name of the device, which may be changing while it is read; NULL: there is no such end
 * @is_switch: the node is a switch
 * @port: number
 */
struct pib_note_end {
	const char *node;
	bool is_switch;
	u32 port;
};

/**
 * struct pib_note_port - a port as PortInfo tells of it
 * @lid: LID
 * @sm_lid: the SM's
 * @state: enum pib_port_state
 * @phys: enum pib_phys_state
 */
struct pib_note_port {
	u16 lid;
	u16 sm_lid;
	u8 state;
	u8 phys;
};

/**
 * struct pib_note_udp - a cable that is a link over UDP
 * @ifindex: its netdev
 * @peer: where its peer is
 * @up: there is a session
 * @second_key: the peer speaks by the second key
 * @restarts: sessions lost
 * @guid: the peer's node GUID; 0: the peer has not said anything yet
 * @port_num: the peer's port
 * @desc: the peer's description, 64 bytes
 */
struct pib_note_udp {
	int ifindex;
	const struct pib_addr *peer;
	bool up;
	bool second_key;
	u32 restarts;
	u64 guid;
	u32 port_num;
	const char *desc;
};

/**
 * struct pib_note - something that has happened
 * @pn: namespace of the object
 * @kind: enum pib_event_kind
 * @a: the object: a node, or with a port number the port or the cable in it
 * @b: far end of a cable inside this kernel
 * @udp: of a cable that leads elsewhere
 * @port: states of a port
 * @old_name: name that an HCA had before
 * @guid: of a node
 * @is_auto: made by the system
 * @plugged: of a cable
 * @ib_event: enum ib_event_type
 * @num_keys: of the fabric
 * @trap: number of a trap
 * @lid: of the port that has sent it
 */
struct pib_note {
	struct pib_net *pn;
	u8 kind;
	struct pib_note_end a;
	struct pib_note_end b;
	const struct pib_note_udp *udp;
	const struct pib_note_port *port;
	const char *old_name;
	u64 guid;
	bool is_auto;
	bool plugged;
	u32 ib_event;
	u8 num_keys;
	u16 trap;
	u16 lid;
};

/**
 * struct pib_notify_ops - the part of pib that tells the listeners
 * @wanted: returns true if anybody listens to @pn, be it in another namespace. Any context, RCU
 * @tell: tells of @note, which is not kept. Any context, RCU
 */
struct pib_notify_ops {
	bool (*wanted)(struct pib_net *pn);
	void (*tell)(const struct pib_note *note);
};

/* Have events told by @ops, until pib_notify_unregister(). Context: process. */
void pib_notify_register(const struct pib_notify_ops *ops);
/* Have no more events told; on return no call of @ops is under way. Context: process; sleeps. */
void pib_notify_unregister(void);

/* Tell of @note, which is not kept, if anybody listens. Context: any, with any locks held. */
void pib_notify(const struct pib_note *note);

#endif
