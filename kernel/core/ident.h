/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The identity of a node, as its maker asked for it: GUIDs, description, vendor. */
#ifndef PIB_CORE_IDENT_H
#define PIB_CORE_IDENT_H

#include "proto/node.h"

/**
 * struct pib_product - the maker of a node as NodeInfo names it; 0: as pib's own nodes say
 * @sys_guid: SystemImageGUID, host order
 * @vendor_id: VendorID, 24 bits
 * @device_id: DeviceID
 */
struct pib_product {
	u64 sys_guid;
	u32 vendor_id;
	u16 device_id;
};

/**
 * struct pib_hca_ident - the identity of an HCA
 * @node_guid: host order
 * @port_guids: by port number from 1; 0 stands for @node_guid + port number. NULL: all of them
 * @desc: NodeDescription, or NULL for one made of the names of host and device
 * @product: its maker
 */
struct pib_hca_ident {
	u64 node_guid;
	const u64 *port_guids;
	const char *desc;
	struct pib_product product;
};

/**
 * struct pib_switch_ident - the identity of a switch
 * @guid: of the node and of all its ports, host order
 * @desc: NodeDescription, or NULL for one made of the names of switch and host
 * @product: its maker
 * @enhanced: port 0 is an enhanced one (SwitchInfo.EnhancedPort0)
 */
struct pib_switch_ident {
	u64 guid;
	const char *desc;
	struct pib_product product;
	bool enhanced;
};

/* Set the maker of a node, before pib_node_init(). Context: any. */
static inline void pib_node_set_product(struct pib_node *n, const struct pib_product *product)
{
	n->sys_guid = product->sys_guid;
	n->vendor_id = product->vendor_id;
	n->device_id = product->device_id;
}

/* Return: the GUID of a port, host order. Context: any. */
static inline u64 pib_hca_port_guid(const struct pib_hca_ident *id, unsigned int port)
{
	return id->port_guids && id->port_guids[port] ? id->port_guids[port] :
							id->node_guid + port;
}

#endif
