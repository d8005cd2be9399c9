/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Receive work requests as they stand in a ring, of a QP or an SRQ, and as the kernel has them. */
#ifndef PIB_HCA_RECV_WQE_H
#define PIB_HCA_RECV_WQE_H

#include <linux/overflow.h>
#include <rdma/ib_verbs.h>
#include "uapi/rdma/pib-abi.h"

/* Most scatter or gather elements of a work request; pib_query_device() advertises it. */
#define PIB_QP_MAX_SGE		32

/**
 * struct pib_rq_cur - the receive work request being filled
 * @valid: there is one
 * @wr_id: ID of the work request
 * @num_sge: entries in @sge
 * @len: bytes of room in all of @sge
 * @sge: private copy
 */
struct pib_rq_cur {
	bool valid;
	u64 wr_id;
	u32 num_sge;
	u32 len;
	struct pib_sge sge[PIB_QP_MAX_SGE];
};

/**
 * pib_recv_wqe_copy() - copy and check a receive work request
 * @slot: in memory that a process may be writing to
 * @max_sge: most scatter elements
 * @cur: result
 *
 * Context: any.
 * Return: 0 or -EINVAL, as pib_srq_take().
 */
static inline int pib_recv_wqe_copy(const struct pib_recv_wqe *slot, u32 max_sge,
				    struct pib_rq_cur *cur)
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

/**
 * pib_recv_wqe_fill() - fill a slot of a receive ring of the kernel's own
 * @slot: the slot
 * @max_sge: most scatter elements
 * @wr: work request of the consumer
 *
 * Context: any.
 * Return: 0; -EINVAL: it has too many elements.
 */
int pib_recv_wqe_fill(struct pib_recv_wqe *slot, u32 max_sge, const struct ib_recv_wr *wr);

/**
 * pib_recv_wqe_size() - get the size of a slot
 * @max_sge: most scatter elements
 *
 * Context: any.
 * Return: bytes.
 */
static inline u32 pib_recv_wqe_size(u32 max_sge)
{
	return sizeof(struct pib_recv_wqe) + max_sge * sizeof(struct pib_sge);
}

#endif
