/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints, in tracefs under events/pib, for ftrace, perf, bpftrace and "pibctl trace".
 *
 * A text line is "key=value ..."; keys and the names of values are an interface
 * (docs/trace.md). All but those of datagrams have the device first. Off, a tracepoint is a static
 * branch: where arguments are to be computed the caller asks trace_..._enabled() before.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pib

#if !defined(PIB_TRACING_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define PIB_TRACING_EVENTS_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>
#include "proto/mad.h"
#include "proto/node.h"
#include "proto/rc.h"
#include "tracing/values.h"
#include "uapi/linux/pib.h"

/* Tables of names: PIB_TABLE(value, "name") rows, the last one PIB_TABLE_END. */

#define PIB_SERVICES							\
	PIB_TABLE(PIB_TP_RC, "RC")					\
	PIB_TABLE(PIB_TP_UC, "UC")					\
	PIB_TABLE(PIB_TP_RD, "RD")					\
	PIB_TABLE(PIB_TP_UD, "UD")					\
	PIB_TABLE(PIB_TP_CNP, "CNP")					\
	PIB_TABLE_END(PIB_TP_XRC, "XRC")

#define PIB_OPS								\
	PIB_TABLE(PIB_OP_SEND, "SEND")					\
	PIB_TABLE(PIB_OP_WRITE, "RDMA_WRITE")				\
	PIB_TABLE(PIB_OP_READ_REQ, "RDMA_READ_REQUEST")			\
	PIB_TABLE(PIB_OP_READ_RESP, "RDMA_READ_RESPONSE")		\
	PIB_TABLE(PIB_OP_ACK, "ACKNOWLEDGE")				\
	PIB_TABLE(PIB_OP_ATOMIC_ACK, "ATOMIC_ACKNOWLEDGE")		\
	PIB_TABLE(PIB_OP_CAS, "COMPARE_SWAP")				\
	PIB_TABLE(PIB_OP_FAA, "FETCH_ADD")				\
	PIB_TABLE(PIB_OP_FLUSH, "FLUSH")				\
	PIB_TABLE(PIB_OP_ATOMIC_WRITE, "ATOMIC_WRITE")			\
	PIB_TABLE(PIB_OP_RESERVED, "RESERVED")				\
	PIB_TABLE_END(PIB_OP_CNP, "CNP")

#define PIB_WRS								\
	PIB_TABLE(PIB_WR_WRITE, "RDMA_WRITE")				\
	PIB_TABLE(PIB_WR_WRITE_IMM, "RDMA_WRITE_WITH_IMM")		\
	PIB_TABLE(PIB_WR_SEND, "SEND")					\
	PIB_TABLE(PIB_WR_SEND_IMM, "SEND_WITH_IMM")			\
	PIB_TABLE(PIB_WR_READ, "RDMA_READ")				\
	PIB_TABLE(PIB_WR_CAS, "COMPARE_SWAP")				\
	PIB_TABLE(PIB_WR_FAA, "FETCH_ADD")				\
	PIB_TABLE(PIB_WR_LOCAL_INV, "LOCAL_INV")			\
	PIB_TABLE(PIB_WR_BIND_MW, "BIND_MW")				\
	PIB_TABLE(PIB_WR_SEND_INV, "SEND_WITH_INV")			\
	PIB_TABLE(PIB_WR_LSO, "LSO")					\
	PIB_TABLE(PIB_WR_FLUSH, "FLUSH")				\
	PIB_TABLE(PIB_WR_ATOMIC_WRITE, "ATOMIC_WRITE")			\
	PIB_TABLE_END(PIB_WR_REG_MR, "REG_MR")

