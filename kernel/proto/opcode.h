/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * BTH.OpCode (9.2.1): its bits 7-5 name the transport service, its bits 4-0
 * the operation, the packet's place in the message and the headers that follow.
 */
#ifndef PIB_PROTO_OPCODE_H
#define PIB_PROTO_OPCODE_H

#include "hdrs.h"

/* Extension headers, in the order in which they stand in a packet (9.2, A14, A19). */
enum pib_ext {
	PIB_EXT_XRCETH = 1 << 0,
	PIB_EXT_DETH = 1 << 1,
	PIB_EXT_FETH = 1 << 2,
	PIB_EXT_RETH = 1 << 3,
	PIB_EXT_ATOMICETH = 1 << 4,
	PIB_EXT_AETH = 1 << 5,
	PIB_EXT_ATOMICACKETH = 1 << 6,
	PIB_EXT_IMM = 1 << 7,
	PIB_EXT_IETH = 1 << 8,
	PIB_EXT_AWDATA = 1 << 9,	/* the 8 bytes of an ATOMIC_WRITE, kept among the headers */
};

/**
 * struct pib_opcode_info - the meaning of the low five bits of an opcode
 * @op: enum pib_op
 * @flags: PIB_H_FIRST, PIB_H_LAST, PIB_H_IMM, PIB_H_INV
 * @payload: a payload may follow
 * @valid: there is such a row
 * @ext_len: bytes of @ext
 * @ext: enum pib_ext, those of the transport service left out
 */
struct pib_opcode_info {
	u8 op;
	u8 flags;
	bool payload;
	bool valid;
	u8 ext_len;
	u16 ext;
};

/*
 * Look an opcode up. A reserved opcode of an acknowledged service, which is answered by a NAK
 * (9.7.4.1.5), is PIB_OP_RESERVED: all that follows BTH is payload. Context: any.
 *
 * Return: the meaning of @opcode; NULL: it is reserved.
 */
const struct pib_opcode_info *pib_opcode_info(u8 opcode);
/*
 * Return: all extension headers of a packet with this opcode, enum pib_ext; 0 also if it is
 * reserved. Context: any.
 */
u16 pib_opcode_ext(u8 opcode);
/* Return: the opcode of a packet with these headers; negative: there is none. Context: any. */
int pib_opcode_of(const struct pib_hdrs *h);
/* Return: the bytes of all extension headers of a packet with this opcode. Context: any. */
size_t pib_opcode_ext_len(u8 opcode);
/*
 * Return: the bytes on the wire of one packet, LRH to ICRC, as the port counters count them; 0: no
 * opcode says what @h says. Context: any.
 */
size_t pib_opcode_wire_len(const struct pib_hdrs *h, size_t payload_len);

#endif
