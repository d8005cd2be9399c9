// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet management agent (IBA 14.2): finds the row of the attribute, guards
 * it with the M_Key, and makes the answer.
 */
#include "mad.h"
#include "node.h"
#include "sma.h"
#include "trap.h"

/* Meanings of the attribute modifier. */
enum sma_am {
	AM_NONE,	/* nothing; must not matter */
	AM_OWN,		/* the handler looks at it itself; the port is the arrival port */
	AM_PORT,	/* bits 0-30 (PortInfo) or 0-7: a port; 0: arrival port of an HCA */
	AM_PORT_LOW,	/* bits 0-15: a port */
	AM_PORT_HIGH,	/* bits 16-31: a port of a switch; HCAs: the arrival port */
};

/**
 * struct sma_attr - an attribute and the functions that answer it
 * @id: attribute id
 * @nodes: bit per enum pib_node_type
 * @am: enum sma_am
 * @get: fills in the attribute, zero before
 * @set: NULL: method not supported
 */
struct sma_attr {
	u16 id;
	u8 nodes;
	u8 am;
	pib_sma_get *get;
	pib_sma_set *set;
};

#define CA	(1 << PIB_NODE_CA)
#define SW	(1 << PIB_NODE_SWITCH)

static u16 get_node_desc(const struct pib_sma_req *r, u8 *d)
{
	memcpy(d, r->node->desc, 64);
	return PIB_STATUS_OK;
}

static u16 get_node_info(const struct pib_sma_req *r, u8 *d)
{
	const struct pib_node *n = r->node;

	d[0] = 1;	/* BaseVersion */
	d[1] = 1;	/* ClassVersion */
	d[2] = n->type;
	d[3] = n->num_ports;
	pib_put64(d + 4, n->sys_guid);
	pib_put64(d + 12, n->guid);
	pib_put64(d + 20, pib_port_mgmt(r->arrival)->guid);
	pib_put16(d + 28, pib_port_pkeys(r->arrival));
	pib_put16(d + 30, n->device_id);
	pib_put32(d + 32, n->revision);
	pib_put32(d + 36, (u32)r->arrival->num << 24 | (n->vendor_id & 0xFFFFFF));
	return PIB_STATUS_OK;
}

/* IBA 14.2.5.4 */
static u16 get_switch_info(const struct pib_sma_req *r, u8 *d)
{
	struct pib_node *n = r->node;

	/* An SM that asks reads the ports' states next. */
	if (r->smp[PIB_MAD_METHOD] == PIB_METHOD_GET)
		n->change_untold = false;
	pib_put16(d, PIB_LFT_SIZE);
	pib_put16(d + 4, PIB_MFT_SIZE);
	pib_put16(d + 6, n->lft_top);
	d[8] = n->default_port;
	d[9] = n->default_mcast_primary;
	d[10] = n->default_mcast_secondary;
	d[11] = n->life_time << 3 | (n->port_state_change ? 0x4 : 0);
	pib_put16(d + 14, PIB_SWITCH_PKEYS);	/* PartitionEnforcementCap */
	d[16] = 0xC0 | (n->enhanced_sp0 ? 0x08 : 0);	/* enforces inbound and outbound */
	pib_put16(d + 18, n->mft_top);
	return PIB_STATUS_OK;
}

static u16 set_switch_info(const struct pib_sma_req *r, const u8 *d)
{
	struct pib_node *n = r->node;

	if (pib_get16(d + 6) >= PIB_LFT_SIZE)
		return PIB_STATUS_INVALID;
	WRITE_ONCE(n->lft_top, pib_get16(d + 6));
	n->default_port = d[8];
	WRITE_ONCE(n->default_mcast_primary, d[9]);
	WRITE_ONCE(n->default_mcast_secondary, d[10]);
	WRITE_ONCE(n->life_time, d[11] >> 3);
	if (d[11] & 0x4)
		n->port_state_change = false;
	WRITE_ONCE(n->mft_top, pib_get16(d + 18));
	return PIB_STATUS_OK;
}

