/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_SRQ_H
#define PIB_SRQ_H

#include "pib.h"

struct ibv_srq *pib_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr);
struct ibv_srq *pib_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr);
int pib_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask);
int pib_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int pib_destroy_srq(struct ibv_srq *ibsrq);
int pib_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num);

struct ibv_xrcd *pib_open_xrcd(struct ibv_context *context,
			       struct ibv_xrcd_init_attr *attr);
int pib_close_xrcd(struct ibv_xrcd *ibxrcd);

#endif
