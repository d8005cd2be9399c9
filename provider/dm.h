/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_DM_H
#define PIB_DM_H

#include "pib.h"

struct ibv_dm *pib_alloc_dm(struct ibv_context *context,
			    struct ibv_alloc_dm_attr *attr);
int pib_free_dm(struct ibv_dm *ibdm);
struct ibv_dm *pib_import_dm(struct ibv_context *context, uint32_t handle);
void pib_unimport_dm(struct ibv_dm *ibdm);
struct ibv_mr *pib_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			     uint64_t offset, size_t length,
			     unsigned int access);

#endif
