/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains and XRC domains. */
#ifndef PIB_PD_H
#define PIB_PD_H

#include <rdma/ib_verbs.h>

struct pib_user;

/**
 * struct pib_pd - a protection domain
 * @ib: ib_core's
 * @user: belongs to a process: the reserved L_Key means nothing in it
 * @owner: whose it is, and all that is made in it: see pib_quota_take(); never changes
 */
struct pib_pd {
	struct ib_pd ib;
	bool user;
	struct pib_user *owner;
};

static inline struct pib_pd *to_pd(struct ib_pd *ib)
{
	return container_of(ib, struct pib_pd, ib);
}

/**
 * struct pib_xrcd - an XRC domain
 * @ib: ib_core's
 */
struct pib_xrcd {
	struct ib_xrcd ib;
};

int pib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int pib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int pib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int pib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif
