// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The answers to gets. A dump goes by the numbers that objects are given when
 * they are made, which only grow. So a dump neither repeats nor skips an object
 * when others disappear between its parts. A node whose ports do not fit into one
 * message goes on in the next ones.
 *
 * Everybody may ask, without end and from as many processes as there are. One get at a time is
 * made, so that changes wait for few messages and not for all who ask. Who waits for that can be
 * killed. A single message is handed over when the mutexes are given back. The configuration mutex
 * is not taken here.
 */
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <net/genetlink.h>
#include "control/registry.h"
#include "fabric/impair.h"
#include "hca/hca.h"
#include "control/netlink.h"
#include "control/netlink_gen.h"
#include "control/netlink_get.h"
#include "udp/link.h"
#include "verbs/name.h"

/* ---- attributes ---- */

static int put_u64(struct sk_buff *skb, int attr, u64 value, int pad)
{
	return nla_put_u64_64bit(skb, attr, value, pad);
}

static int put_netdev(struct sk_buff *skb, int attr, struct net *net, int ifindex)
{
	struct net_device *dev;
	int err = 0;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	if (dev)
		err = nla_put_string(skb, attr, dev->name);
	rcu_read_unlock();
	return err;
}

static int put_endpoint(struct sk_buff *skb, int attr, const struct pib_addr *a)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest)
		return -EMSGSIZE;
	if (a->family == AF_INET ? nla_put_in_addr(skb, PIB_EP_ADDR4, a->v4) :
				   nla_put_in6_addr(skb, PIB_EP_ADDR6, &a->v6))
		return -EMSGSIZE;
	if (nla_put_u16(skb, PIB_EP_PORT, ntohs(a->port)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

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

static const struct {
	u16 attr;
	u16 offset;
} port_counters[] = {
#define C(attr, field) { attr, offsetof(struct pib_counts, field) }
	C(PIB_C_XMIT_BYTES, xmit_bytes),
	C(PIB_C_RCV_BYTES, rcv_bytes),
	C(PIB_C_XMIT_PKTS, xmit_pkts),
	C(PIB_C_RCV_PKTS, rcv_pkts),
	C(PIB_C_UNICAST_XMIT, ucast_xmit),
	C(PIB_C_UNICAST_RCV, ucast_rcv),
	C(PIB_C_MCAST_XMIT, mcast_xmit),
	C(PIB_C_MCAST_RCV, mcast_rcv),
	C(PIB_C_SYMBOL_ERR, symbol_err),
	C(PIB_C_LINK_RECOVERY, link_recovery),
	C(PIB_C_LINK_DOWNED, link_downed),
	C(PIB_C_RCV_ERR, rcv_err),
	C(PIB_C_RCV_REMPHYS_ERR, rcv_remphys_err),
	C(PIB_C_RCV_SWITCH_RELAY_ERR, rcv_switch_relay_err),
	C(PIB_C_XMIT_DISCARD, xmit_discard),
	C(PIB_C_XMIT_CONSTRAINT_ERR, xmit_constraint_err),
	C(PIB_C_RCV_CONSTRAINT_ERR, rcv_constraint_err),
	C(PIB_C_LOCAL_INTEGRITY_ERR, local_integrity_err),
	C(PIB_C_VL15_DROPPED, vl15_dropped),
	C(PIB_C_XMIT_WAIT, xmit_wait),
	C(PIB_C_QP1_DROPPED, qp1_dropped),
#undef C
};

static int put_counters(struct sk_buff *skb, const struct pib_kport *port)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_P_COUNTERS);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(port_counters); i++)
		if (put_u64(skb, port_counters[i].attr,
			    pib_kport_read_count(&port->p, port_counters[i].offset / sizeof(u64)),
			    PIB_C_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* What is shown of a port's state, read at one time. */
struct port_view {
	u64 guid;
	u8 state;
	u8 phys;
	u16 lid;
	u8 lmc;
	u16 sm_lid;
	u32 mtu;
	u8 width;
	u16 speed;
};

static void view_port(struct pib_kport *port, struct port_view *v)
{
	spinlock_t *lock = pib_kport_lock(port);
	const struct pib_port *p = &port->p;

	spin_lock_irq(lock);
	v->guid = p->guid;
	v->state = p->state;
	v->phys = p->phys;
	v->lid = p->lid;
	v->lmc = p->lmc;
	v->sm_lid = p->sm_lid;
	v->mtu = pib_mtu_bytes(p->nbr_mtu);
	v->width = p->width_act;
	v->speed = p->ext_speed_act ? p->ext_speed_act << 4 : p->speed_act;
	spin_unlock_irq(lock);
}

static int put_port_link(struct sk_buff *skb, struct pib_kport *port)
{
	const struct pib_udp_link *link = pib_kport_udp_link(port);
	const struct pib_udp_sock *sock;

	if (!link)
		return 0;
	sock = link->bearer->sock;
	return put_netdev(skb, PIB_P_NETDEV, sock->pn->net, sock->ifindex);
}

static int put_port_attrs(struct sk_buff *skb, struct pib_kport *port)
{
	struct port_view v;

	view_port(port, &v);
	if (nla_put_u32(skb, PIB_P_NUM, port->p.num) ||
	    put_u64(skb, PIB_P_GUID, v.guid, PIB_P_PAD) ||
	    nla_put_u8(skb, PIB_P_STATE, v.state) ||
	    nla_put_u8(skb, PIB_P_PHYS_STATE, v.phys) ||
	    nla_put_u16(skb, PIB_P_LID, v.lid) ||
	    nla_put_u8(skb, PIB_P_LMC, v.lmc) ||
	    nla_put_u16(skb, PIB_P_SM_LID, v.sm_lid) ||
	    nla_put_u32(skb, PIB_P_MTU, v.mtu) ||
	    nla_put_u8(skb, PIB_P_WIDTH, v.width) ||
	    nla_put_u16(skb, PIB_P_SPEED, v.speed))
		return -EMSGSIZE;
	return put_port_link(skb, port) ?: put_counters(skb, port);
}

/* Put ports [first .. last], as many as fit. Return: the first that did not. */
static unsigned int put_ports(struct sk_buff *skb, struct pib_kport **ports, unsigned int first,
			      unsigned int last)
{
	unsigned int i;

	for (i = first; i <= last; i++) {
		struct nlattr *nest = nla_nest_start(skb, PIB_A_PORT);

		if (!nest)
			break;
		if (put_port_attrs(skb, ports[i])) {
			nla_nest_cancel(skb, nest);
			break;
		}
		nla_nest_end(skb, nest);
	}
	return i;
}

/* ---- messages ---- */

/**
 * struct answer - where a message goes
 * @skb: the message
 * @portid: netlink port of who asked
 * @seq: of the question
 * @flags: NLM_F_MULTI in dumps
 * @cb: dump or NULL
 * @cmd: enum pib_cmd
 */
struct answer {
	struct sk_buff *skb;
	u32 portid;
	u32 seq;
	int flags;
	struct netlink_callback *cb;
	u8 cmd;
};

static void *answer_begin(struct answer *a)
{
	void *hdr = genlmsg_put(a->skb, a->portid, a->seq, &pib_genl_family, a->flags, a->cmd);

	if (!hdr)
		return NULL;
	if (a->cb)
		genl_dump_check_consistent(a->cb, hdr);
	if (!nla_put_string(a->skb, PIB_A_MODULE_VERSION, PIB_MODULE_VERSION))
		return hdr;
	genlmsg_cancel(a->skb, hdr);
	return NULL;
}

static int put_desc(struct sk_buff *skb, const struct pib_node *n)
{
	char desc[65];

	memcpy(desc, n->desc, 64);
	desc[64] = 0;
	return nla_put_string(skb, PIB_A_DESCRIPTION, desc);
}

static int put_product(struct sk_buff *skb, const struct pib_node *n)
{
	if (put_u64(skb, PIB_A_SYS_IMAGE_GUID, READ_ONCE(n->sys_guid), PIB_A_PAD) ||
	    nla_put_u32(skb, PIB_A_VENDOR_ID, n->vendor_id) ||
	    nla_put_u32(skb, PIB_A_DEVICE_ID, n->device_id))
		return -EMSGSIZE;
	return 0;
}

static int put_ctl_bearer(struct sk_buff *skb, const struct pib_hca_ctl *ctl)
{
	const struct pib_bearer *bearer = ctl->bearer;

	if (!bearer)
		return 0;
	if (put_netdev(skb, PIB_A_NETDEV, ctl->pn->net, bearer->sock->ifindex) ||
	    nla_put_u32(skb, PIB_A_IFINDEX, bearer->sock->ifindex) ||
	    nla_put_u32(skb, PIB_A_FABRIC, bearer->fabric) ||
	    nla_put_u16(skb, PIB_A_UDP_PORT, bearer->sock->port))
		return -EMSGSIZE;
	return 0;
}

static int put_ctl(struct sk_buff *skb, struct pib_hca_ctl *ctl)
{
	struct pib_hca *hca = ctl->hca;
	char name[IB_DEVICE_NAME_MAX];
	u32 i;

	pib_hca_get_name(hca, name);
	if (nla_put_string(skb, PIB_A_HCA_NAME, name) ||
	    nla_put_u32(skb, PIB_A_IBDEV_INDEX, hca->ib.index) ||
	    put_desc(skb, &hca->nd.node) ||
	    put_u64(skb, PIB_A_NODE_GUID, hca->nd.node.guid, PIB_A_PAD) ||
	    nla_put_u32(skb, PIB_A_NUM_PORTS, hca->nd.node.num_ports) ||
	    put_product(skb, &hca->nd.node) ||
	    put_ctl_bearer(skb, ctl))
		return -EMSGSIZE;
	if (hca->nd.standalone && nla_put_flag(skb, PIB_A_STANDALONE))
		return -EMSGSIZE;
	for (i = 0; i < ctl->num_peers; i++)
		if (put_endpoint(skb, PIB_A_PEER, &ctl->peers[i]))
			return -EMSGSIZE;
	return 0;
}

static int put_switch(struct sk_buff *skb, struct pib_switch *sw)
{
	if (nla_put_string(skb, PIB_A_SWITCH_NAME, sw->name) ||
	    put_desc(skb, &sw->nd.node) ||
	    put_u64(skb, PIB_A_NODE_GUID, sw->nd.node.guid, PIB_A_PAD) ||
	    nla_put_u32(skb, PIB_A_NUM_PORTS, sw->nd.node.num_ports) ||
	    put_product(skb, &sw->nd.node))
		return -EMSGSIZE;
	if (sw->nd.node.enhanced_sp0 && nla_put_flag(skb, PIB_A_ENHANCED_PORT0))
		return -EMSGSIZE;
	return sw->is_host ? nla_put_flag(skb, PIB_A_AUTO) : 0;
}

static struct pib_node_dev *node_of(struct pib_hca_ctl *ctl, struct pib_switch *sw)
{
	return ctl ? &ctl->hca->nd : &sw->nd;
}

/*
 * Put a message about a node with its ports from *@next on, which is advanced.
 *
 * Return: 0; -EMSGSIZE: no port fits.
 */
static int put_node(struct answer *a, struct pib_hca_ctl *ctl, struct pib_switch *sw,
		    unsigned int *next)
{
	struct pib_node_dev *nd = node_of(ctl, sw);
	unsigned int first = *next;
	void *hdr = answer_begin(a);

	if (!hdr)
		return -EMSGSIZE;
	if (ctl ? put_ctl(a->skb, ctl) : put_switch(a->skb, sw))
		goto err_cancel;
	*next = put_ports(a->skb, nd->ports, first, nd->node.num_ports);
	if (*next == first)
		goto err_cancel;
	genlmsg_end(a->skb, hdr);
	return 0;

err_cancel:
	genlmsg_cancel(a->skb, hdr);
	return -EMSGSIZE;
}

/* ---- one object ---- */

/* Room for a node and all of its ports. */
static struct sk_buff *node_skb(unsigned int num_ports)
{
	return genlmsg_new(2048 + (num_ports + 1) * 512, GFP_KERNEL);
}

/* Return: a message about a node with all of its ports, or an error. pib_net_view() was called. */
static struct sk_buff *node_message(struct genl_info *info, u8 cmd, struct pib_hca_ctl *ctl,
				    struct pib_switch *sw)
{
	struct answer a = { .portid = info->snd_portid, .seq = info->snd_seq, .cmd = cmd };
	unsigned int n = node_of(ctl, sw)->node.num_ports;
	unsigned int next = ctl ? 1 : 0;
	int err;

	a.skb = node_skb(n);
	if (!a.skb)
		return ERR_PTR(-ENOMEM);
	err = put_node(&a, ctl, sw, &next);
	if (!err && next <= n)
		err = -EMSGSIZE;
	if (!err)
		return a.skb;
	nlmsg_free(a.skb);
	return ERR_PTR(err);
}

static int message_reply(struct genl_info *info, struct sk_buff *msg)
{
	return IS_ERR(msg) ? PTR_ERR(msg) : genlmsg_reply(msg, info);
}

int pib_nl_hca_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pib_net *pn = pib_net(genl_info_net(info));
	struct nlattr *name = info->attrs[PIB_A_HCA_NAME];
	struct sk_buff *msg = ERR_PTR(-ENODEV);
	struct pib_hca_ctl *ctl;
	int err;

	if (!name) {
		NL_SET_ERR_MSG(info->extack, "the name of the HCA is missing");
		return -EINVAL;
	}
	err = pib_net_view(pn);
	if (err)
		return err;
	ctl = pib_hca_ctl_find(pn, nla_data(name));
	if (ctl)
		msg = node_message(info, PIB_CMD_HCA_GET, ctl, NULL);
	else
		NL_SET_ERR_MSG(info->extack, "no HCA of that name in this network namespace");
	pib_net_view_end(pn);
	return message_reply(info, msg);
}

int pib_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pib_net *pn = pib_net(genl_info_net(info));
	struct nlattr *name = info->attrs[PIB_A_SWITCH_NAME];
	struct sk_buff *msg = ERR_PTR(-ENODEV);
	struct pib_switch *sw;
	int err;

	if (!name) {
		NL_SET_ERR_MSG(info->extack, "the name of the switch is missing");
		return -EINVAL;
	}
	err = pib_net_view(pn);
	if (err)
		return err;
	sw = pib_fabric_find_switch(pn, nla_data(name));
	if (sw)
		msg = node_message(info, PIB_CMD_SWITCH_GET, NULL, sw);
	else
		NL_SET_ERR_MSG(info->extack, "no switch of that name in this network namespace");
	pib_net_view_end(pn);
	return message_reply(info, msg);
}

