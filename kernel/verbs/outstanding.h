/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbers of work requests that are not finished, and of completions that were not polled, at some
 * moment, for traces (verbs/traced.c). Processes write what they like into their rings, so numbers
 * are bounded by the size of the rings.
 */
#ifndef PIB_VERBS_OUTSTANDING_H
#define PIB_VERBS_OUTSTANDING_H

#include <linux/types.h>

struct pib_cq;
struct pib_hca;
struct pib_pd;
struct pib_qp;

/**
 * struct pib_outstanding - outstanding work of a queue pair
 * @sends: send work requests that are not finished
 * @recvs: receives in its own ring
 * @send_cqes: completions in the CQ of its sends that were not polled, of any queue pair
 * @recv_cqes: completions in the CQ of its receives, likewise
 */
struct pib_outstanding {
	u32 sends;
	u32 recvs;
	u32 send_cqes;
	u32 recv_cqes;
};

/**
 * pib_outstanding_of_qp() - count the outstanding work of a queue pair
 * @qp: queue pair
 * @out: result
 *
 * Context: process.
 */
void pib_outstanding_of_qp(struct pib_qp *qp, struct pib_outstanding *out);
/**
 * pib_outstanding_cqes() - count the completions that were not polled
 * @cq: completion queue
 *
 * Context: process.
 * Return: how many there are.
 */
u32 pib_outstanding_cqes(struct pib_cq *cq);
/**
 * pib_outstanding_of_key() - count work requests of processes that name a local key and are not
 * finished
 * @hca: HCA
 * @pd: protection domain of the key
 * @key: the key
 *
 * This reads the rings of all queue pairs of the domain, and not those of SRQs without a queue
 * pair. A work request that is fetched or posted meanwhile may be missed, or count twice.
 *
 * Context: process.
 * Return: how many there are.
 */
u32 pib_outstanding_of_key(struct pib_hca *hca, const struct pib_pd *pd, u32 key);

#endif
