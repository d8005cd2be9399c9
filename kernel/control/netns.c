// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of a namespace's registry, which is made with the namespace and taken apart with the
 * namespace or the module. It also handles netdevs that go, come up or go down.
 */
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include "control/netns.h"
#include "control/registry.h"
#include "udp/bearer.h"
#include "udp/link.h"
#include "udp/socket.h"

static DEFINE_MUTEX(nets_lock);
static LIST_HEAD(nets);

/* ---- netdevs that go, come up and go down ---- */

/* Take apart links on netdevs that are gone: those that the user has made without an HCA. */
static void reap_links(struct pib_net *pn)
{
	struct pib_bearer *bearer;
	struct pib_udp_sock *sock;
	struct pib_udp_link *link, *tmp;
	LIST_HEAD(dead);

	list_for_each_entry(sock, &pn->udp_socks, entry) {
		if (!READ_ONCE(sock->gone))
			continue;
		list_for_each_entry(bearer, &sock->bearers, entry)
			list_for_each_entry_safe(link, tmp, &bearer->udp_links, entry)
				pib_udp_link_unplug(link, &dead);
	}
	pib_udp_link_free(&dead);
}

static void reap_work(struct work_struct *work)
{
	struct pib_registry *reg = container_of(work, struct pib_registry, reap);
	struct pib_net *pn = &reg->pn;

	pib_net_lock(pn);
	pib_registry_remove_hcas(pn, true);
	reap_links(pn);
	pib_net_unlock(pn);
}

/* Return: true if IP sees what comes in by @dev. */
static bool sock_netdev_runs(struct net_device *dev, unsigned long event)
{
	return netif_running(dev) && netif_carrier_ok(dev) && event != NETDEV_GOING_DOWN &&
	       event != NETDEV_UNREGISTER && !pib_udp_sock_master(dev);
}

/* Tell the user why the uplink hears nothing any more: its netdev looks as if it ran. */
static void note_master(struct net_device *dev, unsigned long event, const void *ptr)
{
	const struct netdev_notifier_changeupper_info *info = ptr;
	const struct net_device *master = pib_udp_sock_master(dev);

	if (event == NETDEV_CHANGEUPPER && info->master && info->linking && master)
		pr_warn("pib: %s is a port of %s now, which gets all that comes by it: its links are down\n",
			netdev_name(dev), netdev_name(master));
}

static void socket_event(struct pib_udp_sock *sock, struct net_device *dev, unsigned long event)
{
	bool running = sock_netdev_runs(dev, event);
	struct pib_bearer *bearer;

	WRITE_ONCE(sock->mtu, dev->mtu);
	/* If the MTU was too small for IPv6 the membership is lost. */
	if (event == NETDEV_CHANGEMTU)
		WRITE_ONCE(sock->rejoin, true);
	if (event == NETDEV_UNREGISTER) {
		WRITE_ONCE(sock->gone, true);
		queue_work(pib_wq, &to_registry(sock->pn)->reap);
	}
	if (sock->running == running)
		return;
	pr_debug("pib: %s: %s\n", netdev_name(dev), running ? "runs" : "does not run any more");
	/* The netdev can still send. */
	if (!running && (event == NETDEV_GOING_DOWN || event == NETDEV_CHANGEUPPER))
		list_for_each_entry_rcu(bearer, &sock->bearers, entry)
			pib_bearer_bye(bearer);
	WRITE_ONCE(sock->running, running);
	WRITE_ONCE(sock->rejoin, running);
	list_for_each_entry_rcu(bearer, &sock->bearers, entry)
		pib_bearer_carrier(bearer);
}

/* RTNL is held, so nothing here waits for pn->lock. No reference is held on the netdev. */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct pib_net *pn = pib_net(dev_net(dev));
	struct pib_udp_sock *sock;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_GOING_DOWN:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_CHANGEUPPER:
	case NETDEV_UNREGISTER:
		break;
	default:
		return NOTIFY_DONE;
	}
	if (!pn)
		return NOTIFY_DONE;
	rcu_read_lock();
	list_for_each_entry_rcu(sock, &pn->udp_socks, entry) {
		if (sock->ifindex != dev->ifindex || sock->gone)
			continue;
		note_master(dev, event, ptr);
		socket_event(sock, dev, event);
	}
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

/* ---- namespaces ---- */

static int __net_init net_init(struct net *net)
{
	struct pib_registry *reg = to_registry(pib_net(net));

	pib_net_init(&reg->pn, net);
	INIT_LIST_HEAD(&reg->ctls);
	INIT_LIST_HEAD(&reg->switches);
	refcount_set(&reg->users, 1);
	init_completion(&reg->unused);
	INIT_WORK(&reg->reap, reap_work);
	pib_notes_init(&reg->notes);
	mutex_lock(&nets_lock);
	list_add_tail(&reg->entry, &nets);
	mutex_unlock(&nets_lock);
	return 0;
}

/*
 * Take everything apart, and wait for tasks that are already doing so. This may be called again, by
 * the namespace's exit after the module's.
 */
static void net_flush(struct pib_registry *reg)
{
	struct pib_net *pn = &reg->pn;
	struct pib_switch *sw, *tmp;
	bool again;

	pib_net_lock(pn);
	again = reg->dying;
	reg->dying = true;
	pib_registry_remove_hcas(pn, false);
	list_for_each_entry_safe(sw, tmp, &reg->switches, entry)
		pib_registry_remove_switch(sw);
	pib_net_unlock(pn);
	if (!again)
		pib_registry_put(reg);
	/* On return no task that has unregistered an HCA is still in this module. */
	wait_for_completion(&reg->unused);
	cancel_work_sync(&reg->reap);
}

static void __net_exit net_exit(struct net *net)
{
	struct pib_registry *reg = to_registry(pib_net(net));

	mutex_lock(&nets_lock);
	list_del(&reg->entry);
	mutex_unlock(&nets_lock);
	net_flush(reg);
	pib_notes_exit(&reg->notes);
	pib_net_exit(&reg->pn);
}

/* pib_net() returns the registry's memory as its struct pib_net. */
static_assert(offsetof(struct pib_registry, pn) == 0);

/*
 * These are operations of devices, not of subsystems, so that they exit before the netdevs and
 * ib_core do.
 */
static struct pernet_operations net_ops = {
	.init = net_init,
	.exit = net_exit,
	.id = &pib_net_id,
	.size = sizeof(struct pib_registry),
};

int pib_netns_init(void)
{
	int err;

	err = pib_wq_init();
	if (err)
		return err;
	err = register_pernet_device(&net_ops);
	if (err)
		goto err_wq;
	err = register_netdevice_notifier(&netdev_nb);
	if (err)
		goto err_pernet;
	return 0;

err_pernet:
	unregister_pernet_device(&net_ops);
err_wq:
	pib_wq_exit();
	return err;
}

/*
 * Take HCAs apart before the pernet operations are unregistered: unregistering holds a lock
 * that ib_core's clients may want when an HCA goes.
 */
void pib_netns_exit(void)
{
	struct pib_registry *reg;

	mutex_lock(&nets_lock);
	list_for_each_entry(reg, &nets, entry)
		net_flush(reg);
	mutex_unlock(&nets_lock);
	unregister_netdevice_notifier(&netdev_nb);
	unregister_pernet_device(&net_ops);
	rcu_barrier();
	pib_wq_exit();
}
