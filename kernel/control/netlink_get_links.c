// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The answers to gets about cables, UDP links and bearers. */
#include <linux/ktime.h>
#include <net/genetlink.h>
#include "control/netlink_dump.h"
#include "control/netlink_gen.h"
#include "control/registry.h"
#include "fabric/impair.h"
#include "hca/hca.h"
#include "udp/credit.h"
#include "udp/link.h"
#include "udp/path.h"
#include "udp/session.h"

static int put_end(struct sk_buff *skb, int attr, const struct pib_kport *port)
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	char name[IB_DEVICE_NAME_MAX];

	pib_kport_node_name(port, name);
	if (!nest || nla_put_string(skb, PIB_END_NODE, name) ||
	    nla_put_u32(skb, PIB_END_PORT, port->p.num))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* ---- links ---- */

/*
 * Put link ids, if the requester may see them. An attacker who does not see the traffic would have
 * to guess them.
 */
static int put_link_ids(const struct pib_nl_answer *a, const struct pib_session *session)
{
	if (!netlink_capable(a->cb->skb, CAP_NET_ADMIN))
		return 0;
	return nla_put_u32(a->skb, PIB_UL_LOCAL_ID, session->local_id) ?:
	       nla_put_u32(a->skb, PIB_UL_REMOTE_ID, session->remote_id);
}

/* Put what the peer has said of itself, if it was heard. */
static int put_peer(struct sk_buff *skb, const struct pib_session *session)
{
	u32 heard = div_u64(ktime_get_ns() - session->last_heard, NSEC_PER_MSEC);

	if (!session->peer_node_guid)
		return 0;
	if (nla_put_u64_64bit(skb, PIB_UL_PEER_NODE_GUID, session->peer_node_guid, PIB_UL_PAD) ||
	    nla_put_u32(skb, PIB_UL_PEER_PORT_NUM, session->peer_port_num) ||
	    pib_nl_put_desc(skb, PIB_UL_PEER_DESC, session->peer_desc) ||
	    nla_put_u32(skb, PIB_UL_LAST_HEARD_MS, heard))
		return -EMSGSIZE;
	return 0;
}

/* Put this end's address, if the link has one for itself: the peer has used it. */
static int put_own(struct sk_buff *skb, const struct pib_udp_sock *sock,
		   const struct pib_addr *peer)
{
	const struct pib_addr own = {
		.family = peer->family, .port = htons(sock->port), .v6 = peer->own_v6,
	};

	return pib_addr_has_own(peer) ? pib_nl_put_endpoint(skb, PIB_UL_OWN, &own) : 0;
}

