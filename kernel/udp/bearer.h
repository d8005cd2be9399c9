/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bearers: a netdev's place in a fabric. Users know bearers as uplinks. */
#ifndef PIB_UDP_BEARER_H
#define PIB_UDP_BEARER_H

#include <linux/jiffies.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "proto/cookie.h"
#include "udp/keys.h"
#include "udp/newcomer.h"
#include "udp/socket.h"

struct netlink_ext_ack;
struct pib_kport;
struct pib_net;
struct pib_switch;
struct pib_udp_link;

#define PIB_SLS		16
#define PIB_DSCP_MAX	63

/**
 * struct pib_bearer - a netdev's place in a fabric
 * @sock: sockets; never changes
 * @fabric: fabric id; never changes
 * @id: place in dumps; never changes
 * @accept: enum pib_hello_accept; written under pn->lock, read anywhere
 * @windows: VLs have windows where the peer wants it, too; as @flow_ports
 * @flow_ports: flows have UDP source ports of their own, here and at peers; written under pn->lock,
 *	read anywhere
 * @tos: TOS (IPv4) or Traffic Class (IPv6) of data datagrams, by service level; written under
 *	pn->lock, read anywhere
 * @keys: keys of the fabric, or NULL: it has none, and never gets one; see pib_bearer_set_keys()
 * @entry: in sock->bearers; written under pn->lock, read under RCU
 * @users: HCAs and explicit links that use it; under pn->lock
 * @sw_users: HCAs that are plugged into the host switch (control/host_switch.c); under pn->lock
 * @sw: host switch or NULL; see pib_bearer_set_switch(); written under pn->lock, read under RCU
 * @udp_links: links over it; written under pn->lock, read under RCU
 * @nonce: session of the discovery hello; never changes
 * @hello: sends the discovery hello
 * @hellos: number of hellos sent since something changed: the more, the longer until the next one
 * @frame_pages: pages held by frames of @udp_links that are being put together (udp/reassembly.c)
 * @lock: softirqs off; guards the next fields
 * @cookies: state of the answers to strangers
 * @next_group: jiffies from which what came to a group may be answered again
 * @next_former: jiffies from which a peer of the version before may be refused again
 * @next_former_note: jiffies from which the log may again name such a peer
 * @next_clone: jiffies from which the log may again name another host with our node GUID
 * @newcomers: peers for which @work will make links
 * @num_newcomers: entries in @newcomers
 * @lids: LIDs of standalone HCAs plugged into the host switch
 * @num_lids: entries in @lids
 * @work: makes and gives up links
 */
struct pib_bearer {
	struct pib_udp_sock *sock;
	u32 fabric;
	u32 id;
	u8 accept;
	bool flow_ports;
	bool windows;
	u8 tos[PIB_SLS];
	struct pib_keyring __rcu *keys;
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
	unsigned long next_group;
	unsigned long next_former;
	unsigned long next_former_note;
	struct pib_cookies cookies;
	unsigned long next_clone;
	struct pib_newcomer newcomers[PIB_NEWCOMERS];
	unsigned int num_newcomers;
	u16 lids[PIB_HELLO_LIDS];
	u8 num_lids;
	struct delayed_work work;
};

/**
 * struct pib_tos_cfg - DSCP, ECN, source ports and windows of data datagrams
 * @ecn: the network may mark the datagrams instead of dropping them (RFC 3168)
 * @ecn_given: the user has given @ecn; else it stays as it is
 * @flow_ports: flows have UDP source ports of their own
 * @flow_ports_given: the user has given @flow_ports; else it stays as it is
 * @windows: VLs have windows
 * @windows_given: the user has given @windows; else it stays as it is
 * @dscp_given: the user has given @dscp; else it stays as it is
 * @dscp: DSCP of each service level
 */
struct pib_tos_cfg {
	bool ecn;
	bool ecn_given;
	bool flow_ports;
	bool flow_ports_given;
	bool windows;
	bool windows_given;
	bool dscp_given;
	u8 dscp[PIB_SLS];
};

/**
 * struct pib_bearer_cfg - identity and configuration of a bearer
 * @ifindex: netdev
 * @fabric: fabric id
 * @udp_port: host order
 * @key: key of the fabric
 * @second: its second key
 * @accept: enum pib_hello_accept
 * @accept_given: the user has given @accept; else an existing bearer keeps its own
 * @tos: DSCP, ECN, source ports and windows of data datagrams
 */
