// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The answers to gets about HCAs and switches. */
#include <net/genetlink.h>
#include "control/netlink.h"
#include "control/netlink_dump.h"
#include "control/netlink_gen.h"
#include "control/registry.h"
#include "hca/hca.h"
#include "udp/link.h"
#include "verbs/name.h"

static const struct {
	u16 attr;
	u16 offset;
} port_counters[] = {
#define PORT_COUNTER(name, field) { PIB_C_##name, offsetof(struct pib_counts, field) },
	PIB_PORT_COUNTERS(PORT_COUNTER)
#undef PORT_COUNTER
};

static int put_counters(struct sk_buff *skb, const struct pib_kport *port)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_P_COUNTERS);
	unsigned int i;
	u64 count;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(port_counters); i++) {
		count = pib_kport_read_count(&port->p, port_counters[i].offset / sizeof(u64));
		if (nla_put_u64_64bit(skb, port_counters[i].attr, count, PIB_C_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* State of a port as an answer shows it, read at one time. */
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
	v->speed = pib_port_speed(p);
	spin_unlock_irq(lock);
}

static int put_port_link(struct sk_buff *skb, struct pib_kport *port)
{
	const struct pib_udp_link *link = pib_kport_udp_link(port);
	const struct pib_udp_sock *sock;

	if (!link)
		return 0;
	sock = link->bearer->sock;
	return pib_nl_put_netdev(skb, PIB_P_NETDEV, sock->pn->net, sock->ifindex);
}

static int put_port_attrs(struct sk_buff *skb, struct pib_kport *port)
{
	struct port_view v;

	view_port(port, &v);
	if (nla_put_u32(skb, PIB_P_NUM, port->p.num) ||
	    nla_put_u64_64bit(skb, PIB_P_GUID, v.guid, PIB_P_PAD) ||
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

/* Put ports [first .. last], as many as fit. Return: the first that does not fit. */
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

static int put_product(struct sk_buff *skb, const struct pib_node *n)
{
	if (nla_put_u64_64bit(skb, PIB_A_SYS_IMAGE_GUID, READ_ONCE(n->sys_guid), PIB_A_PAD) ||
	    nla_put_u32(skb, PIB_A_VENDOR_ID, n->vendor_id) ||
	    nla_put_u32(skb, PIB_A_DEVICE_ID, n->device_id))
		return -EMSGSIZE;
	return 0;
}

static int put_behaviors(struct sk_buff *skb, const struct pib_behaviors *b)
{
	if (nla_put_u32(skb, PIB_A_BEHAVIOR, READ_ONCE(b->set)) ||
	    nla_put_u64_64bit(skb, PIB_A_BEHAVIOR_SEED, READ_ONCE(b->seed), PIB_A_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Put the NodeDescription, which `echo > node_desc` changes meanwhile. */
static int put_hca_desc(struct sk_buff *skb, struct pib_hca *hca)
{
	char desc[sizeof(hca->nd.node.desc)];

	spin_lock_irq(&hca->nd.lock);
	memcpy(desc, hca->nd.node.desc, sizeof(desc));
	spin_unlock_irq(&hca->nd.lock);
	return pib_nl_put_desc(skb, PIB_A_DESCRIPTION, desc);
}

static int put_ctl(struct sk_buff *skb, struct pib_hca_ctl *ctl)
{
	struct pib_hca *hca = ctl->hca;
	char name[IB_DEVICE_NAME_MAX];
	u32 i;

	pib_hca_get_name(hca, name);
	if (nla_put_string(skb, PIB_A_HCA_NAME, name) ||
	    nla_put_u32(skb, PIB_A_IBDEV_INDEX, hca->ib.index) ||
	    put_hca_desc(skb, hca) ||
	    nla_put_u64_64bit(skb, PIB_A_NODE_GUID, hca->nd.node.guid, PIB_A_PAD) ||
	    nla_put_u32(skb, PIB_A_NUM_PORTS, hca->nd.node.num_ports) ||
	    put_product(skb, &hca->nd.node) ||
	    (ctl->bearer && pib_nl_put_bearer(skb, ctl->bearer)))
		return -EMSGSIZE;
	if (put_behaviors(skb, &hca->behaviors))
		return -EMSGSIZE;
	if (hca->nd.standalone && nla_put_flag(skb, PIB_A_STANDALONE))
		return -EMSGSIZE;
	for (i = 0; i < ctl->num_peers; i++)
		if (pib_nl_put_endpoint(skb, PIB_A_PEER, &ctl->peers[i]))
			return -EMSGSIZE;
	return 0;
}

static int put_switch(struct sk_buff *skb, struct pib_switch *sw)
{
	if (nla_put_string(skb, PIB_A_SWITCH_NAME, sw->name) ||
	    pib_nl_put_desc(skb, PIB_A_DESCRIPTION, sw->nd.node.desc) ||
	    nla_put_u64_64bit(skb, PIB_A_NODE_GUID, sw->nd.node.guid, PIB_A_PAD) ||
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
static int put_node(struct pib_nl_answer *a, struct pib_hca_ctl *ctl, struct pib_switch *sw,
		    unsigned int *next)
{
	struct pib_node_dev *nd = node_of(ctl, sw);
	unsigned int first = *next;
	void *hdr = pib_nl_answer_begin(a);

	if (!hdr)
		return -EMSGSIZE;
	if (!(ctl ? put_ctl(a->skb, ctl) : put_switch(a->skb, sw)))
		*next = put_ports(a->skb, nd->ports, first, nd->node.num_ports);
	return pib_nl_answer_end(a, hdr, *next != first);
}

/* ---- one object ---- */

/* Allocate a message with room for a node and all of its ports. */
static struct sk_buff *node_skb(unsigned int num_ports)
{
	return genlmsg_new(2048 + (num_ports + 1) * 512, GFP_KERNEL);
}

/* Make a message about a node with all of its ports, under pib_net_view(). Return: or ERR_PTR(). */
static struct sk_buff *node_message(struct genl_info *info, u8 cmd, struct pib_hca_ctl *ctl,
				    struct pib_switch *sw)
{
	struct pib_nl_answer a = { .portid = info->snd_portid, .seq = info->snd_seq, .cmd = cmd };
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

/* Answer with the HCA or switch, as @cmd asks for, whose name attribute @attr gives. */
static int node_reply(struct genl_info *info, u8 cmd, int attr)
{
	struct pib_net *pn = pib_net(genl_info_net(info));
	const char *name = pib_nl_name(info, attr);
	struct sk_buff *msg = ERR_PTR(-ENODEV);
	struct pib_hca_ctl *ctl = NULL;
	struct pib_switch *sw = NULL;
	int err;

	if (!name)
		return -EINVAL;
	err = pib_net_view(pn);
	if (err)
		return err;
	if (cmd == PIB_CMD_HCA_GET)
		ctl = pib_registry_require_hca(pn, name, info->extack);
	else
		sw = pib_registry_require_switch(pn, name, info->extack);
	if (ctl || sw)
		msg = node_message(info, cmd, ctl, sw);
	pib_net_view_end(pn);
	return IS_ERR(msg) ? PTR_ERR(msg) : genlmsg_reply(msg, info);
}

int pib_nl_hca_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return node_reply(info, PIB_CMD_HCA_GET, PIB_A_HCA_NAME);
}

int pib_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return node_reply(info, PIB_CMD_SWITCH_GET, PIB_A_SWITCH_NAME);
}

/* ---- dumps ---- */

/* Put messages about a node, from where the dump stands. Return: 0; -EMSGSIZE: more to come. */
static int dump_node(struct pib_nl_answer *a, struct pib_nl_cursor *c, struct pib_hca_ctl *ctl,
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
	struct pib_nl_cursor *c = (struct pib_nl_cursor *)cb->args;
	struct pib_hca_ctl *ctl;
	struct pib_net *pn;
	struct pib_nl_answer a;
	int err = 0;

	pn = pib_nl_dump_begin(skb, cb, &a, PIB_CMD_HCA_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	while (!err && (ctl = pib_hca_ctl_from(pn, c->id + 1)))
		err = dump_node(&a, c, ctl, NULL);
	return pib_nl_dump_end(pn, skb, err);
}

int pib_nl_switch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pib_nl_cursor *c = (struct pib_nl_cursor *)cb->args;
	struct pib_switch *sw;
	struct pib_net *pn;
	struct pib_nl_answer a;
	int err = 0;

	pn = pib_nl_dump_begin(skb, cb, &a, PIB_CMD_SWITCH_GET);
	if (IS_ERR(pn))
		return PTR_ERR(pn);
	while (!err && (sw = pib_switch_from(pn, c->id + 1)))
		err = dump_node(&a, c, NULL, sw);
	return pib_nl_dump_end(pn, skb, err);
}
