// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data of keyed fabrics under ChaCha20-Poly1305. A sender encrypts its super-packet
 * where it lies: the bytes are the sender's own copy. A receiver copies first, for
 * what it got may be the sender's memory, or a packet sniffer's as well. The copy has
 * the datagrams without their counters and tags, as an open fabric would have sent
 * them, and is taken in as such (udp/rx.c).
 */
#include <crypto/chacha20poly1305.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "core/net.h"
#include "udp/auth.h"
#include "udp/bearer.h"
#include "udp/link.h"
#include "udp/seal.h"
#include "udp/socket.h"
#include "udp/wire.h"

#define SEAL_SGS	(MAX_SKB_FRAGS + 2)

struct pib_seal *pib_seal_alloc(const struct pib_auth *auth, u64 nonce, u64 peer_nonce)
{
	struct pib_seal *seal = kzalloc(sizeof(*seal), GFP_ATOMIC);

	if (!seal)
		return NULL;
	refcount_set(&seal->refs, 1);
	spin_lock_init(&seal->lock);
	seal->nonce = nonce;
	seal->peer_nonce = peer_nonce;
	if (pib_auth_seal_key(auth, peer_nonce, nonce, seal->tx_key) ||
	    pib_auth_seal_key(auth, nonce, peer_nonce, seal->rx_key)) {
		pib_seal_put(seal);
		return NULL;
	}
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

u64 pib_seal_counters(struct pib_seal *seal, u32 n)
{
	return atomic64_add_return(n, &seal->sent) - n + 1;
}

/* The bytes of @skb as a list. Return: entries, or -errno. */
static int seal_list(struct sk_buff *skb, u32 off, u32 len, struct scatterlist sg[SEAL_SGS])
{
	if (skb_shinfo(skb)->nr_frags + 1 > SEAL_SGS || skb_has_frag_list(skb))
		return -EMSGSIZE;
	sg_init_table(sg, SEAL_SGS);
	return skb_to_sgvec(skb, sg, off, len);
}

int pib_seal_close(struct pib_seal *seal, struct sk_buff *skb, u32 off, u32 len, u64 counter)
{
	struct scatterlist sg[SEAL_SGS];
	u8 head[PIB_DG_HDR_LEN];
	int n;

	n = skb_copy_bits(skb, off, head, sizeof(head));
	if (n)
		return n;
	n = seal_list(skb, off + PIB_SEAL_HEAD_LEN, len - PIB_SEAL_HEAD_LEN, sg);
	if (n < 0)
		return n;
	return chacha20poly1305_encrypt_sg_inplace(sg, len - PIB_SEAL_HEAD_LEN - PIB_SEAL_TAG_LEN,
						   head, sizeof(head), counter, seal->tx_key) ?
	       0 : -EIO;
}

/* ---- the receiver ---- */

/* The seal of the link that a datagram names, if that link has the session that the tag is of. */
static struct pib_seal *seal_of(const struct pib_udp_sock *sock, const struct pib_dg *dg)
{
	struct pib_udp_link *link = xa_load(&sock->pn->links, dg->link_id);
	struct pib_upath *path;

	path = link && link->bearer->sock == sock ? rcu_dereference(link->path) : NULL;
	return path && path->rx_tag == dg->tag ? path->seal : NULL;
}

static bool seal_is_new(struct pib_seal *seal, u64 counter)
{
	bool is_new;

	spin_lock(&seal->lock);
	is_new = pib_replay_is_new(&seal->replay, counter);
	spin_unlock(&seal->lock);
	return is_new;
}

static bool seal_take(struct pib_seal *seal, u64 counter)
{
	bool taken;

	spin_lock(&seal->lock);
	taken = pib_replay_take(&seal->replay, counter);
	spin_unlock(&seal->lock);
	return taken;
}

/* Copy @len bytes at @off of @from to @at of @to, which is nobody else's. */
static int copy_between(struct sk_buff *from, u32 off, struct sk_buff *to, u32 at, u32 len)
{
	struct skb_seq_state st;
	const u8 *data;
	u32 n, done = 0;
	int err = 0;

	skb_prepare_seq_read(to, at, at + len, &st);
	while (done < len && !err) {
		n = skb_seq_read(done, &data, &st);
		if (!n)
			return -EFAULT;
		n = min(n, len - done);
		err = skb_copy_bits(from, off + done, (u8 *)data, n);
		done += n;
	}
	skb_abort_seq_read(&st);
	return err;
}

/**
 * struct opening - sealed datagrams on their way out of their seals
 * @sock: sockets by which they came
 * @from: as they came
 * @to: copy, room for all that @from has
 * @len: bytes of @to that are in use
 */
struct opening {
	struct pib_udp_sock *sock;
	struct sk_buff *from;
	struct sk_buff *to;
	u32 len;
};

/*
 * The link header stays where it was; what was encrypted goes behind it in @to, where the tag
 * is behind it for as long as it is needed.
 */
static bool open_bytes(struct opening *o, struct pib_seal *seal, const u8 head[PIB_DG_HDR_LEN],
		       u32 off, u32 len, u64 counter)
{
	u32 body = len - PIB_SEAL_HEAD_LEN, at = o->len + PIB_DG_HDR_LEN;
	struct scatterlist sg[SEAL_SGS];

	if (skb_store_bits(o->to, o->len, head, PIB_DG_HDR_LEN) ||
	    copy_between(o->from, off + PIB_SEAL_HEAD_LEN, o->to, at, body) ||
	    seal_list(o->to, at, body, sg) < 0)
		return false;
	return chacha20poly1305_decrypt_sg_inplace(sg, body, head, PIB_DG_HDR_LEN, counter,
						   seal->rx_key);
}

static void open_one(struct opening *o, u32 off, u32 len)
{
	u8 head[PIB_SEAL_HEAD_LEN];
	struct pib_seal *seal;
	struct pib_dg dg;
	u64 counter;

	if (len <= PIB_SEAL_HEAD_LEN + PIB_SEAL_TAG_LEN ||
	    skb_copy_bits(o->from, off, head, sizeof(head))) {
		pib_udp_sock_count(o->sock, rx_short, 1);
		return;
	}
	pib_dg_parse(&dg, head);
	counter = pib_get64(head + PIB_DG_HDR_LEN);
	seal = seal_of(o->sock, &dg);
	if (!seal)
		pib_udp_sock_count(o->sock, rx_unknown_link, 1);
	else if (!seal_is_new(seal, counter))
		pib_udp_sock_count(o->sock, rx_replayed, 1);
	else if (!open_bytes(o, seal, head, off, len, counter))
		pib_udp_sock_count(o->sock, rx_bad_seal, 1);
	else if (!seal_take(seal, counter))
		pib_udp_sock_count(o->sock, rx_replayed, 1);
	else
		o->len += len - PIB_SEAL_LEN;
}

struct sk_buff *pib_seal_open(struct pib_udp_sock *sock, struct sk_buff *skb, u32 off, u32 len,
			      u32 step)
{
	struct opening o = { .sock = sock, .from = skb, .to = pib_wire_alloc(0, len) };
	u32 end = off + len;

	if (!o.to) {
		pib_udp_sock_count(sock, rx_reasm, DIV_ROUND_UP(len, step));
		return NULL;
	}
	o.to->len += len;
	o.to->data_len += len;
	for (; off < end; off += step)
		open_one(&o, off, min(step, end - off));
	if (!o.len || pskb_trim(o.to, o.len)) {
		kfree_skb(o.to);
		return NULL;
	}
	return o.to;
}
