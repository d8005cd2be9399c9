/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Cables between ports: plugged in, pulled, trained anew. */
#ifndef PIB_CABLE_H
#define PIB_CABLE_H

#include <linux/types.h>

struct list_head;
struct pib_kport;
struct pib_net;

/* The other end of a cable as it trains the link; see struct pib_port. */
struct pib_far {
	u8 mtu_cap;
	u8 width_en;
	u8 speed_en;
	u8 ext_speed_en;
};

/* The link under @port is up or down; pn->link_lock held. */
void pib_kport_link_up(struct pib_kport *port, const struct pib_far *far);
void pib_kport_link_down(struct pib_kport *port);
/* Does the port do without an SM? */
bool pib_kport_standalone(const struct pib_kport *port);

/* Plug a cable between two free ports; pn->lock held. */
void pib_cable_plug(struct pib_net *pn, struct pib_kport *a, struct pib_kport *b);
/* Pull whatever is plugged in; pn->lock held. UDP links go onto @dead; the ports may be freed after a grace period. */
void pib_cable_pull(struct pib_net *pn, struct pib_kport *port, struct list_head *dead);
/* Unplug the cable in @port at both ends and leave it in its place, or plug it in again. pn->link_lock held. */
void pib_cable_set_plugged(struct pib_net *pn, struct pib_kport *port, bool plugged);

#endif
