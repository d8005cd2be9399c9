// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/ktime.h>
#include "hca/ah.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "hca/pd.h"
#include "hca/srq.h"
#include "memory/dm.h"
#include "memory/dmabuf.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "memory/prefetch.h"
#include "tracing/verbs.h"
#include "transport/mcast.h"
#include "transport/modify.h"
#include "transport/qp.h"
#include "transport/qp_debug.h"
#include "verbs/outstanding.h"
#include "verbs/traced.h"
#include "verbs/ucontext.h"

static const u8 verb_objects[] = {
#define X(id, name, object) [PIB_TRACED_##id] = PIB_OBJECT_KIND_##object,
	PIB_VERB_LIST(X, X)
#undef X
};

static void verb_start(struct pib_trace_verb *v, enum pib_verb verb, struct ib_device *ib,
		       bool user)
{
	v->device = to_hca(ib)->nd.name;
	v->port = 0;
	v->qpn = U32_MAX;
	v->pid = user ? task_tgid_nr(current) : 0;
	v->verb = verb;
	v->object = verb_objects[verb];
	v->removed = READ_ONCE(to_hca(ib)->removed);
	v->number = 0;
	v->began = ktime_get_ns();
}

/* Begin a verb. @user: a process calls it. Return: false: the tracepoint is off. */
static bool verb_begin(struct pib_trace_verb *v, enum pib_verb verb, struct ib_device *ib,
		       bool user)
{
	if (!trace_pib_verb_enabled())
		return false;
	verb_start(v, verb, ib, user);
	return true;
}

/* End a verb. @fmt: its arguments, "key=value ...". */
static __printf(3, 4) void verb_end(const struct pib_trace_verb *v, int err, const char *fmt, ...)
{
	u64 took = ktime_get_ns() - v->began;
	char args[PIB_TRACE_ARGS];
	va_list list;
	int len;

	va_start(list, fmt);
	len = vscnprintf(args, sizeof(args), fmt, list);
	va_end(list);
	if (v->removed)
		scnprintf(args + len, sizeof(args) - len, " removed=1");
	trace_pib_verb(v, -err, took, args);
}

/* Return: the error by which this call fails on purpose (docs/inject.md), or 0. */
static int verb_refused(struct ib_device *ib, enum pib_verb verb, bool user)
{
	const struct pib_injects *injects = &to_hca(ib)->injects;

	return user && pib_injects_any(injects) ? pib_inject_verb(injects, verb) : 0;
}

/*
 * Return: true if an object goes because its process has left it behind, and not because the HCA is
 * removed. The context's list and its table of handles hold a reference each. A call that destroys
 * an object holds a third one; ib_core, which clears the list, does not. @uobject may be a struct
 * ib_u*_object, of an object that has events: that begins with its struct ib_uobject.
 */
static bool is_left_behind(const struct pib_trace_verb *v, const void *uobject)
{
	const struct ib_uobject *uo = uobject;

	return !v->removed && uo && kref_read(&uo->ref) == 2;
}

/* A region that the kernel has made has a list of ib_core in the place of the object. */
static bool mr_is_left(const struct pib_trace_verb *v, struct ib_mr *mr)
{
	return to_mr(mr)->obj.pid && is_left_behind(v, mr->uobject);
}

static void verb_end_gone(const struct pib_trace_verb *v, int err, bool left)
{
	verb_end(v, err, "left_behind=%u", left);
}

static void verb_of_qp(struct pib_trace_verb *v, const struct pib_qp *qp)
{
	const struct pib_kport *port = READ_ONCE(qp->path.port);

	v->number = qp->qpn;
	v->qpn = qp->qpn;
	v->port = port ? port->p.num : 0;
}

/* ---- contexts and domains ---- */

