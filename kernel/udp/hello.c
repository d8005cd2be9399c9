// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hellos of a bearer: what they say, and the discovery hello that calls other hosts.
 *
 * Every bearer with a host switch (control/host_switch.c) says hello to a multicast
 * group, over IPv4 and IPv6.
 */
#include <linux/random.h>
#include "core/net.h"
#include "fabric/switch.h"
#include "proto/session.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/hello.h"

/* The first hellos come fast; a host that comes later is answered by links, not by hellos. */
#define HELLOS_FAST		20
#define HELLO_SLOW_MS		3000

static void fill_node(struct pib_kport *port, struct pib_hello *h)
{
	spinlock_t *lock = pib_kport_lock(port);
	struct pib_node *n = port->p.node;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	h->node_guid = n->guid;
	h->port_guid = port->p.guid;
	h->mtu_cap = port->p.mtu_cap;
	h->width_en = port->p.width_en;
	h->speed_en = port->p.speed_en;
	h->ext_speed_en = port->p.ext_speed_en;
	memcpy(h->desc, n->desc, sizeof(h->desc));
	spin_unlock_irqrestore(lock, flags);
}

static void fill_lids(struct pib_bearer *bearer, struct pib_kport *port, struct pib_hello *h)
{
	if (!port->sw) {
		h->lids[0] = READ_ONCE(port->standalone_lid);
		h->num_lids = h->lids[0] ? 1 : 0;
		if (port->nd->standalone)
			h->caps |= PIB_CAP_STANDALONE;
		return;
	}
	if (!port->sw->nd.standalone)
		return;
	h->caps |= PIB_CAP_STANDALONE;
	spin_lock_bh(&bearer->lock);
	h->num_lids = bearer->num_lids;
	memcpy(h->lids, bearer->lids, bearer->num_lids * sizeof(bearer->lids[0]));
	spin_unlock_bh(&bearer->lock);
}

void pib_bearer_fill_hello(struct pib_bearer *bearer, struct pib_kport *port, struct pib_hello *h)
{
	h->fabric = bearer->fabric;
	h->port_num = port->p.num;
	h->role = port->sw ? PIB_ROLE_SWITCH : PIB_ROLE_HCA;
	h->caps |= PIB_CAP_NOICRC | PIB_CAP_SEGMENTS | PIB_CAP_ECN | PIB_CAP_PADDED;
	if (READ_ONCE(bearer->flow_ports))
		h->caps |= PIB_CAP_FLOWS;
	if (READ_ONCE(bearer->windows))
		h->caps |= PIB_CAP_WINDOWS;
	if (rcu_access_pointer(bearer->keys))
		h->caps |= PIB_CAP_KEYED;
	h->keepalive_ms = PIB_KEEPALIVE_MS;
	fill_node(port, h);
	fill_lids(bearer, port, h);
}

/* Return: true if the bearer sends discovery hellos: it calls no peers that it would refuse. */
static bool bearer_calls(const struct pib_bearer *bearer)
{
	return READ_ONCE(bearer->accept) >= PIB_HELLO_LINK;
}

static void bearer_send_hello(struct pib_bearer *bearer, struct pib_switch *sw)
{
	struct pib_hello h = { .nonce = bearer->nonce };
	u8 bytes[PIB_HELLO_WIRE_LEN];
	struct pib_addr group;
	size_t len;

	pib_bearer_fill_hello(bearer, sw->nd.ports[0], &h);
	h.caps |= PIB_CAP_AUTO;
	len = pib_answer_build(bearer, &h, PIB_DG_HELLO, 0, 0, bytes);
	if (!len)
		return;
	pib_addr_set_group(&group, AF_INET, htons(bearer->sock->port));
	pib_udp_sock_send_control(bearer->sock, bytes, len, &group);
	pib_addr_set_group(&group, AF_INET6, htons(bearer->sock->port));
	pib_udp_sock_send_control(bearer->sock, bytes, len, &group);
}

/* Count a hello. Return: milliseconds until the next one. */
static unsigned int hello_interval(struct pib_bearer *bearer)
{
	unsigned int n = READ_ONCE(bearer->hellos);

	/* pib_bearer_announce(), which may run now, starts over: that is not undone. */
	cmpxchg(&bearer->hellos, n, n + 1);
	return n < HELLOS_FAST ? PIB_HELLO_INTERVAL_MS : HELLO_SLOW_MS;
}

void pib_bearer_hello_work(struct work_struct *work)
{
	struct pib_bearer *bearer = container_of(work, struct pib_bearer, hello.work);
	struct pib_switch *sw;
	unsigned int ms;

	/* Before the group is joined: pairs with socket_event(), which sets it last. */
	if (xchg(&bearer->sock->rejoin, false))
		pib_udp_sock_rejoin(bearer->sock);
	local_bh_disable();
	rcu_read_lock();
	sw = rcu_dereference(bearer->sw);
	if (sw && READ_ONCE(bearer->sock->running) && bearer_calls(bearer))
		bearer_send_hello(bearer, sw);
	rcu_read_unlock();
	local_bh_enable();
	if (!sw)
		return;

	ms = hello_interval(bearer);
	ms += get_random_u32() % (ms / 8);
	queue_delayed_work(pib_wq, &bearer->hello, msecs_to_jiffies(ms));
	mod_delayed_work(pib_wq, &bearer->work, 0);
}

void pib_bearer_announce(struct pib_bearer *bearer)
{
	WRITE_ONCE(bearer->hellos, 0);
	mod_delayed_work(pib_wq, &bearer->hello, 0);
}
