// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * `rdma link add NAME type pib netdev DEV` does what `pibctl add NAME netdev DEV`
 * does. `rdma link delete` needs nothing here: ib_core unregisters the device,
 * and the rest follows from that (struct pib_hca.on_gone).
 */
#include <linux/netdevice.h>
#include <rdma/rdma_netlink.h>
#include "control/registry.h"
#include "control/rdma_link.h"

static int pib_newlink(const char *name, struct net_device *dev)
{
	struct pib_hca_cfg cfg = {
		.name = name,
		.bearer.ifindex = dev->ifindex,
		.bearer.udp_port = PIB_UDP_PORT,
		.num_ports = 1,
	};

	return pib_registry_add_hca(pib_net(dev_net(dev)), &cfg, NULL);
}

static struct rdma_link_ops pib_link_ops = {
	.type = "pib",
	.newlink = pib_newlink,
};

void pib_rdma_link_init(void)
{
	rdma_link_register(&pib_link_ops);
}

void pib_rdma_link_exit(void)
{
	rdma_link_unregister(&pib_link_ops);
}
