/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Paths of links over UDP: what the data path knows of a session. */
#ifndef PIB_UDP_PATH_H
#define PIB_UDP_PATH_H

#include <net/dst_cache.h>
#include "udp/socket.h"

struct pib_seal;
struct pib_udp_link;

/**
 * struct pib_udp_path - a session as the data path sees it; replaced as a whole
 * @peer: addresses from which the peer may send, IPv4 and IPv6
 * @to: index in @peer of the address to send to
 * @remote_id: link id that the peer wants
 * @nonce: own session
 * @peer_nonce: the peer's session
 * @tx_tag: tag of every datagram that is sent
 * @rx_tag: tag of every datagram that is taken
 * @noicrc: both ends do without ICRC
 * @segments: the peer knows segments
 * @ecn: the peer reports the network's marks
 * @windows: VLs have windows: each end says what it has taken in of them
 * @flows: data from flows' UDP ports gets through; written under link->lock, read anywhere
 * @limit: bytes of the largest IP packet for data, whatever the route's MTU (proto/pmtu.h); as
 *	@flows
 * @seal: keyed fabrics: how data is sealed; else NULL
 * @key: number of the fabric's key that this end uses, 0: it has none
 * @peer_key: number of the one that the peer uses
 * @cache: route
 * @rcu: freed after a grace period
 */
struct pib_udp_path {
	struct pib_addr peer[2];
	u8 to;
	u32 remote_id;
	u64 nonce;
	u64 peer_nonce;
	u16 tx_tag;
	u16 rx_tag;
	bool noicrc;
	bool segments;
	bool ecn;
	bool windows;
	bool flows;
	u32 limit;
	struct pib_seal *seal;
	u32 key;
	u32 peer_key;
	struct dst_cache cache;
	struct rcu_head rcu;
};

/**
 * pib_udp_path_find() - find the session that a datagram with data claims to belong to
 * @sock: sockets by which the datagram came
 * @id: link id in its link header
 * @tag: tag in its link header
 * @from: sender
 * @link: result: the link; NULL if there is none
 *
 * Context: softirqs off, RCU.
 * Return: the session, under RCU; NULL: the datagram is counted, as rx_unknown_link or
 *	rx_wrong_addr, and must be dropped.
 */
struct pib_udp_path *pib_udp_path_find(struct pib_udp_sock *sock, u32 id, u16 tag,
				       const struct pib_addr *from, struct pib_udp_link **link);

/*
 * Bring the path in line with the session, and tell listeners if that has begun, ended or moved.
 * Without memory for a path, or if a key was dropped, there is none. Context: link->lock held.
 */
void pib_udp_path_update(struct pib_udp_link *link);
/* Return: true if data to the peer has source ports by flow. Context: link->lock held. */
bool pib_udp_link_by_flow(const struct pib_udp_link *link);
/*
 * Return: true if the link's seal is that of the present session with the peer's. Context:
 * link->lock held.
 */
bool pib_udp_link_has_seal(const struct pib_udp_link *link);

#endif
