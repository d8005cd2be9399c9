// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The objects of a network namespace: HCAs, switches, cables, bearers.
 *
 * docs/architecture/locks.md has the order of locks. pn->lock is taken before RTNL (sockets join
 * groups, HCAs register) and never under it: a netdev notifier leaves what it has found out to work
 * items. ib_core unregisters an HCA without pn->lock; hca_gone(), which is called then, takes it.
 *
 * An HCA is found through its ctl. If the user removes the HCA (pibctl, `rdma link delete`), its
 * cables are pulled after ib_core has unregistered it, so that consumers can tell their peers. If
 * the netdev, the namespace or the module goes, the cables are pulled first. The ctl goes when
 * ib_core has unregistered the HCA. A namespace or the module waits for that, until the task that
 * has unregistered the HCA, perhaps a process in ib_core, has left pib_dealloc_driver()
 * (ctl_fence()).
 */
#include <linux/ctype.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "control/host_switch.h"
#include "fabric/cable.h"
#include "control/registry.h"
#include "core/guid.h"
#include "core/notify.h"
#include "hca/hca.h"
#include "udp/standalone_lid.h"
#include "udp/bearer_keys.h"
#include "udp/hello.h"
#include "udp/link.h"
#include "verbs/device.h"
#include "verbs/name.h"

void pib_kport_node_name(const struct pib_kport *port, char name[IB_DEVICE_NAME_MAX])
{
	if (port->sw)
		strscpy(name, port->sw->name, IB_DEVICE_NAME_MAX);
	else
		pib_hca_get_name(pib_kport_hca(port), name);
}

/* ---- names ---- */

struct pib_hca_ctl *pib_hca_ctl_find(struct pib_net *pn, const char *name)
{
	struct pib_hca_ctl *ctl;

	lockdep_assert_held(&pn->view_lock);
	list_for_each_entry(ctl, &to_registry(pn)->ctls, entry)
		if (!ctl->detached && pib_hca_has_name(ctl->hca, name))
			return ctl;
	return NULL;
}

struct pib_switch *pib_registry_find_switch(struct pib_net *pn, const char *name)
{
	struct pib_switch *sw;

	lockdep_assert_held(&pn->view_lock);
	list_for_each_entry(sw, &to_registry(pn)->switches, entry)
		if (!strcmp(sw->name, name))
			return sw;
	return NULL;
}

struct pib_hca_ctl *pib_registry_require_hca(struct pib_net *pn, const char *name,
					     struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl = pib_hca_ctl_find(pn, name);

	if (!ctl)
		NL_SET_ERR_MSG(extack, "no HCA of that name in this network namespace");
	return ctl;
}

struct pib_switch *pib_registry_require_switch(struct pib_net *pn, const char *name,
					       struct netlink_ext_ack *extack)
{
	struct pib_switch *sw = pib_registry_find_switch(pn, name);

	if (!sw)
		NL_SET_ERR_MSG(extack, "no switch of that name in this network namespace");
	return sw;
}

struct pib_node_dev *pib_registry_require_node(struct pib_net *pn, const char *name,
					       struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl = pib_hca_ctl_find(pn, name);
	struct pib_switch *sw = pib_registry_find_switch(pn, name);

	if (ctl)
		return &ctl->hca->nd;
	if (sw)
		return &sw->nd;
	NL_SET_ERR_MSG(extack, "no HCA or switch of that name in this network namespace");
	return NULL;
}

/* Numbers only grow, and objects are added at the end, so the lists are in the order of numbers. */
struct pib_hca_ctl *pib_hca_ctl_from(struct pib_net *pn, unsigned long id)
{
	struct pib_hca_ctl *ctl;

	lockdep_assert_held(&pn->view_lock);
	list_for_each_entry(ctl, &to_registry(pn)->ctls, entry)
		if (!ctl->detached && ctl->id >= id)
			return ctl;
	return NULL;
}

struct pib_switch *pib_switch_from(struct pib_net *pn, unsigned long id)
{
	struct pib_switch *sw;

	lockdep_assert_held(&pn->view_lock);
	list_for_each_entry(sw, &to_registry(pn)->switches, entry)
		if (sw->id >= id)
			return sw;
	return NULL;
}

