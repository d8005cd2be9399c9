// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bursts: their memory and their payload. */
#include <linux/err.h>
#include <linux/mempool.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include "packet/burst.h"
#include "proto/segment.h"

/*
 * Room for copies of whole bursts is kept ready. Pieces of memory that large soon cannot be had
 * without sleeping, and that lasts for long. A burst that could not be copied would be lost again
 * each time it is sent.
 */
#define RESERVE	16

#define POOL_MAX 64

/**
 * struct burst_pool - bursts that a CPU has freed and will use again
 * @n: entries in @b
 * @b: the last one freed is the first to be taken
 */
struct burst_pool {
	u32 n;
	struct pib_burst *b[POOL_MAX];
};

static DEFINE_PER_CPU(struct burst_pool, pib_burst_pools);
static struct kmem_cache *pib_burst_cache;
static mempool_t *pib_burst_reserve;

/*
 * With softirqs off nobody else on this CPU uses the CPU's pool. With KASAN no pool is used, so
 * that it sees each burst freed.
 *
 * Return: the pool; NULL: softirqs are on, or no pools are used.
 */
static struct burst_pool *pool_enter(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || IS_ENABLED(CONFIG_KASAN))
		return NULL;
	if (!in_softirq() || in_hardirq())
		return NULL;
	return this_cpu_ptr(&pib_burst_pools);
}

static struct pib_burst *burst_new(void)
{
	struct burst_pool *pool = pool_enter();

	if (pool && pool->n)
		return pool->b[--pool->n];
	return kmem_cache_alloc(pib_burst_cache, GFP_ATOMIC | __GFP_NOWARN);
}

static void burst_delete(struct pib_burst *b)
{
	struct burst_pool *pool = pool_enter();

	if (pool && pool->n < POOL_MAX)
		pool->b[pool->n++] = b;
	else
		kmem_cache_free(pib_burst_cache, b);
}

/* Free the bursts in the pools. Nobody has a burst or makes one any more. */
static void drain_pools(void)
{
	struct burst_pool *pool;
	int cpu;

	for_each_possible_cpu(cpu) {
		pool = per_cpu_ptr(&pib_burst_pools, cpu);
		while (pool->n)
			kmem_cache_free(pib_burst_cache, pool->b[--pool->n]);
	}
}

int pib_burst_cache_init(void)
{
	pib_burst_cache = KMEM_CACHE(pib_burst, SLAB_HWCACHE_ALIGN);
	if (!pib_burst_cache)
		return -ENOMEM;

	pib_burst_reserve = mempool_create_kmalloc_pool(RESERVE, PIB_BURST_MAX);
	if (!pib_burst_reserve) {
		kmem_cache_destroy(pib_burst_cache);
		return -ENOMEM;
	}
	return 0;
}

void pib_burst_cache_exit(void)
{
	drain_pools();
	mempool_destroy(pib_burst_reserve);
	kmem_cache_destroy(pib_burst_cache);
}

struct pib_burst *pib_burst_alloc_headless(void)
{
	struct pib_burst *b = burst_new();

	if (!b)
		return NULL;

	refcount_set(&b->ref, 1);
	b->npkts = 1;
	b->len = 0;
	b->pmtu = PIB_MTU_MAX;
	b->wire_bytes = 0;
	b->payload = PIB_PAYLOAD_NONE;
	b->nspans = 0;
	b->icrc_ok = true;
	b->via_udp = false;
	b->hops = 0;
	b->tries = 0;
	b->cable = 0;
	b->charge = 0;
	b->rules_asked = false;
	b->traced = false;
	b->queued = false;
	b->copy = false;
	b->alone = false;
	b->last = false;
	b->csum_ok = false;
	b->head_len = 0;
	b->heads = NULL;
	b->owner_slot = 0;
	b->in_port = NULL;
	b->due = 0;
	b->window = NULL;
	b->owner = NULL;
	return b;
}

struct pib_burst *pib_burst_alloc(void)
{
	struct pib_burst *b = pib_burst_alloc_headless();

	if (b)
		memset(&b->h, 0, sizeof(b->h));
	return b;
}

struct pib_burst *pib_burst_make(const struct pib_hdrs *h, u32 npkts, u32 len, u32 pmtu)
{
	struct pib_burst *b = pib_burst_alloc_headless();

