// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "core/quota.h"
#include "core/mmap.h"
#include "core/refuse.h"

/**
 * struct obj_limit - the number of objects of a kind
 * @name: of the kind
 * @max: of an HCA
 * @share: of a user; 0: half of @max
 */
struct obj_limit {
	const char *name;
	u32 max;
	u32 share;
};

static const struct obj_limit obj_limits[PIB_OBJ_COUNT] = {
	[PIB_OBJ_PD] = { "protection domains", 1 << 20 },
	[PIB_OBJ_XRCD] = { "XRC domains", 1 << 16 },
	[PIB_OBJ_MR] = { "memory regions", 1 << 20 },
	[PIB_OBJ_MW] = { "memory windows", 1 << 20 },
	[PIB_OBJ_AH] = { "address handles", 1 << 20 },
	[PIB_OBJ_CQ] = { "CQs", 1 << 17 },
	[PIB_OBJ_SRQ] = { "SRQs", 1 << 16 },
	[PIB_OBJ_QP] = { "QPs", PIB_QP_MAX },
	/* nobody has more than half of the groups */
	[PIB_OBJ_ATTACH] = { "multicast attachments", PIB_MCAST_GROUPS * PIB_MCAST_QPS,
			     PIB_MCAST_GROUPS / 2 },
	/* each has kernel threads, which may wait for its pages for long after its end */
	[PIB_OBJ_PAGER] = { "pagers", 1 << 10 },
	[PIB_OBJ_ODP] = { "regions paged on demand", 1 << 20 },
	/* 24 bytes of tables for each, of which ib_core charges its 16 to nobody */
	[PIB_OBJ_ODP_PAGES] = { "pages paged on demand", 1 << 24 },
	[PIB_OBJ_DM] = { "pages of device memory", PIB_DM_SIZE >> PAGE_SHIFT },
	[PIB_OBJ_HELD] = { "held bytes", 64 << 20 },
};

u32 pib_quota_max(enum pib_obj obj)
{
	return obj_limits[obj].max;
}

void pib_quota_init(struct pib_quota *q, struct ib_device *ibdev)
{
	q->ibdev = ibdev;
	xa_init_flags(&q->users, XA_FLAGS_LOCK_IRQ);
}

void pib_quota_exit(struct pib_quota *q)
{
	xa_destroy(&q->users);
}

/* Return: the user with the uid of @fresh who is there already, or @fresh; ERR_PTR(). */
static struct pib_user *user_enter(struct pib_quota *q, struct pib_user *fresh)
{
	struct pib_user *user;
	unsigned long flags;
	int err;

	xa_lock_irqsave(&q->users, flags);
	user = xa_load(&q->users, fresh->uid);
	if (user) {
		refcount_inc(&user->ref);
	} else {
		err = xa_err(__xa_store(&q->users, fresh->uid, fresh, GFP_ATOMIC));
		user = err ? ERR_PTR(err) : fresh;
	}
	xa_unlock_irqrestore(&q->users, flags);
	return user;
}

struct pib_user *pib_quota_user(struct pib_quota *q)
{
	struct pib_user *fresh, *user;

	if (capable(CAP_SYS_RESOURCE))
		return NULL;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	refcount_set(&fresh->ref, 1);
	fresh->uid = from_kuid(&init_user_ns, current_euid());
	user = user_enter(q, fresh);
	if (user != fresh)
		kfree(fresh);
	return user;
}

void pib_quota_put(struct pib_quota *q, struct pib_user *user)
{
	unsigned long flags;
	bool last;

	if (!user || refcount_dec_not_one(&user->ref))
		return;

	/* The reference may be the last one: under the lock no other caller finds the user. */
	xa_lock_irqsave(&q->users, flags);
	last = refcount_dec_and_test(&user->ref);
	if (last)
		__xa_erase(&q->users, user->uid);
	xa_unlock_irqrestore(&q->users, flags);
	if (last)
		kfree(user);
}

/* Add @n only if it fits: even if it were taken off at once, others would lack it meanwhile. */
static bool add_below(atomic_t *used, u32 n, u32 max)
{
	int old = atomic_read(used);

	do {
		if (n > max || (u32)old > max - n)
			return false;
	} while (!atomic_try_cmpxchg(used, &old, old + (int)n));
	return true;
}

/* Say that there are not @n more of @obj for @user, NULL: for anybody. Return: -ENOMEM. */
static int quota_refuse(struct pib_quota *q, struct pib_user *user, enum pib_obj obj, u32 n,
			u32 max)
{
	const char *name = obj_limits[obj].name;

	if (obj == PIB_OBJ_HELD)
		return -ENOMEM;
	if (user)
		return pib_refuse(q->ibdev, -ENOMEM, "%u more %s: user %u has %u of %u", n, name,
				  user->uid, atomic_read(&user->used[obj]), max);
	return pib_refuse(q->ibdev, -ENOMEM, "%u more %s: %u of %u are used", n, name,
			  atomic_read(&q->used[obj]), max);
}

int pib_quota_charge(struct pib_quota *q, struct pib_user *user, enum pib_obj obj, u32 n)
{
	u32 max = obj_limits[obj].max, share = obj_limits[obj].share ?: max / 2;

	/* His share comes first: others must not lack, even briefly, what he may not have. */
	if (user && !add_below(&user->used[obj], n, share))
		return quota_refuse(q, user, obj, n, share);
	if (user)
		max -= pib_quota_reserve(max);
	if (add_below(&q->used[obj], n, max))
		return 0;
	if (user)
		atomic_sub(n, &user->used[obj]);
	return quota_refuse(q, NULL, obj, n, max);
}

void pib_quota_uncharge(struct pib_quota *q, struct pib_user *user, enum pib_obj obj, u32 n)
{
	atomic_sub(n, &q->used[obj]);
	if (user)
		atomic_sub(n, &user->used[obj]);
}

int pib_quota_take(struct pib_quota *q, struct pib_user *user, enum pib_obj obj)
{
	int err = pib_quota_charge(q, user, obj, 1);

	if (!err && user)
		refcount_inc(&user->ref);
	return err;
}

void pib_quota_give(struct pib_quota *q, struct pib_user *user, enum pib_obj obj)
{
	pib_quota_uncharge(q, user, obj, 1);
	pib_quota_put(q, user);
}

struct pib_user *pib_quota_owner(struct ib_udata *udata)
{
	return udata ? rdma_udata_to_drv_context(udata, struct pib_ucontext, ib)->user : NULL;
}
