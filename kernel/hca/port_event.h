/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events of ports. */
#ifndef PIB_HCA_PORT_EVENT_H
#define PIB_HCA_PORT_EVENT_H

#include <linux/workqueue.h>

/* What pib_hca.event_work does. */
void pib_hca_event_work(struct work_struct *work);

#endif
