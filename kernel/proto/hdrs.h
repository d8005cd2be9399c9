/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The headers of an InfiniBand packet in host form (IBA chapters 7 to 9), and
 * the burst that they head: a run of consecutive packets of one message, or of
 * datagrams that differ in PSN and payload only.
 *
 * A packet is taken apart once, where it enters (pib_hdrs_parse()). It travels in
 * this form through links, switches and queue pairs, and is put together only
 * where it leaves for a real wire (pib_hdrs_build()).
 */
#ifndef PIB_PROTO_HDRS_H
#define PIB_PROTO_HDRS_H

#include "env.h"

#define PIB_LID_PERMISSIVE	0xFFFF
#define PIB_GID_PREFIX_LOCAL	0xFE80000000000000ULL	/* of every port, besides its own (4.1.1) */
#define PIB_LID_MCAST_FIRST	0xC000
#define PIB_QPN_MCAST		0xFFFFFF
#define PIB_PSN_MASK		0xFFFFFF
#define PIB_QPN_MASK		0xFFFFFF
#define PIB_LRH_LEN		8
#define PIB_GRH_LEN		40
#define PIB_BTH_LEN		12
#define PIB_PSN_LEN		3	/* the end of the BTH */
#define PIB_ICRC_LEN		4
/* LRH 8, GRH 40, BTH 12, the longest extension headers: XRCETH 4 + AtomicETH 28, rounded up */
#define PIB_HDRS_MAX		112
#define PIB_MTU_MAX		4096
#define PIB_DATAGRAMS_MAX	64	/* in a burst of datagrams */
#define PIB_CNP_PAYLOAD		16	/* zero bytes behind the BTH of a congestion notification */

/* Transport services as BTH.OpCode[7:5] encodes them (9.2.1). */
enum pib_tp {
	PIB_TP_RC = 0,
	PIB_TP_UC = 1,
	PIB_TP_RD = 2,
	PIB_TP_UD = 3,
	PIB_TP_CNP = 4,
	PIB_TP_XRC = 5,
};

/*
 * Return: true if the requests of this transport service, enum pib_tp, are acknowledged. Context:
 * any.
 */
static inline bool pib_tp_reliable(u8 tp)
{
	return tp == PIB_TP_RC || tp == PIB_TP_XRC;
}

/* The operation of a packet, whatever its place in the message. */
enum pib_op {
	PIB_OP_SEND,
	PIB_OP_WRITE,
	PIB_OP_READ_REQ,
	PIB_OP_READ_RESP,
	PIB_OP_ACK,
	PIB_OP_ATOMIC_ACK,
	PIB_OP_CAS,
	PIB_OP_FAA,
	PIB_OP_FLUSH,
	PIB_OP_ATOMIC_WRITE,
	PIB_OP_RESERVED,	/* RC, XRC: no such request, answered by a NAK (9.7.4.1.5) */
	PIB_OP_CNP,
	PIB_OP_COUNT
};

enum pib_hflags {
	PIB_H_GRH = 1 << 0,	/* @sgid, @dgid, @tclass, @flow, @hop are valid */
	PIB_H_FIRST = 1 << 1,	/* the burst starts a message */
	PIB_H_LAST = 1 << 2,	/* the burst ends a message */
	PIB_H_IMM = 1 << 3,	/* last packet: @ex is immediate data, wire order */
	PIB_H_INV = 1 << 4,	/* last packet: @ex is an R_Key to invalidate, host order */
	PIB_H_SE = 1 << 5,	/* last packet: solicited event */
	PIB_H_ACKREQ = 1 << 6,	/* last packet of the burst: BTH.AckReq */
	PIB_H_MIG = 1 << 7,	/* BTH.MigReq */
	PIB_H_FECN = 1 << 8,
	PIB_H_BECN = 1 << 9,
};

/* AETH syndrome (9.7.5.2.1): bits 7-5 the kind, bits 4-0 its value. */
#define PIB_AETH_ACK		0
#define PIB_AETH_RNR		1
#define PIB_AETH_NAK		3
#define PIB_AETH(kind, value)	((kind) << 5 | (value))
#define PIB_AETH_KIND(s)	((s) >> 5)
#define PIB_AETH_VALUE(s)	((s) & 0x1F)
#define PIB_AETH_NO_CREDITS	0x1F		/* in an ACK: no end-to-end flow control */

