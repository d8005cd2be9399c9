// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: creation, destruction, and the table through which they are found.
 *
 * A QP's memory is ib_core's, which frees it as soon as destroy_qp returns. So the
 * table holds stubs, which live until a grace period later and count the references.
 * destroy_qp takes the stub out and waits for the last reference.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/restrack.h>
#include "compat/compat.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "transport/completer.h"
#include "transport/mcast.h"
#include "memory/pd.h"
#include "transport/qp.h"
#include "transport/qp_task.h"
#include "transport/responder.h"
#include "transport/send_queue.h"
#include "hca/srq.h"
#include "transport/error.h"
#include "proto/ipoib.h"
#include "core/mmap.h"
#include "core/refuse.h"

#define QPN_FIRST	2
#define QPN_LAST	(PIB_QPN_MCAST - 1)

#define CREATE_FLAGS (IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_QP_CREATE_IPOIB_UD_LSO)

static bool has_sq(const struct pib_qp *qp)
{
	return qp->type != IB_QPT_XRC_TGT;
}

static bool has_rq(const struct pib_qp *qp)
{
	return !qp->rq.srq && qp->type != IB_QPT_XRC_TGT && qp->type != IB_QPT_XRC_INI;
}

static int type_to_tp(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_SMI:
	case IB_QPT_GSI:
	case IB_QPT_UD:
		return PIB_TP_UD;
	case IB_QPT_RC:
		return PIB_TP_RC;
	case IB_QPT_UC:
		return PIB_TP_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return PIB_TP_XRC;
	default:
		return -EOPNOTSUPP;
	}
}

static int check_init(struct pib_hca *hca, const struct ib_qp_init_attr *init, bool user)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->create_flags & ~CREATE_FLAGS ||
	    (init->create_flags & IB_QP_CREATE_IPOIB_UD_LSO &&
	     (user || init->qp_type != IB_QPT_UD)))
		return pib_refuse(&hca->ib, -EOPNOTSUPP, "create_qp: flags %#x",
				  init->create_flags);
	if (init->qp_type <= IB_QPT_GSI &&
	    (user || !init->port_num || init->port_num > hca->nd.node.num_ports))
		return pib_refuse(&hca->ib, -EINVAL, "create_qp: QP %d of port %u", init->qp_type,
				  init->port_num);
	if (init->qp_type != IB_QPT_XRC_TGT && !init->send_cq)
		return pib_refuse(&hca->ib, -EINVAL, "create_qp: no CQ to send with");
	if (cap->max_send_wr > PIB_QP_MAX_WR || cap->max_recv_wr > PIB_QP_MAX_WR ||
	    cap->max_send_sge > PIB_QP_MAX_SGE || cap->max_recv_sge > PIB_QP_MAX_SGE ||
	    cap->max_inline_data > PIB_QP_MAX_INLINE)
		return pib_refuse(&hca->ib, -EINVAL,
				  "create_qp: %u and %u work requests, %u and %u SGEs, %u inline",
				  cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge,
				  cap->max_recv_sge, cap->max_inline_data);
	return 0;
}

/* Have QPs told of an overflow from now on. */
static void watch_cq(struct pib_cq *cq)
{
	if (cq)
		WRITE_ONCE(cq->on_overflow, pib_cq_overflow);
}

static void link_cq(struct pib_qp *qp, struct pib_cq *cq, struct pib_cq_link *link)
{
	link->who = qp;
	spin_lock(&cq->links_lock);
	list_add_tail(&link->entry, &cq->links);
	spin_unlock(&cq->links_lock);
}

static void unlink_cq(struct pib_cq *cq, struct pib_cq_link *link)
{
	spin_lock(&cq->links_lock);
	list_del(&link->entry);
	spin_unlock(&cq->links_lock);
}

/*
 * Link the QP to its CQs: once, if both are one. The QP is published, and has completed nothing
 * yet.
 */
