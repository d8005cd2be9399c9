/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Settling: the port of a link over UDP follows its session. */
#ifndef PIB_UDP_SETTLE_H
#define PIB_UDP_SETTLE_H

struct pib_udp_link;

/*
 * Bring the port in line with the session, and in a standalone fabric the routes of the host switch
 * with the LIDs that the peer announces. Context: process; pn->link_lock held.
 */
void pib_udp_link_settle(struct pib_udp_link *link);

#endif
