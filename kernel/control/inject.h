/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Injections into HCAs and switches, which are given by name. */
#ifndef PIB_CONTROL_INJECT_H
#define PIB_CONTROL_INJECT_H

#include "fabric/inject.h"

struct netlink_ext_ack;
struct pib_net;

/*
 * Inject what @cfg says into the HCA @name, at once or by a rule.
 *
 * Context: process, no locks; may sleep long.
 * Return: 0; above 0: the number of the rule; -errno with the reason in @extack.
 */
int pib_inject(struct pib_net *pn, const char *name, const struct pib_inject_cfg *cfg,
	       struct netlink_ext_ack *extack);
/*
 * Take rule @id of the HCA @name away, or all its rules if @id is 0.
 *
 * Context: process, no locks.
 * Return: 0; -errno with the reason in @extack.
 */
int pib_inject_del(struct pib_net *pn, const char *name, u32 id, struct netlink_ext_ack *extack);
/*
 * As these two, for the agents of the switch @name, into which only rules can be injected.
 *
 * Context: process, no locks.
 * Return: as these two.
 */
int pib_inject_switch(struct pib_net *pn, const char *name, const struct pib_inject_cfg *cfg,
		      struct netlink_ext_ack *extack);
int pib_inject_switch_del(struct pib_net *pn, const char *name, u32 id,
			  struct netlink_ext_ack *extack);

#endif
