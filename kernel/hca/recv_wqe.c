// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/overflow.h>
#include "hca/recv_wqe.h"

int pib_recv_wqe_copy(const struct pib_recv_wqe *slot, u32 max_sge, struct pib_rq_cur *cur)
{
	u32 n = READ_ONCE(slot->num_sge), len = 0, i;

	cur->wr_id = READ_ONCE(slot->wr_id);
	cur->valid = true;
	cur->num_sge = 0;
	cur->len = 0;
	if (n > max_sge || n > ARRAY_SIZE(cur->sge))
		return -EINVAL;

	memcpy(cur->sge, slot->sge, n * sizeof(cur->sge[0]));
	for (i = 0; i < n; i++)
		if (check_add_overflow(len, cur->sge[i].length, &len))
			return -EINVAL;
	cur->num_sge = n;
	cur->len = len;
	return 0;
}

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
