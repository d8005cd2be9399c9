// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "pd.h"
#include "ucontext.h"

int pib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	to_pd(ibpd)->user = !!udata;
	return pib_udata_check(udata, 0);
}

int pib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
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
