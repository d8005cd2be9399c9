/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sealed datagrams: the form of DATA and SEGMENT on the links of a keyed fabric
 * (docs/wire-format.md, "Sealed data"). Behind the link header stand a counter, the rest
 * of the unsealed datagram, encrypted, and an authentication tag:
 *
 *	link header | counter, 8 | encrypted | tag, 16
 *
 * The cipher is ChaCha20-Poly1305. Its nonce is the counter, and the link header is
 * authenticated with the rest. Each direction of each session has a key of its own. From it the
 * keys of the generations are made, each of which seals PIB_SEAL_GENERATION datagrams.
 */
#ifndef PIB_PROTO_SEAL_H
#define PIB_PROTO_SEAL_H

#include "dg.h"
#include "env.h"

#define PIB_SEAL_HEAD_LEN	(PIB_DG_HDR_LEN + 8)	/* link header and counter */
#define PIB_SEAL_TAG_LEN	16
#define PIB_SEAL_LEN		(8 + PIB_SEAL_TAG_LEN)	/* bytes that sealing adds to a datagram */
#define PIB_SEAL_KEY_LEN	32

#define PIB_SEAL_LABEL_LEN	32

/*
 * Write the bytes whose HMAC-SHA-256 is the key of the data to session @to from session @from. No
 * other HMAC with the fabric's key is made of so many bytes. Context: any.
 */
void pib_seal_label(u64 to, u64 from, u8 out[PIB_SEAL_LABEL_LEN]);

/*
 * Number of a generation's datagrams. Its key is the beginning of the cipher's output for as many
 * bytes of 0 by the session's key, with the generation as nonce and nothing to authenticate. The
 * session's key seals nothing else.
 */
#define PIB_SEAL_GENERATION	65536

/* Return: the generation to which the datagram of @counter belongs. Context: any. */
static inline u64 pib_seal_generation(u64 counter)
{
	return counter / PIB_SEAL_GENERATION;
}

/* Counters that may come late: they are remembered one by one. */
#define PIB_REPLAY_WINDOW	8192
#define PIB_REPLAY_WORDS	(PIB_REPLAY_WINDOW / 64 + 1)

/**
 * struct pib_replay - the counters of a session that have been taken (RFC 6479)
 * @top: highest one; 0: none
 * @taken: a bit for each, in a ring of words
 *
 * All zero in the beginning.
 */
struct pib_replay {
	u64 top;
	u64 taken[PIB_REPLAY_WORDS];
};

/*
 * Check a counter before its datagram is authenticated: anybody may have written it. Context: under
 * the lock of what holds @r.
 *
 * Return: true if pib_replay_take() would take @counter.
 */
bool pib_replay_is_new(const struct pib_replay *r, u64 counter);
/*
 * Take the counter of an authentic datagram. A session that sends a thousand million datagrams a
 * second has used up its counters after 584 years. Context: under the lock of what holds @r.
 *
 * Return: false: it was taken before, lies PIB_REPLAY_WINDOW or more behind the highest one, or
 * is 0, which nobody sends.
 */
bool pib_replay_take(struct pib_replay *r, u64 counter);

#endif
