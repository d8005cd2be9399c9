/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Attributes and states of queue pairs, as verbs change and query them (transport/modify.c). */
#ifndef PIB_TRANSPORT_MODIFY_H
#define PIB_TRANSPORT_MODIFY_H

#include <rdma/ib_verbs.h>

/* ib_device_ops. Context: process. Return: 0 or -errno. */
int pib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int pib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);

#endif