	if (!b)
		return NULL;
	b->h = *h;
	b->npkts = npkts;
	b->len = len;
	b->pmtu = pmtu;
	return b;
}

/* Give @c the payload of @b from @off on. */
static void share_payload(struct pib_burst *c, struct pib_burst *b, u32 off)
{
	struct pib_burst *root = b;

	if (b->payload == PIB_PAYLOAD_CLONE) {
		root = b->parent;
		off += b->parent_off;
	}
	if (!root->heads && root->payload == PIB_PAYLOAD_NONE)
		return;
	if (!root->heads && root->payload == PIB_PAYLOAD_SMALL) {
		c->payload = PIB_PAYLOAD_SMALL;
		memcpy(c->small, root->small + off, c->len);
		return;
	}
	c->payload = PIB_PAYLOAD_CLONE;
	refcount_inc(&root->ref);
	c->parent = root;
	c->parent_off = off;
}

struct pib_burst *pib_burst_slice(struct pib_burst *b, u32 i, u32 n)
{
	struct pib_burst *c = pib_burst_alloc_headless();
	u32 off = i * b->pmtu;

	if (!c)
		return NULL;
	pib_hdrs_part(&b->h, b->npkts, i, n, &c->h);
	c->npkts = n;
	c->len = i + n < b->npkts ? n * b->pmtu : b->len - off;
	c->pmtu = b->pmtu;
	c->wire_bytes = n == b->npkts ? b->wire_bytes : 0;
	c->icrc_ok = b->icrc_ok;
	c->csum_ok = b->csum_ok;
	c->copy = b->copy;
	c->alone = b->alone;
	c->via_udp = b->via_udp;
	c->hops = b->hops;
	c->in_port = b->in_port;
	c->due = b->due;
	share_payload(c, b, off);
	return c;
}

struct pib_burst *pib_burst_clone(struct pib_burst *b)
{
	return pib_burst_slice(b, 0, b->npkts);
}

bool pib_burst_is_stable(const struct pib_burst *b)
{
	if (b->payload == PIB_PAYLOAD_CLONE)
		b = b->parent;
	return b->payload != PIB_PAYLOAD_SPANS;
}

bool pib_burst_is_wanted(const struct pib_burst *b)
{
	u32 i;

	if (b->payload == PIB_PAYLOAD_CLONE)
		b = b->parent;
	if (b->owner && (READ_ONCE(b->owner->flushes) || READ_ONCE(b->owner->waits)))
		return true;
	if (b->payload != PIB_PAYLOAD_SPANS)
		return false;
	for (i = 0; i < b->nspans; i++) {
		if (pib_span_is_wanted(&b->spans[i]))
			return true;
	}
	return false;
}

void *pib_burst_own(struct pib_burst *b, u32 len)
{
	if (len <= PIB_BURST_SMALL) {
		b->payload = PIB_PAYLOAD_SMALL;
		return b->small;
	}
	b->linear = kmalloc(len, GFP_ATOMIC | __GFP_NOWARN);
	if (b->linear) {
		b->payload = PIB_PAYLOAD_LINEAR;
		return b->linear;
	}
	/* The reserve is for bursts that would be lost again each time they are sent. */
	if (b->h.tp == PIB_TP_UD || len > PIB_BURST_MAX)
		return NULL;
	b->linear = mempool_alloc(pib_burst_reserve, GFP_ATOMIC);
	if (b->linear)
		b->payload = PIB_PAYLOAD_RESERVE;
	return b->linear;
}

bool pib_burst_refer(struct pib_burst *b, u32 n)
{
	struct pib_span *spans = b->own_spans;

	if (n > PIB_BURST_SPANS)
		spans = kmalloc_array(n, sizeof(*spans), GFP_ATOMIC | __GFP_NOWARN);
	if (!spans)
		return false;
	b->payload = PIB_PAYLOAD_SPANS;
	b->spans = spans;
	return true;
}

void pib_burst_unrefer(struct pib_burst *b)
{
	while (b->nspans)
		pib_mem_put(&b->spans[--b->nspans]);
	if (b->spans != b->own_spans)
		kfree(b->spans);
	b->payload = PIB_PAYLOAD_NONE;
}

