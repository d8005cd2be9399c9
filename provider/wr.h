/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_WR_H
#define PIB_WR_H

#include "pib.h"

int pib_wr_setup(struct pib_qp *qp, uint64_t send_ops);

#endif
