/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events of links over UDP and of their sessions, for listeners. */
#ifndef PIB_UDP_LINK_NOTIFY_H
#define PIB_UDP_LINK_NOTIFY_H

#include <linux/types.h>

struct pib_udp_link;

/* Tell listeners of an event of the link, enum pib_event_kind. Context: link->lock held. */
void pib_udp_link_notify(const struct pib_udp_link *link, u8 kind);

#endif
