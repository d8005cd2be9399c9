/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Device memory: memory of the HCA that a process maps and registers. */
#ifndef PIB_MEMORY_DM_H
#define PIB_MEMORY_DM_H

#include <rdma/uverbs_ioctl.h>
#include "memory/mr.h"

/**
 * struct pib_dm - a piece of device memory
 * @ib: ib_core's
 * @quota: of the HCA
 * @owner: see pib_quota_charge(); his context outlives the memory
 * @entry: the memory
 * @size: bytes asked for; whole pages are taken from the HCA's stock
 * @objects: of the HCA
 * @obj: in @objects
 */
struct pib_dm {
	struct ib_dm ib;
	struct pib_quota *quota;
	struct pib_user *owner;
	struct pib_mmap_entry *entry;
	size_t size;
	struct pib_objects *objects;
	struct pib_object obj;
};

static inline struct pib_dm *to_dm(struct ib_dm *ib)
{
	return container_of(ib, struct pib_dm, ib);
}

extern const struct uapi_definition pib_dm_defs[];

/* ib_device_ops. Context: process. Return: the object, ERR_PTR(); 0 or -errno. */
struct ib_dm *pib_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ctx,
			   struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs);
int pib_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);
struct ib_mr *pib_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm, struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs);

#endif
