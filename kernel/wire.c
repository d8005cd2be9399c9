// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The border between bursts and datagrams.
 *
 * Out: a burst is cut into its packets. Packets of equal size leave as one UDP
 * GSO super-packet, which veth and loopback carry whole and other netdevs cut
 * up late; the payload is copied once, into the super-packet. A packet that is
 * larger than the netdev's MTU leaves alone and is fragmented by IP.
 *
 * In: each packet of a super-packet is checked by itself; its payload stays in
 * the skb. Packets that go on where the one before has ended (same message, next
 * PSN) become one burst again.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "burst.h"
#include "fabric.h"
#include "port.h"
#include "proto/icrc.h"
#include "proto/link.h"
#include "ulink.h"
#include "uplink.h"
#include "usock.h"
#include "wire.h"

#define WIRE_MAX_SEGS	64
#define WIRE_MAX_BYTES	65000
/* A datagram alone is put into linear memory up to this size. */
#define WIRE_LINEAR	(PIB_DG_HDR_LEN + PIB_HDRS_MAX + PIB_MTU_MAX + 2 * PIB_ICRC_LEN)

/* ---- out ---- */

/**
 * struct writer - where in an skb the next byte goes
 * @skb: it
 * @frag: fragment that @cur points into, -1: linear part
 * @cur: next byte
 * @room: bytes left there
 */
struct writer {
	struct sk_buff *skb;
	int frag;
	u8 *cur;
	u32 room;
};

static void writer_next(struct writer *w)
{
	const skb_frag_t *f = &skb_shinfo(w->skb)->frags[++w->frag];

	w->cur = skb_frag_address(f);
	w->room = skb_frag_size(f);
}

static void writer_put(struct writer *w, const void *src, u32 len)
{
	while (len) {
		u32 n;

		if (!w->room)
			writer_next(w);
		n = min(len, w->room);
		memcpy(w->cur, src, n);
		w->cur += n;
		w->room -= n;
		src += n;
		len -= n;
	}
}

static struct sk_buff *wire_skb(struct writer *w, u32 bytes)
{
	u32 data = bytes > WIRE_LINEAR ? bytes : 0;
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(PIB_USOCK_HEADROOM + bytes - data, data, PAGE_ALLOC_COSTLY_ORDER,
				   &err, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, PIB_USOCK_HEADROOM);
	w->skb = skb;
	w->frag = -1;
	w->cur = skb->data;
	w->room = bytes - data;
	skb_put(skb, bytes - data);
	skb->data_len = data;
	skb->len += data;
	return skb;
}

/**
 * struct packet - one packet of a burst on its way out
 * @h: headers
 * @off: its payload in the burst's
 * @len: bytes of payload
 * @size: bytes of the datagram
 */
struct packet {
	struct pib_hdrs h;
	u32 off;
	u32 len;
	u32 size;
};

static void packet_get(const struct pib_burst *b, u32 i, struct packet *p)
{
	pib_hdrs_packet(&b->h, b->npkts, i, &p->h);
	p->off = i * b->pmtu;
	p->len = i + 1 < b->npkts ? b->pmtu : b->len - p->off;
	p->size = PIB_DG_HDR_LEN + pib_hdrs_wire_len(&p->h, p->len);
}

static int packet_payload(struct writer *w, struct pib_burst *b, const struct packet *p,
			  bool noicrc, u32 *crc)
{
	u32 off = p->off, end = p->off + p->len;

	while (off < end) {
		u32 n = end - off;
		const void *src = pib_burst_chunk(b, off, &n);

		if (!src)
			return -EFAULT;
		writer_put(w, src, n);
		if (!noicrc)
			*crc = pib_icrc_update(*crc, src, n);
		off += n;
	}
	return 0;
}

static int packet_write(struct writer *w, const struct pib_upath *path, struct pib_burst *b,
			const struct packet *p)
{
	static const u8 zeros[4];
	u8 head[PIB_DG_HDR_LEN + PIB_HDRS_MAX], icrc[PIB_ICRC_LEN] = {};
	u32 pad = pib_hdrs_pad(p->len), crc = 0;
	bool noicrc = path->noicrc && b->icrc_ok;
	size_t n;

	head[0] = PIB_DG_VERSION << 4 | PIB_DG_DATA;
	head[1] = noicrc ? PIB_DG_NOICRC : 0;
	*(__be16 *)(head + 2) = cpu_to_be16(path->tx_tag);
	*(__be32 *)(head + 4) = cpu_to_be32(path->remote_id);
	n = pib_hdrs_build(&p->h, p->len, head + PIB_DG_HDR_LEN);
	writer_put(w, head, PIB_DG_HDR_LEN + n);
	if (!noicrc)
		crc = pib_icrc_headers(head + PIB_DG_HDR_LEN, n);
	if (packet_payload(w, b, p, noicrc, &crc))
		return -EFAULT;
	writer_put(w, zeros, pad);
	if (!noicrc) {
		crc = pib_icrc_update(crc, zeros, pad);
		pib_icrc_store(crc, icrc);
	}
	writer_put(w, icrc, PIB_ICRC_LEN);
	return 0;
}