static void release_payload(struct pib_burst *b)
{
	kfree(b->heads);
	switch (b->payload) {
	case PIB_PAYLOAD_LINEAR:
		kfree(b->linear);
		break;
	case PIB_PAYLOAD_RESERVE:
		mempool_free(b->linear, pib_burst_reserve);
		break;
	case PIB_PAYLOAD_SPANS:
		pib_burst_unrefer(b);
		break;
	case PIB_PAYLOAD_SKB:
		kfree_skb(b->skb);
		break;
	}
}

/*
 * Let go of all but the burst itself.
 *
 * Return: the burst that @b was a clone of, with the clone's reference; NULL: it was no clone.
 */
static struct pib_burst *burst_let_go(struct pib_burst *b)
{
	struct pib_burst *parent = b->payload == PIB_PAYLOAD_CLONE ? b->parent : NULL;

	release_payload(b);
	if (b->owner)
		b->owner->done(b->owner, b->owner_slot);
	return parent;
}

void pib_burst_free(struct pib_burst *b)
{
	struct pib_burst *parent;

	while (b && refcount_dec_and_test(&b->ref)) {
		parent = burst_let_go(b);
		burst_delete(b);
		b = parent;
	}
}

static bool payload_is_own(const struct pib_burst *b)
{
	return b->payload == PIB_PAYLOAD_NONE || b->payload == PIB_PAYLOAD_SMALL ||
	       b->payload == PIB_PAYLOAD_LINEAR;
}

bool pib_burst_detach(struct pib_burst *b)
{
	void *copy;

	if (payload_is_own(b))
		return true;
	if (refcount_read(&b->ref) > 1)
		return false;
	copy = kmalloc(b->len, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy || pib_burst_read(b, 0, copy, b->len)) {
		kfree(copy);
		return false;
	}

	pib_burst_free(burst_let_go(b));
	b->payload = PIB_PAYLOAD_LINEAR;
	b->linear = copy;
	b->heads = NULL;
	b->head_len = 0;
	b->nspans = 0;
	b->owner = NULL;
	return true;
}

void pib_burst_shrink(struct pib_burst *b)
{
	if (b->payload == PIB_PAYLOAD_SKB && b->len < b->skb->truesize / 2)
		pib_burst_detach(b);
}

static const void *segs_chunk(struct pib_burst *b, u32 off, u32 *len)
{
	u32 i;

	for (i = 0; i < b->nspans; i++) {
		if (off < b->spans[i].len) {
			*len = min(*len, b->spans[i].len - off);
			return pib_span_map(&b->spans[i], off, len);
		}
		off -= b->spans[i].len;
	}
	return NULL;
}

/* Return: the address of byte @off of a fragment; NULL: the fragment is not mapped. */
static const void *frag_byte(const skb_frag_t *frag, u32 off)
{
	const u8 *start = skb_frag_address_safe(frag);

	return start ? start + off : NULL;
}

/* Linear part, page fragments, then the list of further skbs that GRO makes. */
const void *pib_skb_chunk(const struct sk_buff *skb, u32 off, u32 *len)
{
	const struct skb_shared_info *si = skb_shinfo(skb);
	u32 i, n = skb_headlen(skb);
	const struct sk_buff *more;

	if (off < n) {
		*len = min(*len, n - off);
		return skb->data + off;
	}
	off -= n;
	for (i = 0; i < si->nr_frags; i++) {
		n = skb_frag_size(&si->frags[i]);
		if (off < n) {
			*len = min(*len, n - off);
			return frag_byte(&si->frags[i], off);
		}
		off -= n;
	}
	skb_walk_frags(skb, more) {
		if (off < more->len)
			return pib_skb_chunk(more, off, len);
		off -= more->len;
	}
	return NULL;
}

/* Place in the skb of the payload byte @off; @len is cut at the end of its packet or segment. */
static u32 skb_pos(const struct pib_burst *b, u32 off, u32 *len)
{
	const struct pib_skb_map *m = &b->map;
	u32 i = off / b->pmtu, pos = off % b->pmtu;

	*len = min(*len, b->pmtu - pos);
	if (!i)
		pos += m->first;
	else if (i + 1 == b->npkts)
		pos += m->last;
	else
		pos += m->next + (i - 1) * m->stride;
	if (!m->seg)
		return pos;

	*len = min(*len, m->seg - pos % m->seg);
	return pos + (pos / m->seg + 1) * PIB_SEG_HDR_LEN;
}