static void link_cqs(struct pib_qp *qp)
{
	if (qp->sq.cq)
		link_cq(qp, qp->sq.cq, &qp->sq.cq_link);
	if (qp->rq.cq && qp->rq.cq != qp->sq.cq)
		link_cq(qp, qp->rq.cq, &qp->rq.cq_link);
}

static void unlink_cqs(struct pib_qp *qp)
{
	if (qp->sq.cq)
		unlink_cq(qp->sq.cq, &qp->sq.cq_link);
	if (qp->rq.cq && qp->rq.cq != qp->sq.cq)
		unlink_cq(qp->rq.cq, &qp->rq.cq_link);
}

static void qp_setup(struct pib_qp *qp, const struct ib_qp_init_attr *init, bool user)
{
	struct pib_hca *hca = to_hca(qp->ib.device);
	bool is_target = init->qp_type == IB_QPT_XRC_TGT;

	qp->hca = hca;
	qp->counters.stats = hca->stats;
	qp->pd = qp->ib.pd ? to_pd(qp->ib.pd) : NULL;
	/* ib_core counts no user of these that is an XRC target: they may go before it. */
	qp->rq.srq = init->srq && !is_target ? to_srq(init->srq) : NULL;
	qp->sq.cq = init->send_cq && !is_target ? to_cq(init->send_cq) : NULL;
	qp->rq.cq = init->recv_cq && !is_target ? to_cq(init->recv_cq) : NULL;
	watch_cq(qp->sq.cq);
	watch_cq(qp->rq.cq);
	qp->type = init->qp_type;
	qp->tp = type_to_tp(init->qp_type);
	qp->is_user = user;
	qp->init.pid = user ? task_tgid_nr(current) : 0;
	qp->sq.sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->init.create_flags = init->create_flags;
	qp->init.ah_pd_at_post = pib_behaves(&hca->behaviors, PIB_BEHAVIOR_AH_PD_AT_POST);
	qp->lent.owner.done = pib_completer_burst_done;
	pib_task_init(&qp->task, &pib_qp_task_ops);
	if (qp->type <= IB_QPT_GSI)
		qp->path.port = hca->nd.ports[init->port_num];

	spin_lock_init(&qp->lock);
	seqcount_init(&qp->path.seq);
	spin_lock_init(&qp->inbox.lock);
	spin_lock_init(&qp->post_lock);
	mutex_init(&qp->modify_mutex);
	init_completion(&qp->entries.gone);
	INIT_LIST_HEAD(&qp->inbox.list);
	INIT_LIST_HEAD(&qp->rx.list);
	INIT_LIST_HEAD(&qp->tx.behind);
	pib_parked_init(&qp->tx.parked, &qp->task);
	pib_qp_timer_init(qp);
}

static void free_pageins(struct pib_qp *qp)
{
	pib_pagein_put(qp->rx.pages);
	pib_pagein_put(qp->sq.deferred.pages);
	pib_pagein_put(qp->answers.deferred.pages);
}

static int alloc_pageins(struct pib_qp *qp)
{
	qp->rx.pages = pib_pagein_create(&qp->task, &qp->lock);
	qp->sq.deferred.pages = pib_pagein_create(&qp->task, &qp->lock);
	qp->answers.deferred.pages = pib_pagein_create(&qp->task, &qp->lock);
	if (qp->rx.pages && qp->sq.deferred.pages && qp->answers.deferred.pages)
		return 0;
	free_pageins(qp);
	return -ENOMEM;
}

static int alloc_sq(struct pib_qp *qp, struct ib_qp_cap *cap, struct ib_udata *udata,
		    struct pib_ring_info *info)
{
	struct pib_qp_sq *sq = &qp->sq;
	u32 data;
	int err;

	sq->max_sge = max(cap->max_send_sge, 1U);
	data = max3(sq->max_sge * (u32)sizeof(struct pib_sge), cap->max_inline_data, 8U);
	if (pib_qp_is_ipoib(qp))
		data = max_t(u32, data, pib_sq_head_off(qp) + PIB_IPOIB_HEAD_MAX);
	err = pib_ring_alloc(&sq->ring, max(cap->max_send_wr, 1U),
			     sizeof(struct pib_send_wqe) + data, udata, info);
	if (err)
		return err;

