/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Switches in the kernel. */
#ifndef PIB_FABRIC_SWITCH_H
#define PIB_FABRIC_SWITCH_H

#include "core/ident.h"
#include "fabric/inject.h"
#include "fabric/node.h"
#include "fabric/port.h"
#include "proto/share.h"
#include "uapi/linux/pib.h"

struct netlink_ext_ack;
struct pib_mark;
struct pib_net;

/**
 * struct pib_late_answers - answers of a switch's agents that a rule has delayed
 * @lock: guards what follows; softirqs off
 * @answers: see fabric/switch_inject.c, in the order in which they were made
 * @num: entries in @answers
 * @work: sends those whose time has come
 */
struct pib_late_answers {
	spinlock_t lock;
	struct list_head answers;
	u32 num;
	struct delayed_work work;
};

/**
 * struct pib_switch - a switch
 * @nd: the node; standalone: forwards without an SM
 * @share_lock: guards @pma_share. It is not pma_lock, so that a request that is refused need not
 *	wait for one that sums up counters; softirqs off
 * @pma_share: share of a CPU that sums of counters may take
 * @injects: rules of injections for its agents
 * @late: answers that a rule of @injects has delayed
 * @is_host: the host switch of a netdev, made and taken apart by the system; never changes
 * @name: never changes
 * @id: place in dumps; never changes
 * @entry: in the namespace's list of switches
 */
struct pib_switch {
	struct pib_node_dev nd;
	spinlock_t share_lock;
	struct pib_share pma_share;
	struct pib_injects injects;
	struct pib_late_answers late;
	bool is_host;
	char name[PIB_NAME_MAX];
	u32 id;
	struct list_head entry;
};

/*
 * Make a switch without cables. @id is not kept.
 *
 * Context: process.
 * Return: the switch; ERR_PTR(-ENOMEM).
 */
struct pib_switch *pib_switch_create(struct pib_net *pn, const char *name, u8 num_ports,
				     const struct pib_switch_ident *id, bool standalone,
				     struct netlink_ext_ack *extack);
/*
 * Free a switch whose cables were pulled, after a grace period. Context: process; sleeps.
 */
void pib_switch_destroy(struct pib_switch *sw);

/**
 * pib_switch_agent() - let the agents of a switch process a packet for port 0
 * @sw: switch
 * @in_port: port by which the packet came
 * @b: packet; stays the caller's
 * @marks: marks that @b has left at that port
 * @out_port: result: port by which the answer leaves, or PIB_PORT_BY_LID
 *
 * Context: softirqs off, no node lock held.
 * Return: the answer, or the directed-route SMP to pass on; NULL: nothing is to be sent.
 */
struct pib_burst *pib_switch_agent(struct pib_switch *sw, struct pib_kport *in_port,
				   struct pib_burst *b, struct pib_mark *marks, u8 *out_port);
/*
 * Count the packets of @b, which @port dropped for its P_Key, and raise trap 259. Context: any, no
 * node lock held.
 */
void pib_switch_pkey_trap(struct pib_switch *sw, struct pib_kport *port, const struct pib_burst *b);
/*
 * Return: a port without a cable; NULL: there is none. Context: the lock of the namespace held, or
 * RCU, under which the port may get a cable at any time.
 */
struct pib_kport *pib_switch_free_port(struct pib_switch *sw);
/* Without an SM: forward @lid to @port; 0xFF: to nobody. Context: any, no node lock held. */
void pib_switch_set_route(struct pib_switch *sw, u16 lid, u8 port);

#endif
