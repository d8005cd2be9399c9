/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints of queue pairs (tracing/values.h). */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pib

#if !defined(PIB_TRACING_TRANSPORT_H) || defined(TRACE_HEADER_MULTI_READ)
#define PIB_TRACING_TRANSPORT_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>
#include "tracing/names.h"

PIB_ENUMS(PIB_SERVICES)
PIB_ENUMS(PIB_OPS)
PIB_ENUMS(PIB_WRS)
PIB_ENUMS(PIB_WC_OPCODES)
PIB_ENUMS(PIB_QP_STATES)
PIB_ENUMS(PIB_INJECT_RULES)
PIB_CAUSE_LIST(PIB_CAUSE_ENUM, PIB_CAUSE_ENUM)
PIB_RETRY_LIST(PIB_RETRY_ENUM, PIB_RETRY_ENUM)

/*
 * The module has taken a send work request. @index: in the ring; @rkey: that the request uses, or
 * invalidates; @qkey: of a datagram.
 */
TRACE_EVENT(pib_wr_posted,
	TP_PROTO(const struct pib_trace_qp *qp, u32 index, u64 wr_id, u8 opcode, u32 flags,
		 u32 bytes, u32 rkey, u32 qkey),
	TP_ARGS(qp, index, wr_id, opcode, flags, bytes, rkey, qkey),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, flags)
		__field(u64, wr_id)
		__field(u32, index)
		__field(u32, bytes)
		__field(u32, rkey)
		__field(u32, qkey)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->flags = flags;
		__entry->wr_id = wr_id;
		__entry->index = index;
		__entry->bytes = bytes;
		__entry->rkey = rkey;
		__entry->qkey = qkey;
		__entry->opcode = opcode;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u index=%u wr_id=0x%llx opcode=%s flags=0x%x bytes=%u rkey=0x%x qkey=0x%x",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->index,
		  __entry->wr_id, __print_symbolic(__entry->opcode, PIB_NAMES(PIB_WRS)),
		  __entry->flags, __entry->bytes, __entry->rkey, __entry->qkey)
);

/*
 * The module has taken a receive work request. @srqn: of the SRQ from whose ring; 0: from the queue
 * pair's own.
 */
TRACE_EVENT(pib_recv_posted,
	TP_PROTO(const struct pib_trace_qp *qp, u32 srqn, u64 wr_id, u32 bytes),
	TP_ARGS(qp, srqn, wr_id, bytes),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, srqn)
		__field(u64, wr_id)
		__field(u32, bytes)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->srqn = srqn;
		__entry->wr_id = wr_id;
		__entry->bytes = bytes;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u srqn=%u wr_id=0x%llx bytes=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->srqn,
		  __entry->wr_id, __entry->bytes)
);

/*
 * A queue pair sends a burst. @b->qpn: the peer's; @index: of the work request in its ring, 0: of
 * an answer.
 */
TRACE_EVENT(pib_qp_sent,
	TP_PROTO(const struct pib_trace_qp *qp, const struct pib_trace_burst *b, u32 bytes,
		 u32 index),
	TP_ARGS(qp, b, bytes, index),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, far_qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u32, bytes)
		__field(u32, index)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u8, service)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->far_qpn = b->qpn;
		__entry->psn = b->psn;
		__entry->packets = b->packets;
		__entry->bytes = bytes;
		__entry->index = index;
		__entry->slid = b->slid;
		__entry->dlid = b->dlid;
		__entry->service = b->service;
		__entry->opcode = b->op;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u far_qpn=%u index=%u service=%s opcode=%s psn=%u packets=%u bytes=%u slid=%u dlid=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->far_qpn,
		  __entry->index, __print_symbolic(__entry->service, PIB_NAMES(PIB_SERVICES)),
		  __print_symbolic(__entry->opcode, PIB_NAMES(PIB_OPS)),
		  __entry->psn, __entry->packets, __entry->bytes, __entry->slid, __entry->dlid)
);

/* A queue pair takes a burst in. @b->qpn: the peer's. */
TRACE_EVENT(pib_qp_received,
	TP_PROTO(const struct pib_trace_qp *qp, const struct pib_trace_burst *b, u32 bytes),
	TP_ARGS(qp, b, bytes),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, far_qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u32, bytes)
		__field(u16, slid)
		__field(u16, dlid)
		__field(u8, service)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->far_qpn = b->qpn;
		__entry->psn = b->psn;
		__entry->packets = b->packets;
		__entry->bytes = bytes;
		__entry->slid = b->slid;
		__entry->dlid = b->dlid;
		__entry->service = b->service;
		__entry->opcode = b->op;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u far_qpn=%u service=%s opcode=%s psn=%u packets=%u bytes=%u slid=%u dlid=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->far_qpn,
		  __print_symbolic(__entry->service, PIB_NAMES(PIB_SERVICES)),
		  __print_symbolic(__entry->opcode, PIB_NAMES(PIB_OPS)),
		  __entry->psn, __entry->packets, __entry->bytes, __entry->slid, __entry->dlid)
);

DECLARE_EVENT_CLASS(pib_ack,
	TP_PROTO(const struct pib_trace_qp *qp, u32 far_qpn, u32 psn, u8 syndrome, u32 msn),
	TP_ARGS(qp, far_qpn, psn, syndrome, msn),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, far_qpn)
		__field(u32, psn)
		__field(u32, msn)
		__field(u8, syndrome)
		__field(u8, answer)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->far_qpn = far_qpn;
		__entry->psn = psn;
		__entry->msn = msn;
		__entry->syndrome = syndrome;
		__entry->answer = (syndrome & 0x60) == 0x60 ? syndrome : syndrome & 0x60;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u far_qpn=%u answer=%s psn=%u msn=%u syndrome=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->far_qpn,
		  __print_symbolic(__entry->answer, PIB_ANSWERS), __entry->psn, __entry->msn,
		  __entry->syndrome)
);

