/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is made to happen on purpose, in HCAs as they are named. */
#ifndef PIB_CONTROL_INJECT_H
#define PIB_CONTROL_INJECT_H

#include "hca/inject.h"

struct netlink_ext_ack;
struct pib_net;

/*
 * Have something happen in the HCA @name, now or by a rule. Process context, no locks; may sleep
 * long. Return: 0; above 0: the number of a rule; -errno with the reason in @extack.
 */
int pib_inject(struct pib_net *pn, const char *name, const struct pib_inject_cfg *cfg,
	       struct netlink_ext_ack *extack);
/* Take a rule away; @id 0: all of the HCA. Process context, no locks. Return: as pib_inject(). */
int pib_inject_del(struct pib_net *pn, const char *name, u32 id, struct netlink_ext_ack *extack);

#endif
