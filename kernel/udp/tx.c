// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Conversion of bursts to datagrams.
 *
 * A burst is cut into its packets, and those leave as few UDP GSO super-packets,
 * which veth and loopback carry whole and other netdevs cut up late. The payload
 * is copied once, into the super-packet. A packet is a datagram if it fits the route's MTU, and
 * what was found to come through (proto/pmtu.h), and two do not. Others are put end to end into a
 * frame, and the frame is cut into segments of equal size (docs/wire-format.md). To a peer that
 * does not know segments each packet leaves by itself, and IP fragments what does not fit.
 *
 * Packets that a task sends one after the other in its turn are put off until the turn is over, or
 * fill a super-packet, and share super-packets, small ones datagrams: what one costs is paid once
 * for all that are in it.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include "packet/burst.h"
#include "compat/compat.h"
#include "core/task.h"
#include "fabric/drop.h"
#include "fabric/port.h"
#include "proto/credit.h"
#include "proto/dg.h"
#include "proto/flow.h"
#include "proto/icrc.h"
#include "proto/opcode.h"
#include "proto/vl.h"
#include "udp/reassembly.h"
#include "udp/seal.h"
#include "udp/link.h"
#include "udp/path.h"
#include "udp/plan.h"
#include "udp/bearer.h"
#include "udp/credit.h"
#include "udp/skb_pool.h"
#include "udp/socket.h"
#include "udp/tx.h"

/* A datagram alone is put into linear memory up to this size. */
#define WIRE_LINEAR	(PIB_DG_HDR_LEN + PIB_SEAL_LEN + PIB_HDRS_MAX + PIB_MTU_MAX + \
			 2 * PIB_ICRC_LEN)

/**
 * struct writer - position in an skb at which the next byte goes
 * @skb: skb that is filled
 * @frag: fragment that @cur points into, -1: linear part
 * @cur: next byte
 * @room: bytes left at @cur
 * @seg_room: frames: bytes left in the segment
 * @packet: frames: bytes of the present packet
 * @left: frames: bytes of the present packet that are not written yet
 * @crc: ICRC, updated by all that writer_put() writes, or NULL
 * @sealed: datagrams get room for counter and tag
 * @counter: counter of the next datagram
 * @seg: frames: header of the next segment; @seg.size is 0 if this is no frame
 */
struct writer {
	struct sk_buff *skb;
	int frag;
	u8 *cur;
	u32 room;
	u32 seg_room;
	u32 packet;
	u32 left;
	u32 *crc;
	bool sealed;
	u64 counter;
	struct pib_segment seg;
};

static void writer_next(struct writer *w)
{
	const skb_frag_t *f = &skb_shinfo(w->skb)->frags[++w->frag];

	w->cur = skb_frag_address(f);
	w->room = skb_frag_size(f);
}

static __always_inline void writer_advance(struct writer *w, u32 n)
{
	w->cur += n;
	w->room -= n;
}

static noinline void writer_pieces(struct writer *w, const void *src, u32 len, u32 *crc)
{
	while (len) {
		u32 n;

		if (!w->room)
			writer_next(w);
		n = min(len, w->room);
		memcpy(w->cur, src, n);
		if (crc)
			*crc = pib_icrc_update(*crc, w->cur, n);
		writer_advance(w, n);
		src += n;
		len -= n;
	}
}

/*
 * Write bytes, and update @crc from the copy. @src may be registered memory that its owner is
 * writing right now, and a second look at @src might find other bytes than those that are sent.
 */
static __always_inline void writer_raw(struct writer *w, const void *src, u32 len, u32 *crc)
{
	if (unlikely(crc || len > w->room)) {
		writer_pieces(w, src, len, crc);
		return;
	}
	memcpy(w->cur, src, len);
	writer_advance(w, len);
}

/* Write the head of a datagram: link header, counter if it is sealed, and the rest of @head. */
static void writer_head(struct writer *w, const u8 *head, u32 len)
{
	u8 counter[8];

	if (!w->sealed) {
		writer_raw(w, head, len, NULL);
		return;
	}
	writer_raw(w, head, PIB_DG_HDR_LEN, NULL);
	pib_put64(counter, w->counter++);
	writer_raw(w, counter, sizeof(counter), NULL);
	writer_raw(w, head + PIB_DG_HDR_LEN, len - PIB_DG_HDR_LEN, NULL);
}

