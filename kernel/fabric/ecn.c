// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A queue builds up before a slow cable (fabric/pipe.c) and before an HCA that does not keep up.
 * The switch port there marks packets. The queue pair that receives a packet acts on its mark.
 */
#include <linux/ktime.h>
#include "packet/burst.h"
#include "fabric/ecn.h"
#include "fabric/port.h"

void pib_ecn_mark(struct pib_kport *out, struct pib_burst *b, u32 fill)
{
	spinlock_t *lock = pib_kport_lock(out);
	unsigned long flags;
	u32 n;

	if (b->h.dqpn <= 1 || b->h.tp == PIB_TP_CNP || b->h.flags & PIB_H_FECN)
		return;
	n = pib_cc_marks(&out->p, fill, min(b->len, b->pmtu), b->npkts);
	if (!n)
		return;
	b->h.flags |= PIB_H_FECN;
	spin_lock_irqsave(lock, flags);
	while (n--)
		pib_cc_marked(&out->p, &b->h, ktime_get_ns());
	spin_unlock_irqrestore(lock, flags);
}
