/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The keys of an HCA: an L_Key or an R_Key leads to a region or a window (10.6.3.3). */
#ifndef PIB_MEMORY_KEY_H
#define PIB_MEMORY_KEY_H

#include <linux/atomic.h>
#include <linux/xarray.h>
#include "core/idcache.h"

struct pib_pd;

enum pib_key_kind {
	PIB_KEY_MR,
	PIB_KEY_MW,
};

/**
 * struct pib_key - an entry in a table of keys: the head of a region or window
 * @kind: enum pib_key_kind
 * @key: index << 8 | consumer part; the L_Key and the R_Key (10.6.3.3)
 * @pd: protection domain
 */
struct pib_key {
	u8 kind;
	u32 key;
	struct pib_pd *pd;
};

/**
 * struct pib_key_table - the keys of an HCA
 * @keys: index -> struct pib_key; RCU lookup
 * @cache: some of @keys
 * @next: its low byte is that of the next index
 */
struct pib_key_table {
	struct xarray keys;
	struct pib_idcache cache;
	atomic_t next;
};

/* Make an empty table of @t, which is filled with zeroes. Process context. */
void pib_key_table_init(struct pib_key_table *t);
/* Free the table, in which no key is left. Process context. */
void pib_key_table_exit(struct pib_key_table *t);

/*
 * Reserve an index for @k and set its key. The object is not found before pib_key_publish().
 *
 * Context: process; may sleep.
 * Return: 0 or -errno.
 */
int pib_key_reserve(struct pib_key_table *t, struct pib_key *k);
/* Have the object found by its key from now on. Context: process. */
void pib_key_publish(struct pib_key_table *t, struct pib_key *k);
/* Have it found no more; its index stays reserved until pib_key_release(). Context: process. */
void pib_key_hide(struct pib_key_table *t, struct pib_key *k);
/* Give the index back, for other objects. Context: process. */
void pib_key_release(struct pib_key_table *t, struct pib_key *k);

/*
 * The object that has the index of @key; the caller checks the rest of the key.
 *
 * Context: under rcu_read_lock(), not in hard interrupts.
 * Return: the object; NULL: none has that index.
 */
static inline struct pib_key *pib_key_find(struct pib_key_table *t, u32 key)
{
	struct pib_key *k = pib_idcache_guess(&t->cache, key >> 8);

	if (k && !((k->key ^ key) >> 8))
		return k;
	return pib_idcache_load(&t->cache, &t->keys, key >> 8);
}

#endif
