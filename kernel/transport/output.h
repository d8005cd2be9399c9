/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Addressing and sending of bursts, from the transport to a port (transport/output.c). */
#ifndef PIB_TRANSPORT_OUTPUT_H
#define PIB_TRANSPORT_OUTPUT_H

#include "hca/hw_counters.h"
#include "packet/burst.h"
#include "transport/qp.h"

/**
 * struct pib_turn - the rest of what a QP may send in this turn
 * @bursts: bursts; copies of multicasts count, too, and each packet of a large send
 * @bytes: payload
 * @now: the time, ns
 */
struct pib_turn {
	s32 bursts;
	s32 bytes;
	u64 now;
};

/**
 * pib_turn_spend() - charge what is sent to the turn
 * @t: the turn
 * @tx: request or answer; it counts even if nothing is sent, so that such work is bounded, too
 *
 * Context: qp->lock held.
 */
static inline void pib_turn_spend(struct pib_turn *t, const struct pib_tx_req *tx)
{
	t->bursts -= tx->h.tp == PIB_TP_UD ? tx->npkts : 1;
	t->bytes -= tx->len;
}

/**
 * pib_turn_over() - tell whether the turn is over
 * @t: the turn
 *
 * Context: qp->lock held.
 * Return: true: nothing more may be sent in it.
 */
static inline bool pib_turn_over(const struct pib_turn *t)
{
	return t->bursts <= 0 || t->bytes <= 0;
}

/**
 * pib_output_pmtu() - get the path MTU of a burst
 * @qp: queue pair
 * @tx: what is sent
 *
 * A QP that only answers may stay in RTR, where the requester has no path MTU yet.
 *
 * Context: qp->lock held.
 * Return: bytes.
 */
static inline u32 pib_output_pmtu(const struct pib_qp *qp, const struct pib_tx_req *tx)
{
	if (pib_qp_is_datagram(qp))
		return PIB_MTU_MAX;
	return tx->kind == PIB_TX_REQUEST ? qp->req.cfg.pmtu : qp->resp.cfg.pmtu;
}

/**
 * pib_output_nomem() - count and trace that there is no memory for a burst
 * @qp: queue pair
 * @tx: what is sent
 *
 * Context: qp->lock held.
 */
void pib_output_nomem(const struct pib_qp *qp, const struct pib_tx_req *tx);

/**
 * pib_output_send() - address a burst and send it
 * @qp: queue pair
 * @index: of the work request in its ring, 0: the burst is an answer
 * @av: path of the burst
 * @b: the burst; consumed, or kept by @qp
 * @turn: turn of the queue pair, which congestion control or a static rate may end
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: false: the receiver is full, the QP is stalled.
 */
bool pib_output_send(struct pib_qp *qp, u32 index, const struct pib_av_data *av,
		     struct pib_burst *b, struct pib_turn *turn);
/**
 * pib_output_redirect() - have the stalled burst, and those behind it, go by the QP's new path
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
void pib_output_redirect(struct pib_qp *qp);
/**
 * pib_output_drop() - drop the stalled burst, and those behind it
 * @qp: queue pair
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_output_drop(struct pib_qp *qp);
/**
 * pib_output_discard() - drop the stalled burst, for which the port has no room
 * @qp: queue pair with a stalled burst
 *
 * The port counts it. Those behind it go on, or the first of them is the stalled one.
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 */
void pib_output_discard(struct pib_qp *qp);
/**
 * pib_output_drop_unstable() - drop the first of these that refers to memory, and those behind it
 * @qp: queue pair
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_output_drop_unstable(struct pib_qp *qp);
/**
 * pib_output_give_back() - drop the first of these whose memory is wanted back, and those behind it
 * @qp: queue pair with a stalled burst
 *
 * Nobody counts them: their owner has them go, and a peer that waits for an answer asks again.
 *
 * Context: qp->lock held, softirqs off.
 * Return: true: some were dropped.
 */
bool pib_output_give_back(struct pib_qp *qp);
/**
 * pib_output_retry() - try the stalled burst again, for pib_output_stalled()
 * @qp: queue pair with a stalled burst
 * @turn: of the sender, or NULL
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: false: the QP is still stalled.
 */
bool pib_output_retry(struct pib_qp *qp, struct pib_turn *turn);
/**
 * pib_output_stalled() - try the stalled burst again, if there is one
 * @qp: queue pair
 * @turn: of the sender, or NULL
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: false: the QP is still stalled.
 */
static inline bool pib_output_stalled(struct pib_qp *qp, struct pib_turn *turn)
{
	return likely(!qp->tx.stall.burst) || pib_output_retry(qp, turn);
}

#endif
