/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion marks of switch ports (IBA Annex A10). */
#ifndef PIB_FABRIC_ECN_H
#define PIB_FABRIC_ECN_H

#include <linux/types.h>

struct pib_burst;
struct pib_kport;

#define PIB_ECN_FULL	256

/*
 * Mark @b, which is about to leave by the switch port @out, if the port marks one of its packets.
 * The queue before @out is @fill / 256 full. Context: softirqs off, no node lock held.
 */
void pib_ecn_mark(struct pib_kport *out, struct pib_burst *b, u32 fill);

#endif
