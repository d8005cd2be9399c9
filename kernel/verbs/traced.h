/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Operations of the ib_device with a trace (pib:pib_verb): each calls the function of the same name
 * that does the work, then traces the request, the object and the result. While the trace is off,
 * that is a call and two static branches. Operations that data go through are not here.
 *
 * Context, arguments and results are those of the functions that do the work.
 */
#ifndef PIB_VERBS_TRACED_H
#define PIB_VERBS_TRACED_H

#include <rdma/ib_verbs.h>

int pib_traced_alloc_ucontext(struct ib_ucontext *ctx, struct ib_udata *udata);
void pib_traced_dealloc_ucontext(struct ib_ucontext *ctx);
int pib_traced_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int pib_traced_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int pib_traced_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);
int pib_traced_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);

int pib_traced_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int pib_traced_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *attr);
int pib_traced_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr);
int pib_traced_destroy_ah(struct ib_ah *ah, u32 flags);

struct ib_mr *pib_traced_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *pib_traced_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				     struct ib_udata *udata);
struct ib_mr *pib_traced_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 virt,
					    int fd, int access);
struct ib_mr *pib_traced_reg_dm_mr(struct ib_pd *pd, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
				   struct uverbs_attr_bundle *attrs);
struct ib_mr *pib_traced_rereg_user_mr(struct ib_mr *mr, int flags, u64 start, u64 length,
				       u64 virt, int access, struct ib_pd *pd,
				       struct ib_udata *udata);
struct ib_mr *pib_traced_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg);
int pib_traced_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
			 struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs);
int pib_traced_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);
int pib_traced_alloc_mw(struct ib_mw *mw, struct ib_udata *udata);
int pib_traced_dealloc_mw(struct ib_mw *mw);
struct ib_dm *pib_traced_alloc_dm(struct ib_device *ib, struct ib_ucontext *ctx,
				  struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs);
int pib_traced_dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs);

int pib_traced_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			 struct ib_udata *udata);
int pib_traced_modify_cq(struct ib_cq *cq, u16 count, u16 period);
int pib_traced_resize_cq(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata);
int pib_traced_destroy_cq(struct ib_cq *cq, struct ib_udata *udata);

int pib_traced_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *init,
			  struct ib_udata *udata);
int pib_traced_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
			  struct ib_udata *udata);
int pib_traced_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr);
int pib_traced_destroy_srq(struct ib_srq *srq, struct ib_udata *udata);

int pib_traced_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int pib_traced_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata);
int pib_traced_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init);
int pib_traced_destroy_qp(struct ib_qp *qp, struct ib_udata *udata);
int pib_traced_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);
int pib_traced_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);

#endif
