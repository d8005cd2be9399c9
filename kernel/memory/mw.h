/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory windows: a part of a region under a key of its own (10.6.7). */
#ifndef PIB_MEMORY_MW_H
#define PIB_MEMORY_MW_H

#include <rdma/ib_verbs.h>
#include "memory/access.h"
#include "memory/mr.h"

/**
 * struct pib_window - the object that a window's key leads to; freed after a grace period
 * @k: key and protection domain
 * @rcu: see above
 * @type: enum ib_mw_type; never changes
 * @lock: softirqs off; guards what follows
 * @users: spans reached by the window; grows under @lock only
 * @closing: the window is about to be unbound and takes no new users; also read without the lock,
 *	by pib_span_is_wanted()
 * @dead: the window is being deallocated, and is bound no more
 * @mr: region that the window is bound to and counted in (@windows); NULL: not bound
 * @qpn: type 2: the QP that bound it
 * @access: enum ib_access_flags
 * @first: first address of the window in the window's own numbering
 * @iova: the same byte in the region's numbering
 * @length: bytes
 */
struct pib_window {
	struct pib_key k;
	struct rcu_head rcu;
	u8 type;
	spinlock_t lock;
	atomic_t users;
	bool closing;
	bool dead;
	struct pib_mr *mr;
	u32 qpn;
	int access;
	u64 first;
	u64 iova;
	u64 length;
};

/**
 * struct pib_mw - a memory window
 * @ib: ib_core's
 * @win: the object that is found by the key
 * @obj: in pib_pd.objects
 */
struct pib_mw {
	struct ib_mw ib;
	struct pib_window *win;
	struct pib_object obj;
};

static inline struct pib_mw *to_mw(struct ib_mw *ib)
{
	return container_of(ib, struct pib_mw, ib);
}

/**
 * struct pib_mw_bind_args - operands of BIND_MW
 * @mw_rkey: the window's present key
 * @new_rkey: its key afterwards
 * @mr_lkey: region
 * @access: enum ib_access_flags
 * @addr: first byte, in the region's numbering
 * @length: bytes; 0: unbind
 */
struct pib_mw_bind_args {
	u32 mw_rkey;
	u32 new_rkey;
	u32 mr_lkey;
	u32 access;
	u64 addr;
	u64 length;
};

/**
 * pib_mw_bind() - execute BIND_MW
 * @ctx: the QP
 * @args: operands
 *
 * Context: softirqs off.
 * Return: 0; -EINVAL: the work request completes MW_BIND_ERR; -EAGAIN: the old binding is still in
 *	use. The caller then tries again, or calls pib_mw_bind_cancel().
 */
int pib_mw_bind(struct pib_mem_ctx ctx, const struct pib_mw_bind_args *args);
/**
 * pib_mw_bind_cancel() - give up a bind that was deferred by -EAGAIN
 * @ctx: the QP
 * @args: operands
 *
 * The old binding goes on.
 *
 * Context: softirqs off.
 */
void pib_mw_bind_cancel(struct pib_mem_ctx ctx, const struct pib_mw_bind_args *args);
/**
 * pib_window_invalidate() - invalidate a type 2 window
 * @ctx: the QP
 * @win: the window
 * @key: its key
 *
 * Context: process or softirq, under rcu_read_lock().
 * Return: as pib_mem_invalidate().
 */
int pib_window_invalidate(struct pib_mem_ctx ctx, struct pib_window *win, u32 key);
/**
 * pib_window_get() - take a reference on a window's region, and a use of the window
 * @ctx: QP for which the key is checked
 * @win: the window
 * @key: R_Key of the request
 * @addr: first byte, in the window's numbering
 * @len: bytes
 * @access: enum ib_access_flags
 * @span: result, for pib_mem_put()
 *
 * Context: process or softirq, under rcu_read_lock().
 * Return: 0; -EINVAL; -EACCES; -ERANGE.
 */
int pib_window_get(struct pib_mem_ctx ctx, struct pib_window *win, u32 key, u64 addr, u32 len,
		   int access, struct pib_span *span);
/**
 * pib_window_check_key() - check a window for a request without a range
 * @ctx: QP for which the key is checked
 * @win: the window
 * @key: R_Key of the request
 * @access: enum ib_access_flags
 *
 * Neither reference nor use is taken.
 *
 * Context: process or softirq, under rcu_read_lock().
 * Return: 0; -EINVAL; -EACCES.
 */
int pib_window_check_key(struct pib_mem_ctx ctx, struct pib_window *win, u32 key, int access);
/**
 * pib_window_put() - end a use of a window
 * @win: the window
 *
 * Context: any.
 */
void pib_window_put(struct pib_window *win);

/* ib_device_ops. Context: process. Return: 0 or -errno. */
int pib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int pib_dealloc_mw(struct ib_mw *ibmw);

#endif
