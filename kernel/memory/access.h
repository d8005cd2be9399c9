/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Registered memory as the data path sees it: keys become spans, spans are copied. */
#ifndef PIB_MEMORY_ACCESS_H
#define PIB_MEMORY_ACCESS_H

#include <linux/types.h>
#include "memory/odp.h"

struct completion;
struct pib_pd;
struct pib_mr;
struct pib_window;

/**
 * struct pib_mem_ctx - the queue pair for which a key is checked
 * @pd: protection domain that the key must be of; not NULL
 * @qpn: its number: a window of type 2 is of the QP that has bound it
 */
struct pib_mem_ctx {
	struct pib_pd *pd;
	u32 qpn;
};

/**
 * struct pib_span - a piece of registered memory, access checked
 * @mr: region, of which a reference is held; NULL: memory of the kernel's own (local_dma_lkey), or
 *	no bytes
 * @win: window by which @mr was reached, of which a use is held; NULL: none
 * @addr: address in the MR's own numbering (iova)
 * @len: bytes
 */
struct pib_span {
	struct pib_mr *mr;
	struct pib_window *win;
	u64 addr;
	u32 len;
};

/**
 * pib_mem_get_local() - check an L_Key and take a reference
 * @pd: protection domain that the key must be of
 * @lkey: key; the local_dma_lkey of kernel QPs is understood, @addr is then a kernel address
 * @addr: first byte, in the region's numbering
 * @len: bytes; 0: nothing is checked (10.6.3.2)
 * @access: IB_ACCESS_LOCAL_WRITE if the memory will be written to, else 0
 * @span: result, for pib_mem_put()
 *
 * Context: process or softirq; any lock may be held.
 * Return: 0; -EINVAL: there is no such key in @pd; -EACCES; -ERANGE.
 */
int pib_mem_get_local(struct pib_pd *pd, u32 lkey, u64 addr, u32 len, int access,
		      struct pib_span *span);
/**
 * pib_mem_get_remote() - check an R_Key and take a reference
 * @ctx: QP for which the key is checked, also against the QP of a type 2 window
 * @rkey: key of a region or of a window
 * @addr: first byte, in the numbering of the region or window
 * @len: bytes; 0: nothing is checked (C9-88)
 * @access: enum ib_access_flags
 * @span: result, for pib_mem_put()
 *
 * Context: process or softirq.
 * Return: 0; -EINVAL: there is no such key for @ctx; -EACCES; -ERANGE.
 */
int pib_mem_get_remote(struct pib_mem_ctx ctx, u32 rkey, u64 addr, u32 len, int access,
		       struct pib_span *span);
/**
 * pib_mem_check_remote() - check an R_Key for a request without a range
 * @ctx: QP for which the key is checked
 * @rkey: key of a region or of a window
 * @access: enum ib_access_flags
 *
 * No reference is kept.
 *
 * Context: process or softirq.
 * Return: 0; -EINVAL: there is no such key for @ctx; -EACCES: it does not allow @access.
 */
int pib_mem_check_remote(struct pib_mem_ctx ctx, u32 rkey, int access);
/**
 * pib_mem_put() - drop the references of a span
 * @span: the span; holds none afterwards
 *
 * Context: any.
 */
void pib_mem_put(struct pib_span *span);

/* Time after which those who wait for memory ask for it, and ask again. */
#define PIB_MEM_ASK_MSEC	10

/*
 * Ask all who keep memory of others for long, as full cables do, to look whether somebody waits for
 * it. Context: any.
 */
void pib_mem_ask_back(void);

/**
 * pib_mem_is_asked() - tell whether somebody has asked since the last look
 * @seen: number of requests known; becomes today's
 *
 * Context: any; @seen is the caller's.
 * Return: true: somebody has.
 */
bool pib_mem_is_asked(u32 *seen);

/**
 * pib_mem_wait() - wait until nobody refers to memory any more
 * @gone: what the last one completes
 *
 * All who refer to the memory have been told that it is wanted (pib_span_is_wanted(),
 * struct pib_burst_owner).
 *
 * Context: process; sleeps.
 */
