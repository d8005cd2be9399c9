/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The host switch of a bearer, into which HCAs and trunks to other hosts are plugged. */
#ifndef PIB_CONTROL_HOST_SWITCH_H
#define PIB_CONTROL_HOST_SWITCH_H

#include <linux/types.h>

struct netlink_ext_ack;
struct pib_bearer;

/*
 * Find or make the host switch of @bearer, check that it has @ports free ports, and add a user.
 *
 * Context: process; the lock of the namespace held.
 * Return: 0 or -errno with the reason in @extack.
 */
int pib_host_switch_get(struct pib_bearer *bearer, bool standalone, unsigned int ports,
			struct netlink_ext_ack *extack);
/*
 * Drop a user; the last one takes the switch and its links apart. Context: the lock of the
 * namespace held; sleeps.
 */
void pib_host_switch_put(struct pib_bearer *bearer);

#endif
