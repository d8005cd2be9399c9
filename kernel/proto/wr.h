/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work request opcodes: the transport services that have them, and the packets they make. */
#ifndef PIB_PROTO_WR_H
#define PIB_PROTO_WR_H

#include "rc.h"

enum pib_wr_kind {
	PIB_WRK_DATA = 1 << 0,		/* carries a payload */
	PIB_WRK_READ = 1 << 1,		/* answered by READ response packets */
	PIB_WRK_ATOMIC = 1 << 2,	/* answered by an atomic response */
	PIB_WRK_ACKED = 1 << 3,		/* answered by a READ response without payload */
	PIB_WRK_RESP = PIB_WRK_READ | PIB_WRK_ATOMIC | PIB_WRK_ACKED,
	PIB_WRK_CREDIT = 1 << 4,	/* uses up a receive work request */
	PIB_WRK_LOCAL = 1 << 5,
	PIB_WRK_VALUE = 1 << 6,		/* carries 8 bytes among its headers */
	/* opcodes that send local memory, that have exactly 8 bytes of it, and that have any */
	PIB_WRK_SENDS = PIB_WRK_DATA | PIB_WRK_VALUE,
	PIB_WRK_EIGHT = PIB_WRK_ATOMIC | PIB_WRK_VALUE,
	PIB_WRK_MEMORY = PIB_WRK_SENDS | PIB_WRK_READ | PIB_WRK_ATOMIC,
};

/**
 * struct pib_wr_info - a work request opcode
 * @op: enum pib_op of its packets
 * @kind: enum pib_wr_kind
 * @tps: transport services that have it (table 42, A14, A19), bits by enum pib_tp; 0: there is no
 *	such opcode
 * @flags: PIB_H_IMM, PIB_H_INV
 */
struct pib_wr_info {
	u8 op;
	u8 kind;
	u8 tps;
	u8 flags;
};

/* Work request opcodes by enum pib_wr; the table is in rc_req.c. */
extern const struct pib_wr_info pib_wr_table[PIB_WR_COUNT];

/*
 * Look the work request opcode @opcode up, which may be any number. Context: any.
 *
 * Return: its meaning; NULL: the transport service @tp, enum pib_tp, has no such work request.
 */
static inline const struct pib_wr_info *pib_wr_info(u32 opcode, u8 tp)
{
	if (opcode >= PIB_WR_COUNT || !(pib_wr_table[opcode].tps >> tp & 1))
		return NULL;
	return &pib_wr_table[opcode];
}

#endif
