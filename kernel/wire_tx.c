// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From bursts to datagrams.
 *
 * A burst is cut into its packets, and the payload is copied once, into the skb.
 * Packets of equal size that fit the netdev's MTU leave as one UDP GSO
 * super-packet of DATA datagrams, which veth and loopback carry whole and other
 * netdevs cut up late. Packets that are larger than the MTU are put one after the
 * other into a frame, and the frame is cut into SEGMENT datagrams of equal size,
 * which again are one super-packet. Only to a peer that does not understand
 * segments a large packet is sent as it is, to be fragmented by IP.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "burst.h"
#include "proto/icrc.h"
#include "proto/link.h"
#include "ulink.h"
#include "uplink.h"
#include "usock.h"
#include "wire.h"

#define WIRE_MAX_SEGS	64
#define WIRE_MAX_BYTES	65000
/* A datagram up to this size is put into linear memory. */
#define WIRE_LINEAR	(PIB_DG_HDR_LEN + PIB_HDRS_MAX + PIB_MTU_MAX + 2 * PIB_ICRC_LEN)

/**
 * struct writer - where in an skb the next byte goes
 * @skb: it
 * @path: session, for the headers
 * @noicrc: ICRCs are left out
 * @frag: fragment that @cur points into, -1: linear part
 * @cur: next byte
 * @room: bytes left there
 * @seg: bytes of the frame in each SEGMENT; 0: no segments
 * @seg_room: bytes left in the present one
 * @frame_id: of the frame
 * @frame_len: bytes of the frame
 * @frame_off: bytes of it written
 */
struct writer {
	struct sk_buff *skb;
	const struct pib_upath *path;
	bool noicrc;
	int frag;
	u8 *cur;
	u32 room;
	u32 seg;
	u32 seg_room;
	u32 frame_id;
	u32 frame_len;
	u32 frame_off;
};

static void put_raw(struct writer *w, const void *src, u32 len)
{
	while (len) {
		u32 n;

		if (!w->room) {
			const skb_frag_t *f = &skb_shinfo(w->skb)->frags[++w->frag];

			w->cur = skb_frag_address(f);
			w->room = skb_frag_size(f);
		}
		n = min(len, w->room);
		memcpy(w->cur, src, n);
		w->cur += n;
		w->room -= n;
		src += n;
		len -= n;
	}
}

static void put_link_header(struct writer *w, u8 type)
{
	struct pib_dg_hdr h = {
		.ver_type = PIB_DG_VERSION << 4 | type,
		.flags = w->noicrc ? PIB_DG_NOICRC : 0,
		.tag = cpu_to_be16(w->path->tx_tag),
		.link_id = cpu_to_be32(w->path->remote_id),
	};

	put_raw(w, &h, sizeof(h));
}

static void put_segment_header(struct writer *w)
{
	struct pib_seg_hdr h = {
		.frame_id = cpu_to_be32(w->frame_id),
		.offset = cpu_to_be16(w->frame_off / PIB_SEG_UNIT),
		.frame_len = cpu_to_be16(w->frame_len),
	};

	put_link_header(w, PIB_DG_SEGMENT);
	put_raw(w, &h, sizeof(h));
}

/* Bytes of a packet. */
static void put(struct writer *w, const void *src, u32 len)
{
	while (w->seg && len) {
		u32 n;

		if (!w->seg_room) {
			put_segment_header(w);
			w->seg_room = w->seg;
		}
		n = min(len, w->seg_room);
		put_raw(w, src, n);
		w->seg_room -= n;
		w->frame_off += n;
		src += n;
		len -= n;
	}
	put_raw(w, src, len);
}

