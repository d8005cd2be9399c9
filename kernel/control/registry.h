/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The objects of a network namespace, and the requests that change them. */
#ifndef PIB_CONTROL_REGISTRY_H
#define PIB_CONTROL_REGISTRY_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include "control/notify.h"
#include "core/net.h"
#include "hca/hca.h"
#include "fabric/switch.h"
#include "udp/bearer.h"

struct netlink_ext_ack;
struct pib_udp_link;

#define PIB_PEERS_MAX 16

/**
 * struct pib_registry - the objects of a network namespace
 * @pn: the namespace as its objects see it; the first member, see pib_net_id
 * @entry: in the list of all registries
 * @ctls: struct pib_hca_ctl; under pn.lock
 * @switches: struct pib_switch; under pn.lock
 * @dying: nothing is made any more; under pn.lock
 * @users: one for each HCA, until ib_core has left it; and one until the registry is dying
 * @unused: complete when @users is 0
 * @reap: takes apart objects on netdevs that are gone
 * @notes: messages for listeners
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
	struct pib_notes notes;
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
 * @detached: the HCA is being removed, and is neither shown nor found
 * @fence: waits for the task that has unregistered the HCA, then frees the ctl
 * @num_peers: entries in @peers
 * @peers: peers that the user has named
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
 * struct pib_hca_cfg - configuration of a new HCA
 * @name: device name
 * @id: its identity; GUIDs that are 0 are chosen
 * @bearer: bearer; netdev 0: none, the HCA has no cables until some are plugged in
 * @num_ports: number of ports
 * @standalone: the HCA does without an SM
 * @behaviors: deviations from its default behavior
 * @num_peers: entries in @peers
 * @peers: hosts to which cables lead; none: host switch and discovery
 */
struct pib_hca_cfg {
	const char *name;
	struct pib_hca_ident id;
	struct pib_bearer_cfg bearer;
	u32 num_ports;
	bool standalone;
	struct pib_behaviors_cfg behaviors;
	u32 num_peers;
	struct pib_addr peers[PIB_PEERS_MAX];
};

/**
 * struct pib_bearer_req - a change of the bearer of an HCA
 * @keys_given: change the keys as @keys says; else they stay
 * @accept_given: change @accept; else it stays
 * @accept: which peers get a port: enum pib_hello_accept
 * @tos: DSCP, ECN and source ports of data
 * @keys: the keys
 */
struct pib_bearer_req {
	bool keys_given;
	bool accept_given;
	u8 accept;
	struct pib_tos_cfg tos;
	struct pib_keyring_req keys;
};

/* Drop a user. The caller must not use @reg any more, unless it has another user. Context: any. */
void pib_registry_put(struct pib_registry *reg);

/*
 * All of these have:
 * Context: process, RTNL not held; may sleep long.
 * Return: 0 or -errno with the reason in @extack.
 */
int pib_registry_add_hca(struct pib_net *pn, const struct pib_hca_cfg *cfg,
			 struct netlink_ext_ack *extack);
int pib_registry_del_hca(struct pib_net *pn, const char *name, struct netlink_ext_ack *extack);
/* Change the bearer of the HCA @name: all that is asked for, or nothing. */
int pib_registry_set_bearer(struct pib_net *pn, const char *name, const struct pib_bearer_req *req,
			    struct netlink_ext_ack *extack);
int pib_registry_set_behaviors(struct pib_net *pn, const char *name,
			       const struct pib_behaviors_cfg *cfg, struct netlink_ext_ack *extack);
int pib_registry_add_switch(struct pib_net *pn, const char *name, u32 num_ports,
			    const struct pib_switch_ident *ident, struct netlink_ext_ack *extack);
int pib_registry_del_switch(struct pib_net *pn, const char *name, struct netlink_ext_ack *extack);

/* Find an object by name. Context: pn->view_lock held. Return: NULL: there is none. */
struct pib_hca_ctl *pib_hca_ctl_find(struct pib_net *pn, const char *name);
struct pib_switch *pib_registry_find_switch(struct pib_net *pn, const char *name);
/*
 * As these two, for an object that is to be there; a node may be either. Context: pn->view_lock
 * held. Return: the object; NULL: there is none, and the reason is in @extack.
 */
struct pib_hca_ctl *pib_registry_require_hca(struct pib_net *pn, const char *name,
					     struct netlink_ext_ack *extack);
struct pib_switch *pib_registry_require_switch(struct pib_net *pn, const char *name,
					       struct netlink_ext_ack *extack);
struct pib_node_dev *pib_registry_require_node(struct pib_net *pn, const char *name,
					       struct netlink_ext_ack *extack);
/*
 * Find the first object whose number is not below @id, for dumps. Context: pn->view_lock held.
 * Return: NULL: there is none.
 */
struct pib_hca_ctl *pib_hca_ctl_from(struct pib_net *pn, unsigned long id);
struct pib_switch *pib_switch_from(struct pib_net *pn, unsigned long id);
/* Copy the name of the HCA or switch that @port belongs to. Context: process. */
void pib_kport_node_name(const struct pib_kport *port, char name[IB_DEVICE_NAME_MAX]);

/*
 * Pull the cables of all HCAs and unregister the HCAs; with @stranded, only those whose netdev is
 * gone. Context: process, RTNL not held; pn->lock held, and dropped meanwhile.
 */
void pib_registry_remove_hcas(struct pib_net *pn, bool stranded);
/* Number and list a switch. Context: pn->lock held. */
void pib_registry_list_switch(struct pib_switch *sw);
/* Pull a switch's cables, unlist it, free it and its GUID. Context: pn->lock held; sleeps. */
void pib_registry_remove_switch(struct pib_switch *sw);

/*
 * Check that the namespace is not going away. Context: pn->lock held.
 *
 * Return: 0; -ENODEV: it is, and nothing may be made in it any more.
 */
int pib_registry_check_alive(struct pib_net *pn, struct netlink_ext_ack *extack);

#endif
