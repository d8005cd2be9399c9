// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/uaccess.h>
#include "hca/hca.h"
#include "memory/pd.h"
#include "hca/srq.h"
#include "core/mmap.h"
#include "core/refuse.h"
#include "tracing/verbs.h"

/* Work requests that are copied at once with interrupts off. */
#define SRQ_COPY_MAX	64U

struct pib_srq *pib_srq_find(struct pib_hca *hca, u32 srqn)
{
	return xa_load(&hca->srqs, srqn);
}

static void srq_dispatch(struct pib_srq *srq, enum ib_event_type event)
{
	struct ib_event ev = {
		.device = srq->ib.device,
		.element.srq = &srq->ib,
		.event = event,
	};

	trace_pib_async_event(to_hca(srq->ib.device)->nd.name, 0, PIB_ASYNC_SRQ, srq->srqn,
			      ev.event);
	if (srq->ib.event_handler)
		srq->ib.event_handler(&ev, srq->ib.srq_context);
}

static void srq_limit_work(struct work_struct *work)
{
	srq_dispatch(container_of(work, struct pib_srq, limit_work), IB_EVENT_SRQ_LIMIT_REACHED);
}

void pib_srq_raise(struct pib_srq *srq, enum ib_event_type event)
{
	spin_lock_irq(&srq->lock);
	if (event == IB_EVENT_SRQ_LIMIT_REACHED)
		srq->limit = 0;
	else
		srq->failed = true;
	spin_unlock_irq(&srq->lock);
	srq_dispatch(srq, event);
}

/*
 * Raise the limit event if @left is below the limit. It is raised once, then has to be armed again
 * (10.2.9.1.2).
 */
static void srq_check_limit(struct pib_srq *srq, u32 left)
{
	lockdep_assert_held(&srq->lock);

	if (likely(left >= srq->limit))
		return;
	srq->limit = 0;
	schedule_work(&srq->limit_work);
}

/*
 * Take one of @pending work requests at random. The oldest moves to its place, where it is found
 * later.
 */
static int take_random(struct pib_srq *srq, u32 pending, struct pib_rq_cur *cur)
{
	struct pib_behaviors *behaviors = &to_hca(srq->ib.device)->behaviors;
	u32 index = srq->ring.index;
	void *oldest = pib_ring_slot(&srq->ring, index), *slot;
	int err;

	lockdep_assert_held(&srq->lock);

	slot = pib_ring_slot(&srq->ring, index + pib_behavior_draw(behaviors, pending));
	err = pib_recv_wqe_copy(slot, srq->max_sge, cur);
	if (slot != oldest)
		memcpy(slot, oldest, srq->ring.stride);
	return err;
}

/* Take the oldest of @pending work requests, unless the HCA takes any. */
static int take_next(struct pib_srq *srq, u32 pending, struct pib_rq_cur *cur)
{
	if (pib_behaves(&to_hca(srq->ib.device)->behaviors, PIB_BEHAVIOR_SRQ_ANY_ORDER) &&
	    !srq->moving)
		return take_random(srq, pending, cur);
	return pib_recv_wqe_copy(pib_ring_slot(&srq->ring, srq->ring.index), srq->max_sge, cur);
}

