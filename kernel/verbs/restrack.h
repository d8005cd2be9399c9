/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What `rdma resource show -d` says about objects. */
#ifndef PIB_VERBS_RESTRACK_H
#define PIB_VERBS_RESTRACK_H

#include <rdma/ib_verbs.h>

/* ib_device_ops; process context. Return: 0 or -EMSGSIZE. */
int pib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int pib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int pib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int pib_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif
