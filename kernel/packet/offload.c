// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Large sends and checksums: IP packets in datagrams. */
#include <linux/slab.h>
#include <net/checksum.h>
#include "packet/offload.h"

/* The sum of @len bytes from @off on. Return: 0 or -EFAULT. */
static int data_sum(struct pib_burst *b, u32 off, u32 len, u16 *sum)
{
	__wsum all = 0;
	const void *src;
	u32 at = 0, n;

	while (at < len) {
		n = len - at;
		src = pib_burst_chunk(b, off + at, &n);
		if (!src)
			return -EFAULT;
		all = csum_block_add(all, csum_partial(src, n, 0), at);
		at += n;
	}
	*sum = be16_to_cpu((__force __be16)~csum_fold(all));
	return 0;
}

/* Write the headers of packet @i of @b, whose payload is data as yet. */
static int write_head(struct pib_burst *b, const struct pib_segment_head *s, u32 i, u32 first,
		      bool last, u8 *head)
{
	u32 off = i * s->mss, len = min(s->mss, b->len - off);
	u16 sum;
	int err = data_sum(b, off, len, &sum);

	if (err)
		return err;
	memcpy(head, s->head, s->ip.len);
	pib_ipoib_segment(&s->ip, head, first + i, s->mss, len, last && i + 1 == b->npkts);
	pib_ipoib_checksum(&s->ip, head, len, sum);
	return 0;
}

int pib_offload_segment(struct pib_burst *b, const struct pib_segment_head *s, u32 first,
			bool last)
{
	u8 *heads = kmalloc_array(b->npkts, s->ip.len, GFP_ATOMIC | __GFP_NOWARN);
	int err = 0;
	u32 i;

	if (!heads)
		return -ENOMEM;
	for (i = 0; i < b->npkts && !err; i++)
		err = write_head(b, s, i, first, last, heads + i * s->ip.len);
	if (err) {
		kfree(heads);
		return err;
	}
	b->heads = heads;
	b->head_len = s->ip.len;
	b->pmtu = s->mss + s->ip.len;
	b->len += b->npkts * s->ip.len;
	b->csum_ok = true;
	return 0;
}

void pib_offload_checksum(struct pib_burst *b)
{
	u8 *p = b->payload == PIB_PAYLOAD_SMALL ? b->small : b->linear;
	struct pib_ipoib ip;
	u16 sum;

	if (!pib_ipoib_parse(&ip, p, b->len) || !pib_ipoib_fits(&ip, p, b->len) ||
	    data_sum(b, ip.len, b->len - ip.len, &sum))
		return;
	pib_ipoib_checksum(&ip, p, b->len - ip.len, sum);
	b->csum_ok = true;
}

bool pib_offload_verify(struct pib_burst *b, u32 off, u32 len)
{
	u32 avail = min_t(u32, len, PIB_IPOIB_HEAD_MAX);
	u8 head[PIB_IPOIB_HEAD_MAX];
	struct pib_ipoib ip;
	u16 sum;

	if (pib_burst_read(b, off, head, avail) || !pib_ipoib_parse(&ip, head, avail) ||
	    !pib_ipoib_fits(&ip, head, len))
		return false;
	if (data_sum(b, off + ip.len, len - ip.len, &sum))
		return false;
	return pib_ipoib_verify(&ip, head, len - ip.len, sum);
}
