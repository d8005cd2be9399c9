/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of HCAs, which `rdma dev set` changes at any time. */
#ifndef PIB_VERBS_NAME_H
#define PIB_VERBS_NAME_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct pib_hca;

/* Begin to follow names, before the first HCA is made. Process context. Return: 0 or -errno. */
int pib_names_init(void);
/* End that, when the last HCA is gone. Process context; sleeps. */
void pib_names_exit(void);

/* Return: true if @name is the name of the HCA just now. Process context. */
bool pib_hca_has_name(struct pib_hca *hca, const char *name);
/* Copy the present name of the HCA. Process context. */
void pib_hca_get_name(struct pib_hca *hca, char name[IB_DEVICE_NAME_MAX]);

#endif
