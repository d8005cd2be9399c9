/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Ports in the kernel: their counters, and the cables that are plugged into them. */
#ifndef PIB_FABRIC_PORT_H
#define PIB_FABRIC_PORT_H

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include "core/notify.h"
#include "fabric/link.h"
#include "fabric/node.h"

struct pib_impair;
struct pib_pipe;
struct pib_switch;

/**
 * struct pib_port_notified - state of a port as listeners were last told it
 * @lid: LID
 * @sm_lid: the SM's
 * @state: enum pib_port_state
 * @phys: enum pib_phys_state
 */
struct pib_port_notified {
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
 * @pipe: way into the port, if the cable is not a good one (fabric/pipe.h); else NULL; RCU
 * @faults: of the cable, or NULL; guarded by the namespace's configuration mutex
 * @counts: per CPU, see pib_kport_count()
 * @cable_out: the cable to @peer is unplugged for now; under the namespace's link_lock, and
 *	read without it where it is shown
 * @is_auto: the cable was made by the system; guarded by the namespace's configuration mutex
 * @standalone_lid: HCA ports: LID without an SM; 0: an SM gives the LID; written under the
 *	namespace's link_lock, read anywhere
 * @notified: see pib_kport_changed(); under the node's lock
 * @taps: captures of the packets that pass the port, see fabric/capture.h; read under RCU
 */
struct pib_kport {
	struct pib_port p;
	struct pib_node_dev *nd;
	struct pib_switch *sw;
	struct pib_kport __rcu *peer;
	struct pib_link __rcu *link;
	struct pib_pipe __rcu *pipe;
	struct pib_impair *faults;
	struct pib_counts __percpu *counts;
	bool cable_out;
	bool is_auto;
	u16 standalone_lid;
	struct pib_port_notified notified;
	struct hlist_head taps;
};

static inline struct pib_kport *to_kport(const struct pib_port *p)
{
	return container_of(p, struct pib_kport, p);
}

/* Return: @port as a note names it (core/notify.h). Context: any. */
static inline struct pib_note_end pib_kport_note_end(const struct pib_kport *port)
{
	return (struct pib_note_end) {
		.node = port->nd->name,
		.is_switch = port->sw,
		.port = port->p.num,
	};
}

/* Return: true if there is a cable in @port. Context: under RCU, or the lock of the namespace. */
static inline bool pib_kport_has_cable(const struct pib_kport *port)
{
	return rcu_access_pointer(port->peer) || rcu_access_pointer(port->link);
}

#define pib_kport_count(port, field, n) this_cpu_add((port)->counts->field, (n))

/*
 * Return: the sum over all CPUs of a counter of a port in this kernel. @counter: its place in
 * struct pib_counts. Context: any.
 */
u64 pib_kport_read_count(const struct pib_port *p, u32 counter);

/*
 * Count that @npkts packets that came to @port found no room, and raise trap 130 if that is too
 * many. Context: any, no node lock held.
 */
void pib_kport_overrun(struct pib_kport *port, u32 npkts);

/* Make a port of @nd. Context: process. Return: the port; NULL: no memory. */
struct pib_kport *pib_kport_alloc(struct pib_node_dev *nd, gfp_t gfp);
/* Free a port, a grace period after its cable was pulled. @port may be NULL. Context: process. */
void pib_kport_free(struct pib_kport *port);

/*
 * Return: the lock of the node to which @port belongs; it is taken with interrupts off. Context:
 * any.
 */
static inline spinlock_t *pib_kport_lock(const struct pib_kport *port)
{
	return &port->nd->lock;
}

/*
 * Tell listeners if the state or the LIDs of @port have changed, and the log if somebody has asked
 * for that (docs/debugging.md). Context: the node's lock held.
 */
void pib_kport_changed(struct pib_kport *port);
/*
 * Call pib_kport_changed() for all ports of @nd if the SMP @smp, which its agent has executed, may
 * have changed them. Context: the node's lock held.
 */
void pib_node_dev_changed(struct pib_node_dev *nd, const u8 *smp);

/* Handle the event bits of the port and its node. Context: any. */
void pib_kport_events(struct pib_kport *port);

#endif