int pib_traced_alloc_ucontext(struct ib_ucontext *ctx, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ALLOC_CONTEXT, ctx->device, true);
	int err = verb_refused(ctx->device, PIB_TRACED_ALLOC_CONTEXT, true) ?:
		  pib_alloc_ucontext(ctx, udata);

	if (!on)
		return err;
	v.number = err ? 0 : to_ucontext(ctx)->obj.id;
	verb_end(&v, err, " ");
	return err;
}

void pib_traced_dealloc_ucontext(struct ib_ucontext *ctx)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DEALLOC_CONTEXT, ctx->device, true);

	v.number = to_ucontext(ctx)->obj.id;
	pib_dealloc_ucontext(ctx);
	if (on)
		verb_end(&v, 0, " ");
}

int pib_traced_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ALLOC_PD, pd->device, udata);
	int err = verb_refused(pd->device, PIB_TRACED_ALLOC_PD, udata) ?:
		  pib_alloc_pd(pd, udata);

	if (!on)
		return err;
	v.number = err ? 0 : to_pd(pd)->obj.id;
	verb_end(&v, err, " ");
	return err;
}

int pib_traced_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DEALLOC_PD, pd->device, udata);
	bool left = on && is_left_behind(&v, pd->uobject);
	int err;

	v.number = to_pd(pd)->obj.id;
	err = pib_dealloc_pd(pd, udata);
	if (on)
		verb_end_gone(&v, err, left);
	return err;
}

int pib_traced_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ALLOC_XRCD, xrcd->device, udata);
	int err = verb_refused(xrcd->device, PIB_TRACED_ALLOC_XRCD, udata) ?:
		  pib_alloc_xrcd(xrcd, udata);

	if (!on)
		return err;
	v.number = err ? 0 : to_xrcd(xrcd)->obj.id;
	verb_end(&v, err, " ");
	return err;
}

int pib_traced_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DEALLOC_XRCD, xrcd->device, udata);
	int err;

	v.number = to_xrcd(xrcd)->obj.id;
	err = pib_dealloc_xrcd(xrcd, udata);
	if (on)
		verb_end(&v, err, " ");
	return err;
}

/* ---- address handles ---- */

static void ah_end(const struct pib_trace_verb *v, int err, const struct rdma_ah_attr *attr)
{
	verb_end(v, err, "dlid=%u sl=%u ah_port=%u grh=%u",
		 rdma_ah_get_dlid(attr), rdma_ah_get_sl(attr), rdma_ah_get_port_num(attr),
		 !!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH));
}

int pib_traced_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_CREATE_AH, ah->device, udata);
	int err = verb_refused(ah->device, PIB_TRACED_CREATE_AH, udata) ?:
		  pib_create_ah(ah, init, udata);

	if (!on)
		return err;
	v.number = err ? 0 : to_ah(ah)->obj.id;
	ah_end(&v, err, init->ah_attr);
	return err;
}

int pib_traced_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_MODIFY_AH, ah->device, ah->pd->uobject);
	int err = pib_modify_ah(ah, attr);

	if (!on)
		return err;
	v.number = to_ah(ah)->obj.id;
	ah_end(&v, err, attr);
	return err;
}

int pib_traced_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_QUERY_AH, ah->device, ah->pd->uobject);
	int err = pib_query_ah(ah, attr);

	if (!on)
		return err;
	v.number = to_ah(ah)->obj.id;
	ah_end(&v, err, attr);
	return err;
}

int pib_traced_destroy_ah(struct ib_ah *ah, u32 flags)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DESTROY_AH, ah->device, ah->pd->uobject);
	bool left = on && is_left_behind(&v, ah->uobject);
	int err;

	v.number = to_ah(ah)->obj.id;
	err = pib_destroy_ah(ah, flags);
	if (on)
		verb_end_gone(&v, err, left);
	return err;
}

/* ---- memory ---- */

/*
 * Take the number of @mr, a new region or ERR_PTR(). Return: its key, for the first argument; 0:
 * there is none.
 */
static u32 mr_made(struct pib_trace_verb *v, struct ib_mr *mr)
{
	if (IS_ERR(mr))
		return 0;
	v->number = to_mr(mr)->obj.id;
	return to_mr(mr)->k.key;
}