static int put_vl_window(struct sk_buff *skb, u32 vl, const struct pib_credit_view *view)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_UL_VL_WINDOW);

	if (!nest || nla_put_u8(skb, PIB_VW_VL, vl) ||
	    nla_put_u32(skb, PIB_VW_WINDOW, view->window) ||
	    nla_put_u32(skb, PIB_VW_ON_WAY, view->on_way) ||
	    (view->waits && nla_put_flag(skb, PIB_VW_WAITS)) ||
	    (view->unbounded && nla_put_flag(skb, PIB_VW_UNBOUNDED)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Return: true if there is a session by which packets go; @windows: whether its VLs have windows.
 */
static bool session_has_path(const struct pib_udp_link *link, bool *windows)
{
	const struct pib_udp_path *path;

	path = rcu_dereference_protected(link->path, lockdep_is_held(&link->lock));
	*windows = path && path->windows;
	return path;
}

/* Put whether the VLs of a session have @windows, and how these stand. */
static int put_windows(struct sk_buff *skb, struct pib_udp_link *link, bool windows)
{
	struct pib_credit_view view[PIB_CREDIT_VLS];
	int err = nla_put_u8(skb, PIB_UL_WINDOWS, windows);
	u32 seen = windows ? pib_udp_credits_view(link, view) : 0;
	u32 vl;

	for (vl = 0; !err && vl < PIB_CREDIT_VLS; vl++)
		if (seen >> vl & 1)
			err = put_vl_window(skb, vl, &view[vl]);
	return err;
}

static int put_udp_link(struct pib_nl_answer *a, struct pib_udp_link *link)
{
	const struct pib_udp_sock *sock = link->bearer->sock;
	struct sk_buff *skb = a->skb;
	struct nlattr *nest = nla_nest_start(skb, PIB_A_UDP_LINK);
	struct pib_session session;
	struct pib_addr peer;
	const char *refusal;
	bool up, has_path, second_key, by_flow, windows;
	u32 path_mtu, moves;

	if (!nest)
		return -EMSGSIZE;
	spin_lock_bh(&link->lock);
	session = link->session;
	peer = link->peer[link->to];
	moves = link->moves;
	refusal = pib_udp_link_refusal(link);
	up = session.state == PIB_SESSION_UP;
	path_mtu = up ? pib_pmtu_size(&session.pmtu) : 0;
	second_key = pib_udp_link_by_second_key(link);
	by_flow = pib_udp_link_by_flow(link);
	has_path = session_has_path(link, &windows);
	spin_unlock_bh(&link->lock);

	if (pib_nl_put_netdev(skb, PIB_UL_NETDEV, sock->pn->net, sock->ifindex) ||
	    pib_nl_put_endpoint(skb, PIB_UL_PEER, &peer) ||
	    put_link_ids(a, &session) ||
	    nla_put_u8(skb, PIB_UL_UP, up) ||
	    nla_put_u32(skb, PIB_UL_RESTARTS, session.restarts) ||
	    (second_key && nla_put_flag(skb, PIB_UL_BY_SECOND_KEY)) ||
	    (by_flow && nla_put_flag(skb, PIB_UL_BY_FLOW)) ||
	    (path_mtu && nla_put_u32(skb, PIB_UL_PATH_MTU, path_mtu)) ||
	    put_own(skb, sock, &peer) ||
	    nla_put_u32(skb, PIB_UL_MOVES, moves) ||
	    (refusal && nla_put_string(skb, PIB_UL_REFUSAL, refusal)) ||
	    put_peer(skb, &session) ||
	    (has_path && put_windows(skb, link, windows)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_fault_counts(struct sk_buff *skb, struct pib_pipe *pipe)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_F_COUNTS);
	struct pib_fault_counts c;

	if (!nest)
		return -EMSGSIZE;
	pib_pipe_counts(pipe, &c);
	if (put_end(skb, PIB_FC_TO, pipe->port) ||
	    nla_put_u64_64bit(skb, PIB_FC_PACKETS, c.packets, PIB_FC_PAD) ||
	    nla_put_u64_64bit(skb, PIB_FC_LOST, c.lost, PIB_FC_PAD) ||
	    nla_put_u64_64bit(skb, PIB_FC_DAMAGED, c.damaged, PIB_FC_PAD) ||
	    nla_put_u64_64bit(skb, PIB_FC_DUPLICATED, c.duplicated, PIB_FC_PAD) ||
	    nla_put_u64_64bit(skb, PIB_FC_REORDERED, c.reordered, PIB_FC_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_faults(struct sk_buff *skb, struct pib_impair *fs)
{
	struct nlattr *nest;
	int i, err = 0;

	if (!fs)
		return 0;
	nest = nla_nest_start(skb, PIB_A_LINK_FAULT);
	if (!nest || nla_put_u64_64bit(skb, PIB_F_SEED, fs->cfg.seed, PIB_F_PAD) ||
	    nla_put_u32(skb, PIB_F_LOSS, fs->cfg.loss) ||
	    nla_put_u32(skb, PIB_F_DUPLICATE, fs->cfg.duplicate) ||
	    nla_put_u32(skb, PIB_F_REORDER, fs->cfg.reorder) ||
	    nla_put_u64_64bit(skb, PIB_F_BIT_ERRORS, fs->cfg.bit_errors, PIB_F_PAD) ||
	    nla_put_u64_64bit(skb, PIB_F_LATENCY, fs->cfg.latency, PIB_F_PAD) ||
	    nla_put_u64_64bit(skb, PIB_F_RATE, fs->cfg.rate, PIB_F_PAD) ||
	    nla_put_u32(skb, PIB_F_FLAP_UP, fs->flap.up_ms) ||
	    nla_put_u32(skb, PIB_F_FLAP_DOWN, fs->flap.down_ms) ||
	    nla_put_u32(skb, PIB_F_BUFFER, fs->cfg.buffer))
		return -EMSGSIZE;
	for (i = 0; !err && i < ARRAY_SIZE(fs->end) && fs->end[i]; i++)
		err = put_fault_counts(skb, &fs->pipe[i]);
	if (!err)
		nla_nest_end(skb, nest);
	return err;
}

/*
 * Return: true if the message about the local cable between @port and @peer comes from @port. Of an
 * HCA and a switch this is the HCA, of two HCAs or two switches the one made first.
 */
static bool port_shows_cable(const struct pib_kport *port, const struct pib_kport *peer)
{
	if (!port->sw != !peer->sw)
		return !port->sw;
	if (port->nd == peer->nd)
		return port->p.num < peer->p.num;
	if (port->sw)
		return port->sw->id < peer->sw->id;
	return pib_kport_hca(port)->ib.index < pib_kport_hca(peer)->ib.index;
}

/* Put a message about the cable in a port, if there is one and the message comes from this port. */
static int put_link(struct pib_nl_answer *a, struct pib_kport *port)
{
	struct pib_kport *peer = rcu_dereference_protected(port->peer, true);
	struct pib_udp_link *link = pib_kport_udp_link(port);
	bool out = READ_ONCE(*(link ? &link->base.cable_out : &port->cable_out));
	bool failed;
	void *hdr;

	if (!link && (!peer || !port_shows_cable(port, peer)))
		return 0;
	hdr = pib_nl_answer_begin(a);
	if (!hdr)
		return -EMSGSIZE;
	failed = put_end(a->skb, PIB_A_LINK_A, port) ||
		 (link ? put_udp_link(a, link) : put_end(a->skb, PIB_A_LINK_B, peer)) ||
		 nla_put_u8(a->skb, PIB_A_LINK_STATE, !out) ||
		 (port->is_auto && nla_put_flag(a->skb, PIB_A_AUTO)) ||
		 put_faults(a->skb, port->faults);
	return pib_nl_answer_end(a, hdr, !failed);
}

static int dump_ports_links(struct pib_nl_answer *a, struct pib_nl_cursor *c, u32 id,
			    struct pib_node_dev *nd)
{
	unsigned int i;
	int err;

	for (i = c->begun == id ? c->port : 1; i <= nd->node.num_ports; i++) {
		err = put_link(a, nd->ports[i]);
		if (err) {
			c->begun = id;
			c->port = i;
			return err;
		}
	}
	c->id = id;
	return 0;
}

static int dump_hca_links(struct pib_net *pn, struct pib_nl_answer *a, struct pib_nl_cursor *c)
{
	struct pib_hca_ctl *ctl;
	int err = 0;

	while (!err && (ctl = pib_hca_ctl_from(pn, c->id + 1)))
		err = dump_ports_links(a, c, ctl->id, &ctl->hca->nd);
	return err;
}

static int dump_switch_links(struct pib_net *pn, struct pib_nl_answer *a, struct pib_nl_cursor *c)
{
	struct pib_switch *sw;
	int err = 0;

	while (!err && (sw = pib_switch_from(pn, c->id + 1)))
		err = dump_ports_links(a, c, sw->id, &sw->nd);
	return err;
}

int pib_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pib_nl_cursor *c = (struct pib_nl_cursor *)cb->args;
	struct pib_net *pn;
	struct pib_nl_answer a;
	int err = 0;

	pn = pib_nl_dump_begin(skb, cb, &a, PIB_CMD_LINK_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	if (!c->phase) {
		err = dump_hca_links(pn, &a, c);
		if (!err)
			*c = (struct pib_nl_cursor){ .phase = 1 };
	}
	if (!err)
		err = dump_switch_links(pn, &a, c);
	return pib_nl_dump_end(pn, skb, err);
}

/* ---- bearers ---- */

static int put_stats(struct sk_buff *skb, const struct pib_udp_sock *sock)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_A_STATS);
	struct pib_udp_stats stats;
	unsigned int i;

	BUILD_BUG_ON(PIB_USTATS != PIB_US_MAX - PIB_US_PAD);
	if (!nest)
		return -EMSGSIZE;
	pib_udp_sock_stats(sock, &stats);
	for (i = 0; i < PIB_USTATS; i++)
		if (nla_put_u64_64bit(skb, PIB_US_TX_DATAGRAMS + i, ((u64 *)&stats)[i], PIB_US_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u8 num_keys(const struct pib_bearer *bearer)
{
	const struct pib_keyring *keys = pib_bearer_keys(bearer);

	return keys ? 1 + !!keys->second : 0;
}

static int put_dscp(struct sk_buff *skb, const struct pib_bearer *bearer)
{
	u8 dscp[PIB_SLS];

	pib_bearer_get_dscp(bearer, dscp);
	return nla_put(skb, PIB_A_DSCP, sizeof(dscp), dscp);
}

static int put_uplink(struct pib_nl_answer *a, struct pib_bearer *bearer)
{
	struct pib_switch *sw = rcu_dereference_protected(bearer->sw, true);
	void *hdr = pib_nl_answer_begin(a);
	bool failed;

	if (!hdr)
		return -EMSGSIZE;
	failed = pib_nl_put_bearer(a->skb, bearer) ||
		 (sw && nla_put_string(a->skb, PIB_A_SWITCH_NAME, sw->name)) ||
		 nla_put_u8(a->skb, PIB_A_NUM_KEYS, num_keys(bearer)) ||
		 nla_put_u8(a->skb, PIB_A_ACCEPT, READ_ONCE(bearer->accept)) ||
		 nla_put_u8(a->skb, PIB_A_ECN, pib_bearer_has_ecn(bearer)) ||
		 put_dscp(a->skb, bearer) ||
		 nla_put_u8(a->skb, PIB_A_FLOW_PORTS, READ_ONCE(bearer->flow_ports)) ||
		 nla_put_u8(a->skb, PIB_A_WINDOWS, READ_ONCE(bearer->windows)) ||
		 put_stats(a->skb, bearer->sock);
	return pib_nl_answer_end(a, hdr, !failed);
}

/*
 * Return: the bearer made next after @id; NULL: none. Bearers hang on their sockets, not in a list
 * of their own.
 */
static struct pib_bearer *next_bearer(struct pib_net *pn, long id)
{
	struct pib_bearer *bearer, *best = NULL;
	struct pib_udp_sock *sock;

	list_for_each_entry(sock, &pn->udp_socks, entry)
		list_for_each_entry(bearer, &sock->bearers, entry)
			if (bearer->id > id && (!best || bearer->id < best->id))
				best = bearer;
	return best;
}

int pib_nl_uplink_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pib_nl_cursor *c = (struct pib_nl_cursor *)cb->args;
	struct pib_bearer *bearer;
	struct pib_net *pn;
	struct pib_nl_answer a;
	int err = 0;

	pn = pib_nl_dump_begin(skb, cb, &a, PIB_CMD_UPLINK_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	while (!err && (bearer = next_bearer(pn, c->id))) {
		err = put_uplink(&a, bearer);
		if (!err)
			c->id = bearer->id;
	}
	return pib_nl_dump_end(pn, skb, err);
}
