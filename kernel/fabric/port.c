// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ports: their memory, their counters, and notes of their changes. */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "proto/mad.h"
#include "proto/trap.h"
#include "fabric/port.h"
#include "tracing/fabric.h"
#include "tracing/names.h"

struct pib_kport *pib_kport_alloc(struct pib_node_dev *nd, gfp_t gfp)
{
	struct pib_kport *port = kzalloc(sizeof(*port), gfp);

	if (!port)
		return NULL;
	port->counts = alloc_percpu_gfp(struct pib_counts, gfp);
	if (!port->counts) {
		kfree(port);
		return NULL;
	}
	port->nd = nd;
	return port;
}

void pib_kport_free(struct pib_kport *port)
{
	if (!port)
		return;
	free_percpu(port->counts);
	kfree(port);
}

void pib_kport_events(struct pib_kport *port)
{
	port->nd->ops->events(port->nd);
}

static const char *state_name(u8 state)
{
	static const char *const names[] = PIB_NAMES_BY_VALUE(PIB_PORT_STATES);

	return state < ARRAY_SIZE(names) ? names[state] : "no state";
}

static const char *phys_name(u8 phys)
{
	static const char *const names[] = PIB_NAMES_BY_VALUE(PIB_PHYS_STATES);

	return phys && phys < ARRAY_SIZE(names) ? names[phys] : "no state";
}

static void notify_state(const struct pib_kport *port, const struct pib_port_notified *now)
{
	const struct pib_note_port state = {
		.lid = now->lid,
		.sm_lid = now->sm_lid,
		.state = now->state,
		.phys = now->phys,
	};
	const struct pib_note note = {
		.pn = port->nd->pn,
		.kind = PIB_EVENT_KIND_PORT_STATE,
		.a = pib_kport_note_end(port),
		.port = &state,
	};

	pib_notify(&note);
}

void pib_kport_changed(struct pib_kport *port)
{
	const struct pib_port *p = &port->p;
	const struct pib_port_notified now = {
		.lid = p->lid,
		.sm_lid = p->sm_lid,
		.state = p->state,
		.phys = p->phys,
	};

	lockdep_assert_held(pib_kport_lock(port));

	if (!memcmp(&now, &port->notified, sizeof(now)))
		return;
	pr_debug("pib: %.64s, port %u: %s (%s), was %s, LID %u, SM's LID %u\n", p->node->desc,
		 p->num, state_name(now.state), phys_name(now.phys),
		 state_name(port->notified.state ?: PIB_PORT_DOWN), now.lid, now.sm_lid);
	trace_pib_port_state(port->nd->name, p->num, port->notified.state, now.state, now.phys,
			     now.lid, now.sm_lid);
	notify_state(port, &now);
	port->notified = now;
}

void pib_node_dev_changed(struct pib_node_dev *nd, const u8 *smp)
{
	unsigned int i;

	lockdep_assert_held(&nd->lock);
	if (smp[PIB_MAD_METHOD] != PIB_METHOD_SET ||
	    pib_get16(smp + PIB_MAD_ATTR) != PIB_SM_PORT_INFO)
		return;
	for (i = nd->node.type == PIB_NODE_SWITCH ? 0 : 1; i <= nd->node.num_ports; i++)
		pib_kport_changed(nd->ports[i]);
}

u64 pib_kport_read_count(const struct pib_port *p, u32 counter)
{
	const u64 __percpu *c = (const u64 __percpu *)to_kport(p)->counts + counter;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(c, cpu));
	return sum;
}

static void overrun_trap(struct pib_kport *port, u64 now)
{
	spinlock_t *lock = pib_kport_lock(port);
	unsigned long flags;
	bool excessive;

	spin_lock_irqsave(lock, flags);
	excessive = pib_port_overrun(&port->p, now);
	if (excessive)
		pib_trap_threshold(&port->p, 130, now);
	spin_unlock_irqrestore(lock, flags);
	if (!excessive)
		return;
	pib_kport_count(port, buffer_overrun, 1);
	pib_kport_events(port);
}

void pib_kport_overrun(struct pib_kport *port, u32 npkts)
{
	u64 now = ktime_get_ns();

	pib_kport_count(port, rcv_err, npkts);
	pib_kport_count(port, rcv_overrun, npkts);
	if (!pib_port_overrun_noted(&port->p, now))
		overrun_trap(port, now);
}