/* Write the end of a datagram: if it is sealed, room for the tag. */
static void writer_tail(struct writer *w)
{
	static const u8 zeros[PIB_SEAL_TAG_LEN];

	if (w->sealed)
		writer_raw(w, zeros, sizeof(zeros), NULL);
}

static void writer_segment(struct writer *w)
{
	bool in_place = !w->sealed && w->room >= PIB_SEG_HDR_LEN;
	u8 buf[PIB_SEG_HDR_LEN];

	if (w->left == w->packet)
		w->seg.first = 0;
	else
		w->seg.first = w->left < w->seg.size ? w->left : PIB_SEG_NO_FIRST;
	pib_segment_build(&w->seg, in_place ? w->cur : buf);
	if (in_place) {
		writer_advance(w, PIB_SEG_HDR_LEN);
	} else {
		if (w->seg.index)
			writer_tail(w);
		writer_head(w, buf, sizeof(buf));
	}
	w->seg.index++;
	w->seg_room = w->seg.size;
}

static void writer_put(struct writer *w, const void *src, u32 len)
{
	u32 n;

	if (!w->seg.size) {
		writer_raw(w, src, len, w->crc);
		return;
	}
	while (len) {
		if (!w->seg_room)
			writer_segment(w);
		n = min(len, w->seg_room);
		writer_raw(w, src, n, w->crc);
		w->seg_room -= n;
		w->left -= n;
		src += n;
		len -= n;
	}
}

static struct sk_buff *super_packet_skb(struct writer *w, u32 bytes)
{
	u32 data = bytes > WIRE_LINEAR ? bytes : 0;
	struct sk_buff *skb = pib_skb_pool_alloc(PIB_UDP_SOCK_HEADROOM + bytes - data, data);

	if (!skb)
		return NULL;
	skb_reserve(skb, PIB_UDP_SOCK_HEADROOM);
	memset(w, 0, sizeof(*w));
	w->skb = skb;
	w->frag = -1;
	w->cur = skb->data;
	w->room = bytes - data;
	skb_put(skb, bytes - data);
	skb->data_len = data;
	skb->len += data;
	return skb;
}

static int packet_payload(struct writer *w, struct pib_burst *b, const struct pib_packet *p)
{
	u32 off = p->off, end = p->off + p->len;

	while (off < end) {
		u32 n = end - off;
		const void *src = pib_burst_chunk(b, off, &n);

		if (!src)
			return -EFAULT;
		writer_put(w, src, n);
		off += n;
	}
	return 0;
}

/**
 * struct packet_head - headers of a packet as they stand on the wire
 * @bytes: the headers
 * @len: bytes of them
 */
struct packet_head {
	u8 bytes[PIB_HDRS_MAX];
	size_t len;
};

static int head_build(struct packet_head *head, const struct pib_packet *p)
{
	head->len = pib_hdrs_build(&p->h, p->len, head->bytes);
	return head->len ? 0 : -EFAULT;
}

/* Make the head of the packet before @p, which differs from it in the PSN only, that of @p. */
static void head_set_psn(struct packet_head *head, const struct pib_packet *p)
{
	u32 bth = PIB_LRH_LEN + (p->h.flags & PIB_H_GRH ? PIB_GRH_LEN : 0);

	put_unaligned_be24(p->h.psn, head->bytes + bth + PIB_BTH_LEN - PIB_PSN_LEN);
}

static int packet_write(struct writer *w, struct pib_burst *b, const struct pib_packet *p,
			const struct packet_head *head, bool noicrc)
{
	static const u8 zeros[4];
	u32 pad = pib_hdrs_pad(p->len), crc;
	u8 icrc[PIB_ICRC_LEN] = {};
	int err;

	w->packet = p->size;
	w->left = p->size;
	writer_put(w, head->bytes, head->len);
	crc = noicrc ? 0 : pib_icrc_headers(head->bytes, head->len);
	w->crc = noicrc ? NULL : &crc;
	err = packet_payload(w, b, p);
	if (!err)
		writer_put(w, zeros, pad);
	w->crc = NULL;
	if (err)
		return err;
	if (!noicrc)
		pib_icrc_store(crc, icrc);
	writer_put(w, icrc, PIB_ICRC_LEN);
	return 0;
}

