/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PortSamplesControl and its results (IBA 16.1.3.2); for the performance management agent only. */
#ifndef PIB_PROTO_PMA_SAMPLES_H
#define PIB_PROTO_PMA_SAMPLES_H

#include "node.h"

/*
 * Answer PortSamplesControl, PortSamplesResult and, if @wide, PortSamplesResultExtended (16.1.3.2,
 * 16.1.3.4). @p is the port of the agent, @in the request, @attr the attribute in the reply, as it
 * came, @now in ns.
 *
 * Context: as pib_gsa_process().
 * Return: enum pib_mad_status.
 */
u16 pib_pma_samples_control(struct pib_port *p, const u8 *in, u8 *attr, u64 now);
u16 pib_pma_samples_result(struct pib_port *p, const u8 *in, u8 *attr, bool wide, u64 now);

#endif
