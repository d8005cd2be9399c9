/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_CQ_H
#define PIB_CQ_H

#include "pib.h"

struct ibv_cq *pib_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel,
			     int comp_vector);
struct ibv_cq_ex *pib_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr);
int pib_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
int pib_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);
int pib_resize_cq(struct ibv_cq *ibcq, int cqe);
int pib_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int pib_destroy_cq(struct ibv_cq *ibcq);

void pib_cq_clean(struct pib_cq *cq, uint32_t qp_num);

/* enum pib_cqe_flags as enum ibv_wc_flags */
static inline unsigned int pib_cqe_wc_flags(const struct pib_cqe *cqe)
{
	unsigned int flags = 0;

	if (cqe->flags & PIB_CQE_GRH)
		flags |= IBV_WC_GRH;
	if (cqe->flags & PIB_CQE_WITH_IMM)
		flags |= IBV_WC_WITH_IMM;
	if (cqe->flags & PIB_CQE_WITH_INV)
		flags |= IBV_WC_WITH_INV;
	return flags;
}

#endif
