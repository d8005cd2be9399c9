// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "node.h"
#include "vl.h"

#define HIGH_LIMIT_UNIT		4096	/* bytes of a unit of VLHighLimit */
#define HIGH_LIMIT_NONE		255
#define LIFE_UNIT_NS		4096
#define LIFE_CODE_MAX		19
#define STALL_LIVES		8	/* a VL is stalled for so many HOQLife */

/* ---- arbitration ---- */

/*
 * Entry @i of a table: blocks 1 and 2 of VLArbitrationTable are the low table, 3 and 4 the high
 * one.
 */
static const u8 *arb_entry(const struct pib_port *p, enum pib_vl_table t, u32 i)
{
	return p->vlarb[2 * t + i / 32][i % 32];
}

/*
 * Bytes that the entry may send in a round; 0: none, or nothing is ready. The SM may
 * change the tables at any time, so a value that is relied upon is read once.
 */
static s32 arb_quantum(const struct pib_port *p, enum pib_vl_table t, u32 i, u32 ready)
{
	if (!(ready >> (READ_ONCE(arb_entry(p, t, i)[0]) & 0xF) & 1))
		return 0;
	return READ_ONCE(arb_entry(p, t, i)[1]) * PIB_VL_BLOCK;
}

/*
 * Rounds until one of the ready entries may send; -1: none is ready. An entry that has
 * nothing to send saves nothing up.
 */
static s32 rounds_to_go(struct pib_vl_arb *a, const struct pib_port *p, enum pib_vl_table t,
			u32 ready)
{
	s32 least = -1, rounds, share;
	u32 i;

	for (i = 0; i < PIB_VL_ARB_ENTRIES; i++) {
		s32 *left = &a->left[t][i];

		share = arb_quantum(p, t, i, ready);
		if (!share) {
			if (*left > 0)
				*left = 0;
			continue;
		}
		rounds = *left > 0 ? 0 : -*left / share + 1;
		if (least < 0 || rounds < least)
			least = rounds;
	}
	return least;
}

/* Set @a->at to the table's next entry. Return: false: none is ready. */
static bool table_next(struct pib_vl_arb *a, const struct pib_port *p, enum pib_vl_table t,
		       u32 ready)
{
	s32 rounds = rounds_to_go(a, p, t, ready);
	u32 i, n;

	if (rounds < 0)
		return false;
	for (i = 0; rounds && i < PIB_VL_ARB_ENTRIES; i++)
		a->left[t][i] += rounds * arb_quantum(p, t, i, ready);
	for (n = 0; n < PIB_VL_ARB_ENTRIES; n++) {
		i = (a->at[t] + n) % PIB_VL_ARB_ENTRIES;
		if (arb_quantum(p, t, i, ready) && a->left[t][i] > 0)
			break;
	}
	a->at[t] = i;
	a->table = t;
	return true;
}

/* A limit of 0 is one packet (7.6.9.2). */
static bool high_may(const struct pib_vl_arb *a, u8 limit)
{
	return limit == HIGH_LIMIT_NONE || !a->high || a->high < limit * HIGH_LIMIT_UNIT;
}

int pib_vl_arb_next(struct pib_vl_arb *a, const struct pib_port *p, u32 ready)
{
	bool high = high_may(a, READ_ONCE(p->vl_high_limit));
	int vl;

	if (!(high && table_next(a, p, PIB_VL_HIGH, ready)) &&
	    !table_next(a, p, PIB_VL_LOW, ready) &&
	    !(!high && table_next(a, p, PIB_VL_HIGH, ready)))
		return -1;
	vl = READ_ONCE(arb_entry(p, a->table, a->at[a->table])[0]) & 0xF;
	return ready >> vl & 1 ? vl : -1;
}

void pib_vl_arb_sent(struct pib_vl_arb *a, u32 bytes)
{
	u8 *at = &a->at[a->table];

	a->left[a->table][*at] -= bytes;
	if (a->left[a->table][*at] <= 0)
		*at = (*at + 1) % PIB_VL_ARB_ENTRIES;
	if (a->table == PIB_VL_LOW)
		a->high = 0;
	else if (a->high < 0x7FFFFFFF)
		a->high += bytes;
}

/* ---- waiting ---- */

u64 pib_vl_life(u8 code)
{
	return code > LIFE_CODE_MAX ? 0 : (u64)LIFE_UNIT_NS << code;
}

u32 pib_vl_wait(u64 *since, bool waits, u64 now)
{
	u64 ticks;

	if (!*since) {
		*since = waits ? now : 0;
		return 0;
	}
	ticks = now > *since ? div64_u64(now - *since, PIB_NSEC_PER_USEC) : 0;
	*since = waits ? *since + ticks * PIB_NSEC_PER_USEC : 0;
	return (u32)ticks;
}

bool pib_vl_expired(struct pib_vl_tx *tx, const struct pib_port *p, u64 now)
{
	u64 life = pib_vl_life(READ_ONCE(p->hoq_life));
	u8 most = READ_ONCE(p->vl_stall_count);

	if (!life || !tx->head || now < tx->head + life)
		return false;
	if (tx->dropped < 0xFF)
		tx->dropped++;
	if (most && tx->dropped >= most) {
		tx->stalled_until = now + STALL_LIVES * life;
		tx->dropped = 0;
	}
	return true;
}
