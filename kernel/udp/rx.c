// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Conversion of datagrams to bursts.
 *
 * Each packet of a super-packet is checked by itself; its payload stays in the
 * skb. A packet that follows the one before (same message, next PSN) lengthens that
 * one's burst, and so does a datagram that differs from the one before in nothing
 * but its PSN and payload. So a super-packet usually becomes one burst.
 * A frame (udp/reassembly.h) whose segments came in one super-packet is read
 * where it lies; otherwise its segments are put together first.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include "packet/burst.h"
#include "compat/compat.h"
#include "core/net.h"
#include "core/task.h"
#include "fabric/forward.h"
#include "fabric/port.h"
#include "proto/credit.h"
#include "proto/hello.h"
#include "proto/icrc.h"
#include "udp/reassembly.h"
#include "udp/rx.h"
#include "udp/seal.h"
#include "udp/link.h"
#include "udp/path.h"
#include "udp/bearer.h"
#include "udp/credit.h"
#include "udp/socket.h"

/**
 * struct intake - a super-packet or frame being taken in
 * @sock: sockets by which it came
 * @skb: the super-packet or frame
 * @run: the piece of @skb that was looked at last
 * @from: sender
 * @way: how it came
 * @checked: @skb carried a UDP checksum, which is right
 * @opened: its datagrams were sealed
 * @ce: the network has marked its datagrams, since a queue on their way fills
 * @seg: frames read in place: bytes of the frame between segment headers; else 0
 * @link: link of @b
 * @path: session of @link
 * @b: burst that grows, or NULL
 * @tail: bytes of payload in the last packet of @b
 * @bytes: bytes of the packets of @b, LRH to ICRC
 * @head: headers of the last packet of @b, which was in the middle of a message and has none behind
 *	its BTH
 * @head_len: bytes of @head; 0: there is no such packet
 * @work: bytes that were looked at one by one, for their ICRC or to put frames together
 */
struct intake {
	struct pib_udp_sock *sock;
	struct sk_buff *skb;
	struct pib_skb_run run;
	const struct pib_addr *from;
	const struct pib_hello_way *way;
	bool checked;
	bool opened;
	bool ce;
	u16 seg;
	struct pib_udp_link *link;
	struct pib_udp_path *path;
	struct pib_burst *b;
	u32 tail;
	u32 bytes;
	u8 head[PIB_LRH_LEN + PIB_GRH_LEN + PIB_BTH_LEN];
	u32 head_len;
	u32 *work;
};

/* So many bytes cost as much as one copy of a multicast (pib_tasks_copied()). */
#define INTAKE_COPY	2048

static void intake_flush(struct intake *in)
{
	struct pib_burst *b = in->b;
	u32 packets;
	u8 vl;

	if (!b)
		return;
	packets = b->npkts;
	vl = b->h.vl;
	in->b = NULL;
	pib_kport_recv(in->link->port, b);
	if (in->path->windows)
		pib_udp_credits_take(in->link, in->path, vl, in->bytes, packets);
}

/* As skb_copy_bits(), for a few bytes, most of which lie in the piece that was looked at last. */
static __always_inline int intake_bits(struct intake *in, u32 off, void *to, u32 len)
{
	u32 n = len;
	const void *from = pib_skb_run_chunk(&in->run, in->skb, off, &n);

	if (unlikely(!from || n < len))
		return skb_copy_bits(in->skb, off, to, len);
	memcpy(to, from, len);
	return 0;
}

/*
 * Return: where in the skb byte @off is, counted without segment headers; @len is cut at the end of
 * its segment.
 */
static __always_inline u32 intake_pos(const struct intake *in, u32 off, u32 *len)
{
	if (!in->seg)
		return off;
	*len = min(*len, in->seg - off % in->seg);
	return off + (off / in->seg + 1) * PIB_SEG_HDR_LEN;
}

/*
 * Return: where @len bytes at @off, counted without segment headers, lie in one piece; NULL: they
 * do not.
 */
static const u8 *intake_piece(struct intake *in, u32 off, u32 len)
{
	u32 n = len, pos = intake_pos(in, off, &n);
	const void *at = pib_skb_run_chunk(&in->run, in->skb, pos, &n);

	return n == len ? at : NULL;
}

