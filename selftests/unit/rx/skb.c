// SPDX-License-Identifier: GPL-2.0
/*
 * The small skb: memory, bytes in linear parts, page fragments and lists, and what stands in
 * for the cipher. Each piece of memory is of its own, so that ASan sees the first byte beyond it.
 */
#include <sanitizer/asan_interface.h>
#include "world.h"

/* Fills memory that nobody has written to yet. */
#define JUNK 0xA5

static int pages_live;
static int skbs_live;
static u32 until_failure;

/* ---- memory ---- */

void rx_fail(u32 n)
{
	until_failure = n;
}

/* Return: true if an allocation of the receive path is to fail. */
static bool alloc_fails(void)
{
	return until_failure && !--until_failure;
}

static struct page *pages_new(u32 size)
{
	struct page *page = malloc(sizeof(*page));

	page->refs = 1;
	page->data = malloc(size);
	memset(page->data, JUNK, size);
	pages_live++;
	return page;
}

struct page *alloc_page(gfp_t gfp)
{
	return alloc_fails() ? NULL : pages_new(PAGE_SIZE);
}

void __free_page(struct page *page)
{
	WARN_ON(page->refs < 1);
	if (--page->refs)
		return;
	free(page->data);
	free(page);
	pages_live--;
}

/* The page that stands in where nothing has come must not be read. */
struct page *zero_page(void)
{
	static u8 bytes[PAGE_SIZE];
	static struct page page = { .refs = 1, .data = bytes };

	ASAN_POISON_MEMORY_REGION(bytes, sizeof(bytes));
	return &page;
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	void *p;

	if (alloc_fails())
		return NULL;
	p = malloc(cache->size);
	memset(p, JUNK, cache->size);
	return p;
}

void kmem_cache_free(struct kmem_cache *cache, void *p)
{
	free(p);
}

struct kmem_cache *kmem_cache_create(size_t size)
{
	struct kmem_cache *cache = malloc(sizeof(*cache));

	cache->size = size;
	return cache;
}

/* ---- skbs: their life ---- */

static struct sk_buff *skb_new(u32 size)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));

	skb->refs = 1;
	skb->data = malloc(size);
	memset(skb->data, JUNK, size);
	skb->truesize = size;
	skbs_live++;
	return skb;
}

struct sk_buff *alloc_skb(u32 size, gfp_t gfp)
{
	return alloc_fails() ? NULL : skb_new(size);
}

/* In fragments that are no larger than they must be. */
struct sk_buff *alloc_skb_with_frags(unsigned long linear, unsigned long data, int order, int *err,
				     gfp_t gfp)
{
	u32 most = data > MAX_SKB_FRAGS * PAGE_SIZE ? PAGE_SIZE << order : PAGE_SIZE;
	struct sk_buff *skb = alloc_skb(linear, gfp);
	struct skb_shared_info *si;
	u32 n;

	if (!skb)
		return NULL;
	si = &skb->shinfo;
	for (; data; data -= n) {
		n = min(data, most);
		WARN_ON(si->nr_frags == MAX_SKB_FRAGS);
		si->frags[si->nr_frags++] = (skb_frag_t) { .page = pages_new(n), .size = n };
	}
	*err = 0;
	return skb;
}

struct sk_buff *skb_get(struct sk_buff *skb)
{
	WARN_ON(skb->refs < 1);
	skb->refs++;
	return skb;
}

void kfree_skb(struct sk_buff *skb)
{
	struct sk_buff *more, *next;
	int i;

	WARN_ON(skb->refs < 1);
	if (--skb->refs)
		return;
	for (i = 0; i < skb->shinfo.nr_frags; i++)
		__free_page(skb->shinfo.frags[i].page);
	for (more = skb->shinfo.frag_list; more; more = next) {
		next = more->next;
		kfree_skb(more);
	}
	free(skb->data);
	free(skb);
	skbs_live--;
}

int rx_live(void)
{
	return pages_live + skbs_live;
}

void skb_put(struct sk_buff *skb, u32 len)
{
	skb->len += len;
}

