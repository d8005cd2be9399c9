/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Management datagrams that ib_mad hands to the HCA's own agents. */
#ifndef PIB_VERBS_MAD_H
#define PIB_VERBS_MAD_H

#include <rdma/ib_mad.h>

/* ib_device_ops. Context: any but hard interrupts. Return: enum ib_mad_result. */
int pib_process_mad(struct ib_device *ibdev, int flags, u32 port_num, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index);

#endif