struct ib_mr *pib_traced_get_dma_mr(struct ib_pd *pd, int access)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_GET_DMA_MR, pd->device, false);
	struct ib_mr *mr = pib_get_dma_mr(pd, access);
	u32 key;

	if (!on)
		return mr;
	key = mr_made(&v, mr);
	verb_end(&v, PTR_ERR_OR_ZERO(mr), "key=0x%x access=0x%x", key, access);
	return mr;
}

struct ib_mr *pib_traced_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				     struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_REG_MR, pd->device, true);
	struct ib_mr *mr = ERR_PTR(verb_refused(pd->device, PIB_TRACED_REG_MR, true)) ?:
			    pib_reg_user_mr(pd, start, length, virt, access, udata);
	u32 key;

	if (!on)
		return mr;
	key = mr_made(&v, mr);
	verb_end(&v, PTR_ERR_OR_ZERO(mr),
		 "key=0x%x addr=0x%llx length=%llu iova=0x%llx access=0x%x", key, start, length,
		 virt, access);
	return mr;
}

struct ib_mr *pib_traced_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 virt,
					    int fd, int access)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_REG_DMABUF_MR, pd->device, true);
	struct ib_mr *mr = ERR_PTR(verb_refused(pd->device, PIB_TRACED_REG_DMABUF_MR, true)) ?:
			    pib_reg_user_mr_dmabuf(pd, offset, length, virt, fd, access);
	u32 key;

	if (!on)
		return mr;
	key = mr_made(&v, mr);
	verb_end(&v, PTR_ERR_OR_ZERO(mr),
		 "key=0x%x fd=%d offset=%llu length=%llu iova=0x%llx access=0x%x", key, fd, offset,
		 length, virt, access);
	return mr;
}

struct ib_mr *pib_traced_reg_dm_mr(struct ib_pd *pd, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
				   struct uverbs_attr_bundle *attrs)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_REG_DM_MR, pd->device, true);
	struct ib_mr *mr = ERR_PTR(verb_refused(pd->device, PIB_TRACED_REG_DM_MR, true)) ?:
			    pib_reg_dm_mr(pd, dm, attr, attrs);
	u32 key;

	if (!on)
		return mr;
	key = mr_made(&v, mr);
	verb_end(&v, PTR_ERR_OR_ZERO(mr), "key=0x%x dm=%llu offset=%llu length=%llu access=0x%x",
		 key, to_dm(dm)->obj.id, attr->offset, attr->length, attr->access_flags);
	return mr;
}

struct ib_mr *pib_traced_rereg_user_mr(struct ib_mr *mr, int flags, u64 start, u64 length,
				       u64 virt, int access, struct ib_pd *pd,
				       struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_REREG_MR, mr->device, true);
	u32 key = mr_made(&v, mr);
	struct ib_mr *other = ERR_PTR(verb_refused(mr->device, PIB_TRACED_REREG_MR, true)) ?:
			    pib_rereg_user_mr(mr, flags, start, length, virt, access, pd, udata);

	if (on)
		verb_end(&v, PTR_ERR_OR_ZERO(other),
			 "key=0x%x flags=0x%x addr=0x%llx length=%llu iova=0x%llx access=0x%x",
			 key, flags, start, length, virt, access);
	return other;
}

struct ib_mr *pib_traced_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ALLOC_MR, pd->device, false);
	struct ib_mr *mr = pib_alloc_mr(pd, type, max_num_sg);
	u32 key;

	if (!on)
		return mr;
	key = mr_made(&v, mr);
	verb_end(&v, PTR_ERR_OR_ZERO(mr), "key=0x%x type=%u max_sge=%u", key, type, max_num_sg);
	return mr;
}

