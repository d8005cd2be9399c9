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
	return pib_quota_take(pd->quota, pd->owner, PIB_OBJ_PD);
}

int pib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct pib_pd *pd = to_pd(ibpd);

	pib_quota_give(pd->quota, pd->owner, PIB_OBJ_PD);
	return 0;
}

int pib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return pib_udata_check(udata, 0);
}

int pib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}
