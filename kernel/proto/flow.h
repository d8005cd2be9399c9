/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Flows of a link: packets whose order counts share a UDP source port; the ports are few. */
#ifndef PIB_PROTO_FLOW_H
#define PIB_PROTO_FLOW_H

#include "env.h"
#include "hdrs.h"

/* Source ports of flows are sought from here on: the dynamic ones (RFC 6335). */
#define PIB_FLOW_PORT_MIN	0xC000
#define PIB_FLOW_PORTS		16

/*
 * Return: a number that is the same for all packets from one QP to another, and spread over 32 bits
 * for others. Context: any.
 */
u32 pib_flow_hash(const struct pib_hdrs *h);

/*
 * Return: the number of a flow that is all of a VL's data, where VLs have windows (proto/credit.h):
 * of sixteen ports each VL has its own. Context: any.
 */
static inline u32 pib_flow_of_vl(u8 vl)
{
	return (u32)vl << 28;
}

#define PIB_FLOW_LABEL_BITS	20
/*
 * Return: IPv6's flow label of a flow that pib_flow_hash() tells; never 0. Without @secret a label
 * says nothing about QPNs (RFC 6437, 3). Context: any.
 */
u32 pib_flow_label(const u64 secret[2], u32 hash);

#endif
