/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Declarations that the files of the subnet management agent share; not for env. */
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

/* Handlers of an attribute: @data is the 64-byte attribute. Return: enum pib_mad_status. */
typedef u16 pib_sma_get(const struct pib_sma_req *r, u8 *data);
typedef u16 pib_sma_set(const struct pib_sma_req *r, const u8 *data);

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

/* Ports that carry LID, M_Key and the like: those of HCAs, and port 0 of a switch. */
static inline bool pib_port_is_mgmt(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_CA || p->num == 0;
}

/* Switch port 0 without the abilities of an HCA port: no link states of its own. */
static inline bool pib_port_is_base0(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_SWITCH && p->num == 0 && !p->node->enhanced_sp0;
}

/* The port whose M_Key, LID and SM speak for @p (14.2.4). */
static inline struct pib_port *pib_port_mgmt(const struct pib_port *p)
{
	return p->node->type == PIB_NODE_CA ? p->node->ports[p->num] : p->node->ports[0];
}

/* Leave the link: state Down, physical state @phys. */
void pib_port_set_down(struct pib_port *p, u8 phys);

/* Trap 256: @smp came by @p with a bad M_Key. */
void pib_trap_bad_mkey(struct pib_port *p, const u8 *smp, u64 now);

/* TrapRepress with @tid: stop repeating. */
void pib_trap_repress(struct pib_node *n, u64 tid);

/* Write the Notice attribute of @t (13.4.8.2). */
void pib_trap_notice(const struct pib_node *n, const struct pib_trap *t, u8 *data);

#endif
