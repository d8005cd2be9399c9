// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UDP ports of flows. Data leaves by the socket of the link's UDP port, and only says in its header
 * that it comes from one of these.
 */
#include <linux/kernel.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include "core/net.h"
#include "udp/flow_ports.h"
#include "udp/socket.h"

/* Ports that are tried: some may be others'. */
#define FLOW_PORTS_TRIED	256
#define FLOW_PORT_RCVBUF	4096
#define FLOW_PORT_BUDGET	64	/* datagrams dropped at a time */

/* Nobody sends here but strangers. Context: softirqs off. */
static void flow_port_data_ready(struct sock *sk)
{
	struct pib_udp_sock_end *end;
	struct sk_buff *skb;
	unsigned int n;
	int err;

	rcu_read_lock();
	end = rcu_dereference_sk_user_data(sk);
	for (n = 0; end && n < FLOW_PORT_BUDGET; n++) {
		skb = skb_recv_udp(sk, MSG_DONTWAIT, &err);
		if (!skb)
			break;
		kfree_skb(skb);
		pib_udp_sock_drop(end->sock, rx_unknown_link);
	}
	rcu_read_unlock();
}

static int flow_port_open(struct pib_udp_sock_end *end, __be16 port, struct socket **socket)
{
	struct udp_port_cfg cfg = {
		.family = end->family,
		.local_udp_port = port,
		.bind_ifindex = end->sock->ifindex,
		.ipv6_v6only = end->family == AF_INET6,
		.use_udp6_rx_checksums = 1,
	};
	struct sock *sk;
	int err;

	err = udp_sock_create(end->sock->pn->net, &cfg, socket);
	if (err) {
		*socket = NULL;
		return err;
	}
	sk = (*socket)->sk;
	lock_sock(sk);
	sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	WRITE_ONCE(sk->sk_rcvbuf, FLOW_PORT_RCVBUF);
	pib_udp_sock_no_busy_poll(sk);
	rcu_assign_sk_user_data(sk, end);
	sk->sk_data_ready = flow_port_data_ready;
	release_sock(sk);
	/* The queue may be full already, and then nothing would be told of what comes. */
	local_bh_disable();
	flow_port_data_ready(sk);
	local_bh_enable();
	return 0;
}

void pib_flow_ports_open(struct pib_udp_sock_end *end)
{
	struct pib_flow_ports *fp = &end->flows;
	unsigned int i, n = 0;
	int err;

	lockdep_assert_held(&end->sock->pn->lock);
	if (!end->socket || fp->n)
		return;
	for (i = 0; i < FLOW_PORTS_TRIED && n < PIB_FLOW_PORTS; i++) {
		fp->port[n] = htons(PIB_FLOW_PORT_MIN + i);
		err = flow_port_open(end, fp->port[n], &fp->socket[n]);
		if (!err)
			n++;
		else if (err != -EADDRINUSE)
			break;
	}
	/* Pairs with pib_flow_port(): who sees the number sees the ports. */
	smp_store_release(&fp->n, n);
}

void pib_flow_ports_mute(struct pib_udp_sock_end *end)
{
	struct pib_flow_ports *fp = &end->flows;
	unsigned int i;

	lockdep_assert_held(&end->sock->pn->lock);
	for (i = 0; i < fp->n; i++)
		rcu_assign_sk_user_data(fp->socket[i]->sk, NULL);
	WRITE_ONCE(fp->n, 0);
}

void pib_flow_ports_close(struct pib_udp_sock_end *end)
{
	struct pib_flow_ports *fp = &end->flows;
	unsigned int i;

	lockdep_assert_held(&end->sock->pn->lock);
	for (i = 0; i < PIB_FLOW_PORTS && fp->socket[i]; i++) {
		kernel_sock_shutdown(fp->socket[i], SHUT_RDWR);
		sock_release(fp->socket[i]);
		fp->socket[i] = NULL;
	}
}

__be16 pib_flow_port(const struct pib_flow_ports *fp, u32 hash)
{
	/* Pairs with pib_flow_ports_open(). */
	unsigned int n = smp_load_acquire(&fp->n);

	return n ? fp->port[reciprocal_scale(hash, n)] : 0;
}
