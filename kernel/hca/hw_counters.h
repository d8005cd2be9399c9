/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protocol counters of an HCA, as `rdma statistic` and hw_counters/ show them. */
#ifndef PIB_HCA_HW_COUNTERS_H
#define PIB_HCA_HW_COUNTERS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>
#include "hca/hca.h"

/* A counter that other HCAs have had before has the name that they use. */
#define PIB_STAT_LIST(X)						\
	X(RX_WRITE_REQUESTS, "rx_write_requests")			\
	X(RX_READ_REQUESTS, "rx_read_requests")				\
	X(RX_ATOMIC_REQUESTS, "rx_atomic_requests")			\
	X(OUT_OF_BUFFER, "out_of_buffer")				\
	X(OUT_OF_SEQUENCE, "out_of_sequence")				\
	X(DUPLICATE_REQUEST, "duplicate_request")			\
	X(RNR_NAK_RETRY, "rnr_nak_retry_err")				\
	X(PACKET_SEQ_ERR, "packet_seq_err")				\
	X(IMPLIED_NAK_SEQ_ERR, "implied_nak_seq_err")			\
	X(LOCAL_ACK_TIMEOUT, "local_ack_timeout_err")			\
	X(LATE_RESPONSE, "late_response")				\
	X(RETRANSMITS, "retransmits")					\
	X(RETRY_EXCEEDED, "retry_exceeded_err")				\
	X(RETRY_RNR_EXCEEDED, "retry_rnr_exceeded_err")			\
	X(RESP_LOCAL_LENGTH, "resp_local_length_error")			\
	X(RESP_REMOTE_ACCESS, "resp_remote_access_errors")		\
	X(RESP_CQE_ERR, "resp_cqe_error")				\
	X(RESP_CQE_FLUSH, "resp_cqe_flush_error")			\
	X(REQ_REMOTE_INVALID, "req_remote_invalid_request")		\
	X(REQ_REMOTE_ACCESS, "req_remote_access_errors")		\
	X(REQ_CQE_ERR, "req_cqe_error")					\
	X(REQ_CQE_FLUSH, "req_cqe_flush_error")				\
	X(TX_NOMEM, "tx_nomem")						\
	X(TX_NO_PKEY, "tx_no_pkey")					\
	X(TX_PUSHED_BACK, "tx_pushed_back")				\
	X(TX_INJECTED, "tx_injected")					\
	X(RX_NO_QP, "rx_no_qp")						\
	X(RX_NO_GROUP, "rx_no_group")					\
	X(RX_QP_STATE, "rx_qp_state")					\
	X(RX_BAD_SERVICE, "rx_bad_service")				\
	X(RX_BAD_PKEY, "rx_bad_pkey")					\
	X(RX_BAD_QKEY, "rx_bad_qkey")					\
	X(RX_BAD_PATH, "rx_bad_path")					\
	X(RX_BAD_LENGTH, "rx_bad_length")				\
	X(RX_BAD_OPCODE, "rx_bad_opcode")				\
	X(RX_BAD_RESPONSE, "rx_bad_response")				\
	X(DUPLICATE_RESPONSE, "duplicate_response")			\
	X(RX_FULL, "rx_queue_full")					\
	X(RX_NOMEM, "rx_nomem")						\
	X(RX_NO_PAGE, "rx_no_page")					\
	X(RNR_NO_PAGE, "rnr_no_page")

enum pib_stat {
#define X(id, name) PIB_STAT_##id,
	PIB_STAT_LIST(X)
#undef X
	PIB_STATS
};

/**
 * struct pib_stats - the counters of one CPU
 * @v: by enum pib_stat
 */
struct pib_stats {
	u64 v[PIB_STATS];
};

#define pib_hca_stat_add(hca, stat, n) this_cpu_add((hca)->stats->v[stat], (n))
#define pib_hca_stat(hca, stat) pib_hca_stat_add(hca, stat, 1)

/**
 * pib_stats_alloc() - allocate the counters of a port, or of bound QPs, which ib_core adds up index
 * by index
 *
 * Context: process; may sleep.
 * Return: the counters; NULL: no memory.
 */
struct rdma_hw_stats *pib_stats_alloc(void);
/**
 * pib_stats_sum() - sum up the counters of all CPUs
 * @stats: the counters
 * @sum: result
 *
 * Context: any.
 */
void pib_stats_sum(const struct pib_stats __percpu *stats, struct rdma_hw_stats *sum);

/*
 * ib_device_ops.
 *
 * Context: process.
 * Return: the counters, NULL: no memory; the number of counters, -EINVAL: @port_num is 0.
 */
struct rdma_hw_stats *pib_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num);
int pib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
		     int index);

#endif
