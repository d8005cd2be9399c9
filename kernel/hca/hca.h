/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* HCAs: the ib_device and the tables through which its objects are found. */
#ifndef PIB_HCA_H
#define PIB_HCA_H

#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "core/idcache.h"
#include "core/ident.h"
#include "core/objects.h"
#include "fabric/inject.h"
#include "fabric/port.h"
#include "core/quota.h"
#include "hca/behavior.h"
#include "memory/key.h"
#include "memory/pager.h"

struct pib_mcast;
struct pib_stats;
struct platform_device;

/**
 * struct pib_hca - an HCA
 * @ib: the device that ib_core knows
 * @nd: the node; standalone: ports give themselves LIDs
 * @name: see verbs/name.c, which has its lock. Not read elsewhere but as @nd.name
 * @parent: platform device that stands in for the hardware
 * @removed: ib_core is taking the HCA from its users, with all that they have made
 * @net: network namespace in which the HCA was made; not refcounted, the HCA goes with it
 * @behaviors: behaviors other than by default; QPs look at them for each work request
 * @qps: QPN -> struct pib_qp_stub; RCU lookup, see pib_qp_stub_get()
 * @qp_cache: some of @qps
 * @keys: keys of its regions and windows
 * @avs: AH number -> struct pib_av; RCU lookup; lock taken with interrupts off
 * @cqs: object numbers
 * @srqs: SRQ number -> struct pib_srq, or NULL for one that is not for XRC; RCU lookup
 * @next_qpn: start of the search for a free number in @qps; under the lock of @qps
 * @next_avn: start of the search for a free number in @avs; under the lock of @avs
 * @next_cqn: start of the search for a free number in @cqs; under the lock of @cqs
 * @next_srqn: start of the search for a free number in @srqs; under the lock of @srqs
 * @quota: numbers of objects, and of those of each user
 * @objects: list of these objects
 * @mcast: multicast attachments, see mcast.c
 * @stats: protocol counters, per CPU, see hca/hw_counters.h
 * @pagers: queues by which pages of processes are brought in
 * @qp_counters: number of a counter that QPs are bound to -> its struct pib_counter, see
 *	qp_counter.c
 * @next_counter: start of the search for a free number in @qp_counters
 * @inbox_bytes: bytes that QPs are charged with beyond those that are free for each, see
 *	transport/input.c
 * @no_room_until: jiffies: a QP has found no room for its last ACK, see pib_responder_leave()
 * @injects: faults that happen on purpose
 * @id: number of @parent
 * @on_gone: from pib_hca_create(), once registered: unplugs the ports and forgets the HCA, which
 *	ib_core is about to free. Called once, in process context, whoever has asked for the removal
 * @event_work: turns pib_event bits into ib_events
 */
struct pib_hca {
	struct ib_device ib;
	struct pib_node_dev nd;
	char name[IB_DEVICE_NAME_MAX];
	struct platform_device *parent;
	bool removed;
	struct net *net;
	struct pib_behaviors behaviors;
	struct xarray qps;
	struct pib_idcache qp_cache;
	struct pib_key_table keys;
	struct xarray avs;
	struct xarray cqs;
	struct xarray srqs;
	u32 next_qpn;
	u32 next_avn;
	u32 next_cqn;
	u32 next_srqn;
	struct pib_quota quota;
	struct pib_objects objects;
	struct pib_mcast *mcast;
	struct pib_stats __percpu *stats;
	struct pib_pagers pagers;
	struct xarray qp_counters;
	u32 next_counter;
	atomic_t inbox_bytes;
	unsigned long no_room_until;
	struct pib_injects injects;
	int id;
	void (*on_gone)(struct pib_hca *hca);
	struct work_struct event_work;
};

static inline struct pib_hca *to_hca(struct ib_device *ib)
{
	return container_of(ib, struct pib_hca, ib);
}

static inline struct pib_hca *node_dev_to_hca(struct pib_node_dev *nd)
{
	return container_of(nd, struct pib_hca, nd);
}

/**
 * pib_kport_hca() - get the HCA of a port
 * @port: port, which is no switch's
 *
 * Context: any.
 * Return: the HCA.
 */
static inline struct pib_hca *pib_kport_hca(const struct pib_kport *port)
{
	return node_dev_to_hca(port->nd);
}

#endif
