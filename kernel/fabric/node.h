/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Nodes, the common part of HCAs and switches: ports, locks, and the traffic that they make. */
#ifndef PIB_FABRIC_NODE_H
#define PIB_FABRIC_NODE_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "proto/mad.h"
#include "proto/node.h"

struct pib_burst;
struct pib_kport;
struct pib_net;
struct pib_node_dev;

/**
 * struct pib_node_ops - operations that HCAs and switches implement each in their own way
 * @rx: HCAs: take in a burst at @port, whose state admits it (pib_port_takes()). Returns 0 if the
 *	burst is consumed; above 0 if it was dropped, for this reason (enum pib_capture_reason);
 *	-EBUSY if it is still the caller's, who tries again later. Softirqs disabled, under
 *	rcu_read_lock(); no node lock held. NULL: the node is a switch, which forwards
 *	(fabric/forward.c)
 * @trap: apply the rules of injection to a trap that leaves by @port. Returns the trap; NULL: it
 *	has been dealt with. Softirqs disabled, under rcu_read_lock()
 * @events: handle the event bits of the node and its ports, if there are any. Any context
 */
struct pib_node_ops {
	int (*rx)(struct pib_kport *port, struct pib_burst *b);
	struct pib_burst *(*trap)(struct pib_kport *port, struct pib_burst *b);
	void (*events)(struct pib_node_dev *nd);
};

/**
 * struct pib_node_dev - an HCA or a switch as the fabric sees it
 * @ops: never changes
 * @ports: [0 .. node.num_ports], of an HCA without [0]; never changes
 * @pn: namespace; never changes
 * @standalone: its ports do without an SM; never changes
 * @name: of the device, for tracepoints and notes alone: the string may change while it is read,
 *	but always ends; the pointer never changes
 * @live: @work may be queued, see pib_node_dev_start()
 * @work: sends traps, ends leases, and does what events ask for
 * @lock: guards @node; taken with interrupts off, since process_mad of HCAs runs under ib_mad's
 *	locks
 * @pma_lock: guards state that only performance management uses; softirqs off
 * @node: management state, guarded by @lock; forwarding tables are read without it
 */
struct pib_node_dev {
	const struct pib_node_ops *ops;
	struct pib_kport **ports;
	struct pib_net *pn;
	bool standalone;
	const char *name;
	bool live;
	struct delayed_work work;
	spinlock_t lock;
	spinlock_t pma_lock;
	struct pib_node node;
};

static inline struct pib_node_dev *to_node_dev(struct pib_node *n)
{
	return container_of(n, struct pib_node_dev, node);
}

/*
 * Set up @nd, which is zero, before anything else is done with it. The caller fills in ports and
 * node. @name stays as long as @nd. Context: any.
 */
void pib_node_dev_init(struct pib_node_dev *nd, struct pib_net *pn, const char *name,
		       const struct pib_node_ops *ops, bool standalone);
/* Let the node send traps, and pib_node_dev_kick() work. Context: process. */
void pib_node_dev_start(struct pib_node_dev *nd);
/*
 * Stop the node's work and its captures. The work does not run any more on return. Context:
 * process; sleeps for a grace period.
 */
void pib_node_dev_stop(struct pib_node_dev *nd);
/* Run the node's work soon: a trap or a lease deadline may have been set. Context: any. */
void pib_node_dev_kick(struct pib_node_dev *nd);

/*
 * Call pib_gsa_process() under the lock that it needs. Performance management has its own: summing
 * up the counters of many ports takes long, and neither interrupts nor the node's lock must wait
 * for that. @p is a port of a struct pib_node_dev.
 *
 * Context: process or softirq.
 * Return: as pib_gsa_process().
 */
enum pib_mad_result pib_node_dev_gsa(struct pib_port *p, const u8 *in, u8 *out);

/*
 * Make a datagram from management QP @qpn to the peer's QP @qpn, without LIDs. The burst owns @mad
 * (kmalloc'ed, 256 bytes), which is freed on failure.
 *
 * Context: any.
 * Return: the burst; NULL: no memory.
 */
struct pib_burst *pib_mad_burst(u8 *mad, u32 qpn);

#endif
