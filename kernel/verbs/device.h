/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* HCAs, made and destroyed. */
#ifndef PIB_VERBS_DEVICE_H
#define PIB_VERBS_DEVICE_H

#include <linux/types.h>

struct netlink_ext_ack;
struct pib_hca;
struct pib_hca_ident;
struct pib_net;

/**
 * pib_hca_create() - make an HCA and register it with ib_core
 * @name: device name; -EEXIST if taken
 * @id: who it is; read before this returns
 * @standalone: its ports do without an SM
 * @on_gone: called when ib_core has unregistered it, before its ports are freed; may sleep. Not
 *	called if this fails
 *
 * Ports exist and are Down; the caller plugs them in afterwards. Process context,
 * RTNL not held. Returns ERR_PTR() with the reason in @extack.
 */
struct pib_hca *pib_hca_create(struct pib_net *pn, const char *name, u8 num_ports,
			       const struct pib_hca_ident *id, bool standalone,
			       void (*on_gone)(struct pib_hca *hca),
			       struct netlink_ext_ack *extack);
/**
 * pib_hca_destroy() - unregister and free
 *
 * Open user contexts are disassociated. The caller keeps the HCA from being
 * freed meanwhile by get_device(&hca->ib.dev), for `rdma link delete` may be
 * faster, and holds no lock that @on_gone takes. Process context, RTNL not
 * held; sleeps.
 */
void pib_hca_destroy(struct pib_hca *hca);

#endif
