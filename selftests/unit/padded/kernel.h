/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of a kernel as kernel/udp/pmtu.c calls beside what the receive path does. The compiler
 * includes it before that file, whose own includes of the kernel find empty headers (../Makefile).
 */
#ifndef PADDED_KERNEL_H
#define PADDED_KERNEL_H

#include "../rx/kernel.h"

#define MAX_HEADER 128

void dst_release(struct dst_entry *dst);
void skb_reserve(struct sk_buff *skb, u32 len);
void skb_put_data(struct sk_buff *skb, const void *data, u32 len);
void skb_put_zero(struct sk_buff *skb, u32 len);

#endif