int pib_traced_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
			 struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ADVISE_MR, pd->device, true);
	int err = verb_refused(pd->device, PIB_TRACED_ADVISE_MR, true) ?:
		  pib_advise_mr(pd, advice, flags, sg_list, num_sge, attrs);

	if (on)
		verb_end(&v, err, "advice=%u flags=0x%x num_sge=%u", advice, flags, num_sge);
	return err;
}

int pib_traced_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DEREG_MR, mr->device, udata);
	u32 key = mr_made(&v, mr), requests = 0;
	bool left = on && mr_is_left(&v, mr);
	int err;

	if (on && !left)
		requests = pib_outstanding_of_key(to_hca(mr->device), to_pd(mr->pd), key);
	err = pib_dereg_mr(mr, udata);
	if (on)
		verb_end(&v, err, "key=0x%x left_behind=%u requests=%u", key, left, requests);
	return err;
}

int pib_traced_alloc_mw(struct ib_mw *mw, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ALLOC_MW, mw->device, udata);
	int err = verb_refused(mw->device, PIB_TRACED_ALLOC_MW, udata) ?:
		  pib_alloc_mw(mw, udata);

	if (!on)
		return err;
	v.number = err ? 0 : to_mw(mw)->obj.id;
	verb_end(&v, err, "key=0x%x type=%u", err ? 0 : mw->rkey, mw->type);
	return err;
}

int pib_traced_dealloc_mw(struct ib_mw *mw)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DEALLOC_MW, mw->device, mw->pd->uobject);
	bool left = on && is_left_behind(&v, mw->uobject);
	u32 key = mw->rkey;
	int err;

	v.number = to_mw(mw)->obj.id;
	err = pib_dealloc_mw(mw);
	if (on)
		verb_end(&v, err, "key=0x%x left_behind=%u", key, left);
	return err;
}

struct ib_dm *pib_traced_alloc_dm(struct ib_device *ib, struct ib_ucontext *ctx,
				  struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ALLOC_DM, ib, true);
	struct ib_dm *dm = ERR_PTR(verb_refused(ib, PIB_TRACED_ALLOC_DM, true)) ?:
			    pib_alloc_dm(ib, ctx, attr, attrs);

	if (!on)
		return dm;
	v.number = IS_ERR(dm) ? 0 : to_dm(dm)->obj.id;
	verb_end(&v, PTR_ERR_OR_ZERO(dm), "length=%llu", attr->length);
	return dm;
}

int pib_traced_dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DEALLOC_DM, dm->device, true);
	bool left = on && is_left_behind(&v, dm->uobject);
	int err;

	v.number = to_dm(dm)->obj.id;
	err = pib_dealloc_dm(dm, attrs);
	if (on)
		verb_end_gone(&v, err, left);
	return err;
}

/* ---- queues of completions and of receives ---- */

int pib_traced_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			 struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_CREATE_CQ, cq->device, udata);
	int err = verb_refused(cq->device, PIB_TRACED_CREATE_CQ, udata) ?:
		  pib_cq_create(cq, attr, udata);

	if (!on)
		return err;
	v.number = err ? 0 : to_cq(cq)->cqn;
	verb_end(&v, err, "cqe=%u vector=%d flags=0x%x", attr->cqe, attr->comp_vector,
		 attr->flags);
	return err;
}

int pib_traced_modify_cq(struct ib_cq *cq, u16 count, u16 period)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_MODIFY_CQ, cq->device, cq->uobject);
	int err = pib_modify_cq(cq, count, period);

	if (!on)
		return err;
	v.number = to_cq(cq)->cqn;
	verb_end(&v, err, "count=%u period=%u", count, period);
	return err;
}

int pib_traced_resize_cq(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_RESIZE_CQ, cq->device, udata);
	int err = verb_refused(cq->device, PIB_TRACED_RESIZE_CQ, udata) ?:
		  pib_resize_cq(cq, cqe, udata);

	if (!on)
		return err;
	v.number = to_cq(cq)->cqn;
	verb_end(&v, err, "cqe=%u", cqe);
	return err;
}

