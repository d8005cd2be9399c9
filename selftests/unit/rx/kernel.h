/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of a kernel as the receive path over UDP calls, for one thread of user space. The
 * compiler includes it before each file of kernel/, whose own includes of the kernel find empty
 * headers (../Makefile). The locks are flags, so that those that are asserted are looked at.
 */
#ifndef RX_KERNEL_H
#define RX_KERNEL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "proto/env.h"
#include "uapi/linux/pib.h"

typedef int64_t s64;
typedef unsigned int gfp_t;

/* ---- words of the compiler ---- */

#define __rcu
#define __percpu
#define ____cacheline_aligned_in_smp
#define noinline __attribute__((noinline))
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define likely(x) (x)
#define unlikely(x) (x)
#define static_assert(x) _Static_assert(x, #x)
#define BUG() abort()
#define WARN_ON(x) ((x) ? abort() : (void)0)

/* With KASAN bursts are not pooled, so that each one freed is seen. */
#define IS_ENABLED(option) 1

#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define BIT_ULL(n) (1ULL << (n))
#define GENMASK_ULL(h, l) (~0ULL >> (63 - (h)) & ~0ULL << (l))

#define IS_ERR(p) ((unsigned long)(p) >= -4095UL)
#define PTR_ERR(p) ((long)(p))

/* ---- locks, RCU, CPUs ---- */

typedef struct {
	bool held;
} spinlock_t;

struct mutex {
	spinlock_t held;
};

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static inline void spin_lock(spinlock_t *lock)
{
	WARN_ON(lock->held);
	lock->held = true;
}

static inline void spin_unlock(spinlock_t *lock)
{
	WARN_ON(!lock->held);
	lock->held = false;
}

#define spin_lock_bh(lock) spin_lock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define lockdep_is_held(lock) ((lock)->held)
#define lockdep_assert_held(lock) WARN_ON(!(lock)->held)

struct rcu_head {
	int unused;
};

#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#define rcu_dereference(p) (p)
#define rcu_dereference_protected(p, held) ((void)(held), (p))
#define rcu_access_pointer(p) (p)
#define rcu_assign_pointer(p, v) ((p) = (v))
/* Nobody reads while something is changed. */
#define call_rcu(head, fn) (fn)(head)

#define DEFINE_PER_CPU(type, name) type name
#define this_cpu_add(field, n) ((field) += (n))
#define this_cpu_ptr(p) (p)
#define per_cpu_ptr(p, cpu) ((void)(cpu), (p))
#define for_each_possible_cpu(cpu) for (cpu = 0; cpu < 1; cpu++)
#define in_softirq() true
#define in_hardirq() false

typedef struct {
	int v;
} atomic_t;

typedef struct {
	s64 v;
} atomic64_t;

typedef struct {
	int v;
} refcount_t;

#define atomic_sub(n, a) ((a)->v -= (n))
#define atomic_add_return(n, a) ((a)->v += (n))
#define atomic64_add_return(n, a) ((a)->v += (n))
#define refcount_set(r, n) ((r)->v = (n))
#define refcount_read(r) ((r)->v)

static inline void refcount_inc(refcount_t *r)
{
	WARN_ON(r->v < 1);
	r->v++;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	WARN_ON(r->v < 1);
	return !--r->v;
}

/* ---- time ---- */

/* In milliseconds. */
extern unsigned long jiffies;

struct timer_list {
	unsigned long expires;
	bool pending;
	void (*function)(struct timer_list *t);
};

#define msecs_to_jiffies(ms) ((unsigned long)(ms))
#define time_before(a, b) ((long)((a) - (b)) < 0)
#define time_after_eq(a, b) (!time_before(a, b))
#define timer_container_of(var, t, field) container_of(t, typeof(*var), field)
#define timer_setup(t, fn, flags) (*(t) = (struct timer_list){.function = (fn)})
#define timer_pending(t) ((t)->pending)
#define mod_timer(t, at) ((t)->expires = (at), (t)->pending = true)
#define timer_delete_sync(t) ((t)->pending = false)

/* ---- memory ---- */

#define PAGE_SIZE 4096UL
#define PAGE_ALLOC_COSTLY_ORDER 3
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0
#define SLAB_HWCACHE_ALIGN 0

/* Memory of other sizes than a page is a compound page. */
struct page {
	int refs;
	u8 *data;
};

/* A new page is full of junk. */
struct page *alloc_page(gfp_t gfp);
void __free_page(struct page *page);
struct page *zero_page(void);

#define ZERO_PAGE(va) zero_page()
#define get_page(page) ((page)->refs++)
#define page_address(page) ((page)->data)

struct kmem_cache {
	size_t size;
};

typedef struct kmem_cache mempool_t;

#define kmalloc(n, gfp) malloc(n)
#define kmalloc_array(n, size, gfp) malloc((n) * (size))
#define kzalloc(n, gfp) calloc(1, n)
#define kfree(p) free((void *)(p))
#define kfree_sensitive(p) kfree(p)
#define memzero_explicit(p, n) memset(p, 0, n)

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *cache, void *p);
struct kmem_cache *kmem_cache_create(size_t size);

