// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Node and port GUIDs: blocks of numbers that belong to a node of this kernel. */
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include "core/guid.h"

/* GUIDs of a node that has not been told its own: its number, and one for each port. */
#define GUID_BLOCK 256
#define GUID_INDICES 256

/**
 * struct guid_block - GUIDs that are taken
 * @node: in guid_blocks, by @first; blocks do not overlap
 * @first: first GUID
 * @last: last GUID
 */
struct guid_block {
	struct rb_node node;
	u64 first;
	u64 last;
};

static DEFINE_MUTEX(guid_lock);
static struct rb_root guid_blocks = RB_ROOT;

/* Return: false: some of the block is taken. */
static bool block_insert(struct guid_block *b)
{
	struct rb_node **link = &guid_blocks.rb_node, *parent = NULL;

	lockdep_assert_held(&guid_lock);
	while (*link) {
		const struct guid_block *other = rb_entry(*link, struct guid_block, node);

		parent = *link;
		if (b->last < other->first)
			link = &parent->rb_left;
		else if (b->first > other->last)
			link = &parent->rb_right;
		else
			return false;
	}
	rb_link_node(&b->node, parent, link);
	rb_insert_color(&b->node, &guid_blocks);
	return true;
}

static bool block_take(struct guid_block *b, u64 mac, unsigned int index)
{
	b->first = mac << 16 | index << 8;
	b->last = b->first + GUID_BLOCK - 1;
	return block_insert(b);
}

/* Index 0 is never given away: switches count down from the top, HCAs up from 1. */
static bool block_choose(struct guid_block *b, u64 mac, bool is_switch)
{
	unsigned int i;

	for (i = 1; i < GUID_INDICES; i++)
		if (block_take(b, mac, is_switch ? GUID_INDICES - i : i))
			return true;
	return false;
}

u64 pib_guid_get(u64 mac, bool is_switch)
{
	struct guid_block *b = kzalloc(sizeof(*b), GFP_KERNEL);
	bool ok;

	if (!b)
		return 0;
	mutex_lock(&guid_lock);
	ok = block_choose(b, mac, is_switch);
	mutex_unlock(&guid_lock);
	if (ok)
		return b->first;
	kfree(b);
	return 0;
}

u64 pib_guid_get_random(void)
{
	/* neither a multicast nor a universal address */
	return pib_guid_get((get_random_u64() >> 16) & ~(0x03ULL << 40), true);
}

int pib_guid_claim(u64 guid)
{
	struct guid_block *b = kzalloc(sizeof(*b), GFP_KERNEL);
	bool ok;

	if (!b)
		return -ENOMEM;
	b->first = guid;
	b->last = guid;
	mutex_lock(&guid_lock);
	ok = block_insert(b);
	mutex_unlock(&guid_lock);
	if (ok)
		return 0;
	kfree(b);
	return -EEXIST;
}

static struct guid_block *block_find(u64 first)
{
	struct rb_node *n = guid_blocks.rb_node;

	lockdep_assert_held(&guid_lock);
	while (n) {
		struct guid_block *b = rb_entry(n, struct guid_block, node);

		if (first == b->first)
			return b;
		n = first < b->first ? n->rb_left : n->rb_right;
	}
	return NULL;
}

void pib_guid_put(u64 guid)
{
	struct guid_block *b;

	mutex_lock(&guid_lock);
	b = block_find(guid);
	if (b)
		rb_erase(&b->node, &guid_blocks);
	mutex_unlock(&guid_lock);
	kfree(b);
}
