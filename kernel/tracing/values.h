/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What tracepoints (tracing/events.h) are given, and the names of the numbers in it. */
#ifndef PIB_TRACING_VALUES_H
#define PIB_TRACING_VALUES_H

#include <linux/types.h>
#include "proto/hdrs.h"

/* Bytes of a MAD that are looked at: the header that all classes have (13.4.2). */
#define PIB_TRACE_MAD_LEN	24

/**
 * struct pib_trace_qp - a queue pair as a trace names it
 * @device: name of its HCA
 * @port: its port; 0: none yet
 * @qpn: number
 * @pid: process that has made it, as the first PID namespace numbers it; 0: the kernel
 */
struct pib_trace_qp {
	const char *device;
	u32 port;
	u32 qpn;
	u32 pid;
};

/**
 * struct pib_trace_burst - a burst as a trace shows it
 * @service: enum pib_tp
 * @op: enum pib_op
 * @vl: virtual lane
 * @slid: source LID
 * @dlid: destination LID
 * @qpn: BTH destination QP
 * @src_qpn: DETH source QP; 0: the packets have no DETH
 * @psn: of the first packet
 * @packets: how many
 */
struct pib_trace_burst {
	u8 service;
	u8 op;
	u8 vl;
	u16 slid;
	u16 dlid;
	u32 qpn;
	u32 src_qpn;
	u32 psn;
	u32 packets;
};

static inline void pib_trace_burst_set(struct pib_trace_burst *t, const struct pib_hdrs *h,
				       u32 packets)
{
	*t = (struct pib_trace_burst) {
		.service = h->tp,
		.op = h->op,
		.vl = h->vl,
		.slid = h->slid,
		.dlid = h->dlid,
		.qpn = h->dqpn,
		.src_qpn = h->tp == PIB_TP_UD ? h->sqpn : 0,
		.psn = h->psn,
		.packets = packets,
	};
}

/*
 * Why packets were dropped. The names are those of the counters; where a counter counts more than
 * one cause they say which.
 */
#define PIB_DROP_LIST(X, LAST)						\
	X(UNKNOWN, "unknown")						\
	X(PORT_INACTIVE, "port_inactive")				\
	X(MTU, "mtu")							\
	X(NO_VL, "no_vl")						\
	X(NO_ROUTE, "no_route")						\
	X(LOOP, "loop")							\
	X(PKEY_IN, "port_rcv_constraint_errors")			\
	X(PKEY_OUT, "port_xmit_constraint_errors")			\
	X(HOPS, "hops")							\
	X(OVERRUN, "overrun")						\
	X(LOST, "lost")							\
	X(DAMAGED, "damaged")						\
	X(HOQ, "hoq_life")						\
	X(LIFE, "switch_life")						\
	X(NO_COPY, "no_copy")						\
	X(RX_BAD_PATH, "rx_bad_path")					\
	X(RX_NO_QP, "rx_no_qp")						\
	X(RX_BAD_SERVICE, "rx_bad_service")				\
	X(RX_BAD_PKEY, "rx_bad_pkey")					\
	X(RX_BAD_QKEY, "rx_bad_qkey")					\
	X(RX_FULL, "rx_queue_full")					\
	X(RX_NOMEM, "rx_nomem")						\
	X(RX_QP_STATE, "rx_qp_state")					\
	X(RX_BAD_LENGTH, "rx_bad_length")				\
	X(RX_BAD_OPCODE, "rx_bad_opcode")				\
	X(RX_NO_PAGE, "rx_no_page")					\
	X(NO_RECEIVE, "out_of_buffer")					\
	X(DUPLICATE, "duplicate_request")				\
	X(OUT_OF_SEQUENCE, "out_of_sequence")				\
	X(REFUSED, "refused")						\
	X(TX_NO_PKEY, "tx_no_pkey")					\
	X(TX_NOMEM, "tx_nomem")						\
	LAST(TX_INJECTED, "tx_injected")

enum pib_drop {
#define X(id, name) PIB_DROP_##id,
	PIB_DROP_LIST(X, X)
#undef X
	PIB_DROPS
};

/* Why the state of a queue pair has changed. */
#define PIB_CAUSE_LIST(X, LAST)						\
	X(ASKED, "modify_qp")						\
	X(SEND, "send_failed")						\
	X(REFUSED, "request_refused")					\
	X(RECEIVE, "receive_failed")					\
	X(CQ_FULL, "cq_full")						\
	X(KILLED, "reset_interrupted")					\
	LAST(INJECTED, "injected")

enum pib_cause {
#define X(id, name) PIB_CAUSE_##id,
	PIB_CAUSE_LIST(X, X)
#undef X
};

/* What a requester was told of, after which it begins again in most cases. */
#define PIB_RETRY_LIST(X, LAST)						\
	X(TIMEOUT, "timeout")						\
	X(SEQUENCE, "nak_sequence")					\
	X(RNR, "rnr")							\
	LAST(GAP, "gap_in_responses")

enum pib_retry {
#define X(id, name) PIB_RETRY_##id,
	PIB_RETRY_LIST(X, X)
#undef X
};

/* To whom an asynchronous event belongs. */
#define PIB_ASYNC_LIST(X, LAST)						\
	X(QP, "qp")							\
	X(CQ, "cq")							\
	X(SRQ, "srq")							\
	X(PORT, "port")							\
	LAST(DEVICE, "device")

enum pib_async {
#define X(id, name) PIB_ASYNC_##id,
	PIB_ASYNC_LIST(X, X)
#undef X
};

#endif
