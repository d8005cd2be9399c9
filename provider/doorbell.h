/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_DOORBELL_H
#define PIB_DOORBELL_H

#include <infiniband/verbs.h>

int pib_doorbell_send(struct ibv_qp *qp);
int pib_doorbell_recv(struct ibv_qp *qp);

#endif
