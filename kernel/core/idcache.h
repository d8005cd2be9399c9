/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A few entries of an xarray by heart. Numbers of QPs and keys are spread over 24
 * bits, so that a lookup goes through four levels, for every packet; the first
 * objects in use get a slot each, which is looked at first.
 */
#ifndef PIB_IDCACHE_H
#define PIB_IDCACHE_H

#include <linux/rcupdate.h>
#include <linux/xarray.h>

#define PIB_IDCACHE_SLOTS	256

/**
 * struct pib_idcache - slots by the low bits of the index
 * @slot: an object of the xarray, which may be one of another index; NULL: free. Written under
 *	the lock of the xarray
 */
struct pib_idcache {
	void __rcu *slot[PIB_IDCACHE_SLOTS];
};

/* What may be the object with the index @id: the caller looks whether it is. Under rcu_read_lock(). */
static inline void *pib_idcache_guess(const struct pib_idcache *hot, u32 id)
{
	return rcu_dereference(hot->slot[id % PIB_IDCACHE_SLOTS]);
}

/* xa_load(), remembered where the slot is free. Under rcu_read_lock(), not in hard interrupts. */
void *pib_idcache_load(struct pib_idcache *hot, struct xarray *xa, u32 id);
/*
 * @obj was just taken out of the xarray. A grace period must pass before it is
 * freed. Process context.
 */
void pib_idcache_drop(struct pib_idcache *hot, struct xarray *xa, u32 id, void *obj);

#endif
