// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data of keyed fabrics under ChaCha20-Poly1305. A sender encrypts its super-packet
 * where it lies: the bytes are the sender's own copy. A receiver copies first, for
 * the bytes it got may belong to the sender, or to a packet sniffer as well. The copy has
 * the datagrams without their counters and tags, as an open fabric would have sent
 * them, and is taken in as such (udp/rx.c).
 */
#include <crypto/chacha20poly1305.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "core/net.h"
#include "core/task.h"
#include "udp/auth.h"
#include "udp/bearer.h"
#include "udp/link.h"
#include "udp/path.h"
#include "udp/seal.h"
#include "udp/socket.h"

#define SEAL_SGS	(MAX_SKB_FRAGS + 1)
/* Opening so many bytes costs as much as one copy of a multicast (pib_tasks_copied()). */
#define SEAL_COPY	2048
#define SEAL_LINEAR	4096

/* ---- keys ---- */

/*
 * Make the key of @generation. Anybody may have named the generation, but this is only as much work
 * as a datagram of 32 bytes.
 */
static void make_key(const u8 session[PIB_SEAL_KEY_LEN], u64 generation, u8 key[PIB_SEAL_KEY_LEN])
{
	static const u8 zeros[PIB_SEAL_KEY_LEN];
	u8 out[PIB_SEAL_KEY_LEN + PIB_SEAL_TAG_LEN];

	chacha20poly1305_encrypt(out, zeros, sizeof(zeros), NULL, 0, generation, session);
	memcpy(key, out, PIB_SEAL_KEY_LEN);
	memzero_explicit(out, sizeof(out));
}

/* Keep a key. Consecutive generations do not share a place. */
static void keys_keep(struct pib_seal_keys *keys, u64 generation, const u8 key[PIB_SEAL_KEY_LEN])
{
	keys->made[generation % 2].generation = generation;
	memcpy(keys->made[generation % 2].key, key, PIB_SEAL_KEY_LEN);
}

/* Return: true if @key was set to that of @generation; false: the key must be made. */
static bool keys_find(const struct pib_seal_keys *keys, u64 generation, u8 key[PIB_SEAL_KEY_LEN])
{
	if (keys->made[generation % 2].generation != generation)
		return false;
	memcpy(key, keys->made[generation % 2].key, PIB_SEAL_KEY_LEN);
	return true;
}

static void keys_begin(struct pib_seal_keys *keys)
{
	u64 generation;

	for (generation = 0; generation < 2; generation++) {
		keys->made[generation].generation = generation;
		make_key(keys->session, generation, keys->made[generation].key);
	}
}

struct pib_seal *pib_seal_alloc(const struct pib_auth *own, const struct pib_auth *peer, u64 nonce,
				u64 peer_nonce)
{
	struct pib_seal *seal = kzalloc(sizeof(*seal), GFP_ATOMIC);

	if (!seal)
		return NULL;
	refcount_set(&seal->refs, 1);
	spin_lock_init(&seal->tx_lock);
	spin_lock_init(&seal->lock);
	seal->nonce = nonce;
	seal->peer_nonce = peer_nonce;
	if (pib_auth_seal_key(own, peer_nonce, nonce, seal->tx.session) ||
	    pib_auth_seal_key(peer, nonce, peer_nonce, seal->rx.session)) {
		pib_seal_put(seal);
		return NULL;
	}
	keys_begin(&seal->tx);
	keys_begin(&seal->rx);
	return seal;
}

struct pib_seal *pib_seal_get(struct pib_seal *seal)
{
	if (seal)
		refcount_inc(&seal->refs);
	return seal;
}

void pib_seal_put(struct pib_seal *seal)
{
	if (seal && refcount_dec_and_test(&seal->refs))
		kfree_sensitive(seal);
}

/* ---- the sender ---- */

u64 pib_seal_counters(struct pib_seal *seal, u32 n)
{
	return atomic64_add_return(n, &seal->sent) - n + 1;
}

/* List the bytes of @skb, which has no frag list, for the cipher. Return: entries, or -errno. */
static int seal_list(struct sk_buff *skb, u32 off, u32 len, struct scatterlist sg[SEAL_SGS])
{
	sg_init_table(sg, SEAL_SGS);
	return skb_to_sgvec(skb, sg, off, len);
}