/* Copy @len bytes at @off, counted without segment headers. */
static int intake_copy(struct intake *in, u32 off, void *to, u32 len)
{
	u32 n, pos;

	while (len) {
		n = len;
		pos = intake_pos(in, off, &n);
		if (intake_bits(in, pos, to, n))
			return -EFAULT;
		off += n;
		to += n;
		len -= n;
	}
	return 0;
}

static bool icrc_ok(struct intake *in, u32 off, const u8 *head, u32 hdr_len,
		    u32 payload_len)
{
	u32 len = payload_len + pib_hdrs_pad(payload_len);
	u8 icrc[PIB_ICRC_LEN], piece[256];
	u32 crc = pib_icrc_headers(head, hdr_len);

	*in->work += len;
	off += hdr_len;
	while (len) {
		u32 n = min_t(u32, len, sizeof(piece));

		if (intake_copy(in, off, piece, n))
			return false;
		crc = pib_icrc_update(crc, piece, n);
		off += n;
		len -= n;
	}
	return !intake_copy(in, off, icrc, PIB_ICRC_LEN) && pib_icrc_match(crc, icrc);
}

/* Find the link of the next packets. Return: false: the datagram is counted as dropped. */
static bool intake_link(struct intake *in, u32 id, u16 tag)
{
	struct pib_udp_link *link;
	struct pib_udp_path *path = pib_udp_path_find(in->sock, id, tag, in->from, &link);

	if (in->b && link != in->link)
		intake_flush(in);
	if (!path)
		return false;
	if (path->seal && !in->opened) {
		pib_udp_sock_drop(in->sock, rx_unsealed);
		return false;
	}
	/*
	 * Nothing of a new session comes in before the port went down for the old one: an SM would
	 * find the port ACTIVE, and an HCA does not tell the SM that its port goes down then.
	 */
	if (pib_udp_link_is_unsettled(link)) {
		pib_udp_sock_drop(in->sock, rx_unknown_link);
		return false;
	}
	in->link = link;
	in->path = path;
	return true;
}

/* Return: true if @h and @f, of which both have a GRH or none, do not differ in it. */
static bool same_grh(const struct pib_hdrs *h, const struct pib_hdrs *f)
{
	if (!(h->flags & PIB_H_GRH))
		return true;
	return h->tclass == f->tclass && h->flow == f->flow && h->hop == f->hop &&
	       !memcmp(h->sgid, f->sgid, sizeof(h->sgid)) &&
	       !memcmp(h->dgid, f->dgid, sizeof(h->dgid));
}

/* Return: true if the first response @f and the last one @h, if they are that, are of one kind. */
static bool same_answer(const struct pib_hdrs *h, const struct pib_hdrs *f)
{
	return !(h->flags & PIB_H_LAST) || !(f->flags & PIB_H_FIRST) ||
	       PIB_AETH_KIND(h->syndrome) == PIB_AETH_KIND(f->syndrome);
}

/* Return: true if the packet of @h belongs to the same message as that of @f, behind it. */
static bool same_message(const struct pib_hdrs *h, const struct pib_hdrs *f)
{
	return !(h->flags & PIB_H_FIRST) && !(f->flags & (PIB_H_LAST | PIB_H_ACKREQ)) &&
	       !((h->flags ^ f->flags) & (PIB_H_GRH | PIB_H_MIG | PIB_H_FECN | PIB_H_BECN)) &&
	       h->srqn == f->srqn && same_grh(h, f) && same_answer(h, f);
}

/*
 * Return: true if datagram @h differs from @f in PSN and payload only. False for multicast and for
 * management, which may be for a switch: these go one by one.
 */
static bool same_datagram(const struct pib_hdrs *h, const struct pib_hdrs *f)
{
	return h->dqpn > 1 && h->dqpn != PIB_QPN_MCAST && !pib_lid_is_mcast(h->dlid) &&
	       h->sqpn == f->sqpn && h->qkey == f->qkey && h->flags == f->flags &&
	       !(h->flags & PIB_H_IMM) && same_grh(h, f);
}

