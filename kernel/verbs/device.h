/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Making and destroying HCAs. */
#ifndef PIB_VERBS_DEVICE_H
#define PIB_VERBS_DEVICE_H

#include <linux/types.h>

struct netlink_ext_ack;
struct pib_behaviors_cfg;
struct pib_hca;
struct pib_hca_ident;
struct pib_net;

/**
 * pib_hca_create() - make an HCA and register it with ib_core
 * @pn: namespace
 * @name: device name
 * @num_ports: ports, which are DOWN: the caller plugs them in afterwards
 * @id: identity of the HCA; read before this returns
 * @behaviors: behaviors other than by default, from the first consumer on; read before this returns
 * @standalone: its ports do without an SM
 * @on_gone: called when ib_core has unregistered the HCA, before its ports are freed; may sleep.
 *	The task stays in this module for a while then: pib_hca_destroy() is the fence. Not called
 *	if this fails
 * @extack: reason of a failure
 *
 * Context: process, RTNL not held; may sleep.
 * Return: the HCA; ERR_PTR(), of -EEXIST: the name is taken.
 */
struct pib_hca *pib_hca_create(struct pib_net *pn, const char *name, u8 num_ports,
			       const struct pib_hca_ident *id,
			       const struct pib_behaviors_cfg *behaviors, bool standalone,
			       void (*on_gone)(struct pib_hca *hca),
			       struct netlink_ext_ack *extack);

/**
 * pib_hca_destroy() - unregister and free an HCA
 * @hca: HCA, which the caller keeps by get_device(&hca->ib.dev), for `rdma link delete` may be
 *	faster
 *
 * Open user contexts are disassociated. If somebody else unregisters the HCA, or has done so, this
 * returns when that task has left pib_dealloc_driver() and runs nothing of this module for it.
 *
 * Context: process, RTNL not held, nor any lock that pib_hca.on_gone takes; sleeps.
 */
void pib_hca_destroy(struct pib_hca *hca);

#endif
