// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Node GUIDs. */
#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "guid.h"

#define GUID_INDICES 256

/**
 * struct guid_range - the GUIDs of one MAC address
 * @entry: in guid_ranges
 * @mac: 48 bits
 * @used: bit n: index n is taken. 0 is never given away: switches count down
 *	from the top, HCAs up from 1
 */
struct guid_range {
	struct list_head entry;
	u64 mac;
	DECLARE_BITMAP(used, GUID_INDICES);
};

static DEFINE_MUTEX(guid_lock);
static LIST_HEAD(guid_ranges);

static struct guid_range *range_find(u64 mac)
{
	struct guid_range *r;

	lockdep_assert_held(&guid_lock);
	list_for_each_entry(r, &guid_ranges, entry)
		if (r->mac == mac)
			return r;
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return NULL;
	r->mac = mac;
	__set_bit(0, r->used);
	list_add(&r->entry, &guid_ranges);
	return r;
}

static unsigned int range_free_index(const struct guid_range *r, bool is_switch)
{
	unsigned int i;

	if (!is_switch)
		return find_first_zero_bit(r->used, GUID_INDICES);
	for (i = GUID_INDICES - 1; i; i--)
		if (!test_bit(i, r->used))
			return i;
	return GUID_INDICES;
}

u64 pib_guid_get(u64 mac, bool is_switch)
{
	struct guid_range *r;
	unsigned int i;
	u64 guid = 0;

	mutex_lock(&guid_lock);
	r = range_find(mac);
	if (r) {
		i = range_free_index(r, is_switch);
		if (i < GUID_INDICES) {
			__set_bit(i, r->used);
			guid = mac << 16 | i << 8;
		}
	}
	mutex_unlock(&guid_lock);
	return guid;
}

bool pib_guid_claim(u64 guid)
{
	struct guid_range *r;
	bool ok = false;

	mutex_lock(&guid_lock);
	r = range_find(guid >> 16);
	if (r)
		ok = !__test_and_set_bit(guid >> 8 & 0xFF, r->used);
	mutex_unlock(&guid_lock);
	return ok;
}

void pib_guid_put(u64 guid)
{
	struct guid_range *r;

	mutex_lock(&guid_lock);
	r = range_find(guid >> 16);
	if (r) {
		__clear_bit(guid >> 8 & 0xFF, r->used);
		if (bitmap_weight(r->used, GUID_INDICES) <= 1) {
			list_del(&r->entry);
			kfree(r);
		}
	}
	mutex_unlock(&guid_lock);
}