#define PIB_WC_OPCODES							\
	PIB_TABLE(IB_WC_SEND, "SEND")					\
	PIB_TABLE(IB_WC_RDMA_WRITE, "RDMA_WRITE")			\
	PIB_TABLE(IB_WC_RDMA_READ, "RDMA_READ")				\
	PIB_TABLE(IB_WC_COMP_SWAP, "COMPARE_SWAP")			\
	PIB_TABLE(IB_WC_FETCH_ADD, "FETCH_ADD")				\
	PIB_TABLE(IB_UVERBS_WC_BIND_MW, "BIND_MW")			\
	PIB_TABLE(IB_WC_LOCAL_INV, "LOCAL_INV")				\
	PIB_TABLE(IB_WC_LSO, "LSO")					\
	PIB_TABLE(IB_WC_REG_MR, "REG_MR")				\
	PIB_TABLE(8, "FLUSH")						\
	PIB_TABLE(9, "ATOMIC_WRITE")					\
	PIB_TABLE(IB_WC_RECV, "RECV")					\
	PIB_TABLE_END(IB_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM")

#define PIB_QP_STATES							\
	PIB_TABLE(IB_QPS_RESET, "RESET")				\
	PIB_TABLE(IB_QPS_INIT, "INIT")					\
	PIB_TABLE(IB_QPS_RTR, "RTR")					\
	PIB_TABLE(IB_QPS_RTS, "RTS")					\
	PIB_TABLE(IB_QPS_SQD, "SQD")					\
	PIB_TABLE(IB_QPS_SQE, "SQE")					\
	PIB_TABLE_END(IB_QPS_ERR, "ERR")

#define PIB_PORT_STATES							\
	PIB_TABLE(PIB_PORT_NOP, "NOP")					\
	PIB_TABLE(PIB_PORT_DOWN, "DOWN")				\
	PIB_TABLE(PIB_PORT_INIT, "INIT")				\
	PIB_TABLE(PIB_PORT_ARMED, "ARMED")				\
	PIB_TABLE_END(PIB_PORT_ACTIVE, "ACTIVE")

#define PIB_PHYS_STATES							\
	PIB_TABLE(PIB_PHYS_SLEEP, "SLEEP")				\
	PIB_TABLE(PIB_PHYS_POLLING, "POLLING")				\
	PIB_TABLE(PIB_PHYS_DISABLED, "DISABLED")			\
	PIB_TABLE(PIB_PHYS_TRAINING, "TRAINING")			\
	PIB_TABLE_END(PIB_PHYS_LINKUP, "LINK_UP")

#define PIB_DATAGRAM_DROPS						\
	PIB_TABLE(PIB_US_RX_SHORT, "rx_short")				\
	PIB_TABLE(PIB_US_RX_VERSION, "rx_version")			\
	PIB_TABLE(PIB_US_RX_UNKNOWN_LINK, "rx_unknown_link")		\
	PIB_TABLE(PIB_US_RX_WRONG_ADDR, "rx_wrong_address")		\
	PIB_TABLE(PIB_US_RX_BAD_HELLO, "rx_bad_hello")			\
	PIB_TABLE(PIB_US_RX_BAD_AUTH, "rx_bad_authentication")		\
	PIB_TABLE(PIB_US_RX_MALFORMED, "rx_malformed")			\
	PIB_TABLE(PIB_US_RX_BAD_ICRC, "rx_bad_icrc")			\
	PIB_TABLE(PIB_US_RX_FABRIC, "rx_other_fabric")			\
	PIB_TABLE(PIB_US_RX_REASM, "rx_reassembly")			\
	PIB_TABLE(PIB_US_RX_UNSEALED, "rx_unsealed")			\
	PIB_TABLE(PIB_US_RX_BAD_SEAL, "rx_bad_seal")			\
	PIB_TABLE_END(PIB_US_RX_REPLAYED, "rx_replayed")

#define PIB_INJECT_RULES						\
	PIB_TABLE(PIB_INJECT_KIND_DROP, "drop")				\
	PIB_TABLE(PIB_INJECT_KIND_DUPLICATE, "duplicate")		\
	PIB_TABLE(PIB_INJECT_KIND_DAMAGE, "damage")			\
	PIB_TABLE(PIB_INJECT_KIND_CORRUPT, "corrupt")			\
	PIB_TABLE(PIB_INJECT_KIND_DELAY, "delay")			\
	PIB_TABLE(PIB_INJECT_KIND_NAK, "nak")				\
	PIB_TABLE(PIB_INJECT_KIND_RNR, "rnr")				\
	PIB_TABLE(PIB_INJECT_KIND_SEND_STATUS, "send-status")		\
	PIB_TABLE_END(PIB_INJECT_KIND_RECV_STATUS, "recv-status")

/* AETH (9.7.5.1): syndromes of an ACK and of an RNR NAK without their values. */
#define PIB_ANSWERS							\
	{ 0x00, "ACK" },						\
	{ 0x20, "RNR" },						\
	{ 0x60, "NAK_SEQUENCE" },					\
	{ 0x61, "NAK_INVALID_REQUEST" },				\
	{ 0x62, "NAK_REMOTE_ACCESS" },					\
	{ 0x63, "NAK_REMOTE_OPERATIONAL" }

#define PIB_OBJECTS							\
	PIB_TABLE(PIB_OBJECT_KIND_CONTEXT, "context")			\
	PIB_TABLE(PIB_OBJECT_KIND_PD, "pd")				\
	PIB_TABLE(PIB_OBJECT_KIND_MR, "mr")				\
	PIB_TABLE(PIB_OBJECT_KIND_MW, "mw")				\
	PIB_TABLE(PIB_OBJECT_KIND_CQ, "cq")				\
	PIB_TABLE(PIB_OBJECT_KIND_SRQ, "srq")				\
	PIB_TABLE(PIB_OBJECT_KIND_QP, "qp")				\
	PIB_TABLE(PIB_OBJECT_KIND_AH, "ah")				\
	PIB_TABLE(PIB_OBJECT_KIND_XRCD, "xrcd")				\
	PIB_TABLE_END(PIB_OBJECT_KIND_DM, "dm")

/* What a verb, or bringing in a page, has come to; of others the number is shown. */
#define PIB_RESULTS							\
	{ 0, "OK" },							\
	{ EPERM, "EPERM" },						\
	{ ENOENT, "ENOENT" },						\
	{ EINTR, "EINTR" },						\
	{ EIO, "EIO" },							\
	{ EAGAIN, "EAGAIN" },						\
	{ ENOMEM, "ENOMEM" },						\
	{ EACCES, "EACCES" },						\
	{ EFAULT, "EFAULT" },						\
	{ EBUSY, "EBUSY" },						\
	{ EEXIST, "EEXIST" },						\
	{ ENODEV, "ENODEV" },						\
	{ EINVAL, "EINVAL" },						\
	{ ENOSPC, "ENOSPC" },						\
	{ ERANGE, "ERANGE" },						\
	{ EMSGSIZE, "EMSGSIZE" },					\
	{ EOPNOTSUPP, "EOPNOTSUPP" },					\
	{ EDQUOT, "EDQUOT" }

/* Names of user space's tools need the values of what the kernel has as enumerators. */
#undef PIB_TABLE
#undef PIB_TABLE_END
#define PIB_TABLE(value, name) TRACE_DEFINE_ENUM(value);
#define PIB_TABLE_END(value, name) TRACE_DEFINE_ENUM(value);
PIB_SERVICES
PIB_OPS
PIB_WRS
PIB_WC_OPCODES
PIB_QP_STATES
PIB_PORT_STATES
PIB_PHYS_STATES
PIB_DATAGRAM_DROPS
PIB_INJECT_RULES
PIB_OBJECTS
#define X(id, name, object) TRACE_DEFINE_ENUM(PIB_TRACED_##id);
PIB_VERB_LIST(X, X)
#undef X
#define X(id, name) TRACE_DEFINE_ENUM(PIB_QUEUED_##id);
PIB_QUEUED_LIST(X, X)
#undef X
#define X(id, name) TRACE_DEFINE_ENUM(PIB_DROP_##id);
PIB_DROP_LIST(X, X)
#undef X
#define X(id, name) TRACE_DEFINE_ENUM(PIB_CAUSE_##id);
PIB_CAUSE_LIST(X, X)
#undef X
#define X(id, name) TRACE_DEFINE_ENUM(PIB_RETRY_##id);
PIB_RETRY_LIST(X, X)
#undef X
#define X(id, name) TRACE_DEFINE_ENUM(PIB_ASYNC_##id);
PIB_ASYNC_LIST(X, X)
#undef X

#undef PIB_TABLE
#undef PIB_TABLE_END
#define PIB_TABLE(value, name) { value, name },
#define PIB_TABLE_END(value, name) { value, name }

#define PIB_DROP_ROW(id, name) { PIB_DROP_##id, name },
#define PIB_DROP_END(id, name) { PIB_DROP_##id, name }
#define PIB_CAUSE_ROW(id, name) { PIB_CAUSE_##id, name },
#define PIB_CAUSE_END(id, name) { PIB_CAUSE_##id, name }
#define PIB_RETRY_ROW(id, name) { PIB_RETRY_##id, name },
#define PIB_RETRY_END(id, name) { PIB_RETRY_##id, name }
#define PIB_ASYNC_ROW(id, name) { PIB_ASYNC_##id, name },
#define PIB_ASYNC_END(id, name) { PIB_ASYNC_##id, name }
#define PIB_TRACED_ROW(id, name, object) { PIB_TRACED_##id, name },
#define PIB_TRACED_END(id, name, object) { PIB_TRACED_##id, name }
#define PIB_QUEUED_ROW(id, name) { PIB_QUEUED_##id, name },
#define PIB_QUEUED_END(id, name) { PIB_QUEUED_##id, name }

/* ---- queue pairs ---- */

TRACE_EVENT(pib_wr_posted,
	TP_PROTO(const struct pib_trace_qp *qp, u64 wr_id, u8 opcode, u32 flags, u32 bytes),
	TP_ARGS(qp, wr_id, opcode, flags, bytes),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, flags)
		__field(u64, wr_id)
		__field(u32, bytes)
		__field(u8, opcode)
	),
	TP_fast_assign(
		strscpy_pad(__entry->device, qp->device, PIB_NAME_MAX);
		__entry->port = qp->port;
		__entry->qpn = qp->qpn;
		__entry->pid = qp->pid;
		__entry->flags = flags;
		__entry->wr_id = wr_id;
		__entry->bytes = bytes;
		__entry->opcode = opcode;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u wr_id=0x%llx opcode=%s flags=0x%x bytes=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->wr_id,
		  __print_symbolic(__entry->opcode, PIB_WRS), __entry->flags, __entry->bytes)
);

