// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "hca/recv_wqe.h"

int pib_recv_wqe_fill(struct pib_recv_wqe *slot, u32 max_sge, const struct ib_recv_wr *wr)
{
	int i;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	slot->wr_id = wr->wr_id;
	slot->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		slot->sge[i].addr = wr->sg_list[i].addr;
		slot->sge[i].length = wr->sg_list[i].length;
		slot->sge[i].lkey = wr->sg_list[i].lkey;
	}
	return 0;
}
