// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Views of objects of each kind. None goes while it is seen. Members that do not go with the object
 * are read under a lock; the rest are single words, each true at some moment.
 */
#include <rdma/uverbs_types.h>
#include "core/mmap.h"
#include "hca/ah.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "hca/pd.h"
#include "hca/srq.h"
#include "memory/dm.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "transport/mcast.h"
#include "transport/qp.h"
#include "transport/qp_counter.h"
#include "verbs/objects.h"
#include "verbs/restrack.h"

static void put_fact(struct pib_object_view *v, u16 attr, u64 value)
{
	if (WARN_ON_ONCE(v->num == ARRAY_SIZE(v->facts)))
		return;
	v->facts[v->num].attr = attr;
	v->facts[v->num++].value = value;
}

/* Put a fact whose value is 0 where it does not apply. */
static void put_known(struct pib_object_view *v, u16 attr, u64 value)
{
	if (value)
		put_fact(v, attr, value);
}

/*
 * Put a key, which gives access to memory. ib_core, too, tells it to those alone who may
 * administer: one process of a user does not get another's.
 */
static void put_key(struct pib_object_view *v, u16 attr, u32 key)
{
	if (v->all)
		put_fact(v, attr, key);
}

/* Put the address of memory. Nobody is told of the kernel's. */
static void put_start(struct pib_object_view *v, u64 start)
{
	if (v->all && v->user)
		put_fact(v, PIB_O_START, start);
}

/* Put the handle, which ib_core keeps until the object is gone. */
static void put_handle(struct pib_object_view *v, const struct ib_uobject *uobject)
{
	if (!uobject)
		return;
	v->has_handle = true;
	v->handle = uobject->id;
}

/*
 * Return: the uobject of an object that has events. Its struct ib_u*_object, which ib_core does not
 * show to drivers, begins with its struct ib_uobject.
 */
static const struct ib_uobject *event_uobject(const void *uobject)
{
	return uobject;
}

/* Put the number of a resource that ib_core tracks, once it does, which may be now. */
static void put_resource(struct pib_object_view *v, const struct rdma_restrack_entry *res)
{
	v->has_resource = READ_ONCE(res->valid);
	v->resource = READ_ONCE(res->id);
}

static void put_gid(struct pib_object_view *v, const u8 *gid)
{
	v->has_gid = true;
	memcpy(v->gid, gid, sizeof(v->gid));
}

static void show_context(const struct pib_object *o, struct pib_object_view *v)
{
	put_resource(v, &container_of(o, struct pib_ucontext, obj)->ib.res);
}

static void show_pd(const struct pib_object *o, struct pib_object_view *v)
{
	const struct pib_pd *pd = container_of(o, struct pib_pd, obj);

	put_resource(v, &pd->ib.res);
	put_handle(v, READ_ONCE(pd->ib.uobject));
}

static void show_mr(const struct pib_object *o, struct pib_object_view *v)
{
	const struct pib_mr *mr = container_of(o, struct pib_mr, obj);
	/* The region may be registered again meanwhile: then this may be of both registrations. */
	const struct pib_mr_map map = data_race(mr->map);
	/* Of either registration, as the map. */
	const int access = data_race(mr->access);
	/* Of either registration, as the map. */
	const u32 key = data_race(mr->k.key);

	put_resource(v, &mr->ib.res);
	/* A region that the kernel has made has a list of ib_core in its place. */
	if (v->user)
		put_handle(v, READ_ONCE(mr->ib.uobject));
	put_key(v, PIB_O_KEY, key);
	put_fact(v, PIB_O_TYPE, mr->type);
	put_fact(v, PIB_O_VALID, READ_ONCE(mr->valid));
	put_fact(v, PIB_O_ACCESS, access);
	put_start(v, map.iova);
	put_fact(v, PIB_O_LENGTH, map.length);
	if (map.pages) {
		put_fact(v, PIB_O_PAGES, map.npages);
		put_fact(v, PIB_O_PAGE_SHIFT, map.shift);
	}
	put_fact(v, PIB_O_REFERENCES, refcount_read(&mr->ref));
	put_fact(v, PIB_O_WINDOWS, atomic_read(&mr->windows));
}

