/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_MR_H
#define PIB_MR_H

#include "pib.h"

struct ibv_mr *pib_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t iova, int access);
struct ibv_mr *pib_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t iova, int fd,
				 int access);
int pib_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		 void *addr, size_t length, int access);
int pib_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *pib_import_mr(struct ibv_pd *pd, uint32_t handle);
void pib_unimport_mr(struct ibv_mr *mr);

struct ibv_mw *pib_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int pib_dealloc_mw(struct ibv_mw *mw);

#endif
