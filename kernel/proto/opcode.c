// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "opcode.h"

#define ONLY	(PIB_H_FIRST | PIB_H_LAST)
#define IMM	PIB_H_IMM
#define INV	PIB_H_INV

#define LEN(ext, bit, len)	((ext) & (bit) ? (len) : 0)
#define EXT_LEN(ext)							\
	(LEN(ext, PIB_EXT_FETH, 4) + LEN(ext, PIB_EXT_RETH, 16) +	\
	 LEN(ext, PIB_EXT_ATOMICETH, 28) + LEN(ext, PIB_EXT_AETH, 4) +	\
	 LEN(ext, PIB_EXT_ATOMICACKETH, 8) + LEN(ext, PIB_EXT_IMM, 4) +	\
	 LEN(ext, PIB_EXT_IETH, 4) + LEN(ext, PIB_EXT_AWDATA, 8))

#define DATA(op, flags, ext)	{ op, flags, true, true, EXT_LEN(ext), ext }
#define HEAD(op, flags, ext)	{ op, flags, false, true, EXT_LEN(ext), ext }

#define RESERVED	DATA(PIB_OP_RESERVED, ONLY, 0)

/* 9.2.1; FLUSH and ATOMIC_WRITE: A19. */
static const struct pib_opcode_info opcode_table[32] = {
	[0x00] = DATA(PIB_OP_SEND, PIB_H_FIRST, 0),
	[0x01] = DATA(PIB_OP_SEND, 0, 0),
	[0x02] = DATA(PIB_OP_SEND, PIB_H_LAST, 0),
	[0x03] = DATA(PIB_OP_SEND, PIB_H_LAST | IMM, PIB_EXT_IMM),
	[0x04] = DATA(PIB_OP_SEND, ONLY, 0),
	[0x05] = DATA(PIB_OP_SEND, ONLY | IMM, PIB_EXT_IMM),
	[0x06] = DATA(PIB_OP_WRITE, PIB_H_FIRST, PIB_EXT_RETH),
	[0x07] = DATA(PIB_OP_WRITE, 0, 0),
	[0x08] = DATA(PIB_OP_WRITE, PIB_H_LAST, 0),
	[0x09] = DATA(PIB_OP_WRITE, PIB_H_LAST | IMM, PIB_EXT_IMM),
	[0x0A] = DATA(PIB_OP_WRITE, ONLY, PIB_EXT_RETH),
	[0x0B] = DATA(PIB_OP_WRITE, ONLY | IMM, PIB_EXT_RETH | PIB_EXT_IMM),
	[0x0C] = HEAD(PIB_OP_READ_REQ, ONLY, PIB_EXT_RETH),
	[0x0D] = DATA(PIB_OP_READ_RESP, PIB_H_FIRST, PIB_EXT_AETH),
	[0x0E] = DATA(PIB_OP_READ_RESP, 0, 0),
	[0x0F] = DATA(PIB_OP_READ_RESP, PIB_H_LAST, PIB_EXT_AETH),
	[0x10] = DATA(PIB_OP_READ_RESP, ONLY, PIB_EXT_AETH),
	[0x11] = HEAD(PIB_OP_ACK, ONLY, PIB_EXT_AETH),
	[0x12] = HEAD(PIB_OP_ATOMIC_ACK, ONLY, PIB_EXT_AETH | PIB_EXT_ATOMICACKETH),
	[0x13] = HEAD(PIB_OP_CAS, ONLY, PIB_EXT_ATOMICETH),
	[0x14] = HEAD(PIB_OP_FAA, ONLY, PIB_EXT_ATOMICETH),
	[0x15] = RESERVED,
	[0x16] = DATA(PIB_OP_SEND, PIB_H_LAST | INV, PIB_EXT_IETH),
	[0x17] = DATA(PIB_OP_SEND, ONLY | INV, PIB_EXT_IETH),
	[0x18 ... 0x1B] = RESERVED,
	[0x1C] = HEAD(PIB_OP_FLUSH, ONLY, PIB_EXT_FETH | PIB_EXT_RETH),
	[0x1D] = HEAD(PIB_OP_ATOMIC_WRITE, ONLY, PIB_EXT_RETH | PIB_EXT_AWDATA),
	[0x1E ... 0x1F] = RESERVED,
};

/*
 * The one opcode outside the scheme: a congestion notification (A10), 16 reserved bytes behind it.
 */
#define OPCODE_CNP	0x80
static const struct pib_opcode_info cnp_info = DATA(PIB_OP_CNP, ONLY, 0);

