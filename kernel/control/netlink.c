// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Control by generic netlink: requests. The specification is netlink/pib.yaml;
 * the answers to gets are made in netlink_get*.c.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <net/genetlink.h>
#include "control/registry.h"
#include "control/links.h"
#include "control/netlink.h"
#include "control/netlink_gen.h"
#include "control/netlink_dump.h"
#include "control/notify.h"

/* ---- attributes ---- */

static struct pib_net *info_net(struct genl_info *info)
{
	return pib_net(genl_info_net(info));
}

const char *pib_nl_name(struct genl_info *info, int attr)
{
	if (info->attrs[attr])
		return nla_data(info->attrs[attr]);
	if (attr == PIB_A_HCA_NAME)
		NL_SET_ERR_MSG(info->extack, "the name of the HCA is missing");
	else
		NL_SET_ERR_MSG(info->extack, "the name of the switch is missing");
	return NULL;
}

static int netdev_index(struct genl_info *info, const char *name)
{
	struct net_device *dev = dev_get_by_name(genl_info_net(info), name);
	int ifindex;

	if (!dev) {
		NL_SET_ERR_MSG(info->extack, "no netdev of that name in this network namespace");
		return -ENODEV;
	}
	ifindex = dev->ifindex;
	dev_put(dev);
	return ifindex;
}

/* Return: the index of the netdev; 0: none is named; -errno with the reason in the extack. */
static int get_netdev(struct genl_info *info)
{
	if (info->attrs[PIB_A_IFINDEX])
		return min_t(u32, nla_get_u32(info->attrs[PIB_A_IFINDEX]), INT_MAX);
	if (info->attrs[PIB_A_NETDEV])
		return netdev_index(info, nla_data(info->attrs[PIB_A_NETDEV]));
	return 0;
}

static u16 get_udp_port(struct genl_info *info)
{
	return pib_nl_u16(info->attrs, PIB_A_UDP_PORT, PIB_UDP_PORT);
}

static int get_psk(struct genl_info *info, int attr, struct pib_psk *key)
{
	const struct nlattr *nla = info->attrs[attr];

	if (!nla)
		return 0;
	if (nla_len(nla) < PIB_KEY_MIN || nla_len(nla) > PIB_KEY_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack, nla,
				    "the key is shorter than 16 bytes or longer than 64");
		return -ERANGE;
	}
	key->len = nla_len(nla);
	memcpy(key->bytes, nla_data(nla), key->len);
	return 0;
}

static_assert((int)PIB_ACCEPT_NOBODY == PIB_HELLO_NOBODY);
static_assert((int)PIB_ACCEPT_PEERS == PIB_HELLO_PEERS);
static_assert((int)PIB_ACCEPT_LINK == PIB_HELLO_LINK);
static_assert((int)PIB_ACCEPT_ANYBODY == PIB_HELLO_ANYBODY);

/* Wipe a key from the memory of a request, whose command takes @attr. */
static void wipe_key(struct genl_info *info, int attr)
{
	if (info->attrs[attr])
		memzero_explicit(nla_data(info->attrs[attr]), nla_len(info->attrs[attr]));
}

/* Wipe both keys of a request. There are no more attributes than its command takes. */
static void wipe_keys(struct genl_info *info)
{
	wipe_key(info, PIB_A_KEY);
	wipe_key(info, PIB_A_SECOND_KEY);
}

static int get_endpoint(struct genl_info *info, const struct nlattr *nest, u16 port,
			struct pib_addr *addr)
{
	struct nlattr *tb[PIB_EP_MAX + 1];
	int err;

	err = nla_parse_nested(tb, PIB_EP_MAX, nest, pib_endpoint_nl_policy, info->extack);
	if (err)
		return err;
	memset(addr, 0, sizeof(*addr));
	if (!tb[PIB_EP_ADDR4] == !tb[PIB_EP_ADDR6]) {
		NL_SET_ERR_MSG(info->extack,
			       "the peer has no address, or both an IPv4 and an IPv6 address");
		return -EINVAL;
	}
	addr->port = htons(pib_nl_u16(tb, PIB_EP_PORT, port));
	if (tb[PIB_EP_ADDR4]) {
		addr->family = AF_INET;
		addr->v4 = nla_get_in_addr(tb[PIB_EP_ADDR4]);
	} else {
		addr->family = AF_INET6;
		addr->v6 = nla_get_in6_addr(tb[PIB_EP_ADDR6]);
	}
	return 0;
}

