/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The number of objects that an HCA has, or of pages and bytes of what is no object, and their
 * holders. One user has half of each at most. All users together leave a sixteenth to the kernel
 * and to processes with CAP_SYS_RESOURCE. Memory is another matter: it is charged to the cgroup of
 * the process that asks for it. Rings are charged to that process's RLIMIT_MEMLOCK as well.
 */
#ifndef PIB_CORE_QUOTA_H
#define PIB_CORE_QUOTA_H

#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct ib_device;
struct ib_udata;

/* Limits of an HCA that others go by, too; all of them: pib_quota_max(). */
#define PIB_QP_MAX		(1 << 16)
#define PIB_MCAST_GROUPS	8192
#define PIB_MCAST_QPS		128		/* of a group */
#define PIB_DM_SIZE		(16 << 20)	/* device memory, bytes */

enum pib_obj {
	PIB_OBJ_PD,
	PIB_OBJ_XRCD,
	PIB_OBJ_MR,
	PIB_OBJ_MW,
	PIB_OBJ_AH,
	PIB_OBJ_CQ,
	PIB_OBJ_SRQ,
	PIB_OBJ_QP,
	PIB_OBJ_ATTACH,		/* QPs in multicast groups */
	PIB_OBJ_PAGER,		/* processes with memory that is paged in on demand */
	PIB_OBJ_ODP,		/* memory paged in on demand, which may outlive its region */
	PIB_OBJ_ODP_PAGES,	/* pages that such memory has tables for, mapped or not */
	PIB_OBJ_DM,		/* device memory, pages */
	PIB_OBJ_HELD,		/* datagrams that wait for a receiver's page, bytes (hold.c) */
	PIB_OBJ_COUNT
};

/**
 * struct pib_user - a user of an HCA
 * @ref: contexts, and objects, which may survive them
 * @uid: its number in the first user namespace; never changes
 * @used: his objects
 */
struct pib_user {
	refcount_t ref;
	u32 uid;
	atomic_t used[PIB_OBJ_COUNT];
};

/**
 * struct pib_quota - the objects of an HCA
 * @ibdev: the HCA, by whose name the log says what there is not enough of; never changes
 * @used: everybody's objects
 * @users: uid -> struct pib_user; lock taken with interrupts off
 */
struct pib_quota {
	struct ib_device *ibdev;
	atomic_t used[PIB_OBJ_COUNT];
	struct xarray users;
};

/* Return: the part of @max that all users together leave. Context: any. */
static inline u32 pib_quota_reserve(u32 max)
{
	return max / 16;
}

/* Set up, before the first object is counted. Context: any. */
void pib_quota_init(struct pib_quota *q, struct ib_device *ibdev);
/* Undo pib_quota_init(), when no user is left. Context: any. */
void pib_quota_exit(struct pib_quota *q);

/* Return: the number of @obj that a device has; pib_query_device() advertises it. Context: any. */
u32 pib_quota_max(enum pib_obj obj);

/**
 * pib_quota_user() - the caller as a user
 * @q: quota of the HCA
 *
 * Context: process; may sleep.
 * Return: the user with a reference, which pib_quota_put() drops; NULL: the caller has
 *	CAP_SYS_RESOURCE and needs no limits; ERR_PTR().
 */
struct pib_user *pib_quota_user(struct pib_quota *q);
/* Drop a reference. @user may be NULL. Context: any. */
void pib_quota_put(struct pib_quota *q, struct pib_user *user);

/**
 * pib_quota_take() - count an object that is made
 * @q: quota of the HCA
 * @user: its owner, NULL: the kernel; stays there until the object is given back
 * @obj: kind of object
 *
 * Context: any.
 * Return: 0; -ENOMEM: there are no more of them, or no more for this user.
 */
int pib_quota_take(struct pib_quota *q, struct pib_user *user, enum pib_obj obj);
/* Undo pib_quota_take(): the object is gone. Context: any. */
void pib_quota_give(struct pib_quota *q, struct pib_user *user, enum pib_obj obj);

/**
 * pib_quota_charge() - count @n units that are taken
 * @q: quota of the HCA
 * @user: as for pib_quota_take(), but no reference is taken: an object of the user's keeps him
 *	until the charge is given back
 * @obj: what is taken
 * @n: units of @obj, not more than there are of it
 *
 * Context: any.
 * Return: 0; -ENOMEM: there is not so much of it, or not for this user, which is said by dynamic
 *	debug; but not of PIB_OBJ_HELD, since that is on the data path, where counters say it.
 */
int pib_quota_charge(struct pib_quota *q, struct pib_user *user, enum pib_obj obj, u32 n);
/* Give @n units back. Context: any. */
void pib_quota_uncharge(struct pib_quota *q, struct pib_user *user, enum pib_obj obj, u32 n);

/*
 * Return: the owner of the objects that a command makes; NULL: the kernel, or somebody without
 * limits. Context: process.
 */
struct pib_user *pib_quota_owner(struct ib_udata *udata);

#endif
