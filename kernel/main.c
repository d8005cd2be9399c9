// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* pib: module entry. */
#include <linux/kmod.h>
#include <linux/module.h>
#include <net/genetlink.h>
#include <rdma/rdma_netlink.h>
#include "packet/burst.h"
#include "control/netlink.h"
#include "control/netns.h"
#include "memory/odp.h"
#include "core/task.h"
#include "fabric/inject.h"
#include "control/rdma_link.h"
#include "uapi/linux/pib.h"
#include "udp/skb_pool.h"
#include "verbs/name.h"

/*
 * An HCA that is added is to have its device nodes. There is no soft dependency: "modprobe -r pib"
 * would want to remove those modules as well, and fail where another HCA is in use.
 */
static void __init load_node_drivers(void)
{
	request_module("ib_uverbs");
	request_module("ib_umad");
}

static int __init pib_init(void)
{
	int err;

	err = pib_burst_cache_init();
	if (err)
		return err;
	err = pib_tasks_init();
	if (err)
		goto err_burst;
	err = pib_odp_init();
	if (err)
		goto err_tasks;
	err = pib_names_init();
	if (err)
		goto err_odp;
	err = pib_netns_init();
	if (err)
		goto err_names;
	err = pib_netlink_init();
	if (err)
		goto err_netns;
	pib_rdma_link_init();
	load_node_drivers();
	return 0;

err_netns:
	pib_netns_exit();
err_names:
	pib_names_exit();
err_odp:
	pib_odp_exit();
err_tasks:
	pib_tasks_exit();
err_burst:
	pib_burst_cache_exit();
	return err;
}

static void __exit pib_exit(void)
{
	pib_rdma_link_exit();
	pib_netlink_exit();
	pib_netns_exit();
	pib_injects_exit();
	pib_names_exit();
	pib_odp_exit();
	pib_tasks_exit();
	rcu_barrier();
	pib_skb_pool_exit();
	pib_burst_cache_exit();
}

module_init(pib_init);
module_exit(pib_exit);
MODULE_AUTHOR("pib maintainers, by the tracker of the repository");
MODULE_DESCRIPTION("InfiniBand over Ethernet");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(PIB_MODULE_VERSION);
MODULE_ALIAS_GENL_FAMILY(PIB_FAMILY_NAME);
MODULE_ALIAS_RDMA_LINK("pib");