/* Find the key of @generation, or make it. */
static void tx_key(struct pib_seal *seal, u64 generation, u8 key[PIB_SEAL_KEY_LEN])
{
	spin_lock(&seal->tx_lock);
	if (!keys_find(&seal->tx, generation, key)) {
		make_key(seal->tx.session, generation, key);
		keys_keep(&seal->tx, generation, key);
	}
	spin_unlock(&seal->tx_lock);
}

static int close_one(struct sk_buff *skb, u32 off, u32 len, u64 counter,
		     const u8 key[PIB_SEAL_KEY_LEN])
{
	struct scatterlist sg[SEAL_SGS];
	u8 head[PIB_DG_HDR_LEN];
	bool done;
	int n;

	n = skb_copy_bits(skb, off, head, sizeof(head));
	if (n)
		return n;
	n = seal_list(skb, off + PIB_SEAL_HEAD_LEN, len - PIB_SEAL_HEAD_LEN, sg);
	if (n < 0)
		return n;
	done = chacha20poly1305_encrypt_sg_inplace(sg, len - PIB_SEAL_HEAD_LEN - PIB_SEAL_TAG_LEN,
						   head, sizeof(head), counter, key);
	return done ? 0 : -EIO;
}

int pib_seal_close(struct pib_seal *seal, struct sk_buff *skb, u32 step, u64 counter)
{
	u64 generation = pib_seal_generation(counter);
	u8 key[PIB_SEAL_KEY_LEN];
	int err = 0;
	u32 off;

	tx_key(seal, generation, key);
	for (off = 0; off < skb->len && !err; off += step, counter++) {
		if (unlikely(pib_seal_generation(counter) != generation)) {
			generation = pib_seal_generation(counter);
			tx_key(seal, generation, key);
		}
		err = close_one(skb, off, min(step, skb->len - off), counter, key);
	}
	memzero_explicit(key, sizeof(key));
	return err;
}

/* ---- the receiver ---- */

/* Find the seal of the session of a datagram. Return: NULL: the datagram is counted as dropped. */
static struct pib_seal *seal_of(struct pib_udp_sock *sock, const struct pib_addr *from,
				const struct pib_dg *dg)
{
	struct pib_udp_link *link;
	struct pib_udp_path *path = pib_udp_path_find(sock, dg->link_id, dg->tag, from, &link);

	if (!path)
		return NULL;
	if (!path->seal)
		pib_udp_sock_drop(sock, rx_unknown_link);
	return path->seal;
}

/* Return: true if no datagram of @counter has come before; @key is then set to its key. */
static bool seal_expects(struct pib_seal *seal, u64 counter, u8 key[PIB_SEAL_KEY_LEN])
{
	u64 generation = pib_seal_generation(counter);
	bool is_new, found = false;

	spin_lock(&seal->lock);
	is_new = pib_replay_is_new(&seal->replay, counter);
	if (is_new)
		found = keys_find(&seal->rx, generation, key);
	spin_unlock(&seal->lock);
	if (is_new && !found)
		make_key(seal->rx.session, generation, key);
	return is_new;
}

/*
 * Note that a datagram of @counter came and @key has opened it. Return: false: another one with the
 * same counter was faster.
 */
static bool seal_take(struct pib_seal *seal, u64 counter, const u8 key[PIB_SEAL_KEY_LEN])
{
	bool taken;

	spin_lock(&seal->lock);
	taken = pib_replay_take(&seal->replay, counter);
	if (taken)
		keys_keep(&seal->rx, pib_seal_generation(counter), key);
	spin_unlock(&seal->lock);
	return taken;
}

/**
 * struct opening - sealed datagrams on their way out of their seals
 * @sock: sockets by which they came
 * @addr: sender
 * @from: skb in which they came
 * @room: most bytes that they can have once opened
 * @to: copy, with @room bytes; NULL: not needed yet
 * @len: bytes of @to that are in use
 */
struct opening {
	struct pib_udp_sock *sock;
	const struct pib_addr *addr;
	struct sk_buff *from;
	u32 room;
	struct sk_buff *to;
	u32 len;
};

/*
 * Allocate the copy, if there is none yet, in pages of its own. Pages that others share
 * (udp/skb_pool.c) would let a datagram that waits for a QP keep more memory than the QP is charged
 * for. Return: false: no memory.
 */
