// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/rcupdate.h>
#include "core/notify.h"

static const struct pib_notify_ops __rcu *notify_ops;

void pib_notify_register(const struct pib_notify_ops *ops)
{
	rcu_assign_pointer(notify_ops, ops);
}

void pib_notify_unregister(void)
{
	RCU_INIT_POINTER(notify_ops, NULL);
	synchronize_rcu();
}

void pib_notify(const struct pib_note *note)
{
	const struct pib_notify_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(notify_ops);
	if (ops && ops->wanted(note->pn))
		ops->tell(note);
	rcu_read_unlock();
}
