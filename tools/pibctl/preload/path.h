/* SPDX-License-Identifier: GPL-2.0 */
/* Where a queue pair sends to: what the program says, beside what it was told. */
#ifndef PIB_PRELOAD_PATH_H
#define PIB_PRELOAD_PATH_H

#include <stdint.h>
#include "manners.h"

/* enum ibv_qp_attr_mask */
enum {
	ATTR_AV = 1 << 7,
	ATTR_PATH_MTU = 1 << 8,
};

struct ah_attr {
	uint64_t dgid[2];
	uint32_t flow_label;
	uint8_t sgid_index, hop_limit, traffic_class;
	uint16_t dlid;
	uint8_t sl, src_path_bits, rate, is_global, port;
};

/* The beginning of struct ibv_qp_attr. */
struct qp_attr {
	int states[2], mtu, mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qpn;
	unsigned int access;
	uint32_t cap[5];
	struct ah_attr ah;
};

/* The queue pair is about to get what @mask has of a path. Return: as tell(). */
int path_given(const struct qp *qp, const struct qp_attr *attr, unsigned int mask);
/* The queue pair has gone: its number may be another one's. */
void path_forgotten(const struct qp *qp);
/* Nobody is in the middle of something until they go on: the process forks. */
void path_stop(void);
void path_go_on(void);

#endif
