/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Regions over the memory of another device. */
#ifndef PIB_MEMORY_DMABUF_H
#define PIB_MEMORY_DMABUF_H

#include <rdma/ib_verbs.h>

/* ib_device_ops. Context: process. Return: the region; ERR_PTR(). */
struct ib_mr *pib_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
				     int fd, int access);

#endif
