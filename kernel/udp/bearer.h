/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bearers, to users uplinks: a netdev's place in a fabric, and the discovery of other hosts. */
#ifndef PIB_UDP_BEARER_H
#define PIB_UDP_BEARER_H

#include <linux/workqueue.h>
#include "proto/link.h"
#include "udp/keys.h"
#include "udp/socket.h"

struct netlink_ext_ack;
struct pib_kport;
struct pib_net;
struct pib_switch;
struct pib_udp_link;

#define PIB_NEWCOMERS	16

/**
 * struct pib_newcomer - a peer heard for the first time
 * @from: its address
 * @h: what it said
 * @type: enum pib_dg_type
 */
struct pib_newcomer {
	struct pib_addr from;
	struct pib_hello h;
	u8 type;
};

/**
 * struct pib_bearer - a netdev's place in a fabric
 * @sock: sockets; never changes
 * @fabric: fabric id; never changes
 * @id: place in dumps; never changes
 * @keys: keys of the fabric, or NULL: it has none, and never gets one; see pib_bearer_set_keys()
 * @entry: in sock->bearers; written under pn->lock, read under RCU
 * @users: HCAs and explicit links that use it; under pn->lock
 * @sw_users: HCAs that are plugged into the host switch (control/host_switch.c); under pn->lock
 * @sw: host switch or NULL; see pib_bearer_set_switch(); written under pn->lock, read under RCU
 * @udp_links: links over it; written under pn->lock, read under RCU
 * @nonce: session of the discovery hello; never changes
 * @hello: sends the discovery hello
 * @hellos: how many were sent since something changed: they become rare
 * @frame_pages: held by frames of @udp_links that are being put together (udp/reassembly.c)
 * @lock: softirqs off; guards the next fields
 * @next_answer: jiffies when one may be answered with whom there is no link
 * @next_clone: jiffies when the log may speak of another host with our node GUID again
 * @newcomers: peers for which @work is to make links
 * @num_newcomers: entries in @newcomers
 * @lids: LIDs of standalone HCAs plugged into the host switch
 * @num_lids: entries in @lids
 * @work: makes and gives up links
 */
struct pib_bearer {
	struct pib_udp_sock *sock;
	u32 fabric;
	u32 id;
	struct pib_keys __rcu *keys;
	struct list_head entry;
	unsigned int users;
	unsigned int sw_users;
	struct pib_switch __rcu *sw;
	struct list_head udp_links;
	u64 nonce;
	struct delayed_work hello;
	unsigned int hellos;
	atomic_t frame_pages;

	spinlock_t lock;
	unsigned long next_answer;
	unsigned long next_clone;
	struct pib_newcomer newcomers[PIB_NEWCOMERS];
	unsigned int num_newcomers;
	u16 lids[PIB_HELLO_LIDS];
	u8 num_lids;
	struct delayed_work work;
};

/**
 * struct pib_bearer_cfg - which bearer
 * @ifindex: netdev
 * @fabric: fabric id
 * @udp_port: host order
 * @key: key of the fabric
 * @second: its second key
 */
struct pib_bearer_cfg {
	int ifindex;
	u32 fabric;
	u16 udp_port;
	struct pib_psk key;
	struct pib_psk second;
};

/*
 * Find or make a bearer. pn->lock held. Return: with a user; ERR_PTR() with the reason in @extack.
 */
struct pib_bearer *pib_bearer_get(struct pib_net *pn, const struct pib_bearer_cfg *cfg,
				  bool is_link, struct netlink_ext_ack *extack);
/* A user goes; the last one takes the bearer apart. pn->lock held; sleeps. */
void pib_bearer_put(struct pib_bearer *bearer);
/*
 * From now on @sw is the host switch, which is announced and to which other hosts get links. NULL:
 * there is none any more, and readers may see the old one for a grace period. pn->lock held; NULL
 * sleeps.
 */
void pib_bearer_set_switch(struct pib_bearer *bearer, struct pib_switch *sw);

/*
 * Change the keys of the fabric. A link begins a new session if it needs one, and a link whose peer
 * uses a key that goes is lost: only req->force permits that. pn->lock held; sleeps.
 *
 * Return: 0; -EINVAL: the bearer has no key, or see pib_keys_exchange(); -EBUSY: the link of a peer
 * would be lost that uses a key which is to go; the reason in @extack.
 */
int pib_bearer_set_keys(struct pib_bearer *bearer, const struct pib_keys_req *req,
			struct netlink_ext_ack *extack);
/* The keys of the fabric, NULL: it has none. view_lock held. */
static inline const struct pib_keys *pib_bearer_keys(const struct pib_bearer *bearer)
{
	return rcu_dereference_protected(bearer->keys, true);
}

/*
 * A standalone port of the host switch's HCAs has LID @lid instead of @old (0: none). Return: 0 or
 * -ENOSPC.
 */
int pib_bearer_set_lid(struct pib_bearer *bearer, u16 old, u16 lid);
/* Has a standalone port of the host switch's HCAs this LID? */
bool pib_bearer_has_lid(struct pib_bearer *bearer, u16 lid);
/* Say hello to everybody soon, and often for a while. Any context. */
void pib_bearer_announce(struct pib_bearer *bearer);
/* Fill in the fields of a hello that the bearer and @port's node know. Softirqs off. */
void pib_bearer_fill_hello(struct pib_bearer *bearer, struct pib_kport *port, struct pib_hello *h);

/* A control datagram came in. Softirqs off, RCU. */
void pib_bearer_control(struct pib_udp_sock *sock, const struct pib_addr *from, const u8 *buf,
			u32 len);

/* The netdev went down or came up. Any context. */
void pib_bearer_carrier(struct pib_bearer *bearer);

#endif