static bool open_room(struct opening *o)
{
	u32 data = o->room > SEAL_LINEAR ? o->room : 0;
	int err;

	if (o->to)
		return true;
	o->to = alloc_skb_with_frags(o->room - data, data, PAGE_ALLOC_COSTLY_ORDER, &err,
				     GFP_ATOMIC | __GFP_NOWARN);
	if (!o->to)
		return false;
	skb_put(o->to, o->room - data);
	o->to->len += data;
	o->to->data_len = data;
	return true;
}

/* Return: the bytes of @skb from @at on; *@len is limited to those that lie together. */
static u8 *bytes_at(struct sk_buff *skb, u32 at, u32 *len)
{
	const skb_frag_t *f = skb_shinfo(skb)->frags;

	if (!skb->data_len) {
		*len = min(*len, skb->len - at);
		return skb->data + at;
	}
	for (; at >= skb_frag_size(f); f++)
		at -= skb_frag_size(f);
	*len = min(*len, skb_frag_size(f) - at);
	return skb_frag_address(f) + at;
}

static int open_copy(struct opening *o, u32 off, u32 at, u32 len)
{
	u32 n;
	u8 *to;

	for (; len; off += n, at += n, len -= n) {
		n = len;
		to = bytes_at(o->to, at, &n);
		if (skb_copy_bits(o->from, off, to, n))
			return -EFAULT;
	}
	return 0;
}

/*
 * Decrypt a datagram into @o->to: the link header as it is, and behind it the encrypted bytes. The
 * tag follows these until it is checked, and the next datagram overwrites it.
 *
 * Return: true if the datagram is authentic; false: it is counted as dropped.
 */
static bool open_bytes(struct opening *o, const u8 key[PIB_SEAL_KEY_LEN],
		       const u8 head[PIB_DG_HDR_LEN], u32 off, u32 len, u64 counter)
{
	u32 body = len - PIB_SEAL_HEAD_LEN, at = o->len + PIB_DG_HDR_LEN;
	struct scatterlist sg[SEAL_SGS];

	if (!open_room(o) || skb_store_bits(o->to, o->len, head, PIB_DG_HDR_LEN) ||
	    open_copy(o, off + PIB_SEAL_HEAD_LEN, at, body) || seal_list(o->to, at, body, sg) < 0) {
		pib_udp_sock_drop(o->sock, rx_reasm);
		return false;
	}
	pib_tasks_copied(DIV_ROUND_UP(body, SEAL_COPY));
	if (chacha20poly1305_decrypt_sg_inplace(sg, body, head, PIB_DG_HDR_LEN, counter, key))
		return true;
	pib_udp_sock_drop(o->sock, rx_bad_seal);
	return false;
}

static void open_one(struct opening *o, u32 off, u32 len)
{
	u8 head[PIB_SEAL_HEAD_LEN];
	u8 key[PIB_SEAL_KEY_LEN];
	struct pib_seal *seal;
	struct pib_dg dg;
	u64 counter;

	if (len <= PIB_SEAL_HEAD_LEN + PIB_SEAL_TAG_LEN ||
	    skb_copy_bits(o->from, off, head, sizeof(head))) {
		pib_udp_sock_drop(o->sock, rx_short);
		return;
	}
	pib_dg_parse(&dg, head);
	counter = pib_get64(head + PIB_DG_HDR_LEN);
	seal = seal_of(o->sock, o->addr, &dg);
	if (!seal)
		return;
	if (!seal_expects(seal, counter, key)) {
		pib_udp_sock_drop(o->sock, rx_replayed);
		return;
	}
	if (open_bytes(o, key, head, off, len, counter)) {
		/* Another CPU may have opened the same one meanwhile. */
		if (seal_take(seal, counter, key))
			o->len += len - PIB_SEAL_LEN;
		else
			pib_udp_sock_drop(o->sock, rx_replayed);
	}
	memzero_explicit(key, sizeof(key));
}

struct sk_buff *pib_seal_open(struct pib_udp_sock *sock, struct sk_buff *skb,
			      const struct pib_addr *from, u32 off, u32 len, u32 step)
{
	struct opening o = { .sock = sock, .addr = from, .from = skb, .room = len };
	u32 end = off + len;

	for (; off < end; off += step)
		open_one(&o, off, min(step, end - off));
	if (o.to && (!o.len || pskb_trim(o.to, o.len))) {
		kfree_skb(o.to);
		return NULL;
	}
	return o.to;
}