static int get_peers(struct genl_info *info, struct pib_hca_cfg *cfg)
{
	const struct nlattr *nla;
	int rem, err;

	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nla) != PIB_A_PEER)
			continue;
		if (cfg->num_peers == PIB_PEERS_MAX) {
			NL_SET_ERR_MSG(info->extack, "the HCA has more than 16 peers");
			return -E2BIG;
		}
		err = get_endpoint(info, nla, cfg->bearer.udp_port, &cfg->peers[cfg->num_peers++]);
		if (err)
			return err;
	}
	return 0;
}

static const char *get_desc(struct genl_info *info)
{
	return info->attrs[PIB_A_DESCRIPTION] ? nla_data(info->attrs[PIB_A_DESCRIPTION]) : NULL;
}

/* Get the numbers of NodeInfo. None that is given may be 0. */
static int get_product(struct genl_info *info, struct pib_product *product)
{
	u32 vendor = pib_nl_u32(info->attrs, PIB_A_VENDOR_ID, 1);
	u32 device = pib_nl_u32(info->attrs, PIB_A_DEVICE_ID, 1);

	if (!vendor || vendor > 0xFFFFFF) {
		NL_SET_ERR_MSG(info->extack, "the vendor id is 0 or has more than 24 bits");
		return -ERANGE;
	}
	if (!device || device > U16_MAX) {
		NL_SET_ERR_MSG(info->extack, "the device id is 0 or has more than 16 bits");
		return -ERANGE;
	}
	if (!pib_nl_u64(info->attrs, PIB_A_SYS_IMAGE_GUID, 1)) {
		NL_SET_ERR_MSG(info->extack, "the system image GUID is 0");
		return -ERANGE;
	}
	product->vendor_id = pib_nl_u32(info->attrs, PIB_A_VENDOR_ID, 0);
	product->device_id = pib_nl_u32(info->attrs, PIB_A_DEVICE_ID, 0);
	product->sys_guid = pib_nl_u64(info->attrs, PIB_A_SYS_IMAGE_GUID, 0);
	return 0;
}

/*
 * Get behaviors, of which the policy refuses unknown ones. Return: 0; -EINVAL: a seed without
 * behaviors.
 */
static int get_behaviors(struct genl_info *info, struct pib_behaviors_cfg *cfg)
{
	const struct nlattr *seed = info->attrs[PIB_A_BEHAVIOR_SEED];

	cfg->set = pib_nl_u32(info->attrs, PIB_A_BEHAVIOR, 0);
	cfg->seed = seed ? nla_get_u64(seed) : get_random_u32();
	if (!seed || info->attrs[PIB_A_BEHAVIOR])
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, seed, "the seed has no behaviors that draw from it");
	return -EINVAL;
}

static int get_port_guid(struct genl_info *info, const struct nlattr *nest, u32 num_ports,
			 u64 *guids)
{
	struct nlattr *tb[PIB_P_GUID + 1];
	u32 num;
	int err;

	/* Attributes behind the GUID are for answers, not for requests. */
	err = nla_parse_nested(tb, PIB_P_GUID, nest, pib_port_nl_policy, info->extack);
	if (err)
		return err;
	num = pib_nl_u32(tb, PIB_P_NUM, 0);
	if (!num || num > num_ports || !tb[PIB_P_GUID]) {
		NL_SET_ERR_MSG(info->extack,
			       "the GUID of a port is missing, or no port has its number");
		return -EINVAL;
	}
	guids[num] = nla_get_u64(tb[PIB_P_GUID]);
	return 0;
}

