/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints of ports, cables, switches and links (tracing/values.h). */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pib

#if !defined(PIB_TRACING_FABRIC_H) || defined(TRACE_HEADER_MULTI_READ)
#define PIB_TRACING_FABRIC_H

#include <linux/tracepoint.h>
#include "tracing/names.h"

PIB_ENUMS(PIB_SERVICES)
PIB_ENUMS(PIB_OPS)
PIB_ENUMS(PIB_PORT_STATES)
PIB_ENUMS(PIB_PHYS_STATES)
PIB_ENUMS(PIB_DATAGRAM_DROPS)
PIB_QUEUED_LIST(PIB_QUEUED_ENUM, PIB_QUEUED_ENUM)
PIB_DROP_LIST(PIB_DROP_ENUM, PIB_DROP_ENUM)

DECLARE_EVENT_CLASS(pib_port_burst,
	TP_PROTO(const char *device, u32 port, const struct pib_trace_burst *b, u64 bytes),
	TP_ARGS(device, port, b, bytes),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, src_qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u32, bytes)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u8, vl)
		__field(u8, service)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->qpn = b->qpn;
		__entry->src_qpn = b->src_qpn;
		__entry->psn = b->psn;
		__entry->packets = b->packets;
		__entry->bytes = bytes;
		__entry->slid = b->slid;
		__entry->dlid = b->dlid;
		__entry->vl = b->vl;
		__entry->service = b->service;
		__entry->opcode = b->op;
	),
	TP_printk("device=%s port=%u qpn=%u src_qpn=%u service=%s opcode=%s psn=%u packets=%u bytes=%u slid=%u dlid=%u vl=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->src_qpn,
		  __print_symbolic(__entry->service, PIB_NAMES(PIB_SERVICES)),
		  __print_symbolic(__entry->opcode, PIB_NAMES(PIB_OPS)),
		  __entry->psn, __entry->packets,
		  __entry->bytes, __entry->slid, __entry->dlid, __entry->vl)
);

/*
 * A port sends a burst, or receives it. @b->qpn: to which it goes; @bytes: on the wire, as the port
 * counts.
 */
DEFINE_EVENT(pib_port_burst, pib_port_sent,
	TP_PROTO(const char *device, u32 port, const struct pib_trace_burst *b, u64 bytes),
	TP_ARGS(device, port, b, bytes));
DEFINE_EVENT(pib_port_burst, pib_port_received,
	TP_PROTO(const char *device, u32 port, const struct pib_trace_burst *b, u64 bytes),
	TP_ARGS(device, port, b, bytes));

/*
 * A switch passes a burst on. @port: by which the burst came in, 0: the switch has made it; @b->vl:
 * on which it leaves. Each copy of a multicast has an event.
 */
TRACE_EVENT(pib_routed,
	TP_PROTO(const char *device, u32 port, u32 out_port, const struct pib_trace_burst *b),
	TP_ARGS(device, port, out_port, b),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, out_port)
		__field(u32, qpn)
		__field(u32, src_qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u8, vl)
		__field(u8, service)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->out_port = out_port;
		__entry->qpn = b->qpn;
		__entry->src_qpn = b->src_qpn;
		__entry->psn = b->psn;
		__entry->packets = b->packets;
		__entry->slid = b->slid;
		__entry->dlid = b->dlid;
		__entry->vl = b->vl;
		__entry->service = b->service;
		__entry->opcode = b->op;
	),
	TP_printk("device=%s port=%u out_port=%u qpn=%u src_qpn=%u service=%s opcode=%s psn=%u packets=%u slid=%u dlid=%u vl=%u",
		  __entry->device, __entry->port, __entry->out_port, __entry->qpn,
		  __entry->src_qpn, __print_symbolic(__entry->service, PIB_NAMES(PIB_SERVICES)),
		  __print_symbolic(__entry->opcode, PIB_NAMES(PIB_OPS)),
		  __entry->psn, __entry->packets, __entry->slid, __entry->dlid, __entry->vl)
);

/* A burst waits in a virtual lane until it leaves by the port; @bytes are queued before it. */
TRACE_EVENT(pib_queued,
	TP_PROTO(const char *device, u32 port, const struct pib_trace_burst *b, u8 behind,
		 u32 bytes),
	TP_ARGS(device, port, b, behind, bytes),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, src_qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u32, bytes)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u8, vl)
		__field(u8, behind)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->qpn = b->qpn;
		__entry->src_qpn = b->src_qpn;
		__entry->psn = b->psn;
		__entry->packets = b->packets;
		__entry->bytes = bytes;
		__entry->slid = b->slid;
		__entry->dlid = b->dlid;
		__entry->vl = b->vl;
		__entry->behind = behind;
	),
	TP_printk("device=%s port=%u vl=%u behind=%s qpn=%u src_qpn=%u psn=%u packets=%u bytes=%u slid=%u dlid=%u",
		  __entry->device, __entry->port, __entry->vl,
		  __print_symbolic(__entry->behind,
				   PIB_QUEUED_LIST(PIB_QUEUED_ROW, PIB_QUEUED_LAST)),
		  __entry->qpn, __entry->src_qpn, __entry->psn, __entry->packets, __entry->bytes,
		  __entry->slid, __entry->dlid)
);