static void show_mw(const struct pib_object *o, struct pib_object_view *v)
{
	const struct pib_mw *mw = container_of(o, struct pib_mw, obj);
	struct pib_window *win = mw->win;

	put_handle(v, READ_ONCE(mw->ib.uobject));
	put_fact(v, PIB_O_TYPE, win->type);
	spin_lock_bh(&win->lock);
	put_key(v, PIB_O_KEY, win->k.key);
	put_fact(v, PIB_O_BOUND, !!win->mr);
	if (win->mr) {
		put_key(v, PIB_O_REGION, win->mr->k.key);
		put_fact(v, PIB_O_ACCESS, win->access);
		put_start(v, win->first);
		put_fact(v, PIB_O_LENGTH, win->length);
		put_fact(v, PIB_O_REFERENCES, atomic_read(&win->users));
		if (win->type == IB_MW_TYPE_2)
			put_fact(v, PIB_O_QPN, win->qpn);
	}
	spin_unlock_bh(&win->lock);
}

/* Show the ring, under the lock, since a resize exchanges it. */
static void show_cq_ring(struct pib_cq *cq, struct pib_object_view *v)
{
	const struct pib_ring_hdr *hdr;

	spin_lock_irq(&cq->lock);
	hdr = cq->ring.hdr;
	put_fact(v, PIB_O_ENTRIES, cq->ring.entries);
	put_fact(v, PIB_O_PRODUCER, cq->ring.index);
	put_fact(v, PIB_O_CONSUMER, READ_ONCE(hdr->consumer));
	put_fact(v, PIB_O_ARMED, cq->ring.user ? READ_ONCE(hdr->arm) : cq->notify);
	put_fact(v, PIB_O_OVERFLOW, cq->overflow);
	spin_unlock_irq(&cq->lock);
}

static void show_cq(const struct pib_object *o, struct pib_object_view *v)
{
	struct pib_cq *cq = container_of((struct pib_object *)o, struct pib_cq, obj);

	put_resource(v, &cq->ib.res);
	put_handle(v, event_uobject(READ_ONCE(cq->ib.uobject)));
	put_fact(v, PIB_O_CQN, cq->cqn);
	show_cq_ring(cq, v);
	put_fact(v, PIB_O_CPU, cq->cpu);
	put_known(v, PIB_O_MODERATION_COUNT, READ_ONCE(cq->mod_count));
	put_known(v, PIB_O_MODERATION_USEC, READ_ONCE(cq->mod_period));
}

static void show_srq(const struct pib_object *o, struct pib_object_view *v)
{
	struct pib_srq *srq = container_of((struct pib_object *)o, struct pib_srq, obj);

	put_resource(v, &srq->ib.res);
	put_handle(v, event_uobject(READ_ONCE(srq->ib.uobject)));
	put_fact(v, PIB_O_SRQN, srq->srqn);
	put_fact(v, PIB_O_TYPE, srq->ib.srq_type);
	put_fact(v, PIB_O_MAX_SGE, srq->max_sge);
	spin_lock_irq(&srq->lock);
	put_fact(v, PIB_O_ENTRIES, srq->ring.entries);
	put_fact(v, PIB_O_POSTED, pib_ring_pending(&srq->ring));
	put_fact(v, PIB_O_LIMIT, srq->limit);
	put_fact(v, PIB_O_FAILED, srq->failed);
	spin_unlock_irq(&srq->lock);
}

/* Show what never changes. */
static void show_qp_parts(const struct pib_qp *qp, struct pib_object_view *v)
{
	put_fact(v, PIB_O_QPN, qp->qpn);
	put_fact(v, PIB_O_TYPE, qp->type);
	if (qp->sq.cq)
		put_fact(v, PIB_O_SEND_CQN, qp->sq.cq->cqn);
	if (qp->rq.cq)
		put_fact(v, PIB_O_RECV_CQN, qp->rq.cq->cqn);
	if (qp->rq.srq)
		put_fact(v, PIB_O_SRQN, qp->rq.srq->srqn);
}

