/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting by ioctls. pib_post_send() and pib_post_recv() are with the queue pairs (qp.h). */
#ifndef PIB_TRANSPORT_POST_H
#define PIB_TRANSPORT_POST_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition pib_post_defs[];

#endif