static u8 path_flags(const struct pib_udp_path *path, bool noicrc)
{
	return (noicrc ? PIB_DG_NOICRC : 0) | (path->seal ? PIB_DG_SEALED : 0);
}

static void link_header(struct writer *w, const struct pib_udp_path *path, bool noicrc)
{
	const struct pib_dg dg = {
		.version = PIB_DG_VERSION,
		.type = PIB_DG_DATA,
		.flags = path_flags(path, noicrc),
		.tag = path->tx_tag,
		.link_id = path->remote_id,
	};
	u8 head[PIB_DG_HDR_LEN];

	pib_dg_build(&dg, head);
	writer_head(w, head, sizeof(head));
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

static void writer_start_frame(struct writer *w, const struct pib_udp_path *path,
			       const struct pib_plan *pl, u16 number, bool noicrc)
{
	w->seg = (struct pib_segment) {
		.flags = path_flags(path, noicrc),
		.tag = path->tx_tag,
		.link_id = path->remote_id,
		.frame = number,
		.total = pl->datagrams,
		.size = pl->seg,
	};
}

/* Get memory for what @pl says, and begin the frame if it is one. Return: false: no memory. */
static bool writer_begin(struct writer *w, struct pib_udp_link *link,
			 const struct pib_udp_path *path, const struct pib_plan *pl, bool noicrc)
{
	if (!super_packet_skb(w, pl->bytes))
		return false;
	w->sealed = path->seal;
	if (path->seal)
		w->counter = pib_seal_counters(path->seal, pl->datagrams);
	if (pl->seg)
		writer_start_frame(w, path, pl, atomic_inc_return(&link->frame_no), noicrc);
	return true;
}

/* Go on from @p, whose head is @head, to packet @i of @b. @first: there is no @p yet. */
static int packet_next(const struct pib_burst *b, u32 i, bool first, struct pib_packet *p,
		       struct packet_head *head)
{
	if (!first && pib_burst_next_packet(b, i, p)) {
		head_set_psn(head, p);
		return 0;
	}
	if (first)
		pib_burst_packet(b, i, p);
	return head_build(head, p);
}

/* Write @n packets: those of @b from @i on, and of the bursts behind it. */
static int packets_write(struct writer *w, const struct pib_udp_path *path, struct pib_burst *b,
			 u32 i, u32 n, bool noicrc)
{
	struct packet_head head;
	struct pib_packet p;
	u32 left;

	for (left = n; left; left--, i++) {
		if (i == b->npkts) {
			b = list_next_entry(b, entry);
			i = 0;
		}
		if (packet_next(b, i, left == n, &p, &head))
			return -EFAULT;
		if (!w->seg.size)
			link_header(w, path, noicrc);
		if (packet_write(w, b, &p, &head, noicrc))
			return -EFAULT;
		if (!w->seg.size)
			writer_tail(w);
	}
	return 0;
}

/* End what was written, and close its seals. Return: 0 or a negative error. */
static int writer_end(struct writer *w, const struct pib_udp_path *path, const struct pib_plan *pl)
{
	if (pl->seg)
		writer_tail(w);
	if (pl->datagrams > 1)
		skb_set_gso(w->skb, pl->size, pl->datagrams);
	if (!path->seal)
		return 0;
	return pib_seal_close(path->seal, w->skb, pl->size, w->counter - pl->datagrams);
}

/* Return: DSCP and ECN of a burst, which may be marked where its sender hears of that. */
static u8 burst_tos(const struct pib_udp_link *link, const struct pib_udp_path *path,
		    const struct pib_burst *b)
{
	u8 tos = READ_ONCE(link->bearer->tos[b->h.sl % PIB_SLS]);

	return path->ecn && pib_hdrs_sender_is_told(&b->h) ? tos : tos & ~INET_ECN_MASK;
}

void pib_udp_lane_flow(const struct pib_udp_link *link, const struct pib_udp_path *path, u32 hash,
		       struct pib_udp_lane *lane)
{
	const struct pib_udp_sock *sock = link->bearer->sock;
	__be16 port = 0;

	if (READ_ONCE(path->flows) && READ_ONCE(link->bearer->flow_ports))
		port = pib_flow_port(&sock->end[path->to].flows, hash);
	lane->port = port ? port : htons(sock->port);
	if (port && path->to)	/* IPv6 */
		lane->label = htonl(pib_flow_label(sock->label_secret, hash));
}

/*
 * Put UDP source port and IPv6's flow label (RFC 6438) of a burst's flow into @route: the network
 * may spread flows by either. A VL that has a window is one flow: the peer is asked by the way of
 * its data what has come of it.
 */
static void burst_flow(const struct pib_udp_link *link, const struct pib_udp_path *path,
		       const struct pib_burst *b, struct pib_udp_route *route)
{
	u32 hash = path->windows ? pib_flow_of_vl(b->h.vl) : pib_flow_hash(&b->h);
	struct pib_udp_lane lane = { .port = route->port, .label = route->label };

	pib_udp_lane_flow(link, path, hash, &lane);
	route->port = lane.port;
	route->label = lane.label;
}

/*
 * Return: true if @b must not wait for what fills its VL: QP1 has sent it to another one, or it
 * says that the way is congested. Users may send to QP1, but not from it.
 */
static bool burst_goes_ahead(const struct pib_burst *b)
{
	return b->h.tp == PIB_TP_CNP ||
	       (b->h.tp == PIB_TP_UD && b->h.dqpn <= 1 && b->h.sqpn <= 1);
}

/* Return: true if nobody has @b wait for the window of its VL. */
static bool burst_goes_beside(const struct pib_burst *b)
{
	return b->via_udp || burst_goes_ahead(b);
}

/* Count what is about to be sent with @tos. */
static void burst_count(struct pib_udp_link *link, const struct pib_udp_path *path,
			const struct pib_burst *b, const struct pib_plan *pl, u8 tos)
{
	u32 bytes = pib_credit_bytes(pib_plan_packet_bytes(pl), pl->n);

	pib_udp_credits_sent(link, path, b->h.vl, bytes, burst_goes_beside(b),
			     tos & ~INET_ECN_MASK);
}

/* Send what @w has written; @b is the first burst in it. */
static void super_packet_send(struct pib_udp_link *link, const struct pib_udp_path *path,
			      const struct pib_burst *b, const struct pib_plan *pl,
			      struct writer *w, struct pib_udp_route *route)
{
	u8 tos = burst_tos(link, path, b);

	burst_flow(link, path, b, route);
	if (path->windows)
		burst_count(link, path, b, pl, tos);
	pib_udp_sock_send(link->bearer->sock, w->skb, &path->peer[path->to], route, tos);
}

/* Write the super-packet of @pl. Return: 0; -ENOMEM; -EFAULT: a payload cannot be read. */
static int super_packet_write(struct writer *w, struct pib_udp_link *link,
			      const struct pib_udp_path *path, struct pib_burst *b, u32 i,
			      const struct pib_plan *pl)
{
	bool noicrc = path->noicrc && b->icrc_ok;
	int err;

	if (!writer_begin(w, link, path, pl, noicrc))
		return -ENOMEM;
	err = packets_write(w, path, b, i, pl->n, noicrc);
	if (!err)
		err = writer_end(w, path, pl);
	if (err)
		kfree_skb(w->skb);
	return err;
}

/*
 * Send what goes into one super-packet of @n packets that wait: those of @b from @i on, and of the
 * bursts behind it if that is more. If that fails, those of @b are tried alone.
 *
 * @pl: what was sent, or was lost: all of the @n packets if there is no route.
 */
static void packets_send(struct pib_udp_link *link, struct pib_udp_path *path, struct pib_burst *b,
			 u32 i, u32 n, struct pib_plan *pl)
{
	struct pib_udp_sock *sock = link->bearer->sock;
	u32 own = b->npkts - i, mtu;
	struct pib_udp_route route;
	struct writer w;
	int err;

	*pl = (struct pib_plan) { .n = n };
	if (pib_udp_sock_route(sock, &path->peer[path->to], &path->cache, &route))
		goto err_count;
	mtu = min(route.mtu, READ_ONCE(path->limit));
	pib_plan_make(path, mtu, b, i, n, pl);
	err = super_packet_write(&w, link, path, b, i, pl);
	if (err && pl->n > own) {
		pib_plan_make(path, mtu, b, i, own, pl);
		err = super_packet_write(&w, link, path, b, i, pl);
	}
	if (err)
		goto err_route;
	super_packet_send(link, path, b, pl, &w, &route);
	return;

err_route:
	dst_release(route.dst);
err_count:
	pib_udp_sock_lose(sock, tx_errors, pl->n);
}

/* ---- what waits for more of its turn ---- */

/**
 * struct waiting - bursts that this CPU has put off
 * @put_off: has them sent when the turn is over
 * @link: by which they go
 * @path: its path; the RCU section in which they were put off lasts until they are sent
 * @bursts: the bursts, in their order; all are of one flow, and have one DSCP. Not valid if @n is 0
 * @sent: packets of the first one that were sent
 * @n: number of packets that wait
 * @bytes: bytes of them, LRH to ICRC
 */
struct waiting {
	struct pib_put_off put_off;
	struct pib_udp_link *link;
	struct pib_udp_path *path;
	struct list_head bursts;
	u32 sent;
	u32 n;
	u32 bytes;
};

static DEFINE_PER_CPU(struct waiting, pib_waiting);

static struct pib_burst *waiting_first(const struct waiting *w)
{
	return list_first_entry(&w->bursts, struct pib_burst, entry);
}

/* Free the bursts all of whose packets are among the next @n, which were sent. */
static void waiting_sent(struct waiting *w, u32 n)
{
	struct pib_burst *b;

	w->n -= n;
	w->sent += n;
	while (!list_empty(&w->bursts)) {
		b = waiting_first(w);
		if (w->sent < b->npkts)
			break;
		w->sent -= b->npkts;
		list_del(&b->entry);
		pib_burst_free(b);
	}
}

/* Send a super-packet of at most @n of the packets. */
static void waiting_send(struct waiting *w, u32 n)
{
	struct pib_plan pl;

	packets_send(w->link, w->path, waiting_first(w), w->sent, n, &pl);
	w->bytes -= pib_plan_packet_bytes(&pl);
	waiting_sent(w, pl.n);
}

/*
 * Return: the packets that leave by themselves: those of the small bursts at the end, or of the
 * last burst. With nothing behind it, nobody would see soon that what comes before is lost. 0:
 * there is but one burst, or all are small, and what gets lost with one frame of those shows by
 * the next.
 */
static u32 waiting_last(const struct waiting *w)
{
	const struct pib_burst *first = waiting_first(w);
	const struct pib_burst *b = list_last_entry(&w->bursts, struct pib_burst, entry);
	u32 small = 0;

	for (; b != first && pib_burst_is_small(b); b = list_prev_entry(b, entry))
		small++;
	if (b == first)
		return pib_burst_is_small(b) ? 0 : small;
	return small ? small : b->npkts;
}

/* Send what was put off, and free it. */
static void waiting_flush(struct pib_put_off *o)
{
	struct waiting *w = container_of(o, struct waiting, put_off);
	u32 last = w->n ? waiting_last(w) : 0;

	while (w->n > last)
		waiting_send(w, w->n - last);
	while (w->n)
		waiting_send(w, w->n);
}

/*
 * Return: true if @b may be put off. Where VLs have windows nothing is, for each burst looks at
 * what those before it have on their way.
 */
static bool burst_may_wait(const struct pib_udp_path *path, const struct pib_burst *b)
{
	return path->segments && !path->windows && (pib_burst_is_small(b) || pib_burst_joins(b));
}

/*
 * Return: true if @b may share a frame with what was put off: flow, DSCP and flags are the same. In
 * a turn there are bursts of one QP alone.
 */
static bool waiting_is_alike(const struct waiting *w, const struct pib_udp_link *link,
			     const struct pib_udp_path *path, const struct pib_burst *b)
{
	const struct pib_burst *f = waiting_first(w);

	return w->link == link && w->path == path && f->h.dqpn == b->h.dqpn &&
	       f->h.sqpn == b->h.sqpn && f->h.slid == b->h.slid && f->h.dlid == b->h.dlid &&
	       f->h.sl == b->h.sl && f->icrc_ok == b->icrc_ok && f->alone == b->alone &&
	       pib_hdrs_sender_is_told(&f->h) == pib_hdrs_sender_is_told(&b->h);
}

/* Put @b off, behind what was put off before, of which full super-packets are sent. */
static void waiting_append(struct waiting *w, struct pib_udp_link *link, struct pib_udp_path *path,
			   struct pib_burst *b)
{
	if (!w->n) {
		INIT_LIST_HEAD(&w->bursts);
		w->sent = 0;
		w->bytes = 0;
	}
	w->link = link;
	w->path = path;
	list_add_tail(&b->entry, &w->bursts);
	w->n += b->npkts;
	w->bytes += pib_burst_wire_bytes(b);
	while (w->n && w->bytes >= PIB_PLAN_MAX_BYTES)
		waiting_send(w, w->n);
}

/*
 * Put @b off. If it cannot be, what was put off is sent first.
 *
 * Return: false: @b is to be sent now.
 */
static bool waiting_add(struct pib_udp_link *link, struct pib_udp_path *path, struct pib_burst *b)
{
	struct waiting *w = this_cpu_ptr(&pib_waiting);
	bool waits = burst_may_wait(path, b);

	if (w->n && (!waits || !waiting_is_alike(w, link, path, b)))
		waiting_flush(&w->put_off);
	/* Pointers in a module's per-CPU memory cannot be set when it is compiled. */
	w->put_off.do_it = waiting_flush;
	if (!waits || !pib_put_off_add(&w->put_off))
		return false;
	waiting_append(w, link, path, b);
	return true;
}

/* Return: true if @b has no payload, and its peer answers it, or waits for it. */
static bool burst_is_bare(const struct pib_burst *b)
{
	return !b->len && b->h.op != PIB_OP_SEND && b->h.op != PIB_OP_WRITE;
}

/* Return: the room for @b. Empty messages are data: nobody need wait for an answer to one. */
static enum pib_udp_room burst_room(struct pib_udp_link *link, const struct pib_udp_path *path,
				    const struct pib_burst *b)
{
	if (b->last || b->h.vl == PIB_VL_MGMT || burst_goes_ahead(b) ||
	    (path->windows && pib_udp_credits_spare(link, path, b->h.vl)))
		return PIB_UDP_ROOM_AHEAD;
	return burst_is_bare(b) ? PIB_UDP_ROOM_BARE : PIB_UDP_ROOM_DATA;
}

/* Return: true if @b waits for the window of its VL. */
static bool burst_waits(struct pib_udp_link *link, const struct pib_udp_path *path,
			const struct pib_burst *b)
{
	return path->windows && !burst_goes_ahead(b) &&
	       pib_udp_credits_closed(link, path, b->h.vl, b->h.tp == PIB_TP_UD);
}

bool pib_udp_full(const struct pib_link *base, struct pib_burst *b)
{
	struct pib_udp_link *link = to_udp_link(base);
	const struct pib_udp_path *path = rcu_dereference(link->path);
	const struct pib_addr *to;

	if (!path)
		return false;
	if (!b->last && burst_waits(link, path, b)) {
		b->window = &link->parking[b->h.vl];
		return true;
	}
	to = &path->peer[path->to];
	return pib_udp_sock_full(link->bearer->sock, to, PIB_UDP_ROOM_DATA) &&
	       pib_udp_sock_full(link->bearer->sock, to, burst_room(link, path, b));
}

/*
 * Return: true if @b must not leave: nobody could hold it back, and its VL has far more on its way
 * than its window is; or it is a datagram that has come from here and waits no longer.
 */
static bool burst_is_too_much(struct pib_udp_link *link, const struct pib_udp_path *path,
			      const struct pib_burst *b)
{
	return path->windows && !burst_goes_ahead(b) &&
	       pib_udp_credits_overdrawn(link, path, b->h.vl, b->via_udp,
					 b->h.tp == PIB_TP_UD && !b->via_udp);
}

void pib_udp_xmit(struct pib_link *base, struct pib_burst *b)
{
	struct pib_udp_link *link = to_udp_link(base);
	struct pib_udp_path *path = rcu_dereference(link->path);
	struct pib_plan pl;
	u32 i;

	if (!path) {
		pib_udp_sock_lose(link->bearer->sock, tx_errors, b->npkts);
		goto out_free;
	}
	if (burst_is_too_much(link, path, b)) {
		pib_udp_sock_count(link->bearer->sock, tx_overdrawn, b->npkts);
		pib_kport_failed(link->port, b, PIB_CAPTURE_OUT, PIB_CAPTURE_FULL);
		pib_kport_count(link->port, xmit_discard, b->npkts);
		goto out_free;
	}
	if (waiting_add(link, path, b))
		return;
	for (i = 0; i < b->npkts; i += pl.n)
		packets_send(link, path, b, i, b->npkts - i, &pl);
out_free:
	pib_burst_free(b);
}