int pib_traced_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DESTROY_CQ, cq->device, udata);
	bool left = on && is_left_behind(&v, cq->uobject);
	u32 cqes = on ? pib_outstanding_cqes(to_cq(cq)) : 0;
	int err;

	v.number = to_cq(cq)->cqn;
	err = pib_destroy_cq(cq, udata);
	if (on)
		verb_end(&v, err, "left_behind=%u cqes=%u", left, cqes);
	return err;
}

int pib_traced_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *init,
			  struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_CREATE_SRQ, srq->device, udata);
	int err = verb_refused(srq->device, PIB_TRACED_CREATE_SRQ, udata) ?:
		  pib_create_srq(srq, init, udata);

	if (!on)
		return err;
	v.number = err ? 0 : to_srq(srq)->srqn;
	verb_end(&v, err, "max_wr=%u max_sge=%u limit=%u type=%u", init->attr.max_wr,
		 init->attr.max_sge, init->attr.srq_limit, init->srq_type);
	return err;
}

int pib_traced_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
			  struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_MODIFY_SRQ, srq->device, udata);
	int err = verb_refused(srq->device, PIB_TRACED_MODIFY_SRQ, udata) ?:
		  pib_modify_srq(srq, attr, mask, udata);

	if (!on)
		return err;
	v.number = to_srq(srq)->srqn;
	verb_end(&v, err, "mask=0x%x max_wr=%u limit=%u", mask, attr->max_wr, attr->srq_limit);
	return err;
}

int pib_traced_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_QUERY_SRQ, srq->device, srq->uobject);
	int err = verb_refused(srq->device, PIB_TRACED_QUERY_SRQ, srq->uobject) ?:
		  pib_query_srq(srq, attr);

	if (!on)
		return err;
	v.number = to_srq(srq)->srqn;
	verb_end(&v, err, "max_wr=%u max_sge=%u limit=%u", attr->max_wr, attr->max_sge,
		 attr->srq_limit);
	return err;
}

int pib_traced_destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DESTROY_SRQ, srq->device, udata);
	bool left = on && is_left_behind(&v, srq->uobject);
	int err;

	v.number = to_srq(srq)->srqn;
	err = pib_destroy_srq(srq, udata);
	if (on)
		verb_end_gone(&v, err, left);
	return err;
}

/* ---- queue pairs ---- */

static u32 cq_number(struct ib_cq *cq)
{
	return cq ? to_cq(cq)->cqn : 0;
}

int pib_traced_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_CREATE_QP, qp->device, udata);
	int err = verb_refused(qp->device, PIB_TRACED_CREATE_QP, udata) ?:
		  pib_create_qp(qp, init, udata);

	if (!on)
		return err;
	if (!err)
		verb_of_qp(&v, to_qp(qp));
	verb_end(&v, err, "type=%u send_cqn=%u recv_cqn=%u srqn=%u send_wr=%u recv_wr=%u inline=%u",
		 init->qp_type, cq_number(init->send_cq), cq_number(init->recv_cq),
		 init->srq ? to_srq(init->srq)->srqn : 0, init->cap.max_send_wr,
		 init->cap.max_recv_wr, init->cap.max_inline_data);
	return err;
}

/* Write the work that is lost with the queue pair, as arguments of a verb. */
static void describe_lost_work(char *args, size_t size, const struct pib_outstanding *out)
{
	scnprintf(args, size, " sends=%u recvs=%u send_cqes=%u recv_cqes=%u", out->sends,
		  out->recvs, out->send_cqes, out->recv_cqes);
}

