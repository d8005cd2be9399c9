// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/netlink.h>
#include "control/host_switch.h"
#include "control/registry.h"
#include "core/guid.h"
#include "fabric/switch.h"
#include "udp/bearer.h"

#define HOST_SWITCH_PORTS	64

/* Choose a name that is not taken in the namespace. */
static void choose_name(struct pib_net *pn, char name[PIB_NAME_MAX])
{
	unsigned int i;

	lockdep_assert_held(&pn->lock);
	for (i = 0; ; i++) {
		snprintf(name, PIB_NAME_MAX, "sw%u", i);
		if (!pib_registry_find_switch(pn, name) && !pib_hca_ctl_find(pn, name))
			return;
	}
}

static unsigned int count_free_ports(const struct pib_switch *sw)
{
	unsigned int i, n = 0;

	for (i = 1; i <= sw->nd.node.num_ports; i++)
		n += !pib_kport_has_cable(sw->nd.ports[i]);
	return n;
}

static int host_switch_make(struct pib_bearer *bearer, bool standalone,
			    struct netlink_ext_ack *extack)
{
	struct pib_switch_ident id = { .guid = pib_guid_get(bearer->sock->mac, true) };
	struct pib_net *pn = bearer->sock->pn;
	struct pib_switch *sw;
	char name[PIB_NAME_MAX];

	if (!id.guid) {
		NL_SET_ERR_MSG(extack, "the netdev has no GUID left");
		return -ENOSPC;
	}
	choose_name(pn, name);
	sw = pib_switch_create(pn, name, HOST_SWITCH_PORTS, &id, standalone, extack);
	if (IS_ERR(sw)) {
		pib_guid_put(id.guid);
		return PTR_ERR(sw);
	}
	sw->is_host = true;
	pib_registry_list_switch(sw);
	pib_bearer_set_switch(bearer, sw);
	return 0;
}

int pib_host_switch_get(struct pib_bearer *bearer, bool standalone, unsigned int ports,
			struct netlink_ext_ack *extack)
{
	struct pib_switch *sw;
	int err;

	lockdep_assert_held(&bearer->sock->pn->lock);
	if (!rcu_access_pointer(bearer->sw)) {
		err = host_switch_make(bearer, standalone, extack);
		if (err)
			return err;
	}
	bearer->sw_users++;
	sw = rcu_dereference_protected(bearer->sw, true);
	err = -EINVAL;
	if (sw->nd.standalone && !standalone) {
		NL_SET_ERR_MSG(extack,
			       "the HCAs on this netdev are standalone: no SM manages them");
		goto err_put;
	}
	if (!sw->nd.standalone && standalone) {
		NL_SET_ERR_MSG(extack,
			       "the HCAs on this netdev are for an SM to manage, not standalone");
		goto err_put;
	}
	err = -ENOSPC;
	if (count_free_ports(sw) < ports) {
		NL_SET_ERR_MSG(extack, "the host switch has too few free ports");
		goto err_put;
	}
	return 0;

err_put:
	pib_host_switch_put(bearer);
	return err;
}

void pib_host_switch_put(struct pib_bearer *bearer)
{
	struct pib_switch *sw = rcu_dereference_protected(bearer->sw, true);

	lockdep_assert_held(&bearer->sock->pn->lock);
	if (--bearer->sw_users)
		return;
	pib_bearer_set_switch(bearer, NULL);
	pib_registry_remove_switch(sw);
}