/* Return: true if the packet of @h follows the last one of @b. */
static bool rx_continues(const struct intake *in, const struct pib_burst *b,
			 const struct pib_hdrs *h, u32 payload_len)
{
	const struct pib_hdrs *f = &b->h;

	if (b->payload != PIB_PAYLOAD_SKB || b->skb != in->skb || h->op != f->op ||
	    h->tp != f->tp || h->dqpn != f->dqpn || h->slid != f->slid || h->dlid != f->dlid ||
	    h->sl != f->sl || h->vl != f->vl || h->pkey != f->pkey)
		return false;
	if (h->psn != pib_psn_add(f->psn, b->npkts) || in->tail != b->pmtu || !payload_len ||
	    payload_len > b->pmtu || b->len + payload_len > PIB_BURST_MAX)
		return false;
	if (h->tp == PIB_TP_UD)
		return b->npkts < PIB_DATAGRAMS_MAX && same_datagram(h, f);
	return same_message(h, f);
}

/* Note that the next packet of @in->b has its @len bytes of payload at @off. */
static void rx_place(struct intake *in, u32 off, u32 len)
{
	struct pib_burst *b = in->b;

	if (b->npkts == 1)
		b->map.next = off;
	else if (b->npkts == 3)
		b->map.stride = b->map.last - b->map.next;
	b->map.last = off;
	b->npkts++;
	b->len += len;
	in->tail = len;
}

static void rx_lengthen(struct intake *in, const struct pib_hdrs *h, u32 off, u32 len)
{
	struct pib_burst *b = in->b;

	/* Of a message, the last packet says whether there is a solicited event. */
	b->h.flags &= ~PIB_H_SE;
	b->h.flags |= h->flags & (PIB_H_LAST | PIB_H_ACKREQ | PIB_H_SE | PIB_H_IMM | PIB_H_INV);
	if (h->flags & PIB_H_LAST) {
		b->h.ex = h->ex;
		b->h.pad = h->pad;
		b->h.syndrome = h->syndrome;
		b->h.msn = h->msn;
	}
	rx_place(in, off, len);
}

/*
 * Return: true if the packets of @b lie at equal distances but for the first and the last, whose
 * headers may be longer. A packet behind one that is out of step starts a new burst.
 */
static bool in_step(const struct pib_burst *b)
{
	return b->npkts < 4 || b->map.last - b->map.next == (b->npkts - 2) * b->map.stride;
}

static void burst_attach(struct intake *in, struct pib_burst *b, u32 off, u32 len)
{
	b->len = len;
	b->pmtu = max_t(u32, len, 1);
	if (!len)
		return;
	if (len <= PIB_BURST_SMALL && !intake_copy(in, off, b->small, len)) {
		b->payload = PIB_PAYLOAD_SMALL;
		return;
	}
	b->payload = PIB_PAYLOAD_SKB;
	b->skb = skb_get(in->skb);
	b->map = (struct pib_skb_map) { .first = off, .seg = in->seg };
}

static void rx_start(struct intake *in, const struct pib_hdrs *h, u32 off, u32 len)
{
	struct pib_burst *b;

	intake_flush(in);
	b = pib_burst_alloc_headless();
	if (!b) {
		pib_udp_sock_drop(in->sock, rx_reasm);
		return;
	}
	b->h = *h;
	b->via_udp = true;
	burst_attach(in, b, off, len);
	in->b = b;
	in->tail = len;
	in->bytes = 0;
}

/*
 * Treat the network's mark as one of a switch in the fabric (A10). No sender slows down for
 * management. A CNP, which reports a mark, gets none itself: that would go on without end.
 */
static void intake_mark(struct pib_hdrs *h)
{
	if (h->dqpn > 1 && h->tp != PIB_TP_CNP)
		h->flags |= PIB_H_FECN;
}

/* ---- packets that follow one like them ---- */

static u32 psn_at(const u8 *p)
{
	return (u32)pib_get16(p) << 8 | p[2];
}

/* Keep the headers of the packet of @h, the last of @in->b, if others like it may follow. */
static void intake_keep_head(struct intake *in, const struct pib_hdrs *h, const u8 *head,
			     u32 hdr_len)
{
	u32 bth_end = PIB_LRH_LEN + (h->flags & PIB_H_GRH ? PIB_GRH_LEN : 0) + PIB_BTH_LEN;

	in->head_len = 0;
	if (!in->b || hdr_len != bth_end || h->flags & (PIB_H_FIRST | PIB_H_LAST))
		return;
	memcpy(in->head, head, hdr_len);
	in->head_len = hdr_len;
}

