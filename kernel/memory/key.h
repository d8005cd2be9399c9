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
 * @entry: index in the table; must stay first
 * @kind: enum pib_key_kind
 * @key: index << 8 | consumer part; the L_Key and the R_Key (10.6.3.3)
 * @pd: protection domain
 */
struct pib_key {
	struct pib_idcache_entry entry;
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

/**
 * pib_key_table_init() - make an empty table
 * @t: table, filled with zeroes
 *
 * Context: process.
 */
void pib_key_table_init(struct pib_key_table *t);
/**
 * pib_key_table_exit() - free a table
 * @t: table, in which no key is left
 *
 * Context: process.
 */
void pib_key_table_exit(struct pib_key_table *t);

/**
 * pib_key_reserve() - reserve an index for an object, and set its key
 * @t: table of keys
 * @k: head of the object
 *
 * The object is not found before pib_key_publish().
 *
 * Context: process; may sleep.
 * Return: 0 or -errno.
 */
int pib_key_reserve(struct pib_key_table *t, struct pib_key *k);
/**
 * pib_key_publish() - have an object found by its key from now on
 * @t: table of keys
 * @k: head of the object
 *
 * Context: process.
 */
void pib_key_publish(struct pib_key_table *t, struct pib_key *k);
/**
 * pib_key_hide() - have an object found no more
 * @t: table of keys
 * @k: head of the object
 *
 * Its index stays reserved until pib_key_release().
 *
 * Context: process.
 */
void pib_key_hide(struct pib_key_table *t, struct pib_key *k);
/**
 * pib_key_release() - give the index of an object back
 * @t: table of keys
 * @k: head of the object
 *
 * Context: process.
 */
void pib_key_release(struct pib_key_table *t, struct pib_key *k);

/**
 * pib_key_find() - find the object that has the index of a key
 * @t: table of keys
 * @key: the key, of which the caller checks the rest
 *
 * Context: under rcu_read_lock(), not in hard interrupts.
 * Return: the object; NULL: none has that index.
 */
static inline struct pib_key *pib_key_find(struct pib_key_table *t, u32 key)
{
	return pib_idcache_find(&t->cache, &t->keys, key >> 8);
}

#endif