/* A burst waits no more. It was sent, or dropped, which an event of its own says. */
TRACE_EVENT(pib_dequeued,
	TP_PROTO(const char *device, u32 port, const struct pib_trace_burst *b, u64 waited_ns),
	TP_ARGS(device, port, b, waited_ns),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, src_qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u64, waited_ns)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u8, vl)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->qpn = b->qpn;
		__entry->src_qpn = b->src_qpn;
		__entry->psn = b->psn;
		__entry->packets = b->packets;
		__entry->waited_ns = waited_ns;
		__entry->slid = b->slid;
		__entry->dlid = b->dlid;
		__entry->vl = b->vl;
	),
	TP_printk("device=%s port=%u vl=%u waited_ns=%llu qpn=%u src_qpn=%u psn=%u packets=%u slid=%u dlid=%u",
		  __entry->device, __entry->port, __entry->vl, __entry->waited_ns, __entry->qpn,
		  __entry->src_qpn, __entry->psn, __entry->packets, __entry->slid, __entry->dlid)
);

/* Packets are dropped at a port. @reason: enum pib_drop. */
TRACE_EVENT(pib_dropped,
	TP_PROTO(const char *device, u32 port, u8 reason, const struct pib_trace_burst *b),
	TP_ARGS(device, port, reason, b),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, src_qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u8, reason)
		__field(u8, service)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->qpn = b->qpn;
		__entry->src_qpn = b->src_qpn;
		__entry->psn = b->psn;
		__entry->packets = b->packets;
		__entry->slid = b->slid;
		__entry->dlid = b->dlid;
		__entry->reason = reason;
		__entry->service = b->service;
		__entry->opcode = b->op;
	),
	TP_printk("device=%s port=%u reason=%s qpn=%u src_qpn=%u service=%s opcode=%s psn=%u packets=%u slid=%u dlid=%u",
		  __entry->device, __entry->port,
		  __print_symbolic(__entry->reason, PIB_DROP_LIST(PIB_DROP_ROW, PIB_DROP_LAST)),
		  __entry->qpn, __entry->src_qpn,
		  __print_symbolic(__entry->service, PIB_NAMES(PIB_SERVICES)),
		  __print_symbolic(__entry->opcode, PIB_NAMES(PIB_OPS)),
		  __entry->psn, __entry->packets, __entry->slid, __entry->dlid)
);

TRACE_EVENT(pib_port_state,
	TP_PROTO(const char *device, u32 port, u8 from, u8 to, u8 phys, u16 lid, u16 sm_lid),
	TP_ARGS(device, port, from, to, phys, lid, sm_lid),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u16, lid)
		__field(u16, sm_lid)
		__field(u8, from)
		__field(u8, to)
		__field(u8, phys)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->lid = lid;
		__entry->sm_lid = sm_lid;
		__entry->from = from;
		__entry->to = to;
		__entry->phys = phys;
	),
	TP_printk("device=%s port=%u from=%s to=%s physical_state=%s lid=%u sm_lid=%u",
		  __entry->device, __entry->port,
		  __print_symbolic(__entry->from, PIB_NAMES(PIB_PORT_STATES)),
		  __print_symbolic(__entry->to, PIB_NAMES(PIB_PORT_STATES)),
		  __print_symbolic(__entry->phys, PIB_NAMES(PIB_PHYS_STATES)),
		  __entry->lid, __entry->sm_lid)
);

TRACE_EVENT(pib_link,
	TP_PROTO(const char *device, u32 port, bool up, u64 peer_guid, u32 peer_port),
	TP_ARGS(device, port, up, peer_guid, peer_port),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, peer_port)
		__field(u64, peer_guid)
		__field(u8, up)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->peer_port = peer_port;
		__entry->peer_guid = peer_guid;
		__entry->up = up;
	),
	TP_printk("device=%s port=%u state=%s peer_node_guid=0x%016llx peer_port=%u",
		  __entry->device, __entry->port,
		  __print_symbolic(__entry->up, { 0, "DOWN" }, { 1, "UP" }), __entry->peer_guid,
		  __entry->peer_port)
);

/*
 * @count datagrams of links over UDP, or packets in one, are dropped, or could not be sent.
 * @reason: enum pib_us_attr.
 */
TRACE_EVENT(pib_datagram_dropped,
	TP_PROTO(u32 ifindex, u8 reason, u32 count),
	TP_ARGS(ifindex, reason, count),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__field(u32, count)
		__field(u8, reason)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->count = count;
		__entry->reason = reason;
	),
	TP_printk("ifindex=%u reason=%s count=%u",
		  __entry->ifindex,
		  __print_symbolic(__entry->reason, PIB_NAMES(PIB_DATAGRAM_DROPS)),
		  __entry->count)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tracing
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fabric
#include <trace/define_trace.h>
