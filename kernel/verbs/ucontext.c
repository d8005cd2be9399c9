// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* User contexts: the owner of each, and the answers to a process that opens the device. */
#include "hca/hca.h"
#include "tracing/verbs.h"
#include "transport/qp.h"
#include "verbs/ucontext.h"
#include "uapi/rdma/pib-abi.h"

#define UVERBS_MODULE_NAME pib
#include <rdma/uverbs_named_ioctl.h>

#define UCTX_FEATURES	PIB_UCTX_DOORBELL

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
	struct pib_ucontext *ctx = to_ucontext(ibctx);
	struct pib_uctx_req req = {};
	struct pib_uctx_resp resp;
	int err;

	err = pib_udata_check(udata, sizeof(req));
	if (err)
		return err;
	if (ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen)))
		return -EFAULT;
	ctx->quota = &to_hca(ibctx->device)->quota;
	ctx->user = pib_quota_user(ctx->quota);
	if (IS_ERR(ctx->user))
		return PTR_ERR(ctx->user);
	resp = uctx_answer(req.features);
	err = pib_udata_respond(udata, &resp, sizeof(resp));
	if (err) {
		pib_quota_put(ctx->quota, ctx->user);
		return err;
	}
	ctx->objects = &to_hca(ibctx->device)->objects;
	pib_object_add(ctx->objects, &ctx->obj, PIB_OBJECT_KIND_CONTEXT, 0, NULL);
	return 0;
}

void pib_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct pib_ucontext *ctx = to_ucontext(ibctx);

	pib_object_del(ctx->objects, &ctx->obj);
	pib_quota_put(ctx->quota, ctx->user);
}

/* Do nothing: an HCA that has this operation may go while processes have it open. */
void pib_disassociate_ucontext(struct ib_ucontext *ctx)
{
}

/* Describe the context. An HCA that has this operation allows a context to be imported. */
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

/*
 * Replace all but printable ASCII in @text, so that lines, and fields of lines, are the trace's
 * own.
 */
static void mark_clean(char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

/*
 * Trace a mark, by which a program says where it is. It costs the trace no more than any other call
 * of a program.
 */
static int UVERBS_HANDLER(PIB_METHOD_TRACE_MARK)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ctx = ib_uverbs_get_ucontext(attrs);
	char text[PIB_TRACE_MARK_MAX + 1] = {};
	int err;

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	if (!trace_pib_mark_enabled())
		return 0;
	err = _uverbs_copy_from_or_zero(text, attrs, PIB_ATTR_TRACE_MARK_TEXT,
					PIB_TRACE_MARK_MAX);
	if (err)
		return err;
	mark_clean(text);
	trace_pib_mark(to_hca(ctx->device)->nd.name, task_tgid_nr(current), text);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(
	PIB_METHOD_TRACE_MARK,
	UVERBS_ATTR_PTR_IN(PIB_ATTR_TRACE_MARK_TEXT, UVERBS_ATTR_SIZE(1, PIB_TRACE_MARK_MAX),
			   UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_DEVICE, &UVERBS_METHOD(PIB_METHOD_TRACE_MARK));

const struct uapi_definition pib_ucontext_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DEVICE),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &pib_query_context),
	{}
};
