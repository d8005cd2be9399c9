/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Bursts: the form in which packets travel inside the kernel. A burst is a run of
 * consecutive packets of one message: headers in host form, and references to the
 * payload, which is not copied until it lands. Datagrams are a packet each: a burst of
 * several is a run of messages that differ in PSN, payload, and the length of the last.
 */
#ifndef PIB_PACKET_BURST_H
#define PIB_PACKET_BURST_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include "proto/opcode.h"
#include "memory/access.h"

struct pib_kport;

/**
 * struct pib_burst_owner - listens for the end of bursts that refer to its memory
 * @done: called when a burst is gone, which the owner knows by @slot. Any context, softirqs off
 * @flushes: the owner's work requests are flushed when all are gone
 * @waits: a verb waits until all are gone
 */
struct pib_burst_owner {
	void (*done)(struct pib_burst_owner *owner, u32 slot);
	bool flushes;
	bool waits;
};

/**
 * struct pib_skb_map - places in an skb of the payload of each packet of a burst
 * @first: of the first packet
 * @next: of the second; those behind it follow at a distance of @stride
 * @stride: see @next
 * @last: of the last
 * @seg: the skb is a frame with a segment header (proto/segment.h) before each @seg
 *	bytes, which the offsets leave out; 0: it has none
 */
struct pib_skb_map {
	u32 first;
	u32 next;
	u32 stride;
	u32 last;
	u16 seg;
};

#define PIB_BURST_SPANS	4	/* pieces of memory for which a burst has room in itself */
#define PIB_BURST_SMALL	192
#define PIB_BURST_MAX	65536	/* most bytes of payload */

enum pib_payload {
	PIB_PAYLOAD_NONE,
	PIB_PAYLOAD_SMALL,	/* in @small */
	PIB_PAYLOAD_LINEAR,	/* @linear, freed with kfree() */
	PIB_PAYLOAD_RESERVE,	/* @linear, of those kept ready */
	PIB_PAYLOAD_SPANS,	/* registered memory: @spans hold references */
	PIB_PAYLOAD_SKB,	/* in @skb, where @map says */
	PIB_PAYLOAD_CLONE,	/* that of @parent from @parent_off on; a reference is held */
};

struct pib_parking;

/**
 * struct pib_burst - a burst of packets
 * @entry: in the queue that owns it
 * @ref: clones made of it plus one
 * @h: headers, see hdrs.h; @h.flags FIRST and LAST say whether the message starts and ends here
 * @npkts: packets, at least 1
 * @len: bytes of payload
 * @pmtu: bytes of payload in each packet but the last
 * @wire_bytes: bytes on the wire, LRH to ICRC of all packets, if the sender has left them here; 0:
 *	pib_burst_wire_bytes() adds them up
 * @payload: enum pib_payload
 * @nspans: entries in @spans
 * @icrc_ok: the payload cannot have been damaged since its ICRC was or would have been computed
 * @via_udp: the burst came over UDP: nobody can take it back
 * @hops: switches passed
 * @tries: number of times that a full QP has refused the burst
 * @cable: effect on the burst of the cable by which it came last, enum pib_capture_reason
 * @shared: @charge is charged to the HCA as well
 * @rules_asked: rules of injection have seen it at the QP to which it goes
 * @traced: a tracepoint has told of its arrival at the present QP
 * @queued: a tracepoint has told that it waits in a virtual lane
 * @copy: a cable, or an injection, has made the burst of another one
 * @alone: it shares no frame of several segments with packets of others: one that comes tells of
 *	another that was lost
 * @last: its QP ends, and nobody can send it later: it has room of its own in a full socket
 * @csum_ok: an HCA of this kernel has filled in the checksums of the IP packets in it
 * @head_len: the payload of each packet begins with so many bytes of @heads
 * @charge: bytes of memory charged to the QP in whose inbox the burst stands
 * @in_port: port by which the burst came into the present node
 * @due: ns: time when the burst arrives from the pipe that it is in, or came to the present node
 *	from one; 0: there was no pipe yet. Before it leaves its QP: end of its stay there
 * @queued_at: @queued: time since when, ns
 * @window: where those wait for whose VL the window is closed, by which it was last refused; there
 *	until the end of the RCU section in which that was. NULL: it was refused for another reason,
 *	or not at all
 * @owner: hears when the burst is freed, and is there until then; NULL: nobody
 * @owner_slot: number by which @owner knows the burst
 * @heads: first bytes of the payload of each packet, packet by packet, freed with kfree(); the
 *	rest is where @payload says. @len and @pmtu count both. NULL: all is where @payload says
 * @small: PIB_PAYLOAD_SMALL: the payload itself
 * @linear: PIB_PAYLOAD_LINEAR, PIB_PAYLOAD_RESERVE: the payload
 * @spans: PIB_PAYLOAD_SPANS: registered memory, of which references are held; @own_spans, or
 *	allocated if there are more
 * @own_spans: see @spans
 * @skb: PIB_PAYLOAD_SKB: datagram or super-packet that has the payload
 * @map: PIB_PAYLOAD_SKB: where in @skb the payload is
 * @parent: PIB_PAYLOAD_CLONE: burst whose payload it is, of which a reference is held; no clone
 * @parent_off: PIB_PAYLOAD_CLONE: offset in the payload of @parent
 */
