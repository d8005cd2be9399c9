/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A link over UDP: its datagrams, and the state machine that finds, watches
 * and loses the other end. docs/wire-format.md describes the bytes.
 *
 * Each datagram starts with 8 bytes:
 *
 *	0	version (high nibble, 1) and type (low nibble, enum pib_dg_type)
 *	1	flags, enum pib_dg_flags
 *	2-3	tag: low 16 bits of the receiver's session nonce (DATA), else 0
 *	4-7	link id of the receiver; 0 in a hello to one not known yet
 *
 * DATA is followed by one IB packet, LRH to ICRC. Control types carry
 * struct pib_hello_wire in full.
 */
#ifndef PIB_PROTO_LINK_H
#define PIB_PROTO_LINK_H

#include "env.h"

#define PIB_DG_HDR_LEN		8
#define PIB_DG_VERSION		1

enum pib_dg_type {
	PIB_DG_DATA = 0,
	PIB_DG_HELLO = 1,	/* here I am; also the discovery multicast (link id 0) */
	PIB_DG_HELLO_ACK = 2,	/* I see you, these are my ids */
	PIB_DG_KEEPALIVE = 3,
	PIB_DG_BYE = 4,
	PIB_DG_SEGMENT = 5,	/* part of a frame of packets, see docs/wire-format.md */
};

enum pib_dg_flags {
	PIB_DG_NOICRC = 1 << 0,	/* DATA: the ICRC field is not computed (agreed at hello) */
};

enum pib_hello_caps {
	PIB_CAP_NOICRC = 1 << 0,	/* accepts packets without ICRC under a UDP checksum */
	PIB_CAP_SEGMENTS = 1 << 1,	/* understands PIB_DG_SEGMENT */
	PIB_CAP_KEYED = 1 << 2,		/* hello is authenticated */
	PIB_CAP_STANDALONE = 1 << 3,	/* @lids are to be routed without an SM */
};

enum pib_hello_role {
	PIB_ROLE_SWITCH = 1,		/* a host switch's trunk end: meshes */
	PIB_ROLE_HCA = 2,		/* an HCA port: wants a switch port or another HCA port */
};

#define PIB_HELLO_LIDS 8

/**
 * struct pib_hello - what the two ends of a link tell one another
 * @fabric: fabric id
 * @link_id: sender's id of this link, what the receiver must put in the header; 0 in discovery
 * @peer_nonce: the receiver's session as the sender knows it, 0 if not
 * @nonce: sender's session; changes when it restarts
 * @node_guid: sender's node
 * @port_guid: sender's port (switches: node GUID)
 * @port_num: sender's port number, 0 in discovery
 * @role: enum pib_hello_role
 * @caps: enum pib_hello_caps
 * @mtu_cap: MTU code of the sender's port
 * @down: 1: the sender's port is disabled or has the cable out: link is kept, port is Down
 * @keepalive_ms: sender will be heard at least this often
 * @desc: NodeDescription, NUL padded
 * @num_lids: entries in @lids
 * @lids: standalone LIDs behind the sender
 */
struct pib_hello {
	u32 fabric;
	u32 link_id;
	u64 peer_nonce;
	u64 nonce;
	u64 node_guid;
	u64 port_guid;
	u8 port_num;
	u8 role;
	u32 caps;
	u8 mtu_cap;
	u8 down;
	u16 keepalive_ms;
	char desc[64];
	u8 num_lids;
	u16 lids[PIB_HELLO_LIDS];
};

#define PIB_HELLO_WIRE_LEN	176	/* header, fields, 16 bytes of authentication (zero if not keyed) */

/* Write a control datagram of @type. Returns its length. Authentication bytes are left zero: env computes them over the whole (offset PIB_HELLO_MAC_OFF). */
size_t pib_hello_build(const struct pib_hello *h, u8 type, u32 to_link_id, u8 out[PIB_HELLO_WIRE_LEN]);
#define PIB_HELLO_MAC_OFF	(PIB_HELLO_WIRE_LEN - 16)

/* Parse; 0 or -1 (short, version, values out of range). */
int pib_hello_parse(struct pib_hello *h, u8 *type, u32 *to_link_id, const u8 *buf, size_t len);

enum pib_link_state {
	PIB_LINK_IDLE,		/* no peer heard yet: hello is sent slowly */
	PIB_LINK_GREETING,	/* peer heard, not yet confirmed both ways */
	PIB_LINK_UP,		/* both ends know the other's current session */
};

#define PIB_HELLO_INTERVAL_MS	500
#define PIB_KEEPALIVE_MS	500
#define PIB_DEAD_MS		2000

/**
 * struct pib_link_fsm - one end of a link over UDP
 */
struct pib_link_fsm {
	u8 state;
	u32 local_id;
	u32 remote_id;
	u64 nonce;		/* own session */
	u64 peer_nonce;
	u64 peer_node_guid;
	u64 peer_port_guid;
	u8 peer_port_num;
	u8 peer_role;
	u8 peer_mtu_cap;
	u8 peer_down;
	u32 peer_caps;
	char peer_desc[64];
	u64 last_heard;		/* ns */
	u64 next_send;		/* ns */
	u32 restarts;		/* sessions lost */
};

/* What env is to do after a call; bits. */
enum pib_link_do {
	PIB_LINK_DO_SEND = 1 << 0,	/* send the control datagram of type fsm says (see pib_link_out()) */
	PIB_LINK_DO_UP = 1 << 1,	/* the link came up: pib_port_link_up() */
	PIB_LINK_DO_DOWN = 1 << 2,	/* the link went down: pib_port_link_down() */
	PIB_LINK_DO_REJECT = 1 << 3,	/* datagram does not fit: count it */
};

void pib_link_init(struct pib_link_fsm *f, u32 local_id, u64 nonce);
/* A control datagram came in from the peer's address. A new nonce of a known peer: DOWN, then UP again (a cable pulled and put back). */
u32 pib_link_rx(struct pib_link_fsm *f, const struct pib_hello *h, u8 type, u64 now);
/* Time passed. */
u32 pib_link_timer(struct pib_link_fsm *f, u64 now);
u64 pib_link_deadline(const struct pib_link_fsm *f);
/* The datagram type to send now (after DO_SEND), and the fsm's fields into @h (link_id, nonces). */
u8 pib_link_out(struct pib_link_fsm *f, struct pib_hello *h, u64 now);

#endif
