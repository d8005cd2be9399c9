// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 *
 * The kernel owns the producer index of every ring (ring.index). The consumer index is the
 * process', or poll_cq's, which moves it under the lock. A process that lies about its consumer
 * index makes its own queue overflow, no more.
 */
#include <linux/bottom_half.h>
#include <linux/log2.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/sched/isolation.h>
#include <linux/wait_bit.h>
#include "compat/compat.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "core/mmap.h"
#include "core/net.h"
#include "core/refuse.h"
#include "tracing/verbs.h"

/* Entries that are copied at once with interrupts off. */
#define CQ_COPY_MAX	256U
/*
 * Most calls of a consumer in one interrupt, or in one turn of the work item that makes the others.
 */
#define CQ_CALLS_MAX	16

static u32 cq_filled(const struct pib_cq *cq)
{
	/*
	 * Pairs with the provider's release of the consumer: an entry is taken before its slot is
	 * filled again.
	 */
	return cq->ring.index - smp_load_acquire(&cq->ring.hdr->consumer);
}

static u32 *cq_arm(struct pib_cq *cq)
{
	return cq->ring.user ? &cq->ring.hdr->arm : &cq->notify;
}

/* Disarm the CQ. Return: true if it was armed for such an entry. */
static bool cq_disarm(struct pib_cq *cq, bool solicited)
{
	u32 want = solicited ? PIB_CQ_ARM_SOLICITED : PIB_CQ_ARM_ANY;

	lockdep_assert_held(&cq->lock);

	cq->mod_seen = 0;
	cq->mod_solicited = false;
	/*
	 * Pairs with the provider's exchange, by which a process arms without the lock: an arming
	 * is answered by one event, or stands for the entry after this one.
	 */
	return xchg(cq_arm(cq), PIB_CQ_ARM_NONE) >= want;
}

/* Decide whether the event waits for more entries. Return: true: it waits. */
static bool cq_moderate(struct pib_cq *cq, bool solicited)
{
	lockdep_assert_held(&cq->lock);

	if (likely(!cq->mod_period))
		return false;
	cq->mod_solicited |= solicited;
	if (++cq->mod_seen >= cq->mod_count)
		return false;
	if (cq->mod_seen == 1)
		hrtimer_start(&cq->mod_timer, ns_to_ktime((u64)cq->mod_period * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	return true;
}

static void cq_call(struct pib_cq *cq)
{
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/*
 * Make upcalls that are due, CQ_CALLS_MAX of them at most. Return: true: others are due, so that
 * the CQ stays; false: none is due, and the CQ may be gone.
 */
static bool cq_make_calls(struct pib_cq *cq)
{
	int left = CQ_CALLS_MAX, now, i;

	while (left) {
		now = min(atomic_read(&cq->due), left);
		for (i = 0; i < now; i++)
			cq_call(cq);
		/*
		 * Pairs with atomic_inc_return() in cq_notify(): a call is made in this loop or,
		 * after its last one, begun there. And with wait_var_event() in cq_end_calls().
		 */
		if (!atomic_sub_return(now, &cq->due)) {
			/* the address is not followed */
			wake_up_var(&cq->due);
			return false;
		}
		left -= now;
	}
	return true;
}

/*
 * Make upcalls in an interrupt of the CPU of the vector. A process that arms from one CPU as fast
 * as completions come from another would keep this CPU there. So a work item makes all but a few
 * calls, and the CPU does other things beside it.
 *
 * Handlers take spinlocks, as wake_up_var() does, which must not be taken in an interrupt on
 * PREEMPT_RT. There are no upcalls in interrupts there, as lockdep is told.
 */
static void cq_upcall(void *arg)
{
	static DEFINE_WAIT_OVERRIDE_MAP(cq_irq_map, LD_WAIT_CONFIG);
	struct pib_cq *cq = arg;
	bool more;

	lock_map_acquire_try(&cq_irq_map);
	more = cq_make_calls(cq);
	lock_map_release(&cq_irq_map);
	if (more)
		queue_work(pib_data_wq, &cq->upcall_work);
}

/* Make upcalls from a work item, with softirqs off here, too. */
static void cq_upcall_work(struct work_struct *work)
{
	struct pib_cq *cq = container_of(work, struct pib_cq, upcall_work);
	bool more;

	local_bh_disable();
	more = cq_make_calls(cq);
	local_bh_enable();
	if (more)
		queue_work(pib_data_wq, &cq->upcall_work);
}

/*
 * Make the upcall for an event that is due, on the CPU of the vector. It is made from here if that
 * is this CPU, or if there is no such CPU any more. On PREEMPT_RT it is always made from here, for
 * neither interrupts nor get_cpu() leave a handler its locks. The lock is not held.
 */
static void cq_notify(struct pib_cq *cq)
{
	if (!cq->ib.comp_handler)
		return;
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		cq_call(cq);
		return;
	}

	/* The atomic_inc_return() pairs with atomic_sub_return() in cq_make_calls(). */
	if (get_cpu() == cq->cpu || !cpu_online(cq->cpu))
		cq_call(cq);
	else if (atomic_inc_return(&cq->due) == 1 &&
		 smp_call_function_single_async(cq->cpu, &cq->upcall))
		cq_upcall(cq);
	put_cpu();
}

static enum hrtimer_restart cq_mod_timer(struct hrtimer *timer)
{
	struct pib_cq *cq = container_of(timer, struct pib_cq, mod_timer);
	unsigned long flags;
	bool call;

	spin_lock_irqsave(&cq->lock, flags);
	call = cq->mod_seen && cq_disarm(cq, cq->mod_solicited);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (call)
		cq_notify(cq);
	return HRTIMER_NORESTART;
}

/* Decide whether an event is raised for the entry that was just published. */
static bool cq_event_due(struct pib_cq *cq, bool solicited)
{
	u32 want = solicited ? PIB_CQ_ARM_SOLICITED : PIB_CQ_ARM_ANY;

	lockdep_assert_held(&cq->lock);

	/*
	 * Pairs with the full barriers of consumers (the provider, pib_req_notify_cq()), which arm
	 * and then look at the producer index. Here it is the other way round.
	 */
	smp_mb();
	if (READ_ONCE(*cq_arm(cq)) < want || cq_moderate(cq, solicited))
		return false;
	return cq_disarm(cq, solicited || cq->mod_solicited);
}

static void cq_overflow(struct pib_cq *cq)
{
	lockdep_assert_held(&cq->lock);

	if (cq->overflow)
		return;
	cq->overflow = true;
	schedule_work(&cq->err_work);
}

/* Add an entry. Return: true if the consumer must be called. */
static bool cq_add(struct pib_cq *cq, const struct pib_cqe *cqe, bool solicited)
{
	struct pib_cqe e = *cqe;

	lockdep_assert_held(&cq->lock);

	if (cq->overflow)
		return false;
	if (cq_filled(cq) >= cq->limit) {
		cq_overflow(cq);
		return false;
	}
	e.timestamp = cq->stamped ? ktime_get_raw_ns() : 0;
	if (cq->ring.user)
		e.user_qp = 0;
	*(struct pib_cqe *)pib_ring_slot(&cq->ring, cq->ring.index) = e;
	cq->ring.index++;
	/* Pairs with the acquire in the provider's pib_ring_filled(). */
	smp_store_release(&cq->ring.hdr->producer, cq->ring.index);
	return cq_event_due(cq, solicited);
}

void pib_cq_push(struct pib_cq *cq, const struct pib_cqe *cqe, bool solicited)
{
	unsigned long flags;
	bool call;

	spin_lock_irqsave(&cq->lock, flags);
	call = cq_add(cq, cqe, solicited);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (call)
		cq_notify(cq);
}

/* Tell the owner of the CQ, and those whose completions come there. */
static void cq_tell_overflow(struct pib_cq *cq)
{
	void (*on_overflow)(struct pib_cq *cq) = READ_ONCE(cq->on_overflow);
	struct ib_event ev = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	trace_pib_async_event(to_hca(cq->ib.device)->nd.name, 0, PIB_ASYNC_CQ, cq->cqn, ev.event);
	if (cq->ib.event_handler)
		cq->ib.event_handler(&ev, cq->ib.cq_context);
	if (on_overflow)
		on_overflow(cq);
}

static void cq_err_work(struct work_struct *work)
{
	cq_tell_overflow(container_of(work, struct pib_cq, err_work));
}

int pib_cq_overrun(struct pib_cq *cq)
{
	bool before;

	spin_lock_irq(&cq->lock);
	before = cq->overflow;
	cq->overflow = true;
	spin_unlock_irq(&cq->lock);
	if (before)
		return -EALREADY;
	cq_tell_overflow(cq);
	return 0;
}

/*
 * Entries that stay move towards the producer, in order, and the consumer index skips the slots
 * that are left over: consumers that hold no lock see only whole entries.
 */
void pib_cq_clean(struct pib_cq *cq, u32 qpn)
{
	u32 consumer, from, to;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	/* a process cleans its own */
	if (cq->ring.user)
		goto out;
	consumer = cq->ring.hdr->consumer;
	from = cq->ring.index;
	to = from;
	while (from != consumer) {
		struct pib_cqe *cqe = pib_ring_slot(&cq->ring, --from);

		if (cqe->qp_num == qpn)
			continue;
		if (--to != from)
			*(struct pib_cqe *)pib_ring_slot(&cq->ring, to) = *cqe;
	}
	WRITE_ONCE(cq->ring.hdr->consumer, to);
out:
	spin_unlock_irqrestore(&cq->lock, flags);
}

/*
 * Return: true if the CPU may have a vector. CPUs that were isolated (isolcpus=, nohz_full=) are
 * not interrupted for others.
 */
static bool vector_allowed(int cpu)
{
	return housekeeping_cpu(cpu, HK_TYPE_DOMAIN) && housekeeping_cpu(cpu, HK_TYPE_WQ);
}

int pib_cq_vectors(void)
{
	int cpu, n = 0;

	for_each_online_cpu(cpu)
		n += vector_allowed(cpu);
	return max(n, 1);
}

/*
 * Return: the CPU of a vector, which need not be online: vectors keep their meaning while CPUs come
 * and go.
 */
static int vector_cpu(int vector)
{
	int cpu;

	for_each_present_cpu(cpu)
		if (vector_allowed(cpu) && !vector--)
			return cpu;
	return cpumask_first(cpu_online_mask);
}

/*
 * Return: how many entries there may be: at least as many as were asked for (11.2.8.1). The HCA
 * decides how many more.
 */
static u32 cq_limit(const struct pib_cq *cq, u32 asked, const struct pib_ring *ring)
{
	struct pib_hca *hca = to_hca(cq->ib.device);

	return pib_behaves(&hca->behaviors, PIB_BEHAVIOR_EXACT_CQ) ? asked : ring->entries;
}

/* Take a part of the owner's share, and a number. */
static int cq_enter(struct pib_hca *hca, struct pib_cq *cq)
{
	int err = pib_quota_take(&hca->quota, cq->owner, PIB_OBJ_CQ);

	if (err)
		return err;
	err = xa_alloc_cyclic(&hca->cqs, &cq->cqn, cq, XA_LIMIT(1, 0xFFFFFF), &hca->next_cqn,
			      GFP_KERNEL);
	if (err < 0) {
		pib_quota_give(&hca->quota, cq->owner, PIB_OBJ_CQ);
		return err;
	}
	return 0;
}

static void cq_leave(struct pib_hca *hca, struct pib_cq *cq)
{
	xa_erase(&hca->cqs, cq->cqn);
	pib_quota_give(&hca->quota, cq->owner, PIB_OBJ_CQ);
}

static int cq_check_attr(struct ib_device *ibdev, const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return pib_refuse(ibdev, -EOPNOTSUPP, "create_cq: flags %#x", attr->flags);
	if (!attr->cqe || attr->cqe > ibdev->attrs.max_cqe)
		return pib_refuse(ibdev, -EINVAL, "create_cq: %u entries", attr->cqe);
	if (attr->comp_vector >= ibdev->num_comp_vectors)
		return pib_refuse(ibdev, -EINVAL, "create_cq: vector %u of %d", attr->comp_vector,
				  ibdev->num_comp_vectors);
	return 0;
}

/* Set up what needs no memory. */
static void cq_init(struct pib_cq *cq, const struct ib_cq_init_attr *attr)
{
	spin_lock_init(&cq->lock);
	spin_lock_init(&cq->links_lock);
	INIT_LIST_HEAD(&cq->links);
	INIT_LIST_HEAD(&cq->notified);
	INIT_WORK(&cq->err_work, cq_err_work);
	INIT_CSD(&cq->upcall, cq_upcall, cq);
	INIT_WORK(&cq->upcall_work, cq_upcall_work);
	cq->stamped = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->cpu = vector_cpu(attr->comp_vector);
	mutex_init(&cq->resize_mutex);
	hrtimer_setup(&cq->mod_timer, cq_mod_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

int pib_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	struct pib_hca *hca = to_hca(ibcq->device);
	struct pib_create_cq_resp resp = {};
	struct pib_cq *cq = to_cq(ibcq);
	int err;

	err = cq_check_attr(&hca->ib, attr);
	if (err)
		return err;
	err = pib_udata_check(udata, 0);
	if (err)
		return err;

	cq_init(cq, attr);
	err = pib_ring_alloc(&cq->ring, attr->cqe, sizeof(struct pib_cqe), udata, &resp.ring);
	if (err)
		return err;
	cq->owner = pib_quota_owner(udata);
	err = cq_enter(hca, cq);
	if (err)
		goto err_ring;
	err = udata ? pib_udata_respond(udata, &resp, sizeof(resp)) : 0;
	if (err)
		goto err_leave;
	cq->limit = cq_limit(cq, attr->cqe, &cq->ring);
	ibcq->cqe = cq->limit;
	pib_object_add(&hca->objects, &cq->obj, PIB_OBJECT_KIND_CQ, pib_udata_context(udata),
		       pib_udata_kernel(udata, &ibcq->res));
	return 0;

err_leave:
	cq_leave(hca, cq);
err_ring:
	pib_ring_free(&cq->ring);
	return err;
}

/*
 * End the calls. ib_core lets no QP keep a CQ that is destroyed, so nothing is added any more.
 * Calls come from the timer of the moderation, from an interrupt at the CPU of the vector, or from
 * the work item.
 */
static void cq_end_calls(struct pib_cq *cq)
{
	hrtimer_cancel(&cq->mod_timer);
	/* Pairs with atomic_sub_return() in cq_make_calls(). */
	wait_var_event(&cq->due, !atomic_read(&cq->due));
	/* it makes no calls any more, but may not have returned */
	cancel_work_sync(&cq->upcall_work);
}

int pib_pre_destroy_cq(struct ib_cq *ibcq)
{
	cq_end_calls(to_cq(ibcq));
	return 0;
}

int pib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct pib_hca *hca = to_hca(ibcq->device);
	struct pib_cq *cq = to_cq(ibcq);
	struct pib_ring ring;

	pib_object_del(&hca->objects, &cq->obj);
	cancel_work_sync(&cq->err_work);
	cq_end_calls(cq);
	pib_compat_cq_end_polling(ibcq);
	xa_erase(&hca->cqs, cq->cqn);
	/* Kernels without rdma_restrack_begin_del() show the CQ until this has returned. */
	spin_lock_irq(&cq->lock);
	ring = cq->ring;
	cq->ring.hdr = NULL;
	spin_unlock_irq(&cq->lock);
	pib_ring_free(&ring);
	pib_quota_give(&hca->quota, cq->owner, PIB_OBJ_CQ);
	return 0;
}

/* Without the lock new entries may be written over those that are copied: see cq_move(). */
static void cq_copy(struct pib_cq *cq, struct pib_ring *to, u32 from, u32 end)
{
	for (; from != end; from++) {
		const struct pib_cqe *old = pib_ring_slot(&cq->ring, from);

		/* The entry may change meanwhile: see above. */
		*(struct pib_cqe *)pib_ring_slot(to, from) = data_race(*old);
	}
}

/*
 * Move entries from @done on, the indices and the arming to @ring, under the lock. @ring becomes
 * the old ring. @limit: entries that there may be. Return: 0; -EAGAIN: too many have come since
 * @done.
 */
static int cq_exchange(struct pib_cq *cq, struct pib_ring *ring, u32 limit, u32 done)
{
	u32 filled = cq_filled(cq), left = min(filled, cq->ring.index - done);

	lockdep_assert_held(&cq->lock);

	if (filled > cq->ring.entries || filled > limit)
		return -EINVAL;
	if (left > CQ_COPY_MAX && cq->ring.user)
		return -EAGAIN;
	cq_copy(cq, ring, cq->ring.index - left, cq->ring.index);
	ring->index = cq->ring.index;
	ring->hdr->producer = ring->index;
	ring->hdr->consumer = ring->index - filled;
	ring->hdr->arm = READ_ONCE(cq->ring.hdr->arm);
	swap(cq->ring, *ring);
	cq->limit = limit;
	cq->ib.cqe = limit;
	return 0;
}

/* Return: the producer index. */
static u32 cq_index(struct pib_cq *cq)
{
	u32 index;

	spin_lock_irq(&cq->lock);
	index = cq->ring.index;
	spin_unlock_irq(&cq->lock);
	return index;
}

/*
 * Move entries that were not polled to another ring. A process' entries are copied without the lock
 * as far as possible, for there may be a million of them. New entries go behind them. So only a
 * process that polls while it resizes, or lies about what it has polled, finds other entries than
 * were there, in its own queue. Entries of kernel CQs are moved about by pib_cq_clean() and are
 * copied under the lock.
 */
static int cq_move(struct pib_cq *cq, struct pib_ring *ring, u32 limit)
{
	u32 done = READ_ONCE(cq->ring.hdr->consumer), end, tries;
	int err = -EAGAIN;

	lockdep_assert_held(&cq->resize_mutex);

	for (tries = 0; err == -EAGAIN && tries < 16; tries++) {
		end = cq_index(cq);
		if (end - done > min(cq->ring.entries, limit))
			return -EINVAL;
		while (cq->ring.user && done != end) {
			u32 n = min(end - done, CQ_COPY_MAX);

			cq_copy(cq, ring, done, done + n);
			done += n;
			cond_resched();
		}
		spin_lock_irq(&cq->lock);
		err = cq_exchange(cq, ring, limit, done);
		spin_unlock_irq(&cq->lock);
	}
	return err;
}

int pib_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct pib_resize_cq_resp resp = {};
	struct pib_cq *cq = to_cq(ibcq);
	struct pib_ring ring;
	int err;

	if (!cqe || cqe > ibcq->device->attrs.max_cqe)
		return pib_refuse(ibcq->device, -EINVAL, "cq %u: resize_cq: %u entries", cq->cqn,
				  cqe);
	err = pib_udata_check(udata, 0);
	if (err)
		return err;
	err = pib_ring_alloc(&ring, cqe, sizeof(struct pib_cqe), udata, &resp.ring);
	if (err)
		return err;
	if (udata) {
		err = pib_udata_respond(udata, &resp, sizeof(resp));
		if (err)
			goto out;
	}
	mutex_lock(&cq->resize_mutex);
	err = cq_move(cq, &ring, cq_limit(cq, cqe, &ring));
	mutex_unlock(&cq->resize_mutex);
	if (err)
		ibdev_dbg(ibcq->device, "cq %u: resize_cq: more has come than fits %u entries\n",
			  cq->cqn, cqe);
out:
	pib_ring_free(&ring);
	return err;
}

/* Set the moderation. An event that waits already goes on as it was told to. */
int pib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct pib_cq *cq = to_cq(ibcq);

	spin_lock_irq(&cq->lock);
	cq->mod_count = count;
	cq->mod_period = count > 1 ? period : 0;
	spin_unlock_irq(&cq->lock);
	return 0;
}

static void cqe_to_wc(const struct pib_cqe *cqe, struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = (struct ib_qp *)(unsigned long)cqe->user_qp,
		.src_qp = cqe->src_qp,
		.slid = cqe->slid,
		.pkey_index = cqe->pkey_index,
		.sl = cqe->sl,
		.dlid_path_bits = cqe->dlid_path_bits,
		.port_num = cqe->port_num,
	};
	if (cqe->flags & PIB_CQE_GRH)
		wc->wc_flags |= IB_WC_GRH;
	if (cqe->flags & PIB_CQE_IP_CSUM_OK)
		wc->wc_flags |= IB_WC_IP_CSUM_OK;
	if (cqe->flags & PIB_CQE_WITH_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = (__force __be32)cqe->ex;
	} else if (cqe->flags & PIB_CQE_WITH_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->ex;
	}
}

int pib_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct pib_cq *cq = to_cq(ibcq);
	unsigned long flags;
	u32 consumer;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	consumer = cq->ring.hdr->consumer;
	for (i = 0; i < n && consumer != cq->ring.index; i++, consumer++)
		cqe_to_wc(pib_ring_slot(&cq->ring, consumer), &wc[i]);
	WRITE_ONCE(cq->ring.hdr->consumer, consumer);
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

int pib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags how)
{
	u32 want = (how & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ? PIB_CQ_ARM_SOLICITED :
								     PIB_CQ_ARM_ANY;
	struct pib_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int missed;
	u32 *arm;

	spin_lock_irqsave(&cq->lock, flags);
	arm = cq_arm(cq);
	/* The stronger of two requests counts (11.4.2.2). */
	if (READ_ONCE(*arm) < want)
		/*
		 * Pairs with smp_mb() in cq_event_due(). The CQ is armed first. Then the entries
		 * are looked for, by cq_filled() or by a consumer that polls when this has
		 * returned.
		 */
		xchg(arm, want);
	missed = (how & IB_CQ_REPORT_MISSED_EVENTS) && cq_filled(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}