struct pib_burst {
	struct list_head entry;
	refcount_t ref;
	struct pib_hdrs h;
	u32 npkts;
	u32 len;
	u32 pmtu;
	u32 wire_bytes;
	u8 payload;
	u8 nspans;
	bool icrc_ok;
	bool via_udp;
	u8 hops;
	u8 tries;
	u8 cable;
	bool shared;
	bool rules_asked;
	bool traced;
	bool queued;
	bool copy;
	bool alone;
	bool last;
	bool csum_ok;
	u8 head_len;
	u32 charge;
	u32 owner_slot;
	void *heads;
	struct pib_kport *in_port;
	u64 due;
	u64 queued_at;
	struct pib_parking *window;
	struct pib_burst_owner *owner;
	union {
		u8 small[PIB_BURST_SMALL];
		void *linear;
		struct {
			struct pib_span *spans;
			struct pib_span own_spans[PIB_BURST_SPANS];
		};
		struct {
			struct sk_buff *skb;
			struct pib_skb_map map;
		};
		struct {
			struct pib_burst *parent;
			u32 parent_off;
		};
	};
};

/* Make the memory for bursts, before the first one. Context: process. Return: 0 or -ENOMEM. */
int pib_burst_cache_init(void);
/* Free the memory for bursts, when none is left. Context: process. */
void pib_burst_cache_exit(void);

/* Make a burst without payload. Context: any. Return: the burst; NULL: no memory. */
struct pib_burst *pib_burst_alloc(void);
/* As pib_burst_alloc(), for a caller that overwrites all of @h. Context, Return: as there. */
struct pib_burst *pib_burst_alloc_headless(void);
/**
 * pib_burst_make() - make a burst without payload, for a caller that knows its headers
 * @h: headers, which are copied
 * @npkts: packets
 * @len: bytes of payload
 * @pmtu: bytes of payload in each packet but the last
 *
 * Context: any.
 * Return: the burst; NULL: no memory.
 */
struct pib_burst *pib_burst_make(const struct pib_hdrs *h, u32 npkts, u32 len, u32 pmtu);
/*
 * Make a burst with the same headers and a shared payload, for multicast.
 *
 * Context: any.
 * Return: the burst; NULL: no memory.
 */
struct pib_burst *pib_burst_clone(struct pib_burst *b);
/* As pib_burst_clone(), of @n packets from packet @i on. Context, Return: as there. */
struct pib_burst *pib_burst_slice(struct pib_burst *b, u32 i, u32 n);
/* Add up the packets, for pib_burst_wire_bytes(). Context: any. Return: as there. */
u32 pib_burst_sum_bytes(const struct pib_burst *b);
/* Return: bytes on the wire, LRH to ICRC of all packets. Context: any. */
static inline u32 pib_burst_wire_bytes(const struct pib_burst *b)
{
	return b->wire_bytes ? b->wire_bytes : pib_burst_sum_bytes(b);
}

/**
 * struct pib_packet - one packet of a burst
 * @h: headers
 * @off: offset of its payload in the burst's
 * @len: bytes of payload
 * @size: bytes on the wire, LRH to ICRC
 */
struct pib_packet {
	struct pib_hdrs h;
	u32 off;
	u32 len;
	u32 size;
};

/* Find packet @i of a burst. Context: any. */
static inline void pib_burst_packet(const struct pib_burst *b, u32 i, struct pib_packet *p)
{
	pib_hdrs_packet(&b->h, b->npkts, i, &p->h);
	p->off = i * b->pmtu;
	p->len = i + 1 < b->npkts ? b->pmtu : b->len - p->off;
	p->size = pib_opcode_wire_len(&p->h, p->len);
}

