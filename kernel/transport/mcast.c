// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/jhash.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "hca/hca.h"
#include "transport/mcast.h"
#include "transport/qp.h"
#include "core/refuse.h"

#define MCAST_HASH_BITS	10

/**
 * struct mcast_member - a QP attached to a group; freed after a grace period
 * @entry: in mcast_group.members
 * @of_qp: in pib_qp.mcast
 * @rcu: see above
 * @group: its group
 * @qp: attached; referenced until @rcu's grace period is over
 * @obj: in pib_hca.objects
 */
struct mcast_member {
	struct hlist_node entry;
	struct hlist_node of_qp;
	struct rcu_head rcu;
	struct mcast_group *group;
	struct pib_qp *qp;
	struct pib_object obj;
};

/**
 * struct mcast_group - a group with members; freed after a grace period
 * @entry: in pib_mcast.groups
 * @rcu: see above
 * @mgid: the group's GID
 * @mlid: the group's LID
 * @count: members
 * @members: list of struct mcast_member
 */
struct mcast_group {
	struct hlist_node entry;
	struct rcu_head rcu;
	u8 mgid[16];
	u16 mlid;
	u32 count;
	struct hlist_head members;
};

/**
 * struct pib_mcast - the groups of an HCA
 * @lock: guards changes; readers use RCU; all users take it, so nothing is allocated under it
 * @count: groups
 * @seed: seed of the hash, so that nobody can put all groups into one bucket; never changes
 * @groups: by GID and LID
 */
struct pib_mcast {
	struct mutex lock;
	u32 count;
	u32 seed;
	struct hlist_head groups[1 << MCAST_HASH_BITS];
};

/**
 * struct mcast_spare - what attaching may need; allocated before the lock is taken
 * @group: NULL once it is used
 * @member: as @group
 */
struct mcast_spare {
	struct mcast_group *group;
	struct mcast_member *member;
};

int pib_mcast_init(struct pib_hca *hca)
{
	hca->mcast = kzalloc(sizeof(*hca->mcast), GFP_KERNEL);
	if (!hca->mcast)
		return -ENOMEM;
	mutex_init(&hca->mcast->lock);
	hca->mcast->seed = get_random_u32();
	return 0;
}

void pib_mcast_exit(struct pib_hca *hca)
{
	kfree(hca->mcast);
	hca->mcast = NULL;
}

void pib_mcast_show(const struct pib_object *o, struct pib_attachment *a)
{
	const struct mcast_member *m = container_of(o, struct mcast_member, obj);

	a->qpn = m->qp->qpn;
	a->mlid = m->group->mlid;
	memcpy(a->mgid, m->group->mgid, sizeof(a->mgid));
}

static struct hlist_head *group_bucket(struct pib_mcast *mc, const u8 *mgid, u16 mlid)
{
	u32 hash = jhash(mgid, 16, mc->seed ^ mlid);

	return &mc->groups[hash & (ARRAY_SIZE(mc->groups) - 1)];
}

void pib_mcast_deliver(struct pib_hca *hca, const struct pib_hdrs *h,
		       void (*fn)(struct pib_qp *qp, void *arg), void *arg)
{
	struct mcast_member *m;
	struct mcast_group *g;

	hlist_for_each_entry_rcu(g, group_bucket(hca->mcast, h->dgid, h->dlid), entry) {
		if (g->mlid != h->dlid || memcmp(g->mgid, h->dgid, sizeof(g->mgid)))
			continue;
		hlist_for_each_entry_rcu(m, &g->members, entry)
			fn(m->qp, arg);
	}
}

static struct mcast_group *group_find(struct pib_mcast *mc, const u8 *mgid, u16 mlid)
{
	struct mcast_group *g;

	lockdep_assert_held(&mc->lock);

	hlist_for_each_entry(g, group_bucket(mc, mgid, mlid), entry)
		if (g->mlid == mlid && !memcmp(g->mgid, mgid, sizeof(g->mgid)))
			return g;
	return NULL;
}

/*
 * Return: the part of @max that the QP's owner may use. Users leave some places for the kernel, so
 * that IPoIB finds one.
 */
static u32 user_max(const struct pib_qp *qp, u32 max)
{
	return qp->init.owner ? max - pib_quota_reserve(max) : max;
}

static struct mcast_group *group_get(struct pib_mcast *mc, const struct pib_qp *qp,
				     const u8 *mgid, u16 mlid, struct mcast_spare *spare)
{
	struct mcast_group *g = group_find(mc, mgid, mlid);

	if (g)
		return g;
	if (mc->count >= user_max(qp, PIB_MCAST_GROUPS))
		return ERR_PTR(pib_refuse(&qp->hca->ib, -ENOSPC,
					  "qp %u: attach_mcast: %u groups are all", qp->qpn,
					  mc->count));
	g = spare->group;
	spare->group = NULL;
	memcpy(g->mgid, mgid, sizeof(g->mgid));
	g->mlid = mlid;
	hlist_add_head_rcu(&g->entry, group_bucket(mc, mgid, mlid));
	mc->count++;
	return g;
}

