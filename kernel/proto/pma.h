/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Declarations that the files of the performance management agent share; not for env. */
#ifndef PIB_PROTO_PMA_H
#define PIB_PROTO_PMA_H

#include "mad.h"
#include "node.h"

#define PIB_PMA_DATA_LEN	192
#define PIB_PMA_ALL_PORTS	0xFF

/* The ports that PortSelect names, for an agent at @p. Return: false: there is no such port. */
bool pib_pma_ports(const struct pib_port *p, u8 select, u8 *first, u8 *last);

/*
 * PortSamplesControl, PortSamplesResult and, if @wide, PortSamplesResultExtended. @in is the
 * request, @attr the attribute in the reply, as it came.
 *
 * Return: enum pib_mad_status.
 */
u16 pib_pma_samples_control(struct pib_port *p, const u8 *in, u8 *attr, u64 now);
u16 pib_pma_samples_result(struct pib_port *p, const u8 *in, u8 *attr, bool wide, u64 now);

#endif