	sq->num_slots = sq->ring.entries;
	sq->slot_size = ALIGN(struct_size_t(struct pib_ksq_slot, sge, sq->max_sge), 64);
	sq->slots = kvcalloc(sq->num_slots, sq->slot_size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!sq->slots) {
		pib_ring_free(&sq->ring);
		return -ENOMEM;
	}
	/* the room in a slot, since some programs send inline without having asked */
	sq->max_inline = max_t(u32, cap->max_inline_data, sq->max_sge * sizeof(struct pib_sge));
	cap->max_inline_data = sq->max_inline;
	cap->max_send_wr = sq->ring.entries;
	cap->max_send_sge = sq->max_sge;
	return 0;
}

static void free_sq(struct pib_qp *qp)
{
	if (!has_sq(qp))
		return;
	kvfree(qp->sq.slots);
	pib_ring_free(&qp->sq.ring);
}

static int alloc_rq(struct pib_qp *qp, struct ib_qp_cap *cap, struct ib_udata *udata,
		    struct pib_ring_info *info)
{
	int err;

	qp->rq.max_sge = max(cap->max_recv_sge, 1U);
	err = pib_ring_alloc(&qp->rq.ring, max(cap->max_recv_wr, 1U),
			     pib_recv_wqe_size(qp->rq.max_sge), udata, info);
	if (err)
		return err;
	cap->max_recv_wr = qp->rq.ring.entries;
	cap->max_recv_sge = qp->rq.max_sge;
	return 0;
}

static void free_rq(struct pib_qp *qp)
{
	if (has_rq(qp))
		pib_ring_free(&qp->rq.ring);
}

/* Only a QP that answers READs and atomics needs more than one resource. */
static int alloc_answers(struct pib_qp *qp)
{
	struct pib_qp_answers *a = &qp->answers;

	a->num_res = qp->type == IB_QPT_RC || qp->type == IB_QPT_XRC_TGT ? PIB_QP_RD_RES : 1;
	a->res = kcalloc(a->num_res, sizeof(*a->res), GFP_KERNEL_ACCOUNT);
	return a->res ? 0 : -ENOMEM;
}

static int alloc_queues(struct pib_qp *qp, struct ib_qp_cap *cap, struct ib_udata *udata,
			struct pib_create_qp_resp *resp)
{
	int err;

	if (has_sq(qp)) {
		err = alloc_sq(qp, cap, udata, &resp->sq);
		if (err)
			return err;
	} else {
		cap->max_send_wr = 0;
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
	}
	if (has_rq(qp)) {
		err = alloc_rq(qp, cap, udata, &resp->rq);
		if (err)
			goto err_sq;
	} else {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	}
	err = alloc_answers(qp);
	if (err)
		goto err_rq;
	qp->init.cap = *cap;
	return 0;

err_rq:
	free_rq(qp);
err_sq:
	free_sq(qp);
	return err;
}

static void free_queues(struct pib_qp *qp)
{
	kfree(qp->answers.res);
	free_rq(qp);
	free_sq(qp);
}

/*
 * Return: true if ib_core lists a QP of this number. It goes on to do so for a while when
 * pib_destroy_qp() has returned, and would not list another one.
 */
static bool qpn_listed(struct pib_hca *hca, u32 qpn)
{
	struct rdma_restrack_entry *res;

	res = rdma_restrack_get_byid(&hca->ib, RDMA_RESTRACK_QP, qpn);
	if (IS_ERR(res))
		return false;
	rdma_restrack_put(res);
	return true;
}

static int reserve_lowest(struct pib_hca *hca, u32 *qpn)
{
	u32 first = QPN_FIRST;
	int err;

	for (;;) {
		err = xa_alloc(&hca->qps, qpn, NULL, XA_LIMIT(first, QPN_LAST), GFP_KERNEL);
		if (err || !qpn_listed(hca, *qpn))
			return err;
		xa_erase(&hca->qps, *qpn);
		first = *qpn + 1;
	}
}

/*
 * Reserve a number, by which nobody finds the QP yet. Numbers go round, so that a late packet does
 * not meet a new QP; the IBA does not ask for that.
 */
static int qpn_reserve(struct pib_qp *qp)
{
	struct pib_hca *hca = qp->hca;

	if (pib_behaves(&hca->behaviors, PIB_BEHAVIOR_REUSE_QPN))
		return reserve_lowest(hca, &qp->qpn);
	return xa_alloc_cyclic(&hca->qps, &qp->qpn, NULL, XA_LIMIT(QPN_FIRST, QPN_LAST),
			       &hca->next_qpn, GFP_KERNEL);
}

/* Enter the QP in the table: it can be found from now on. */
static int qp_publish(struct pib_qp *qp)
{
	struct pib_hca *hca = qp->hca;
	struct pib_qp_stub *stub = kmalloc(sizeof(*stub), GFP_KERNEL_ACCOUNT);
	int err;

	if (!stub)
		return -ENOMEM;
	refcount_set(&stub->ref, 1);
	stub->qp = qp;
	qp->entries.stub = stub;
	qp->task.ref = &stub->ref;

	if (qp->type <= IB_QPT_GSI) {
		qp->qpn = qp->type == IB_QPT_GSI;
		err = xa_insert(&hca->qps, PIB_QP_SPECIAL(qp->path.port->p.num, qp->qpn), stub,
				GFP_KERNEL);
	} else {
		/* The number is reserved first: the stub must have it when the QP can be found. */
		err = qpn_reserve(qp);
		stub->entry.id = qp->qpn;
		if (err >= 0)
			err = xa_err(xa_store(&hca->qps, qp->qpn, stub, GFP_KERNEL));
	}
	if (err < 0) {
		kfree(stub);
		return err;
	}
	qp->ib.qp_num = qp->qpn;
	return 0;
}

struct pib_qp *pib_qp_next(struct pib_hca *hca, unsigned long *index, unsigned long last)
{
	struct pib_qp_stub *stub;
	struct pib_qp *qp = NULL;

	cond_resched();
	rcu_read_lock();
	do {
		stub = xa_find(&hca->qps, index, last, XA_PRESENT);
		if (stub)
			qp = pib_qp_stub_get(stub);
		++*index;
	} while (stub && !qp);
	rcu_read_unlock();
	return qp;
}

/* Take the QP out of the table. Its number stays reserved: what is known by it is still there. */
static void qp_unpublish(struct pib_qp *qp)
{
	if (qp->type <= IB_QPT_GSI) {
		xa_erase(&qp->hca->qps, PIB_QP_SPECIAL(qp->path.port->p.num, qp->qpn));
		return;
	}
	/*
	 * NULL replaces an entry, which takes no memory; in an xarray that allocates this reserves.
	 */
	xa_store(&qp->hca->qps, qp->qpn, NULL, GFP_KERNEL);
	pib_idcache_drop(&qp->hca->qp_cache, &qp->hca->qps, qp->qpn, qp->entries.stub);
}

/* Release the number for another QP. */
static void qpn_release(struct pib_qp *qp)
{
	if (qp->type > IB_QPT_GSI)
		xa_erase(&qp->hca->qps, qp->qpn);
}

static int copy_response(struct ib_udata *udata, struct pib_create_qp_resp *resp)
{
	return udata ? pib_udata_respond(udata, resp, sizeof(*resp)) : 0;
}

/*
 * Charge the QP to its owner. ib_core makes XRC target QPs without a udata, in the name of
 * processes. Each is charged to its maker, not to the maker of the domain, which may be open to
 * others.
 */
