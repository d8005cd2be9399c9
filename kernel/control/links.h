/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Links between ports, which are given by name. */
#ifndef PIB_CONTROL_LINKS_H
#define PIB_CONTROL_LINKS_H

#include <linux/types.h>
#include "fabric/impair.h"

struct netlink_ext_ack;
struct pib_addr;
struct pib_net;
struct pib_bearer_cfg;

/**
 * struct pib_end - an end of a cable
 * @node: name of the HCA or switch
 * @port: number
 */
struct pib_end {
	const char *node;
	u32 port;
};

/**
 * struct pib_link_req - a change of a link
 * @plug: plug the cable in or out, as @plugged says
 * @plugged: see @plug
 * @width: greatest width, as in PortInfo; 0: stays as it is
 * @speed: greatest speed, enum ib_port_speed; 0: stays as it is
 * @faults: faults of the cable
 */
struct pib_link_req {
	bool plug;
	bool plugged;
	u8 width;
	u16 speed;
	struct pib_fault_req faults;
};

/*
 * All of these have:
 * Context: process, RTNL not held; may sleep long.
 * Return: 0 or -errno with the reason in @extack.
 */

/* Plug a cable between two ports of this kernel. */
int pib_links_add_cable(struct pib_net *pn, const struct pib_end *a, const struct pib_end *b,
			struct netlink_ext_ack *extack);
/* Plug a cable to @peer into @a. If there is no bearer of @cfg one is made, without a key. */
int pib_links_add_udp(struct pib_net *pn, const struct pib_end *a,
		      const struct pib_bearer_cfg *cfg, const struct pib_addr *peer,
		      struct netlink_ext_ack *extack);
/* Pull the cable in @a. */
int pib_links_del(struct pib_net *pn, const struct pib_end *a,
		  struct netlink_ext_ack *extack);
/* Change the cable in @a. */
int pib_links_set(struct pib_net *pn, const struct pib_end *a, const struct pib_link_req *req,
		  struct netlink_ext_ack *extack);

#endif