void skb_add_rx_frag(struct sk_buff *skb, int i, struct page *page, int off, int size,
		     unsigned int truesize)
{
	WARN_ON(i >= MAX_SKB_FRAGS || i != skb->shinfo.nr_frags);
	skb->shinfo.frags[i] = (skb_frag_t) { .page = page, .off = off, .size = size };
	skb->shinfo.nr_frags++;
	skb->len += size;
	skb->data_len += size;
	skb->truesize += truesize;
}

/* Of an skb without a list. */
int pskb_trim(struct sk_buff *skb, u32 len)
{
	struct skb_shared_info *si = &skb->shinfo;
	u32 at = skb_headlen(skb), n;
	int i, left = 0;

	WARN_ON(si->frag_list);
	if (len >= skb->len)
		return 0;
	for (i = 0; i < si->nr_frags; at += n, i++) {
		n = si->frags[i].size;
		if (at >= len) {
			__free_page(si->frags[i].page);
			continue;
		}
		si->frags[i].size = min(n, len - at);
		left++;
	}
	si->nr_frags = left;
	skb->data_len = len > skb_headlen(skb) ? len - skb_headlen(skb) : 0;
	skb->len = len;
	return 0;
}

/* ---- skbs: their bytes ---- */

/* Return: where the byte at @off lies; *@len is limited to those that lie there together. */
static u8 *skb_find(const struct sk_buff *skb, u32 off, u32 *len)
{
	const struct skb_shared_info *si = &skb->shinfo;
	struct sk_buff *more;
	int i;

	if (off < skb_headlen(skb)) {
		*len = min(*len, skb_headlen(skb) - off);
		return skb->data + off;
	}
	off -= skb_headlen(skb);
	for (i = 0; i < si->nr_frags; off -= si->frags[i].size, i++) {
		if (off >= si->frags[i].size)
			continue;
		*len = min(*len, si->frags[i].size - off);
		return skb_frag_address(&si->frags[i]) + off;
	}
	skb_walk_frags(skb, more) {
		if (off < more->len)
			return skb_find(more, off, len);
		off -= more->len;
	}
	abort();
}

static bool skb_has(const struct sk_buff *skb, int off, int len)
{
	return off >= 0 && len >= 0 && (u32)off <= skb->len && (u32)len <= skb->len - off;
}

int skb_copy_bits(const struct sk_buff *skb, int off, void *to, int len)
{
	const u8 *p;
	u32 n;

	if (!skb_has(skb, off, len))
		return -EFAULT;
	for (; len; off += n, to += n, len -= n) {
		n = len;
		p = skb_find(skb, off, &n);
		memcpy(to, p, n);
	}
	return 0;
}

int skb_store_bits(struct sk_buff *skb, int off, const void *from, int len)
{
	u32 n;
	u8 *p;

	if (!skb_has(skb, off, len))
		return -EFAULT;
	for (; len; off += n, from += n, len -= n) {
		n = len;
		p = skb_find(skb, off, &n);
		memcpy(p, from, n);
	}
	return 0;
}

void *skb_header_pointer(const struct sk_buff *skb, int off, int len, void *buf)
{
	if (off >= 0 && len >= 0 && (u32)off + len <= skb_headlen(skb))
		return skb->data + off;
	return skb_copy_bits(skb, off, buf, len) ? NULL : buf;
}

int skb_to_sgvec(struct sk_buff *skb, struct scatterlist *sg, int off, int len)
{
	u32 n;
	int i;

	if (!skb_has(skb, off, len))
		return -EMSGSIZE;
	for (i = 0; len; off += n, len -= n, i++) {
		n = len;
		sg[i].p = skb_find(skb, off, &n);
		sg[i].len = n;
	}
	return i;
}

/* ---- skbs: how they come ---- */

struct sk_buff *rx_skb(const u8 *bytes, u32 len)
{
	struct sk_buff *skb = skb_new(len);

	if (len)
		memcpy(skb->data, bytes, len);
	skb->len = len;
	return skb;
}

