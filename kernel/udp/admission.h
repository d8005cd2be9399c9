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

/* Return: true if @link may lead to @from on the strength of @h alone. Context: RCU. */
bool pib_bearer_may_lead(struct pib_bearer *bearer, const struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way);
/* Return: true if @link is not up and may follow its peer to @from. Context: RCU. */
bool pib_bearer_may_move(struct pib_bearer *bearer, const struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way);
/*
 * Check whether the sender of @h may have a port, and refuse it if not.
 *
 * Context: RCU, softirqs off.
 * Return: true if it may.
 */
bool pib_bearer_admits(struct pib_bearer *bearer, const struct pib_addr *from,
		       const struct pib_hello *h, const struct pib_hello_way *way);

#endif