/*
 * Return: true if the packet at @off, where there are @len bytes, differs from the last one of
 * @in->b in nothing but its PSN, which is the next one, and its payload, which is as long.
 */
static bool intake_is_alike(struct intake *in, u32 off, u32 len)
{
	const struct pib_burst *b = in->b;
	const u8 *head;
	u32 same;

	if (!b || !in->head_len || b->payload != PIB_PAYLOAD_SKB ||
	    b->h.flags & (PIB_H_LAST | PIB_H_ACKREQ) || in->tail != b->pmtu ||
	    b->len + b->pmtu > PIB_BURST_MAX || len < in->head_len + b->pmtu + PIB_ICRC_LEN)
		return false;
	head = intake_piece(in, off, in->head_len);
	same = in->head_len - PIB_PSN_LEN;
	return head && !memcmp(head, in->head, same) &&
	       psn_at(head + same) == pib_psn_add(b->h.psn, b->npkts) && in_step(b);
}

/* Take in a packet of which intake_is_alike() is true. Return: its length. */
static u32 intake_alike(struct intake *in, u32 off)
{
	u32 len = in->b->pmtu, size = in->head_len + len + PIB_ICRC_LEN;

	rx_place(in, off + in->head_len, len);
	in->bytes += size;
	return size;
}

/* ---- packets ---- */

/*
 * Take in a packet at @off, where there are @len bytes.
 *
 * Return: its length; 0: it is not valid and counted as dropped.
 */
static u32 intake_packet(struct intake *in, u32 off, u32 len, bool noicrc)
{
	u32 avail = min_t(u32, len, PIB_HDRS_MAX);
	size_t hdr_len, payload_len;
	u8 head[PIB_HDRS_MAX];
	struct pib_hdrs h;
	u32 size;
	int err;

	if (noicrc && in->path->noicrc && in->checked && intake_is_alike(in, off, len))
		return intake_alike(in, off);
	if (intake_copy(in, off, head, avail)) {
		pib_udp_sock_drop(in->sock, rx_malformed);
		return 0;
	}
	err = pib_hdrs_parse(&h, head, avail, len, &hdr_len, &payload_len);
	if (err) {
		if (err == PIB_PARSE_SHORT)
			pib_udp_sock_drop(in->sock, rx_short);
		else
			pib_udp_sock_drop(in->sock, rx_malformed);
		return 0;
	}
	if (noicrc ? !(in->path->noicrc && in->checked) :
		     !icrc_ok(in, off, head, hdr_len, payload_len)) {
		pib_udp_sock_drop(in->sock, rx_bad_icrc);
		return 0;
	}
	if (unlikely(in->ce))
		intake_mark(&h);
	if (in->b && rx_continues(in, in->b, &h, payload_len) && in_step(in->b))
		rx_lengthen(in, &h, off + hdr_len, payload_len);
	else
		rx_start(in, &h, off + hdr_len, payload_len);
	intake_keep_head(in, &h, head, hdr_len);
	size = hdr_len + payload_len + pib_hdrs_pad(payload_len) + PIB_ICRC_LEN;
	in->bytes += size;
	return size;
}

static void intake_data(struct intake *in, const struct pib_dg *dg, u32 off, u32 len)
{
	if (!intake_link(in, dg->link_id, dg->tag))
		return;
	intake_packet(in, off + PIB_DG_HDR_LEN, len - PIB_DG_HDR_LEN, dg->flags & PIB_DG_NOICRC);
}

static void intake_packets(struct intake *in, u32 off, u32 end, bool noicrc)
{
	u32 n;

	while (off < end) {
		n = intake_packet(in, off, end - off, noicrc);
		if (!n)
			return;
		off += n;
	}
}

/* ---- frames ---- */

/*
 * Take in the segments of a frame that have come: run by run, in each from the first
 * packet that starts there. A packet that a gap cuts off counts as short.
 */
static void intake_parts(struct intake *in, const struct pib_frame *f)
{
	u32 i = 0, begin;

	while (i < f->total) {
		if (!(f->have & BIT_ULL(i)) || f->first[i] >= f->size) {
			i++;
			continue;
		}
		begin = i * f->size + f->first[i];
		while (i < f->total && f->have & BIT_ULL(i))
			i++;
		intake_packets(in, begin, min_t(u32, i * f->size, f->len),
			       f->flags & PIB_DG_NOICRC);
	}
}