/*
 * Go on to packet @i of a burst from the one before it, @p. Context: any.
 *
 * Return: true if the headers of the two differ in the PSN only, as do those of packets in the
 * middle of a burst.
 */
static inline bool pib_burst_next_packet(const struct pib_burst *b, u32 i, struct pib_packet *p)
{
	if (i < 2 || i + 1 >= b->npkts) {
		pib_burst_packet(b, i, p);
		return false;
	}
	p->h.psn = pib_psn_add(p->h.psn, 1);
	p->off += b->pmtu;
	return true;
}

/* Drop a burst: release its payload, tell @owner. Context: any, softirqs off. */
void pib_burst_free(struct pib_burst *b);

/**
 * pib_burst_own() - get memory of the burst's own
 * @b: burst without payload; its @h.tp decides whether the reserve may be used
 * @len: bytes of payload
 *
 * Context: any.
 * Return: the memory; NULL: there is none.
 */
void *pib_burst_own(struct pib_burst *b, u32 len);
/**
 * pib_burst_refer() - have the payload be registered memory
 * @b: burst without payload
 * @n: pieces of memory for which there is to be room in @b->spans; @b->nspans of them are filled in
 *	by the caller
 *
 * Context: any.
 * Return: false: no memory; the burst is unchanged.
 */
bool pib_burst_refer(struct pib_burst *b, u32 n);
/* Put the pieces of registered memory that are the payload, which is none then. Context: any. */
void pib_burst_unrefer(struct pib_burst *b);
/*
 * Return: true if the payload is not registered memory, whose owner may be writing to it. Context:
 * any.
 */
bool pib_burst_is_stable(const struct pib_burst *b);

/*
 * Return: true if somebody waits for the end of the burst, or of its hold on memory. Context: any.
 */
bool pib_burst_is_wanted(const struct pib_burst *b);

/*
 * Copy the payload, unless it is the burst's own. So a burst that stays for long holds no memory
 * that others want back, nor any of the reserve.
 *
 * Context: any, softirqs off.
 * Return: false: no memory, or there are clones of the burst; the burst is unchanged.
 */
bool pib_burst_detach(struct pib_burst *b);
/*
 * Copy the payload if it is only a small part of the datagrams by which it came, for these are kept
 * as long as the burst. Context: any, softirqs off.
 */
void pib_burst_shrink(struct pib_burst *b);

/*
 * Copy @len bytes of payload from @off on to kernel memory. Context: any. Return: 0 or -EFAULT.
 */
int pib_burst_read(struct pib_burst *b, u32 off, void *dst, u32 len);
/**
 * pib_burst_place() - copy payload to registered memory
 * @b: burst
 * @off: first byte of the payload
 * @span: memory; the copy begins at its start
 * @len: bytes
 *
 * Context: softirqs off.
 * Return: 0 or -errno. -EAGAIN: a page is missing, and the caller has it brought in
 *	(pib_pagein_start()); a part may then have been copied.
 */
int pib_burst_place(struct pib_burst *b, u32 off, const struct pib_span *span, u32 len);
/**
 * pib_burst_chunk() - find a contiguous run of payload
 * @b: burst
 * @off: first byte
 * @len: bytes wanted; result: length of the run
 *
 * Context: any.
 * Return: its address; NULL: fault.
 */
const void *pib_burst_chunk(struct pib_burst *b, u32 off, u32 *len);
/* As pib_burst_chunk(), of the data of an skb. */
const void *pib_skb_chunk(const struct sk_buff *skb, u32 off, u32 *len);

/**
 * struct pib_skb_run - bytes of an skb that lie in one piece: those that were found last. Good for
 *	one skb, while nobody changes its data or fragments.
 * @at: the first of them
 * @off: where in the skb that is
 * @len: number of them, 0 at first
 */
struct pib_skb_run {
	const u8 *at;
	u32 off;
	u32 len;
};

/* As pib_skb_chunk(), for one who mostly stays in the same piece. */
static inline const void *pib_skb_run_chunk(struct pib_skb_run *r, const struct sk_buff *skb,
					    u32 off, u32 *len)
{
	if (off < r->off || off - r->off >= r->len) {
		r->off = off;
		r->len = skb->len;
		r->at = pib_skb_chunk(skb, off, &r->len);
		if (!r->at) {
			r->len = 0;
			return NULL;
		}
	}
	off -= r->off;
	*len = min(*len, r->len - off);
	return r->at + off;
}

#endif