static int check_name(struct pib_net *pn, const char *name, struct netlink_ext_ack *extack)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isalnum(*c) && !strchr("_-.:", *c))
			break;
	if (!*name || *c || *name == '.' || *name == '-') {
		NL_SET_ERR_MSG(extack,
			       "the name is not made of letters, digits and _ - . : alone");
		return -EINVAL;
	}
	if (pib_registry_find_switch(pn, name)) {
		NL_SET_ERR_MSG(extack, "a switch of that name exists");
		return -EEXIST;
	}
	if (pib_hca_ctl_find(pn, name)) {
		NL_SET_ERR_MSG(extack, "an HCA of that name exists");
		return -EEXIST;
	}
	return 0;
}

int pib_registry_check_alive(struct pib_net *pn, struct netlink_ext_ack *extack)
{
	lockdep_assert_held(&pn->lock);
	if (!to_registry(pn)->dying)
		return 0;
	NL_SET_ERR_MSG(extack, "the network namespace is going away");
	return -ENODEV;
}

static void notify_node(const struct pib_node_dev *nd, u8 kind, bool is_switch, bool is_auto)
{
	const struct pib_note note = {
		.pn = nd->pn,
		.kind = kind,
		.a = { .node = nd->name, .is_switch = is_switch },
		.guid = nd->node.guid,
		.is_auto = is_auto,
	};

	pib_notify(&note);
}

/* ---- GUIDs ---- */

static int guid_claim(u64 guid, struct netlink_ext_ack *extack)
{
	int err = pib_guid_claim(guid);

	if (err == -EEXIST)
		NL_SET_ERR_MSG(extack, "the GUID is taken");
	return err;
}

/* Give back the GUIDs that guids_get() has taken, also if it has failed halfway. */
static void guids_put(struct pib_hca_ctl *ctl)
{
	while (ctl->num_guids)
		pib_guid_put(ctl->guids[--ctl->num_guids]);
}

/* Claim the GUIDs that the user has given. A port may have that of its node. */
static int guids_claim(struct pib_hca_ctl *ctl, const struct pib_hca_ident *id,
		       unsigned int num_ports, struct netlink_ext_ack *extack)
{
	unsigned int i;
	u64 guid;
	int err;

	for (i = 0; i <= num_ports; i++) {
		guid = i ? pib_hca_port_guid(id, i) : id->node_guid;
		if (i && guid == id->node_guid)
			continue;
		err = guid_claim(guid, extack);
		if (err)
			return err;
		ctl->guids[ctl->num_guids++] = guid;
	}
	return 0;
}

static int guids_get(struct pib_hca_ctl *ctl, const struct pib_hca_cfg *cfg,
		     struct pib_hca_ident *id, struct netlink_ext_ack *extack)
{
	if (id->node_guid)
		return guids_claim(ctl, id, cfg->num_ports, extack);
	if (ctl->bearer)
		id->node_guid = pib_guid_get(ctl->bearer->sock->mac, false);
	else
		id->node_guid = pib_guid_get_random();
	if (!id->node_guid) {
		NL_SET_ERR_MSG(extack, "the netdev has no GUID left");
		return -ENOSPC;
	}
	/* The GUIDs of the ports are in the same block. */
	ctl->guids[ctl->num_guids++] = id->node_guid;
	return 0;
}

/* ---- HCAs ---- */

void pib_registry_put(struct pib_registry *reg)
{
	if (refcount_dec_and_test(&reg->users))
		complete_all(&reg->unused);
}

/*
 * Wait for the task that has unregistered the HCA, then free the ctl. This module may not know the
 * task (`rdma link delete`), which runs this module's code until it has left pib_dealloc_driver(),
 * all the time with ib_core's lock for unregistration. To unregister an HCA that is unregistered
 * already does nothing but take and drop that lock.
 */
static void ctl_fence(struct work_struct *work)
{
	struct pib_hca_ctl *ctl = container_of(work, struct pib_hca_ctl, fence);
	struct pib_registry *reg = to_registry(ctl->pn);
	struct pib_hca *hca = ctl->hca;

	pib_hca_destroy(hca);
	put_device(&hca->ib.dev);
	kfree(ctl);
	pib_registry_put(reg);
}

static void ctl_leave_bearer(struct pib_hca_ctl *ctl)
{
	if (!ctl->bearer)
		return;
	if (ctl->host_switch)
		pib_host_switch_put(ctl->bearer);
	pib_bearer_put(ctl->bearer);
	ctl->bearer = NULL;
}

/*
 * Take the LID that @port has given itself from the routes and hellos of the host switch @sw. The
 * port's cable is out, so no other host's hello makes the port choose another LID now.
 */
static void port_leave_lid(struct pib_hca_ctl *ctl, struct pib_kport *port, struct pib_switch *sw)
{
	struct pib_net *pn = ctl->pn;

	mutex_lock(&pn->link_lock);
	if (port->standalone_lid) {
		pib_switch_set_route(sw, port->standalone_lid, PIB_LFT_DROP);
		pib_bearer_set_lid(ctl->bearer, port->standalone_lid, 0);
	}
	mutex_unlock(&pn->link_lock);
}

/* Pull the HCA's cables and give up its bearer. */
static void ctl_detach(struct pib_hca_ctl *ctl)
{
	struct pib_net *pn = ctl->pn;
	struct pib_hca *hca = ctl->hca;
	LIST_HEAD(dead);
	unsigned int i;

	lockdep_assert_held(&pn->lock);
	if (ctl->detached)
		return;
	ctl->detached = true;
	pib_node_dev_stop(&hca->nd);
	for (i = 1; i <= hca->nd.node.num_ports; i++) {
		struct pib_kport *port = hca->nd.ports[i];
		struct pib_kport *peer = rcu_dereference_protected(port->peer, true);

		pib_cable_pull(pn, port, &dead);
		if (peer && peer->sw && peer->sw->nd.standalone)
			port_leave_lid(ctl, port, peer->sw);
	}
	synchronize_rcu();
	pib_udp_link_free(&dead);
	ctl_leave_bearer(ctl);
	pn->changes++;
}

/*
 * Implements struct pib_hca.on_gone: ib_core has unregistered the HCA, on whoever's request. Pull
 * its cables and give up its bearer and GUIDs. The fence frees the ctl and drops the registry's
 * user.
 */
static void hca_gone(struct pib_hca *hca)
{
	struct pib_net *pn = pib_net(hca->net);
	struct pib_registry *reg = to_registry(pn);
	struct pib_hca_ctl *ctl;

	pib_net_lock(pn);
	list_for_each_entry(ctl, &reg->ctls, entry) {
		if (ctl->hca != hca)
			continue;
		ctl_detach(ctl);
		/* No other HCA can have its name yet. */
		notify_node(&hca->nd, PIB_EVENT_KIND_HCA_DEL, false, false);
		list_del(&ctl->entry);
		guids_put(ctl);
		get_device(&hca->ib.dev);
		queue_work(pib_wq, &ctl->fence);
		break;
	}
	pib_net_unlock(pn);
}

/* Have @port give itself a LID, and @sw_port's host switch forward the LID there. */
static int port_take_lid(struct pib_hca_ctl *ctl, struct pib_kport *port, struct pib_kport *sw_port)
{
	struct pib_net *pn = ctl->pn;
	int err;

	mutex_lock(&pn->link_lock);
	err = pib_bearer_choose_lid(ctl->bearer, port);
	if (!err)
		pib_switch_set_route(sw_port->sw, port->standalone_lid, sw_port->p.num);
	mutex_unlock(&pn->link_lock);
	return err;
}

static int ctl_plug_switch(struct pib_hca_ctl *ctl, struct pib_kport *port)
{
	struct pib_switch *sw = rcu_dereference_protected(ctl->bearer->sw, true);
	struct pib_kport *sw_port = pib_switch_free_port(sw);
	int err;

	if (!sw_port)
		return -ENOSPC;
	if (ctl->hca->nd.standalone) {
		err = port_take_lid(ctl, port, sw_port);
		if (err)
			return err;
	}
	port->is_auto = true;
	sw_port->is_auto = true;
	pib_cable_plug(ctl->pn, port, sw_port);
	return 0;
}

static int ctl_plug_peer(struct pib_hca_ctl *ctl, struct pib_kport *port,
			 const struct pib_addr *peer)
{
	struct pib_net *pn = ctl->pn;
	struct pib_udp_link *link;

	if (ctl->hca->nd.standalone) {
		mutex_lock(&pn->link_lock);
		WRITE_ONCE(port->standalone_lid, pib_lid_choice(port->p.guid, 0));
		mutex_unlock(&pn->link_lock);
	}
	port->is_auto = true;
	link = pib_udp_link_create(ctl->bearer, port, PIB_UDP_LINK_EXPLICIT, peer, NULL, NULL);
	return PTR_ERR_OR_ZERO(link);
}

static int ctl_plug(struct pib_hca_ctl *ctl, struct netlink_ext_ack *extack)
{
	struct pib_hca *hca = ctl->hca;
	unsigned int i;
	int err = 0;

	for (i = 1; i <= hca->nd.node.num_ports && !err; i++) {
		if (ctl->host_switch)
			err = ctl_plug_switch(ctl, hca->nd.ports[i]);
		else if (i <= ctl->num_peers)
			err = ctl_plug_peer(ctl, hca->nd.ports[i], &ctl->peers[i - 1]);
	}
	if (err == -ENOSPC)
		NL_SET_ERR_MSG(extack, "the netdev has too many standalone ports");
	else if (err)
		NL_SET_ERR_MSG(extack, "out of memory for the links");
	return err;
}

static int check_hca_cfg(struct pib_net *pn, const struct pib_hca_cfg *cfg,
			 struct netlink_ext_ack *extack)
{
	int err = pib_registry_check_alive(pn, extack) ?: check_name(pn, cfg->name, extack);

	if (err)
		return err;
	if (!cfg->bearer.ifindex && (cfg->num_peers || cfg->standalone || cfg->bearer.key.len)) {
		NL_SET_ERR_MSG(extack,
			       "the HCA has no netdev, which peers, a key and standalone need");
		return -EINVAL;
	}
	if (!cfg->bearer.ifindex && (cfg->bearer.accept_given || cfg->bearer.tos.ecn_given ||
				     cfg->bearer.tos.dscp_given ||
				     cfg->bearer.tos.flow_ports_given ||
				     cfg->bearer.tos.windows_given)) {
		NL_SET_ERR_MSG(extack,
			       "the HCA has no netdev, which accept, ECN, DSCP, flow ports and windows need");
		return -EINVAL;
	}
	if (cfg->bearer.second.len && !cfg->bearer.key.len) {
		NL_SET_ERR_MSG(extack, "the second key has no first one beside it");
		return -EINVAL;
	}
	if (cfg->num_peers > cfg->num_ports) {
		NL_SET_ERR_MSG(extack, "the HCA has more peers than ports");
		return -EINVAL;
	}
	if (cfg->standalone && !cfg->num_peers && cfg->num_ports > PIB_HELLO_LIDS) {
		NL_SET_ERR_MSG(extack, "the standalone HCA has too many ports");
		return -EINVAL;
	}
	return 0;
}

/* Get the bearer, and the host switch unless the HCA has peers. */
static int ctl_join_bearer(struct pib_hca_ctl *ctl, const struct pib_hca_cfg *cfg,
			   struct netlink_ext_ack *extack)
{
	struct pib_bearer *bearer;
	int err;

	if (!cfg->bearer.ifindex)
		return 0;
	bearer = pib_bearer_get(ctl->pn, &cfg->bearer, false, extack);
	if (IS_ERR(bearer))
		return PTR_ERR(bearer);
	ctl->bearer = bearer;
	ctl->host_switch = !cfg->num_peers;
	if (ctl->host_switch) {
		err = pib_host_switch_get(bearer, cfg->standalone, cfg->num_ports, extack);
		if (err) {
			pib_bearer_put(bearer);
			ctl->bearer = NULL;
			ctl->host_switch = false;
			return err;
		}
	}
	return 0;
}

static struct pib_hca_ctl *ctl_make(struct pib_net *pn, const struct pib_hca_cfg *cfg,
				    struct netlink_ext_ack *extack)
{
	struct pib_hca_ident id = cfg->id;
	struct pib_hca_ctl *ctl;
	int err;

