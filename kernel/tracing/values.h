/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints, in tracefs under events/pib, for ftrace, perf, bpftrace and "pibctl trace": their
 * arguments, and the names of the numbers in these. Each of the headers beside this one has those
 * of one concern.
 *
 * A text line is "key=value ..."; keys and the names of values are an interface (docs/trace.md).
 * All but those of datagrams have the device first. A tracepoint that is off is a static branch: a
 * caller that has to compute arguments tests trace_..._enabled() before.
 */
#ifndef PIB_TRACING_VALUES_H
#define PIB_TRACING_VALUES_H

#include <linux/types.h>
#include "proto/hdrs.h"
#include "uapi/rdma/pib-abi.h"

/* Bytes of a MAD that are traced: the header that all classes have (13.4.2). */
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

/* Bytes that a trace keeps of the arguments of a verb, and of a mark; each ends with a 0. */
#define PIB_TRACE_ARGS	160
#define PIB_TRACE_MARK	(PIB_TRACE_MARK_MAX + 1)

/**
 * struct pib_trace_verb - a call of a verb as a trace shows it
 * @device: name of the HCA
 * @port: port of the queue pair; 0: none
 * @qpn: number of the queue pair; U32_MAX: the verb is not one of queue pairs
 * @pid: process that calls, as the first PID namespace numbers it; 0: the kernel
 * @verb: enum pib_verb
 * @object: enum pib_object_kind
 * @number: number of a queue pair, CQ or SRQ, L_Key of a region, R_Key of a window, pib_object.id
 *	of all else; 0: there is no object
 * @removed: the HCA is being taken from its users
 * @began: time of the call, ns
 */
struct pib_trace_verb {
	const char *device;
	u32 port;
	u32 qpn;
	u32 pid;
	u8 verb;
	u8 object;
	bool removed;
	u64 number;
	u64 began;
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
 * @psn: PSN of the first packet
 * @packets: number of packets
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
 * Causes of drops. Each has the name of its counter; where a counter has more than one cause, the
 * names tell these apart.
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
	X(AGENT_BUSY, "qp1_dropped")					\
	X(RX_BAD_PATH, "rx_bad_path")					\
	X(RX_NO_QP, "rx_no_qp")						\
	X(RX_NO_GROUP, "rx_no_group")					\
	X(RX_BAD_SERVICE, "rx_bad_service")				\
	X(RX_BAD_PKEY, "rx_bad_pkey")					\
	X(RX_BAD_QKEY, "rx_bad_qkey")					\
	X(RX_FULL, "rx_queue_full")					\
	X(RX_NOMEM, "rx_nomem")						\
	X(RX_QP_STATE, "rx_qp_state")					\
	X(RX_BAD_LENGTH, "rx_bad_length")				\
	X(RX_BAD_OPCODE, "rx_bad_opcode")				\
	X(RX_BAD_RESPONSE, "rx_bad_response")				\
	X(DUPLICATE_RESPONSE, "duplicate_response")			\
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

/* Causes of changes of a queue pair's state. */
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

/* Events after which a requester begins again in most cases. */
#define PIB_RETRY_LIST(X, LAST)						\
	X(TIMEOUT, "timeout")						\
	X(SEQUENCE, "nak_sequence")					\
	X(RNR, "rnr")							\
	X(GAP, "gap_in_responses")					\
	LAST(LATE, "late")

enum pib_retry {
#define X(id, name) PIB_RETRY_##id,
	PIB_RETRY_LIST(X, X)
#undef X
};

/* Objects that an asynchronous event belongs to. */
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

/* Verbs, by which ib_core uses an HCA; X(ID, name, enum pib_object_kind). */
#define PIB_VERB_LIST(X, LAST)						\
	X(ALLOC_CONTEXT, "alloc_context", CONTEXT)			\
	X(DEALLOC_CONTEXT, "dealloc_context", CONTEXT)			\
	X(ALLOC_PD, "alloc_pd", PD)					\
	X(DEALLOC_PD, "dealloc_pd", PD)					\
	X(ALLOC_XRCD, "alloc_xrcd", XRCD)				\
	X(DEALLOC_XRCD, "dealloc_xrcd", XRCD)				\
	X(CREATE_AH, "create_ah", AH)					\
	X(MODIFY_AH, "modify_ah", AH)					\
	X(QUERY_AH, "query_ah", AH)					\
	X(DESTROY_AH, "destroy_ah", AH)					\
	X(GET_DMA_MR, "get_dma_mr", MR)					\
	X(REG_MR, "reg_mr", MR)						\
	X(REG_DMABUF_MR, "reg_dmabuf_mr", MR)				\
	X(REG_DM_MR, "reg_dm_mr", MR)					\
	X(REREG_MR, "rereg_mr", MR)					\
	X(ALLOC_MR, "alloc_mr", MR)					\
	X(ADVISE_MR, "advise_mr", MR)					\
	X(DEREG_MR, "dereg_mr", MR)					\
	X(ALLOC_MW, "alloc_mw", MW)					\
	X(DEALLOC_MW, "dealloc_mw", MW)					\
	X(ALLOC_DM, "alloc_dm", DM)					\
	X(DEALLOC_DM, "dealloc_dm", DM)					\
	X(CREATE_CQ, "create_cq", CQ)					\
	X(MODIFY_CQ, "modify_cq", CQ)					\
	X(RESIZE_CQ, "resize_cq", CQ)					\
	X(DESTROY_CQ, "destroy_cq", CQ)					\
	X(CREATE_SRQ, "create_srq", SRQ)				\
	X(MODIFY_SRQ, "modify_srq", SRQ)				\
	X(QUERY_SRQ, "query_srq", SRQ)					\
	X(DESTROY_SRQ, "destroy_srq", SRQ)				\
	X(CREATE_QP, "create_qp", QP)					\
	X(MODIFY_QP, "modify_qp", QP)					\
	X(QUERY_QP, "query_qp", QP)					\
	X(DESTROY_QP, "destroy_qp", QP)					\
	X(ATTACH_MCAST, "attach_mcast", QP)				\
	LAST(DETACH_MCAST, "detach_mcast", QP)

enum pib_verb {
#define X(id, name, object) PIB_TRACED_##id,
	PIB_VERB_LIST(X, X)
#undef X
};

/* Names by enum pib_verb, as in trace events. */
extern const char *const pib_verb_names[];

/* Places before which a burst waits that is queued in a virtual lane. */
#define PIB_QUEUED_LIST(X, LAST)					\
	X(LINE, "line")							\
	X(LANE, "lane")							\
	LAST(CREDITS, "credits")

enum pib_queued {
#define X(id, name) PIB_QUEUED_##id,
	PIB_QUEUED_LIST(X, X)
#undef X
};

#endif
