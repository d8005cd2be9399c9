// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* SipHash-2-4, by "SipHash: a fast short-input PRF" (Aumasson, Bernstein, 2012). */
#include "siphash.h"

/**
 * struct sip_state - between two words
 * @v: as the paper names them
 */
struct sip_state {
	u64 v[4];
};

static u64 rotate_left(u64 x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static void sip_half(u64 *a, u64 *b, unsigned int by)
{
	*a += *b;
	*b = rotate_left(*b, by) ^ *a;
}

static void sip_rounds(struct sip_state *s, unsigned int n)
{
	u64 *v = s->v;

	while (n--) {
		sip_half(&v[0], &v[1], 13);
		v[0] = rotate_left(v[0], 32);
		sip_half(&v[2], &v[3], 16);
		sip_half(&v[0], &v[3], 21);
		sip_half(&v[2], &v[1], 17);
		v[2] = rotate_left(v[2], 32);
	}
}

static void sip_word(struct sip_state *s, u64 word)
{
	s->v[3] ^= word;
	sip_rounds(s, 2);
	s->v[0] ^= word;
}

u64 pib_siphash(const u64 key[2], const u64 *words, unsigned int n)
{
	struct sip_state s = { {
		key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
		key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL,
	} };
	unsigned int i;

	for (i = 0; i < n; i++)
		sip_word(&s, words[i]);
	/* The last word has the number of bytes on top. */
	sip_word(&s, (u64)n * 8 << 56);
	s.v[2] ^= 0xff;
	sip_rounds(&s, 4);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}
