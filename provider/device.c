// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finding pib's devices, opening them, asking about them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/cmd_ioctl.h>

#include "ah.h"
#include "compat.h"
#include "cq.h"
#include "cq_ex.h"
#include "dm.h"
#include "mr.h"
#include "pd.h"
#include "pib-cmd.h"
#include "qp.h"
#include "recv.h"
#include "send.h"
#include "srq.h"

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int err;

	err = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp,
				       &resp_size);
	if (err)
		return err;

	/*
	 * Only consumers in the kernel have this. The older query tells
	 * processes of it, too.
	 */
	attr->orig_attr.device_cap_flags &= ~IBV_DEVICE_UD_IP_CSUM;
	version = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%" PRIu64 ".%" PRIu64 ".%" PRIu64, version >> 32 & 0xffff,
		 version >> 16 & 0xffff, version & 0xffff);
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num,
		      struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

/*
 * The raw clock is a plain counter in the nanoseconds field, as it is with
 * other devices: applications compare that field with completion timestamps.
 */
static int query_rt_values(struct ibv_context *context,
			   struct ibv_values_ex *values)
{
	if (!check_comp_mask(values->comp_mask, IBV_VALUES_MASK_RAW_CLOCK))
		return EINVAL;

	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
		values->raw_clock.tv_sec = 0;
		values->raw_clock.tv_nsec = (long)pib_raw_clock_ns();
	}
	return 0;
}

static void free_context(struct ibv_context *ibctx)
{
	struct pib_context *ctx = container_of(ibctx, struct pib_context,
					       vctx.context);

	verbs_uninit_context(&ctx->vctx);
	pthread_mutex_destroy(&ctx->dying_lock);
	free(ctx);
}

static const struct verbs_context_ops context_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_dm = pib_alloc_dm,
	.alloc_mw = pib_alloc_mw,
	.alloc_parent_domain = pib_alloc_parent_domain,
	.alloc_pd = pib_alloc_pd,
	.alloc_td = pib_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = pib_bind_mw,
	.close_xrcd = pib_close_xrcd,
	.create_ah = pib_create_ah,
	.create_cq = pib_create_cq,
	.create_cq_ex = pib_create_cq_ex,
	.create_qp = pib_create_qp,
	.create_qp_ex = pib_create_qp_ex,
	.create_srq = pib_create_srq,
	.create_srq_ex = pib_create_srq_ex,
	.dealloc_mw = pib_dealloc_mw,
	.dealloc_pd = pib_dealloc_pd,
	.dealloc_td = pib_dealloc_td,
	.dereg_mr = pib_dereg_mr,
	.destroy_ah = pib_destroy_ah,
	.destroy_cq = pib_destroy_cq,
	.destroy_qp = pib_destroy_qp,
	.destroy_srq = pib_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = free_context,
	.free_dm = pib_free_dm,
	.get_srq_num = pib_get_srq_num,
	.import_dm = pib_import_dm,
	.import_mr = pib_import_mr,
	.import_pd = pib_import_pd,
	.modify_cq = pib_modify_cq,
	.modify_qp = pib_modify_qp,
	.modify_srq = pib_modify_srq,
	.open_qp = pib_open_qp,
	.open_xrcd = pib_open_xrcd,
	.poll_cq = pib_poll_cq,
	.post_recv = pib_post_recv,
	.post_send = pib_post_send,
	.post_srq_recv = pib_post_srq_recv,
	.query_device_ex = query_device_ex,
	.query_port = query_port,
#ifdef PIB_HAVE_PORT_SPEED
	.query_port_speed = ibv_cmd_query_port_speed,
#endif
	.query_qp = pib_query_qp,
	.query_rt_values = query_rt_values,
	.query_srq = pib_query_srq,
	.reg_dm_mr = pib_reg_dm_mr,
	.reg_dmabuf_mr = pib_reg_dmabuf_mr,
	.reg_mr = pib_reg_mr,
	.req_notify_cq = pib_req_notify_cq,
	.rereg_mr = pib_rereg_mr,
	.resize_cq = pib_resize_cq,
	.unimport_dm = pib_unimport_dm,
	.unimport_mr = pib_unimport_mr,
	.unimport_pd = pib_unimport_pd,
};

/* Features that this provider knows. */
#define PIB_FEATURES	PIB_UCTX_DOORBELL

static struct pib_context *new_context(struct ibv_device *ibdev, int cmd_fd)
{
	struct pib_context *ctx;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx,
					   RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;
	list_head_init(&ctx->dying);
	if (pthread_mutex_init(&ctx->dying_lock, NULL)) {
		verbs_uninit_context(&ctx->vctx);
		free(ctx);
		return NULL;
	}
	verbs_set_ops(&ctx->vctx, &context_ops);
	return ctx;
}

static struct verbs_context *alloc_context(struct ibv_device *ibdev,
					   int cmd_fd, void *private_data)
{
	struct upib_get_context_resp resp = {};
	struct upib_get_context cmd = {
		.drv_payload.features = PIB_FEATURES,
	};
	struct pib_context *ctx;

	ctx = new_context(ibdev, cmd_fd);
	if (!ctx)
		return NULL;
	if (pib_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp)))
		goto err_free;
	if (resp.drv_payload.abi_version != PIB_UVERBS_ABI_VERSION) {
		errno = EPROTO;
		goto err_free;
	}
	/* a kernel that does not know the request has no features */
	ctx->features = resp.drv_payload.features & PIB_FEATURES;
	return &ctx->vctx;

err_free:
	free_context(&ctx->vctx.context);
	return NULL;
}

static struct verbs_context *import_context(struct ibv_device *ibdev,
					    int cmd_fd)
{
	DECLARE_COMMAND_BUFFER(link, UVERBS_OBJECT_DEVICE,
			       UVERBS_METHOD_QUERY_CONTEXT, 1);
	struct pib_context *ctx = new_context(ibdev, cmd_fd);
	struct pib_uctx_resp resp = {};

	if (!ctx)
		return NULL;
	/* an older kernel answers nothing */
	attr_optional(fill_attr_out_ptr(link, PIB_ATTR_QUERY_CONTEXT_RESP,
					&resp));
	if (ibv_cmd_query_context(&ctx->vctx.context, link)) {
		free_context(&ctx->vctx.context);
		return NULL;
	}
	ctx->features = resp.features & PIB_FEATURES;
	return &ctx->vctx;
}

/*
 * Recognize pib by the attribute that names the hardware: the kernel has no
 * driver id for pib, and the user chooses the device's name.
 */
static bool match_device(struct verbs_sysfs_dev *sysfs_dev)
{
	char type[16];

	return ibv_read_ibdev_sysfs_file(type, sizeof(type), sysfs_dev,
					 "hca_type") > 0 &&
	       !strcmp(type, "pib");
}

/* libibverbs looks through it for the driver id of any other device. */
static const struct verbs_match_ent match_table[] = {
	{ .kind = VERBS_MATCH_SENTINEL },
};

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct pib_device *dev = calloc(1, sizeof(*dev));

	return dev ? &dev->vdev : NULL;
}

static void uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct pib_device, vdev));
}

static const struct verbs_device_ops device_ops = {
	.name = "pib",
	.match_min_abi_version = PIB_UVERBS_ABI_VERSION,
	.match_max_abi_version = PIB_UVERBS_ABI_VERSION,
	.match_table = match_table,
	.match_device = match_device,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
	.alloc_context = alloc_context,
	.import_context = import_context,
};

PROVIDER_DRIVER(pib, device_ops);
