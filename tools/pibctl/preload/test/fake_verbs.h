/* SPDX-License-Identifier: GPL-2.0 */
/* A fake libibverbs, behind libpibmanners.so in preload_test. */
#ifndef PIB_PRELOAD_FAKE_VERBS_H
#define PIB_PRELOAD_FAKE_VERBS_H

#include "queues.h"

/* Place of post_send in struct ibv_context_ops. */
#define FAKE_POST_SEND 25

struct context *ibv_open_device(void *device);
int ibv_close_device(struct context *context);
int ibv_destroy_qp(struct qp *qp);

#endif