/* The oldest notice not yet repressed. */
static struct pib_trap *oldest_notice(struct pib_node *n)
{
	struct pib_trap *t, *oldest = NULL;

	for (t = n->traps; t < n->traps + PIB_TRAPS; t++) {
		if (t->due && (!oldest || t->tid < oldest->tid))
			oldest = t;
	}
	return oldest;
}

/* The attribute is all zero if there is no notice (14.2.5.1). */
static u16 get_notice(const struct pib_sma_req *r, u8 *d)
{
	const struct pib_trap *t = oldest_notice(r->node);

	if (t)
		pib_trap_notice(r->node, t, d);
	return PIB_STATUS_OK;
}

/* An SM that polls has read the notice, which leaves the queue (13.4.9). */
static u16 set_notice(const struct pib_sma_req *r, const u8 *d)
{
	struct pib_trap *t = oldest_notice(r->node);

	if (t)
		t->due = 0;
	return PIB_STATUS_OK;
}

static u16 get_led(const struct pib_sma_req *r, u8 *d)
{
	d[0] = r->port->led ? 0x80 : 0;
	return PIB_STATUS_OK;
}

static u16 set_led(const struct pib_sma_req *r, const u8 *d)
{
	r->port->led = d[0] >> 7;
	return PIB_STATUS_OK;
}

/*
 * PortInfoExtended: its CapMask offers no FEC mode, so all components are zero. The same for a
 * vendor's MlnxExtPortInfo: there is no FDR10 to be supported, enabled or active.
 */
static u16 get_port_info_ext(const struct pib_sma_req *r, u8 *d)
{
	return PIB_STATUS_OK;
}

static u16 set_port_info_ext(const struct pib_sma_req *r, const u8 *d)
{
	return PIB_STATUS_OK;
}

static const struct sma_attr sma_attrs[] = {
	{ PIB_SM_NOTICE, CA | SW, AM_NONE, get_notice, set_notice },
	{ PIB_SM_NODE_DESC, CA | SW, AM_NONE, get_node_desc, NULL },
	{ PIB_SM_NODE_INFO, CA | SW, AM_NONE, get_node_info, NULL },
	{ PIB_SM_SWITCH_INFO, SW, AM_NONE, get_switch_info, set_switch_info },
	{ PIB_SM_GUID_INFO, CA | SW, AM_OWN, pib_sma_get_guids, pib_sma_set_guids },
	{ PIB_SM_PORT_INFO, CA | SW, AM_PORT, pib_sma_get_port_info, pib_sma_set_port_info },
	{ PIB_SM_PKEY_TABLE, CA | SW, AM_PORT_HIGH, pib_sma_get_pkeys, pib_sma_set_pkeys },
	{ PIB_SM_SL2VL, CA | SW, AM_OWN, pib_sma_get_sl2vl, pib_sma_set_sl2vl },
	{ PIB_SM_VLARB, CA | SW, AM_PORT_LOW, pib_sma_get_vlarb, pib_sma_set_vlarb },
	{ PIB_SM_LFT, SW, AM_OWN, pib_sma_get_lft, pib_sma_set_lft },
	{ PIB_SM_MFT, SW, AM_OWN, pib_sma_get_mft, pib_sma_set_mft },
	{ PIB_SM_LED_INFO, CA | SW, AM_PORT, get_led, set_led },
	{ PIB_SM_PORT_INFO_EXT, CA | SW, AM_PORT, get_port_info_ext, set_port_info_ext },
	{ PIB_SM_MLNX_EXT_PORT_INFO, CA | SW, AM_PORT, get_port_info_ext, set_port_info_ext },
};

/*
 * Devices of Mellanox that OpenSM and libibnetdisc ask for MlnxExtPortInfo, by DeviceID, and
 * complain if they do not get it. A node has such an id only if it was made so.
 */
static bool has_mlnx_ext_port_info(const struct pib_node *n)
{
	static const u16 ids[][2] = {
		{ 0xC738, 0xC73B }, { 0xC839, 0xC839 }, { 0xCB20, 0xCB20 }, { 0xCF08, 0xCF09 },
		{ 0xD2F0, 0xD2F0 }, { 0x1003, 0x101B }, { 0xA2D2, 0xA2D2 },
	};
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (n->device_id >= ids[i][0] && n->device_id <= ids[i][1])
			return true;
	return false;
}

