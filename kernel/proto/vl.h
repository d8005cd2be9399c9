/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Virtual lanes of a port that sends: the choice of the next lane (VL arbitration, IBA
 * 7.6.9), the room at the other end (credits, 7.9), and the time for which a packet may
 * stand at the head of its queue (18.2.5.4).
 */
#ifndef PIB_PROTO_VL_H
#define PIB_PROTO_VL_H

#include "env.h"

struct pib_port;

#define PIB_VL_BLOCK		64	/* bytes of a credit, and of a unit of weight */
#define PIB_VL_ARB_ENTRIES	64
#define PIB_VL_MGMT		15	/* has neither credits nor arbitration */

enum pib_vl_table {
	PIB_VL_LOW,
	PIB_VL_HIGH,
	PIB_VL_TABLES
};

/**
 * struct pib_vl_arb - the arbiter of a port; all zero before its first packet
 * @left: bytes that an entry may still send in this round; negative: it has sent ahead of its
 *	weight and pays for that in the rounds to come
 * @at: the entry whose turn it is
 * @table: table that has sent last
 * @high: bytes that the high table has sent since the low one has had its turn
 */
struct pib_vl_arb {
	s32 left[PIB_VL_TABLES][PIB_VL_ARB_ENTRIES];
	u8 at[PIB_VL_TABLES];
	u8 table;
	u32 high;
};

/**
 * pib_vl_arb_next() - choose the data VL that sends next
 * @a: arbiter
 * @p: port whose tables and limit apply
 * @ready: bit per VL that has a packet and credits for it
 *
 * The caller then sends a packet and calls pib_vl_arb_sent() (7.6.9).
 *
 * Context: under the lock of what holds @a; without the node's lock.
 * Return: the VL; -1: none of @ready is in the tables.
 */
int pib_vl_arb_next(struct pib_vl_arb *a, const struct pib_port *p, u32 ready);

/*
 * Charge @bytes, those on the wire, to the VL that pib_vl_arb_next() has named, which sends them.
 * Context: under the lock of what holds @a.
 */
void pib_vl_arb_sent(struct pib_vl_arb *a, u32 bytes);

/**
 * struct pib_vl_tx - one VL at the port that sends
 * @credits: free blocks of the buffer at the other end. Below zero: a packet came twice
 * @head: ns: time since which the packet at the head of the queue stands there; 0: there is none
 * @starved: ns: time since which it has been waiting for credits; 0: it has not
 * @stalled_until: ns: time until which all packets are discarded
 * @dropped: packets discarded one after the other
 */
struct pib_vl_tx {
	s32 credits;
	u64 head;
	u64 starved;
	u64 stalled_until;
	u8 dropped;
};

/* Return: the credits that a packet of @bytes on the wire takes (7.9). Context: any. */
static inline u32 pib_vl_blocks(u64 bytes)
{
	return (u32)((bytes + PIB_VL_BLOCK - 1) / PIB_VL_BLOCK);
}

/*
 * Return: nanoseconds of a code of HOQLife or LifeTimeValue, 4.096 us * 2^code; 0: for ever, for
 * codes from 20 on. Context: any.
 */
u64 pib_vl_life(u8 code);

/*
 * Count how long a port or VL waits. @since: ns, 0 at first: state between the calls. @waits: from
 * @now on something is ready to be sent and is not. Context: under the lock of what holds @since.
 *
 * Return: ticks of PortXmitWait (1 us, as PortSamplesControl says) to count now.
 */
u32 pib_vl_wait(u64 *since, bool waits, u64 now);

/*
 * Check whether the packet at the head has been there for longer than the switch port's HOQLife
 * (18.2.5.4). Context: under the lock of what holds @tx; without the node's lock.
 *
 * Return: true if so: the caller discards it. VLStallCount of these in a row stall the VL for 8
 *	HOQLife.
 */
bool pib_vl_expired(struct pib_vl_tx *tx, const struct pib_port *p, u64 now);

/*
 * Return: true if the caller has to discard packets for this VL. Context: under the lock of what
 * holds @tx.
 */
static inline bool pib_vl_stalled(const struct pib_vl_tx *tx, u64 now)
{
	return now < tx->stalled_until;
}

#endif
