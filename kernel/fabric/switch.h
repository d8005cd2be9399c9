/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Switches in the kernel. */
#ifndef PIB_FABRIC_SWITCH_H
#define PIB_FABRIC_SWITCH_H

#include "core/ident.h"
#include "fabric/node.h"
#include "fabric/port.h"
#include "proto/share.h"
#include "uapi/linux/pib.h"

struct netlink_ext_ack;
struct pib_net;

/**
 * struct pib_switch - a switch
 * @nd: what every node has; standalone: forwards without an SM
 * @share_lock: guards @pma_share, so that who is refused does not wait for who sums up; softirqs
 *	off
 * @pma_share: share of a CPU that sums of counters may take
 * @is_host: the host switch of a netdev, made and taken apart by the system; never changes
 * @name: never changes
 * @id: place in dumps; never changes
 * @entry: in the list of those of the namespace
 */
struct pib_switch {
	struct pib_node_dev nd;
	spinlock_t share_lock;
	struct pib_share pma_share;
	bool is_host;
	char name[PIB_NAME_MAX];
	u32 id;
	struct list_head entry;
};

/*
 * Make a switch without cables. @id is read before this returns. Process context.
 *
 * Return: the switch; ERR_PTR() with the reason in @extack.
 */
struct pib_switch *pib_switch_create(struct pib_net *pn, const char *name, u8 num_ports,
				     const struct pib_switch_ident *id, bool standalone,
				     struct netlink_ext_ack *extack);
/* Free a switch. Its cables are out, and a grace period has passed since. Process context. */
void pib_switch_destroy(struct pib_switch *sw);

/**
 * pib_switch_agent() - a packet for port 0
 * @sw: switch
 * @in_port: port by which the packet came
 * @b: packet; stays the caller's
 * @out_port: result: port by which the answer leaves, or PIB_PORT_BY_LID
 *
 * Context: softirqs off, no node lock held.
 * Return: the answer, or the directed-route SMP to pass on; NULL: nothing is to be sent.
 */
struct pib_burst *pib_switch_agent(struct pib_switch *sw, u8 in_port, struct pib_burst *b,
				   u8 *out_port);
/*
 * @b was dropped for its P_Key: count its packets, raise trap 259. Any context, no node lock held.
 */
void pib_switch_pkey_trap(struct pib_switch *sw, struct pib_kport *port, const struct pib_burst *b);
/* A port without a cable; NULL: there is none. The lock of the namespace held. */
struct pib_kport *pib_switch_free_port(struct pib_switch *sw);
/* Without an SM: forward @lid to @port; 0xFF: to nobody. Any context. */
void pib_switch_set_route(struct pib_switch *sw, u16 lid, u8 port);

#endif
