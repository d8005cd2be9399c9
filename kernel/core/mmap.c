// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts. What a process maps is ordinary memory, inserted page by page
 * with a reference each: when the device goes the mapping may stay, it only
 * shows nothing new any more.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "compat/compat.h"
#include "hca/hca.h"
#include "transport/qp.h"
#include "core/mmap.h"
#include "uapi/rdma/pib-abi.h"

#define UVERBS_MODULE_NAME pib
#include <rdma/uverbs_named_ioctl.h>

#define UCTX_FEATURES	PIB_UCTX_DOORBELL

static struct pib_mmap_entry *to_mmap_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct pib_mmap_entry, rdma);
}

static struct pib_uctx_resp uctx_answer(u64 features)
{
	return (struct pib_uctx_resp) {
		.abi_version = PIB_UVERBS_ABI_VERSION,
		.max_inline = PIB_QP_MAX_INLINE,
		.features = features & UCTX_FEATURES,
	};
}

int pib_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct pib_quota *quota = &to_hca(ibctx->device)->quota;
	struct pib_ucontext *ctx = to_ucontext(ibctx);
	struct pib_uctx_req req = {};
	struct pib_uctx_resp resp;
	int err;

	err = pib_udata_check(udata, sizeof(req));
	if (err)
		return err;
	if (ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen)))
		return -EFAULT;
	ctx->user = pib_quota_user(quota);
	if (IS_ERR(ctx->user))
		return PTR_ERR(ctx->user);
	resp = uctx_answer(req.features);
	err = pib_udata_respond(udata, &resp, sizeof(resp));
	if (err)
		pib_quota_put(quota, ctx->user);
	return err;
}

void pib_dealloc_ucontext(struct ib_ucontext *ctx)
{
	pib_quota_put(&to_hca(ctx->device)->quota, to_ucontext(ctx)->user);
}

/* Its being there is what allows the device to go while processes have it open. */
void pib_disassociate_ucontext(struct ib_ucontext *ctx)
{
}

/* Its being there is what allows a context to be imported. */
int pib_query_ucontext(struct ib_ucontext *ctx, struct uverbs_attr_bundle *attrs)
{
	struct pib_uctx_resp resp = uctx_answer(UCTX_FEATURES);

	if (!uverbs_attr_is_valid(attrs, PIB_ATTR_QUERY_CONTEXT_RESP))
		return 0;
	return uverbs_copy_to_struct_or_zero(attrs, PIB_ATTR_QUERY_CONTEXT_RESP, &resp,
					     sizeof(resp));
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	pib_query_context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
	UVERBS_ATTR_PTR_OUT(PIB_ATTR_QUERY_CONTEXT_RESP,
			    UVERBS_ATTR_STRUCT(struct pib_uctx_resp, features), UA_OPTIONAL));

const struct uapi_definition pib_ucontext_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &pib_query_context),
	{}
};

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
