/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Injections into the MADs that queue pairs 0 and 1 send. */
#ifndef PIB_FABRIC_INJECT_MAD_H
#define PIB_FABRIC_INJECT_MAD_H

#include <linux/types.h>

struct netlink_ext_ack;
struct pib_burst;
struct pib_inject_cfg;

/*
 * Check whether a response can be changed as @cfg says.
 *
 * Context: any.
 * Return: 0; -EINVAL with the reason in @extack.
 */
int pib_inject_mad_check(const struct pib_inject_cfg *cfg, struct netlink_ext_ack *extack);
/*
 * Return: true if a rule with @cfg is about the packet of @b. A rule that names no class and no
 * attribute, and is of no kind that changes responses, is about each packet. Context: any.
 */
bool pib_inject_mad_wanted(const struct pib_inject_cfg *cfg, struct pib_burst *b);
/* Change the response @mad as @cfg says, if pib_inject_mad_wanted() is true. Context: any. */
void pib_inject_mad_change(const struct pib_inject_cfg *cfg, u8 *mad);

#endif
