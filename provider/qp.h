/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_QP_H
#define PIB_QP_H

#include "pib.h"

struct ibv_qp *pib_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *pib_create_qp_ex(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *pib_open_qp(struct ibv_context *context,
			   struct ibv_qp_open_attr *attr);
int pib_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr);
int pib_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int pib_destroy_qp(struct ibv_qp *ibqp);

#endif