/* ---- dumps ---- */

/**
 * struct cursor - where a dump stands; lives in netlink_callback.args
 * @phase: which list
 * @id: number of the last object that is finished
 * @begun: number of an object that is not finished, 0: none
 * @port: next port of @begun
 */
struct cursor {
	long phase;
	long id;
	long begun;
	long port;
};

/* Return: the namespace, looked at until dump_end(); an error. */
static struct pib_net *dump_begin(struct sk_buff *skb, struct netlink_callback *cb,
				  struct answer *a, u8 cmd)
{
	struct pib_net *pn = pib_net(sock_net(skb->sk));
	int err;

	if (nlmsg_attrlen(cb->nlh, GENL_HDRLEN)) {
		NL_SET_ERR_MSG(cb->extack, "a dump tells of everything: no attribute limits it");
		return ERR_PTR(-EINVAL);
	}
	a->skb = skb;
	a->portid = NETLINK_CB(cb->skb).portid;
	a->seq = cb->nlh->nlmsg_seq;
	a->flags = NLM_F_MULTI;
	a->cb = cb;
	a->cmd = cmd;
	err = pib_net_view(pn);
	if (err)
		return ERR_PTR(err);
	cb->seq = pn->changes;
	return pn;
}

/* A full message is no error as long as it holds something. */
static int dump_end(struct pib_net *pn, struct sk_buff *skb, int err)
{
	pib_net_view_end(pn);
	return skb->len || !err ? skb->len : err;
}

