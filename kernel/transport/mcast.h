/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Multicast: which QPs are attached to which groups (10.5). */
#ifndef PIB_TRANSPORT_MCAST_H
#define PIB_TRANSPORT_MCAST_H

#include <rdma/ib_verbs.h>
#include "proto/hdrs.h"

struct pib_hca;
struct pib_qp;

int pib_mcast_init(struct pib_hca *hca);
void pib_mcast_exit(struct pib_hca *hca);

/**
 * pib_mcast_deliver() - call @fn for every QP attached to the group a packet is for
 *
 * The group is that of the packet's DLID and DGID: it has a GRH. The QP
 * stays valid while the caller's rcu_read_lock() lasts. Softirqs off.
 */
void pib_mcast_deliver(struct pib_hca *hca, const struct pib_hdrs *h,
		       void (*fn)(struct pib_qp *qp, void *arg), void *arg);

/* A QP is being destroyed: forget its attachments, and their references soon. Process context. */
void pib_mcast_detach_all(struct pib_hca *hca, struct pib_qp *qp);

int pib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int pib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif
