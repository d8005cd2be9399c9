/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Faults that are made to happen to queue pairs (transport/inject.c, docs/inject.md). */
#ifndef PIB_TRANSPORT_INJECT_H
#define PIB_TRANSPORT_INJECT_H

#include "hca/hca.h"
#include "hca/hw_counters.h"
#include "fabric/inject.h"
#include "transport/qp.h"

struct netlink_ext_ack;

/**
 * pib_inject_qp() - have something happen to a queue pair
 * @hca: its HCA
 * @cfg: the fault; @cfg->object is the number of the queue pair
 * @extack: reason of a refusal
 *
 * Context: process.
 * Return: 0: it has happened; above 0: a rule was made and has this number; -ENOENT: there is no
 *	such queue pair; other errors.
 */
int pib_inject_qp(struct pib_hca *hca, const struct pib_inject_cfg *cfg,
		  struct netlink_ext_ack *extack);
/**
 * pib_inject_srq_qps() - have the queue pairs of an SRQ fail, as they do if it goes into its error
 * state (10.2.9.5)
 * @srq: shared receive queue
 *
 * Context: process; may sleep.
 */
void pib_inject_srq_qps(struct pib_srq *srq);
/**
 * pib_inject_is_managements() - tell whether completions of special queue pairs come to a CQ
 * @hca: its HCA
 * @cq: completion queue
 *
 * Context: process; may sleep.
 * Return: true: they do.
 */
bool pib_inject_is_managements(struct pib_hca *hca, const struct pib_cq *cq);
/**
 * pib_inject_all_qps() - have all queue pairs but the special ones fail
 * @hca: their HCA
 *
 * Context: process; may sleep.
 */
void pib_inject_all_qps(struct pib_hca *hca);

/**
 * pib_injects_requests() - tell whether rules are asked about the request that the QP takes in
 * @qp: queue pair
 *
 * Rules are not asked again about a request that has waited for a page.
 *
 * Context: qp->lock held.
 * Return: true: rules are asked.
 */
static inline bool pib_injects_requests(const struct pib_qp *qp)
{
	return pib_injects_any(&qp->hca->injects) && !qp->rx.rules_asked;
}

/**
 * pib_kport_inject_trap() - apply the rules that drop what queue pair 0 of a port sends to a trap
 * @port: port of an HCA
 * @b: trap, which the HCA sends by itself
 *
 * Context: softirqs off, under rcu_read_lock(); no node lock held.
 * Return: @b; NULL: it has been dropped.
 */
struct pib_burst *pib_kport_inject_trap(struct pib_kport *port, struct pib_burst *b);

/* The caller of each function below has seen that pib_injects_any(). */

/**
 * pib_inject_tx() - apply the rules to a burst that leaves the queue pair
 * @qp: queue pair
 * @b: the burst, which has its headers; consumed
 * @out: list for the bursts that come of it. A burst there that has @due set leaves at that time,
 *	ns; the caller then clears the field
 *
 * Context: qp->lock held, under rcu_read_lock().
 */
void pib_inject_tx(struct pib_qp *qp, struct pib_burst *b, struct list_head *out);
/**
 * pib_inject_request() - apply the rules to a request of a reliable service
 * @qp: queue pair
 * @act: step that begins the request; changed so that a refused request is refused as a whole
 *
 * Context: qp->lock held, under rcu_read_lock().
 * Return: PIB_RES_OK, or how the request is refused.
 */
enum pib_res pib_inject_request(struct pib_qp *qp, struct pib_act *act);
/**
 * pib_inject_send() - apply the rules to a send work request that begins, or begins again
 * @qp: queue pair
 *
 * Context: qp->lock held, under rcu_read_lock().
 * Return: enum pib_wc by which it ends, or 0.
 */
u32 pib_inject_send(struct pib_qp *qp);
/**
 * pib_inject_recv() - apply the rules to the receive work request in hand, which may end by that
 * @qp: queue pair
 *
 * Context: qp->lock held, under rcu_read_lock().
 * Return: PIB_RES_OK; PIB_RES_LEN, PIB_RES_OP: it has completed in error.
 */
enum pib_res pib_inject_recv(struct pib_qp *qp);

/**
 * pib_inject_rx() - apply the rules to a burst that comes to the queue pair, however often it is
 * offered
 * @qp: queue pair
 * @b: the burst
 *
 * Context: softirqs off, under rcu_read_lock(); qp->lock may be held by anybody.
 * Return: counter by which the burst is dropped, or 0.
 */
enum pib_stat pib_inject_rx(struct pib_qp *qp, struct pib_burst *b);

#endif
