/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User contexts, and the memory that processes map through them. */
#ifndef PIB_CORE_MMAP_H
#define PIB_CORE_MMAP_H

#include <linux/printk.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "core/objects.h"

struct pib_quota;
struct pib_user;

/**
 * struct pib_ucontext - a process' open device
 * @ib: ib_core's
 * @quota: of the device; never changes
 * @user: its owner, NULL: somebody without limits; never changes
 * @objects: of the device; never changes
 * @obj: in @objects
 */
struct pib_ucontext {
	struct ib_ucontext ib;
	struct pib_quota *quota;
	struct pib_user *user;
	struct pib_objects *objects;
	struct pib_object obj;
};

static inline struct pib_ucontext *to_ucontext(struct ib_ucontext *ib)
{
	return container_of(ib, struct pib_ucontext, ib);
}

/*
 * Return: the context of a command, as the parent of what the command makes; 0: the kernel makes
 * it. Context: process.
 */
static inline u64 pib_udata_context(struct ib_udata *udata)
{
	return udata ? rdma_udata_to_drv_context(udata, struct pib_ucontext, ib)->obj.id : 0;
}

/*
 * Name the maker of an object that ib_core tracks, for pib_object_add(). Context: any.
 *
 * Return: the name of the kernel's part; NULL: the process whose command it is.
 */
static inline const char *pib_udata_kernel(struct ib_udata *udata,
					   const struct rdma_restrack_entry *res)
{
	return udata ? NULL : res->kern_name ?: "kernel";
}

/**
 * struct pib_mmap_entry - memory of the kernel that a process may map
 * @rdma: ib_core's; holds the references
 * @mem: from vmalloc; freed with the last reference
 * @size: bytes, whole pages
 */
struct pib_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	void *mem;
	size_t size;
};

/**
 * pib_mmap_entry_create() - offer memory for mapping
 * @ctx: context of the process that may map it
 * @mem: from vmalloc_user(); belongs to the entry if this succeeds
 * @size: bytes, whole pages
 *
 * rdma_user_mmap_entry_remove() withdraws the offer; the memory is freed with the last mapping.
 *
 * Context: process; may sleep.
 * Return: the entry; ERR_PTR().
 */
struct pib_mmap_entry *pib_mmap_entry_create(struct ib_ucontext *ctx, void *mem, size_t size);

/* Implements ib_device_ops.mmap. Context: process, mmap_lock held. Return: 0 or -errno. */
int pib_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma);
/* Implements ib_device_ops.mmap_free: the last reference is gone. Context: process. */
void pib_mmap_free(struct rdma_user_mmap_entry *entry);

/*
 * Check a request, of which this module understands the first @known bytes. The bytes beyond them
 * must be 0. Otherwise a newer provider would believe that its request was understood.
 *
 * Context: process; may sleep.
 * Return: 0; -EOPNOTSUPP: one of them is not 0.
 */
static inline int pib_udata_check(struct ib_udata *udata, size_t known)
{
	if (!udata || udata->inlen <= known)
		return 0;
	if (ib_is_udata_cleared(udata, known, udata->inlen - known))
		return 0;
	pr_debug("pib: %s asks for more than this module knows\n", current->comm);
	return -EOPNOTSUPP;
}

/*
 * Copy as much of the answer as the process has room for.
 *
 * Context: process.
 * Return: 0 or -EFAULT.
 */
static inline int pib_udata_respond(struct ib_udata *udata, void *resp, size_t len)
{
	return ib_copy_to_udata(udata, resp, min(len, udata->outlen));
}

#endif
