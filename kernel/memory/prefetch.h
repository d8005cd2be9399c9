/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* ibv_advise_mr(): pages of regions with on-demand paging are brought in beforehand. */
#ifndef PIB_MEMORY_PREFETCH_H
#define PIB_MEMORY_PREFETCH_H

#include <rdma/ib_verbs.h>

/* ib_device_ops. Context: process. Return: 0 or -errno. */
int pib_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		  struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs);

#endif