static void show_qp_path(const struct pib_qp *qp, struct pib_object_view *v)
{
	put_fact(v, PIB_O_STATE, qp->state);
	if (qp->path.port) {
		put_fact(v, PIB_O_PORT, qp->path.port->p.num);
		put_fact(v, PIB_O_PKEY, pib_port_pkey(&qp->path.port->p, qp->attr.pkey_index));
	}
	if (pib_qp_is_datagram(qp) || qp->state < IB_QPS_RTR)
		return;
	put_fact(v, PIB_O_REMOTE_QPN, qp->attr.dest_qp_num);
	put_fact(v, PIB_O_DLID, qp->path.av.dlid);
	put_fact(v, PIB_O_SL, qp->path.av.sl);
	put_fact(v, PIB_O_MIGRATION, qp->attr.path_mig_state);
}

static void show_qp_queues(const struct pib_qp *qp, struct pib_object_view *v)
{
	if (qp->sq.ring.hdr) {
		put_fact(v, PIB_O_SQ_ENTRIES, qp->sq.ring.entries);
		put_fact(v, PIB_O_SQ_FETCHED, qp->sq.ring.index);
		put_fact(v, PIB_O_SQ_DONE, qp->sq.done);
		put_fact(v, PIB_O_SQ_UNREAD, pib_ring_pending(&qp->sq.ring));
		put_fact(v, PIB_O_SQ_POSTED, qp->req.head - qp->req.tail);
	}
	if (qp->rq.ring.hdr) {
		put_fact(v, PIB_O_RQ_ENTRIES, qp->rq.ring.entries);
		put_fact(v, PIB_O_RQ_INDEX, qp->rq.ring.index);
		put_fact(v, PIB_O_RQ_POSTED, pib_ring_pending(&qp->rq.ring));
	}
	put_fact(v, PIB_O_INBOX, READ_ONCE(qp->inbox.len));
	put_fact(v, PIB_O_SCHEDULED, READ_ONCE(qp->task.state));
	put_known(v, PIB_O_PAGE_WAIT, pib_qp_page_wait(qp));
	put_known(v, PIB_O_PUSHED_BACK, !!qp->tx.stall.burst);
	put_known(v, PIB_O_CCTI, qp->tx.cc.index);
	put_known(v, PIB_O_ERROR, qp->req.error);
	put_known(v, PIB_O_BAD_PKEYS, (u32)atomic_read(&qp->refused.pkeys));
	put_known(v, PIB_O_BAD_QKEYS, (u32)atomic_read(&qp->refused.qkeys));
}

static void show_qp_reliable(const struct pib_qp *qp, struct pib_object_view *v)
{
	const struct pib_req *req = &qp->req;

	put_fact(v, PIB_O_UNA_PSN, req->una_psn);
	put_fact(v, PIB_O_SSN, req->ssn);
	if (!req->no_credits)
		put_fact(v, PIB_O_CREDIT_LIMIT, req->credit_limit);
	put_fact(v, PIB_O_WINDOW, req->cwnd);
	put_fact(v, PIB_O_RETRIES_LEFT, req->retries_left);
	put_fact(v, PIB_O_RNR_LEFT, req->rnr_left);
	put_fact(v, PIB_O_TIMEOUTS, req->stats.timeouts);
	put_fact(v, PIB_O_RETRANSMITS, req->stats.retransmits);
	put_known(v, PIB_O_ACK_USEC, pib_usec_left(req->ack_deadline));
	put_known(v, PIB_O_RNR_USEC, pib_usec_left(req->rnr_deadline));
	put_fact(v, PIB_O_MSN, qp->resp.msn);
	put_fact(v, PIB_O_CREDITS, qp->resp.credits);
}

