// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "hot.h"

static void *cas(struct pib_hot *hot, u32 id, void *old, void *new)
{
	return cmpxchg((void __force **)&hot->slot[id % PIB_HOT_SLOTS], old, new);
}

/*
 * Against pib_hot_drop(): either it finds the object in its slot, or the second look
 * at the xarray no longer finds it there.
 */
void *pib_hot_load(struct pib_hot *hot, struct xarray *xa, u32 id)
{
	void *obj = xa_load(xa, id);

	if (obj && !cas(hot, id, NULL, obj) && xa_load(xa, id) != obj)
		cas(hot, id, obj, NULL);
	return obj;
}

void pib_hot_drop(struct pib_hot *hot, u32 id, void *obj)
{
	cas(hot, id, obj, NULL);
}
