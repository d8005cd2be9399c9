/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Hellos: the control datagrams of links over UDP. They are PIB_HELLO_WIRE_LEN bytes long, but for
 * padded probes (proto/pmtu.h), which are longer. proto/hello.c has their fields, and
 * docs/wire-format.md describes the bytes.
 */
#ifndef PIB_PROTO_HELLO_H
#define PIB_PROTO_HELLO_H

#include "dg.h"
#include "env.h"

enum pib_hello_caps {
	PIB_CAP_NOICRC = 1 << 0,	/* accepts packets without ICRC under a UDP checksum */
	PIB_CAP_SEGMENTS = 1 << 1,	/* understands PIB_DG_SEGMENT */
	PIB_CAP_KEYED = 1 << 2,		/* hello is authenticated */
	PIB_CAP_STANDALONE = 1 << 3,	/* wants @lids routed without an SM */
	PIB_CAP_AUTO = 1 << 4,		/* see pib_hello_is_trunk() */
	PIB_CAP_PROBE = 1 << 5,		/* HELLO with link id 0: only asks who is there */
	PIB_CAP_ECN = 1 << 6,		/* makes FECN of the network's marks (RFC 3168) */
	PIB_CAP_FLOWS = 1 << 7,		/* takes data from any UDP port of the peer's address */
	PIB_CAP_FLOW_PROBE = 1 << 8,	/* KEEPALIVE from another UDP port, to see if it comes */
	PIB_CAP_FLOWS_COME = 1 << 9,	/* such a KEEPALIVE has come from the peer lately */
	PIB_CAP_PADDED = 1 << 10,	/* tells which padded probe of the peer's has come */
	PIB_CAP_WINDOWS = 1 << 11,	/* tells what it has taken in of each VL: PIB_DG_CREDIT */
};

/* Reasons why a hello gets no link; in the BYE that answers it. */
enum pib_hello_refusal {
	PIB_REFUSED_NOT = 0,		/* an ordinary BYE */
	PIB_REFUSED_FULL = 1,		/* every port is taken */
	PIB_REFUSED_FABRIC = 2,		/* no switch of this fabric here */
	PIB_REFUSED_KEY = 3,		/* the fabric's key is another one */
	PIB_REFUSED_CLOSED = 4,		/* strangers get no port */
	PIB_REFUSED_VERSION = 5,	/* it says hello in version PIB_DG_FORMER */
};

enum pib_hello_role {
	PIB_ROLE_SWITCH = 1,		/* a host switch's trunk end: meshes */
	PIB_ROLE_HCA = 2,		/* an HCA port: wants a switch port or an HCA port */
};

#define PIB_HELLO_LIDS 8

/**
 * struct pib_hello - a control datagram: an end of a link tells the other one of itself
 * @fabric: fabric id
 * @link_id: sender's id of this link, which the receiver puts in the header; 0 in discovery
 * @peer_nonce: the receiver's session as the sender knows it, 0 if not
 * @nonce: sender's session; changes when it restarts
 * @node_guid: sender's node
 * @port_guid: sender's port (switches: node GUID)
 * @port_num: sender's port number, 0 in discovery
 * @role: enum pib_hello_role
 * @caps: enum pib_hello_caps
 * @seq: number of this datagram among the sender's; pib_session_build() fills it in
 * @ack: the last @seq that the sender has heard in session @peer_nonce
 * @mtu_cap: MTU code of the sender's port
 * @width_en: LinkWidthEnabled of the sender's port, 0: not told
 * @speed_en: LinkSpeedEnabled
 * @ext_speed_en: as struct pib_port.ext_speed_en
 * @down: 1: the sender's port is disabled or has the cable out: link is kept, port is DOWN
 * @keepalive_ms: sender will be heard at least this often
 * @refusal: BYE: enum pib_hello_refusal
 * @desc: NodeDescription, NUL padded
 * @num_lids: entries in @lids
 * @lids: standalone LIDs behind the sender
 * @padded: padded probe (proto/pmtu.h): bytes of the datagram, of which those behind this structure
 *	mean nothing; 0: not padded
 * @probe: padded probe: its number, not 0
 * @came: number of the receiver's last padded probe that has come in session @peer_nonce, 0: none
 * @key: not in the datagram: the receiver's key by which it is authentic, as struct
 *	pib_session.key; env fills it in
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
	u32 seq;
	u32 ack;
	u8 mtu_cap;
	u8 width_en;
	u8 speed_en;
	u8 ext_speed_en;
	u8 down;
	u16 keepalive_ms;
	u8 refusal;
	char desc[64];
	u8 num_lids;
	u16 lids[PIB_HELLO_LIDS];
	u16 padded;
	u16 probe;
	u16 came;
	u32 key;
};

/*
 * Return: true if @h is of a trunk (made by discovery, between two switches) or leads to one.
 * Context: any.
 */
