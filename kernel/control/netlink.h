/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Control by generic netlink (uapi/linux/pib.h). */
#ifndef PIB_CONTROL_NETLINK_H
#define PIB_CONTROL_NETLINK_H

#define PIB_MODULE_VERSION "0.1.0"

struct genl_info;

/*
 * Return: the name that attribute @attr, of an HCA or a switch, gives; NULL: it is missing, which
 * the extack says.
 */
const char *pib_nl_name(struct genl_info *info, int attr);

/* Register the family. Context: process. Return: 0 or -errno. */
int pib_netlink_init(void);
void pib_netlink_exit(void);

#endif