enum pib_nak {
	PIB_NAK_PSN = 0,
	PIB_NAK_INV_REQ = 1,
	PIB_NAK_ACCESS = 2,
	PIB_NAK_OP = 3,
};

/**
 * struct pib_hdrs - headers of a packet, or of a burst of packets
 * @slid: LRH source LID
 * @dlid: LRH destination LID
 * @vl: LRH virtual lane
 * @sl: LRH service level
 * @tp: enum pib_tp
 * @op: enum pib_op
 * @pad: BTH.PadCnt of the last packet; pib_hdrs_build() computes it itself
 * @flags: enum pib_hflags
 * @pkey: BTH partition key
 * @dqpn: BTH destination QP
 * @psn: BTH packet sequence number of the first packet
 * @qkey: DETH
 * @sqpn: DETH source QP
 * @srqn: XRCETH
 * @ex: immediate data (wire order, as __be32 stored) or R_Key (host order); PIB_OP_RESERVED:
 *	BTH.OpCode[4:0]
 * @va: RETH, AtomicETH: virtual address
 * @rkey: RETH, AtomicETH
 * @dmalen: RETH
 * @swap_add: AtomicETH; ATOMIC_WRITE: the 8 bytes, in memory order
 * @compare: AtomicETH; ATOMIC_ACK: the original value
 * @syndrome: AETH
 * @flush: FETH: type in bits 0-3, selectivity level in bits 4-5
 * @msn: AETH
 * @tclass: GRH
 * @hop: GRH hop limit
 * @flow: GRH flow label
 * @sgid: GRH
 * @dgid: GRH
 */
struct pib_hdrs {
	u16 slid;
	u16 dlid;
	u8 vl;
	u8 sl;
	u8 tp;
	u8 op;
	u8 pad;
	u8 syndrome;
	u16 flags;
	u16 pkey;
	u8 flush;
	u8 tclass;
	u32 dqpn;
	u32 psn;
	u32 qkey;
	u32 sqpn;
	u32 srqn;
	u32 ex;
	u32 rkey;
	u32 dmalen;
	u32 msn;
	u64 va;
	u64 swap_add;
	u64 compare;
	u32 flow;
	u8 hop;
	u8 sgid[16];
	u8 dgid[16];
};

enum pib_parse_error {
	PIB_PARSE_OK = 0,
	PIB_PARSE_SHORT,	/* fewer bytes than the headers or LRH.PktLen say */
	PIB_PARSE_LRH,		/* LVer, LNH or PktLen */
	PIB_PARSE_GRH,		/* IPVer, NxtHdr or PayLen */
	PIB_PARSE_BTH,		/* TVer, pad count, or a reserved opcode (but for RC and XRC) */
	PIB_PARSE_LEN,		/* payload does not suit the opcode */
	PIB_PARSE_QP0,		/* VL15 and QP0 without each other, or not from QP0 */
};

/**
 * pib_hdrs_parse() - take one packet apart (7.7, 8.3, 9.2, 9.3)
 * @h: result; PIB_H_FIRST and PIB_H_LAST as the opcode says
 * @buf: the packet from LRH on, or its first PIB_HDRS_MAX bytes: the rest is not looked at
 * @avail: bytes in @buf
 * @len: bytes of the packet, ICRC included; at least as many as PktLen says
 * @hdr_len: result: bytes before the payload
 * @payload_len: result: bytes of payload, pad and ICRC left out. The 8 bytes of an
 *	ATOMIC_WRITE count among the headers (@h->swap_add), here and in pib_hdrs_build()
 *
 * Context: any.
 * Return: enum pib_parse_error. Of a packet in error @h is filled in up to the error.
 */
int pib_hdrs_parse(struct pib_hdrs *h, const u8 *buf, size_t avail, size_t len,
		   size_t *hdr_len, size_t *payload_len);

/**
 * pib_hdrs_build() - write the headers of one packet (not of a burst)
 * @h: headers; @h->flags say where in its message the packet stands
 * @payload_len: bytes of payload without pad
 * @buf: room for PIB_HDRS_MAX bytes
 *
 * Pad bytes (pib_hdrs_pad()) and ICRC follow the payload and are the caller's.
 *
 * Context: any.
 * Return: bytes written; 0: no opcode says what @h says.
 */