/* Get the GUIDs of ports. Return: by port number, for kfree(); NULL: none is given; ERR_PTR(). */
static u64 *get_port_guids(struct genl_info *info, u32 num_ports)
{
	const struct nlattr *nla;
	u64 *guids;
	int rem, err;

	if (!info->attrs[PIB_A_PORT])
		return NULL;
	if (!info->attrs[PIB_A_NODE_GUID]) {
		NL_SET_ERR_MSG(info->extack,
			       "the GUID of the node is missing, without which ports have none");
		return ERR_PTR(-EINVAL);
	}
	guids = kcalloc(num_ports + 1, sizeof(*guids), GFP_KERNEL);
	if (!guids)
		return ERR_PTR(-ENOMEM);
	nlmsg_for_each_attr(nla, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nla) != PIB_A_PORT)
			continue;
		err = get_port_guid(info, nla, num_ports, guids);
		if (err) {
			kfree(guids);
			return ERR_PTR(err);
		}
	}
	return guids;
}

static int get_end(struct genl_info *info, int attr, struct pib_end *end)
{
	struct nlattr *tb[PIB_END_MAX + 1];
	int err;

	if (!info->attrs[attr]) {
		NL_SET_ERR_MSG(info->extack, "an end of the link is missing");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, PIB_END_MAX, info->attrs[attr], pib_end_nl_policy,
			       info->extack);
	if (err)
		return err;
	if (!tb[PIB_END_NODE] || !tb[PIB_END_PORT]) {
		NL_SET_ERR_MSG(info->extack, "an end of the link lacks its node or its port");
		return -EINVAL;
	}
	end->node = nla_data(tb[PIB_END_NODE]);
	end->port = nla_get_u32(tb[PIB_END_PORT]);
	return 0;
}

static int get_tos(struct genl_info *info, struct pib_tos_cfg *cfg)
{
	const struct nlattr *dscp = info->attrs[PIB_A_DSCP];
	unsigned int sl;

	cfg->ecn_given = info->attrs[PIB_A_ECN];
	if (cfg->ecn_given)
		cfg->ecn = nla_get_u8(info->attrs[PIB_A_ECN]);
	cfg->flow_ports_given = info->attrs[PIB_A_FLOW_PORTS];
	if (cfg->flow_ports_given)
		cfg->flow_ports = nla_get_u8(info->attrs[PIB_A_FLOW_PORTS]);
	cfg->windows_given = info->attrs[PIB_A_WINDOWS];
	if (cfg->windows_given)
		cfg->windows = nla_get_u8(info->attrs[PIB_A_WINDOWS]);
	cfg->dscp_given = dscp;
	if (!dscp)
		return 0;
	memcpy(cfg->dscp, nla_data(dscp), sizeof(cfg->dscp));
	for (sl = 0; sl < PIB_SLS; sl++) {
		if (cfg->dscp[sl] > PIB_DSCP_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, dscp, "a DSCP is above 63");
			return -ERANGE;
		}
	}
	return 0;
}

/* ---- requests ---- */

int pib_nl_hca_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pib_hca_cfg *cfg;
	int err = -EINVAL;
	u64 *port_guids;

	cfg = kzalloc(sizeof(*cfg), GFP_KERNEL);
	if (!cfg) {
		err = -ENOMEM;
		goto out_free;
	}
	cfg->name = pib_nl_name(info, PIB_A_HCA_NAME);
	if (!cfg->name)
		goto out_free;
	cfg->bearer.ifindex = get_netdev(info);
	err = cfg->bearer.ifindex;
	if (err < 0)
		goto out_free;
	cfg->bearer.fabric = pib_nl_u32(info->attrs, PIB_A_FABRIC, 0);
	cfg->bearer.udp_port = get_udp_port(info);
	cfg->bearer.accept_given = info->attrs[PIB_A_ACCEPT];
	if (cfg->bearer.accept_given)
		cfg->bearer.accept = nla_get_u8(info->attrs[PIB_A_ACCEPT]);
	cfg->standalone = nla_get_flag(info->attrs[PIB_A_STANDALONE]);
	err = get_tos(info, &cfg->bearer.tos) ?: get_psk(info, PIB_A_KEY, &cfg->bearer.key) ?:
	      get_psk(info, PIB_A_SECOND_KEY, &cfg->bearer.second) ?: get_peers(info, cfg) ?:
	      get_product(info, &cfg->id.product) ?: get_behaviors(info, &cfg->behaviors);
	if (err)
		goto out_free;
	cfg->num_ports = pib_nl_u32(info->attrs, PIB_A_NUM_PORTS, max_t(u32, cfg->num_peers, 1));
	cfg->id.node_guid = pib_nl_u64(info->attrs, PIB_A_NODE_GUID, 0);
	cfg->id.desc = get_desc(info);
	port_guids = get_port_guids(info, cfg->num_ports);
	err = PTR_ERR_OR_ZERO(port_guids);
	if (err)
		goto out_free;
	cfg->id.port_guids = port_guids;
	err = pib_registry_add_hca(info_net(info), cfg, info->extack);
	kfree(port_guids);

