/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Switch ports that mark what stands in a jam before them (IBA Annex A10). */
#ifndef PIB_FABRIC_ECN_H
#define PIB_FABRIC_ECN_H

#include <linux/types.h>

struct pib_burst;
struct pib_kport;

#define PIB_ECN_FULL	256

/*
 * @b is about to leave by the switch port @out, before which the queue is @fill / 256 full. Mark @b
 * if the port is set to mark one of its packets. Softirqs off, no node lock held.
 */
void pib_ecn_mark(struct pib_kport *out, struct pib_burst *b, u32 fill);

#endif