size_t pib_hdrs_build(const struct pib_hdrs *h, size_t payload_len, u8 *buf);

/* Return: the bytes of pad after a payload of @len bytes (BTH.PadCnt). Context: any. */
static inline u32 pib_hdrs_pad(u32 len)
{
	return -len & 3;
}

/**
 * pib_hdrs_part() - headers of a part of a burst; datagrams are messages of their own
 * @burst: headers of the burst
 * @npkts: packets of the burst
 * @i: first packet of the part
 * @n: packets of the part
 * @out: result; RETH and AtomicETH are those of the burst
 *
 * Context: any.
 */
void pib_hdrs_part(const struct pib_hdrs *burst, u32 npkts, u32 i, u32 n, struct pib_hdrs *out);

/**
 * pib_hdrs_packet() - headers of one packet of a burst
 * @burst: headers of the burst
 * @npkts: packets of the burst
 * @i: packet
 * @out: result, fit for pib_hdrs_build()
 *
 * Context: any.
 */
static inline void pib_hdrs_packet(const struct pib_hdrs *burst, u32 npkts, u32 i,
				   struct pib_hdrs *out)
{
	pib_hdrs_part(burst, npkts, i, 1, out);
}

/*
 * Return: the bytes on the wire of one packet, LRH to ICRC, its extension headers left out:
 * pib_opcode_wire_len() adds those. Context: any.
 */
static inline size_t pib_hdrs_plain_len(const struct pib_hdrs *h, size_t payload_len)
{
	return PIB_LRH_LEN + (h->flags & PIB_H_GRH ? PIB_GRH_LEN : 0) + PIB_BTH_LEN +
	       payload_len + pib_hdrs_pad(payload_len) + PIB_ICRC_LEN;
}

/* Return: the PSN that is @n behind @psn in the 24-bit circle. Context: any. */
static inline u32 pib_psn_add(u32 psn, u32 n)
{
	return (psn + n) & PIB_PSN_MASK;
}

/* Return: the signed distance @a - @b in the 24-bit circle. Context: any. */
static inline s32 pib_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* Return: true if a packet to QP0 comes from another QP0, as it must (13.5.1). Context: any. */
static inline bool pib_hdrs_from_qp0(const struct pib_hdrs *h)
{
	return h->tp == PIB_TP_UD && !h->sqpn;
}

/**
 * pib_gids_fit() - compare the GIDs of a packet for a connection with the address vector
 * @h: headers of the packet, with a GRH
 * @far: the peer's GID in the vector
 * @own_guid: GUID in the own GID, host order, whose prefix the port has compared
 *
 * The peer may give its GID the link-local prefix (9.6.1.2, 9.6.1.3).
 *
 * Context: any.
 * Return: true if they fit.
 */
bool pib_gids_fit(const struct pib_hdrs *h, const u8 far[16], u64 own_guid);

/*
 * Compare the GRH of a packet, if it has one, with an address vector. @grh: the vector has one. The
 * rest is as of pib_gids_fit(). Context: any. Return: true if they fit.
 */
static inline bool pib_grh_fits(const struct pib_hdrs *h, bool grh, const u8 far[16], u64 own_guid)
{
	if (!(h->flags & PIB_H_GRH) != !grh)
		return false;
	return !grh || pib_gids_fit(h, far, own_guid);
}

/* Return: true if @op, enum pib_op, goes to the requester of the receiving QP. Context: any. */
static inline bool pib_op_is_response(u8 op)
{
	return op == PIB_OP_ACK || op == PIB_OP_READ_RESP || op == PIB_OP_ATOMIC_ACK;
}

/* Return: true if @lid is that of a multicast; the permissive LID is not. Context: any. */
static inline bool pib_lid_is_mcast(u16 lid)
{
	return lid >= PIB_LID_MCAST_FIRST && lid != PIB_LID_PERMISSIVE;
}

/*
 * Return: true: the sender of such a packet hears of a mark on it, and may slow down. Receivers
 * tell nobody of marks on management, acknowledgements, notifications and multicasts. Context: any.
 */
static inline bool pib_hdrs_sender_is_told(const struct pib_hdrs *h)
{
	return h->dqpn > 1 && h->tp != PIB_TP_CNP && h->op != PIB_OP_ACK &&
	       !pib_lid_is_mcast(h->dlid);
}

#endif
