/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Events of ports. */
#ifndef PIB_HCA_PORT_EVENT_H
#define PIB_HCA_PORT_EVENT_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct pib_hca;

/**
 * pib_hca_events() - turn the event bits in the node and its ports into ib_events
 * @hca: HCA
 *
 * The work is done in event_work. PIB_EV_PHYS_CHANGE and PIB_EV_TRAP are passed on to fabric/
 * (pib_kport_phys_changed(), pib_node_dev_kick()).
 *
 * Context: any.
 */
void pib_hca_events(struct pib_hca *hca);

/**
 * pib_hca_event_work() - turn event bits into ib_events, and pass others on to fabric/
 * @work: pib_hca.event_work
 *
 * Context: process.
 */
void pib_hca_event_work(struct work_struct *work);

/**
 * pib_hca_event_dispatch() - tell ib_core, and those who listen to pib's events, of an event
 * @hca: HCA, which is registered
 * @port: number of the port; 0: the event is of the whole HCA
 * @type: the event
 *
 * Context: process.
 */
void pib_hca_event_dispatch(struct pib_hca *hca, u8 port, enum ib_event_type type);

#endif