/* @srqn: of the SRQ from whose ring the module has taken it; 0: from the queue pair's own */
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

DECLARE_EVENT_CLASS(pib_qp_burst,
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
		  __print_symbolic(__entry->service, PIB_SERVICES),
		  __print_symbolic(__entry->opcode, PIB_OPS), __entry->psn, __entry->packets,
		  __entry->bytes, __entry->slid, __entry->dlid)
);

/* @b->qpn: the peer's */
DEFINE_EVENT(pib_qp_burst, pib_qp_sent,
	TP_PROTO(const struct pib_trace_qp *qp, const struct pib_trace_burst *b, u32 bytes),
	TP_ARGS(qp, b, bytes));
DEFINE_EVENT(pib_qp_burst, pib_qp_received,
	TP_PROTO(const struct pib_trace_qp *qp, const struct pib_trace_burst *b, u32 bytes),
	TP_ARGS(qp, b, bytes));

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
		  __print_symbolic(__entry->cause, PIB_RETRY_LIST(PIB_RETRY_ROW, PIB_RETRY_END)),
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

/* @result: errno, 0: the pages are there */
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

TRACE_EVENT(pib_completion,
	TP_PROTO(const struct pib_trace_qp *qp, u32 cqn, u64 wr_id, u32 opcode, u32 status,
		 u32 vendor_err, u32 bytes),
	TP_ARGS(qp, cqn, wr_id, opcode, status, vendor_err, bytes),
	TP_STRUCT__entry(
		__array(char, device, PIB_NAME_MAX)
		__field(u32, port)
		__field(u32, qpn)
		__field(u32, pid)
		__field(u32, cqn)
		__field(u64, wr_id)
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
		__entry->opcode = opcode;
		__entry->status = status;
		__entry->vendor_err = vendor_err;
		__entry->bytes = bytes;
	),
	TP_printk("device=%s port=%u qpn=%u pid=%u cqn=%u wr_id=0x%llx opcode=%s status=%s vendor_err=%u bytes=%u",
		  __entry->device, __entry->port, __entry->qpn, __entry->pid, __entry->cqn,
		  __entry->wr_id, __print_symbolic(__entry->opcode, PIB_WC_OPCODES),
		  rdma_show_wc_status(__entry->status), __entry->vendor_err, __entry->bytes)
);

