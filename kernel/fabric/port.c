// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ports: their memory, their counters, and what they tell their node. */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "fabric/port.h"

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
