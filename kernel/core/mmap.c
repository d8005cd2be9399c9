// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process maps ordinary memory, inserted page by page with a reference each. So
 * the mapping may stay when the device goes. It then only shows nothing new any
 * more.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "compat/compat.h"
#include "core/mmap.h"

static struct pib_mmap_entry *to_mmap_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct pib_mmap_entry, rdma);
}

struct pib_mmap_entry *pib_mmap_entry_create(struct ib_ucontext *ctx, void *mem, size_t size)
{
	struct pib_mmap_entry *entry;
	int err;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->mem = mem;
	entry->size = size;

	err = rdma_user_mmap_entry_insert(ctx, &entry->rdma, size);
	if (err) {
		kfree(entry);
		return ERR_PTR(err);
	}
	return entry;
}

void pib_mmap_free(struct rdma_user_mmap_entry *rdma)
{
	struct pib_mmap_entry *entry = to_mmap_entry(rdma);

	vfree(entry->mem);
	kfree(entry);
}

static int map_pages(struct vm_area_struct *vma, struct pib_mmap_entry *entry)
{
	unsigned long addr = vma->vm_start;
	void *p = entry->mem;
	int err;

	for (; addr < vma->vm_end; addr += PAGE_SIZE, p += PAGE_SIZE) {
		err = vm_insert_page(vma, addr, vmalloc_to_page(p));
		if (err)
			return err;
	}
	return 0;
}

int pib_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma;
	int err;

	/* looks up the offset and compares the sizes */
	rdma = rdma_user_mmap_entry_get(ctx, vma);
	if (!rdma)
		return -EINVAL;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	err = map_pages(vma, to_mmap_entry(rdma));
	rdma_user_mmap_entry_put(rdma);
	return err;
}
