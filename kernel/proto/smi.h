/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The subnet management interface of switches (IBA 14.2.2): directed routes. */
#ifndef PIB_PROTO_SMI_H
#define PIB_PROTO_SMI_H

#include "mad.h"
#include "node.h"

#define PIB_PORT_BY_LID 0xFF	/* out port: as pib_node_route() says for the DLID */

/**
 * pib_smi_rx() - switch: take in an SMP for the SMI (14.2.2)
 * @sw: switch
 * @in_port: arrival port; 0: the switch itself has made the SMP
 * @in: 256 bytes
 * @out: result: 256 bytes, not @in
 * @out_port: result: port by which @out leaves. PIB_PORT_BY_LID for a LID-routed reply, whose
 *	DLID is the request's SLID
 * @now: ns
 *
 * For packets to QP0 that pib_node_route() gave to SELF. pib_smi_lids() tells
 * the LIDs of the packet that carries @out.
 *
 * Context: under the node's lock.
 * Return: enum pib_mad_result; PIB_MAD_NONE also if the port by which @out would leave is not up.
 */
enum pib_mad_result pib_smi_rx(struct pib_node *sw, u8 in_port, const u8 *in,
			       u8 *out, u8 *out_port, u64 now);

/**
 * pib_smi_lids() - LRH of an SMP that a switch sends after pib_smi_rx() (14.2.2)
 * @sw: switch
 * @out: the MAD
 * @result: return value of pib_smi_rx()
 * @req: headers of the packet that came in
 * @slid: result; permissive inside the directed part of the way
 * @dlid: result
 *
 * Context: under the node's lock.
 */
void pib_smi_lids(const struct pib_node *sw, const u8 *out, enum pib_mad_result result,
		  const struct pib_hdrs *req, u16 *slid, u16 *dlid);

/*
 * Return: the SLID of the answer to @req: the LID that was asked, if that is one of port 0's, which
 * may have several; else port 0's base LID. Context: under the node's lock.
 */
u16 pib_node_slid(const struct pib_node *sw, const struct pib_hdrs *req);

#endif
