/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Multicast: which QPs are attached to which groups (10.5). */
#ifndef PIB_TRANSPORT_MCAST_H
#define PIB_TRANSPORT_MCAST_H

#include <rdma/ib_verbs.h>
#include "proto/hdrs.h"

struct pib_hca;
struct pib_object;
struct pib_qp;

/**
 * struct pib_attachment - a QP in a group
 * @qpn: the QP
 * @mlid: the group's LID
 * @mgid: the group's GID
 */
struct pib_attachment {
	u32 qpn;
	u16 mlid;
	u8 mgid[16];
};

/**
 * pib_mcast_init() - set the groups of an HCA up, before its first QP is made
 * @hca: HCA
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int pib_mcast_init(struct pib_hca *hca);
/**
 * pib_mcast_exit() - free the groups of an HCA, when no QP is left
 * @hca: HCA
 *
 * Context: process.
 */
void pib_mcast_exit(struct pib_hca *hca);

/**
 * pib_mcast_deliver() - call a function for every QP attached to the group of a packet
 * @hca: HCA of the QPs
 * @h: headers of the packet, with a GRH: DLID and DGID name the group
 * @fn: called for each QP, which stays valid while the caller's rcu_read_lock() lasts
 * @arg: for @fn
 *
 * Context: softirqs off, under rcu_read_lock().
 */
void pib_mcast_deliver(struct pib_hca *hca, const struct pib_hdrs *h,
		       void (*fn)(struct pib_qp *qp, void *arg), void *arg);

/**
 * pib_mcast_detach_all() - detach a QP from all its groups
 * @hca: HCA
 * @qp: queue pair that is being destroyed
 *
 * Their references to it are dropped soon.
 *
 * Context: process; sleeps.
 */
void pib_mcast_detach_all(struct pib_hca *hca, struct pib_qp *qp);

/**
 * pib_mcast_show() - copy what an object that is an attachment stands for
 * @o: the object
 * @a: result
 *
 * Context: as pib_object_look.see.
 */
void pib_mcast_show(const struct pib_object *o, struct pib_attachment *a);

/* ib_device_ops. Context: process. Return: 0 or -errno. */
int pib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int pib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif
