/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The objects of a network namespace, and what can be done with them. */
#ifndef PIB_CONTROL_REGISTRY_H
#define PIB_CONTROL_REGISTRY_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include "core/net.h"
#include "hca/hca.h"
#include "fabric/switch.h"
#include "udp/bearer.h"

struct netlink_ext_ack;
struct pib_udp_link;

#define PIB_PEERS_MAX 16

/**
 * struct pib_registry - what there is in a network namespace
 * @pn: what its objects see of the namespace; the first member, see pib_net_id
 * @entry: in the list of all
 * @ctls: struct pib_hca_ctl; under pn.lock
 * @switches: struct pib_switch; under pn.lock
 * @dying: nothing is made any more; under pn.lock
 * @users: one for each HCA, until ib_core has left it; and one until the registry is dying
 * @unused: complete when @users is 0
 * @reap: takes apart what sat on netdevs that are gone
 */
struct pib_registry {
	struct pib_net pn;
	struct list_head entry;
	struct list_head ctls;
	struct list_head switches;
	bool dying;
	refcount_t users;
	struct completion unused;
	struct work_struct reap;
};

static inline struct pib_registry *to_registry(struct pib_net *pn)
{
	return container_of(pn, struct pib_registry, pn);
}

/**
 * struct pib_hca_ctl - an HCA's place in the fabric
 * @entry: in the registry's list
 * @id: place in dumps
 * @pn: namespace
 * @hca: the HCA; alive as long as the ctl
 * @bearer: bearer; NULL once detached, and for an HCA that has cables in this kernel only
 * @host_switch: the ports are plugged into the host switch, not into peers
 * @detached: the HCA is on the way out, neither shown nor found
 * @fence: waits for who has unregistered the HCA, then frees the ctl
 * @num_peers: entries in @peers
 * @peers: as asked for
 * @num_guids: entries in @guids
 * @guids: taken for the HCA (core/guid.h), the node's first
 */
struct pib_hca_ctl {
	struct list_head entry;
	u32 id;
	struct pib_net *pn;
	struct pib_hca *hca;
	struct pib_bearer *bearer;
	bool host_switch;
	bool detached;
	struct work_struct fence;
	u32 num_peers;
	struct pib_addr peers[PIB_PEERS_MAX];
	u32 num_guids;
	u64 guids[];
};

/**
 * struct pib_hca_cfg - what is asked for when an HCA is made
 * @name: device name
 * @id: who it is; GUIDs are 0 if they are to be chosen
 * @bearer: bearer; netdev 0: none, the HCA has no cables until some are plugged in
 * @num_ports: ports
 * @standalone: no SM
 * @num_peers: entries in @peers
 * @peers: hosts to be cabled to; none: host switch and discovery
 */
struct pib_hca_cfg {
	const char *name;
	struct pib_hca_ident id;
	struct pib_bearer_cfg bearer;
	u32 num_ports;
	bool standalone;
	u32 num_peers;
	struct pib_addr peers[PIB_PEERS_MAX];
};

/* A user goes. Any context. The last thing done with @reg, unless somebody else is a user. */
void pib_registry_put(struct pib_registry *reg);

/*
 * All of these: process context, RTNL not held; may sleep long.
 * Return: 0 or -errno with the reason in @extack.
 */
int pib_fabric_add_hca(struct pib_net *pn, const struct pib_hca_cfg *cfg,
		       struct netlink_ext_ack *extack);
int pib_fabric_del_hca(struct pib_net *pn, const char *name, struct netlink_ext_ack *extack);
int pib_fabric_set_keys(struct pib_net *pn, const char *name, const struct pib_keys_req *req,
			struct netlink_ext_ack *extack);
int pib_fabric_add_switch(struct pib_net *pn, const char *name, u32 num_ports,
			  const struct pib_switch_ident *ident, struct netlink_ext_ack *extack);
int pib_fabric_del_switch(struct pib_net *pn, const char *name, struct netlink_ext_ack *extack);

/* Find by name. pn->view_lock held. Return: NULL: there is none. */
struct pib_hca_ctl *pib_hca_ctl_find(struct pib_net *pn, const char *name);
struct pib_switch *pib_fabric_find_switch(struct pib_net *pn, const char *name);
/* Copy the name of the HCA or switch that @port belongs to. Process context. */
void pib_kport_node_name(const struct pib_kport *port, char name[IB_DEVICE_NAME_MAX]);

/*
 * Pull the cables of all HCAs and unregister these; with @stranded, only those whose netdev is
 * gone. Process context, RTNL not held; pn->lock held, and dropped meanwhile.
 */
void pib_fabric_remove_hcas(struct pib_net *pn, bool stranded);
/* Number and list a switch. pn->lock held. */
void pib_fabric_list_switch(struct pib_switch *sw);
/* Pull a switch's cables, take it off the list, free it and its GUID. pn->lock held; sleeps. */
void pib_fabric_remove_switch(struct pib_switch *sw);

/* May something be made? pn->lock held. Return: 0; -ENODEV: the namespace is going. */
int pib_fabric_check_alive(struct pib_net *pn, struct netlink_ext_ack *extack);

#endif
