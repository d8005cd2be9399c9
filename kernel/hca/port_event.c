// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Events of ports: changes by the agents, which are told to ib_core and to the links. */
#include "compat/compat.h"
#include "core/notify.h"
#include "fabric/cable.h"
#include "hca/port_event.h"
#include "hca/hca.h"
#include "tracing/verbs.h"

static const struct {
	u32 bit;
	enum ib_event_type type;
} event_types[] = {
	{ PIB_EV_PORT_ERR, IB_EVENT_PORT_ERR },
	{ PIB_EV_LID_CHANGE, IB_EVENT_LID_CHANGE },
	{ PIB_EV_SM_CHANGE, IB_EVENT_SM_CHANGE },
	{ PIB_EV_PKEY_CHANGE, IB_EVENT_PKEY_CHANGE },
	{ PIB_EV_GID_CHANGE, IB_EVENT_GID_CHANGE },
	{ PIB_EV_PORT_ACTIVE, IB_EVENT_PORT_ACTIVE },
	{ PIB_EV_CLIENT_REREGISTER, IB_EVENT_CLIENT_REREGISTER },
};

static u32 take_events(struct pib_hca *hca, u32 *events)
{
	unsigned long flags;
	u32 ev;

	spin_lock_irqsave(&hca->nd.lock, flags);
	ev = *events;
	WRITE_ONCE(*events, 0);
	spin_unlock_irqrestore(&hca->nd.lock, flags);
	return ev;
}

/*
 * Return: @ev, with the port's present state as the last word if it went down and up again, or the
 * reverse.
 */
static u32 reconcile_events(const struct pib_port *p, u32 ev)
{
	if ((ev & PIB_EV_PORT_ACTIVE) && READ_ONCE(p->state) != PIB_PORT_ACTIVE)
		ev = (ev & ~PIB_EV_PORT_ACTIVE) | PIB_EV_PORT_ERR;
	return ev;
}

void pib_hca_event_dispatch(struct pib_hca *hca, u8 port, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &hca->ib,
		.element.port_num = port,
		.event = type,
	};
	const struct pib_note note = {
		.pn = hca->nd.pn,
		.kind = PIB_EVENT_KIND_ASYNC,
		.a = { .node = hca->nd.name, .port = port },
		.ib_event = type,
	};

	trace_pib_async_event(hca->nd.name, port, port ? PIB_ASYNC_PORT : PIB_ASYNC_DEVICE, port,
			      type);
	pib_notify(&note);
	ib_dispatch_event(&event);
}

static void dispatch_events(struct pib_hca *hca, const struct pib_port *p, u32 ev)
{
	int i;

	ev = reconcile_events(p, ev);
	for (i = 0; i < ARRAY_SIZE(event_types); i++)
		if (ev & event_types[i].bit)
			pib_hca_event_dispatch(hca, p->num, event_types[i].type);
}

static u32 handle_port_events(struct pib_hca *hca, struct pib_kport *port)
{
	u32 ev = take_events(hca, &port->p.events);

	if (ev & PIB_EV_PHYS_CHANGE)
		pib_kport_phys_changed(port);
	/* no events for a device that is not registered yet, or not any more */
	if (ev && ib_device_try_get(&hca->ib)) {
		dispatch_events(hca, &port->p, ev);
		ib_device_put(&hca->ib);
	}
	return ev;
}

void pib_hca_event_work(struct work_struct *work)
{
	struct pib_hca *hca = container_of(work, struct pib_hca, event_work);
	u32 ev = take_events(hca, &hca->nd.node.events);
	int i;

	for (i = 1; i <= hca->nd.node.num_ports; i++)
		ev |= handle_port_events(hca, hca->nd.ports[i]);
	if (ev & PIB_EV_TRAP)
		pib_node_dev_kick(&hca->nd);
}

static bool events_pending(const struct pib_hca *hca)
{
	int i;

	if (READ_ONCE(hca->nd.node.events))
		return true;
	for (i = 1; i <= hca->nd.node.num_ports; i++)
		if (READ_ONCE(hca->nd.ports[i]->p.events))
			return true;
	return false;
}

void pib_hca_events(struct pib_hca *hca)
{
	if (events_pending(hca))
		queue_work(system_dfl_wq, &hca->event_work);
}