out_free:
	kfree_sensitive(cfg);
	wipe_keys(info);
	return err;
}

static bool is_about_keys(struct genl_info *info)
{
	return info->attrs[PIB_A_KEY] || info->attrs[PIB_A_SECOND_KEY] ||
	       info->attrs[PIB_A_NO_SECOND_KEY];
}

/* Return: 0; -EINVAL: the request sets and drops a key; -ERANGE. */
static int get_keys_req(struct genl_info *info, struct pib_keyring_req *req)
{
	req->no_second = nla_get_flag(info->attrs[PIB_A_NO_SECOND_KEY]);
	req->force = nla_get_flag(info->attrs[PIB_A_FORCE]);
	if (info->attrs[PIB_A_SECOND_KEY] && req->no_second) {
		NL_SET_ERR_MSG(info->extack, "the second key cannot be both set and dropped");
		return -EINVAL;
	}
	return get_psk(info, PIB_A_KEY, &req->key) ?:
	       get_psk(info, PIB_A_SECOND_KEY, &req->second);
}

static bool is_about_uplink(struct genl_info *info)
{
	return info->attrs[PIB_A_ACCEPT] || info->attrs[PIB_A_ECN] || info->attrs[PIB_A_DSCP] ||
	       info->attrs[PIB_A_FLOW_PORTS] || info->attrs[PIB_A_WINDOWS];
}

static int set_behaviors(struct genl_info *info, const char *name)
{
	struct pib_behaviors_cfg behaviors;
	int err = get_behaviors(info, &behaviors);

	if (err)
		return err;
	if (is_about_keys(info) || info->attrs[PIB_A_FORCE] || is_about_uplink(info)) {
		NL_SET_ERR_MSG(info->extack,
			       "behaviors cannot be changed together with anything else");
		return -EINVAL;
	}
	return pib_registry_set_behaviors(info_net(info), name, &behaviors, info->extack);
}

static int get_bearer_req(struct genl_info *info, struct pib_bearer_req *req)
{
	const struct nlattr *accept = info->attrs[PIB_A_ACCEPT];

	req->keys_given = is_about_keys(info);
	if (!req->keys_given && !is_about_uplink(info)) {
		NL_SET_ERR_MSG(info->extack,
			       "the request changes no keys, behaviors, accept, ECN, DSCP, flow ports or windows");
		return -EINVAL;
	}
	req->accept_given = accept;
	if (accept)
		req->accept = nla_get_u8(accept);
	return get_tos(info, &req->tos) ?: get_keys_req(info, &req->keys);
}

static int set_bearer(struct genl_info *info, const char *name)
{
	struct pib_bearer_req *req = kzalloc(sizeof(*req), GFP_KERNEL);
	int err = req ? get_bearer_req(info, req) : -ENOMEM;

	if (!err)
		err = pib_registry_set_bearer(info_net(info), name, req, info->extack);
	kfree_sensitive(req);
	return err;
}

int pib_nl_hca_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = pib_nl_name(info, PIB_A_HCA_NAME);
	int err = -EINVAL;

	if (name && (info->attrs[PIB_A_BEHAVIOR] || info->attrs[PIB_A_BEHAVIOR_SEED]))
		err = set_behaviors(info, name);
	else if (name)
		err = set_bearer(info, name);
	wipe_keys(info);
	return err;
}

int pib_nl_hca_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = pib_nl_name(info, PIB_A_HCA_NAME);

	return name ? pib_registry_del_hca(info_net(info), name, info->extack) : -EINVAL;
}

