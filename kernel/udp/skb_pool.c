// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory for super-packets. Pages fresh from the allocator are cleared first, on most
 * kernels, which costs as much as filling them. A receiver on the same machine is done
 * with a super-packet when the next one is made. So each CPU goes round through a few
 * large pages of its own and takes a new one only where the old one is still in use.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <net/sock.h>
#include "udp/skb_pool.h"

#define WIRE_PAGES	48
#define WIRE_PIECE	(PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER)
#define WIRE_GFP	(GFP_ATOMIC | __GFP_NOWARN)

/**
 * struct skb_pool - a CPU's pages
 * @page: pages, each with the offset up to which it is given out
 * @next: index of the next page, modulo WIRE_PAGES
 */
struct skb_pool {
	struct page_frag page[WIRE_PAGES];
	u32 next;
};

static DEFINE_PER_CPU(struct skb_pool, pib_skb_pool);

/* Add at most @bytes of the next page to @skb. Return: number of bytes added; 0: no memory. */
static u32 add_piece(struct sk_buff *skb, struct skb_pool *mem, u32 bytes)
{
	struct page_frag *pf = &mem->page[mem->next++ % WIRE_PAGES];
	u32 n = min_t(u32, bytes, WIRE_PIECE);

	/* The page may be smaller than what was asked for. */
	if (!skb_page_frag_refill(n, pf, WIRE_GFP))
		return 0;
	n = min_t(u32, n, pf->size - pf->offset);
	get_page(pf->page);
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, pf->page, pf->offset, n);
	pf->offset += n;
	skb->truesize += n;
	return n;
}

static struct sk_buff *from_mem(struct skb_pool *mem, u32 head, u32 data)
{
	struct sk_buff *skb = alloc_skb(head, WIRE_GFP);
	u32 n;

	while (skb && data) {
		n = skb_shinfo(skb)->nr_frags < MAX_SKB_FRAGS ? add_piece(skb, mem, data) : 0;
		if (!n) {
			kfree_skb(skb);
			return NULL;
		}
		data -= n;
	}
	return skb;
}

struct sk_buff *pib_skb_pool_alloc(u32 head, u32 data)
{
	int err;

	/*
	 * With softirqs off, nobody else on this CPU uses its pages, except on PREEMPT_RT. KASAN
	 * must see each page freed.
	 */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || IS_ENABLED(CONFIG_KASAN))
		return alloc_skb_with_frags(head, data, PAGE_ALLOC_COSTLY_ORDER, &err, WIRE_GFP);
	return from_mem(this_cpu_ptr(&pib_skb_pool), head, data);
}

void pib_skb_pool_exit(void)
{
	struct skb_pool *mem;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		mem = per_cpu_ptr(&pib_skb_pool, cpu);
		for (i = 0; i < WIRE_PAGES; i++) {
			if (mem->page[i].page)
				put_page(mem->page[i].page);
		}
	}
}
