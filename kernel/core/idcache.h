/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A direct-mapped cache in front of an xarray. Numbers of QPs and keys are spread over 24 bits, so
 * a lookup in the xarray goes through four levels, for every packet. The cache answers for the
 * objects that took its slots first.
 */
#ifndef PIB_CORE_IDCACHE_H
#define PIB_CORE_IDCACHE_H

#include <linux/rcupdate.h>
#include <linux/xarray.h>

#define PIB_IDCACHE_SLOTS	256

/**
 * struct pib_idcache_entry - first member of the objects
 * @id: index in the xarray; never changes while the object is there
 */
struct pib_idcache_entry {
	u32 id;
};

/**
 * struct pib_idcache - slots by the low bits of the index
 * @slot: an object of the xarray, perhaps one of another index; NULL: free. Written under
 *	the lock of the xarray
 */
struct pib_idcache {
	void __rcu *slot[PIB_IDCACHE_SLOTS];
};

/*
 * pib_idcache_load() - like xa_load(); caches the result if its slot is empty
 *
 * Context: under rcu_read_lock(), not in hard interrupts.
 * Return: the object; NULL: there is none.
 */
void *pib_idcache_load(struct pib_idcache *cache, struct xarray *xa, u32 id);
/*
 * pib_idcache_find() - as pib_idcache_load(), by the slot if it has the object
 *
 * Context, Return: as there.
 */
static inline void *pib_idcache_find(struct pib_idcache *cache, struct xarray *xa, u32 id)
{
	struct pib_idcache_entry *e = rcu_dereference(cache->slot[id % PIB_IDCACHE_SLOTS]);

	return e && e->id == id ? e : pib_idcache_load(cache, xa, id);
}

/*
 * pib_idcache_drop() - forget @obj, which was just taken out of the xarray
 *
 * A grace period must pass before the caller frees the object.
 * Context: process.
 */
void pib_idcache_drop(struct pib_idcache *cache, struct xarray *xa, u32 id, void *obj);

#endif
