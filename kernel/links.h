/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Links between named ports, as they are asked for. */
#ifndef PIB_LINKS_H
#define PIB_LINKS_H

#include <linux/types.h>

struct netlink_ext_ack;
struct pib_addr;
struct pib_net;
struct pib_uplink_cfg;

/* An end of a cable. */
struct pib_end {
	const char *node;
	u32 port;
};

/* All return 0 or -errno with the reason in @extack. Process context, RTNL not held; may sleep long. */
int pib_links_add_cable(struct pib_net *pn, const struct pib_end *a, const struct pib_end *b,
			struct netlink_ext_ack *extack);
/* Over the uplink @cfg, which is made without a key if it is not there, to @peer. */
int pib_links_add_udp(struct pib_net *pn, const struct pib_end *a,
		      const struct pib_uplink_cfg *cfg, const struct pib_addr *peer,
		      struct netlink_ext_ack *extack);
int pib_links_del(struct pib_net *pn, const struct pib_end *a,
		  struct netlink_ext_ack *extack);
int pib_links_plug(struct pib_net *pn, const struct pib_end *a, bool plugged,
		   struct netlink_ext_ack *extack);

#endif
