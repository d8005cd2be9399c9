/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints of verbs, and of events that an HCA raises (tracing/values.h). */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pib

#if !defined(PIB_TRACING_VERBS_H) || defined(TRACE_HEADER_MULTI_READ)
#define PIB_TRACING_VERBS_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>
#include "tracing/names.h"

PIB_ENUMS(PIB_OBJECTS)
PIB_VERB_LIST(PIB_TRACED_ENUM, PIB_TRACED_ENUM)
PIB_ASYNC_LIST(PIB_ASYNC_ENUM, PIB_ASYNC_ENUM)

/* A verb has ended. @args: "key=value ..." as @v->verb has them; @result: errno, 0: none. */
TRACE_EVENT(pib_verb,
	TP_PROTO(const struct pib_trace_verb *v, u32 result, u64 took_ns, const char *args),
	TP_ARGS(v, result, took_ns, args),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, result)
		__field(u64, number)
		__field(u64, took_ns)
		__field(u8, verb)
		__field(u8, object)
		__array(char, args, PIB_TRACE_ARGS)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, v->device, PIB_NAME_MAX);
		__entry->port = v->port;
		__entry->qpn = v->qpn;
		__entry->pid = v->pid;
		__entry->result = result;
		__entry->number = v->number;
		__entry->took_ns = took_ns;
		__entry->verb = v->verb;
		__entry->object = v->object;
		strscpy_pad(__entry->args, args, PIB_TRACE_ARGS);
	),
	TP_printk("device=%s port=%u pid=%u verb=%s object=%s number=%llu result=%s took_ns=%llu %s",
		  __entry->device, __entry->port, __entry->pid,
		  __print_symbolic(__entry->verb, PIB_VERB_LIST(PIB_TRACED_ROW, PIB_TRACED_LAST)),
		  __print_symbolic(__entry->object, PIB_NAMES(PIB_OBJECTS)), __entry->number,
		  __print_symbolic(__entry->result, PIB_RESULTS), __entry->took_ns,
		  __entry->args)
);

/* A process that has opened the HCA has said @text, which has no control characters. */
TRACE_EVENT(pib_mark,
	TP_PROTO(const char *device, u32 pid, const char *text),
	TP_ARGS(device, pid, text),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, pid)
		__array(char, text, PIB_TRACE_MARK)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->pid = pid;
		strscpy_pad(__entry->text, text, PIB_TRACE_MARK);
	),
	TP_printk("device=%s pid=%u text=%s", __entry->device, __entry->pid, __entry->text)
);

/*
 * An HCA raises an asynchronous event. @number: of the QP or the SRQ; of the CQ its object number;
 * of the port its number.
 */
TRACE_EVENT(pib_async_event,
	TP_PROTO(const char *device, u32 port, u8 object, u32 number, u32 event),
	TP_ARGS(device, port, object, number, event),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, number)
		__field(u32, type)
		__field(u8, object)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, device, PIB_NAME_MAX);
		__entry->port = port;
		__entry->qpn = object == PIB_ASYNC_QP ? number : U32_MAX;
		__entry->number = number;
		__entry->type = event;
		__entry->object = object;
	),
	TP_printk("device=%s port=%u object=%s number=%u type=%s",
		  __entry->device, __entry->port,
		  __print_symbolic(__entry->object, PIB_ASYNC_LIST(PIB_ASYNC_ROW, PIB_ASYNC_LAST)),
		  __entry->number, rdma_show_ib_event(__entry->type))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tracing
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE verbs
#include <trace/define_trace.h>
