// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reports of dropped packets. */
#include "fabric/drop.h"
#include "packet/burst.h"
#include "tracing/fabric.h"

static const u8 drops[__PIB_CAPTURE_REASONS] = {
	[PIB_CAPTURE_INACTIVE] = PIB_DROP_PORT_INACTIVE,
	[PIB_CAPTURE_MTU] = PIB_DROP_MTU,
	[PIB_CAPTURE_NO_VL] = PIB_DROP_NO_VL,
	[PIB_CAPTURE_NO_ROUTE] = PIB_DROP_NO_ROUTE,
	[PIB_CAPTURE_LOOP] = PIB_DROP_LOOP,
	[PIB_CAPTURE_PKEY_IN] = PIB_DROP_PKEY_IN,
	[PIB_CAPTURE_PKEY_OUT] = PIB_DROP_PKEY_OUT,
	[PIB_CAPTURE_HOPS] = PIB_DROP_HOPS,
	[PIB_CAPTURE_FULL] = PIB_DROP_OVERRUN,
	[PIB_CAPTURE_LOST] = PIB_DROP_LOST,
	[PIB_CAPTURE_DAMAGED] = PIB_DROP_DAMAGED,
	[PIB_CAPTURE_HOQ] = PIB_DROP_HOQ,
	[PIB_CAPTURE_LIFE] = PIB_DROP_LIFE,
	[PIB_CAPTURE_INJECTED] = PIB_DROP_TX_INJECTED,
	[PIB_CAPTURE_NO_COPY] = PIB_DROP_NO_COPY,
	[PIB_CAPTURE_AGENT_BUSY] = PIB_DROP_AGENT_BUSY,
};

/* enum pib_capture_reason of what a queue pair drops, by enum pib_drop. */
static const u8 judgements[PIB_DROPS] = {
	[PIB_DROP_RX_QP_STATE] = PIB_CAPTURE_QP_STATE,
	[PIB_DROP_RX_BAD_QKEY] = PIB_CAPTURE_BAD_QKEY,
	[PIB_DROP_RX_BAD_LENGTH] = PIB_CAPTURE_BAD_LENGTH,
	[PIB_DROP_RX_BAD_OPCODE] = PIB_CAPTURE_BAD_OPCODE,
	[PIB_DROP_RX_BAD_RESPONSE] = PIB_CAPTURE_BAD_RESPONSE,
	[PIB_DROP_DUPLICATE_RESPONSE] = PIB_CAPTURE_OLD_RESPONSE,
	[PIB_DROP_DUPLICATE] = PIB_CAPTURE_OLD_REQUEST,
	[PIB_DROP_RX_NO_PAGE] = PIB_CAPTURE_NO_PAGE,
	[PIB_DROP_NO_RECEIVE] = PIB_CAPTURE_NO_RECEIVE,
	[PIB_DROP_OUT_OF_SEQUENCE] = PIB_CAPTURE_OUT_OF_SEQUENCE,
	[PIB_DROP_REFUSED] = PIB_CAPTURE_REFUSED,
};

/* Trace @packets of a burst with headers @h, from index @first on. */
static void trace_drop(const struct pib_kport *port, u8 reason, const struct pib_hdrs *h, u32 first,
		       u32 packets)
{
	struct pib_trace_burst t;

	if (!trace_pib_dropped_enabled())
		return;
	pib_trace_burst_set(&t, h, packets);
	t.psn = pib_psn_add(t.psn, first);
	trace_pib_dropped(port->nd->name, port->p.num, reason, &t);
}

void pib_kport_trace_drop(const struct pib_kport *port, u8 reason, const struct pib_hdrs *h,
			  u32 packets)
{
	trace_drop(port, reason, h, 0, packets);
}

void pib_kport_failed(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason)
{
	pib_capture_failed(port, b, flags, reason);
	pib_kport_trace_drop(port, drops[reason], &b->h, b->npkts);
}

void pib_kport_dropped(const struct pib_kport *port, const struct pib_burst *b,
		       struct pib_mark *marks, u8 reason)
{
	pib_marks_explain(marks, port, reason);
	pib_kport_trace_drop(port, drops[reason], &b->h, b->npkts);
}

void pib_kport_judged(struct pib_kport *port, u8 reason, struct pib_burst *b, u32 first,
		      u32 packets)
{
	trace_drop(port, reason, &b->h, first, packets);
	rcu_read_lock();
	if (pib_captured(port) && judgements[reason] && !pib_port_owns_lid(&port->p, b->h.slid))
		pib_capture_judged(port, b, first, packets, judgements[reason]);
	rcu_read_unlock();
}