/* All messages about a node. */
static int dump_node(struct answer *a, struct cursor *c, struct pib_hca_ctl *ctl,
		     struct pib_switch *sw)
{
	unsigned int last = node_of(ctl, sw)->node.num_ports;
	u32 id = ctl ? ctl->id : sw->id;
	unsigned int next = c->begun == id ? c->port : (ctl ? 1 : 0);
	int err;

	do {
		err = put_node(a, ctl, sw, &next);
	} while (!err && next <= last);
	if (err) {
		c->begun = id;
		c->port = next;
		return err;
	}
	c->id = id;
	return 0;
}

int pib_nl_hca_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct cursor *c = (struct cursor *)cb->args;
	struct pib_hca_ctl *ctl;
	struct pib_net *pn;
	struct answer a;
	int err = 0;

	pn = dump_begin(skb, cb, &a, PIB_CMD_HCA_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	list_for_each_entry(ctl, &to_registry(pn)->ctls, entry) {
		if (ctl->detached || ctl->id <= c->id)
			continue;
		err = dump_node(&a, c, ctl, NULL);
		if (err)
			break;
	}
	return dump_end(pn, skb, err);
}

int pib_nl_switch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct cursor *c = (struct cursor *)cb->args;
	struct pib_switch *sw;
	struct pib_net *pn;
	struct answer a;
	int err = 0;

	pn = dump_begin(skb, cb, &a, PIB_CMD_SWITCH_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	list_for_each_entry(sw, &to_registry(pn)->switches, entry) {
		if (sw->id <= c->id)
			continue;
		err = dump_node(&a, c, NULL, sw);
		if (err)
			break;
	}
	return dump_end(pn, skb, err);
}