int pib_nl_switch_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = pib_nl_name(info, PIB_A_SWITCH_NAME);
	struct pib_switch_ident id = {
		.guid = pib_nl_u64(info->attrs, PIB_A_NODE_GUID, 0),
		.desc = get_desc(info),
		.enhanced = nla_get_flag(info->attrs[PIB_A_ENHANCED_PORT0]),
	};
	int err;

	if (!name)
		return -EINVAL;
	if (!info->attrs[PIB_A_NUM_PORTS]) {
		NL_SET_ERR_MSG(info->extack, "the number of ports is missing");
		return -EINVAL;
	}
	err = get_product(info, &id.product);
	if (err)
		return err;
	return pib_registry_add_switch(info_net(info), name,
				       nla_get_u32(info->attrs[PIB_A_NUM_PORTS]),
				       &id, info->extack);
}

int pib_nl_switch_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = pib_nl_name(info, PIB_A_SWITCH_NAME);

	return name ? pib_registry_del_switch(info_net(info), name, info->extack) : -EINVAL;
}

static int link_new_udp(struct genl_info *info, const struct pib_end *a)
{
	struct nlattr *tb[PIB_UL_PEER + 1];
	struct pib_bearer_cfg cfg = {
		.fabric = pib_nl_u32(info->attrs, PIB_A_FABRIC, 0),
		.udp_port = get_udp_port(info),
	};
	struct pib_addr peer;
	int err;

	err = nla_parse_nested(tb, PIB_UL_PEER, info->attrs[PIB_A_UDP_LINK], pib_udp_link_nl_policy,
			       info->extack);
	if (err)
		return err;
	if (!tb[PIB_UL_NETDEV] || !tb[PIB_UL_PEER]) {
		NL_SET_ERR_MSG(info->extack, "the link over UDP lacks its netdev or its peer");
		return -EINVAL;
	}
	cfg.ifindex = netdev_index(info, nla_data(tb[PIB_UL_NETDEV]));
	if (cfg.ifindex < 0)
		return cfg.ifindex;
	err = get_endpoint(info, tb[PIB_UL_PEER], cfg.udp_port, &peer) ?:
	      get_psk(info, PIB_A_KEY, &cfg.key) ?:
	      pib_links_add_udp(info_net(info), a, &cfg, &peer, info->extack);
	memzero_explicit(&cfg.key, sizeof(cfg.key));
	return err;
}

static int link_new(struct genl_info *info)
{
	struct pib_end a, b;
	int err;

	if (!info->attrs[PIB_A_LINK_B] == !info->attrs[PIB_A_UDP_LINK]) {
		NL_SET_ERR_MSG(info->extack, "the link has no far end, or both a port and a peer");
		return -EINVAL;
	}
	err = get_end(info, PIB_A_LINK_A, &a);
	if (err)
		return err;
	if (info->attrs[PIB_A_UDP_LINK])
		return link_new_udp(info, &a);
	if (info->attrs[PIB_A_KEY]) {
		NL_SET_ERR_MSG(info->extack, "a cable inside this kernel has no key");
		return -EINVAL;
	}
	err = get_end(info, PIB_A_LINK_B, &b);
	if (err)
		return err;
	return pib_links_add_cable(info_net(info), &a, &b, info->extack);
}

int pib_nl_link_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = link_new(info);

	wipe_key(info, PIB_A_KEY);
	return err;
}

int pib_nl_link_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pib_end a;
	int err = get_end(info, PIB_A_LINK_A, &a);

	return err ? err : pib_links_del(info_net(info), &a, info->extack);
}

static u64 fault_number(const struct nlattr *a)
{
	return nla_len(a) == sizeof(u64) ? nla_get_u64(a) : nla_get_u32(a);
}

static void get_fault(struct nlattr **tb, int attr, struct pib_fault_req *req, u32 bit, u64 *value)
{
	if (!tb[attr])
		return;
	*value = fault_number(tb[attr]);
	req->given |= bit;
}

static int get_flap(struct genl_info *info, struct nlattr **tb, struct pib_fault_req *req)
{
	u64 up_ms = 0, down_ms = 0;

	get_fault(tb, PIB_F_FLAP_UP, req, PIB_FAULT_FLAP, &up_ms);
	get_fault(tb, PIB_F_FLAP_DOWN, req, PIB_FAULT_FLAP, &down_ms);
	if (!up_ms != !down_ms) {
		NL_SET_ERR_MSG(info->extack,
			       "the flapping cable lacks the time for which it is in or out");
		return -EINVAL;
	}
	req->flap.up_ms = up_ms;
	req->flap.down_ms = down_ms;
	return 0;
}

