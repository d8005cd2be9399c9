// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sealed links, the part on which both ends must agree: docs/wire-format.md, "Sealed data". */
#include "mad.h"
#include "seal.h"

void pib_seal_label(u64 to, u64 from, u8 out[PIB_SEAL_LABEL_LEN])
{
	static const char label[17] = "pib sealed data ";

	memcpy(out, label, 16);
	pib_put64(out + 16, to);
	pib_put64(out + 24, from);
}

static u64 word_of(u64 counter)
{
	return counter / 64;
}

/* Clear the words of the ring after that of the highest counter, up to that of @counter. */
static void replay_advance(struct pib_replay *r, u64 counter)
{
	u64 from = word_of(r->top), n = word_of(counter) - from, i;

	if (n > PIB_REPLAY_WORDS)
		n = PIB_REPLAY_WORDS;
	for (i = 1; i <= n; i++)
		r->taken[(from + i) % PIB_REPLAY_WORDS] = 0;
	r->top = counter;
}

bool pib_replay_is_new(const struct pib_replay *r, u64 counter)
{
	if (!counter || (counter < r->top && r->top - counter >= PIB_REPLAY_WINDOW))
		return false;
	return counter > r->top ||
	       !(r->taken[word_of(counter) % PIB_REPLAY_WORDS] & 1ULL << counter % 64);
}

bool pib_replay_take(struct pib_replay *r, u64 counter)
{
	if (!pib_replay_is_new(r, counter))
		return false;
	if (counter > r->top)
		replay_advance(r, counter);
	r->taken[word_of(counter) % PIB_REPLAY_WORDS] |= 1ULL << counter % 64;
	return true;
}