bool rx_skb_frag(struct sk_buff *skb, const u8 *bytes, u32 off, u32 len)
{
	struct page *page;

	if (skb->shinfo.nr_frags == MAX_SKB_FRAGS)
		return false;
	page = pages_new(off + len);
	memcpy(page->data + off, bytes, len);
	skb_add_rx_frag(skb, skb->shinfo.nr_frags, page, off, len, off + len);
	return true;
}

void rx_skb_list(struct sk_buff *skb, struct sk_buff *more)
{
	struct sk_buff **end = &skb->shinfo.frag_list;

	while (*end)
		end = &(*end)->next;
	*end = more;
	skb->len += more->len;
	skb->data_len += more->len;
	skb->truesize += more->truesize;
}

void rx_skb_wire(struct sk_buff *skb, const struct rx_wire *w)
{
	skb->shinfo.gso_size = w->gso_size;
	skb->shinfo.gso_segs = w->gso_size ? DIV_ROUND_UP(skb->len, w->gso_size) : 0;
	skb->shinfo.gso_type = w->gso_size ? w->gso_type : 0;
	skb->udp.check = w->checksum != RX_CHECKSUM_NONE;
	skb->bad_checksum = w->checksum == RX_CHECKSUM_BAD;
	skb->ip.tos = w->tos;
	skb->ip6.tclass = w->tos;
}

/* ---- what stands in for the cipher ---- */

static u64 cipher_mix(u64 x, u64 y)
{
	x = (x ^ y) * 0x9E3779B97F4A7C15ULL;
	return x ^ x >> 29;
}

static u64 cipher_start(const u8 *key, u64 nonce, const u8 *ad, size_t ad_len)
{
	u64 x = cipher_mix(ad_len, nonce);
	size_t i;

	for (i = 0; i < PIB_SEAL_KEY_LEN; i++)
		x = cipher_mix(x, key[i]);
	for (i = 0; i < ad_len; i++)
		x = cipher_mix(x, ad[i]);
	return x;
}

/* Turn plain bytes into others, or back, and take the encrypted ones into the tag. */
static u64 cipher_run(u8 *p, size_t len, u64 key, u64 tag, size_t *at, bool open)
{
	size_t i;

	for (i = 0; i < len; i++, ++*at) {
		if (open)
			tag = cipher_mix(tag, p[i]);
		p[i] ^= cipher_mix(key, *at / 8) >> *at % 8 * 8;
		if (!open)
			tag = cipher_mix(tag, p[i]);
	}
	return tag;
}

void chacha20poly1305_encrypt(u8 *dst, const u8 *src, size_t len, const u8 *ad, size_t ad_len,
			      u64 nonce, const u8 *key)
{
	u64 start = cipher_start(key, nonce, ad, ad_len), tag;
	size_t at = 0;

	memmove(dst, src, len);
	tag = cipher_run(dst, len, start, start, &at, false);
	memset(dst + len, 0, PIB_SEAL_TAG_LEN);
	memcpy(dst + len, &tag, sizeof(tag));
}

/* In the kernel as well, it opens what is not authentic, and says so. */
bool chacha20poly1305_decrypt_sg_inplace(struct scatterlist *sg, size_t len, const u8 *ad,
					 size_t ad_len, u64 nonce, const u8 *key)
{
	u64 start = cipher_start(key, nonce, ad, ad_len), tag = start;
	u8 got[PIB_SEAL_TAG_LEN], want[PIB_SEAL_TAG_LEN] = {};
	size_t left = len - PIB_SEAL_TAG_LEN, at = 0, n, tags = 0;

	for (; tags < sizeof(got); sg++) {
		n = min_t(size_t, left, sg->len);
		tag = cipher_run(sg->p, n, start, tag, &at, true);
		left -= n;
		memcpy(got + tags, sg->p + n, sg->len - n);
		tags += sg->len - n;
	}
	memcpy(want, &tag, sizeof(tag));
	return !memcmp(want, got, sizeof(got));
}

bool chacha20poly1305_encrypt_sg_inplace(struct scatterlist *sg, size_t len, const u8 *ad,
					 size_t ad_len, u64 nonce, const u8 *key)
{
	abort();	/* nothing is sent */
}