/* As pib_burst_chunk(), of payload without @heads. Inlined: it runs for each piece of a packet. */
static __always_inline const void *payload_chunk(struct pib_burst *b, u32 off, u32 *len)
{
	switch (b->payload) {
	case PIB_PAYLOAD_SMALL:
		return b->small + off;
	case PIB_PAYLOAD_LINEAR:
	case PIB_PAYLOAD_RESERVE:
		return b->linear + off;
	case PIB_PAYLOAD_SPANS:
		return segs_chunk(b, off, len);
	case PIB_PAYLOAD_SKB:
		return pib_skb_chunk(b->skb, skb_pos(b, off, len), len);
	default:
		return NULL;
	}
}

/* As payload_chunk(), where each packet begins with its part of @heads. */
static noinline const void *headed_chunk(struct pib_burst *b, u32 off, u32 *len)
{
	u32 i = off / b->pmtu, pos = off % b->pmtu;

	if (pos < b->head_len) {
		*len = min(*len, b->head_len - pos);
		return b->heads + i * b->head_len + pos;
	}
	*len = min(*len, b->pmtu - pos);
	return payload_chunk(b, off - (i + 1) * b->head_len, len);
}

const void *pib_burst_chunk(struct pib_burst *b, u32 off, u32 *len)
{
	if (off >= b->len)
		return NULL;
	*len = min(*len, b->len - off);

	if (b->payload == PIB_PAYLOAD_CLONE) {
		off += b->parent_off;
		b = b->parent;
	}
	return b->heads ? headed_chunk(b, off, len) : payload_chunk(b, off, len);
}

/* As pib_burst_chunk(), for one who goes through the payload: @run is for payload in an skb. */
static const void *run_chunk(struct pib_burst *b, struct pib_skb_run *run, u32 off, u32 *len)
{
	u32 pos;

	if (b->payload != PIB_PAYLOAD_SKB || b->heads)
		return pib_burst_chunk(b, off, len);
	if (off >= b->len)
		return NULL;
	*len = min(*len, b->len - off);
	pos = skb_pos(b, off, len);
	return pib_skb_run_chunk(run, b->skb, pos, len);
}

int pib_burst_read(struct pib_burst *b, u32 off, void *dst, u32 len)
{
	struct pib_skb_run run = {};
	const void *src;
	u32 n;

	while (len) {
		n = len;
		src = run_chunk(b, &run, off, &n);
		if (!src || !n)
			return -EFAULT;
		memcpy(dst, src, n);
		dst += n;
		off += n;
		len -= n;
	}
	return 0;
}

int pib_burst_place(struct pib_burst *b, u32 off, const struct pib_span *span, u32 len)
{
	struct pib_odp_chunk *held;
	u32 to, n;
	void *dst;
	int err;

	for (to = 0; to < len; to += n) {
		n = len - to;
		dst = pib_span_enter(span, to, &n, true, &held);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		err = pib_burst_read(b, off + to, dst, n);
		pib_span_leave(held);
		if (err)
			return err;
	}
	return 0;
}

/* First, middle and last packets differ in size. */
u32 pib_burst_sum_bytes(const struct pib_burst *b)
{
	struct pib_hdrs h;
	u32 bytes, last;

	if (b->npkts == 1)
		return pib_opcode_wire_len(&b->h, b->len);

	last = b->len - (b->npkts - 1) * b->pmtu;
	pib_hdrs_packet(&b->h, b->npkts, 0, &h);
	bytes = pib_opcode_wire_len(&h, b->pmtu);
	pib_hdrs_packet(&b->h, b->npkts, b->npkts - 1, &h);
	bytes += pib_opcode_wire_len(&h, last);
	if (b->npkts > 2) {
		pib_hdrs_packet(&b->h, b->npkts, 1, &h);
		bytes += (b->npkts - 2) * pib_opcode_wire_len(&h, b->pmtu);
	}
	return bytes;
}