int pib_srq_take(struct pib_srq *srq, struct pib_rq_cur *cur)
{
	unsigned long flags;
	int err = -EAGAIN;
	u32 pending;

	spin_lock_irqsave(&srq->lock, flags);
	pending = pib_ring_pending(&srq->ring);
	if (pending) {
		err = take_next(srq, pending, cur);
		pib_ring_consume(&srq->ring, 1);
		srq_check_limit(srq, pending - 1);
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}

int pib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct pib_srq *srq = to_srq(ibsrq);
	struct pib_ring_hdr *hdr;
	unsigned long flags;
	int err = 0;

	/* processes post by themselves */
	if (srq->is_user) {
		*bad = wr;
		return wr ? -EINVAL : 0;
	}

	spin_lock_irqsave(&srq->lock, flags);
	hdr = srq->ring.hdr;
	for (; wr; wr = wr->next) {
		if (hdr->producer - srq->ring.index >= srq->max_wr)
			err = -ENOMEM;
		else
			err = pib_recv_wqe_fill(pib_ring_slot(&srq->ring, hdr->producer),
						srq->max_sge, wr);
		if (err) {
			*bad = wr;
			break;
		}
		/* Pairs with the acquire in pib_ring_pending(). */
		smp_store_release(&hdr->producer, hdr->producer + 1);
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}

/* Take a part of the owner's share, and a number, by which nobody finds the SRQ yet. */
static int srq_enter(struct pib_hca *hca, struct pib_srq *srq)
{
	struct pib_user *owner = to_pd(srq->ib.pd)->owner;
	int err = pib_quota_take(&hca->quota, owner, PIB_OBJ_SRQ);

	if (err)
		return err;
	err = xa_alloc_cyclic(&hca->srqs, &srq->srqn, NULL, XA_LIMIT(1, 0xFFFFFF),
			      &hca->next_srqn, GFP_KERNEL);
	if (err < 0) {
		pib_quota_give(&hca->quota, owner, PIB_OBJ_SRQ);
		return err;
	}
	return 0;
}

static void srq_leave(struct pib_hca *hca, struct pib_srq *srq)
{
	xa_erase(&hca->srqs, srq->srqn);
	pib_quota_give(&hca->quota, to_pd(srq->ib.pd)->owner, PIB_OBJ_SRQ);
}

/* Have the SRQ found by its number, by which XRC senders name it. Only its QPs know a basic SRQ. */
static int srqn_publish(struct pib_hca *hca, struct pib_srq *srq)
{
	if (srq->ib.srq_type != IB_SRQT_XRC)
		return 0;
	return xa_err(xa_store(&hca->srqs, srq->srqn, srq, GFP_KERNEL));
}

/* The limit is not among the modifiers of create_srq (11.2.3.1), so it is left alone. */
static int srq_check_init(struct ib_device *ibdev, const struct ib_srq_init_attr *init)
{
	const struct ib_srq_attr *attr = &init->attr;

	if (init->srq_type != IB_SRQT_BASIC && init->srq_type != IB_SRQT_XRC)
		return pib_refuse(ibdev, -EOPNOTSUPP, "create_srq: type %d", init->srq_type);
	if (!attr->max_wr || attr->max_wr > ibdev->attrs.max_srq_wr)
		return pib_refuse(ibdev, -EINVAL, "create_srq: %u work requests", attr->max_wr);
	if (attr->max_sge > ibdev->attrs.max_srq_sge)
		return pib_refuse(ibdev, -EINVAL, "create_srq: %u SGEs", attr->max_sge);
	return 0;
}

static int srq_init(struct pib_srq *srq, const struct ib_srq_attr *attr, struct ib_udata *udata,
		    struct pib_ring_info *info)
{
	int err;

	spin_lock_init(&srq->lock);
	mutex_init(&srq->resize_mutex);
	INIT_WORK(&srq->limit_work, srq_limit_work);
	srq->is_user = udata;
	srq->max_sge = max(attr->max_sge, 1U);
	err = pib_ring_alloc(&srq->ring, attr->max_wr, pib_recv_wqe_size(srq->max_sge), udata,
			     info);
	if (err)
		return err;
	srq->max_wr = srq->ring.entries;
	return 0;
}

int pib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct pib_hca *hca = to_hca(ibsrq->device);
	struct pib_create_srq_resp resp = {};
	struct pib_srq *srq = to_srq(ibsrq);
	int err;

	err = srq_check_init(&hca->ib, init);
	if (err)
		return err;
	err = pib_udata_check(udata, 0);
	if (err)
		return err;

	err = srq_init(srq, &init->attr, udata, &resp.ring);
	if (err)
		return err;
	err = srq_enter(hca, srq);
	if (err)
		goto err_ring;
	resp.srqn = srq->srqn;
	err = udata ? pib_udata_respond(udata, &resp, sizeof(resp)) : 0;
	if (err)
		goto err_leave;
	err = srqn_publish(hca, srq);
	if (err)
		goto err_leave;
	if (init->srq_type == IB_SRQT_XRC)
		ibsrq->ext.xrc.srq_num = srq->srqn;
	init->attr.max_wr = srq->max_wr;
	init->attr.max_sge = srq->max_sge;
	pib_object_add(&hca->objects, &srq->obj, PIB_OBJECT_KIND_SRQ, to_pd(ibsrq->pd)->obj.id,
		       pib_pd_kernel(to_pd(ibsrq->pd)));
	return 0;

err_leave:
	srq_leave(hca, srq);
err_ring:
	pib_ring_free(&srq->ring);
	return err;
}