/* Write those parts of @attr that say with whom and how the queue pair talks, if @mask has them. */
static void modify_args(char *args, size_t size, const struct ib_qp_attr *attr, int mask)
{
	const struct {
		int bit;
		const char *name;
		u32 value;
	} rows[] = {
		{ IB_QP_DEST_QPN, "dest_qpn", attr->dest_qp_num },
		{ IB_QP_AV, "dlid", rdma_ah_get_dlid(&attr->ah_attr) },
		{ IB_QP_PATH_MTU, "mtu", ib_mtu_enum_to_int(attr->path_mtu) },
		{ IB_QP_SQ_PSN, "sq_psn", attr->sq_psn },
		{ IB_QP_RQ_PSN, "rq_psn", attr->rq_psn },
		{ IB_QP_TIMEOUT, "timeout", attr->timeout },
		{ IB_QP_RETRY_CNT, "retry_cnt", attr->retry_cnt },
		{ IB_QP_RNR_RETRY, "rnr_retry", attr->rnr_retry },
	};
	size_t len = 0, i;

	args[0] = 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (mask & rows[i].bit)
			len += scnprintf(args + len, size - len, " %s=%u", rows[i].name,
					 rows[i].value);
	}
}

int pib_traced_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_MODIFY_QP, qp->device, udata);
	enum ib_qp_state from = READ_ONCE(to_qp(qp)->state);
	bool reset = mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET;
	struct pib_outstanding out = {};
	char args[PIB_TRACE_ARGS];
	int err;

	if (on && reset)
		pib_outstanding_of_qp(to_qp(qp), &out);
	err = verb_refused(qp->device, PIB_TRACED_MODIFY_QP, udata) ?:
	      pib_modify_qp(qp, attr, mask, udata);
	if (!on)
		return err;
	verb_of_qp(&v, to_qp(qp));
	if (reset)
		describe_lost_work(args, sizeof(args), &out);
	else
		modify_args(args, sizeof(args), attr, mask);
	verb_end(&v, err, "mask=0x%x from=%s to=%s%s", mask, pib_qp_state_name(from),
		 pib_qp_state_name(mask & IB_QP_STATE ? attr->qp_state : from), args);
	return err;
}

int pib_traced_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_QUERY_QP, qp->device, qp->uobject);
	int err = verb_refused(qp->device, PIB_TRACED_QUERY_QP, qp->uobject) ?:
		  pib_query_qp(qp, attr, mask, init);

	if (!on)
		return err;
	verb_of_qp(&v, to_qp(qp));
	verb_end(&v, err, "mask=0x%x state=%s", mask,
		 err ? "none" : pib_qp_state_name(attr->qp_state));
	return err;
}

int pib_traced_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DESTROY_QP, qp->device, udata);
	enum ib_qp_state from = READ_ONCE(to_qp(qp)->state);
	/* The handle of an XRC target QP need not be its maker's (verbs/objects.c). */
	bool left = on && qp->qp_type != IB_QPT_XRC_TGT && is_left_behind(&v, qp->uobject);
	struct pib_outstanding out = {};
	char args[PIB_TRACE_ARGS];
	int err;

	verb_of_qp(&v, to_qp(qp));
	if (on)
		pib_outstanding_of_qp(to_qp(qp), &out);
	err = pib_destroy_qp(qp, udata);
	if (!on)
		return err;
	describe_lost_work(args, sizeof(args), &out);
	verb_end(&v, err, "from=%s left_behind=%u%s", pib_qp_state_name(from), left, args);
	return err;
}

int pib_traced_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_ATTACH_MCAST, qp->device, qp->uobject);
	int err = verb_refused(qp->device, PIB_TRACED_ATTACH_MCAST, qp->uobject) ?:
		  pib_attach_mcast(qp, gid, lid);

	if (!on)
		return err;
	verb_of_qp(&v, to_qp(qp));
	verb_end(&v, err, "mgid=%pI6c mlid=%u", gid->raw, lid);
	return err;
}

int pib_traced_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	struct pib_trace_verb v;
	bool on = verb_begin(&v, PIB_TRACED_DETACH_MCAST, qp->device, qp->uobject);
	int err = pib_detach_mcast(qp, gid, lid);

	if (!on)
		return err;
	verb_of_qp(&v, to_qp(qp));
	verb_end(&v, err, "mgid=%pI6c mlid=%u", gid->raw, lid);
	return err;
}
