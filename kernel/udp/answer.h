/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Answers to peers that have no link here. */
#ifndef PIB_UDP_ANSWER_H
#define PIB_UDP_ANSWER_H

#include <linux/types.h>

struct pib_addr;
struct pib_bearer;
struct pib_hello;

/*
 * Turn a hello into bytes, authenticated by the fabric's key with number @key; 0: by its first key.
 *
 * Context: RCU.
 * Return: number of bytes; 0: the key is gone, or there was an error.
 */
size_t pib_answer_build(const struct pib_bearer *bearer, const struct pib_hello *h, u8 type,
			u32 link_id, u32 key, u8 *bytes);
/*
 * Answer the hello @to of a peer that has no link and gets none.
 *
 * Context: RCU, softirqs off.
 * Return: true if it was answered; false: the last answer was too recent, or no node is here that
 * could answer.
 */
bool pib_answer_send(struct pib_bearer *bearer, const struct pib_addr *from,
		     const struct pib_hello *to, u8 type, u8 refusal);
/*
 * Answer the hello @to of a peer that shall get a link, and keep no state. A peer that echoes the
 * answer is a newcomer. Context: RCU, softirqs off.
 */
void pib_answer_stranger(struct pib_bearer *bearer, const struct pib_addr *from,
			 const struct pib_hello *to);

/* Kinds of a hello to a link id that has no link. */
enum pib_answer_back {
	PIB_ANSWER_NONE,	/* no echo of an answer */
	PIB_ANSWER_GOES_ON,	/* an echo: the link continues the session of the answer */
	PIB_ANSWER_BEGINS,	/* an echo of an answer by the second key: a new session begins */
};

/* Return: whether @h, to link id @link_id, echoes an answer. Context: RCU, softirqs off. */
enum pib_answer_back pib_answer_is_back(struct pib_bearer *bearer, const struct pib_addr *from,
					const struct pib_hello *h, u32 link_id);
/*
 * Make all answers sent so far void. To be called before a link goes that an answer has made:
 * nothing else keeps that answer from being echoed again. Context: any but interrupts.
 */
void pib_answer_forget(struct pib_bearer *bearer);

#endif
