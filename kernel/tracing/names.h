/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names of numbers in trace events, as tables: X(value, "name") rows, and LAST() for the last one.
 * Each trace header declares the enumerators that it uses by PIB_ENUMS(): user space's tools need
 * the values of names that the kernel has as enumerators, and declarations in one header do not
 * count for another.
 */
#ifndef PIB_TRACING_NAMES_H
#define PIB_TRACING_NAMES_H

#include <rdma/ib_verbs.h>
#include "proto/node.h"
#include "proto/rc.h"
#include "tracing/uplink_names.h"
#include "tracing/values.h"
#include "uapi/linux/pib.h"

#define PIB_NAME_ROW(value, name) { value, name },
#define PIB_NAME_LAST(value, name) { value, name }
#define PIB_NAME_INDEX(value, name)	\
	[value] = name,
#define PIB_NAME_ENUM(value, name) TRACE_DEFINE_ENUM(value);

/* A table for __print_symbolic(), and its enumerators. */
#define PIB_NAMES(table) table(PIB_NAME_ROW, PIB_NAME_LAST)
/* Such a table as the initializer of an array of names by value. */
#define PIB_NAMES_BY_VALUE(table) { table(PIB_NAME_INDEX, PIB_NAME_INDEX) }
#define PIB_ENUMS(table) table(PIB_NAME_ENUM, PIB_NAME_ENUM)

#define PIB_SERVICES(X, LAST)						\
	X(PIB_TP_RC, "RC")						\
	X(PIB_TP_UC, "UC")						\
	X(PIB_TP_RD, "RD")						\
	X(PIB_TP_UD, "UD")						\
	X(PIB_TP_CNP, "CNP")						\
	LAST(PIB_TP_XRC, "XRC")

#define PIB_OPS(X, LAST)						\
	X(PIB_OP_SEND, "SEND")						\
	X(PIB_OP_WRITE, "RDMA_WRITE")					\
	X(PIB_OP_READ_REQ, "RDMA_READ_REQUEST")				\
	X(PIB_OP_READ_RESP, "RDMA_READ_RESPONSE")			\
	X(PIB_OP_ACK, "ACKNOWLEDGE")					\
	X(PIB_OP_ATOMIC_ACK, "ATOMIC_ACKNOWLEDGE")			\
	X(PIB_OP_CAS, "COMPARE_SWAP")					\
	X(PIB_OP_FAA, "FETCH_ADD")					\
	X(PIB_OP_FLUSH, "FLUSH")					\
	X(PIB_OP_ATOMIC_WRITE, "ATOMIC_WRITE")				\
	X(PIB_OP_RESERVED, "RESERVED")					\
	LAST(PIB_OP_CNP, "CNP")

#define PIB_WRS(X, LAST)						\
	X(PIB_WR_WRITE, "RDMA_WRITE")					\
	X(PIB_WR_WRITE_IMM, "RDMA_WRITE_WITH_IMM")			\
	X(PIB_WR_SEND, "SEND")						\
	X(PIB_WR_SEND_IMM, "SEND_WITH_IMM")				\
	X(PIB_WR_READ, "RDMA_READ")					\
	X(PIB_WR_CAS, "COMPARE_SWAP")					\
	X(PIB_WR_FAA, "FETCH_ADD")					\
	X(PIB_WR_LOCAL_INV, "LOCAL_INV")				\
	X(PIB_WR_BIND_MW, "BIND_MW")					\
	X(PIB_WR_SEND_INV, "SEND_WITH_INV")				\
	X(PIB_WR_LSO, "LSO")						\
	X(PIB_WR_FLUSH, "FLUSH")					\
	X(PIB_WR_ATOMIC_WRITE, "ATOMIC_WRITE")				\
	LAST(PIB_WR_REG_MR, "REG_MR")

