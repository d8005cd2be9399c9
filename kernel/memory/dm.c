// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Device memory. ib_core counts the regions over a piece of it, which cannot
 * be freed before them; a process that has it mapped keeps its pages.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>
#include "memory/dm.h"
#include "memory/pd.h"
#include "core/mmap.h"
#include "core/quota.h"
#include "core/refuse.h"
#include "uapi/rdma/pib-abi.h"

#define UVERBS_MODULE_NAME pib
#include <rdma/uverbs_named_ioctl.h>

static int dm_respond(const struct pib_dm *dm, struct uverbs_attr_bundle *attrs, u16 attr)
{
	struct pib_dm_resp resp = {
		.offset = rdma_user_mmap_get_offset(&dm->entry->rdma),
		.size = dm->entry->size,
		.length = dm->size,
	};

	return uverbs_copy_to_struct_or_zero(attrs, attr, &resp, sizeof(resp));
}

/* The price of a piece of @size bytes: whole pages. */
static u32 dm_pages(u64 size)
{
	return PAGE_ALIGN(size) >> PAGE_SHIFT;
}

static void dm_free(struct pib_dm *dm)
{
	if (!IS_ERR_OR_NULL(dm->entry))
		rdma_user_mmap_entry_remove(&dm->entry->rdma);
	pib_quota_uncharge(dm->quota, dm->owner, PIB_OBJ_DM, dm_pages(dm->size));
	kfree(dm);
}

static int dm_alloc_mem(struct pib_dm *dm, struct ib_ucontext *ctx)
{
	size_t size = PAGE_ALIGN(dm->size);
	void *mem;

	mem = __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!mem)
		return -ENOMEM;
	dm->entry = pib_mmap_entry_create(ctx, mem, size);
	if (IS_ERR(dm->entry)) {
		vfree(mem);
		return PTR_ERR(dm->entry);
	}
	return 0;
}

struct ib_dm *pib_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ctx,
			   struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct pib_quota *quota = to_ucontext(ctx)->quota;
	struct pib_user *owner = to_ucontext(ctx)->user;
	struct pib_dm *dm;
	int err;

	if (!attr->length || attr->length > PIB_DM_SIZE || attr->alignment > PAGE_SHIFT)
		return ERR_PTR(pib_refuse(ibdev, -EINVAL, "alloc_dm: %llu bytes, alignment %u",
					  attr->length, attr->alignment));
	err = pib_quota_charge(quota, owner, PIB_OBJ_DM, dm_pages(attr->length));
	if (err)
		return ERR_PTR(err);

	dm = kzalloc(sizeof(*dm), GFP_KERNEL_ACCOUNT);
	if (!dm) {
		pib_quota_uncharge(quota, owner, PIB_OBJ_DM, dm_pages(attr->length));
		return ERR_PTR(-ENOMEM);
	}
	dm->quota = quota;
	dm->owner = owner;
	dm->size = attr->length;
	err = dm_alloc_mem(dm, ctx);
	if (err)
		goto err_free;
	err = dm_respond(dm, attrs, PIB_ATTR_ALLOC_DM_RESP);
	if (err)
		goto err_free;
	dm->objects = to_ucontext(ctx)->objects;
	pib_object_add(dm->objects, &dm->obj, PIB_OBJECT_KIND_DM, to_ucontext(ctx)->obj.id, NULL);
	return &dm->ib;

err_free:
	dm_free(dm);
	return ERR_PTR(err);
}

int pib_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct pib_dm *dm = to_dm(ibdm);

	pib_object_del(dm->objects, &dm->obj);
	dm_free(dm);
	return 0;
}

struct ib_mr *pib_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm, struct ib_dm_mr_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	struct pib_dm *dm = to_dm(ibdm);
	struct pib_mr *mr;

	mr = pib_mr_alloc(to_pd(ibpd), PIB_MR_TYPE_DM, attr->access_flags);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	/* ib_core lets only zero-based regions pass, and only ranges within @dm */
	mr->map.length = attr->length;
	mr->map.linear = (unsigned long)dm->entry->mem + attr->offset;
	pib_mr_publish(mr);
	return &mr->ib;
}

static int UVERBS_HANDLER(PIB_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs, PIB_ATTR_QUERY_DM_HANDLE);

	return dm_respond(to_dm(ibdm), attrs, PIB_ATTR_QUERY_DM_RESP);
}

DECLARE_UVERBS_NAMED_METHOD(
	PIB_METHOD_DM_QUERY,
	UVERBS_ATTR_IDR(PIB_ATTR_QUERY_DM_HANDLE, UVERBS_OBJECT_DM, UVERBS_ACCESS_READ,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(PIB_ATTR_QUERY_DM_RESP, UVERBS_ATTR_STRUCT(struct pib_dm_resp, length),
			    UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_DM, &UVERBS_METHOD(PIB_METHOD_DM_QUERY));

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	pib_dm_alloc, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
	UVERBS_ATTR_PTR_OUT(PIB_ATTR_ALLOC_DM_RESP, UVERBS_ATTR_STRUCT(struct pib_dm_resp, length),
			    UA_MANDATORY));

const struct uapi_definition pib_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &pib_dm_alloc),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DM),
	{}
};
