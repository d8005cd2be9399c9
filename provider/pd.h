/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_PD_H
#define PIB_PD_H

#include "pib.h"

struct ibv_pd *pib_alloc_pd(struct ibv_context *context);
int pib_dealloc_pd(struct ibv_pd *ibpd);
struct ibv_pd *pib_import_pd(struct ibv_context *context, uint32_t handle);
void pib_unimport_pd(struct ibv_pd *ibpd);

struct ibv_td *pib_alloc_td(struct ibv_context *context,
			    struct ibv_td_init_attr *attr);
int pib_dealloc_td(struct ibv_td *ibtd);
struct ibv_pd *pib_alloc_parent_domain(struct ibv_context *context,
				       struct ibv_parent_domain_init_attr *attr);

struct pib_pd *pib_domain_get(struct ibv_pd *ibpd);
void pib_domain_put(struct pib_pd *domain);
bool pib_domain_threaded(const struct pib_pd *domain);

#endif