/* ---- links ---- */

/*
 * Put link ids. These are what somebody who does not see the traffic would have to guess, so not
 * everybody is told them.
 */
static int put_link_ids(const struct answer *a, const struct pib_link_fsm *fsm)
{
	if (!netlink_capable(a->cb->skb, CAP_NET_ADMIN))
		return 0;
	return nla_put_u32(a->skb, PIB_UL_LOCAL_ID, fsm->local_id) ?:
	       nla_put_u32(a->skb, PIB_UL_REMOTE_ID, fsm->remote_id);
}

static int put_udp_link(struct answer *a, struct pib_udp_link *link)
{
	const struct pib_udp_sock *sock = link->bearer->sock;
	struct sk_buff *skb = a->skb;
	struct nlattr *nest = nla_nest_start(skb, PIB_A_UDP_LINK);
	struct pib_link_fsm fsm;
	struct pib_addr peer;
	const char *refusal;
	bool second_key;
	char desc[65];
	u32 heard;

	if (!nest)
		return -EMSGSIZE;
	spin_lock_bh(&link->lock);
	fsm = link->fsm;
	peer = link->peer[link->to];
	refusal = pib_udp_link_refusal(link);
	second_key = pib_udp_link_by_second_key(link);
	spin_unlock_bh(&link->lock);
	memcpy(desc, fsm.peer_desc, 64);
	desc[64] = 0;
	heard = div_u64(ktime_get_ns() - fsm.last_heard, NSEC_PER_MSEC);

	if (put_netdev(skb, PIB_UL_NETDEV, sock->pn->net, sock->ifindex) ||
	    put_endpoint(skb, PIB_UL_PEER, &peer) ||
	    put_link_ids(a, &fsm) ||
	    nla_put_u8(skb, PIB_UL_UP, fsm.state == PIB_LINK_UP) ||
	    nla_put_u32(skb, PIB_UL_RESTARTS, fsm.restarts) ||
	    (second_key && nla_put_flag(skb, PIB_UL_BY_SECOND_KEY)) ||
	    (refusal && nla_put_string(skb, PIB_UL_REFUSAL, refusal)))
		return -EMSGSIZE;
	if (fsm.peer_node_guid &&
	    (put_u64(skb, PIB_UL_PEER_NODE_GUID, fsm.peer_node_guid, PIB_UL_PAD) ||
	     nla_put_u32(skb, PIB_UL_PEER_PORT_NUM, fsm.peer_port_num) ||
	     nla_put_string(skb, PIB_UL_PEER_DESC, desc) ||
	     nla_put_u32(skb, PIB_UL_LAST_HEARD_MS, heard)))
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
	    put_u64(skb, PIB_FC_PACKETS, c.packets, PIB_FC_PAD) ||
	    put_u64(skb, PIB_FC_LOST, c.lost, PIB_FC_PAD) ||
	    put_u64(skb, PIB_FC_DAMAGED, c.damaged, PIB_FC_PAD) ||
	    put_u64(skb, PIB_FC_DUPLICATED, c.duplicated, PIB_FC_PAD) ||
	    put_u64(skb, PIB_FC_REORDERED, c.reordered, PIB_FC_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_faults(struct sk_buff *skb, struct pib_faults *fs)
{
	struct nlattr *nest;
	int i, err = 0;

	if (!fs)
		return 0;
	nest = nla_nest_start(skb, PIB_A_LINK_FAULT);
	if (!nest || put_u64(skb, PIB_F_SEED, fs->cfg.seed, PIB_F_PAD) ||
	    nla_put_u32(skb, PIB_F_LOSS, fs->cfg.loss) ||
	    nla_put_u32(skb, PIB_F_DUPLICATE, fs->cfg.duplicate) ||
	    nla_put_u32(skb, PIB_F_REORDER, fs->cfg.reorder) ||
	    put_u64(skb, PIB_F_BIT_ERRORS, fs->cfg.bit_errors, PIB_F_PAD) ||
	    put_u64(skb, PIB_F_LATENCY, fs->cfg.latency, PIB_F_PAD) ||
	    put_u64(skb, PIB_F_RATE, fs->cfg.rate, PIB_F_PAD) ||
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

/* Both ends know of a local cable; the HCA tells, or the switch made first. */
static bool tells_of_cable(const struct pib_kport *port, const struct pib_kport *peer)
{
	if (!port->sw != !peer->sw)
		return !port->sw;
	if (port->nd == peer->nd)
		return port->p.num < peer->p.num;
	if (port->sw)
		return port->sw->id < peer->sw->id;
	return pib_kport_hca(port)->ib.index < pib_kport_hca(peer)->ib.index;
}

/* Put a message about the cable in a port, if there is one and this port is the one that tells. */
static int put_link(struct answer *a, struct pib_kport *port)
{
	struct pib_kport *peer = rcu_dereference_protected(port->peer, true);
	struct pib_udp_link *link = pib_kport_udp_link(port);
	bool out = link ? link->base.cable_out : port->cable_out;
	void *hdr;

	if (!link && (!peer || !tells_of_cable(port, peer)))
		return 0;
	hdr = answer_begin(a);
	if (!hdr)
		return -EMSGSIZE;
	if (put_end(a->skb, PIB_A_LINK_A, port) ||
	    (link ? put_udp_link(a, link) : put_end(a->skb, PIB_A_LINK_B, peer)) ||
	    nla_put_u8(a->skb, PIB_A_LINK_STATE, !out) ||
	    (port->is_auto && nla_put_flag(a->skb, PIB_A_AUTO)) ||
	    put_faults(a->skb, port->faults)) {
		genlmsg_cancel(a->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(a->skb, hdr);
	return 0;
}

static int dump_ports_links(struct answer *a, struct cursor *c, u32 id, struct pib_node_dev *nd)
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

static int dump_hca_links(struct pib_net *pn, struct answer *a, struct cursor *c)
{
	struct pib_hca_ctl *ctl;
	int err;

	list_for_each_entry(ctl, &to_registry(pn)->ctls, entry) {
		if (ctl->detached || ctl->id <= c->id)
			continue;
		err = dump_ports_links(a, c, ctl->id, &ctl->hca->nd);
		if (err)
			return err;
	}
	return 0;
}

static int dump_switch_links(struct pib_net *pn, struct answer *a, struct cursor *c)
{
	struct pib_switch *sw;
	int err;

	list_for_each_entry(sw, &to_registry(pn)->switches, entry) {
		if (sw->id <= c->id)
			continue;
		err = dump_ports_links(a, c, sw->id, &sw->nd);
		if (err)
			return err;
	}
	return 0;
}

int pib_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct cursor *c = (struct cursor *)cb->args;
	struct pib_net *pn;
	struct answer a;
	int err = 0;

	pn = dump_begin(skb, cb, &a, PIB_CMD_LINK_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	if (!c->phase) {
		err = dump_hca_links(pn, &a, c);
		if (!err)
			*c = (struct cursor){ .phase = 1 };
	}
	if (!err)
		err = dump_switch_links(pn, &a, c);
	return dump_end(pn, skb, err);
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
		if (put_u64(skb, PIB_US_TX_DATAGRAMS + i, ((u64 *)&stats)[i], PIB_US_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u8 num_keys(const struct pib_bearer *bearer)
{
	const struct pib_keys *keys = pib_bearer_keys(bearer);

	return keys ? 1 + !!keys->second : 0;
}

static int put_uplink(struct answer *a, struct pib_bearer *bearer)
{
	struct pib_switch *sw = rcu_dereference_protected(bearer->sw, true);
	void *hdr = answer_begin(a);

	if (!hdr)
		return -EMSGSIZE;
	if (put_netdev(a->skb, PIB_A_NETDEV, bearer->sock->pn->net, bearer->sock->ifindex) ||
	    nla_put_u32(a->skb, PIB_A_IFINDEX, bearer->sock->ifindex) ||
	    nla_put_u32(a->skb, PIB_A_FABRIC, bearer->fabric) ||
	    nla_put_u16(a->skb, PIB_A_UDP_PORT, bearer->sock->port) ||
	    (sw && nla_put_string(a->skb, PIB_A_SWITCH_NAME, sw->name)) ||
	    nla_put_u8(a->skb, PIB_A_NUM_KEYS, num_keys(bearer)) ||
	    put_stats(a->skb, bearer->sock)) {
		genlmsg_cancel(a->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(a->skb, hdr);
	return 0;
}

/* The bearer made next after @id. Bearers hang on their sockets, not in a list of their own. */
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
	struct cursor *c = (struct cursor *)cb->args;
	struct pib_bearer *bearer;
	struct pib_net *pn;
	struct answer a;
	int err = 0;

	pn = dump_begin(skb, cb, &a, PIB_CMD_UPLINK_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	while (!err && (bearer = next_bearer(pn, c->id))) {
		err = put_uplink(&a, bearer);
		if (!err)
			c->id = bearer->id;
	}
	return dump_end(pn, skb, err);
}

/* ---- injections ---- */

static int put_inject(struct sk_buff *skb, const struct pib_inject *rule)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_A_INJECT);
	const struct pib_inject_cfg *cfg = &rule->cfg;

	if (!nest || nla_put_u32(skb, PIB_IN_ID, rule->id) ||
	    nla_put_u8(skb, PIB_IN_KIND, cfg->kind) ||
	    nla_put_u32(skb, PIB_IN_OBJECT, cfg->object) ||
	    nla_put_u32(skb, PIB_IN_ARG, cfg->arg) ||
	    put_u64(skb, PIB_IN_DELAY, cfg->delay, PIB_IN_PAD) ||
	    nla_put_u32(skb, PIB_IN_AFTER, cfg->after) ||
	    nla_put_u32(skb, PIB_IN_EVERY, cfg->every) ||
	    nla_put_u32(skb, PIB_IN_COUNT, cfg->count) ||
	    nla_put_u32(skb, PIB_IN_PROBABILITY, cfg->probability) ||
	    put_u64(skb, PIB_IN_SEED, cfg->seed, PIB_IN_PAD) ||
	    put_u64(skb, PIB_IN_SEEN, rule->seen, PIB_IN_PAD) ||
	    put_u64(skb, PIB_IN_DONE, rule->done, PIB_IN_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_rule(struct answer *a, struct pib_hca *hca, const struct pib_inject *rule)
{
	char name[IB_DEVICE_NAME_MAX];
	void *hdr = answer_begin(a);

	if (!hdr)
		return -EMSGSIZE;
	pib_hca_get_name(hca, name);
	if (nla_put_string(a->skb, PIB_A_HCA_NAME, name) || put_inject(a->skb, rule)) {
		genlmsg_cancel(a->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(a->skb, hdr);
	return 0;
}

/* The rules of an HCA, behind the one that the cursor names as its port. */
static int dump_rules(struct answer *a, struct cursor *c, struct pib_hca_ctl *ctl)
{
	struct pib_inject rule = { .id = c->begun == ctl->id ? c->port : 0 };
	int err;

	while (pib_injects_next(&ctl->hca->injects, rule.id, &rule)) {
		err = put_rule(a, ctl->hca, &rule);
		if (err)
			return err;
		c->begun = ctl->id;
		c->port = rule.id;
	}
	c->id = ctl->id;
	return 0;
}

int pib_nl_inject_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct cursor *c = (struct cursor *)cb->args;
	struct pib_hca_ctl *ctl;
	struct pib_net *pn;
	struct answer a;
	int err = 0;

	pn = dump_begin(skb, cb, &a, PIB_CMD_INJECT_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	list_for_each_entry(ctl, &to_registry(pn)->ctls, entry) {
		if (ctl->detached || ctl->id <= c->id)
			continue;
		err = dump_rules(&a, c, ctl);
		if (err)
			break;
	}
	return dump_end(pn, skb, err);
}
