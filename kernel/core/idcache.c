// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Slots are written under the lock of the xarray. So an object is put into its slot
 * while it is in the xarray, and pib_idcache_drop(), which comes after its removal, finds it
 * there. A later reader of the slot gets nothing. A reader that has the object read the slot
 * before, within a section that the object's grace period waits for.
 */
#include "core/idcache.h"

void *pib_idcache_load(struct pib_idcache *cache, struct xarray *xa, u32 id)
{
	void __rcu **slot = &cache->slot[id % PIB_IDCACHE_SLOTS];
	void *obj = xa_load(xa, id);

	if (!obj || rcu_access_pointer(*slot))
		return obj;
	/* A softirq may have interrupted the holder of the lock: the slot is filled later. */
	if (!xa_trylock(xa))
		return obj;
	if (!rcu_access_pointer(*slot) && xa_load(xa, id) == obj)
		rcu_assign_pointer(*slot, obj);
	xa_unlock(xa);
	return obj;
}

void pib_idcache_drop(struct pib_idcache *cache, struct xarray *xa, u32 id, void *obj)
{
	void __rcu **slot = &cache->slot[id % PIB_IDCACHE_SLOTS];

	xa_lock(xa);
	if (rcu_access_pointer(*slot) == obj)
		RCU_INIT_POINTER(*slot, NULL);
	xa_unlock(xa);
}
