/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Injections into the answers of a switch's agents (docs/inject.md). */
#ifndef PIB_FABRIC_SWITCH_INJECT_H
#define PIB_FABRIC_SWITCH_INJECT_H

#include <linux/types.h>

struct netlink_ext_ack;
struct pib_burst;
struct pib_inject_cfg;
struct pib_switch;

/* Set up the rules of a switch that is still zero. Context: any. */
void pib_switch_injects_init(struct pib_switch *sw);
/*
 * Drop the rules of a switch whose agents are not called any more, and the answers that they have
 * delayed. Context: process.
 */
void pib_switch_injects_exit(struct pib_switch *sw);

/**
 * pib_switch_inject() - make a rule, after pib_injects_prepare()
 * @sw: switch
 * @cfg: configuration; @cfg->object is 0 or 1, the queue pair of the agent
 * @extack: set to the reason if the rule cannot be made
 *
 * Context: process; the switch stays.
 * Return: the number of the rule; -errno.
 */
int pib_switch_inject(struct pib_switch *sw, const struct pib_inject_cfg *cfg,
		      struct netlink_ext_ack *extack);

/**
 * pib_switch_inject_answer() - apply the rules of a switch to an answer of its agents, or a trap
 * @sw: switch
 * @out_port: as pib_switch_send() has it
 * @b: answer or trap, with its headers
 *
 * Context: softirqs off, under rcu_read_lock(); no node lock held.
 * Return: @b, if it is to be sent now; NULL: it has been dealt with.
 */
struct pib_burst *pib_switch_inject_answer(struct pib_switch *sw, u8 out_port, struct pib_burst *b);

#endif
