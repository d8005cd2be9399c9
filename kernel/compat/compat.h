/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The differences between the kernels that pib is built for. The code is written for the newest of
 * them. This header supplies what an older kernel lacks; compat/genetlink.h has what differs in
 * generic netlink, and compat/device_ops.h what differs in the operations of the ib_device. Kernel
 * versions are tested nowhere else (selftests/tree/kernel-versions).
 *
 * Sections belong to the part of the module that needs them. A name that bridges a difference is
 * the newest kernel's own where that can be.
 */
#ifndef PIB_COMPAT_H
#define PIB_COMPAT_H

#include <linux/version.h>
#include <linux/hmm.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/ib_verbs.h>

/* ---- headers ---- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

/* ---- the stack ---- */

/*
 * Kernels clear what is declared on a stack. This is for what is large and stands where every
 * packet passes, whose fields are all set before they are read.
 */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized		__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/* ---- completion queues ---- */

/*
 * ib_core tells a consumer's CQ to make no more calls (pre_destroy_cq) before it ends its polling.
 * Where ib_core does not do so, a call that was on its way to the CPU of the vector may have begun
 * the polling again. No version says which it is, for kernels of old series have it, too:
 * kernel/Kbuild looks into the headers.
 */
#ifdef PIB_HAS_PRE_DESTROY_CQ
static inline void pib_compat_cq_end_polling(struct ib_cq *cq)
{
}
#else
static inline void pib_compat_cq_end_polling(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_WORKQUEUE || cq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		cancel_work_sync(&cq->work);
}
#endif

/* ---- timers ---- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void pib_compat_hrtimer_setup(struct hrtimer *timer,
					    enum hrtimer_restart (*fn)(struct hrtimer *),
					    clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}

#define hrtimer_setup pib_compat_hrtimer_setup
#endif

#ifndef timer_container_of
#define timer_container_of(var, callback_timer, timer_fieldname) \
	container_of(callback_timer, typeof(*var), timer_fieldname)
#endif

/* ---- work queues ---- */

/* An enumerator since 6.17, and in some of the longterm kernels before. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define WQ_PERCPU 0
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define system_dfl_wq system_unbound_wq
#endif

/* ---- sockets ---- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
static inline int pib_compat_sk_drops_read(const struct sock *sk)
{
	return atomic_read(&sk->sk_drops);
}

#define sk_drops_read pib_compat_sk_drops_read
#endif

/* ---- verbs: constants ---- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define IB_WR_FLUSH		((enum ib_wr_opcode)14)
#define IB_WR_ATOMIC_WRITE	((enum ib_wr_opcode)15)
#define IB_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define IB_SPEED_XDR		256
/* Never asked for: the user ABI of this kernel has no FLUSH and no ATOMIC_WRITE. */
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_ATOMIC_WRITE		0
#define IB_UVERBS_WC_FLUSH		8
#define IB_UVERBS_WC_ATOMIC_WRITE	9
#endif

/* ---- verbs: memory ---- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
/* Devices without DMA: a DMA address is a kernel virtual address. */
static inline void *ib_virt_dma_to_ptr(u64 dma_addr)
{
	return (void *)(uintptr_t)dma_addr;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define ib_umem_get_va ib_umem_get
#endif

/* ---- on-demand paging ---- */

/* The pages of a umem, and the flags that ask for them, are hmm's own since 6.16. */
static inline const unsigned long *pib_umem_odp_pfns(const struct ib_umem_odp *umem)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return umem->pfn_list;
#else
	return umem->map.pfn_list;
#endif
}

static inline u64 pib_umem_odp_access(bool write)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return ODP_READ_ALLOWED_BIT | (write ? ODP_WRITE_ALLOWED_BIT : 0);
#else
	return write ? HMM_PFN_WRITE : 0;
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define IB_ODP_SUPPORT_FLUSH		0
#define IB_ODP_SUPPORT_ATOMIC_WRITE	0
#endif

/* ---- dma-buf ---- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap
#endif

/* The namespace became a string. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define PIB_IMPORT_NS_DMA_BUF MODULE_IMPORT_NS(DMA_BUF)
#else
#define PIB_IMPORT_NS_DMA_BUF MODULE_IMPORT_NS("DMA_BUF")
#endif

/* ---- memory mapping ---- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void pib_compat_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

#define vm_flags_set pib_compat_vm_flags_set
#endif

/* ---- verbs: device ---- */

/* Make the device in the network namespace @net where the kernel lets a driver say so. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define ib_alloc_device_with_net(drv_struct, member, net) \
	((void)(net), ib_alloc_device(drv_struct, member))
#endif

#endif
