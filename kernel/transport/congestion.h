/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion control in the kernel: marks set, returned and heeded (IBA Annex A10). */
#ifndef PIB_CONGESTION_H
#define PIB_CONGESTION_H

#include <linux/types.h>

struct pib_burst;
struct pib_kport;
struct pib_qp;

#define PIB_CC_FULL	256

/*
 * @b is about to leave by the switch port @out, before which the queue is @fill / 256
 * full: mark it if the port is set to mark one of its packets. Softirqs off, no node lock held.
 */
void pib_cc_mark(struct pib_kport *out, struct pib_burst *b, u32 fill);
/* A marked burst has come to @qp. Under qp->lock. */
void pib_cc_rx(struct pib_qp *qp, const struct pib_burst *b, u64 now);
/* @qp, whose flow or service level is slowed down, has sent a request. Under qp->lock. */
void pib_cc_tx(struct pib_qp *qp, const struct pib_burst *b, u64 now);

#endif
