// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A doorbell is a post command without work requests: it makes the kernel
 * look at the ring. Written directly, since libibverbs' own call allocates
 * and marshals for a list.
 */
#include <errno.h>
#include <unistd.h>

#include <infiniband/kern-abi.h>

#include "doorbell.h"

static int ring_bell(const struct ibv_qp *qp, const void *cmd, size_t size)
{
	ssize_t done = write(qp->context->cmd_fd, cmd, size);

	if (done == (ssize_t)size)
		return 0;
	return done < 0 ? errno : EIO;
}

int pib_doorbell_send(struct ibv_qp *qp)
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

	return ring_bell(qp, &cmd, sizeof(cmd));
}

int pib_doorbell_recv(struct ibv_qp *qp)
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

	return ring_bell(qp, &cmd, sizeof(cmd));
}
