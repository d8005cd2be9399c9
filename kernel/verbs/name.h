/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of HCAs, which `rdma dev set` changes at any time. */
#ifndef PIB_VERBS_NAME_H
#define PIB_VERBS_NAME_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct pib_hca;

/**
 * pib_names_init() - begin to follow names, before the first HCA is made
 *
 * Context: process; may sleep.
 * Return: 0 or -errno.
 */
int pib_names_init(void);
/**
 * pib_names_exit() - end that, when the last HCA is gone
 *
 * Context: process; sleeps.
 */
void pib_names_exit(void);

/**
 * pib_hca_has_name() - tell whether an HCA has a name just now
 * @hca: HCA
 * @name: the name
 *
 * Context: process.
 * Return: true: it has.
 */
bool pib_hca_has_name(struct pib_hca *hca, const char *name);
/**
 * pib_hca_get_name() - copy the present name of an HCA
 * @hca: HCA
 * @name: result
 *
 * Context: process.
 */
void pib_hca_get_name(struct pib_hca *hca, char name[IB_DEVICE_NAME_MAX]);

#endif
