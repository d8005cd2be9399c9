/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* `rdma link add NAME type pib netdev DEV`. */
#ifndef PIB_CONTROL_RDMA_LINK_H
#define PIB_CONTROL_RDMA_LINK_H

/* Offer the type `pib` to `rdma link add`, or withdraw it. Context: process; sleep. */
void pib_rdma_link_init(void);
void pib_rdma_link_exit(void);

#endif
