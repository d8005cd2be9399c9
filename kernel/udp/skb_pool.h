/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of super-packets that are sent. */
#ifndef PIB_UDP_SKB_POOL_H
#define PIB_UDP_SKB_POOL_H

#include <linux/types.h>

struct sk_buff;

/*
 * Allocate an skb with @head bytes of linear memory and pages for @data bytes, like
 * alloc_skb_with_frags(). The caller sets its lengths.
 *
 * Context: softirqs off.
 * Return: the skb; NULL: no memory.
 */
struct sk_buff *pib_skb_pool_alloc(u32 head, u32 data);
/* Free the CPUs' pages, when the module goes and nothing is sent any more. Context: process. */
void pib_skb_pool_exit(void);

#endif
