// SPDX-License-Identifier: GPL-2.0
/*
 * marker DEVICE TEXT: a mark of a program's own in each trace of pib that runs, as docs/trace.md
 * says. Needs no rights but to open the device.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include "device.h"

/* of rdma/pib-abi.h */
enum { PIB_METHOD_TRACE_MARK = 1U << UVERBS_ID_NS_SHIFT };
enum { PIB_ATTR_TRACE_MARK_TEXT = 1U << UVERBS_ID_NS_SHIFT };

/* 0, or -1 with errno: EINVAL: @text is empty or has more than 64 bytes. */
static int mark(struct ibv_context *ctx, const char *text)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr text;
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = PIB_METHOD_TRACE_MARK,
			.num_attrs = 1,
		},
		.text = {
			.attr_id = PIB_ATTR_TRACE_MARK_TEXT,
			.len = strlen(text),
			.flags = UVERBS_ATTR_F_MANDATORY,
		},
	};

	/* up to 8 bytes stand in the place of the address */
	if (cmd.text.len > sizeof(cmd.text.data))
		cmd.text.data = (uintptr_t)text;
	else
		memcpy(&cmd.text.data, text, cmd.text.len);
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &cmd);
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx = argc == 3 ? open_device(argv[1]) : NULL;

	if (!ctx || mark(ctx, argv[2])) {
		fprintf(stderr, "marker: %s\n", ctx ? strerror(errno) : "DEVICE TEXT");
		return 1;
	}
	return 0;
}