/* Take in the packets of a frame that was put together, by an intake of their own. */
static void intake_frame(const struct intake *in, const struct pib_frame *f)
{
	struct intake sub = {
		.sock = in->sock,
		.skb = f->skb,
		.checked = f->checked,
		.ce = f->ce,
		.link = in->link,
		.path = in->path,
		.work = in->work,
	};

	if (f->have != GENMASK_ULL(f->total - 1, 0))
		pib_udp_sock_drop(in->sock, rx_reasm);
	else if (f->first[0])
		pib_udp_sock_drop(in->sock, rx_malformed);
	intake_parts(&sub, f);
	intake_flush(&sub);
	consume_skb(f->skb);
}

static bool segment_at(struct intake *in, u32 off, u32 len, struct pib_segment *s)
{
	u8 head[PIB_SEG_HDR_LEN];

	return !intake_bits(in, off, head, sizeof(head)) &&
	       head[0] == (PIB_DG_VERSION << 4 | PIB_DG_SEGMENT) &&
	       pib_segment_parse(s, head, len);
}

/* Return: true if the whole skb is one frame that begins with a packet, its segments in order. */
static bool frame_in_place(struct intake *in, u32 step, const struct pib_segment *s)
{
	u8 first[PIB_SEG_HDR_LEN], head[PIB_SEG_HDR_LEN];
	u32 i, off = step, len = in->skb->len;

	if (s->index || s->first || step != s->size + PIB_SEG_HDR_LEN ||
	    DIV_ROUND_UP(len, step) != s->total)
		return false;
	pib_segment_build(s, first);
	for (i = 1; i < s->total; i++, off += step) {
		if (len - off <= sizeof(head) || intake_bits(in, off, head, sizeof(head)) ||
		    !pib_segment_follows(first, head, i))
			return false;
	}
	return true;
}

/* Take in a frame of one segment, @len bytes at @off. */
static void intake_single(struct intake *in, u32 off, u32 len, const struct pib_segment *s)
{
	if (s->first)
		pib_udp_sock_drop(in->sock, rx_malformed);
	if (s->first < s->size)
		intake_packets(in, off + PIB_SEG_HDR_LEN + s->first, off + len,
			       s->flags & PIB_DG_NOICRC);
}

/* Take in a segment at @off, or the whole frame. Return: number of bytes dealt with. */
static u32 intake_segment(struct intake *in, u32 off, u32 len, u32 step)
{
	struct pib_segment s;
	struct pib_frame done;

	if (!segment_at(in, off, len, &s)) {
		pib_udp_sock_drop(in->sock, rx_malformed);
		return len;
	}
	if (!intake_link(in, s.link_id, s.tag))
		return len;
	if (!off && frame_in_place(in, step, &s)) {
		in->seg = s.size;
		intake_packets(in, 0, in->skb->len - s.total * PIB_SEG_HDR_LEN,
			       s.flags & PIB_DG_NOICRC);
		return in->skb->len;
	}
	if (s.total == 1) {
		intake_single(in, off, len, &s);
		return len;
	}
	intake_flush(in);
	*in->work += len;
	if (pib_frames_add(&in->link->frames, &s, in->skb, off + PIB_SEG_HDR_LEN,
			   len - PIB_SEG_HDR_LEN, in->checked, in->ce, &done))
		intake_frame(in, &done);
	return len;
}

static bool is_sealed(const struct pib_dg *dg)
{
	return dg->version == PIB_DG_VERSION && dg->flags & PIB_DG_SEALED &&
	       (dg->type == PIB_DG_DATA || dg->type == PIB_DG_SEGMENT);
}

/* Return: where the sealed datagrams that begin at @off end. */
static u32 sealed_end(const struct sk_buff *skb, u32 off, u32 step)
{
	u8 buf[PIB_DG_HDR_LEN];
	const u8 *head;
	struct pib_dg dg;

	do {
		off = min(off + step, skb->len);
		head = skb_header_pointer(skb, off, sizeof(buf), buf);
		if (!head)
			break;
		pib_dg_parse(&dg, head);
	} while (is_sealed(&dg));
	return off;
}

