/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Answers to peers that have no link here. */
#ifndef PIB_UDP_ANSWER_H
#define PIB_UDP_ANSWER_H

#include <linux/types.h>

struct pib_addr;
struct pib_bearer;
struct pib_hello;
struct pib_kport;

/*
 * Return: the port whose node speaks for the bearer: the host switch's, or a link's; NULL: none.
 * Context: RCU.
 */
struct pib_kport *pib_bearer_speaker(struct pib_bearer *bearer);
/**
 * pib_answer_build() - turn a hello into bytes, which are authenticated in a keyed fabric
 * @bearer: bearer by which they leave
 * @h: the hello
 * @type: enum pib_dg_type
 * @link_id: the receiver's link id; 0 in discovery
 * @key: number of the fabric's key; 0: its first one
 * @bytes: result, PIB_HELLO_WIRE_LEN bytes
 *
 * Context: RCU.
 * Return: number of bytes; 0: the key is gone, or there was an error of HMAC.
 */
size_t pib_answer_build(const struct pib_bearer *bearer, const struct pib_hello *h, u8 type,
			u32 link_id, u32 key, u8 *bytes);
/**
 * pib_answer_send() - answer a peer that has no link and gets none
 * @bearer: bearer by which its hello came
 * @from: its address
 * @to: its hello
 * @type: PIB_DG_BYE: a refusal; PIB_DG_HELLO_ACK: the answer to a probe
 * @refusal: enum pib_hello_refusal
 *
 * All such peers of a bearer together get one answer in 10 ms, those of the version before one in
 * 100 ms.
 *
 * Context: RCU, softirqs off.
 * Return: true: it was answered, or the answer could not be built or sent; false: the last answer
 *	was too recent, or no node is here that could answer.
 */
bool pib_answer_send(struct pib_bearer *bearer, const struct pib_addr *from,
		     const struct pib_hello *to, u8 type, u8 refusal);
/*
 * Answer the hello @to of a peer that shall get a link, and keep no state (proto/cookie.h). A peer
 * that echoes the answer is a newcomer. A hello that gets no answer is counted: as rx_no_port if no
 * node here could answer, as rx_stranger if too many came. Nothing counts one whose answer has no
 * authentication, since its key is gone. Context: RCU, softirqs off.
 */
void pib_answer_stranger(struct pib_bearer *bearer, const struct pib_addr *from,
			 const struct pib_hello *to);

/* Kinds of a hello to a link id that has no link. */
enum pib_answer_back {
	PIB_ANSWER_NONE,	/* no echo of an answer */
	PIB_ANSWER_GOES_ON,	/* an echo: the link continues the session of the answer */
	PIB_ANSWER_BEGINS,	/* an echo of an answer by the second key: a new session begins */
};

/*
 * Return: whether @h from @from, to link id @link_id, echoes an answer. Context: RCU, and any but
 * interrupts.
 */
enum pib_answer_back pib_answer_is_back(struct pib_bearer *bearer, const struct pib_addr *from,
					const struct pib_hello *h, u32 link_id);
/*
 * Find what a question to @to names, and its answer echoes. @to is perhaps another address of the
 * peer in the sessions @own and @peer: pib_cookie_question(). Context: any but interrupts.
 *
 * Return: a session, not 0.
 */
u64 pib_answer_wanted(struct pib_bearer *bearer, const struct pib_addr *to, u64 own, u64 peer);
/*
 * Return: true if @h from @from echoes what a question to there has named, as pib_answer_wanted()
 * in the sessions @own and @peer. Context: any but interrupts.
 */
bool pib_answer_is_wanted(struct pib_bearer *bearer, const struct pib_addr *from, u64 own, u64 peer,
			  const struct pib_hello *h);
/*
 * Make all answers sent so far void. To be called before a link goes that an answer has made:
 * nothing else keeps that answer from being echoed again. Context: any but interrupts.
 */
void pib_answer_forget(struct pib_bearer *bearer);

#endif