static bool writer_init(struct writer *w, u32 bytes)
{
	u32 data = bytes > WIRE_LINEAR ? bytes : 0;
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(PIB_USOCK_HEADROOM + bytes - data, data,
				   PAGE_ALLOC_COSTLY_ORDER, &err, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return false;
	skb_reserve(skb, PIB_USOCK_HEADROOM);
	w->skb = skb;
	w->frag = -1;
	w->cur = skb->data;
	w->room = bytes - data;
	skb_put(skb, bytes - data);
	skb->data_len = data;
	skb->len += data;
	return true;
}

/* ---- packets ---- */

/**
 * struct packet - one packet of a burst on its way out
 * @h: headers
 * @off: its payload in the burst's
 * @len: bytes of payload
 * @size: bytes from LRH to ICRC
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
	p->size = pib_hdrs_wire_len(&p->h, p->len);
}

static int put_payload(struct writer *w, struct pib_burst *b, const struct packet *p, u32 *crc)
{
	u32 off = p->off, end = p->off + p->len;

	while (off < end) {
		u32 n = end - off;
		const void *src = pib_burst_chunk(b, off, &n);

		if (!src)
			return -EFAULT;
		put(w, src, n);
		if (!w->noicrc)
			*crc = pib_icrc_update(*crc, src, n);
		off += n;
	}
	return 0;
}

static int put_packet(struct writer *w, struct pib_burst *b, const struct packet *p)
{
	static const u8 zeros[4];
	u8 head[PIB_HDRS_MAX], icrc[PIB_ICRC_LEN] = {};
	u32 pad = pib_hdrs_pad(p->len), crc = 0;
	size_t n = pib_hdrs_build(&p->h, p->len, head);

	put(w, head, n);
	if (!w->noicrc)
		crc = pib_icrc_headers(head, n);
	if (put_payload(w, b, p, &crc))
		return -EFAULT;
	put(w, zeros, pad);
	if (!w->noicrc) {
		crc = pib_icrc_update(crc, zeros, pad);
		pib_icrc_store(crc, icrc);
	}
	put(w, icrc, PIB_ICRC_LEN);
	return 0;
}

/* ---- datagrams ---- */

/**
 * struct sending - a burst being sent
 * @us: sockets
 * @path: session
 * @b: burst
 * @mtu: bytes of UDP payload that the netdev takes in one piece
 */
struct sending {
	struct pib_usock *us;
	struct pib_upath *path;
	struct pib_burst *b;
	u32 mtu;
};

static void skb_set_gso(struct sk_buff *skb, u32 size, u32 segs)
{
	struct skb_shared_info *si = skb_shinfo(skb);

	if (segs < 2)
		return;
	si->gso_size = size;
	si->gso_segs = segs;
	si->gso_type = SKB_GSO_UDP_L4;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) - sizeof(struct udphdr);
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* Write packets [i, i + n) and send them. @bytes: of the skb; @size: of each datagram. */
static void send_packets(struct sending *s, struct writer *w, u32 i, u32 n, u32 bytes, u32 size)
{
	u32 dgrams = DIV_ROUND_UP(bytes, size), k;
	struct packet p;

	w->path = s->path;
	w->noicrc = s->path->noicrc && s->b->icrc_ok;
	if (!writer_init(w, bytes))
		goto err_count;
	for (k = 0; k < n; k++) {
		packet_get(s->b, i + k, &p);
		if (!w->seg)
			put_link_header(w, PIB_DG_DATA);
		if (put_packet(w, s->b, &p))
			goto err_free;
	}
	skb_set_gso(w->skb, size, dgrams);
	pib_usock_send(s->us, w->skb, &s->path->peer[s->path->to], &s->path->cache);
	return;

err_free:
	kfree_skb(w->skb);
err_count:
	pib_usock_count(s->us, tx_errors, dgrams);
}

/*
 * Packets from @i on as a super-packet of DATA datagrams: all of one size, the
 * last may be smaller. Returns how many they are.
 */
static u32 send_data(struct sending *s, u32 i)
{
	struct writer w = {};
	struct packet p;
	u32 n, size, bytes;

	packet_get(s->b, i, &p);
	size = PIB_DG_HDR_LEN + p.size;
	bytes = size;
	for (n = 1; size <= s->mtu && i + n < s->b->npkts && n < WIRE_MAX_SEGS; n++) {
		u32 next;

		packet_get(s->b, i + n, &p);
		next = PIB_DG_HDR_LEN + p.size;
		if (next > size || bytes + next > WIRE_MAX_BYTES)
			break;
		bytes += next;
		if (next < size) {
			n++;
			break;
		}
	}
	send_packets(s, &w, i, n, bytes, size);
	return n;
}

/* How many packets from @i on fill a frame of at most @most bytes; @len: their bytes. */
static u32 frame_packets(const struct pib_burst *b, u32 i, u32 max, u32 most, u32 *len)
{
	struct packet p;
	u32 n;

	*len = 0;
	for (n = 0; i + n < b->npkts && n < max; n++) {
		packet_get(b, i + n, &p);
		if (*len + p.size > most)
			break;
		*len += p.size;
	}
	return n;
}

/* Packets from @i on as a frame in segments. Returns how many they are. */
static u32 send_frame(struct sending *s, u32 i)
{
	u32 seg = round_down(s->mtu - PIB_SEG_HDR_LEN, PIB_SEG_UNIT);
	u32 segs = min_t(u32, WIRE_MAX_SEGS, WIRE_MAX_BYTES / (seg + PIB_SEG_HDR_LEN));
	u32 left = s->b->npkts - i, n, len;
	struct writer w = { .seg = seg };

	n = frame_packets(s->b, i, left, segs * seg, &len);
	/* Two halves are better than one full frame and a rest. */
	if (n < left)
		n = frame_packets(s->b, i, DIV_ROUND_UP(left, DIV_ROUND_UP(left, n)),
				  segs * seg, &len);
	w.frame_id = atomic_inc_return(&s->path->frame_id);
	w.frame_len = len;
	send_packets(s, &w, i, n, len + DIV_ROUND_UP(len, seg) * PIB_SEG_HDR_LEN,
		     seg + PIB_SEG_HDR_LEN);
	return n;
}

static bool wants_frame(const struct sending *s, u32 i)
{
	struct packet p;

	if (!s->path->segments || s->mtu < PIB_SEG_HDR_LEN + PIB_SEG_MIN)
		return false;
	packet_get(s->b, i, &p);
	return PIB_DG_HDR_LEN + p.size > s->mtu;
}

void pib_wire_xmit(struct pib_ulink *ul, struct pib_burst *b)
{
	struct sending s = {
		.us = ul->up->us,
		.path = rcu_dereference(ul->path),
		.b = b,
	};
	u32 overhead, i = 0;

	if (!s.path) {
		pib_usock_count(s.us, tx_errors, b->npkts);
		pib_burst_free(b);
		return;
	}
	overhead = sizeof(struct udphdr) + (s.path->to ? 40 : 20);
	s.mtu = max(READ_ONCE(s.us->mtu), overhead) - overhead;
	while (i < b->npkts)
		i += wants_frame(&s, i) ? send_frame(&s, i) : send_data(&s, i);
	pib_burst_free(b);
}