static int charge_qp(struct pib_qp *qp, struct pib_quota *quota, struct ib_udata *udata)
{
	struct pib_user *maker = NULL;
	int err;

	if (qp->ib.qp_type == IB_QPT_XRC_TGT) {
		maker = pib_quota_user(quota);
		if (IS_ERR(maker))
			return PTR_ERR(maker);
	}
	qp->init.owner = maker ?: pib_quota_owner(udata);
	err = pib_quota_take(quota, qp->init.owner, PIB_OBJ_QP);
	/* a QP that is charged has a reference of its own */
	pib_quota_put(quota, maker);
	return err;
}

int pib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct pib_hca *hca = to_hca(ibqp->device);
	struct pib_create_qp_resp resp = { };
	struct pib_qp *qp = to_qp(ibqp);
	int err;

	err = type_to_tp(init->qp_type);
	if (err < 0)
		return pib_refuse(&hca->ib, err, "create_qp: type %d", init->qp_type);
	err = check_init(hca, init, udata);
	if (err)
		return err;
	err = pib_udata_check(udata, 0);
	if (err)
		return err;

	err = charge_qp(qp, &hca->quota, udata);
	if (err)
		return err;
	qp_setup(qp, init, udata);
	err = alloc_pageins(qp);
	if (err)
		goto err_give;
	err = alloc_queues(qp, &init->cap, udata, &resp);
	if (err)
		goto err_pageins;
	spin_lock_bh(&qp->lock);
	pib_qp_reset(qp);
	spin_unlock_bh(&qp->lock);
	if (qp->init.ah_pd_at_post)
		resp.flags |= PIB_QP_AH_PD_AT_POST;
	err = copy_response(udata, &resp);
	if (err)
		goto err_queues;
	err = qp_publish(qp);
	if (err)
		goto err_queues;
	link_cqs(qp);
	/* XRC target QPs are processes', too: see charge_qp(). */
	pib_object_add(&hca->objects, &qp->entries.obj, PIB_OBJECT_KIND_QP,
		       qp->pd ? qp->pd->obj.id : 0,
		       qp->tp == PIB_TP_XRC ? NULL : pib_udata_kernel(udata, &ibqp->res));
	return 0;

err_queues:
	free_queues(qp);
err_pageins:
	free_pageins(qp);
err_give:
	pib_quota_give(&hca->quota, qp->init.owner, PIB_OBJ_QP);
	return err;
}

static void qp_stop(struct pib_qp *qp)
{
	WRITE_ONCE(qp->lent.owner.waits, true);
	pib_task_stop(&qp->task);
	spin_lock_bh(&qp->lock);
	qp->state = IB_QPS_RESET;
	spin_lock(&qp->inbox.lock);
	qp->inbox.closed = true;
	spin_unlock(&qp->inbox.lock);
	pib_qp_drop_bursts(qp);
	spin_unlock_bh(&qp->lock);
	/* Only a turn arms it, and none begins any more. */
	hrtimer_cancel(&qp->timer.hrtimer);
	/* Pages that it waits for may never come. */
	pib_pagein_leave(qp->rx.pages);
	pib_pagein_leave(qp->sq.deferred.pages);
	pib_pagein_leave(qp->answers.deferred.pages);
}

int pib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct pib_qp *qp = to_qp(ibqp);

	pib_object_del(&qp->hca->objects, &qp->entries.obj);
	unlink_cqs(qp);
	qp_unpublish(qp);
	pib_mcast_detach_all(qp->hca, qp);
	pib_responder_leave(qp);
	qp_stop(qp);
	pib_qp_put(qp);
	/* Run lists, bursts that refer to its memory, and packets just arriving have references. */
	pib_mem_wait(&qp->entries.gone);
	pib_injects_del_qp(&qp->hca->injects, qp->qpn);

	if (qp->sq.cq)
		pib_cq_clean(qp->sq.cq, qp->qpn);
	if (qp->rq.cq && qp->rq.cq != qp->sq.cq)
		pib_cq_clean(qp->rq.cq, qp->qpn);
	qpn_release(qp);
	kfree_rcu(qp->entries.stub, rcu);
	free_queues(qp);
	free_pageins(qp);
	pib_quota_give(&qp->hca->quota, qp->init.owner, PIB_OBJ_QP);
	return 0;
}
