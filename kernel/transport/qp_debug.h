/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Debug messages of queue pairs, which are off by default (docs/debugging.md). */
#ifndef PIB_TRANSPORT_QP_DEBUG_H
#define PIB_TRANSPORT_QP_DEBUG_H

#include <rdma/ib_verbs.h>
#include "hca/hca.h"
#include "proto/rc.h"
#include "transport/qp.h"

/* Print a debug message of a QP. Any context. */
#define pib_qp_dbg(qp, fmt, ...) \
	ibdev_dbg(&(qp)->hca->ib, "qp %u: " fmt "\n", (qp)->qpn, ##__VA_ARGS__)

/**
 * pib_qp_state_name() - name a state as the IBA spells it
 * @state: the state
 *
 * Context: any.
 * Return: the name.
 */
const char *pib_qp_state_name(enum ib_qp_state state);
/**
 * pib_res_name() - tell the result of a request in words
 * @res: the result
 *
 * Context: any.
 * Return: the words.
 */
const char *pib_res_name(enum pib_res res);

#endif
