// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles. The kernel resolves the attributes once; work requests carry
 * the number that the kernel gave.
 */
#include <stdlib.h>

#include "ah.h"
#include "pib-cmd.h"

struct ibv_ah *pib_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct upib_create_ah_resp resp = {};
	struct pib_ah *ah;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	if (ibv_cmd_create_ah(pd, &ah->ibv_ah, attr, &resp.ibv_resp,
			      sizeof(resp))) {
		free(ah);
		return NULL;
	}
	ah->ahn = resp.drv_payload.ahn;
	ah->pd_handle = pd->handle;
	return &ah->ibv_ah;
}

int pib_destroy_ah(struct ibv_ah *ibah)
{
	int err = ibv_cmd_destroy_ah(ibah);

	if (!err)
		free(to_pah(ibah));
	return err;
}
