/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The subnet management agent; all but pib_sma_process() is for its own files only. */
#ifndef PIB_PROTO_SMA_H
#define PIB_PROTO_SMA_H

#include "mad.h"
#include "node.h"

/**
 * struct pib_sma_req - an SMP on its way through the agent
 * @arrival: port by which it came
 * @port: port that the attribute modifier selects, for attributes of ports
 * @node: owner of both
 * @smp: the whole MAD
 * @am: attribute modifier
 * @now: ns
 * @show_mkey: the requester may see the M_Key (14.2.4.1)
 */
struct pib_sma_req {
	struct pib_port *arrival;
	struct pib_port *port;
	struct pib_node *node;
	const u8 *smp;
	u32 am;
	u64 now;
	bool show_mkey;
};

/*
 * Handlers of an attribute: @data is the attribute, PIB_SMP_DATA_LEN bytes, which are zero before a
 * Get. Context: under the node's lock.
 *
 * Return: enum pib_mad_status.
 */
typedef u16 pib_sma_get(const struct pib_sma_req *r, u8 *data);
typedef u16 pib_sma_set(const struct pib_sma_req *r, const u8 *data);

/**
 * pib_sma_process() - the SMA's answer to an SMP that has reached its node (14.2)
 * @p: arrival port
 * @in: 256 bytes
 * @out: result: 256 bytes, not @in
 * @now: ns
 * @ignore_mkey: the request is the node's own
 *
 * Directed-route hop fields are not looked at (ib_mad or pib_smi_rx() did).
 * Sets events in node and ports. A reply must be held back if the port by which
 * it would leave is no longer up (the request may have disabled it).
 *
 * Context: under the node's lock.
 * Return: enum pib_mad_result, but not PIB_MAD_FORWARD.
 */
enum pib_mad_result pib_sma_process(struct pib_port *p, const u8 *in, u8 *out,
				    u64 now, bool ignore_mkey);

/* These functions are in sma_port.c and sma_tables.c. */
pib_sma_get pib_sma_get_port_info;
pib_sma_set pib_sma_set_port_info;
pib_sma_get pib_sma_get_pkeys;
pib_sma_set pib_sma_set_pkeys;
pib_sma_get pib_sma_get_guids;
pib_sma_set pib_sma_set_guids;
pib_sma_get pib_sma_get_sl2vl;
pib_sma_set pib_sma_set_sl2vl;
pib_sma_get pib_sma_get_vlarb;
pib_sma_set pib_sma_set_vlarb;
pib_sma_get pib_sma_get_lft;
pib_sma_set pib_sma_set_lft;
pib_sma_get pib_sma_get_mft;
pib_sma_set pib_sma_set_mft;

#endif
