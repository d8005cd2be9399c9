// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A link begins with its route's MTU and does not wait for proof. Probes of the size in use go on
 * for as long as the session lives. PIB_PMTU_PROBES of them lost in a row, while the small
 * datagrams behind them came, make datagrams one step smaller. From then on the next step up is
 * probed as well, ever less often, and one probe that comes raises the size. So of a network that
 * loses datagrams of any size by chance, the size recovers soon from the rare fall.
 *
 * One probe is under way at a time, and an answer counts for the probe whose number it has. A peer
 * that lies gets datagrams that are too small, or that it does not get.
 *
 * RFC 8899 is for senders that know only time: they wait 15 s or more for a probe, confirm a base
 * size before they use it, and try a larger one each ten minutes. Here the peer says what has come
 * of what was sent after the probe, so a loss is known soon, and probes are few all the same.
 */
#include "pmtu.h"

/*
 * Sizes that paths carry: each IPv4 host takes the first one (RFC 791), each IPv6 link the second
 * one (RFC 8200), Ethernet under a tunnel or two the third one, Ethernet the fourth.
 */
static const u32 pmtu_steps[] = { PIB_PMTU_LEAST, 1280, 1400, 1500, PIB_PMTU_OPEN };

#define PMTU_STEPS (sizeof(pmtu_steps) / sizeof(pmtu_steps[0]))

static u64 ms_to_ns(u32 n)
{
	return n * PIB_NSEC_PER_MSEC;
}

static u32 least_of(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Return: bytes of the largest datagram that is sent if the limit is @limit. */
static u32 size_under(const struct pib_pmtu *p, u32 limit)
{
	return least_of(least_of(limit, p->bounds.mtu), p->bounds.most);
}

static u32 step_above(u32 limit)
{
	unsigned int i;

	for (i = 0; i < PMTU_STEPS - 1 && pmtu_steps[i] <= limit; i++)
		;
	return pmtu_steps[i];
}

/* Return: the largest step below @size, not below @least; @size: there is none. */
static u32 step_below(u32 size, u32 least)
{
	unsigned int i;

	for (i = PMTU_STEPS; i-- > 0;)
		if (pmtu_steps[i] < size)
			return pmtu_steps[i] < least ? size : pmtu_steps[i];
	return size;
}

static bool may_rise(const struct pib_pmtu *p)
{
	return size_under(p, step_above(p->limit)) > size_under(p, p->limit);
}

void pib_pmtu_init(struct pib_pmtu *p)
{
	u16 number = p->number;

	*p = (struct pib_pmtu) { .limit = PIB_PMTU_OPEN, .number = number };
}

u32 pib_pmtu_size(const struct pib_pmtu *p)
{
	return least_of(p->limit, p->bounds.mtu);
}

void pib_pmtu_bound(struct pib_pmtu *p, const struct pib_pmtu_bounds *bounds)
{
	u32 before = size_under(p, p->limit);

	if (!memcmp(bounds, &p->bounds, sizeof(*bounds)))
		return;
	p->bounds = *bounds;
	if (size_under(p, p->limit) == before && !p->raises)
		return;
	p->probed = 0;
	p->raises = false;
	p->hurries = false;
	p->lost = 0;
	p->confirm_at = 0;
}

static u32 probe_send(struct pib_pmtu *p, u32 size, bool raises, u64 now)
{
	p->probed = size;
	p->raises = raises;
	p->sent_at = now;
	p->followed = false;
	if (!++p->number)
		p->number = 1;
	return size;
}

/* The datagram @seq decides about the probe that is under way, if it is far enough behind it. */
static void probe_await(struct pib_pmtu *p, u32 seq, u64 now)
{
	if (p->followed || now < p->sent_at + ms_to_ns(PIB_PMTU_HURRY_MS))
		return;
	p->followed = true;
	p->seq = seq;
}

u32 pib_pmtu_next(struct pib_pmtu *p, u32 seq, u64 now)
{
	if (p->probed) {
		probe_await(p, seq, now);
		return 0;
	}
	p->hurries = false;
	if (size_under(p, p->limit) < p->bounds.least)
		return 0;
	if (now >= p->confirm_at)
		return probe_send(p, size_under(p, p->limit), false, now);
	if (now >= p->raise_at && may_rise(p))
		return probe_send(p, size_under(p, step_above(p->limit)), true, now);
	return 0;
}

void pib_pmtu_forget(struct pib_pmtu *p, u16 number)
{
	if (p->number != number)
		return;
	p->probed = 0;
	p->raises = false;
}

static void probe_came(struct pib_pmtu *p, u64 now)
{
	p->lost = 0;
	p->hurries = false;
	p->confirm_at = now + ms_to_ns(PIB_PMTU_CONFIRM_MS);
	if (!p->raises)
		return;
	p->limit = step_above(p->limit);
	p->raise_ms = PIB_PMTU_RAISE_MS;
	p->raise_at = now;
	p->hurries = may_rise(p);
}

/* Probe a larger size again after a while, and after twice as long the next time. */
static void raise_later(struct pib_pmtu *p, u64 now)
{
	p->raise_at = now + ms_to_ns(p->raise_ms);
	p->raise_ms = least_of(2 * p->raise_ms, PIB_PMTU_RAISE_MAX_MS);
}

/* Return: true if datagrams are smaller from now on. */
static bool probe_lost(struct pib_pmtu *p, u64 now)
{
	u32 size = size_under(p, p->limit), below = step_below(size, p->bounds.least);

	p->hurries = !p->raises;
	if (p->raises) {
		raise_later(p, now);
		return false;
	}
	p->confirm_at = now;
	if (++p->lost < PIB_PMTU_PROBES)
		return false;
	p->lost = 0;
	if (below == size) {
		p->hurries = false;
		p->confirm_at = now + ms_to_ns(PIB_PMTU_CONFIRM_MS);
		return false;
	}
	p->limit = below;
	p->falls++;
	p->raise_ms = PIB_PMTU_RAISE_MS;
	raise_later(p, now);
	return true;
}

bool pib_pmtu_heard(struct pib_pmtu *p, u16 came, u32 ack, u64 now)
{
	bool fell = false;

	if (!p->probed)
		return false;
	if (came == p->number)
		probe_came(p, now);
	else if (p->followed && (s32)(ack - p->seq) >= 0)
		fell = probe_lost(p, now);
	else
		return false;
	p->probed = 0;
	p->raises = false;
	return fell;
}

bool pib_pmtu_hurries(const struct pib_pmtu *p)
{
	return p->probed || p->hurries;
}