static const struct sma_attr *sma_find_attr(u16 id, const struct pib_node *n)
{
	size_t i;

	if (id == PIB_SM_MLNX_EXT_PORT_INFO && !has_mlnx_ext_port_info(n))
		return NULL;
	for (i = 0; i < sizeof(sma_attrs) / sizeof(sma_attrs[0]); i++)
		if (sma_attrs[i].id == id && (sma_attrs[i].nodes >> n->type & 1))
			return &sma_attrs[i];
	return NULL;
}

/* ---- M_Key (14.2.4) ---- */

static bool key_fits(const struct pib_port *m, u64 key)
{
	return !m->m_key || m->m_key == key;
}

static void key_violation(struct pib_port *m, struct pib_port *arrival, const u8 *smp, u64 now)
{
	if (m->m_key_viol != 0xFFFF)
		m->m_key_viol++;
	if (!m->m_key_lease_end && m->m_key_lease)
		m->m_key_lease_end = now + m->m_key_lease * PIB_NSEC_PER_SEC;
	pib_trap_bad_mkey(arrival, smp, now);
}

/*
 * Return: true if the request passes @m's M_Key. A Get passes below level 2. A key that fits ends
 * the lease.
 */
static bool mkey_check(struct pib_port *m, struct pib_port *arrival, const u8 *smp, u64 now)
{
	if (m->m_key_lease_end && now >= m->m_key_lease_end) {
		m->m_key_lease_end = 0;
		m->m_key_prot = 0;
	}
	if (key_fits(m, pib_get64(smp + PIB_MAD_M_KEY))) {
		m->m_key_lease_end = 0;
		return true;
	}
	if (smp[PIB_MAD_METHOD] == PIB_METHOD_GET && m->m_key_prot < 2)
		return true;
	key_violation(m, arrival, smp, now);
	return false;
}

/* ---- requests ---- */

static bool is_dr(const u8 *smp)
{
	return smp[PIB_MAD_CLASS] == PIB_CLASS_SM_DR;
}

/* Turn the request into its answer; @data NULL: the attribute as it came. */
static enum pib_mad_result sma_reply(const u8 *in, u8 *out, u16 status, const u8 *data)
{
	memcpy(out, in, PIB_MAD_SIZE);
	out[PIB_MAD_METHOD] |= PIB_METHOD_RESPONSE;
	if (in[PIB_MAD_METHOD] == PIB_METHOD_SET)
		out[PIB_MAD_METHOD] = PIB_METHOD_GET_RESP;
	if (is_dr(in))
		status |= PIB_SMP_DIRECTION;
	pib_put16(out + PIB_MAD_STATUS, status);
	if (data)
		memcpy(out + PIB_MAD_DATA, data, PIB_SMP_DATA_LEN);
	return PIB_MAD_REPLY;
}

/* The port that the modifier names, or NULL. */
static struct pib_port *select_port(const struct pib_sma_req *r, u8 how)
{
	bool ca = r->node->type == PIB_NODE_CA;
	u32 num;

	switch (how) {
	case AM_PORT:
		num = r->am & 0x7FFFFFFF;
		break;
	case AM_PORT_LOW:
		num = r->am & 0xFFFF;
		break;
	case AM_PORT_HIGH:
		num = ca ? 0 : r->am >> 16;
		break;
	default:
		return pib_port_mgmt(r->arrival);
	}
	if (ca && !num)
		return r->arrival;
	return num <= r->node->num_ports ? r->node->ports[num] : NULL;
}

static enum pib_mad_result sma_process(struct pib_sma_req *r, const struct sma_attr *a, u8 *out)
{
	u8 data[PIB_SMP_DATA_LEN] = { 0 };
	u16 status = PIB_STATUS_OK;

