/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receive work requests: taking, filling, completing (transport/recv_queue.c). All under qp->lock.
 */
#ifndef PIB_TRANSPORT_RECV_QUEUE_H
#define PIB_TRANSPORT_RECV_QUEUE_H

#include "transport/qp.h"

/*
 * Have qp->rq.cur hold a receive work request, of @srqn's SRQ for XRC.
 *
 * Return: PIB_RES_OK; PIB_RES_RNR; PIB_RES_OP: a malformed one was taken and completed in error.
 */
enum pib_res pib_rq_take(struct pib_qp *qp, u32 srqn);
/*
 * Nothing is posted: is a datagram to wait for a receive? IPoIB's are, for a moment: IPoIB takes
 * what was received, and posts anew, in a softirq that may have to wait for the one that receives.
 * From then on posting has the QP run.
 */
bool pib_rq_awaits(struct pib_qp *qp, u64 now);
/* Nothing that has come waits any more. */
void pib_rq_caught_up(struct pib_qp *qp);
/* When the QP is to be run because its datagrams will have waited too long, ns; 0: none waits. */
u64 pib_rq_deadline(const struct pib_qp *qp, u64 now);
/*
 * Copy payload into qp->rq.cur.
 *
 * Return: PIB_RES_OK; PIB_RES_DROP: the message does not fit and is lost; PIB_RES_LEN, PIB_RES_OP:
 * the
 *	work request was completed in error; PIB_RES_WAIT: a page is missing and is being brought
 *	in.
 */
enum pib_res pib_rq_scatter(struct pib_qp *qp, struct pib_burst *b, u32 src_off, u32 len, u32 off);
/* Complete qp->rq.cur. @h: the message's last packet, NULL with errors. */
void pib_rq_complete(struct pib_qp *qp, u32 status, u32 byte_len, const struct pib_hdrs *h);
/* The same with success, for an IP packet whose checksums are right. */
void pib_rq_complete_ip(struct pib_qp *qp, u32 byte_len, const struct pib_hdrs *h);
/*
 * ERR: complete what is posted to the QP's own queue with WR_FLUSH_ERR. Return: true: there may be
 * more.
 */
bool pib_rq_flush(struct pib_qp *qp);
/* RESET: forget everything. */
void pib_rq_reset(struct pib_qp *qp);

/*
 * Check SGEs from the memory of @pd and copy payload into them, from @off on.
 *
 * Return: 0 or -errno; -EAGAIN: a page is missing and is being brought in (qp->rx.pages).
 */
int pib_sges_write(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge,
		   u32 num_sge, u32 off, struct pib_burst *b, u32 src_off, u32 len);
/* The same for a few bytes of the kernel's own. */
int pib_sges_put(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge, u32 num_sge,
		 u32 off, const void *src, u32 len);

/* The protection domain of qp->rq.cur; NULL: its SRQ is gone. */
struct pib_pd *pib_rq_pd(const struct pib_qp *qp);
/*
 * XRC target QPs: the protection domain of the SRQ that a request names; NULL: none in the QP's
 * domain.
 */
struct pib_pd *pib_rq_xrc_pd(const struct pib_qp *qp, u32 srqn);

#endif
