// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "flow.h"
#include "siphash.h"

#define GOLDEN_RATIO 0x9E3779B1u

/* Packets of other services than UD do not say which QP they come from. */
u32 pib_flow_hash(const struct pib_hdrs *h)
{
	u32 x = (u32)h->slid << 16 | h->dlid;

	x = (x + (h->tp == PIB_TP_UD ? h->sqpn : 0)) * GOLDEN_RATIO;
	return (x + h->dqpn) * GOLDEN_RATIO;
}

u32 pib_flow_label(const u64 secret[2], u32 hash)
{
	const u64 word = hash;
	u32 label = pib_siphash(secret, &word, 1) >> (64 - PIB_FLOW_LABEL_BITS);

	return label ? label : 1;
}
