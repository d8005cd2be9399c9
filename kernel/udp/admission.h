/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admission: which peers a bearer gives a port, and which links may follow their peers. */
#ifndef PIB_UDP_ADMISSION_H
#define PIB_UDP_ADMISSION_H

#include <linux/types.h>

struct pib_addr;
struct pib_bearer;
struct pib_hello;
struct pib_hello_way;
struct pib_udp_link;

/**
 * pib_bearer_may_lead() - check whether a link may lead to another address of its peer
 * @bearer: bearer of the link
 * @link: link
 * @from: address from which the hello came
 * @h: hello of the link's peer, which is authentic
 * @way: how it came; @way->named is not looked at
 *
 * Context: RCU; no link's lock held.
 * Return: true if @link may lead to @from on the strength of @h alone.
 */
bool pib_bearer_may_lead(struct pib_bearer *bearer, const struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way);
/*
 * As pib_bearer_may_lead(), for a datagram that may move the whole link: only one that is neither
 * up nor made by the user moves.
 *
 * Context: RCU; no link's lock held.
 * Return: true if @link is not up and may follow its peer to @from.
 */
bool pib_bearer_may_move(struct pib_bearer *bearer, const struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way);
/**
 * pib_bearer_admits() - check whether a peer may have a port, and refuse it if not
 * @bearer: bearer by which its hello came
 * @from: its address
 * @h: its hello
 * @way: how that came; @way->named is not looked at
 *
 * A refusal is counted, as rx_no_port or rx_stranger. A peer that has named a link is told, unless
 * no host switch is here.
 *
 * Context: RCU, softirqs off; no link's lock held.
 * Return: true if it may; a port of the host switch is free, which nothing reserves.
 */
bool pib_bearer_admits(struct pib_bearer *bearer, const struct pib_addr *from,
		       const struct pib_hello *h, const struct pib_hello_way *way);
/*
 * As pib_bearer_admits(), for a peer of the version before, which gets no port at all. Nothing is
 * counted or sent.
 *
 * Context: RCU; no link's lock held.
 * Return: true if it is to be told why: in this version it might have a port.
 */
bool pib_bearer_tells_former(struct pib_bearer *bearer, const struct pib_addr *from,
			     const struct pib_hello *h, const struct pib_hello_way *way);
/*
 * As pib_bearer_admits(), for a peer that only asks who is here (PIB_CAP_PROBE): it may whatever
 * port is free.
 *
 * Context: RCU, softirqs off; no link's lock held.
 * Return: true if it is to be told.
 */
bool pib_bearer_may_ask(struct pib_bearer *bearer, const struct pib_addr *from,
			const struct pib_hello *h, const struct pib_hello_way *way);

#endif