static void intake_all(struct intake *in, u32 step);

/*
 * Take in the sealed datagrams from @off on, in the order in which they came. Return: number of
 * bytes dealt with.
 */
static u32 intake_sealed(struct intake *in, u32 off, u32 step)
{
	struct intake sub = {
		.sock = in->sock,
		.from = in->from,
		.way = in->way,
		.checked = true,
		.opened = true,
		.ce = in->ce,
		.work = in->work,
	};
	u32 end = sealed_end(in->skb, off, step);

	intake_flush(in);
	sub.skb = pib_seal_open(in->sock, in->skb, in->from, off, end - off, step);
	if (!sub.skb)
		return end - off;
	intake_all(&sub, min(step - PIB_SEAL_LEN, sub.skb->len));
	consume_skb(sub.skb);
	return end - off;
}

/* Take in the datagram at @off, or more than it. Return: number of bytes dealt with. */
static u32 intake_one(struct intake *in, u32 off, u32 len, u32 step)
{
	u8 buf[PIB_HELLO_WIRE_LEN];	/* a CREDIT is as long */
	u32 avail = min_t(u32, len, sizeof(buf));
	const u8 *head = skb_header_pointer(in->skb, off, avail, buf);
	struct pib_dg dg;

	if (!head || len < PIB_DG_HDR_LEN) {
		pib_udp_sock_drop(in->sock, rx_short);
		return len;
	}
	pib_dg_parse(&dg, head);
	if (dg.version != PIB_DG_VERSION) {
		pib_udp_sock_drop(in->sock, rx_version);
		if (dg.version == PIB_DG_FORMER)
			in->sock->ops->former(in->sock, in->from, in->way, head, len);
		return len;
	}
	if (is_sealed(&dg) && !in->opened)
		return intake_sealed(in, off, step);
	switch (dg.type) {
	case PIB_DG_DATA:
		intake_data(in, &dg, off, len);
		return len;
	case PIB_DG_SEGMENT:
		return intake_segment(in, off, len, step);
	case PIB_DG_CREDIT:
		intake_flush(in);
		pib_udp_credits_rx(in->sock, in->from, head, len);
		return len;
	}
	intake_flush(in);
	in->sock->ops->control(in->sock, in->from, in->way, head, len);
	return len;
}

/*
 * Return: bytes of each datagram in @skb but the last. An skb with another kind of GSO is one
 * datagram, not yet fragmented.
 */
static u32 datagram_step(const struct sk_buff *skb)
{
	const struct skb_shared_info *si = skb_shinfo(skb);

	return skb_is_gso(skb) && si->gso_type & SKB_GSO_UDP_L4 ? si->gso_size : skb->len;
}

static void intake_all(struct intake *in, u32 step)
{
	u32 off;

	for (off = 0; off < in->skb->len;)
		off += intake_one(in, off, min(step, in->skb->len - off), step);
	intake_flush(in);
}

/* Return: true if the network has marked the datagrams. GRO merges none whose marks differ. */
static bool skb_is_ce(const struct sk_buff *skb, int family)
{
	return INET_ECN_is_ce(family == AF_INET ? ip_hdr(skb)->tos :
						  ipv6_get_dsfield(ipv6_hdr(skb)));
}

void pib_udp_rx(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *from,
		const struct pib_hello_way *way)
{
	u32 step = datagram_step(skb), work = 0;
	struct intake in = { .sock = sock, .skb = skb, .from = from, .way = way, .work = &work };

	in.checked = udp_hdr(skb)->check && !skb_checksum_complete(skb);
	if (udp_hdr(skb)->check && !in.checked) {
		pib_udp_sock_drop(sock, rx_malformed);
		goto out_free;
	}
	if (skb->len)
		pib_udp_sock_count(sock, rx_datagrams, DIV_ROUND_UP(skb->len, step));
	in.ce = skb_is_ce(skb, from->family);
	if (unlikely(in.ce) && skb->len)
		pib_udp_sock_count(sock, rx_ce, DIV_ROUND_UP(skb->len, step));
	intake_all(&in, step);
	pib_tasks_copied(work / INTAKE_COPY);

out_free:
	consume_skb(skb);
}
