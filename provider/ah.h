/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_AH_H
#define PIB_AH_H

#include "pib.h"

struct ibv_ah *pib_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int pib_destroy_ah(struct ibv_ah *ibah);

#endif