	ctl = kzalloc(struct_size(ctl, guids, cfg->num_ports + 1), GFP_KERNEL);
	if (!ctl)
		return ERR_PTR(-ENOMEM);
	ctl->pn = pn;
	INIT_WORK(&ctl->fence, ctl_fence);
	ctl->num_peers = cfg->num_peers;
	memcpy(ctl->peers, cfg->peers, sizeof(ctl->peers));
	err = ctl_join_bearer(ctl, cfg, extack);
	if (err)
		goto err_free;
	err = guids_get(ctl, cfg, &id, extack);
	if (err)
		goto err_guids;
	ctl->hca = pib_hca_create(pn, cfg->name, cfg->num_ports, &id, &cfg->behaviors,
				  cfg->standalone, hca_gone, extack);
	if (IS_ERR(ctl->hca)) {
		err = PTR_ERR(ctl->hca);
		goto err_guids;
	}
	ctl->id = ++pn->next_id;
	list_add_tail(&ctl->entry, &to_registry(pn)->ctls);
	refcount_inc(&to_registry(pn)->users);
	notify_node(&ctl->hca->nd, PIB_EVENT_KIND_HCA_NEW, false, false);
	pib_node_dev_start(&ctl->hca->nd);
	return ctl;

err_guids:
	guids_put(ctl);
	ctl_leave_bearer(ctl);
err_free:
	kfree(ctl);
	return ERR_PTR(err);
}

/*
 * Unregister an HCA, which lets its consumers say goodbye to their peers. The caller holds
 * pn->lock, which is released, since hca_gone() takes it. Another task may be unregistering the HCA
 * already.
 */
static void ctl_unregister(struct pib_hca_ctl *ctl)
{
	struct pib_net *pn = ctl->pn;
	struct pib_hca *hca = ctl->hca;

	get_device(&hca->ib.dev);
	pib_net_unlock(pn);
	pib_hca_destroy(hca);
	put_device(&hca->ib.dev);
}

/* Detach an HCA and unregister it. Consumers cannot say goodbye: the cables are pulled first. */
static void ctl_remove(struct pib_hca_ctl *ctl)
{
	ctl_detach(ctl);
	ctl_unregister(ctl);
}

int pib_registry_add_hca(struct pib_net *pn, const struct pib_hca_cfg *cfg,
			 struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl;
	int err;

	pib_net_lock(pn);
	err = check_hca_cfg(pn, cfg, extack);
	if (err)
		goto out_unlock;
	ctl = ctl_make(pn, cfg, extack);
	if (IS_ERR(ctl)) {
		err = PTR_ERR(ctl);
		goto out_unlock;
	}
	err = ctl_plug(ctl, extack);
	if (err) {
		ctl_remove(ctl);
		return err;
	}
	if (ctl->host_switch)
		pib_bearer_announce(ctl->bearer);
	pn->changes++;

out_unlock:
	pib_net_unlock(pn);
	return err;
}

int pib_registry_del_hca(struct pib_net *pn, const char *name, struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl;

	pib_net_lock(pn);
	ctl = pib_registry_require_hca(pn, name, extack);
	if (!ctl) {
		pib_net_unlock(pn);
		return -ENODEV;
	}
	ctl_unregister(ctl);
	return 0;
}

static void notify_keys(const struct pib_hca_ctl *ctl)
{
	const struct pib_keyring *keys = pib_bearer_keys(ctl->bearer);
	const struct pib_note note = {
		.pn = ctl->pn,
		.kind = PIB_EVENT_KIND_KEYS,
		.a = { .node = ctl->hca->nd.name },
		.num_keys = keys ? 1 + !!keys->second : 0,
	};

	pib_notify(&note);
}

/* Find an HCA by name, on a netdev. Return: the HCA; ERR_PTR() with the reason in @extack. */
static struct pib_hca_ctl *find_on_netdev(struct pib_net *pn, const char *name,
					  struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl = pib_registry_require_hca(pn, name, extack);

	if (!ctl)
		return ERR_PTR(-ENODEV);
	if (!ctl->bearer) {
		NL_SET_ERR_MSG(extack, "the HCA is on no netdev");
		return ERR_PTR(-EINVAL);
	}
	return ctl;
}

/* The keys come first: they alone can be refused. */
static int ctl_set_bearer(struct pib_hca_ctl *ctl, const struct pib_bearer_req *req,
			  struct netlink_ext_ack *extack)
{
	int err;

	if (req->keys_given) {
		err = pib_bearer_set_keys(ctl->bearer, &req->keys, extack);
		if (err)
			return err;
		notify_keys(ctl);
	}
	if (req->accept_given)
		pib_bearer_set_accept(ctl->bearer, req->accept);
	if (req->tos.ecn_given || req->tos.dscp_given || req->tos.flow_ports_given ||
	    req->tos.windows_given)
		pib_bearer_set_tos(ctl->bearer, &req->tos);
	return 0;
}