/*
 * How many packets from @i on go into one super-packet: all of one size, the
 * last may be smaller. @bytes: their datagrams' together.
 */
static u32 run_length(const struct pib_usock *us, int family, const struct pib_burst *b, u32 i,
		      u32 *bytes)
{
	u32 overhead = sizeof(struct udphdr) + (family == AF_INET ? 20 : 40);
	struct packet p;
	u32 n, size;

	packet_get(b, i, &p);
	size = p.size;
	*bytes = size;
	if (size + overhead > READ_ONCE(us->mtu))
		return 1;
	for (n = 1; i + n < b->npkts && n < WIRE_MAX_SEGS; n++) {
		packet_get(b, i + n, &p);
		if (p.size > size || *bytes + p.size > WIRE_MAX_BYTES)
			break;
		*bytes += p.size;
		if (p.size < size)
			return n + 1;
	}
	return n;
}

static void skb_set_gso(struct sk_buff *skb, u32 size, u32 segs)
{
	struct skb_shared_info *si = skb_shinfo(skb);

	si->gso_size = size;
	si->gso_segs = segs;
	si->gso_type = SKB_GSO_UDP_L4;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) - sizeof(struct udphdr);
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* Send the run of packets that begins with @i; returns how many they are. */
static u32 wire_send_run(struct pib_ulink *ul, struct pib_upath *path, struct pib_burst *b, u32 i)
{
	struct pib_usock *us = ul->up->us;
	const struct pib_addr *to = &path->peer[path->to];
	u32 bytes, k, n = run_length(us, to->family, b, i, &bytes);
	struct sk_buff *skb;
	struct writer w;
	struct packet p;
	u32 size = 0;

	skb = wire_skb(&w, bytes);
	if (!skb)
		goto err_count;
	for (k = 0; k < n; k++) {
		packet_get(b, i + k, &p);
		if (!k)
			size = p.size;
		if (packet_write(&w, path, b, &p))
			goto err_free;
	}
	if (n > 1)
		skb_set_gso(skb, size, n);
	pib_usock_send(us, skb, to, &path->cache);
	return n;

err_free:
	kfree_skb(skb);
err_count:
	pib_usock_count(us, tx_errors, n);
	return n;
}

void pib_wire_xmit(struct pib_ulink *ul, struct pib_burst *b)
{
	struct pib_upath *path = rcu_dereference(ul->path);
	u32 i = 0;

	if (!path)
		pib_usock_count(ul->up->us, tx_errors, b->npkts);
	while (path && i < b->npkts)
		i += wire_send_run(ul, path, b, i);
	pib_burst_free(b);
}

/* ---- in ---- */

/**
 * struct intake - a super-packet being taken in
 * @us: sockets by which it came
 * @skb: it
 * @from: sender
 * @checked: it carried a UDP checksum, which is right
 * @b: burst that grows, or NULL
 * @ul: its link
 */
struct intake {
	struct pib_usock *us;
	struct sk_buff *skb;
	const struct pib_addr *from;
	bool checked;
	struct pib_burst *b;
	struct pib_ulink *ul;
};

static void intake_flush(struct intake *in)
{
	if (in->b)
		pib_port_recv(in->ul->port, in->b);
	in->b = NULL;
}

static bool icrc_ok(struct intake *in, u32 off, u32 hdr_len, u32 payload_len)
{
	u32 len = payload_len + pib_hdrs_pad(payload_len), crc;
	u8 head[PIB_HDRS_MAX], icrc[PIB_ICRC_LEN], piece[256];

	if (skb_copy_bits(in->skb, off, head, hdr_len))
		return false;
	crc = pib_icrc_headers(head, hdr_len);
	off += hdr_len;
	while (len) {
		u32 n = min_t(u32, len, sizeof(piece));

		if (skb_copy_bits(in->skb, off, piece, n))
			return false;
		crc = pib_icrc_update(crc, piece, n);
		off += n;
		len -= n;
	}
	return !skb_copy_bits(in->skb, off, icrc, PIB_ICRC_LEN) && pib_icrc_match(crc, icrc);
}

