/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Cables between ports: plug in, pull, retrain. */
#ifndef PIB_FABRIC_CABLE_H
#define PIB_FABRIC_CABLE_H

#include <linux/types.h>

struct list_head;
struct pib_kport;
struct pib_net;

/**
 * struct pib_far - the other end of a cable as it trains the link; see struct pib_port
 * @mtu_cap: MTU code
 * @width_en: LinkWidthEnabled
 * @speed_en: LinkSpeedEnabled
 * @ext_speed_en: extended speeds
 */
struct pib_far {
	u8 mtu_cap;
	u8 width_en;
	u8 speed_en;
	u8 ext_speed_en;
};

/* Tell @port that its link is up. Context: process, pn->link_lock held. */
void pib_kport_link_up(struct pib_kport *port, const struct pib_far *far);
/* Tell @port that its link is down. Context: process, pn->link_lock held. */
void pib_kport_link_down(struct pib_kport *port);
/* Retrain the link after the SM has set the physical state or width. Context: process. */
void pib_kport_phys_changed(struct pib_kport *port);

/*
 * Find the ports at the ends of the cable in @port. @end[1] is NULL if the cable leads elsewhere.
 * Context: pn->lock held.
 */
void pib_cable_ends(struct pib_kport *port, struct pib_kport *end[2]);
/* Plug a cable between two free ports. Context: process, pn->lock held. */
void pib_cable_plug(struct pib_net *pn, struct pib_kport *a, struct pib_kport *b);
/*
 * Pull whatever is plugged into @port. Links that lead elsewhere go onto @dead. The ports may be
 * freed after a grace period. Context: process, pn->lock held.
 */
void pib_cable_pull(struct pib_net *pn, struct pib_kport *port, struct list_head *dead);
/*
 * Unplug the cable in @port at both ends and leave it in its place, or plug it in again. There is
 * a cable in @port. Context: process, pn->link_lock held.
 */
void pib_cable_set_plugged(struct pib_net *pn, struct pib_kport *port, bool plugged);

/*
 * Put other transceivers at all ends of the cable in @port that are in this kernel, and retrain
 * the link. The arguments are widths and speeds as PortInfo encodes them, see
 * pib_port_set_link_caps(). Context: process, pn->lock held.
 */
void pib_cable_set_caps(struct pib_net *pn, struct pib_kport *port, u8 width_sup, u8 speed_sup,
			u8 ext_speed_sup);

#endif
