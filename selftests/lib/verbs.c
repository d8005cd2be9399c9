// SPDX-License-Identifier: GPL-2.0
/*
 * verbs DEVICE: makes, changes, asks of and destroys one of each kind of object, for who watches
 * these calls; among them a region of memory that is not there, and one of a device's buffer that
 * is none, which are refused. A buffer of vgem is registered, if there is one. Says "qp NUMBER".
 * The UD queue pair sends DATAGRAMS of 2048 bytes, one after the other, to the multicast group that
 * it has attached to: before a cable with little buffer they wait for credits.
 */
#include <drm/drm.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "device.h"

#define DATAGRAMS	8
#define PAYLOAD		2048

static char memory[8192] __attribute__((aligned(4096)));

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "verbs: %s: %s\n", what, strerror(err));
	exit(1);
}

static void *made(void *object, const char *what)
{
	must(!object, what);
	return object;
}

static void shared_receives(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = made(ibv_create_srq(pd, &init), "create_srq");
	struct ibv_srq_attr attr = { .srq_limit = 3 };

	must(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), "modify_srq");
	must(ibv_query_srq(srq, &attr), "query_srq");
	must(ibv_destroy_srq(srq), "destroy_srq");
}

static void regions(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_alloc_dm_attr length = { .length = 256 };
	struct ibv_dm *dm = made(ibv_alloc_dm(ctx, &length), "alloc_dm");
	struct ibv_mr *mr =
		made(ibv_reg_dm_mr(pd, dm, 0, 256, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE),
		     "reg_dm_mr");
	struct ibv_mw *mw = made(ibv_alloc_mw(pd, IBV_MW_TYPE_1), "alloc_mw");
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 4096 };

	must(ibv_dealloc_mw(mw), "dealloc_mw");
	must(ibv_dereg_mr(mr), "dereg_mr");
	must(ibv_free_dm(dm), "free_dm");
	mr = made(ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE), "reg_mr");
	must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, pd, memory, 8192, 0), "rereg_mr");
	must(ibv_dereg_mr(mr), "dereg_mr");
	mr = made(ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND),
		  "reg_mr");
	sge.lkey = mr->lkey;
	must(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge,
			   1),
	     "advise_mr");
	must(ibv_dereg_mr(mr), "dereg_mr");
	must(ibv_reg_mr(pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE) != NULL,
	     "memory that is not there");
	must(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, open("/dev/null", O_RDWR), IBV_ACCESS_LOCAL_WRITE) !=
		     NULL,
	     "no buffer of a device");
}

/* Return: a buffer of a page of vgem; -1: there is no vgem. */
static int device_buffer(void)
{
	struct drm_mode_create_dumb create = { .height = 1, .width = 1024, .bpp = 32 };
	char name[16] = "", path[32];
	int i;

	for (i = 0; i < 8; i++) {
		struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };
		struct drm_prime_handle prime = { .flags = O_RDWR | O_CLOEXEC };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0 || ioctl(fd, DRM_IOCTL_VERSION, &version) || strcmp(name, "vgem"))
			continue;
		must(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), "create_dumb");
		prime.handle = create.handle;
		must(ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), "handle_to_fd");
		return prime.fd;
	}
	return -1;
}

static void device_region(struct ibv_pd *pd)
{
	int fd = device_buffer();
	struct ibv_mr *mr;

	if (fd < 0)
		return;
	mr = made(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, fd, IBV_ACCESS_LOCAL_WRITE),
		  "reg_dmabuf_mr");
	must(ibv_dereg_mr(mr), "dereg_mr");
	close(fd);
}

static void domain(struct ibv_context *ctx)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1,
		.oflags = O_CREAT,
	};

	must(ibv_close_xrcd(made(ibv_open_xrcd(ctx, &init), "open_xrcd")), "close_xrcd");
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1, .sq_psn = 1,
	};
	struct ibv_qp *qp = made(ibv_create_qp(pd, &init), "create_qp");

	must(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
	     "INIT");
	attr.qp_state = IBV_QPS_RTR;
	must(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	must(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
	must(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "query_qp");
	return qp;
}

static void send_datagram(struct ibv_qp *qp, struct ibv_ah *ah, struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = PAYLOAD, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = 0xffffff, .remote_qkey = 1 },
	};
	struct ibv_wc wc;

	must(ibv_post_send(qp, &wr, &bad), "post_send");
	while (!ibv_poll_cq(qp->send_cq, 1, &wc))
		;
	must(wc.status != IBV_WC_SUCCESS, "send");
}

static void datagrams(struct ibv_pd *pd, struct ibv_qp *qp)
{
	union ibv_gid group = {
		.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7,
	} };
	struct ibv_ah_attr attr = {
		.dlid = 0xC007, .port_num = 1, .is_global = 1, .grh = { .dgid = group,
	} };
	struct ibv_mr *mr =
		made(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE), "reg_mr");
	struct ibv_ah *ah = made(ibv_create_ah(pd, &attr), "create_ah");
	int i;

	must(ibv_attach_mcast(qp, &group, 0xC007), "attach_mcast");
	for (i = 0; i < DATAGRAMS; i++)
		send_datagram(qp, ah, mr);
	must(ibv_detach_mcast(qp, &group, 0xC007), "detach_mcast");
	must(ibv_destroy_ah(ah), "destroy_ah");
	must(ibv_dereg_mr(mr), "dereg_mr");
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx = made(argc == 2 ? open_device(argv[1]) : NULL, "DEVICE");
	struct ibv_pd *pd = made(ibv_alloc_pd(ctx), "alloc_pd");
	struct ibv_cq *cq = made(ibv_create_cq(ctx, 16, NULL, NULL, 0), "create_cq");
	struct ibv_modify_cq_attr moderation = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { .cq_count = 1, .cq_period = 1,
	} };
	struct ibv_qp *qp;

	must(ibv_resize_cq(cq, 32), "resize_cq");
	must(ibv_modify_cq(cq, &moderation), "modify_cq");
	shared_receives(pd);
	regions(ctx, pd);
	device_region(pd);
	domain(ctx);
	qp = make_qp(pd, cq);
	printf("qp %u\n", qp->qp_num);
	datagrams(pd, qp);
	must(ibv_destroy_qp(qp), "destroy_qp");
	must(ibv_destroy_cq(cq), "destroy_cq");
	must(ibv_dealloc_pd(pd), "dealloc_pd");
	must(ibv_close_device(ctx), "close_device");
	return 0;
}
