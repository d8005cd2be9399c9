// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A doorbell makes the kernel look at a ring. It is a method of pib's own if
 * the kernel has that. If not, it is a post command without work requests,
 * which is refused to a process whose credentials are not those with which the
 * device was opened. Both are written directly, since libibverbs' own calls
 * marshal.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <infiniband/kern-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "doorbell.h"
#include "pib.h"

static bool has_method(const struct ibv_qp *qp)
{
	const struct pib_context *ctx = container_of(qp->context,
						     struct pib_context,
						     vctx.context);

	return ctx->features & PIB_UCTX_DOORBELL;
}

static int ring_method(const struct ibv_qp *qp, uint16_t method)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr handle;
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_QP,
			.method_id = method,
			.num_attrs = 1,
			.driver_id = RDMA_DRIVER_UNKNOWN,
		},
		.handle = {
			.attr_id = PIB_ATTR_QP_RING_HANDLE,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = qp->handle,
		},
	};

	return ioctl(qp->context->cmd_fd, RDMA_VERBS_IOCTL, &cmd) ? errno : 0;
}

static int ring_write(const struct ibv_qp *qp, const void *cmd, size_t size)
{
	ssize_t done = write(qp->context->cmd_fd, cmd, size);

	if (done == (ssize_t)size)
		return 0;
	return done < 0 ? errno : EIO;
}

static int write_send(const struct ibv_qp *qp)
{
	struct ib_uverbs_post_send_resp resp;
	struct ibv_post_send cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.response = (uintptr_t)&resp,
		.qp_handle = qp->handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};

	return ring_write(qp, &cmd, sizeof(cmd));
}

static int write_recv(const struct ibv_qp *qp)
{
	struct ib_uverbs_post_recv_resp resp;
	struct ibv_post_recv cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_RECV,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.response = (uintptr_t)&resp,
		.qp_handle = qp->handle,
		.wqe_size = sizeof(struct ib_uverbs_recv_wr),
	};

	return ring_write(qp, &cmd, sizeof(cmd));
}

/**
 * pib_doorbell_send() - have the kernel read a send queue
 * @qp: queue pair
 *
 * Return: 0 or an errno value.
 */
int pib_doorbell_send(struct ibv_qp *qp)
{
	return has_method(qp) ? ring_method(qp, PIB_METHOD_QP_RING_SEND) :
				write_send(qp);
}

/**
 * pib_doorbell_recv() - have the kernel read a receive queue
 * @qp: queue pair
 *
 * Return: 0 or an errno value.
 */
int pib_doorbell_recv(struct ibv_qp *qp)
{
	return has_method(qp) ? ring_method(qp, PIB_METHOD_QP_RING_RECV) :
				write_recv(qp);
}