int pib_registry_set_bearer(struct pib_net *pn, const char *name, const struct pib_bearer_req *req,
			    struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl;
	int err;

	pib_net_lock(pn);
	ctl = find_on_netdev(pn, name, extack);
	err = IS_ERR(ctl) ? PTR_ERR(ctl) : ctl_set_bearer(ctl, req, extack);
	pib_net_unlock(pn);
	return err;
}

int pib_registry_set_behaviors(struct pib_net *pn, const char *name,
			       const struct pib_behaviors_cfg *cfg, struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl;

	pib_net_lock(pn);
	ctl = pib_registry_require_hca(pn, name, extack);
	if (ctl)
		pib_behaviors_set(&ctl->hca->behaviors, cfg);
	pib_net_unlock(pn);
	return ctl ? 0 : -ENODEV;
}

/*
 * Return: an HCA that is not detached yet; with @stranded, only one whose netdev is gone; NULL:
 * there is none.
 */
static struct pib_hca_ctl *attached_ctl(struct pib_registry *reg, bool stranded)
{
	struct pib_hca_ctl *ctl;

	list_for_each_entry(ctl, &reg->ctls, entry)
		if (!ctl->detached &&
		    (!stranded || (ctl->bearer && READ_ONCE(ctl->bearer->sock->gone))))
			return ctl;
	return NULL;
}

void pib_registry_remove_hcas(struct pib_net *pn, bool stranded)
{
	struct pib_hca_ctl *ctl;

	lockdep_assert_held(&pn->lock);
	while ((ctl = attached_ctl(to_registry(pn), stranded))) {
		ctl_remove(ctl);
		pib_net_lock(pn);
	}
}

/* ---- switches ---- */

static int switch_guid(struct pib_switch_ident *id, struct netlink_ext_ack *extack)
{
	if (id->guid)
		return guid_claim(id->guid, extack);
	id->guid = pib_guid_get_random();
	return id->guid ? 0 : -ENOMEM;
}

void pib_registry_list_switch(struct pib_switch *sw)
{
	struct pib_net *pn = sw->nd.pn;

	lockdep_assert_held(&pn->lock);
	sw->id = ++pn->next_id;
	list_add_tail(&sw->entry, &to_registry(pn)->switches);
	notify_node(&sw->nd, PIB_EVENT_KIND_SWITCH_NEW, true, sw->is_host);
	pn->changes++;
}

int pib_registry_add_switch(struct pib_net *pn, const char *name, u32 num_ports,
			    const struct pib_switch_ident *ident, struct netlink_ext_ack *extack)
{
	struct pib_switch_ident id = *ident;
	struct pib_switch *sw;
	int err;

	pib_net_lock(pn);
	err = pib_registry_check_alive(pn, extack) ?: check_name(pn, name, extack) ?:
	      switch_guid(&id, extack);
	if (err)
		goto out_unlock;
	sw = pib_switch_create(pn, name, num_ports, &id, false, extack);
	err = PTR_ERR_OR_ZERO(sw);
	if (err) {
		pib_guid_put(id.guid);
		goto out_unlock;
	}
	pib_registry_list_switch(sw);

out_unlock:
	pib_net_unlock(pn);
	return err;
}

void pib_registry_remove_switch(struct pib_switch *sw)
{
	struct pib_net *pn = sw->nd.pn;
	LIST_HEAD(dead);
	unsigned int i;

	lockdep_assert_held(&pn->lock);
	list_del(&sw->entry);
	for (i = 1; i <= sw->nd.node.num_ports; i++)
		pib_cable_pull(pn, sw->nd.ports[i], &dead);
	synchronize_rcu();
	pib_udp_link_free(&dead);
	notify_node(&sw->nd, PIB_EVENT_KIND_SWITCH_DEL, true, sw->is_host);
	pib_guid_put(sw->nd.node.guid);
	pib_switch_destroy(sw);
	pn->changes++;
}

int pib_registry_del_switch(struct pib_net *pn, const char *name, struct netlink_ext_ack *extack)
{
	struct pib_switch *sw;
	int err = 0;

	pib_net_lock(pn);
	sw = pib_registry_require_switch(pn, name, extack);
	if (!sw) {
		err = -ENODEV;
	} else if (sw->is_host) {
		NL_SET_ERR_MSG(extack,
			       "the host switch stays until the last HCA of its netdev is gone");
		err = -EBUSY;
	} else {
		pib_registry_remove_switch(sw);
	}
	pib_net_unlock(pn);
	return err;
}