/* @status: PIB_CAUSE_SEND: enum ib_wc_status; else 0 */
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
		  __print_symbolic(__entry->from, PIB_QP_STATES),
		  __print_symbolic(__entry->to, PIB_QP_STATES),
		  __print_symbolic(__entry->cause, PIB_CAUSE_LIST(PIB_CAUSE_ROW, PIB_CAUSE_END)),
		  rdma_show_wc_status(__entry->status))
);

/* @number: of the QP or the SRQ; of the CQ its object number; of the port the port's */
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
		  __print_symbolic(__entry->object, PIB_ASYNC_LIST(PIB_ASYNC_ROW, PIB_ASYNC_END)),
		  __entry->number, rdma_show_ib_event(__entry->type))
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
		  __print_symbolic(__entry->kind, PIB_INJECT_RULES))
);

/* ---- verbs ---- */

/* @args: "key=value ..." as @v->verb has them; @result: errno, 0: none */
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
		  __print_symbolic(__entry->verb, PIB_VERB_LIST(PIB_TRACED_ROW, PIB_TRACED_END)),
		  __print_symbolic(__entry->object, PIB_OBJECTS), __entry->number,
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

/* ---- ports ---- */

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
		  __print_symbolic(__entry->service, PIB_SERVICES),
		  __print_symbolic(__entry->opcode, PIB_OPS), __entry->psn, __entry->packets,
		  __entry->bytes, __entry->slid, __entry->dlid, __entry->vl)
);

