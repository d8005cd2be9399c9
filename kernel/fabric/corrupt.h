/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_FABRIC_CORRUPT_H
#define PIB_FABRIC_CORRUPT_H

#include "proto/fault.h"

struct pib_burst;

/**
 * pib_corrupt_burst() - damage bits of a packet, as the receiver reads them
 * @f: faults of the cable, whose choices say which bits
 * @lot: what the choice is made for
 * @b: burst of one packet; stays the caller's
 * @bits: how many
 *
 * Context: any with softirqs disabled.
 * Return: a packet in which no CRC shows the damage; NULL: a CRC does, or there was no memory.
 */
struct pib_burst *pib_corrupt_burst(struct pib_fault *f, enum pib_fault_lot lot,
				    struct pib_burst *b, u32 bits);

#endif