/* The rows of the table that a transport service has. */
static const u32 tp_rows[8] = {
	[PIB_TP_RC] = 0xFFFFFFFF,
	[PIB_TP_UC] = 0x00000FFF,
	[PIB_TP_UD] = 0x00000030,
	[PIB_TP_XRC] = 0xFFFFFFFF,
};

/*
 * Rows by operation and place, which opcode_table has the other way round: hdrs_test.cc takes every
 * opcode there and back. Place is FIRST and LAST as two bits, as in h->flags.
 */
#define PLACE(flags)	(((flags) & ONLY) / PIB_H_FIRST)
enum { P_MIDDLE, P_FIRST, P_LAST, P_ONLY };
#define NONE	0xFF

static const u8 plain_row[PIB_OP_COUNT][4] = {
	/*			 middle first last  only */
	[PIB_OP_SEND]		= { 0x01, 0x00, 0x02, 0x04 },
	[PIB_OP_WRITE]		= { 0x07, 0x06, 0x08, 0x0A },
	[PIB_OP_READ_REQ]	= { NONE, NONE, NONE, 0x0C },
	[PIB_OP_READ_RESP]	= { 0x0E, 0x0D, 0x0F, 0x10 },
	[PIB_OP_ACK]		= { NONE, NONE, NONE, 0x11 },
	[PIB_OP_ATOMIC_ACK]	= { NONE, NONE, NONE, 0x12 },
	[PIB_OP_CAS]		= { NONE, NONE, NONE, 0x13 },
	[PIB_OP_FAA]		= { NONE, NONE, NONE, 0x14 },
	[PIB_OP_FLUSH]		= { NONE, NONE, NONE, 0x1C },
	[PIB_OP_ATOMIC_WRITE]	= { NONE, NONE, NONE, 0x1D },
	[PIB_OP_RESERVED]	= { NONE, NONE, NONE, NONE },	/* see opcode_row() */
	[PIB_OP_CNP]		= { NONE, NONE, NONE, NONE },
};

const struct pib_opcode_info *pib_opcode_info(u8 opcode)
{
	u32 row = opcode & 0x1F;

	if (opcode == OPCODE_CNP)
		return &cnp_info;
	if (!(tp_rows[opcode >> 5] >> row & 1) || !opcode_table[row].valid)
		return NULL;
	return &opcode_table[row];
}

u16 pib_opcode_ext(u8 opcode)
{
	const struct pib_opcode_info *info = pib_opcode_info(opcode);
	u8 tp = opcode >> 5;

	if (!info)
		return 0;
	if (tp == PIB_TP_UD)
		return info->ext | PIB_EXT_DETH;
	/* A14.2.2.1: only packets to the XRC target carry an XRCETH. */
	if (tp == PIB_TP_XRC && !pib_op_is_response(info->op) && info->op != PIB_OP_RESERVED)
		return info->ext | PIB_EXT_XRCETH;
	return info->ext;
}

static int opcode_row(const struct pib_hdrs *h)
{
	u32 row = plain_row[h->op][PLACE(h->flags)];

	if (h->op == PIB_OP_RESERVED)
		return h->ex < 32 && opcode_table[h->ex].op == PIB_OP_RESERVED ? (int)h->ex : NONE;
	if (!(h->flags & PIB_H_LAST) || row == NONE)
		return row;
	if (h->flags & PIB_H_IMM && (h->op == PIB_OP_SEND || h->op == PIB_OP_WRITE))
		return row + 1;
	if (h->flags & PIB_H_INV && h->op == PIB_OP_SEND)
		return PLACE(h->flags) == P_ONLY ? 0x17 : 0x16;
	return row;
}

int pib_opcode_of(const struct pib_hdrs *h)
{
	int row;

	if (h->tp == PIB_TP_CNP)
		return h->op == PIB_OP_CNP ? OPCODE_CNP : -1;
	if (h->op >= PIB_OP_COUNT || h->tp > PIB_TP_XRC)
		return -1;
	row = opcode_row(h);
	if (row == NONE || !(tp_rows[h->tp] >> row & 1))
		return -1;
	return h->tp << 5 | row;
}

size_t pib_opcode_ext_len(u8 opcode)
{
	const struct pib_opcode_info *info = pib_opcode_info(opcode);
	u16 added;

	if (!info)
		return 0;
	added = pib_opcode_ext(opcode) & ~info->ext;
	return info->ext_len + (added & PIB_EXT_DETH ? 8 : 0) + (added & PIB_EXT_XRCETH ? 4 : 0);
}

size_t pib_opcode_wire_len(const struct pib_hdrs *h, size_t payload_len)
{
	int opcode = pib_opcode_of(h);

	return opcode < 0 ? 0 : pib_hdrs_plain_len(h, payload_len) + pib_opcode_ext_len(opcode);
}
