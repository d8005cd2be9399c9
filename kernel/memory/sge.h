/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Scatter and gather lists: the bytes of a message, one contiguous piece of registered memory after
 * the other.
 */
#ifndef PIB_MEMORY_SGE_H
#define PIB_MEMORY_SGE_H

#include <linux/errno.h>
#include <linux/minmax.h>
#include "memory/access.h"
#include "uapi/rdma/pib-abi.h"

/**
 * struct pib_sge_iter - walks a part of a message through its list
 * @sge: the element that the walk has come to
 * @num: elements from @sge on
 * @off: bytes of @sge that lie behind the walk
 * @left: bytes still to go
 */
struct pib_sge_iter {
	const struct pib_sge *sge;
	u32 num;
	u32 off;
	u32 left;
};

/**
 * pib_sge_start() - begin to walk a part of a message
 * @it: the walk
 * @sge: private copy of the list
 * @num: number of elements
 * @off: first byte, in the message
 * @len: bytes
 *
 * Context: any.
 */
static inline void pib_sge_start(struct pib_sge_iter *it, const struct pib_sge *sge, u32 num,
				 u32 off, u32 len)
{
	for (; num && off >= sge->length; num--)
		off -= sge++->length;
	*it = (struct pib_sge_iter) { .sge = sge, .num = num, .off = off, .left = len };
}

/* Return: the most pieces that pib_sge_next() makes of the walk. Context: any. */
static inline u32 pib_sge_pieces(const struct pib_sge_iter *it)
{
	u32 n = 0, bytes;

	for (bytes = 0; n < it->num && bytes < it->off + it->left; n++)
		bytes += it->sge[n].length;
	return n;
}

/**
 * pib_sge_next() - the next contiguous piece, its key checked
 * @it: the walk, of which something is left
 * @pd: protection domain that the list's L_Keys must be of
 * @access: as of pib_mem_get_local()
 * @span: the piece; the caller puts it
 *
 * Context: as pib_mem_get_local().
 * Return: 0; -EINVAL: the list has ended before the walk; errors of pib_mem_get_local().
 */
static inline int pib_sge_next(struct pib_sge_iter *it, struct pib_pd *pd, int access,
			       struct pib_span *span)
{
	const struct pib_sge *sge;
	u32 off, n;

	while (it->num) {
		sge = it->sge++;
		off = it->off;
		it->num--;
		it->off = 0;
		n = min(it->left, sge->length - off);
		if (!n)
			continue;
		it->left -= n;
		return pib_mem_get_local(pd, sge->lkey, sge->addr + off, n, access, span);
	}
	return -EINVAL;
}

#endif
