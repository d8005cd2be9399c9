// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "hca/hca.h"
#include "hca/pd.h"
#include "core/mmap.h"

int pib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct pib_hca *hca = to_hca(ibpd->device);
	struct pib_pd *pd = to_pd(ibpd);
	int err;

	err = pib_udata_check(udata, 0);
	if (err)
		return err;
	pd->user = !!udata;
	pd->owner = pib_quota_owner(udata);
	pd->quota = &hca->quota;
	pd->keys = &hca->keys;
	pd->pagers = &hca->pagers;
	pd->objects = &hca->objects;
	err = pib_quota_take(pd->quota, pd->owner, PIB_OBJ_PD);
	if (err)
		return err;
	pib_object_add(pd->objects, &pd->obj, PIB_OBJECT_KIND_PD, pib_udata_context(udata),
		       pib_udata_kernel(udata, &ibpd->res));
	return 0;
}

int pib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct pib_pd *pd = to_pd(ibpd);

	pib_object_del(pd->objects, &pd->obj);
	pib_quota_give(pd->quota, pd->owner, PIB_OBJ_PD);
	return 0;
}

int pib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct pib_hca *hca = to_hca(ibxrcd->device);
	struct pib_xrcd *xrcd = to_xrcd(ibxrcd);
	int err;

	err = pib_udata_check(udata, 0);
	if (err)
		return err;
	xrcd->owner = pib_quota_owner(udata);
	err = pib_quota_take(&hca->quota, xrcd->owner, PIB_OBJ_XRCD);
	if (err)
		return err;
	pib_object_add(&hca->objects, &xrcd->obj, PIB_OBJECT_KIND_XRCD, pib_udata_context(udata),
		       udata ? NULL : "kernel");
	return 0;
}

int pib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct pib_hca *hca = to_hca(ibxrcd->device);
	struct pib_xrcd *xrcd = to_xrcd(ibxrcd);

	pib_object_del(&hca->objects, &xrcd->obj);
	pib_quota_give(&hca->quota, xrcd->owner, PIB_OBJ_XRCD);
	return 0;
}
