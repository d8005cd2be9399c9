// SPDX-License-Identifier: GPL-2.0
#include "fake_verbs.h"

static struct context context;

/* The device calls these when work requests are posted, and when a queue pair is destroyed. */
VISIBLE int (*fake_post_send)(struct qp *qp, struct send_wr *list, struct send_wr **bad);
VISIBLE void (*fake_destroys)(struct qp *qp);

static int post_send(struct qp *qp, struct send_wr *list, struct send_wr **bad)
{
	return fake_post_send(qp, list, bad);
}

VISIBLE struct context *ibv_open_device(void *device)
{
	context.device = device;
	context.ops[FAKE_POST_SEND] = (void *)post_send;
	return &context;
}

VISIBLE int ibv_close_device(struct context *closed)
{
	closed->device = NULL;
	return 0;
}

VISIBLE const char *ibv_get_device_name(void *device)
{
	return device ? "fake0" : NULL;
}

VISIBLE int ibv_destroy_qp(struct qp *qp)
{
	if (fake_destroys)
		fake_destroys(qp);
	return 0;
}