void pib_mem_wait(struct completion *gone);
/**
 * pib_span_is_wanted() - tell whether somebody waits until a span is put
 * @span: the span
 *
 * Context: any.
 * Return: true: its region is about to go, or invalid; or its window is about to be unbound.
 */
bool pib_span_is_wanted(const struct pib_span *span);
/**
 * pib_span_pageable() - tell whether the pages of a span come and go
 * @span: the span
 *
 * Then no address in it is good for longer than one of the operations below takes.
 *
 * Context: any.
 * Return: true: they do.
 */
bool pib_span_pageable(const struct pib_span *span);
/**
 * pib_span_map() - find a byte of a span
 * @span: memory, not pageable
 * @off: offset of the byte
 * @len: bytes wanted; result: how many of them follow contiguously
 *
 * Context: any.
 * Return: the address; NULL: fault.
 */
void *pib_span_map(const struct pib_span *span, u32 off, u32 *len);

/*
 * The functions below touch memory.
 *
 * Context: softirqs off.
 * Return: 0 or -errno. -EAGAIN: a page is missing, and the caller has it brought in
 *	(pib_pagein_start()); copies may then have been made in part.
 */

/**
 * pib_span_enter() - find a byte of any span, to touch it
 * @span: memory
 * @off: offset of the byte
 * @len: bytes wanted; result: how many of them follow contiguously
 * @write: the bytes will be written to
 * @held: result, for pib_span_leave(), which the caller calls as soon as it has touched the bytes
 *
 * Context: softirqs off.
 * Return: the address; ERR_PTR() with an error as above.
 */
void *pib_span_enter(const struct pib_span *span, u32 off, u32 *len, bool write,
		     struct pib_odp_chunk **held);
/**
 * pib_span_leave() - end what pib_span_enter() began
 * @held: from there
 *
 * Context: softirqs off since then.
 */
static inline void pib_span_leave(struct pib_odp_chunk *held)
{
	if (held)
		pib_odp_leave(held);
}

/**
 * pib_span_get() - copy all of a span to kernel memory
 * @span: memory
 * @dst: room for @span->len bytes
 *
 * Context: softirqs off.
 * Return: 0; -EAGAIN: as above; -EFAULT.
 */
int pib_span_get(const struct pib_span *span, void *dst);
/**
 * pib_span_put() - copy kernel memory to all of a span
 * @span: memory
 * @src: @span->len bytes
 *
 * Context: softirqs off.
 * Return: 0; -EAGAIN: as above; -EFAULT.
 */
int pib_span_put(const struct pib_span *span, const void *src);

/**
 * pib_span_cas() - compare and swap
 * @span: the 8 bytes
 * @compare: value that is replaced
 * @swap: new value
 * @orig: result: value before, in host order
 *
 * Atomics are atomic against the CPU and every QP of this kernel.
 *
 * Context: softirqs off.
 * Return: 0; -EINVAL: the bytes are not aligned (9.4.5); -EAGAIN: as above; -EFAULT.
 */
int pib_span_cas(struct pib_span *span, u64 compare, u64 swap, u64 *orig);
/**
 * pib_span_faa() - fetch and add
 * @span: the 8 bytes
 * @add: value to add
 * @orig: result: value before, in host order
 *
 * Context: softirqs off.
 * Return: as pib_span_cas().
 */
int pib_span_faa(struct pib_span *span, u64 add, u64 *orig);
/**
 * pib_span_atomic_write() - write 8 bytes at once
 * @span: the 8 bytes
 * @value: the 8 bytes, as they will stand in memory
 *
 * Context: softirqs off.
 * Return: as pib_span_cas().
 */
int pib_span_atomic_write(struct pib_span *span, u64 value);

/**
 * pib_mem_invalidate() - execute LOCAL_INV, or SEND with invalidate
 * @ctx: the QP
 * @key: key of a region or of a type 2 window
 * @remote: the peer asks for it
 *
 * Context: process or softirq.
 * Return: 0; -EINVAL: no such key, or it cannot be invalidated; -EAGAIN: the key has no new users,
 *	but old ones are left. The caller then tries again; the work is done when 0 is returned.
 */
int pib_mem_invalidate(struct pib_mem_ctx ctx, u32 key, bool remote);

#endif
