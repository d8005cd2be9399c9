/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Operations of an ib_device whose types differ between kernels. The file that has the table of
 * operations names the functions that do the work, then includes this, and puts PIB_COMPAT_OPS into
 * the table:
 *
 *	PIB_VERB_CREATE_CQ			with udata; NULL: a CQ of the kernel
 *	PIB_VERB_PRE_DESTROY_CQ
 *	PIB_VERB_RESIZE_CQ			with udata
 *	PIB_VERB_REG_USER_MR			without a DMA handle
 *	PIB_VERB_REG_DMABUF			without a DMA handle, without udata
 *	PIB_VERB_COUNTER_BIND, _COUNTER_UNBIND	without the port
 *	PIB_VERB_FILL_RES_SRQ
 */
#ifndef PIB_COMPAT_DEVICE_OPS_H
#define PIB_COMPAT_DEVICE_OPS_H

#include <linux/version.h>
#include <rdma/uverbs_ioctl.h>

/* create_cq: 6.11 replaced udata by the bundle it is part of, 7.1 split off processes' CQs. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define PIB_OPS_CREATE_CQ .create_cq = PIB_VERB_CREATE_CQ
#else
static int compat_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	return PIB_VERB_CREATE_CQ(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define PIB_OPS_CREATE_CQ .create_cq = compat_create_cq
#else
#define PIB_OPS_CREATE_CQ .create_cq = compat_create_cq, .create_user_cq = compat_create_cq
#endif
#endif

/* pre_destroy_cq: see compat.h */
#ifdef PIB_HAS_PRE_DESTROY_CQ
#define PIB_OPS_PRE_DESTROY_CQ .pre_destroy_cq = PIB_VERB_PRE_DESTROY_CQ,
#else
#define PIB_OPS_PRE_DESTROY_CQ
#endif

/* resize_cq: for processes alone since 7.1 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
static int compat_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return cqe > 0 ? PIB_VERB_RESIZE_CQ(ibcq, cqe, udata) : -EINVAL;
}

#define PIB_OPS_RESIZE_CQ .resize_cq = compat_resize_cq
#else
#define PIB_OPS_RESIZE_CQ .resize_user_cq = PIB_VERB_RESIZE_CQ
#endif

/* reg_user_mr: DMA handles since 6.17; there are none for a device without DMA */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define PIB_OPS_REG_USER_MR .reg_user_mr = PIB_VERB_REG_USER_MR
#else
static struct ib_mr *compat_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt,
					int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return PIB_VERB_REG_USER_MR(ibpd, start, length, virt, access, udata);
}

#define PIB_OPS_REG_USER_MR .reg_user_mr = compat_reg_user_mr
#endif

/* reg_user_mr_dmabuf: like reg_user_mr; the bundle instead of udata since 6.12 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
				       int fd, int access, struct ib_udata *udata)
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
				       int fd, int access, struct uverbs_attr_bundle *attrs)
#else
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
				       int fd, int access, struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs)
#endif
{
	return PIB_VERB_REG_DMABUF(ibpd, offset, length, virt, fd, access);
}

#define PIB_OPS_REG_DMABUF .reg_user_mr_dmabuf = compat_reg_dmabuf

/* Details of SRQs can be shown since 6.5. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define PIB_OPS_RES_SRQ
#else
#define PIB_OPS_RES_SRQ , .fill_res_srq_entry = PIB_VERB_FILL_RES_SRQ
#endif

/*
 * Counters of QPs. Since 6.15 they come with the port, which a QP does not leave and which this
 * driver does not need, and are allocated in the size that the driver asks for.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define PIB_OPS_QP_COUNTER				\
	.counter_bind_qp = PIB_VERB_COUNTER_BIND,	\
	.counter_unbind_qp = PIB_VERB_COUNTER_UNBIND
#else
/* A counter with nothing but ib_core's own part. */
struct compat_counter {
	struct rdma_counter ib;
};

static int compat_counter_bind(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port)
{
	return PIB_VERB_COUNTER_BIND(counter, ibqp);
}

static int compat_counter_unbind(struct ib_qp *ibqp, u32 port)
{
	return PIB_VERB_COUNTER_UNBIND(ibqp);
}

/* Do nothing. ib_core calls this for every counter, without being asked to. */
static void compat_counter_init(struct rdma_counter *counter)
{
}

#define PIB_OPS_QP_COUNTER					\
	.counter_init = compat_counter_init,			\
	.counter_bind_qp = compat_counter_bind,			\
	.counter_unbind_qp = compat_counter_unbind,		\
	INIT_RDMA_OBJ_SIZE(rdma_counter, compat_counter, ib)
#endif

#define PIB_COMPAT_OPS		\
	PIB_OPS_CREATE_CQ,	\
	PIB_OPS_PRE_DESTROY_CQ	\
	PIB_OPS_RESIZE_CQ,	\
	PIB_OPS_REG_USER_MR,	\
	PIB_OPS_REG_DMABUF,	\
	PIB_OPS_QP_COUNTER	\
	PIB_OPS_RES_SRQ

#endif
