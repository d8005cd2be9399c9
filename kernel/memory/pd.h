/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains: users of a key are of the same one; memory reaches the HCA through it. */
#ifndef PIB_MEMORY_PD_H
#define PIB_MEMORY_PD_H

#include <rdma/ib_verbs.h>
#include "core/objects.h"

struct pib_key_table;
struct pib_pagers;
struct pib_quota;
struct pib_user;

/**
 * struct pib_pd - a protection domain
 * @ib: ib_core's
 *
 * Never changes:
 * @user: belongs to a process: the reserved L_Key means nothing in it
 * @owner: owner of the PD and of all that is made in it: see pib_quota_take()
 * @quota: of the HCA
 * @keys: of the HCA
 * @pagers: of the HCA
 * @objects: of the HCA
 * @obj: in @objects
 */
struct pib_pd {
	struct ib_pd ib;
	bool user;
	struct pib_user *owner;
	struct pib_quota *quota;
	struct pib_key_table *keys;
	struct pib_pagers *pagers;
	struct pib_objects *objects;
	struct pib_object obj;
};

static inline struct pib_pd *to_pd(struct ib_pd *ib)
{
	return container_of(ib, struct pib_pd, ib);
}

/**
 * pib_pd_kernel() - name the maker of what is made in a PD, for pib_object_add()
 * @pd: protection domain
 *
 * Context: any.
 * Return: name of the kernel's part; NULL: the calling process.
 */
static inline const char *pib_pd_kernel(const struct pib_pd *pd)
{
	return pd->user ? NULL : pd->obj.owner;
}

#endif