int pib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct pib_srq *srq = to_srq(ibsrq);
	struct pib_ring ring;

	pib_object_del(&to_hca(ibsrq->device)->objects, &srq->obj);
	xa_erase(&to_hca(ibsrq->device)->srqs, srq->srqn);
	/* XRC receivers find it by number, ib_core frees it on return */
	if (ibsrq->srq_type == IB_SRQT_XRC)
		synchronize_rcu();
	cancel_work_sync(&srq->limit_work);
	/* Some kernels show the SRQ until this has returned, as in pib_destroy_cq(). */
	spin_lock_irq(&srq->lock);
	ring = srq->ring;
	srq->ring.hdr = NULL;
	spin_unlock_irq(&srq->lock);
	pib_ring_free(&ring);
	pib_quota_give(&to_hca(ibsrq->device)->quota, to_pd(ibsrq->pd)->owner, PIB_OBJ_SRQ);
	return 0;
}

int pib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct pib_srq *srq = to_srq(ibsrq);

	attr->max_wr = READ_ONCE(srq->max_wr);
	attr->max_sge = srq->max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

static void srq_copy(struct pib_srq *srq, struct pib_ring *to, u32 from, u32 end)
{
	for (; from != end; from++)
		memcpy(pib_ring_slot(to, from), pib_ring_slot(&srq->ring, from), srq->ring.stride);
}

/* Set @from to the first work request posted, under the lock. Return: how many there are. */
static u32 srq_posted(struct pib_srq *srq, u32 *from)
{
	lockdep_assert_held(&srq->lock);

	*from = srq->ring.index;
	return pib_ring_pending(&srq->ring);
}

/*
 * Move work requests from @done on, and the indices, to @ring, under the lock. @ring becomes the
 * old ring. Return: 0; -EAGAIN: too many have come since @done.
 */
static int srq_exchange(struct pib_srq *srq, struct pib_ring *ring, u32 done)
{
	u32 index, pending = srq_posted(srq, &index), left;

	/* work requests that were copied may have been taken since */
	left = min(pending, index + pending - done);
	if (pending > ring->entries)
		return -EINVAL;
	if (left > SRQ_COPY_MAX)
		return -EAGAIN;
	srq_copy(srq, ring, index + pending - left, index + pending);
	ring->index = index;
	ring->hdr->producer = index + pending;
	ring->hdr->consumer = index;
	swap(srq->ring, *ring);
	WRITE_ONCE(srq->max_wr, srq->ring.entries);
	return 0;
}

/*
 * Move posted work requests to another ring. Up to 16 MiB of them are copied without the lock as
 * far as possible. A work request that is taken meanwhile does no harm. Those that are posted
 * meanwhile stand behind those that are copied. Only a process that rewrites what it has posted, or
 * goes back with its index, may find something else, in its own queue.
 *
 * Return: 0; -EAGAIN: the process posts faster than that.
 */
static int srq_move(struct pib_srq *srq, struct pib_ring *ring)
{
	u32 done = 0, index, pending, n, tries;
	int err = -EAGAIN;

	lockdep_assert_held(&srq->resize_mutex);

	for (tries = 0; err == -EAGAIN && tries < 16; tries++) {
		spin_lock_irq(&srq->lock);
		pending = srq_posted(srq, &index);
		spin_unlock_irq(&srq->lock);
		if (pending > ring->entries)
			return -EINVAL;
		/* the first time, or all of that was taken */
		if (!tries || index + pending - done > pending)
			done = index;
		for (; done != index + pending; done += n) {
			n = min(index + pending - done, SRQ_COPY_MAX);
			srq_copy(srq, ring, done, done + n);
			cond_resched();
		}
		spin_lock_irq(&srq->lock);
		err = srq_exchange(srq, ring, done);
		spin_unlock_irq(&srq->lock);
	}
	return err;
}

/* Tell the process where the new ring is. It maps the ring when the call has returned. */
static int srq_respond(struct pib_srq *srq, struct ib_udata *udata,
		       const struct pib_ring_info *info)
{
	struct pib_modify_srq_cmd cmd = {};
	size_t size;
	int err;

	if (!udata)
		return 0;
	if (udata->inlen < offsetofend(struct pib_modify_srq_cmd, ring_addr))
		return pib_refuse(srq->ib.device, -EINVAL,
				  "srq %u: modify_srq: %zu bytes of request", srq->srqn,
				  udata->inlen);
	err = ib_copy_from_udata(&cmd, udata, min(sizeof(cmd), udata->inlen));
	if (err)
		return err;
	if (!cmd.ring_addr || cmd.reserved)
		return pib_refuse(srq->ib.device, -EINVAL,
				  "srq %u: modify_srq: no address, or reserved %#x",
				  srq->srqn, cmd.reserved);
	size = cmd.ring_size ? min_t(size_t, cmd.ring_size, sizeof(*info)) : sizeof(*info);
	return copy_to_user(u64_to_user_ptr(cmd.ring_addr), info, size) ? -EFAULT : 0;
}

static void srq_set_moving(struct pib_srq *srq, bool moving)
{
	spin_lock_irq(&srq->lock);
	srq->moving = moving;
	spin_unlock_irq(&srq->lock);
}

static int srq_resize(struct pib_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct pib_ring_info info = {};
	struct pib_ring ring;
	int err;

	if (!max_wr || max_wr > srq->ib.device->attrs.max_srq_wr)
		return pib_refuse(srq->ib.device, -EINVAL, "srq %u: modify_srq: %u work requests",
				  srq->srqn, max_wr);
	err = pib_ring_alloc(&ring, max_wr, pib_recv_wqe_size(srq->max_sge), udata, &info);
	if (err)
		return err;
	err = srq_respond(srq, udata, &info);
	if (err)
		goto out;
	mutex_lock(&srq->resize_mutex);
	srq_set_moving(srq, true);
	err = srq_move(srq, &ring);
	srq_set_moving(srq, false);
	mutex_unlock(&srq->resize_mutex);
	if (err)
		ibdev_dbg(srq->ib.device,
			  "srq %u: modify_srq: more is posted than %u work requests\n", srq->srqn,
			  max_wr);
out:
	pib_ring_free(&ring);
	return err;
}

int pib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata)
{
	struct pib_srq *srq = to_srq(ibsrq);
	int err;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return pib_refuse(ibsrq->device, -EINVAL, "srq %u: modify_srq: mask %#x", srq->srqn,
				  mask);
	err = pib_udata_check(udata, sizeof(struct pib_modify_srq_cmd));
	if (err)
		return err;
	if (mask & IB_SRQ_LIMIT &&
	    attr->srq_limit > (mask & IB_SRQ_MAX_WR ? attr->max_wr : READ_ONCE(srq->max_wr)))
		return pib_refuse(ibsrq->device, -EINVAL, "srq %u: modify_srq: limit %u", srq->srqn,
				  attr->srq_limit);
	if (mask & IB_SRQ_MAX_WR) {
		err = srq_resize(srq, attr->max_wr, udata);
		if (err)
			return err;
	}
	if (mask & IB_SRQ_LIMIT) {
		spin_lock_irq(&srq->lock);
		srq->limit = attr->srq_limit;
		srq_check_limit(srq, pib_ring_pending(&srq->ring));
		spin_unlock_irq(&srq->lock);
	}
	return 0;
}
