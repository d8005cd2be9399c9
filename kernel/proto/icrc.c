// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "icrc.h"
#include "hdrs.h"

#define RESV8A		4	/* offset in the BTH; FECN and BECN live there */

/* ---- CRC-32, reflected, neither preset nor complemented here ---- */

#ifdef __KERNEL__
#include <linux/crc32.h>

static u32 crc_update(u32 crc, const u8 *p, size_t len)
{
	return crc32_le(crc, p, len);
}
#else
#define POLY	0xEDB88320u

static u32 slice[8][256];

static void __attribute__((constructor)) slices_init(void)
{
	for (u32 i = 0; i < 256; i++) {
		u32 v = i;

		for (int bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? POLY : 0);
		slice[0][i] = v;
	}
	for (u32 i = 0; i < 256; i++)
		for (int s = 1; s < 8; s++)
			slice[s][i] = slice[s - 1][i] >> 8 ^ slice[0][slice[s - 1][i] & 0xFF];
}

static u32 load_le32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

static u32 crc_update8(u32 crc, const u8 *p)
{
	u32 lo = load_le32(p) ^ crc, hi = load_le32(p + 4);

	return slice[7][lo & 0xFF] ^ slice[6][lo >> 8 & 0xFF] ^
	       slice[5][lo >> 16 & 0xFF] ^ slice[4][lo >> 24] ^
	       slice[3][hi & 0xFF] ^ slice[2][hi >> 8 & 0xFF] ^
	       slice[1][hi >> 16 & 0xFF] ^ slice[0][hi >> 24];
}

static u32 crc_update(u32 crc, const u8 *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8)
		crc = crc_update8(crc, p);
	for (; len; len--, p++)
		crc = crc >> 8 ^ slice[0][(crc ^ *p) & 0xFF];
	return crc;
}
#endif

/* Fields that are not invariant read as ones (7.8.1). */
static void mask_variant(u8 *m, size_t len)
{
	size_t bth = PIB_LRH_LEN;

	if ((m[1] & 3) == 3 && len >= PIB_LRH_LEN + PIB_GRH_LEN) {
		memset(m, 0xFF, PIB_LRH_LEN);	/* routers make a new one */
		m[8] |= 0x0F;		/* GRH.TClass and FlowLabel */
		m[9] = 0xFF;
		m[10] = 0xFF;
		m[11] = 0xFF;
		m[15] = 0xFF;		/* GRH.HopLmt */
		bth += PIB_GRH_LEN;
	} else {
		m[0] |= 0xF0;		/* LRH.VL */
	}
	if (len > bth + RESV8A)
		m[bth + RESV8A] = 0xFF;
}

u32 pib_icrc_headers(const u8 *hdrs, size_t len)
{
	u8 masked[PIB_LRH_LEN + PIB_GRH_LEN + RESV8A + 1];
	size_t n = len < sizeof(masked) ? len : sizeof(masked);

	if (n < PIB_LRH_LEN)
		return crc_update(~0u, hdrs, len);
	memcpy(masked, hdrs, n);
	mask_variant(masked, n);
	return crc_update(crc_update(~0u, masked, n), hdrs + n, len - n);
}

u32 pib_icrc_update(u32 crc, const void *data, size_t len)
{
	return crc_update(crc, data, len);
}

void pib_icrc_store(u32 crc, u8 out[4])
{
	crc = ~crc;
	out[0] = crc;
	out[1] = crc >> 8;
	out[2] = crc >> 16;
	out[3] = crc >> 24;
}

bool pib_icrc_match(u32 crc, const u8 in[4])
{
	u8 want[4];

	pib_icrc_store(crc, want);
	return !memcmp(want, in, 4);
}

/* x^16 + x^12 + x^3 + x + 1, reflected. Bit by bit: only damaged packets come here. */
#define VCRC_POLY	0xD008u

u16 pib_vcrc(const u8 *packet, size_t len)
{
	u32 crc = 0xFFFF;
	int bit;

	for (; len; len--, packet++) {
		crc ^= *packet;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? VCRC_POLY : 0);
	}
	return crc ^ 0xFFFF;
}
