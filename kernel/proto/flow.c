// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "flow.h"

#define GOLDEN_RATIO 0x9E3779B1u

/* Packets of other services than UD do not say which QP they come from. */
u32 pib_flow_hash(const struct pib_hdrs *h)
{
	u32 x = (u32)h->slid << 16 | h->dlid;

	x = (x + (h->tp == PIB_TP_UD ? h->sqpn : 0)) * GOLDEN_RATIO;
	return (x + h->dqpn) * GOLDEN_RATIO;
}
