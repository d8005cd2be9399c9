/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The answers to gets; their functions are declared in netlink_gen.h. */
#ifndef PIB_CONTROL_NETLINK_GET_H
#define PIB_CONTROL_NETLINK_GET_H

struct genl_family;

extern struct genl_family pib_genl_family;

#endif