/* @b->qpn: to which the burst goes; @bytes: on the wire, as the port counts */
DEFINE_EVENT(pib_port_burst, pib_port_sent,
	TP_PROTO(const char *device, u32 port, const struct pib_trace_burst *b, u64 bytes),
	TP_ARGS(device, port, b, bytes));
DEFINE_EVENT(pib_port_burst, pib_port_received,
	TP_PROTO(const char *device, u32 port, const struct pib_trace_burst *b, u64 bytes),
	TP_ARGS(device, port, b, bytes));

/*
 * A switch passes a burst on: @port is that by which the burst came in, 0: the switch has made it.
 * @b->vl: on which it leaves. A multicast has an event for each copy.
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
		  __entry->src_qpn, __print_symbolic(__entry->service, PIB_SERVICES),
		  __print_symbolic(__entry->opcode, PIB_OPS), __entry->psn, __entry->packets,
		  __entry->slid, __entry->dlid, __entry->vl)
);

/* A burst that is to leave by the port waits in its virtual lane; @bytes are queued before it. */
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
				   PIB_QUEUED_LIST(PIB_QUEUED_ROW, PIB_QUEUED_END)),
		  __entry->qpn, __entry->src_qpn, __entry->psn, __entry->packets, __entry->bytes,
		  __entry->slid, __entry->dlid)
);

/* It waits no more: it was sent, or dropped, which an event of its own says. */
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

/* Where something was dropped, and why. */
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
		  __print_symbolic(__entry->reason, PIB_DROP_LIST(PIB_DROP_ROW, PIB_DROP_END)),
		  __entry->qpn, __entry->src_qpn,
		  __print_symbolic(__entry->service, PIB_SERVICES),
		  __print_symbolic(__entry->opcode, PIB_OPS), __entry->psn, __entry->packets,
		  __entry->slid, __entry->dlid)
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
		  __print_symbolic(__entry->from, PIB_PORT_STATES),
		  __print_symbolic(__entry->to, PIB_PORT_STATES),
		  __print_symbolic(__entry->phys, PIB_PHYS_STATES), __entry->lid, __entry->sm_lid)
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

/* A datagram of a link over UDP, or a packet in one, is dropped. @reason: enum pib_us_attr. */
TRACE_EVENT(pib_datagram_dropped,
	TP_PROTO(u32 ifindex, u8 reason),
	TP_ARGS(ifindex, reason),
	TP_STRUCT__entry(
		__field(u32, ifindex)
		__field(u8, reason)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->reason = reason;
	),
	TP_printk("ifindex=%u reason=%s",
		  __entry->ifindex, __print_symbolic(__entry->reason, PIB_DATAGRAM_DROPS))
);

/* ---- management ---- */

/* @mad: its header (13.4.2), PIB_TRACE_MAD_LEN bytes */
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
#define TRACE_INCLUDE_FILE events
#include <trace/define_trace.h>
