/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting, by processes and by consumers in the kernel (transport/post.c). */
#ifndef PIB_TRANSPORT_POST_H
#define PIB_TRANSPORT_POST_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition pib_post_defs[];

/* ib_device_ops. Context: any. Return: 0 or -errno. */
int pib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int pib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);

#endif