#define PIB_WC_OPCODES(X, LAST)						\
	X(IB_WC_SEND, "SEND")						\
	X(IB_WC_RDMA_WRITE, "RDMA_WRITE")				\
	X(IB_WC_RDMA_READ, "RDMA_READ")					\
	X(IB_WC_COMP_SWAP, "COMPARE_SWAP")				\
	X(IB_WC_FETCH_ADD, "FETCH_ADD")					\
	X(IB_UVERBS_WC_BIND_MW, "BIND_MW")				\
	X(IB_WC_LOCAL_INV, "LOCAL_INV")					\
	X(IB_WC_LSO, "LSO")						\
	X(IB_WC_REG_MR, "REG_MR")					\
	X(8, "FLUSH")							\
	X(9, "ATOMIC_WRITE")						\
	X(IB_WC_RECV, "RECV")						\
	LAST(IB_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM")

#define PIB_QP_STATES(X, LAST)						\
	X(IB_QPS_RESET, "RESET")					\
	X(IB_QPS_INIT, "INIT")						\
	X(IB_QPS_RTR, "RTR")						\
	X(IB_QPS_RTS, "RTS")						\
	X(IB_QPS_SQD, "SQD")						\
	X(IB_QPS_SQE, "SQE")						\
	LAST(IB_QPS_ERR, "ERR")

#define PIB_PORT_STATES(X, LAST)					\
	X(PIB_PORT_NOP, "NOP")						\
	X(PIB_PORT_DOWN, "DOWN")					\
	X(PIB_PORT_INIT, "INIT")					\
	X(PIB_PORT_ARMED, "ARMED")					\
	LAST(PIB_PORT_ACTIVE, "ACTIVE")

#define PIB_PHYS_STATES(X, LAST)					\
	X(PIB_PHYS_SLEEP, "SLEEP")					\
	X(PIB_PHYS_POLLING, "POLLING")					\
	X(PIB_PHYS_DISABLED, "DISABLED")				\
	X(PIB_PHYS_TRAINING, "TRAINING")				\
	LAST(PIB_PHYS_LINKUP, "LINK_UP")

#define PIB_INJECT_RULES(X, LAST)					\
	X(PIB_INJECT_KIND_DROP, "drop")					\
	X(PIB_INJECT_KIND_DUPLICATE, "duplicate")			\
	X(PIB_INJECT_KIND_DAMAGE, "damage")				\
	X(PIB_INJECT_KIND_CORRUPT, "corrupt")				\
	X(PIB_INJECT_KIND_DELAY, "delay")				\
	X(PIB_INJECT_KIND_NAK, "nak")					\
	X(PIB_INJECT_KIND_RNR, "rnr")					\
	X(PIB_INJECT_KIND_SEND_STATUS, "send-status")			\
	X(PIB_INJECT_KIND_RECV_STATUS, "recv-status")			\
	X(PIB_INJECT_KIND_MAD_STATUS, "mad-status")			\
	X(PIB_INJECT_KIND_MAD_LIE, "mad-lie")				\
	X(PIB_INJECT_KIND_TX_NOMEM, "tx-nomem")				\
	X(PIB_INJECT_KIND_RX_NOMEM, "rx-nomem")				\
	LAST(PIB_INJECT_KIND_RX_FULL, "rx-full")

/* AETH (9.7.5.1): syndromes of an ACK and of an RNR NAK without their values. */
#define PIB_ANSWERS							\
	{ 0x00, "ACK" },						\
	{ 0x20, "RNR" },						\
	{ 0x60, "NAK_SEQUENCE" },					\
	{ 0x61, "NAK_INVALID_REQUEST" },				\
	{ 0x62, "NAK_REMOTE_ACCESS" },					\
	{ 0x63, "NAK_REMOTE_OPERATIONAL" }

#define PIB_OBJECTS(X, LAST)						\
	X(PIB_OBJECT_KIND_CONTEXT, "context")				\
	X(PIB_OBJECT_KIND_PD, "pd")					\
	X(PIB_OBJECT_KIND_MR, "mr")					\
	X(PIB_OBJECT_KIND_MW, "mw")					\
	X(PIB_OBJECT_KIND_CQ, "cq")					\
	X(PIB_OBJECT_KIND_SRQ, "srq")					\
	X(PIB_OBJECT_KIND_QP, "qp")					\
	X(PIB_OBJECT_KIND_AH, "ah")					\
	X(PIB_OBJECT_KIND_XRCD, "xrcd")					\
	LAST(PIB_OBJECT_KIND_DM, "dm")

/* Results of a verb, and of bringing in a page; other results are shown as numbers. */
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

/* Rows of the lists of tracing/values.h. */
#define PIB_DROP_ROW(id, name) { PIB_DROP_##id, name },
#define PIB_DROP_LAST(id, name) { PIB_DROP_##id, name }
#define PIB_DROP_ENUM(id, name) TRACE_DEFINE_ENUM(PIB_DROP_##id);
#define PIB_CAUSE_ROW(id, name) { PIB_CAUSE_##id, name },
#define PIB_CAUSE_LAST(id, name) { PIB_CAUSE_##id, name }
#define PIB_CAUSE_ENUM(id, name) TRACE_DEFINE_ENUM(PIB_CAUSE_##id);
#define PIB_RETRY_ROW(id, name) { PIB_RETRY_##id, name },
#define PIB_RETRY_LAST(id, name) { PIB_RETRY_##id, name }
#define PIB_RETRY_ENUM(id, name) TRACE_DEFINE_ENUM(PIB_RETRY_##id);
#define PIB_ASYNC_ROW(id, name) { PIB_ASYNC_##id, name },
#define PIB_ASYNC_LAST(id, name) { PIB_ASYNC_##id, name }
#define PIB_ASYNC_ENUM(id, name) TRACE_DEFINE_ENUM(PIB_ASYNC_##id);
#define PIB_TRACED_ROW(id, name, object) { PIB_TRACED_##id, name },
#define PIB_TRACED_LAST(id, name, object) { PIB_TRACED_##id, name }
#define PIB_TRACED_ENUM(id, name, object) TRACE_DEFINE_ENUM(PIB_TRACED_##id);
#define PIB_QUEUED_ROW(id, name) { PIB_QUEUED_##id, name },
#define PIB_QUEUED_LAST(id, name) { PIB_QUEUED_##id, name }
#define PIB_QUEUED_ENUM(id, name) TRACE_DEFINE_ENUM(PIB_QUEUED_##id);

#endif
