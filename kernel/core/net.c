// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "compat/compat.h"
#include "core/net.h"

struct workqueue_struct *pib_wq;
struct workqueue_struct *pib_data_wq;
struct workqueue_struct *pib_link_wq;
unsigned int pib_net_id __read_mostly;

struct pib_net *pib_net(struct net *net)
{
	return net_generic(net, pib_net_id);
}

void pib_net_init(struct pib_net *pn, struct net *net)
{
	pn->net = net;
	pn->changes = 1;
	mutex_init(&pn->lock);
	mutex_init(&pn->get_lock);
	mutex_init(&pn->view_lock);
	mutex_init(&pn->link_lock);
	INIT_LIST_HEAD(&pn->udp_socks);
	xa_init_flags(&pn->links, XA_FLAGS_LOCK_BH);
}

void pib_net_lock(struct pib_net *pn)
{
	mutex_lock(&pn->lock);
	mutex_lock(&pn->view_lock);
}

bool pib_net_trylock(struct pib_net *pn)
{
	if (!mutex_trylock(&pn->lock))
		return false;
	mutex_lock(&pn->view_lock);
	return true;
}

void pib_net_unlock(struct pib_net *pn)
{
	mutex_unlock(&pn->view_lock);
	mutex_unlock(&pn->lock);
}

int pib_net_view(struct pib_net *pn)
{
	int err = mutex_lock_killable(&pn->get_lock);

	if (err)
		return err;
	err = mutex_lock_killable(&pn->view_lock);
	if (err)
		mutex_unlock(&pn->get_lock);
	return err;
}

void pib_net_view_end(struct pib_net *pn)
{
	mutex_unlock(&pn->view_lock);
	mutex_unlock(&pn->get_lock);
}

void pib_net_exit(struct pib_net *pn)
{
	WARN_ON(!list_empty(&pn->udp_socks));
	xa_destroy(&pn->links);
}

int pib_wq_init(void)
{
	pib_wq = alloc_workqueue("pib", WQ_UNBOUND, 0);
	if (!pib_wq)
		return -ENOMEM;
	pib_data_wq = alloc_workqueue("pib_data", WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!pib_data_wq)
		goto err_wq;
	pib_link_wq = alloc_workqueue("pib_link", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!pib_link_wq)
		goto err_data;
	return 0;

err_data:
	destroy_workqueue(pib_data_wq);
err_wq:
	destroy_workqueue(pib_wq);
	return -ENOMEM;
}

void pib_wq_exit(void)
{
	destroy_workqueue(pib_link_wq);
	destroy_workqueue(pib_data_wq);
	destroy_workqueue(pib_wq);
}
