/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults of a bad cable, for the packets that go through it in one direction.
 * Every choice comes from a seed: the n-th packet of two runs with the same seed
 * and the same faults has the same fate. Management packets (QP0, QP1) draw from a
 * sequence of their own, so that sweeps do not change the fate of data.
 */
#ifndef PIB_PROTO_FAULT_H
#define PIB_PROTO_FAULT_H

#include "env.h"

#define PIB_FAULT_ALWAYS	1000000000u	/* of loss, duplicate, reorder: every packet */
#define PIB_FAULT_BER_MAX	10000000000000ULL	/* one bit in a hundred */
#define PIB_FAULT_BEHIND_MAX	3
#define PIB_FAULT_BUFFER_MIN	4352	/* a packet of the largest MTU, in whole credits */

/**
 * struct pib_fault_cfg - faults of a cable
 * @seed: of the sequence of choices
 * @loss: packets lost, in 10^9
 * @duplicate: packets that come twice, in 10^9
 * @reorder: packets that others overtake, in 10^9
 * @bit_errors: bits damaged, in 10^15
 * @latency: ns from one end to the other
 * @rate: bits per second, 0: without limit
 * @buffer: bytes that the far end has room for, per data VL, for which it gives credits: 131072 at
 *	most, for flow control packets tell of no more (7.9.4.1); 0: without limit
 */
struct pib_fault_cfg {
	u64 seed;
	u32 loss;
	u32 duplicate;
	u32 reorder;
	u64 bit_errors;
	u64 latency;
	u64 rate;
	u32 buffer;
};

/**
 * struct pib_fault_counts - the fates of the packets
 * @packets: all that were sent into the cable
 * @lost: did not come out
 * @damaged: had bits damaged
 * @duplicated: came out twice
 * @reordered: were overtaken
 */
struct pib_fault_counts {
	u64 packets;
	u64 lost;
	u64 damaged;
	u64 duplicated;
	u64 reordered;
};

enum pib_fault_lot {		/* sequence from which a packet draws */
	PIB_FAULT_DATA,
	PIB_FAULT_MGMT,
	PIB_FAULT_LOTS
};

/**
 * struct pib_fault - one direction of a cable
 * @cfg: faults
 * @state: state of the sequences, per enum pib_fault_lot
 * @keep: 2^64 times the probability that a bit is left as it is; 0: all are
 * @free_at: ns when the cable has taken in what was sent before (@cfg.rate)
 * @counts: since it was made
 */
struct pib_fault {
	struct pib_fault_cfg cfg;
	u64 state[PIB_FAULT_LOTS];
	u64 keep;
	u64 free_at;
	struct pib_fault_counts counts;
};

/**
 * struct pib_fate - the fate of a packet
 * @lost: the packet does not come out
 * @twice: the packet comes out twice
 * @bits: number of bits to damage, see pib_fault_damage()
 * @behind: number of packets that overtake this one
 */
struct pib_fate {
	bool lost;
	bool twice;
	u8 bits;
	u8 behind;
};

/* Set up one direction, 0 or 1, of a cable. The two have different sequences. Context: any. */
void pib_fault_init(struct pib_fault *f, const struct pib_fault_cfg *cfg, unsigned int direction);

/*
 * Return: true if such a cable chooses a fate for each packet; false: it only delays packets.
 * Context: any.
 */
bool pib_fault_picks(const struct pib_fault_cfg *cfg);

/*
 * Choose the fate of the next packet, of @bytes on the wire, and count it. Context: under the
 * lock of what holds @f.
 */
void pib_fault_packet(struct pib_fault *f, enum pib_fault_lot lot, u32 bytes,
		      struct pib_fate *fate);

/*
 * Damage @bits different bits of @packet, 32 at most. @bytes is not 0. Context: under the lock of
 * what holds @f.
 */
void pib_fault_damage(struct pib_fault *f, enum pib_fault_lot lot, u32 bits, u8 *packet,
		      u32 bytes);

/*
 * Return: the bytes that have been sent and are not yet in the cable at @now, because of its rate.
 * Context: under the lock of what holds @f.
 */
u64 pib_fault_backlog(const struct pib_fault *f, u64 now);

/*
 * Send @bytes at @now, in ns, behind all that was sent before. Context: under the lock of what
 * holds @f.
 *
 * Return: the time at which they are out at the other end, ns.
 */
u64 pib_fault_arrival(struct pib_fault *f, u64 bytes, u64 now);

#endif
