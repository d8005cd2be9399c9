// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rc_int.h"

static const u16 credit_table[31] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

/* RNR timers by their code, in units of 10 us. */
static const u16 rnr_table[32] = {
	65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

u8 pib_aeth_encode_credits(u32 credits)
{
	u8 lo = 0, hi = 30, mid;

	while (lo < hi) {
		mid = (lo + hi + 1) / 2;
		if (credit_table[mid] <= credits)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

u32 pib_aeth_decode_credits(u8 code)
{
	return code < 31 ? credit_table[code] : 0;
}

u64 pib_aeth_rnr_ns(u8 code)
{
	if (!(code & 31))
		return 655360 * PIB_NSEC_PER_USEC;
	return rnr_table[code & 31] * 10 * PIB_NSEC_PER_USEC;
}
