/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Newcomers: peers that have echoed an answer, and wait for their links. */
#ifndef PIB_UDP_NEWCOMER_H
#define PIB_UDP_NEWCOMER_H

#include "proto/hello.h"
#include "udp/socket.h"

struct pib_bearer;
struct pib_udp_link;

#define PIB_NEWCOMERS	16

/**
 * struct pib_newcomer - a peer that has echoed an answer
 * @from: the peer's address
 * @way: how its datagram came
 * @h: the hello in that datagram
 * @type: enum pib_dg_type
 * @to_id: link id to which the datagram was sent
 */
struct pib_newcomer {
	struct pib_addr from;
	struct pib_hello_way way;
	struct pib_hello h;
	u8 type;
	u32 to_id;
};

/*
 * Let @n wait for a link, which the work makes, in place of what the same peer has said before. If
 * PIB_NEWCOMERS others wait, @n is dropped and counted. Context: RCU, softirqs off.
 */
void pib_newcomer_add(struct pib_bearer *bearer, const struct pib_newcomer *n);
/*
 * Take the newcomer that has waited longest, and copy it to @n. Context: any but interrupts.
 *
 * Return: false: nobody waits.
 */
bool pib_newcomer_next(struct pib_bearer *bearer, struct pib_newcomer *n);
/*
 * Make a link for @n, unless it has one or may not have one any more, and have the link take in
 * what @n has said. A newcomer that gets no link is counted. Context: process; pn->lock held.
 */
void pib_newcomer_admit(struct pib_bearer *bearer, const struct pib_newcomer *n);
/*
 * Take in the echo of an answer from the peer of @link. The echo shows that the peer receives what
 * is sent to @n->from, which for a trunk may be the other address of its node. Context: RCU,
 * softirqs off; no link's lock held.
 */
void pib_newcomer_echoed(struct pib_bearer *bearer, struct pib_udp_link *link,
			 const struct pib_newcomer *n);

#endif
