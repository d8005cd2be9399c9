// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dma-buf regions. There is no DMA here: the CPU copies, so the exporter is
 * asked for a mapping in the kernel's address space, which also pins the
 * buffer. Memory that only a device can reach is refused. Copies may come at any
 * time, so for its exporter the CPU's access lasts as long as the region.
 */
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include "compat/compat.h"
#include "memory/dmabuf.h"
#include "memory/mr.h"
#include "memory/pd.h"

PIB_IMPORT_NS_DMA_BUF;

static void dmabuf_release(struct pib_mr *mr)
{
	struct dma_buf *buf = mr->priv;
	struct iosys_map map = IOSYS_MAP_INIT_VADDR((void *)(mr->map.linear - mr->map.base));

	dma_buf_end_cpu_access(buf, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(buf, &map);
	dma_buf_put(buf);
}

static int dmabuf_map(struct pib_mr *mr, struct dma_buf *buf, u64 offset)
{
	struct iosys_map map;
	int err;

	err = dma_buf_vmap_unlocked(buf, &map);
	if (err)
		return err == -EINVAL ? -EOPNOTSUPP : err;
	err = map.is_iomem ? -EOPNOTSUPP : dma_buf_begin_cpu_access(buf, DMA_BIDIRECTIONAL);
	if (err) {
		dma_buf_vunmap_unlocked(buf, &map);
		return err;
	}
	mr->map.linear = (unsigned long)map.vaddr + offset;
	/* not used by linear maps: kept to find the start again */
	mr->map.base = offset;
	mr->priv = buf;
	mr->release = dmabuf_release;
	return 0;
}

struct ib_mr *pib_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
				     int fd, int access)
{
	u64 iova = access & IB_ZERO_BASED ? 0 : virt;
	struct dma_buf *buf;
	struct pib_mr *mr;
	int err;

	buf = dma_buf_get(fd);
	if (IS_ERR(buf))
		return ERR_CAST(buf);
	if (!length || length > buf->size || offset > buf->size - length ||
	    pib_range_wraps(iova, length)) {
		err = -EINVAL;
		goto err_put;
	}
	/* A mapping of it by the process would be refused, too. */
	if (ib_access_writable(access) && !(buf->file->f_mode & FMODE_WRITE)) {
		err = -EACCES;
		goto err_put;
	}

	mr = pib_mr_alloc(to_pd(ibpd), PIB_MR_TYPE_DMABUF, access);
	if (IS_ERR(mr)) {
		err = PTR_ERR(mr);
		goto err_put;
	}
	mr->map.iova = iova;
	mr->map.length = length;
	err = dmabuf_map(mr, buf, offset);
	if (err) {
		pib_mr_discard(mr);
		goto err_put;
	}
	pib_mr_publish(mr);
	return &mr->ib;

err_put:
	ibdev_dbg(ibpd->device,
		  "reg_dmabuf_mr: %llu bytes at %#llx of %zu, access %#x: %d\n", length,
		  offset, buf->size, access, err);
	dma_buf_put(buf);
	return ERR_PTR(err);
}
