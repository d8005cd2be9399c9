/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* LIDs without an SM. */
#ifndef PIB_UDP_STANDALONE_LID_H
#define PIB_UDP_STANDALONE_LID_H

#include <linux/types.h>

struct pib_kport;
struct pib_udp_link;
struct pib_bearer;

/* Return: the @n-th choice of a port for its LID, 1 .. 0xBFFF. Context: any. */
u16 pib_lid_choice(u64 port_guid, unsigned int n);
/*
 * Give a standalone port a LID that no other port is known to have. A port of the host switch's
 * HCAs has it listed at the bearer, too. Nobody else is told.
 *
 * Context: process; pn->link_lock held, for two ports must not choose at once.
 * Return: 0; -ENOSPC: the list is full, and the port keeps the LID that it has.
 */
int pib_bearer_choose_lid(struct pib_bearer *bearer, struct pib_kport *port);
/*
 * Leave @lid to the host beyond @link: if a standalone port here has given itself the same LID,
 * that port takes another one, and hellos and routes tell of it. Context: process; pn->link_lock
 * held.
 */
void pib_udp_link_move_lid(struct pib_udp_link *link, u16 lid);

#endif
