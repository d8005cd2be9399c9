/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Details of objects for `rdma resource show -d`. */
#ifndef PIB_VERBS_RESTRACK_H
#define PIB_VERBS_RESTRACK_H

#include <rdma/ib_verbs.h>

struct pib_qp;

/* Purposes for which a QP's turn waits for pages: a bit each. */
enum pib_page_wait {
	PIB_PAGE_WAIT_RECEIVE = 1,	/* taking in a burst */
	PIB_PAGE_WAIT_REQUEST = 2,	/* sending a request */
	PIB_PAGE_WAIT_ANSWER = 4,	/* answering the peer */
};

/* Return: bits of enum pib_page_wait. qp->lock held. */
u32 pib_qp_page_wait(const struct pib_qp *qp);
/* Return: microseconds until @deadline (ns, 0: none), at least 1 if there is one. Any context. */
u64 pib_usec_left(u64 deadline);

/* ib_device_ops; process context. Return: 0 or -EMSGSIZE. */
int pib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int pib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int pib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int pib_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif
