// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows.
 *
 * A window that is bound keeps its region registered (deregistration is
 * refused meanwhile, 11.2.8.5), so that pointing at it needs no reference.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "memory/access.h"
#include "memory/mw.h"
#include "memory/pd.h"
#include "core/mmap.h"
#include "core/quota.h"
#include "core/refuse.h"

#define WINDOW_ACCESS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED)
#define NEEDS_LOCAL_WRITE	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

static bool is_type2(const struct pib_window *win)
{
	return win->type == IB_MW_TYPE_2;
}

static void window_unbind(struct pib_window *win)
{
	lockdep_assert_held(&win->lock);

	if (!win->mr)
		return;
	atomic_dec(&win->mr->windows);
	win->mr = NULL;
	WRITE_ONCE(win->closing, false);
}

/* Let the window have no new users from now on. Return: true if none is left. */
static bool window_close(struct pib_window *win)
{
	lockdep_assert_held(&win->lock);

	WRITE_ONCE(win->closing, true);
	return !atomic_read(&win->users);
}

/* Return: true if @win can be bound to the region (10.6.7.2). */
static bool mr_suits(const struct pib_mr *mr, const struct pib_window *win,
		     const struct pib_mw_bind_args *a)
{
	/* Pairs with the release in pib_mr_reg() and pib_mr_publish(). */
	if (!smp_load_acquire(&mr->valid) || mr->k.key != a->mr_lkey || mr->k.pd != win->k.pd)
		return false;
	if (!(mr->access & IB_ACCESS_MW_BIND))
		return false;
	/* A window's range is one of virtual addresses, and a zero-based region has none. */
	if (mr->access & IB_ZERO_BASED)
		return false;
	if ((a->access & NEEDS_LOCAL_WRITE) && !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	/* The rest of the range is checked when it is accessed, as hardware does. */
	return a->addr >= mr->map.iova && a->addr - mr->map.iova < mr->map.length;
}

/* Return: the region with a reference and with the binding counted; NULL: it cannot be bound to. */
static struct pib_mr *mr_bind(const struct pib_window *win, const struct pib_mw_bind_args *a)
{
	struct pib_key *k = pib_key_find(win->k.pd->keys, a->mr_lkey);
	struct pib_mr *mr;

	if (!k || k->kind != PIB_KEY_MR)
		return NULL;
	mr = container_of(k, struct pib_mr, k);
	if (!refcount_inc_not_zero(&mr->ref))
		return NULL;
	/* Pairs with smp_wmb() in mr_resume(), as in mr_get(). */
	smp_mb__after_atomic();
	if (!mr_suits(mr, win, a)) {
		pib_mr_put(mr);
		return NULL;
	}
	/* while the reference is held: deregistration waits for it, then looks */
	atomic_inc(&mr->windows);
	return mr;
}

static int window_bind(struct pib_mem_ctx ctx, struct pib_window *win,
		       const struct pib_mw_bind_args *a)
{
	struct pib_mr *mr = NULL;

	lockdep_assert_held(&win->lock);

	if (win->dead || win->k.key != a->mw_rkey || win->k.pd != ctx.pd)
		return -EINVAL;
	/* type 2: from the free state only */
	if (is_type2(win) && (win->mr || !a->length))
		return -EINVAL;
	if (win->mr && !window_close(win))
		return -EAGAIN;
	if (a->length) {
		mr = mr_bind(win, a);
		if (!mr) {
			WRITE_ONCE(win->closing, false);
			return -EINVAL;
		}
	}

	window_unbind(win);
	win->mr = mr;
	win->qpn = ctx.qpn;
	win->access = a->access & WINDOW_ACCESS;
	win->iova = a->addr;
	win->first = a->access & IB_ZERO_BASED ? 0 : a->addr;
	win->length = a->length;
	/* the index is not the consumer's to choose (10.6.3.3) */
	win->k.key = (a->mw_rkey & ~0xFF) | (a->new_rkey & 0xFF);
	if (mr)
		pib_mr_put(mr);
	return 0;
}

int pib_mw_bind(struct pib_mem_ctx ctx, const struct pib_mw_bind_args *a)
{
	struct pib_window *win;
	struct pib_key *k;
	int err = -EINVAL;

	rcu_read_lock();
	k = pib_key_find(ctx.pd->keys, a->mw_rkey);
	if (k && k->kind == PIB_KEY_MW) {
		win = container_of(k, struct pib_window, k);
		spin_lock_bh(&win->lock);
		err = window_bind(ctx, win, a);
		spin_unlock_bh(&win->lock);
	}
	rcu_read_unlock();
	return err;
}

void pib_mw_bind_cancel(struct pib_mem_ctx ctx, const struct pib_mw_bind_args *a)
{
	struct pib_window *win;
	struct pib_key *k;

	rcu_read_lock();
	k = pib_key_find(ctx.pd->keys, a->mw_rkey);
	if (k && k->kind == PIB_KEY_MW) {
		win = container_of(k, struct pib_window, k);
		spin_lock_bh(&win->lock);
		WRITE_ONCE(win->closing, win->dead);
		spin_unlock_bh(&win->lock);
	}
	rcu_read_unlock();
}

static bool window_admits(struct pib_mem_ctx ctx, const struct pib_window *win, u32 key)
{
	return win->mr && win->k.key == key && win->k.pd == ctx.pd &&
	       (!is_type2(win) || win->qpn == ctx.qpn);
}

int pib_window_invalidate(struct pib_mem_ctx ctx, struct pib_window *win, u32 key)
{
	int err = -EINVAL;

	spin_lock_bh(&win->lock);
	if (is_type2(win) && window_admits(ctx, win, key))
		err = window_close(win) ? 0 : -EAGAIN;
	if (!err)
		window_unbind(win);
	spin_unlock_bh(&win->lock);
	return err;
}

static bool range_covers(u64 first, u64 length, u64 addr, u32 len)
{
	return addr >= first && len <= length && addr - first <= length - len;
}

/* Check that window and region allow @access. Return: 0; -EACCES; -EINVAL. */
static int window_check_access(const struct pib_window *win, int access)
{
	if (access & ~win->access)
		return -EACCES;
	/* This is a second line of defence: nothing of it changes while a window is bound. */
	if (win->mr->k.pd != win->k.pd)
		return -EINVAL;
	if (access & NEEDS_LOCAL_WRITE && !(win->mr->access & IB_ACCESS_LOCAL_WRITE))
		return -EACCES;
	return 0;
}

/* Check that window and region allow @access, and that both hold the range. */
static int window_check(const struct pib_window *win, u64 addr, u32 len, int access)
{
	const struct pib_mr_map *map = &win->mr->map;
	int err = window_check_access(win, access);

	if (err)
		return err;
	/* A window of any length can be bound: its far end may lie beyond that of the addresses. */
	if (!range_covers(win->first, win->length, addr, len) ||
	    addr - win->first > U64_MAX - win->iova ||
	    !range_covers(map->iova, map->length, win->iova + (addr - win->first), len))
		return -ERANGE;
	return 0;
}

int pib_window_get(struct pib_mem_ctx ctx, struct pib_window *win, u32 key, u64 addr, u32 len,
		   int access, struct pib_span *span)
{
	int err = -EINVAL;

	spin_lock_bh(&win->lock);
	if (window_admits(ctx, win, key) && !win->closing)
		err = window_check(win, addr, len, access);
	if (!err && !refcount_inc_not_zero(&win->mr->ref))
		err = -EINVAL;
	if (!err) {
		atomic_inc(&win->users);
		*span = (struct pib_span) {
			.mr = win->mr,
			.win = win,
			.addr = win->iova + (addr - win->first),
			.len = len,
		};
	}
	spin_unlock_bh(&win->lock);
	return err;
}

int pib_window_check_key(struct pib_mem_ctx ctx, struct pib_window *win, u32 key, int access)
{
	int err = -EINVAL;

	spin_lock_bh(&win->lock);
	if (window_admits(ctx, win, key) && !win->closing)
		err = window_check_access(win, access);
	spin_unlock_bh(&win->lock);
	return err;
}

void pib_window_put(struct pib_window *win)
{
	/* The window may go when its last user does. */
	rcu_read_lock();
	/*
	 * Pairs with wait_var_event() in pib_dealloc_mw(), which looks at @users after it has set
	 * @dead.
	 */
	if (atomic_dec_and_test(&win->users) && READ_ONCE(win->dead))
		wake_up_var(&win->users);
	rcu_read_unlock();
}

int pib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct pib_pd *pd = to_pd(ibmw->pd);
	struct pib_window *win;
	int err;

	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return pib_refuse(ibmw->device, -EINVAL, "alloc_mw: type %d", ibmw->type);
	err = pib_udata_check(udata, 0);
	if (err)
		return err;
	err = pib_quota_take(pd->quota, pd->owner, PIB_OBJ_MW);
	if (err)
		return err;
	win = kzalloc(sizeof(*win), GFP_KERNEL_ACCOUNT);
	err = -ENOMEM;
	if (!win)
		goto err_give;
	win->k.kind = PIB_KEY_MW;
	win->k.pd = pd;
	win->type = ibmw->type;
	spin_lock_init(&win->lock);

	err = pib_key_reserve(pd->keys, &win->k);
	if (err)
		goto err_free;
	ibmw->rkey = win->k.key;
	to_mw(ibmw)->win = win;
	pib_key_publish(pd->keys, &win->k);
	pib_object_add(pd->objects, &to_mw(ibmw)->obj, PIB_OBJECT_KIND_MW, pd->obj.id,
		       pib_pd_kernel(pd));
	return 0;

err_free:
	kfree(win);
err_give:
	pib_quota_give(pd->quota, pd->owner, PIB_OBJ_MW);
	return err;
}

int pib_dealloc_mw(struct ib_mw *ibmw)
{
	struct pib_window *win = to_mw(ibmw)->win;
	struct pib_pd *pd = to_pd(ibmw->pd);

	pib_object_del(pd->objects, &to_mw(ibmw)->obj);
	pib_key_release(pd->keys, &win->k);
	spin_lock_bh(&win->lock);
	WRITE_ONCE(win->dead, true);
	WRITE_ONCE(win->closing, true);
	spin_unlock_bh(&win->lock);

	while (!wait_var_event_timeout(&win->users, !atomic_read(&win->users),
				       msecs_to_jiffies(PIB_MEM_ASK_MSEC)))
		pib_mem_ask_back();
	spin_lock_bh(&win->lock);
	window_unbind(win);
	spin_unlock_bh(&win->lock);
	kfree_rcu(win, rcu);
	pib_quota_give(pd->quota, pd->owner, PIB_OBJ_MW);
	return 0;
}