static int get_buffer(struct genl_info *info, struct nlattr **tb, struct pib_fault_req *req)
{
	u64 bytes = 0;

	get_fault(tb, PIB_F_BUFFER, req, PIB_FAULT_BUFFER, &bytes);
	if (bytes && bytes < PIB_FAULT_BUFFER_MIN) {
		NL_SET_ERR_MSG(info->extack, "the buffer is smaller than a packet, 4352 bytes");
		return -EINVAL;
	}
	req->cfg.buffer = bytes;
	return 0;
}

static int get_faults(struct genl_info *info, struct pib_fault_req *req)
{
	struct nlattr *tb[PIB_F_MAX + 1];
	u64 loss = 0, duplicate = 0, reorder = 0;
	int err;

	if (!info->attrs[PIB_A_LINK_FAULT])
		return 0;
	err = nla_parse_nested(tb, PIB_F_MAX, info->attrs[PIB_A_LINK_FAULT], pib_fault_nl_policy,
			       info->extack);
	if (err)
		return err;
	if (tb[PIB_F_COUNTS]) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[PIB_F_COUNTS],
				    "the counts of the faults cannot be set");
		return -EINVAL;
	}
	req->anew = nla_get_flag(tb[PIB_F_NONE]);
	get_fault(tb, PIB_F_SEED, req, PIB_FAULT_SEED, &req->cfg.seed);
	get_fault(tb, PIB_F_LOSS, req, PIB_FAULT_LOSS, &loss);
	get_fault(tb, PIB_F_DUPLICATE, req, PIB_FAULT_DUPLICATE, &duplicate);
	get_fault(tb, PIB_F_REORDER, req, PIB_FAULT_REORDER, &reorder);
	get_fault(tb, PIB_F_BIT_ERRORS, req, PIB_FAULT_BIT_ERRORS, &req->cfg.bit_errors);
	get_fault(tb, PIB_F_LATENCY, req, PIB_FAULT_LATENCY, &req->cfg.latency);
	get_fault(tb, PIB_F_RATE, req, PIB_FAULT_RATE, &req->cfg.rate);
	req->cfg.loss = loss;
	req->cfg.duplicate = duplicate;
	req->cfg.reorder = reorder;
	return get_buffer(info, tb, req) ?: get_flap(info, tb, req);
}

int pib_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pib_link_req req = {};
	struct pib_end a;
	int err = get_end(info, PIB_A_LINK_A, &a);

	if (err)
		return err;
	if (info->attrs[PIB_A_LINK_STATE]) {
		req.plug = true;
		req.plugged = nla_get_u8(info->attrs[PIB_A_LINK_STATE]);
	}
	if (info->attrs[PIB_A_LINK_WIDTH])
		req.width = nla_get_u8(info->attrs[PIB_A_LINK_WIDTH]);
	if (info->attrs[PIB_A_LINK_SPEED])
		req.speed = nla_get_u16(info->attrs[PIB_A_LINK_SPEED]);
	err = get_faults(info, &req.faults);
	if (err)
		return err;
	if (!req.plug && !req.width && !req.speed && !req.faults.given && !req.faults.anew) {
		NL_SET_ERR_MSG(info->extack, "the request changes nothing of the link");
		return -EINVAL;
	}
	return pib_links_set(info_net(info), &a, &req, info->extack);
}

/* ---- family ---- */

/*
 * Objects made here belong to the machine: RDMA devices have names and GUIDs that the whole kernel
 * knows, and other namespaces may see them. So root of a user namespace must not make them, as with
 * `rdma link add`. All requests that change something have GENL_ADMIN_PERM in the specification.
 */
struct genl_family pib_genl_family __ro_after_init = {
	.name = PIB_FAMILY_NAME,
	.version = PIB_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.mcgrps = pib_nl_mcgrps,
	.n_mcgrps = PIB_NLGRPS,
};

int __init pib_netlink_init(void)
{
	int err = compat_genl_register(&pib_genl_family, pib_nl_ops, PIB_NL_OPS);

	if (!err)
		pib_notes_open();
	return err;
}

void pib_netlink_exit(void)
{
	pib_notes_close();
	genl_unregister_family(&pib_genl_family);
}