DEFINE_EVENT(pib_ack, pib_ack_sent,
	TP_PROTO(const struct pib_trace_qp *qp, u32 far_qpn, u32 psn, u8 syndrome, u32 msn),
	TP_ARGS(qp, far_qpn, psn, syndrome, msn));
DEFINE_EVENT(pib_ack, pib_ack_received,
	TP_PROTO(const struct pib_trace_qp *qp, u32 far_qpn, u32 psn, u8 syndrome, u32 msn),
	TP_ARGS(qp, far_qpn, psn, syndrome, msn));

TRACE_EVENT(pib_retry,
	TP_PROTO(const struct pib_trace_qp *qp, u32 far_qpn, u8 cause, u32 psn, u8 retries_left,
		 u8 rnr_retries_left),
	TP_ARGS(qp, far_qpn, cause, psn, retries_left, rnr_retries_left),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, far_qpn)
		__field(u32, psn)
		__field(u8, cause)
		__field(u8, retries_left)
		__field(u8, rnr_retries_left)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->far_qpn = far_qpn;
		__entry->psn = psn;
		__entry->cause = cause;
		__entry->retries_left = retries_left;
		__entry->rnr_retries_left = rnr_retries_left;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u far_qpn=%u cause=%s psn=%u retries_left=%u rnr_retries_left=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->far_qpn,
		  __print_symbolic(__entry->cause, PIB_RETRY_LIST(PIB_RETRY_ROW, PIB_RETRY_LAST)),
		  __entry->psn, __entry->retries_left, __entry->rnr_retries_left)
);

TRACE_EVENT(pib_page_wait,
	TP_PROTO(const struct pib_trace_qp *qp, u32 key, u64 va, u32 bytes, bool write),
	TP_ARGS(qp, key, va, bytes, write),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, key)
		__field(u64, va)
		__field(u32, bytes)
		__field(u8, write)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->key = key;
		__entry->va = va;
		__entry->bytes = bytes;
		__entry->write = write;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u key=0x%x va=0x%llx bytes=%u write=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->key,
		  __entry->va, __entry->bytes, __entry->write)
);

/* A wait for pages has ended. @result: errno; 0: the pages are there. */
TRACE_EVENT(pib_page_ready,
	TP_PROTO(const struct pib_trace_qp *qp, u32 key, u64 va, u32 bytes, u64 waited_ns,
		 u32 result),
	TP_ARGS(qp, key, va, bytes, waited_ns, result),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, key)
		__field(u64, va)
		__field(u64, waited_ns)
		__field(u32, bytes)
		__field(u32, result)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->key = key;
		__entry->va = va;
		__entry->waited_ns = waited_ns;
		__entry->bytes = bytes;
		__entry->result = result;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u key=0x%x va=0x%llx bytes=%u waited_ns=%llu result=%s",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->key,
		  __entry->va, __entry->bytes, __entry->waited_ns,
		  __print_symbolic(__entry->result, PIB_RESULTS))
);

/* @index: of a send work request, in its ring; 0: of a receive. */
TRACE_EVENT(pib_completion,
	TP_PROTO(const struct pib_trace_qp *qp, u32 cqn, u32 index, u64 wr_id, u32 opcode,
		 u32 status, u32 vendor_err, u32 bytes),
	TP_ARGS(qp, cqn, index, wr_id, opcode, status, vendor_err, bytes),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, cqn)
		__field(u64, wr_id)
		__field(u32, index)
		__field(u32, opcode)
		__field(u32, status)
		__field(u32, vendor_err)
		__field(u32, bytes)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->cqn = cqn;
		__entry->wr_id = wr_id;
		__entry->index = index;
		__entry->opcode = opcode;
		__entry->status = status;
		__entry->vendor_err = vendor_err;
		__entry->bytes = bytes;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u cqn=%u index=%u wr_id=0x%llx opcode=%s status=%s vendor_err=%u bytes=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->cqn,
		  __entry->index, __entry->wr_id,
		  __print_symbolic(__entry->opcode, PIB_NAMES(PIB_WC_OPCODES)),
		  rdma_show_wc_status(__entry->status), __entry->vendor_err, __entry->bytes)
);

/* A queue pair changes its state. @status: with PIB_CAUSE_SEND enum ib_wc_status, else 0. */
TRACE_EVENT(pib_qp_state,
	TP_PROTO(const struct pib_trace_qp *qp, u8 from, u8 to, u8 cause, u32 status),
	TP_ARGS(qp, from, to, cause, status),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, status)
		__field(u8, from)
		__field(u8, to)
		__field(u8, cause)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->status = status;
		__entry->from = from;
		__entry->to = to;
		__entry->cause = cause;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u from=%s to=%s cause=%s status=%s",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid,
		  __print_symbolic(__entry->from, PIB_NAMES(PIB_QP_STATES)),
		  __print_symbolic(__entry->to, PIB_NAMES(PIB_QP_STATES)),
		  __print_symbolic(__entry->cause, PIB_CAUSE_LIST(PIB_CAUSE_ROW, PIB_CAUSE_LAST)),
		  rdma_show_wc_status(__entry->status))
);

/* A rule of "pibctl inject" has acted. */
TRACE_EVENT(pib_injected,
	TP_PROTO(const struct pib_trace_qp *qp, u32 id, u8 kind),
	TP_ARGS(qp, id, kind),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, id)
		__field(u8, kind)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->id = id;
		__entry->kind = kind;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u id=%u kind=%s",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->id,
		  __print_symbolic(__entry->kind, PIB_NAMES(PIB_INJECT_RULES)))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tracing
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE transport
#include <trace/define_trace.h>