	if (r->smp[PIB_MAD_METHOD] == PIB_METHOD_SET)
		status = a->set(r, r->smp + PIB_MAD_DATA);
	status |= a->get(r, data);
	return sma_reply(r->smp, out, status, data);
}

/* An HCA's other port may belong to another subnet: its key must fit as well. */
static bool other_port_ok(const struct pib_sma_req *r, bool ignore_mkey)
{
	struct pib_port *m;

	if (ignore_mkey || r->port == r->arrival || r->node->type != PIB_NODE_CA)
		return true;
	m = r->port;
	return mkey_check(m, m, r->smp, r->now);
}

/* Answer for an attribute of no table: an SM is asked in user space, others are refused. */
static enum pib_mad_result unknown_attr(struct pib_port *p, const u8 *in, u8 *out)
{
	if (pib_get16(in + PIB_MAD_ATTR) == PIB_SM_SM_INFO && p->node->type == PIB_NODE_CA &&
	    (p->cap_mask & PIB_CAPM_SM))
		return PIB_MAD_LOCAL;
	return sma_reply(in, out, PIB_STATUS_BAD_ATTR, NULL);
}

static enum pib_mad_result get_or_set(struct pib_port *p, const u8 *in, u8 *out, u64 now,
				      bool ignore_mkey)
{
	const struct sma_attr *a = sma_find_attr(pib_get16(in + PIB_MAD_ATTR), p->node);
	struct pib_port *m = pib_port_mgmt(p);
	struct pib_sma_req r = {
		.arrival = p, .node = p->node, .smp = in, .now = now,
		.am = pib_get32(in + PIB_MAD_ATTR_MOD),
	};

	if (!ignore_mkey && !mkey_check(m, p, in, now))
		return PIB_MAD_NONE;
	if (!a || (in[PIB_MAD_METHOD] == PIB_METHOD_SET && !a->set))
		return unknown_attr(p, in, out);
	r.port = select_port(&r, a->am);
	if (!r.port)
		return sma_reply(in, out, PIB_STATUS_INVALID, NULL);
	if (!other_port_ok(&r, ignore_mkey))
		return PIB_MAD_NONE;
	m = pib_port_mgmt(r.port);
	r.show_mkey = ignore_mkey || !m->m_key_prot || in[PIB_MAD_METHOD] == PIB_METHOD_SET ||
		      key_fits(m, pib_get64(in + PIB_MAD_M_KEY));
	return sma_process(&r, a, out);
}

static enum pib_mad_result trap_repress(struct pib_port *p, const u8 *in, u64 now,
					bool ignore_mkey)
{
	if (pib_get16(in + PIB_MAD_ATTR) != PIB_SM_NOTICE)
		return PIB_MAD_NONE;
	if (ignore_mkey || mkey_check(pib_port_mgmt(p), p, in, now))
		pib_trap_repress(p->node, pib_get64(in + PIB_MAD_TID));
	return PIB_MAD_NONE;
}

enum pib_mad_result pib_sma_process(struct pib_port *p, const u8 *in, u8 *out, u64 now,
				    bool ignore_mkey)
{
	u8 method = in[PIB_MAD_METHOD];

	/* Answers, and messages to SMs, are not for an agent. */
	if ((method & PIB_METHOD_RESPONSE) || method == PIB_METHOD_TRAP ||
	    method == PIB_METHOD_SEND || method == PIB_METHOD_REPORT)
		return p->node->type == PIB_NODE_CA ? PIB_MAD_LOCAL : PIB_MAD_NONE;
	if (in[PIB_MAD_BASE_VERSION] != 1 || in[PIB_MAD_CLASS_VERSION] != 1)
		return sma_reply(in, out, PIB_STATUS_BAD_VERSION, NULL);
	switch (method) {
	case PIB_METHOD_GET:
	case PIB_METHOD_SET:
		return get_or_set(p, in, out, now, ignore_mkey);
	case PIB_METHOD_TRAP_REPRESS:
		return trap_repress(p, in, now, ignore_mkey);
	}
	return sma_reply(in, out, PIB_STATUS_BAD_METHOD, NULL);
}
