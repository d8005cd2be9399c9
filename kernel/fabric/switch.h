/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Switches in the kernel, and the management traffic that nodes make themselves. */
#ifndef PIB_SWITCH_H
#define PIB_SWITCH_H

#include <linux/workqueue.h>
#include "core/ident.h"
#include "fabric/port.h"
#include "proto/share.h"
#include "uapi/linux/pib.h"

struct netlink_ext_ack;
struct pib_net;
struct pib_uplink;

/**
 * struct pib_agent - what a node does on its own account: traps, leases, and what its events ask for
 * @work: looks at the node
 * @node: the node
 * @lock: the node's lock
 */
struct pib_agent {
	struct delayed_work work;
	struct pib_node *node;
	spinlock_t *lock;
};

/* From now on pib_node_kick() works. Process context. */
void pib_agent_start(struct pib_agent *a, struct pib_node *n, spinlock_t *lock);
/* Nothing runs any more when it returns. Process context; sleeps for a grace period. */
void pib_agent_stop(struct pib_agent *a);

/**
 * struct pib_switch - a switch
 * @node: management state, guarded by @node_lock; the forwarding tables are read without it
 * @node_lock: spinlock, taken with interrupts off
 * @pma_lock: guards what only performance management has to do with; softirqs off
 * @share_lock: guards @pma_share: who is refused does not wait for who sums up; softirqs off
 * @pma_share: of a CPU, for sums of counters
 * @agent: see struct pib_agent
 * @live_agent: @agent while it runs, for pib_node_kick(); RCU
 * @ports: [0 .. node.num_ports]; never changes
 * @pn: namespace; never changes
 * @uplink: whose host switch it is, or NULL; never changes
 * @standalone: forwards without an SM; never changes
 * @name: never changes
 * @id: place in dumps; never changes
 * @entry: in the list of those of the namespace
 */
struct pib_switch {
	struct pib_node node;
	spinlock_t node_lock;
	spinlock_t pma_lock;
	spinlock_t share_lock;
	struct pib_share pma_share;
	struct pib_agent agent;
	struct pib_agent __rcu *live_agent;
	struct pib_kport **ports;
	struct pib_net *pn;
	struct pib_uplink *uplink;
	bool standalone;
	char name[PIB_NAME_MAX];
	u32 id;
	struct list_head entry;
};

/*
 * A switch without cables. @id is read before this returns. Process context. ERR_PTR() with the reason
 * in @extack.
 */
struct pib_switch *pib_switch_create(struct pib_net *pn, const char *name, u8 num_ports,
				     const struct pib_switch_ident *id, bool standalone,
				     struct netlink_ext_ack *extack);
/* Its cables are out, and a grace period has passed since. */
void pib_switch_destroy(struct pib_switch *sw);

/**
 * pib_switch_agent() - a packet for port 0
 * @b: stays the caller's
 * @out_port: result: where the answer leaves, or PIB_PORT_BY_LID
 *
 * Returns the answer, or the directed-route SMP to pass on, or NULL.
 */
struct pib_burst *pib_switch_agent(struct pib_switch *sw, u8 in_port, struct pib_burst *b,
				   u8 *out_port);
/*
 * pib_gsa_process() under the lock that it needs: to sum up the counters of many ports takes long, during
 * which neither interrupts nor the node's lock must wait.
 */
enum pib_mad_result pib_gsa(struct pib_port *p, spinlock_t *node_lock, spinlock_t *pma_lock,
			    const u8 *in, u8 *out);
/* A packet was dropped for its P_Key: trap 259. */
void pib_switch_pkey_trap(struct pib_switch *sw, struct pib_kport *port, const struct pib_hdrs *h);
/* Without an SM: forward @lid to @port; 0xFF: to nobody. */
void pib_switch_set_route(struct pib_switch *sw, u16 lid, u8 port);

#endif
