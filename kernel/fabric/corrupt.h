/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_FABRIC_CORRUPT_H
#define PIB_FABRIC_CORRUPT_H

#include "proto/fault.h"

struct pib_burst;

/**
 * pib_damage() - damage @bits bits of the one packet of @b, as the receiver reads them
 *
 * Returns a packet in which no CRC shows it; NULL: it was found out, or there was no memory to
 * do it. @b stays the caller's. Atomic context.
 */
struct pib_burst *pib_damage(struct pib_fault *f, enum pib_fault_lot lot, struct pib_burst *b,
			     u32 bits);

#endif
