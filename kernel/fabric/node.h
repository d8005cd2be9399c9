/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What an HCA and a switch have in common: ports, locks, and traffic of their own making. */
#ifndef PIB_FABRIC_NODE_H
#define PIB_FABRIC_NODE_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "proto/node.h"

struct pib_burst;
struct pib_kport;
struct pib_net;
struct pib_node_dev;

/**
 * struct pib_node_ops - what HCAs and switches do each in their own way
 * @rx: HCAs: a burst has come in at @port. 0: the burst is consumed. Above 0: it was dropped, for
 *	the reason that this is (enum pib_capture_reason). -EBUSY: the burst is still the caller's,
 *	who tries again later. Softirqs disabled, under rcu_read_lock(); no node lock held.
 *	NULL: the node is a switch, which forwards (fabric/forward.c)
 * @events: there may be event bits in the node and its ports: have them acted upon. Any context
 */
struct pib_node_ops {
	int (*rx)(struct pib_kport *port, struct pib_burst *b);
	void (*events)(struct pib_node_dev *nd);
};

/**
 * struct pib_node_dev - an HCA or a switch as the fabric sees it
 * @ops: never changes
 * @ports: [0 .. node.num_ports], of an HCA without [0]; never changes
 * @pn: namespace; never changes
 * @standalone: its ports do without an SM; never changes
 * @name: of the device, for tracepoints alone: what is there may be changing while it is read, and
 *	ends all the same; the pointer never changes
 * @live: @work may be queued, see pib_node_dev_start()
 * @work: sends traps, ends leases, and does what events ask for
 * @lock: guards @node; taken with interrupts off, since process_mad of HCAs runs under ib_mad's
 *	locks
 * @pma_lock: guards what only performance management has to do with; softirqs off
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
 * node. @name stays as long as @nd.
 */
void pib_node_dev_init(struct pib_node_dev *nd, struct pib_net *pn, const char *name,
		       const struct pib_node_ops *ops, bool standalone);
/* From now on the node sends traps, and pib_node_dev_kick() works. Process context. */
void pib_node_dev_start(struct pib_node_dev *nd);
/*
 * Stop the node's work, which runs no more on return. Process context; sleeps for a grace period.
 */
void pib_node_dev_stop(struct pib_node_dev *nd);
/* A trap or lease deadline may have been set: the work looks soon. Any context. */
void pib_node_dev_kick(struct pib_node_dev *nd);

/*
 * pib_gsa_process() under the lock that it needs. Summing up the counters of many ports takes long,
 * during which neither interrupts nor the node's lock must wait. @p is a port of a
 * struct pib_node_dev. Process or softirq context.
 */
enum pib_mad_result pib_node_dev_gsa(struct pib_port *p, const u8 *in, u8 *out);

/*
 * A datagram from the management QP @qpn to its like, without LIDs. @mad (kmalloc'ed, 256 bytes)
 * belongs to the burst, and is freed on failure. Any context.
 *
 * Return: the burst; NULL: no memory.
 */
struct pib_burst *pib_mad_burst(u8 *mad, u32 qpn);

#endif
