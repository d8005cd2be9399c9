// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fault.h"
#include "splitmix.h"

static u64 draw_next(struct pib_fault *f, enum pib_fault_lot lot)
{
	f->state[lot] += PIB_SPLITMIX_STEP;
	return pib_splitmix(f->state[lot]);
}

/* 0 .. @n - 1 */
static u32 draw_below(struct pib_fault *f, enum pib_fault_lot lot, u32 n)
{
	return pib_splitmix_below(draw_next(f, lot), n);
}

/* True in @per_billion of 10^9 cases. Nothing is drawn where there is nothing to choose. */
static bool fault_happens(struct pib_fault *f, enum pib_fault_lot lot, u32 per_billion)
{
	return per_billion && draw_below(f, lot, PIB_FAULT_ALWAYS) < per_billion;
}

/* Upper half of the product. */
static u64 mul_high(u64 a, u64 b)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 mid = ah * bl + (al * bl >> 32), mid2 = al * bh + (u32)mid;

	return ah * bh + (mid >> 32) + (mid2 >> 32);
}

/* 2^64 times the probability that none of @bits is damaged. */
static u64 prob_unharmed(const struct pib_fault *f, u32 bits)
{
	u64 p = ~0ULL, q = f->keep;

	for (; bits; bits >>= 1) {
		if (bits & 1)
			p = mul_high(p, q);
		q = mul_high(q, q);
	}
	return p;
}

static u8 bits_damaged(struct pib_fault *f, enum pib_fault_lot lot, u32 bytes)
{
	u64 whole;
	u8 n = 0;

	if (!f->keep)
		return 0;
	whole = prob_unharmed(f, bytes * 8);
	while (n < 32 && draw_next(f, lot) > whole)
		n++;
	return n;
}

void pib_fault_init(struct pib_fault *f, const struct pib_fault_cfg *cfg, unsigned int direction)
{
	memset(f, 0, sizeof(*f));
	f->cfg = *cfg;
	f->state[PIB_FAULT_DATA] = pib_splitmix(cfg->seed + 2 * direction);
	f->state[PIB_FAULT_MGMT] = pib_splitmix(cfg->seed + 2 * direction + 1);
	/* 2^64 / 10^15 is 18446 + 195054 / 2^18, nearly. */
	if (cfg->bit_errors)
		f->keep = 0 - (cfg->bit_errors * 18446 + (cfg->bit_errors * 195054 >> 18));
}

bool pib_fault_picks(const struct pib_fault_cfg *cfg)
{
	return cfg->loss || cfg->duplicate || cfg->reorder || cfg->bit_errors;
}

void pib_fault_packet(struct pib_fault *f, enum pib_fault_lot lot, u32 bytes,
		      struct pib_fate *fate)
{
	memset(fate, 0, sizeof(*fate));
	f->counts.packets++;
	fate->lost = fault_happens(f, lot, f->cfg.loss);
	if (fate->lost) {
		f->counts.lost++;
		return;
	}
	fate->bits = bits_damaged(f, lot, bytes);
	if (fate->bits) {
		f->counts.damaged++;
		return;
	}
	fate->twice = fault_happens(f, lot, f->cfg.duplicate);
	if (fate->twice)
		f->counts.duplicated++;
	if (fault_happens(f, lot, f->cfg.reorder)) {
		fate->behind = 1 + draw_below(f, lot, PIB_FAULT_BEHIND_MAX);
		f->counts.reordered++;
	}
}

void pib_fault_damage(struct pib_fault *f, enum pib_fault_lot lot, u32 bits, u8 *packet, u32 bytes)
{
	u32 all = bytes * 8, at = draw_below(f, lot, all);
	u32 step = 1 + draw_below(f, lot, all / 32);

	for (; bits; bits--) {
		packet[at / 8] ^= 1 << at % 8;
		at = (at + step) % all;
	}
}

u64 pib_fault_backlog(const struct pib_fault *f, u64 now)
{
	if (!f->cfg.rate || f->free_at <= now)
		return 0;
	return div64_u64((f->free_at - now) * f->cfg.rate, 8 * PIB_NSEC_PER_SEC);
}

u64 pib_fault_arrival(struct pib_fault *f, u64 bytes, u64 now)
{
	if (f->cfg.rate) {
		if (f->free_at < now)
			f->free_at = now;
		f->free_at += div64_u64(bytes * 8 * PIB_NSEC_PER_SEC, f->cfg.rate);
		now = f->free_at;
	}
	return now + f->cfg.latency;
}
