// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/random.h>
#include "memory/key.h"

#define KEY_INDEX_MAX	0xFFFFFF

void pib_key_table_init(struct pib_key_table *t)
{
	xa_init_flags(&t->keys, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
}

void pib_key_table_exit(struct pib_key_table *t)
{
	xa_destroy(&t->keys);
}

int pib_key_reserve(struct pib_key_table *t, struct pib_key *k)
{
	/*
	 * The index is random, so a peer with one key cannot tell the next one, and a key kept from
	 * before a restart does not fit (10.6.3.3). The low byte is the place in the cache: it
	 * counts up, so that the first keys do not meet there.
	 */
	u32 index, next = (get_random_u32() >> 8 & ~0xFFu) | (atomic_inc_return(&t->next) & 0xFF);
	int err;

	err = xa_alloc_cyclic(&t->keys, &index, NULL, XA_LIMIT(1, KEY_INDEX_MAX), &next,
			      GFP_KERNEL);
	if (err < 0)
		return err;
	k->entry.id = index;
	k->key = index << 8 | get_random_u8();
	return 0;
}

void pib_key_publish(struct pib_key_table *t, struct pib_key *k)
{
	/* the slot exists, nothing is allocated */
	xa_store(&t->keys, k->key >> 8, k, GFP_KERNEL);
}

void pib_key_hide(struct pib_key_table *t, struct pib_key *k)
{
	/* in an allocating array NULL keeps the index taken */
	xa_store(&t->keys, k->key >> 8, NULL, GFP_KERNEL);
	pib_idcache_drop(&t->cache, &t->keys, k->key >> 8, k);
}

void pib_key_release(struct pib_key_table *t, struct pib_key *k)
{
	xa_erase(&t->keys, k->key >> 8);
	pib_idcache_drop(&t->cache, &t->keys, k->key >> 8, k);
}
