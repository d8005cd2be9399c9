/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sealed datagrams of keyed fabrics: DATA and SEGMENT, encrypted and authenticated
 * (docs/wire-format.md, "Sealed data").
 */
#ifndef PIB_UDP_SEAL_H
#define PIB_UDP_SEAL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include "proto/seal.h"

struct pib_addr;
struct pib_auth;
struct pib_udp_sock;
struct sk_buff;

/**
 * struct pib_seal_keys - keys of one direction of a session
 * @session: key from which the keys of generations are made
 * @made: keys of the two generations in use: datagrams of one are still on their way when the next
 *	begins
 */
struct pib_seal_keys {
	u8 session[PIB_SEAL_KEY_LEN];
	struct {
		u64 generation;
		u8 key[PIB_SEAL_KEY_LEN];
	} made[2];
};

/**
 * struct pib_seal - keys and counters of one session with one session of the peer
 * @refs: the link's, and one of each path
 * @nonce: own session; never changes
 * @peer_nonce: the peer's session; never changes
 * @sent: counter of the last datagram sent. A counter is never used twice with a key
 * @tx_lock: softirqs off; guards @tx
 * @tx: keys of datagrams that are sent
 * @lock: softirqs off; guards @rx and @replay
 * @rx: keys of datagrams that come
 * @replay: counters of datagrams that came
 */
struct pib_seal {
	refcount_t refs;
	u64 nonce;
	u64 peer_nonce;
	atomic64_t sent;
	spinlock_t tx_lock;
	struct pib_seal_keys tx;
	spinlock_t lock ____cacheline_aligned_in_smp;
	struct pib_seal_keys rx;
	struct pib_replay replay;
};

/**
 * pib_seal_alloc() - make the keys of a session with a session of the peer
 * @own: fabric's key that this end uses
 * @peer: fabric's key that the peer uses
 * @nonce: own session
 * @peer_nonce: the peer's session
 *
 * Context: any.
 * Return: the seal, with a reference; NULL: no memory, or an error of the cipher.
 */
struct pib_seal *pib_seal_alloc(const struct pib_auth *own, const struct pib_auth *peer, u64 nonce,
				u64 peer_nonce);
/* Take a reference. @seal may be NULL. Context: any. Return: @seal. */
struct pib_seal *pib_seal_get(struct pib_seal *seal);
/* Drop a reference; the last one frees the keys. @seal may be NULL. Context: any. */
void pib_seal_put(struct pib_seal *seal);
/* Take @n counters, one for each datagram. Context: any. Return: the first; the others follow. */
u64 pib_seal_counters(struct pib_seal *seal, u32 n);
/**
 * pib_seal_close() - encrypt datagrams in their place
 * @seal: keys
 * @skb: datagrams, each with room for the counter behind its link header and for the tag at its end
 * @step: bytes of each datagram but the last
 * @counter: counter of the first datagram; each other one has the next
 *
 * Context: softirqs off.
 * Return: 0; -errno: @skb must not be sent.
 */
int pib_seal_close(struct pib_seal *seal, struct sk_buff *skb, u32 step, u64 counter);
/**
 * pib_seal_open() - check and decrypt sealed datagrams
 * @sock: sockets by which they came
 * @skb: datagrams; stays the caller's
 * @from: sender
 * @off: offset of the first one in @skb
 * @len: bytes of all of them
 * @step: bytes of each datagram but the last
 *
 * A datagram that its link's peer has not sent in the present session, or that came before, is
 * counted and left out.
 *
 * Context: softirqs off, RCU.
 * Return: an skb of the rest, each datagram PIB_SEAL_LEN shorter; NULL: nothing is left, or no
 *	memory, which is counted.
 */
struct sk_buff *pib_seal_open(struct pib_udp_sock *sock, struct sk_buff *skb,
			      const struct pib_addr *from, u32 off, u32 len, u32 step);

#endif
