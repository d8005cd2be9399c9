// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Packets whose bits a cable damages: built as on the wire, damaged, and read again. */
#include <linux/slab.h>
#include "packet/burst.h"
#include "fabric/corrupt.h"
#include "proto/icrc.h"
#include "proto/opcode.h"

/*
 * Build the bytes of a burst of one packet, LRH to ICRC.
 *
 * Return: the bytes, to be freed by kfree(); NULL: no memory, or the payload cannot be read.
 */
static u8 *packet_bytes(struct pib_burst *b, u32 len)
{
	u32 pad = pib_hdrs_pad(b->len), crc;
	u8 *p = kmalloc(len, GFP_ATOMIC | __GFP_NOWARN);
	size_t n;

	if (!p)
		return NULL;
	n = pib_hdrs_build(&b->h, b->len, p);
	if (!n || n + b->len + pad + PIB_ICRC_LEN != len || pib_burst_read(b, 0, p + n, b->len)) {
		kfree(p);
		return NULL;
	}
	memset(p + n + b->len, 0, pad);
	crc = pib_icrc_update(pib_icrc_headers(p, n), p + n, b->len + pad);
	pib_icrc_store(crc, p + len - PIB_ICRC_LEN);
	return p;
}

/*
 * Parse the packet at @p into @b, which has no payload yet.
 *
 * Return: true if @p is a packet with the right ICRC, and there was memory for its payload.
 */
static bool packet_parse(struct pib_burst *b, const u8 *p, u32 len)
{
	size_t hdr_len, payload_len;
	u32 crc, body;

	if (pib_hdrs_parse(&b->h, p, len, len, &hdr_len, &payload_len))
		return false;
	body = payload_len + pib_hdrs_pad(payload_len);
	crc = pib_icrc_update(pib_icrc_headers(p, hdr_len), p + hdr_len, body);
	if (!pib_icrc_match(crc, p + hdr_len + body))
		return false;
	b->len = payload_len;
	b->pmtu = max_t(u32, payload_len, 1);
	if (!payload_len)
		return true;
	b->linear = kmemdup(p + hdr_len, payload_len, GFP_ATOMIC | __GFP_NOWARN);
	b->payload = b->linear ? PIB_PAYLOAD_LINEAR : PIB_PAYLOAD_NONE;
	return b->linear;
}

struct pib_burst *pib_corrupt_burst(struct pib_fault *f, enum pib_fault_lot lot,
				    struct pib_burst *b, u32 bits)
{
	u32 len = pib_opcode_wire_len(&b->h, b->len);
	u8 *p = packet_bytes(b, len);
	struct pib_burst *d = NULL;
	u16 vcrc;

	if (!p)
		return NULL;
	vcrc = pib_vcrc(p, len);
	pib_fault_damage(f, lot, bits, p, len);
	if (pib_vcrc(p, len) == vcrc)
		d = pib_burst_alloc();
	if (d && !packet_parse(d, p, len)) {
		pib_burst_free(d);
		d = NULL;
	}
	kfree(p);
	return d;
}