static inline bool pib_hello_is_trunk(const struct pib_hello *h)
{
	return h->caps & PIB_CAP_AUTO;
}

#define PIB_HELLO_WIRE_LEN	176	/* header, fields, 16 bytes of authentication */

#define PIB_HELLO_MAC_OFF	(PIB_HELLO_WIRE_LEN - 16)

/**
 * pib_hello_build() - write a control datagram
 * @h: its fields
 * @type: enum pib_dg_type
 * @to_link_id: link id of the receiver; 0: it is not known
 * @out: result
 *
 * Authentication bytes are left zero: env computes them over the whole (offset PIB_HELLO_MAC_OFF).
 *
 * Context: any.
 * Return: bytes written, PIB_HELLO_WIRE_LEN.
 */
size_t pib_hello_build(const struct pib_hello *h, u8 type, u32 to_link_id,
		       u8 out[PIB_HELLO_WIRE_LEN]);

/**
 * pib_hello_parse() - read a control datagram
 * @h: result; the description is NUL-terminated and without control characters, @h->key is 0
 * @type: result: enum pib_dg_type
 * @to_link_id: result: link id of the receiver
 * @buf: the datagram, or if it is longer, its first PIB_HELLO_WIRE_LEN bytes
 * @len: bytes of the datagram
 *
 * Authentication is not checked.
 *
 * Context: any.
 * Return: 0; -1: length, version, not a control type, or values out of range.
 */
int pib_hello_parse(struct pib_hello *h, u8 *type, u32 *to_link_id, const u8 *buf, size_t len);

/**
 * pib_hello_parse_former() - read a HELLO of version PIB_DG_FORMER that wants a link
 * @h: as of pib_hello_parse()
 * @buf: the datagram
 * @len: its bytes
 *
 * All that a refusal needs is in that version where it is in this one.
 *
 * Context: any.
 * Return: true if it is one.
 */
bool pib_hello_parse_former(struct pib_hello *h, const u8 *buf, size_t len);

/* Make the control datagram @bytes one of version PIB_DG_FORMER. Context: any. */
static inline void pib_hello_make_former(u8 *bytes)
{
	bytes[0] = PIB_DG_FORMER << 4 | (bytes[0] & 0xF);
}

/* Hop limit of control datagrams: one that arrives with it has passed no router (RFC 5082). */
#define PIB_HOP_LIMIT	255

/**
 * struct pib_hello_way - the way by which a control datagram came
 * @hop_limit: TTL or hop limit that it had left
 * @to_group: it was sent to a multicast group
 * @named: the user has named its sender as a peer
 */
struct pib_hello_way {
	u8 hop_limit;
	bool to_group;
	bool named;
};

/* Senders to which hosts give a port by themselves, as numbered in netlink/pib.yaml. */
enum pib_hello_accept {
	PIB_HELLO_NOBODY,
	PIB_HELLO_PEERS,	/* those that the user has named */
	PIB_HELLO_LINK,		/* them, and those on the same link */
	PIB_HELLO_ANYBODY,
};

/*
 * Return: true if a node that takes in @accept (enum pib_hello_accept) may give a port to the
 * sender of @h. Trunks are made on the link only, and so is what leads to them, whatever @accept.
 * Context: any.
 */
bool pib_hello_admits(u8 accept, const struct pib_hello *h, const struct pib_hello_way *way);

/*
 * Return: true if a link that is not up, which discovery made (@trunk) or the peer asked for, may
 * follow the peer to the address that @h comes from. Without this check a host that is given no
 * port could take the place of a peer that is away. A trunk's peer is on the link, whatever is
 * accepted otherwise. Context: any.
 */
bool pib_hello_follows(u8 accept, bool trunk, const struct pib_hello *h,
		       const struct pib_hello_way *way);

/*
 * Return: true if a hello with PIB_CAP_PROBE may be answered. One that went to everybody is for the
 * link, as discovery is: from behind a router it would draw an answer from each host. Context: any.
 */
bool pib_hello_may_probe(const struct pib_hello_way *way);

/*
 * Return: the meaning of @refusal in words for users: enum pib_hello_refusal, or a number that is
 * not known. Context: any.
 */
const char *pib_hello_refusal_text(u8 refusal);

#endif