static void show_qp(const struct pib_object *o, struct pib_object_view *v)
{
	struct pib_qp *qp = container_of((struct pib_object *)o, struct pib_qp, entries.obj);

	/*
	 * A process that has opened an XRC target QP may keep it when its maker's handle is gone.
	 */
	if (qp->type != IB_QPT_XRC_TGT)
		put_handle(v, event_uobject(READ_ONCE(qp->ib.uobject)));
	show_qp_parts(qp, v);
	spin_lock_bh(&qp->lock);
	show_qp_path(qp, v);
	show_qp_queues(qp, v);
	put_fact(v, PIB_O_NEXT_PSN, qp->req.next_psn);
	if (!pib_qp_is_datagram(qp))
		put_fact(v, PIB_O_EXPECTED_PSN, qp->resp.epsn);
	if (pib_qp_is_reliable(qp))
		show_qp_reliable(qp, v);
	spin_unlock_bh(&qp->lock);
}

static void show_ah(const struct pib_object *o, struct pib_object_view *v)
{
	const struct pib_ah *ah = container_of(o, struct pib_ah, obj);
	const struct pib_av *av;

	put_handle(v, READ_ONCE(ah->ib.uobject));
	put_fact(v, PIB_O_AHN, ah->avn);
	/* modify_ah puts another in its place */
	rcu_read_lock();
	av = READ_ONCE(ah->av);
	put_fact(v, PIB_O_PORT, av->d.port);
	put_fact(v, PIB_O_DLID, av->d.dlid);
	put_fact(v, PIB_O_SL, av->d.sl);
	if (av->d.grh)
		put_gid(v, av->d.dgid);
	rcu_read_unlock();
}

static void show_attachment(const struct pib_object *o, struct pib_object_view *v)
{
	struct pib_attachment a;

	pib_mcast_show(o, &a);
	put_fact(v, PIB_O_QPN, a.qpn);
	put_fact(v, PIB_O_DLID, a.mlid);
	put_gid(v, a.mgid);
}

static void show_dm(const struct pib_object *o, struct pib_object_view *v)
{
	const struct pib_dm *dm = container_of(o, struct pib_dm, obj);

	put_handle(v, READ_ONCE(dm->ib.uobject));
	put_fact(v, PIB_O_LENGTH, dm->size);
}

static void show_counter(const struct pib_object *o, struct pib_object_view *v)
{
	put_fact(v, PIB_O_COUNTER, pib_counter_number(o));
}

/* Functions that show objects, by kind. NULL: the kind has only what every object has. */
static void (*const shows[PIB_OBJECT_KINDS])(const struct pib_object *o,
					     struct pib_object_view *v) = {
	[PIB_OBJECT_KIND_CONTEXT] = show_context,
	[PIB_OBJECT_KIND_PD] = show_pd,
	[PIB_OBJECT_KIND_MR] = show_mr,
	[PIB_OBJECT_KIND_MW] = show_mw,
	[PIB_OBJECT_KIND_CQ] = show_cq,
	[PIB_OBJECT_KIND_SRQ] = show_srq,
	[PIB_OBJECT_KIND_QP] = show_qp,
	[PIB_OBJECT_KIND_AH] = show_ah,
	[PIB_OBJECT_KIND_ATTACHMENT] = show_attachment,
	[PIB_OBJECT_KIND_DM] = show_dm,
	[PIB_OBJECT_KIND_COUNTER] = show_counter,
};

/* Kinds that are made in a context, without a PD. */
#define OF_CONTEXT	(BIT(PIB_OBJECT_KIND_PD) | BIT(PIB_OBJECT_KIND_CQ) | \
			 BIT(PIB_OBJECT_KIND_XRCD) | BIT(PIB_OBJECT_KIND_DM))

void pib_object_show(const struct pib_object *o, bool all, struct pib_object_view *v)
{
	*v = (struct pib_object_view) {
		.kind = o->kind,
		.id = o->id,
		.created = o->created,
		.user = o->pid,
		.pid = pid_vnr(o->pid),
		.uid = o->uid,
		.all = all,
	};
	memcpy(v->owner, o->owner, sizeof(v->owner));
	put_known(v, BIT(o->kind) & OF_CONTEXT ? PIB_O_CONTEXT : PIB_O_PD, READ_ONCE(o->parent));
	if (shows[o->kind])
		shows[o->kind](o, v);
}
