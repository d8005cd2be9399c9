/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of a kernel as kernel/core/quota.c calls, for threads of user space. The compiler
 * includes it before that file, whose own includes of the kernel find empty headers (../Makefile).
 */
#ifndef QUOTA_KERNEL_H
#define QUOTA_KERNEL_H

#include <errno.h>
#include <stdlib.h>
#include "../../../kernel/proto/env.h"

#define PAGE_SHIFT 12
#define IS_ERR(p) ((unsigned long)(p) >= -4095UL)
#define PTR_ERR(p) ((long)(p))
#define ERR_PTR(err) ((void *)(long)(err))

/* ---- counters ---- */

typedef struct {
	int v;
} atomic_t;

typedef struct {
	int v;
} refcount_t;

#define atomic_read(a) __atomic_load_n(&(a)->v, __ATOMIC_RELAXED)
#define atomic_sub(n, a) ((void)__atomic_sub_fetch(&(a)->v, (int)(n), __ATOMIC_SEQ_CST))
#define atomic_try_cmpxchg(a, old, new) \
	__atomic_compare_exchange_n(&(a)->v, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define refcount_set(r, n) __atomic_store_n(&(r)->v, n, __ATOMIC_SEQ_CST)
#define refcount_inc(r) ((void)__atomic_add_fetch(&(r)->v, 1, __ATOMIC_SEQ_CST))
#define refcount_dec_and_test(r) (!__atomic_sub_fetch(&(r)->v, 1, __ATOMIC_SEQ_CST))

static inline bool refcount_dec_not_one(refcount_t *r)
{
	int old = __atomic_load_n(&r->v, __ATOMIC_SEQ_CST);

	do {
		if (old == 1)
			return false;
	} while (!__atomic_compare_exchange_n(&r->v, &old, old - 1, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return true;
}

/* ---- users by their numbers ---- */

struct xarray {
	struct quota_table *table;
};

#define XA_FLAGS_LOCK_IRQ 0

void xa_init_flags(struct xarray *xa, int flags);
void xa_destroy(struct xarray *xa);
void quota_lock(struct xarray *xa);
void quota_unlock(struct xarray *xa);
void *xa_load(struct xarray *xa, u32 id);
void *__xa_store(struct xarray *xa, u32 id, void *entry, int gfp);
void __xa_erase(struct xarray *xa, u32 id);

#define xa_err(p) (IS_ERR(p) ? (int)PTR_ERR(p) : 0)
#define xa_lock_irqsave(xa, flags) ((void)((flags) = 0), quota_lock(xa))
#define xa_unlock_irqrestore(xa, flags) ((void)(flags), quota_unlock(xa))

/* ---- who asks, and for what ---- */

#define CAP_SYS_RESOURCE 24
#define GFP_ATOMIC 0
#define GFP_KERNEL_ACCOUNT 0

/* The process that calls, and whether the next allocations fail. */
struct quota_caller {
	u32 uid;
	bool privileged;
	bool no_memory;
	bool no_room; /* in the table */
};

extern struct quota_caller quota_caller;

#define capable(cap) (quota_caller.privileged)
#define current_euid() (quota_caller.uid)
#define from_kuid(ns, uid) (uid)
#define kzalloc(n, gfp) (quota_caller.no_memory ? NULL : calloc(1, n))
#define kfree(p) free(p)

struct ib_device;

struct ib_udata {
	struct pib_ucontext *context;
};

struct pib_ucontext {
	struct pib_user *user;
};

#define rdma_udata_to_drv_context(udata, type, member) ((udata)->context)

/* ---- in place of headers of pib that need more of the kernel ---- */

#define PIB_CORE_MMAP_H
#define PIB_CORE_REFUSE_H

/* Keeps the reason, which the log would tell. */
void quota_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define pib_refuse(ibdev, err, ...) (quota_say(__VA_ARGS__), (err))

#endif
