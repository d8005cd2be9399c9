// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Answers of which no state is kept. */
#include "cookie.h"
#include "session.h"
#include "siphash.h"

/**
 * struct cookie - the two values that the peer echoes
 * @nonce: session of the answer
 * @link_id: its link id
 */
struct cookie {
	u64 nonce;
	u32 link_id;
};

/* Hashed words: those of the peer, then the time's slot, then the key and the hash's purpose. */
#define PEER_WORDS	4
#define HASH_WORDS	(PEER_WORDS + 2)

/*
 * A trunk's hellos are of one node, whatever port they name: discovery knows none yet. So all
 * hellos of one trunk within PIB_COOKIE_NS have the same answer, and two ends that hear each other
 * at once begin one trunk.
 */
static void peer_words(u64 words[HASH_WORDS], const struct pib_cookie_addr *from,
		       const struct pib_hello *h)
{
	u32 port_num = pib_hello_is_trunk(h) ? 0x100 : h->port_num;

	words[0] = pib_get64(from->host);
	words[1] = pib_get64(from->host + 8);
	words[2] = h->node_guid;
	words[3] = (u64)h->fabric << 32 | (u32)from->udp_port << 16 | port_num;
}

static void make_cookie(const struct pib_cookies *c, u64 words[HASH_WORDS], u32 key, u64 slot,
			struct cookie *out)
{
	words[PEER_WORDS] = slot;
	words[PEER_WORDS + 1] = (u64)key << 32;
	out->nonce = pib_siphash(c->secret, words, HASH_WORDS);
	words[PEER_WORDS + 1]++;
	out->link_id = (u32)pib_siphash(c->secret, words, HASH_WORDS);
	/* Neither may be 0. */
	out->nonce |= !out->nonce;
	out->link_id |= !out->link_id;
}

static u64 slot_of(u64 now)
{
	return now / PIB_COOKIE_NS;
}

void pib_cookie_addr_v4(struct pib_cookie_addr *a, const u8 host[4], u16 udp_port)
{
	memset(a->host, 0, 10);
	memset(a->host + 10, 0xFF, 2);
	memcpy(a->host + 12, host, 4);
	a->udp_port = udp_port;
}

/* These hashes are of other numbers of words than cookies: no value tells anything of a cookie. */
static u32 reply_group(const struct pib_cookies *c, const struct pib_cookie_addr *from,
		       const struct pib_hello *h, u64 now)
{
	u64 session[] = { h->nonce, h->node_guid, (u64)h->fabric << 32 | h->port_num, now >> 26 };
	u64 host[] = { pib_get64(from->host), pib_get64(from->host + 8), now >> 26 };

	return pib_siphash(c->secret, session, 4) % PIB_COOKIE_SESSIONS * PIB_COOKIE_HOSTS +
	       pib_siphash(c->secret, host, 3) % PIB_COOKIE_HOSTS;
}

static bool take_allowance(u64 *next, u64 now)
{
	if (now < *next)
		return false;
	*next = now + PIB_REPLY_MS * PIB_NSEC_PER_MSEC;
	return true;
}

bool pib_cookie_may_reply(struct pib_cookies *c, const struct pib_cookie_addr *from,
			  const struct pib_hello *h, u64 now)
{
	return take_allowance(&c->next_reply[reply_group(c, from, h, now)], now);
}

bool pib_cookie_may_refuse(struct pib_cookies *c, const struct pib_cookie_addr *from,
			   const struct pib_hello *h, u64 now)
{
	return take_allowance(&c->next_refusal[reply_group(c, from, h, now)], now);
}

u8 pib_cookie_reply(const struct pib_cookies *c, const struct pib_cookie_addr *from,
		    const struct pib_hello *to, u64 now, struct pib_hello *answer)
{
	u64 words[HASH_WORDS];
	struct cookie cookie;

	peer_words(words, from, to);
	make_cookie(c, words, to->key, slot_of(now), &cookie);
	answer->nonce = cookie.nonce;
	answer->link_id = cookie.link_id;
	answer->seq = PIB_SESSION_ANSWERED_SEQ;
	answer->down = 1;
	answer->caps |= to->caps & PIB_CAP_AUTO;
	/* A sender that announced itself to everybody has no link yet: it is called. */
	if (!to->link_id)
		return PIB_DG_HELLO;
	answer->peer_nonce = to->nonce;
	answer->ack = to->seq;
	return PIB_DG_HELLO_ACK;
}

bool pib_cookie_is_back(const struct pib_cookies *c, const struct pib_cookie_addr *from,
			const struct pib_hello *h, u32 link_id, u32 key, u64 now)
{
	u64 words[HASH_WORDS], slot = slot_of(now);
	struct cookie cookie;
	unsigned int i;

	peer_words(words, from, h);
	for (i = 0; i < 2; i++) {
		make_cookie(c, words, key, slot - i, &cookie);
		if (h->peer_nonce == cookie.nonce && link_id == cookie.link_id)
			return true;
	}
	return false;
}

/* As reply_group(), of a number of words that no other hash has. */
static u64 make_question(const struct pib_cookies *c, const struct pib_cookie_addr *to, u64 own,
			 u64 peer, u64 slot)
{
	u64 words[] = { pib_get64(to->host), pib_get64(to->host + 8), own, peer,
			slot << 16 | to->udp_port };
	u64 nonce = pib_siphash(c->secret, words, sizeof(words) / sizeof(words[0]));

	return nonce ? nonce : 1;
}

u64 pib_cookie_question(const struct pib_cookies *c, const struct pib_cookie_addr *to, u64 own,
			u64 peer, u64 now)
{
	return make_question(c, to, own, peer, slot_of(now));
}

bool pib_cookie_is_answer(const struct pib_cookies *c, const struct pib_cookie_addr *from, u64 own,
			  u64 peer, u64 echoed, u64 now)
{
	u64 slot = slot_of(now);

	return echoed == make_question(c, from, own, peer, slot) ||
	       echoed == make_question(c, from, own, peer, slot - 1);
}
