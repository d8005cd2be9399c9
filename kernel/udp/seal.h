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
 * struct pib_seal - keys and counters of one session with one session of the peer
 * @refs: the link's, and one of each path
 * @nonce: own session; never changes, as all up to @sent
 * @peer_nonce: the peer's
 * @tx_key: of what is sent
 * @rx_key: of what comes
 * @sent: counter of the last datagram sent. A counter is never used twice with a key
 * @lock: softirqs off; guards @replay
 * @replay: counters that came
 */
struct pib_seal {
	refcount_t refs;
	u64 nonce;
	u64 peer_nonce;
	u8 tx_key[PIB_SEAL_KEY_LEN];
	u8 rx_key[PIB_SEAL_KEY_LEN];
	atomic64_t sent;
	spinlock_t lock ____cacheline_aligned_in_smp;
	struct pib_replay replay;
};

/*
 * Keys for the two sessions, of which this end's was made under the fabric's key @own and the
 * peer's under @peer. Any context. Return: NULL: no memory.
 */
struct pib_seal *pib_seal_alloc(const struct pib_auth *own, const struct pib_auth *peer, u64 nonce,
				u64 peer_nonce);
/* One user more. @seal may be NULL. Any context. Return: @seal. */
struct pib_seal *pib_seal_get(struct pib_seal *seal);
/* A user less; the last one forgets the keys. @seal may be NULL. Any context. */
void pib_seal_put(struct pib_seal *seal);
/* Take @n counters for datagrams. Any context. Return: the first. */
u64 pib_seal_counters(struct pib_seal *seal, u32 n);
/*
 * Encrypt the datagram of @len bytes at @off of @skb in its place. Room for the counter is behind
 * its link header, and for the tag at its end. Softirqs off.
 *
 * Return: 0 or -errno.
 */
int pib_seal_close(struct pib_seal *seal, struct sk_buff *skb, u32 off, u32 len, u64 counter);
/*
 * Take the sealed datagrams in the @len bytes at @off of @skb, each @step long but the last, which
 * came from @from, out of their seals. A datagram that is not what its link's peer has sent now and
 * for the first time is counted and left out. Softirqs off, RCU.
 *
 * Return: an skb of what is left, each datagram PIB_SEAL_LEN shorter; NULL: nothing, or no memory,
 * which is counted.
 */
struct sk_buff *pib_seal_open(struct pib_udp_sock *sock, struct sk_buff *skb,
			      const struct pib_addr *from, u32 off, u32 len, u32 step);

#endif
