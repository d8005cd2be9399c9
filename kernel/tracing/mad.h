/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints of management (tracing/values.h). */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pib

#if !defined(PIB_TRACING_MAD_H) || defined(TRACE_HEADER_MULTI_READ)
#define PIB_TRACING_MAD_H

#include <linux/tracepoint.h>
#include "proto/mad.h"
#include "tracing/values.h"
#include "uapi/linux/pib.h"

/*
 * A special queue pair sends a MAD, or receives it. @mad: its header (13.4.2), PIB_TRACE_MAD_LEN
 * bytes.
 */
DECLARE_EVENT_CLASS(pib_mad,
	TP_PROTO(const char *device, u32 port, u32 qpn, u16 slid, u16 dlid, const u8 *mad),
	TP_ARGS(device, port, qpn, slid, dlid, mad),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u64, transaction)
		__field(u32, modifier)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u16, status)
		__field(u16, attribute)
		__field(u8, mgmt_class)
		__field(u8, method)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->qpn = qpn;
		__entry->transaction = pib_get64(mad + PIB_MAD_TID);
		__entry->modifier = pib_get32(mad + PIB_MAD_ATTR_MOD);
		__entry->slid = slid;
		__entry->dlid = dlid;
		__entry->status = pib_get16(mad + PIB_MAD_STATUS);
		__entry->attribute = pib_get16(mad + PIB_MAD_ATTR);
		__entry->mgmt_class = mad[PIB_MAD_CLASS];
		__entry->method = mad[PIB_MAD_METHOD];
	),
	TP_printk("device=%s port=%u qpn=%u class=0x%02x method=0x%02x attribute=0x%04x modifier=0x%x status=0x%04x transaction=0x%llx slid=%u dlid=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->mgmt_class,
		  __entry->method, __entry->attribute, __entry->modifier, __entry->status,
		  __entry->transaction, __entry->slid, __entry->dlid)
);

DEFINE_EVENT(pib_mad, pib_mad_sent,
	TP_PROTO(const char *device, u32 port, u32 qpn, u16 slid, u16 dlid, const u8 *mad),
	TP_ARGS(device, port, qpn, slid, dlid, mad));
DEFINE_EVENT(pib_mad, pib_mad_received,
	TP_PROTO(const char *device, u32 port, u32 qpn, u16 slid, u16 dlid, const u8 *mad),
	TP_ARGS(device, port, qpn, slid, dlid, mad));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tracing
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mad
#include <trace/define_trace.h>
