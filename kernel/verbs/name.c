// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Names of HCAs, and whether they are being removed. ib_core frees the string of dev_name() when it
 * renames a device, and writes ib_device.name, under a lock of its own that drivers cannot take. It
 * tells its clients of a new name with that lock held. So this module is a client, for its own
 * devices only, and keeps a copy.
 *
 * A device is taken from its clients in the reverse order of theirs. This module needs ib_uverbs,
 * which so is an older client: it hears that a device goes before the objects of processes do.
 */
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "core/notify.h"
#include "hca/hca.h"
#include "verbs/name.h"

static DEFINE_SPINLOCK(names_lock);

/*
 * Take over the name from dev_name(), which stays, for ib_core holds its lock of devices. @old: the
 * name until now.
 */
static void take_name(struct pib_hca *hca, char old[IB_DEVICE_NAME_MAX])
{
	spin_lock(&names_lock);
	memcpy(old, hca->name, sizeof(hca->name));
	strscpy(hca->name, dev_name(&hca->ib.dev), sizeof(hca->name));
	spin_unlock(&names_lock);
}

/* struct ib_client: the device may have been renamed since it has been in ib_core's table. */
static int name_add(struct ib_device *ibdev)
{
	char old[IB_DEVICE_NAME_MAX];

	if (ibdev->ops.owner != THIS_MODULE)
		return -EOPNOTSUPP;
	take_name(to_hca(ibdev), old);
	WRITE_ONCE(to_hca(ibdev)->removed, false);
	return 0;
}

/* struct ib_client: also for as long as the device changes its network namespace */
static void name_remove(struct ib_device *ibdev, void *client_data)
{
	WRITE_ONCE(to_hca(ibdev)->removed, true);
}

static void name_change(struct ib_device *ibdev, void *client_data)
{
	struct pib_hca *hca = container_of(ibdev, struct pib_hca, ib);
	char old[IB_DEVICE_NAME_MAX];
	const struct pib_note note = {
		.pn = hca->nd.pn,
		.kind = PIB_EVENT_KIND_HCA_RENAMED,
		.a = { .node = dev_name(&ibdev->dev) },
		.old_name = old,
		.guid = hca->nd.node.guid,
	};

	take_name(hca, old);
	pib_notify(&note);
}

static struct ib_client name_client = {
	.name = "pib",
	.add = name_add,
	.remove = name_remove,
	.rename = name_change,
	.no_kverbs_req = 1,
};

int pib_names_init(void)
{
	return ib_register_client(&name_client);
}

void pib_names_exit(void)
{
	ib_unregister_client(&name_client);
}

bool pib_hca_has_name(struct pib_hca *hca, const char *name)
{
	bool same;

	spin_lock(&names_lock);
	same = !strcmp(hca->name, name);
	spin_unlock(&names_lock);
	return same;
}

void pib_hca_get_name(struct pib_hca *hca, char name[IB_DEVICE_NAME_MAX])
{
	spin_lock(&names_lock);
	memcpy(name, hca->name, sizeof(hca->name));
	spin_unlock(&names_lock);
}