#define KMEM_CACHE(type, flags) kmem_cache_create(sizeof(struct type))
#define kmem_cache_destroy(cache) free(cache)
#define mempool_create_kmalloc_pool(n, size) kmem_cache_create(size)
#define mempool_destroy(pool) free(pool)
#define mempool_alloc(pool, gfp) kmem_cache_alloc(pool, gfp)
#define mempool_free(p, pool) kmem_cache_free(pool, p)

/* ---- lists, tables, work: what structs have, and nobody calls ---- */

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_head {
	void *first;
};

struct work_struct {
	int unused;
};

struct delayed_work {
	struct work_struct work;
};

struct dst_cache {
	int unused;
};

struct dst_entry;
struct net;
struct in6_addr {
	u8 s6_addr[16];
};

#define AF_INET 2
#define AF_INET6 10

#define dst_cache_init(cache, gfp) 0
#define dst_cache_destroy(cache) ((void)(cache))
#define pr_debug(fmt, ...) ((void)0)

/* A table of the links by their ids. */
#define RX_LINKS 2
struct xarray {
	u32 id[RX_LINKS];
	void *entry[RX_LINKS];
};

void *xa_load(struct xarray *xa, u32 id);

/* ---- headers of IP and UDP ---- */

struct iphdr {
	u8 tos;
};

struct ipv6hdr {
	u8 tclass;
};

struct udphdr {
	u16 source;
	u16 dest;
	u16 len;
	u16 check;
};

#define INET_ECN_is_ce(tos) (((tos) & 3) == 3)
#define ipv6_get_dsfield(hdr) ((hdr)->tclass)

/* ---- skbs ---- */

#define MAX_SKB_FRAGS 17
#define SKB_GSO_UDP_L4 (1 << 17)

typedef struct {
	struct page *page;
	u32 off;
	u32 size;
} skb_frag_t;

struct skb_shared_info {
	u8 nr_frags;
	u16 gso_size;
	u16 gso_segs;
	u32 gso_type;
	struct sk_buff *frag_list;
	skb_frag_t frags[MAX_SKB_FRAGS];
};

/* Linear bytes, then page fragments, then the bytes of the skbs in the list. */
struct sk_buff {
	struct sk_buff *next;
	int refs;
	u32 len;
	u32 data_len;
	u32 truesize;
	u8 *data;
	bool bad_checksum;
	struct iphdr ip;
	struct ipv6hdr ip6;
	struct udphdr udp;
	struct skb_shared_info shinfo;
};

#define skb_shinfo(skb) ((struct skb_shared_info *)&(skb)->shinfo)
#define skb_headlen(skb) ((skb)->len - (skb)->data_len)
#define skb_is_gso(skb) (skb_shinfo(skb)->gso_size)
#define skb_walk_frags(skb, iter) for (iter = skb_shinfo(skb)->frag_list; iter; iter = iter->next)
#define skb_frag_size(f) ((f)->size)
#define skb_frag_address(f) ((f)->page->data + (f)->off)
#define skb_frag_address_safe(f) skb_frag_address(f)
#define ip_hdr(skb) (&(skb)->ip)
#define ipv6_hdr(skb) (&(skb)->ip6)
#define udp_hdr(skb) (&(skb)->udp)
#define skb_checksum_complete(skb) ((skb)->bad_checksum)

struct sk_buff *alloc_skb(u32 size, gfp_t gfp);
struct sk_buff *alloc_skb_with_frags(unsigned long linear, unsigned long data, int order, int *err,
				     gfp_t gfp);
struct sk_buff *skb_get(struct sk_buff *skb);
void kfree_skb(struct sk_buff *skb);
#define consume_skb(skb) kfree_skb(skb)
void skb_put(struct sk_buff *skb, u32 len);
int pskb_trim(struct sk_buff *skb, u32 len);
void skb_add_rx_frag(struct sk_buff *skb, int i, struct page *page, int off, int size,
		     unsigned int truesize);
int skb_copy_bits(const struct sk_buff *skb, int off, void *to, int len);
int skb_store_bits(struct sk_buff *skb, int off, const void *from, int len);
void *skb_header_pointer(const struct sk_buff *skb, int off, int len, void *buf);

/* ---- the cipher ---- */

struct scatterlist {
	u8 *p;
	u32 len;
};

#define sg_init_table(sg, n) memset(sg, 0, (n) * sizeof(*(sg)))
int skb_to_sgvec(struct sk_buff *skb, struct scatterlist *sg, int off, int len);

/* No cipher, but as long as one, and as different for another key, nonce or associated data. */
void chacha20poly1305_encrypt(u8 *dst, const u8 *src, size_t len, const u8 *ad, size_t ad_len,
			      u64 nonce, const u8 *key);
bool chacha20poly1305_encrypt_sg_inplace(struct scatterlist *sg, size_t len, const u8 *ad,
					 size_t ad_len, u64 nonce, const u8 *key);
bool chacha20poly1305_decrypt_sg_inplace(struct scatterlist *sg, size_t len, const u8 *ad,
					 size_t ad_len, u64 nonce, const u8 *key);

/* ---- in place of headers of pib that need more of the kernel ---- */

#define PIB_COMPAT_H
#define PIB_CORE_TASK_H
#define PIB_TRACING_FABRIC_H

void pib_tasks_copied(u32 n);
void trace_pib_datagram_dropped(int ifindex, u32 counter, u32 n);

#endif