/* Which link a DATA datagram belongs to; NULL: counted. */
static struct pib_ulink *data_link(struct intake *in, const u8 *head, struct pib_upath **pathp)
{
	u32 id = be32_to_cpup((const __be32 *)(head + 4));
	u16 tag = be16_to_cpup((const __be16 *)(head + 2));
	struct pib_ulink *ul = xa_load(&in->us->pn->links, id);
	struct pib_upath *path;

	path = ul && ul->up->us == in->us ? rcu_dereference(ul->path) : NULL;
	if (!path || path->rx_tag != tag) {
		pib_usock_count(in->us, rx_unknown_link, 1);
		return NULL;
	}
	if (!pib_upath_admits(path, in->from)) {
		pib_usock_count(in->us, rx_wrong_addr, 1);
		return NULL;
	}
	*pathp = path;
	return ul;
}

static void burst_attach(struct pib_burst *b, struct sk_buff *skb, u32 off, u32 len)
{
	b->len = len;
	if (!len)
		return;
	if (len <= PIB_BURST_SMALL && !skb_copy_bits(skb, off, b->small, len)) {
		b->payload = PIB_PAYLOAD_SMALL;
		return;
	}
	b->payload = PIB_PAYLOAD_SKB;
	b->skb = skb_get(skb);
	b->skb_off = off;
}

/* A DATA datagram of @len bytes at @off; its first @avail bytes are at @head. */
static void intake_data(struct intake *in, const u8 *head, u32 avail, u32 off, u32 len)
{
	size_t hdr_len, payload_len;
	struct pib_upath *path;
	struct pib_ulink *ul = data_link(in, head, &path);
	bool noicrc = head[1] & PIB_DG_NOICRC;
	struct pib_burst *b;

	intake_flush(in);
	if (!ul)
		return;
	b = pib_burst_alloc();
	if (!b) {
		pib_usock_count(in->us, rx_reasm, 1);
		return;
	}
	if (pib_hdrs_parse(&b->h, head + PIB_DG_HDR_LEN, avail - PIB_DG_HDR_LEN,
			   len - PIB_DG_HDR_LEN, &hdr_len, &payload_len)) {
		pib_usock_count(in->us, rx_malformed, 1);
		goto err_free;
	}
	off += PIB_DG_HDR_LEN;
	if (noicrc ? !(path->noicrc && in->checked) : !icrc_ok(in, off, hdr_len, payload_len)) {
		pib_usock_count(in->us, rx_bad_icrc, 1);
		goto err_free;
	}
	b->icrc_ok = true;
	burst_attach(b, in->skb, off + hdr_len, payload_len);
	b->pmtu = max_t(u32, payload_len, 1);
	in->b = b;
	in->ul = ul;
	return;

err_free:
	pib_burst_free(b);
}

static void intake_one(struct intake *in, u32 off, u32 len)
{
	u8 buf[PIB_HELLO_WIRE_LEN];
	u32 avail = min_t(u32, len, sizeof(buf));
	const u8 *head = skb_header_pointer(in->skb, off, avail, buf);

	if (!head || len < PIB_DG_HDR_LEN) {
		pib_usock_count(in->us, rx_short, 1);
		return;
	}
	if (head[0] >> 4 != PIB_DG_VERSION) {
		pib_usock_count(in->us, rx_version, 1);
		return;
	}
	switch (head[0] & 0xF) {
	case PIB_DG_DATA:
		intake_data(in, head, avail, off, len);
		break;
	case PIB_DG_SEGMENT:
		pib_usock_count(in->us, rx_reasm, 1);
		break;
	default:
		intake_flush(in);
		if (avail < len)
			pib_usock_count(in->us, rx_bad_hello, 1);
		else
			pib_uplink_control(in->us, in->from, head, len);
	}
}

void pib_wire_rx(struct pib_usock *us, struct sk_buff *skb, const struct pib_addr *from)
{
	struct intake in = { .us = us, .skb = skb, .from = from };
	u32 step = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len;
	u32 off, n = 0;

	in.checked = udp_hdr(skb)->check && !skb_checksum_complete(skb);
	if (udp_hdr(skb)->check && !in.checked) {
		pib_usock_count(us, rx_malformed, 1);
		goto out_free;
	}
	for (off = 0; off < skb->len; off += step, n++)
		intake_one(&in, off, min(step, skb->len - off));
	intake_flush(&in);
	pib_usock_count(us, rx_datagrams, n);

out_free:
	consume_skb(skb);
}