static void group_put(struct pib_mcast *mc, struct mcast_group *g)
{
	lockdep_assert_held(&mc->lock);

	if (g->count)
		return;
	hlist_del_rcu(&g->entry);
	mc->count--;
	kfree_rcu(g, rcu);
}

static struct mcast_member *member_find(struct mcast_group *g, const struct pib_qp *qp)
{
	struct mcast_member *m;

	hlist_for_each_entry(m, &g->members, entry)
		if (m->qp == qp)
			return m;
	return NULL;
}

static int member_add(struct mcast_group *g, struct pib_qp *qp, struct mcast_spare *spare)
{
	struct mcast_member *m;
	int err;

	/* 11.3.1: attaching again changes nothing */
	if (member_find(g, qp))
		return 0;
	if (g->count >= user_max(qp, PIB_MCAST_QPS))
		return pib_refuse(&qp->hca->ib, -ENOSPC,
				  "qp %u: attach_mcast: %u QPs have group %#x", qp->qpn, g->count,
				  g->mlid);
	err = pib_quota_take(&qp->hca->quota, qp->init.owner, PIB_OBJ_ATTACH);
	if (err)
		return err;
	m = spare->member;
	spare->member = NULL;
	pib_qp_get(qp);
	m->qp = qp;
	m->group = g;
	hlist_add_head(&m->of_qp, &qp->entries.mcast);
	hlist_add_head_rcu(&m->entry, &g->members);
	g->count++;
	pib_object_add(&qp->hca->objects, &m->obj, PIB_OBJECT_KIND_ATTACHMENT,
		       qp->entries.obj.parent, qp->is_user ? NULL : qp->entries.obj.owner);
	return 0;
}

static void member_free(struct rcu_head *rcu)
{
	struct mcast_member *m = container_of(rcu, struct mcast_member, rcu);

	pib_qp_put(m->qp);
	kfree(m);
}

static void member_del(struct pib_mcast *mc, struct mcast_member *m)
{
	struct mcast_group *g = m->group;
	struct pib_qp *qp = m->qp;

	pib_object_del(&qp->hca->objects, &m->obj);
	hlist_del_rcu(&m->entry);
	hlist_del(&m->of_qp);
	pib_quota_give(&qp->hca->quota, qp->init.owner, PIB_OBJ_ATTACH);
	call_rcu(&m->rcu, member_free);
	g->count--;
	group_put(mc, g);
}

static int group_attach(struct pib_mcast *mc, struct pib_qp *qp, const u8 *mgid, u16 mlid,
			struct mcast_spare *spare)
{
	struct mcast_group *g;
	int err;

	lockdep_assert_held(&mc->lock);

	g = group_get(mc, qp, mgid, mlid, spare);
	if (IS_ERR(g))
		return PTR_ERR(g);
	err = member_add(g, qp, spare);
	group_put(mc, g);
	return err;
}

int pib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct pib_mcast *mc = to_hca(ibqp->device)->mcast;
	struct mcast_spare spare = {
		.group = kzalloc(sizeof(*spare.group), GFP_KERNEL_ACCOUNT),
		.member = kzalloc(sizeof(*spare.member), GFP_KERNEL_ACCOUNT),
	};
	int err = -ENOMEM;

	if (spare.group && spare.member) {
		mutex_lock(&mc->lock);
		err = group_attach(mc, to_qp(ibqp), gid->raw, lid, &spare);
		mutex_unlock(&mc->lock);
	}
	kfree(spare.group);
	kfree(spare.member);
	return err;
}

int pib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct pib_mcast *mc = to_hca(ibqp->device)->mcast;
	struct mcast_member *m = NULL;
	struct mcast_group *g;

	mutex_lock(&mc->lock);
	g = group_find(mc, gid->raw, lid);
	if (g)
		m = member_find(g, to_qp(ibqp));
	if (m)
		member_del(mc, m);
	mutex_unlock(&mc->lock);
	if (!m)
		return pib_refuse(ibqp->device, -EINVAL,
				  "qp %u: detach_mcast: not attached to group %pI6c, LID %#x",
				  ibqp->qp_num, gid->raw, lid);
	return 0;
}

void pib_mcast_detach_all(struct pib_hca *hca, struct pib_qp *qp)
{
	struct pib_mcast *mc = hca->mcast;
	struct mcast_member *m;
	struct hlist_node *n;

	/* ib_core attaches nothing to a QP that is being destroyed */
	if (hlist_empty(&qp->entries.mcast))
		return;
	mutex_lock(&mc->lock);
	hlist_for_each_entry_safe(m, n, &qp->entries.mcast, of_qp)
		member_del(mc, m);
	mutex_unlock(&mc->lock);
}
