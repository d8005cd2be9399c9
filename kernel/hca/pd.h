/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains and XRC domains, as ib_core makes them. */
#ifndef PIB_HCA_PD_H
#define PIB_HCA_PD_H

#include "memory/pd.h"

/**
 * struct pib_xrcd - an XRC domain
 * @ib: ib_core's
 * @owner: see pib_quota_take()
 * @obj: in pib_hca.objects
 */
struct pib_xrcd {
	struct ib_xrcd ib;
	struct pib_user *owner;
	struct pib_object obj;
};

static inline struct pib_xrcd *to_xrcd(struct ib_xrcd *ib)
{
	return container_of(ib, struct pib_xrcd, ib);
}

/* ib_device_ops. Context: process. Return: 0 or -errno. */
int pib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int pib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int pib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int pib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif
