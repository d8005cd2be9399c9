/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receive work requests: taking, filling, completing (transport/recv_queue.c). All under qp->lock.
 */
#ifndef PIB_TRANSPORT_RECV_QUEUE_H
#define PIB_TRANSPORT_RECV_QUEUE_H

#include "transport/qp.h"

/**
 * pib_rq_take() - have qp->rq.cur hold a receive work request
 * @qp: queue pair
 * @srqn: XRC: number of the SRQ to take it from
 *
 * Context: qp->lock held, under rcu_read_lock().
 * Return: PIB_RES_OK; PIB_RES_RNR: none is posted; PIB_RES_OP: a malformed one was taken and
 *	completed in error; PIB_RES_INV_REQ: XRC: there is no such SRQ.
 */
enum pib_res pib_rq_take(struct pib_qp *qp, u32 srqn);
/*
 * Context: under rcu_read_lock(), which keeps the SRQ. Return: the SRQ that the last message of an
 * XRC QP in need of a receive has named; NULL: there is none.
 */
struct pib_srq *pib_rq_named_srq(const struct pib_qp *qp);
/**
 * pib_rq_awaits() - decide whether a datagram waits for a receive, since none is posted
 * @qp: queue pair
 * @now: time of the turn, ns
 *
 * IPoIB's datagrams do, for a moment: IPoIB takes received packets, and posts again, in a softirq
 * that may have to wait for the one that receives. From then on posting has the QP run.
 *
 * Context: qp->lock held.
 * Return: true: the datagram waits.
 */
bool pib_rq_awaits(struct pib_qp *qp, u64 now);
/**
 * pib_rq_caught_up() - note that no burst that has come waits any more
 * @qp: queue pair that has @rq.empty_since
 *
 * Context: qp->lock held.
 */
void pib_rq_caught_up(struct pib_qp *qp);
/**
 * pib_rq_deadline() - tell when a QP has to run because its datagrams have waited too long then
 * @qp: queue pair
 * @now: time of the turn, ns
 *
 * Context: qp->lock held.
 * Return: time, ns; 0: none waits.
 */
u64 pib_rq_deadline(const struct pib_qp *qp, u64 now);
/**
 * pib_rq_scatter() - copy payload into qp->rq.cur
 * @qp: queue pair
 * @b: burst with the payload
 * @src_off: offset in the payload of @b
 * @len: bytes
 * @off: offset in the receive
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: PIB_RES_OK; PIB_RES_DROP: the message does not fit and is lost; PIB_RES_LEN, PIB_RES_OP:
 *	the work request was completed in error; PIB_RES_WAIT: a page is missing and is being
 *	brought in.
 */
enum pib_res pib_rq_scatter(struct pib_qp *qp, struct pib_burst *b, u32 src_off, u32 len, u32 off);
/**
 * pib_rq_complete() - complete qp->rq.cur
 * @qp: queue pair
 * @status: enum pib_wc
 * @byte_len: bytes received
 * @h: the message's last packet; NULL with errors
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_rq_complete(struct pib_qp *qp, u32 status, u32 byte_len, const struct pib_hdrs *h);
/**
 * pib_rq_complete_ip() - complete qp->rq.cur with success, for an IP packet whose checksums are
 * right
 * @qp: queue pair
 * @byte_len: bytes received
 * @h: the datagram's headers
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_rq_complete_ip(struct pib_qp *qp, u32 byte_len, const struct pib_hdrs *h);
/**
 * pib_rq_flush_current() - complete the receive that is being filled with WR_FLUSH_ERR
 * @qp: queue pair in ERR
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_rq_flush_current(struct pib_qp *qp);
/**
 * pib_rq_flush() - complete receives in the QP's own queue with WR_FLUSH_ERR
 * @qp: queue pair in ERR
 *
 * Context: qp->lock held, softirqs off.
 * Return: true: there may be more.
 */
bool pib_rq_flush(struct pib_qp *qp);
/**
 * pib_rq_reset() - drop all receives, for RESET
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
void pib_rq_reset(struct pib_qp *qp);

/**
 * pib_sges_write() - check SGEs and copy payload into them
 * @qp: queue pair
 * @pd: protection domain of their memory
 * @sge: the SGEs
 * @num_sge: number of SGEs
 * @off: offset in them
 * @b: burst with the payload
 * @src_off: offset in the payload of @b
 * @len: bytes
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: 0 or -errno; -EAGAIN: a page is missing and is being brought in (qp->rx.pages).
 */
int pib_sges_write(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge,
		   u32 num_sge, u32 off, struct pib_burst *b, u32 src_off, u32 len);
/**
 * pib_sges_put() - check SGEs and copy bytes of the kernel's own into them
 * @qp: queue pair
 * @pd: protection domain of their memory
 * @sge: the SGEs
 * @num_sge: number of SGEs
 * @off: offset in them
 * @src: the bytes
 * @len: number of bytes
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: as pib_sges_write().
 */
int pib_sges_put(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge, u32 num_sge,
		 u32 off, const void *src, u32 len);

/**
 * pib_rq_pd() - get the protection domain of qp->rq.cur
 * @qp: queue pair
 *
 * Context: qp->lock held, under rcu_read_lock().
 * Return: the domain; NULL: its SRQ is gone.
 */
struct pib_pd *pib_rq_pd(const struct pib_qp *qp);
/**
 * pib_rq_xrc_pd() - get the protection domain of the SRQ that a request names
 * @qp: XRC target QP
 * @srqn: number of the SRQ
 *
 * Context: qp->lock held, under rcu_read_lock().
 * Return: the domain; NULL: the QP's XRC domain has no such SRQ.
 */
struct pib_pd *pib_rq_xrc_pd(const struct pib_qp *qp, u32 srqn);

#endif
