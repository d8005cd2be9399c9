/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Ports in the kernel: counters, and what is plugged into them. */
#ifndef PIB_FABRIC_PORT_H
#define PIB_FABRIC_PORT_H

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include "fabric/link.h"
#include "fabric/node.h"

struct pib_faults;
struct pib_pipe;
struct pib_switch;

/**
 * struct pib_port_told - what the log was told of a port last
 * @lid: LID
 * @sm_lid: the SM's
 * @state: enum pib_port_state
 * @phys: enum pib_phys_state
 */
struct pib_port_told {
	u16 lid;
	u16 sm_lid;
	u8 state;
	u8 phys;
};

/**
 * struct pib_kport - a port of an HCA or of a switch in this kernel
 * @p: management state, guarded by the node's lock
 * @nd: owner; never changes
 * @sw: owner, if that is a switch, or NULL; never changes
 * @peer: far end of a cable inside this kernel; RCU
 * @link: cable that leads elsewhere; RCU; at most one of @peer and @link is set
 * @pipe: way in of a cable that is not a good one, see fabric/pipe.h; NULL: the cable has none; RCU
 * @faults: of the cable, or NULL; guarded by the namespace's configuration mutex
 * @counts: per CPU, see pib_kport_count()
 * @cable_out: the cable to @peer is unplugged for now; guarded by the namespace's link_lock
 * @is_auto: the cable was made by the system; guarded by the namespace's configuration mutex
 * @alone_lid: HCA ports: LID without an SM, 0 if there is to be one; under the node's lock
 * @told: see pib_kport_changed(); under the node's lock
 * @taps: captures of the packets that pass the port, see fabric/capture.h; read under RCU
 */
struct pib_kport {
	struct pib_port p;
	struct pib_node_dev *nd;
	struct pib_switch *sw;
	struct pib_kport __rcu *peer;
	struct pib_link __rcu *link;
	struct pib_pipe __rcu *pipe;
	struct pib_faults *faults;
	struct pib_counts __percpu *counts;
	bool cable_out;
	bool is_auto;
	u16 alone_lid;
	struct pib_port_told told;
	struct hlist_head taps;
};

static inline struct pib_kport *to_kport(const struct pib_port *p)
{
	return container_of(p, struct pib_kport, p);
}

/* Is there a cable in @port? Under RCU, or the lock of the namespace. */
static inline bool pib_kport_has_cable(const struct pib_kport *port)
{
	return rcu_access_pointer(port->peer) || rcu_access_pointer(port->link);
}

#define pib_kport_count(port, field, n) this_cpu_add((port)->counts->field, (n))

/*
 * The sum over all CPUs of a counter of a port in this kernel; @counter: its place in
 * struct pib_counts. Any context.
 */
u64 pib_kport_read_count(const struct pib_port *p, u32 counter);

/* @npkts packets that came to @port found no room. Any context. */
void pib_kport_overrun(struct pib_kport *port, u32 npkts);

/* Make a port of @nd. Process context. Return: the port; NULL: no memory. */
struct pib_kport *pib_kport_alloc(struct pib_node_dev *nd, gfp_t gfp);
/* Free a port, a grace period after its cable was pulled. */
void pib_kport_free(struct pib_kport *port);

/* The lock of the node to which @port belongs; taken with interrupts off. */
static inline spinlock_t *pib_kport_lock(const struct pib_kport *port)
{
	return &port->nd->lock;
}

/*
 * The state or the LIDs of @port may have changed: the log is told, if somebody has asked for that
 * (docs/debugging.md). The node's lock held.
 */
void pib_kport_changed(struct pib_kport *port);
/* The same of all ports of @nd, after its agent has executed the SMP @smp. The node's lock held. */
void pib_node_dev_changed(struct pib_node_dev *nd, const u8 *smp);

/* Have the event bits of the port and its node acted upon. Any context. */
void pib_kport_events(struct pib_kport *port);

#endif
