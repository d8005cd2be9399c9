/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is made to happen to queue pairs on purpose (transport/inject.c, docs/inject.md). */
#ifndef PIB_TRANSPORT_INJECT_H
#define PIB_TRANSPORT_INJECT_H

#include "hca/inject.h"
#include "transport/qp.h"

struct netlink_ext_ack;

/**
 * pib_inject_qp() - have something happen to a queue pair
 * @hca: its HCA
 * @cfg: what; @cfg->object is the number of the queue pair
 * @extack: says why not
 *
 * Context: process.
 * Return: 0: it has happened; above 0: a rule was made and has this number; -ENOENT: there is no
 *	such queue pair; other errors.
 */
int pib_inject_qp(struct pib_hca *hca, const struct pib_inject_cfg *cfg,
		  struct netlink_ext_ack *extack);
/*
 * The queue pairs that were made with this SRQ fail, as an SRQ's do whose state is error
 * (10.2.9.5). Process context.
 */
void pib_inject_srq_qps(struct pib_srq *srq);
/* Do completions of special queue pairs come to @cq? Process context. */
bool pib_inject_is_managements(struct pib_hca *hca, const struct pib_cq *cq);
/* All queue pairs but the special ones fail. Process context. */
void pib_inject_all_qps(struct pib_hca *hca);

/* Of these, who calls has seen that pib_injects_any(). qp->lock held, under rcu_read_lock(). */

/*
 * @b leaves the queue pair, and has its headers: put what becomes of it on @out. A burst there that
 * has @due set leaves at that time, ns, and the field is then to be cleared.
 */
void pib_inject_tx(struct pib_qp *qp, struct pib_burst *b, struct list_head *out);
/*
 * A request of a reliable service begins with @act, which is changed so that it is refused as a
 * whole. Return: PIB_RES_OK, or how it is refused.
 */
enum pib_res pib_inject_request(struct pib_qp *qp, struct pib_act *act);
/* A send work request begins, or begins again. Return: enum pib_wc by which it ends, or 0. */
u32 pib_inject_send(struct pib_qp *qp);
/* A receive work request was taken. Return: enum pib_wc by which it ends, or 0. */
u32 pib_inject_recv(struct pib_qp *qp);

#endif
