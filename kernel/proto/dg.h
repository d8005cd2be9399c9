/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The link header, with which each datagram starts:
 *
 *	0	version (high nibble, PIB_DG_VERSION) and type (low nibble, enum pib_dg_type)
 *	1	flags, enum pib_dg_flags
 *	2-3	tag: low 16 bits of the receiver's session nonce (DATA, SEGMENT), else 0
 *	4-7	link id of the receiver; 0 in a hello to one not known yet
 *
 * DATA is followed by one IB packet, LRH to ICRC. The rest of a SEGMENT is described in
 * proto/segment.h, that of a CREDIT in proto/credit.h, that of PING and PONG in
 * docs/wire-format.md, that of the others in proto/hello.c.
 */
#ifndef PIB_PROTO_DG_H
#define PIB_PROTO_DG_H

#include "env.h"
#include "mad.h"

#define PIB_DG_HDR_LEN		8
#define PIB_DG_VERSION		2
#define PIB_DG_FORMER		1	/* the version before; see pib_hello_parse_former() */

enum pib_dg_type {
	PIB_DG_DATA = 0,
	PIB_DG_HELLO = 1,	/* here I am; also the discovery multicast (link id 0) */
	PIB_DG_HELLO_ACK = 2,	/* I see you, these are my ids */
	PIB_DG_KEEPALIVE = 3,
	PIB_DG_BYE = 4,
	PIB_DG_SEGMENT = 5,	/* part of a frame of packets, see docs/wire-format.md */
	PIB_DG_CREDIT = 6,	/* what was taken in, by VL: proto/credit.h */
	PIB_DG_PING = 14,	/* an echo, of no link: pibnetd answers it, and pibping */
	PIB_DG_PONG = 15,
};

enum pib_dg_flags {
	PIB_DG_NOICRC = 1 << 0,	/* DATA: the ICRC field is not computed (agreed at hello) */
	PIB_DG_SEALED = 1 << 1,	/* DATA, SEGMENT: what follows is encrypted, see proto/seal.h */
};

/**
 * struct pib_dg - link header
 * @version: PIB_DG_VERSION, otherwise it is no datagram of pib
 * @type: enum pib_dg_type, or one that is not known
 * @flags: enum pib_dg_flags
 * @tag: of the receiver's session
 * @link_id: the receiver's
 */
struct pib_dg {
	u8 version;
	u8 type;
	u8 flags;
	u16 tag;
	u32 link_id;
};

/* Write a link header. Context: any. */
static inline void pib_dg_build(const struct pib_dg *d, u8 out[PIB_DG_HDR_LEN])
{
	out[0] = d->version << 4 | d->type;
	out[1] = d->flags;
	pib_put16(out + 2, d->tag);
	pib_put32(out + 4, d->link_id);
}

/* Read a link header, and check nothing in it. Context: any. */
static inline void pib_dg_parse(struct pib_dg *d, const u8 buf[PIB_DG_HDR_LEN])
{
	d->version = buf[0] >> 4;
	d->type = buf[0] & 0xF;
	d->flags = buf[1];
	d->tag = pib_get16(buf + 2);
	d->link_id = pib_get32(buf + 4);
}

#endif
