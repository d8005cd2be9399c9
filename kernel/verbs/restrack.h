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

/**
 * pib_qp_page_wait() - tell for what a QP waits for pages
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: bits of enum pib_page_wait.
 */
u32 pib_qp_page_wait(const struct pib_qp *qp);
/**
 * pib_usec_left() - tell the time until a deadline
 * @deadline: ns; 0: there is none
 *
 * Context: any.
 * Return: microseconds, at least 1 if there is a deadline; 0: there is none.
 */
u64 pib_usec_left(u64 deadline);

/* ib_device_ops. Context: process. Return: 0 or -EMSGSIZE. */
int pib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int pib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int pib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int pib_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif
