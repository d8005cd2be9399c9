/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The performance management agent, and the agents behind QP1 as a whole.
 * pib_pma_*() is for its own files only.
 */
#ifndef PIB_PROTO_PMA_H
#define PIB_PROTO_PMA_H

#include "mad.h"
#include "node.h"

#define PIB_PMA_DATA_LEN	192
#define PIB_PMA_ALL_PORTS	0xFF

/**
 * pib_node_gsi_ok() - switch: check a packet to QP1 of port 0
 * @sw: switch
 * @h: headers of the packet
 * @pkey: result, if so, for the answer: port 0's own entry of the partition (13.5.4)
 * @now: ns
 *
 * Before an enhanced port 0 is ARMED no packet comes in (7.2.7). P_Key and Q_Key are checked as an
 * HCA's port does for its QP1 (10.9.4). Violations are counted and trapped.
 *
 * Context: under the node's lock.
 * Return: true if the packet may come in: it is pib_gsa_process()'s.
 */
bool pib_node_gsi_ok(struct pib_node *sw, const struct pib_hdrs *h, u16 *pkey, u64 now);

/**
 * pib_gsa_process() - answer a MAD that came to QP1
 * @p: port 0 of a switch, arrival port of an HCA
 * @in: the request, PIB_MAD_SIZE bytes
 * @out: result: PIB_MAD_SIZE bytes, not @in
 * @now: ns
 *
 * Performance management (16.1), congestion control (A10), a refusal of other classes.
 *
 * Context: under the node's lock; for class PIB_CLASS_PERF another one will do, see proto/node.h.
 * Return: enum pib_mad_result, but not PIB_MAD_FORWARD; PIB_MAD_LOCAL for classes not answered here
 *	on HCAs.
 */
enum pib_mad_result pib_gsa_process(struct pib_port *p, const u8 *in, u8 *out, u64 now);

/*
 * Find the ports @first to @last that PortSelect @select names, for an agent at @p. Context: any.
 *
 * Return: false: there is no such port.
 */
bool pib_pma_ports(const struct pib_port *p, u8 select, u8 *first, u8 *last);

#endif
