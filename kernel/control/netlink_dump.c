// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The common part of answers to gets. */
#include <linux/netdevice.h>
#include <net/genetlink.h>
#include "control/netlink.h"
#include "control/netlink_dump.h"
#include "control/registry.h"

int pib_nl_put_netdev(struct sk_buff *skb, int attr, struct net *net, int ifindex)
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

int pib_nl_put_endpoint(struct sk_buff *skb, int attr, const struct pib_addr *a)
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

int pib_nl_put_desc(struct sk_buff *skb, int attr, const char *desc)
{
	char text[65];

	memcpy(text, desc, 64);
	text[64] = 0;
	return nla_put_string(skb, attr, text);
}

int pib_nl_put_bearer(struct sk_buff *skb, const struct pib_bearer *bearer)
{
	const struct pib_udp_sock *sock = bearer->sock;

	if (pib_nl_put_netdev(skb, PIB_A_NETDEV, sock->pn->net, sock->ifindex) ||
	    nla_put_u32(skb, PIB_A_IFINDEX, sock->ifindex) ||
	    nla_put_u32(skb, PIB_A_FABRIC, bearer->fabric) ||
	    nla_put_u16(skb, PIB_A_UDP_PORT, sock->port))
		return -EMSGSIZE;
	return 0;
}

void *pib_nl_answer_begin(struct pib_nl_answer *a)
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

int pib_nl_answer_end(struct pib_nl_answer *a, void *hdr, bool complete)
{
	if (complete) {
		genlmsg_end(a->skb, hdr);
		return 0;
	}
	genlmsg_cancel(a->skb, hdr);
	return -EMSGSIZE;
}

int pib_nl_reply_u32(struct genl_info *info, u8 cmd, int nest, int attr, u32 value)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlattr *start;
	void *head;

	if (!msg)
		return -ENOMEM;
	head = genlmsg_put_reply(msg, info, &pib_genl_family, 0, cmd);
	start = head ? nla_nest_start(msg, nest) : NULL;
	if (!start || nla_put_u32(msg, attr, value)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, start);
	genlmsg_end(msg, head);
	return genlmsg_reply(msg, info);
}

int pib_nl_dump_prepare(struct sk_buff *skb, struct netlink_callback *cb, struct pib_nl_answer *a,
			u8 cmd)
{
	if (nlmsg_attrlen(cb->nlh, GENL_HDRLEN)) {
		NL_SET_ERR_MSG(cb->extack, "the dump has attributes, which cannot limit it");
		return -EINVAL;
	}
	a->skb = skb;
	a->portid = NETLINK_CB(cb->skb).portid;
	a->seq = cb->nlh->nlmsg_seq;
	a->flags = NLM_F_MULTI;
	a->cb = cb;
	a->cmd = cmd;
	return 0;
}

struct pib_net *pib_nl_dump_begin(struct sk_buff *skb, struct netlink_callback *cb,
				  struct pib_nl_answer *a, u8 cmd)
{
	struct pib_net *pn = pib_net(sock_net(skb->sk));
	int err = pib_nl_dump_prepare(skb, cb, a, cmd) ?: pib_net_view(pn);

	if (err)
		return ERR_PTR(err);
	cb->seq = pn->changes;
	return pn;
}

int pib_nl_dump_end(struct pib_net *pn, struct sk_buff *skb, int err)
{
	pib_net_view_end(pn);
	return skb->len || !err ? skb->len : err;
}