struct pib_bearer_cfg {
	int ifindex;
	u32 fabric;
	u16 udp_port;
	struct pib_psk key;
	struct pib_psk second;
	u8 accept;
	bool accept_given;
	struct pib_tos_cfg tos;
};

/**
 * pib_bearer_get() - find or make a bearer, and become a user of it
 * @pn: namespace
 * @cfg: bearer; what it asks for beyond its identity must be so in a bearer that exists
 * @is_link: take a bearer that exists as it is, if @cfg gives no key
 * @extack: set to the reason of an error but -ENOMEM
 *
 * Context: process; pn->lock held.
 * Return: the bearer, of which the caller is a user; ERR_PTR(): -EINVAL: it exists and is otherwise
 *	than @cfg asks for; else as pib_udp_sock_get() or pib_keyring_alloc().
 */
struct pib_bearer *pib_bearer_get(struct pib_net *pn, const struct pib_bearer_cfg *cfg,
				  bool is_link, struct netlink_ext_ack *extack);
/*
 * Drop a user; the last one takes the bearer and its links apart. Context: process; pn->lock held;
 * sleeps.
 */
void pib_bearer_put(struct pib_bearer *bearer);
/*
 * Make @sw the host switch, which hellos announce and to which other hosts get links. NULL: the
 * bearer has none any more, and readers may see the old one for a grace period. Context: process;
 * pn->lock held; sleeps if @sw is NULL.
 */
void pib_bearer_set_switch(struct pib_bearer *bearer, struct pib_switch *sw);

/*
 * Set which peers get a port: enum pib_hello_accept. Links that are up stay. Context: process;
 * pn->lock held.
 */
void pib_bearer_set_accept(struct pib_bearer *bearer, u8 accept);
/*
 * Set DSCP, ECN and source ports of data datagrams that are sent from now on, and whether VLs have
 * windows, which holds from the next keepalive on. Context: pn->lock held.
 */
void pib_bearer_set_tos(struct pib_bearer *bearer, const struct pib_tos_cfg *cfg);
/* Copy the DSCP of each service level's data to @dscp, PIB_SLS bytes. Context: any. */
void pib_bearer_get_dscp(const struct pib_bearer *bearer, u8 *dscp);
/* Return: true if the network may mark the bearer's data (RFC 3168). Context: any. */
bool pib_bearer_has_ecn(const struct pib_bearer *bearer);
/* Return: the keys of the fabric; NULL: it has none. Context: pn->lock or view_lock held. */
static inline const struct pib_keyring *pib_bearer_keys(const struct pib_bearer *bearer)
{
	return rcu_dereference_protected(bearer->keys, true);
}

/*
 * Note that a standalone port of the host switch's HCAs has LID @lid instead of @old. 0 is no LID.
 * The bearer's hellos tell of it.
 *
 * Context: any but interrupts.
 * Return: 0; -ENOSPC: the bearer has PIB_HELLO_LIDS already, and nothing has changed.
 */
int pib_bearer_set_lid(struct pib_bearer *bearer, u16 old, u16 lid);
/*
 * Return: true if a standalone port of the host switch's HCAs has LID @lid. Context: any but
 * interrupts.
 */
bool pib_bearer_has_lid(struct pib_bearer *bearer, u16 lid);
/*
 * Limit an action to once in @ms. @next, which bearer->lock guards, is the time in jiffies from
 * which it may happen again.
 *
 * Context: any but interrupts; bearer->lock not held.
 * Return: true if it may happen now; it counts as happened.
 */
static inline bool pib_bearer_is_due(struct pib_bearer *bearer, unsigned long *next,
				     unsigned int ms)
{
	bool due;

	spin_lock_bh(&bearer->lock);
	due = time_after_eq(jiffies, *next);
	if (due)
		*next = jiffies + msecs_to_jiffies(ms);
	spin_unlock_bh(&bearer->lock);
	return due;
}

/*
 * Have the peers of all links know that their sessions end, before the netdev goes down. Context:
 * any but interrupts; the bearer stays (RCU or pn->lock).
 */
void pib_bearer_bye(struct pib_bearer *bearer);
/*
 * Restart all links after the netdev went down or came up. Context: any but interrupts; the bearer
 * stays (RCU or pn->lock).
 */
void pib_bearer_carrier(struct pib_bearer *bearer);

#endif
