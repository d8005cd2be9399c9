// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PortInfo (IBA 14.2.5.6). A Set is checked whole before anything changes. A Set that
 * fails leaves the port as it was and is answered with status 0x1C.
 */
#include "mad.h"
#include "node.h"
#include "sma.h"

#define NO_CHANGE		0
#define WIDTH_ALL		0xFF
#define SPEED_ALL		0x0F
#define EXT_SPEED_OFF		30
#define EXT_SPEED_ALL		31
#define EXT_SPEED2_OFF		6
#define EXT_SPEED2_ALL		7
#define AM_EXT_SPEEDS		0x80000000u	/* the SM knows of extended speeds */

/* Offsets of the components; two in a byte: the upper half is named first. */
enum port_info_off {
	PI_M_KEY = 0,
	PI_GID_PREFIX = 8,
	PI_LID = 16,
	PI_SM_LID = 18,
	PI_CAP_MASK = 20,
	PI_DIAG_CODE = 24,
	PI_M_KEY_LEASE = 26,
	PI_LOCAL_PORT = 28,
	PI_WIDTH_EN = 29,
	PI_WIDTH_SUP = 30,
	PI_WIDTH_ACT = 31,
	PI_SPEED_SUP_STATE = 32,	/* LinkSpeedSupported, PortState */
	PI_PHYS_DOWN_DEFAULT = 33,	/* PortPhysicalState, LinkDownDefaultState */
	PI_PROT_LMC = 34,		/* M_KeyProtectBits, LMC */
	PI_SPEED_ACT_EN = 35,		/* LinkSpeedActive, LinkSpeedEnabled */
	PI_MTU_SM_SL = 36,		/* NeighborMTU, MasterSMSL */
	PI_VL_CAP_INIT = 37,		/* VLCap, InitType */
	PI_VL_HIGH_LIMIT = 38,
	PI_ARB_HIGH_CAP = 39,
	PI_ARB_LOW_CAP = 40,
	PI_INIT_MTU_CAP = 41,		/* InitTypeReply, MTUCap */
	PI_STALL_HOQ = 42,		/* VLStallCount, HOQLife */
	PI_VLS_ENFORCE = 43,		/* OperationalVLs, partition enforcement */
	PI_M_KEY_VIOL = 44,
	PI_PKEY_VIOL = 46,
	PI_QKEY_VIOL = 48,
	PI_GUID_CAP = 50,
	PI_REREG_TIMEOUT = 51,		/* ClientReregister, SubnetTimeOut */
	PI_RESP_TIME = 52,
	PI_ERR_THRESHOLDS = 53,		/* LocalPhyErrors, OverrunErrors */
	PI_CREDIT_HINT = 54,
	PI_EXT_SPEED2 = 56,		/* 2nd set of extended speeds, LinkRoundTripLatency */
	PI_CAP_MASK2 = 60,
	PI_EXT_ACT_SUP = 62,		/* LinkSpeedExtActive, LinkSpeedExtSupported */
	PI_EXT_EN = 63,
};

#define EXT_LOW(mask)		((mask) & 0x0F)	/* FDR .. NDR */
#define EXT_XDR(mask)		((mask) >> 4 & 1)

/* ---- Get ---- */

static void get_mgmt(const struct pib_sma_req *r, u8 *d)
{
	const struct pib_port *p = r->port;

	pib_put64(d + PI_M_KEY, r->show_mkey ? p->m_key : 0);
	pib_put64(d + PI_GID_PREFIX, p->gid_prefix);
	pib_put16(d + PI_LID, p->lid);
	pib_put16(d + PI_SM_LID, p->sm_lid);
	pib_put32(d + PI_CAP_MASK, p->cap_mask);
	pib_put16(d + PI_DIAG_CODE, p->diag_code);
	pib_put16(d + PI_M_KEY_LEASE, p->m_key_lease);
	d[PI_PROT_LMC] = p->m_key_prot << 6 | p->lmc;
	d[PI_MTU_SM_SL] |= p->sm_sl;
	pib_put16(d + PI_M_KEY_VIOL, p->m_key_viol);
	pib_put16(d + PI_PKEY_VIOL, p->pkey_viol);
	pib_put16(d + PI_QKEY_VIOL, p->qkey_viol);
	d[PI_GUID_CAP] = pib_port_guids(p);
	d[PI_REREG_TIMEOUT] = p->subnet_timeout;
	if (r->smp[PIB_MAD_METHOD] == PIB_METHOD_SET)	/* the answer to a Set echoes it */
		d[PI_REREG_TIMEOUT] |= r->smp[PIB_MAD_DATA + PI_REREG_TIMEOUT] & 0x80;
	d[PI_RESP_TIME] = p->resp_time;
	pib_put16(d + PI_CAP_MASK2, p->cap_mask2);
}

static void get_speed(const struct pib_port *p, u8 *d)
{
	u8 en = EXT_LOW(p->ext_speed_en);

	d[PI_WIDTH_EN] = p->width_en;
	d[PI_WIDTH_SUP] = p->width_sup;
	d[PI_WIDTH_ACT] = p->width_act;
	d[PI_SPEED_SUP_STATE] |= p->speed_sup << 4;
	d[PI_SPEED_ACT_EN] = p->speed_act << 4 | p->speed_en;
	d[PI_EXT_SPEED2] |= EXT_XDR(p->ext_speed_act) << 5 | EXT_XDR(p->ext_speed_sup) << 3 |
			    EXT_XDR(p->ext_speed_en);
	d[PI_EXT_ACT_SUP] = EXT_LOW(p->ext_speed_act) << 4 | EXT_LOW(p->ext_speed_sup);
	d[PI_EXT_EN] = !en && p->ext_speed_sup ? EXT_SPEED_OFF : en;
}

static void get_link(const struct pib_port *p, u8 *d)
{
	d[PI_SPEED_SUP_STATE] |= p->state;
	d[PI_PHYS_DOWN_DEFAULT] = p->phys << 4 | p->link_down_default;
	d[PI_MTU_SM_SL] |= p->nbr_mtu << 4;
	d[PI_VL_CAP_INIT] = p->vl_cap << 4 | p->init_type;
	d[PI_VL_HIGH_LIMIT] = p->vl_high_limit;
	d[PI_ARB_HIGH_CAP] = p->vl_arb_high_cap;
	d[PI_ARB_LOW_CAP] = p->vl_arb_low_cap;
	d[PI_INIT_MTU_CAP] = p->init_type_reply << 4 | p->mtu_cap;
	d[PI_STALL_HOQ] = p->vl_stall_count << 5 | p->hoq_life;
	d[PI_VLS_ENFORCE] = p->op_vls << 4 | p->part_enforce;
	d[PI_ERR_THRESHOLDS] = p->local_phy_err << 4 | p->overrun_err;
	pib_put16(d + PI_CREDIT_HINT, p->max_credit_hint);
	pib_put32(d + PI_EXT_SPEED2, p->link_rtt & 0xFFFFFF);
}

u16 pib_sma_get_port_info(const struct pib_sma_req *r, u8 *d)
{
	get_link(r->port, d);
	get_speed(r->port, d);
	if (pib_port_is_mgmt(r->port))
		get_mgmt(r, d);
	d[PI_LOCAL_PORT] = r->arrival->num;
	return PIB_STATUS_OK;
}

/* ---- checks of a Set ---- */

/* INIT -> ARMED -> ACTIVE one by one; a physical state goes with DOWN or NoChange only. */
static bool state_ok(const struct pib_port *p, u8 state, u8 phys)
{
	if (phys > PIB_PHYS_DISABLED)
		return false;
	switch (state) {
	case PIB_PORT_NOP:
	case PIB_PORT_DOWN:
		return true;
	case PIB_PORT_ARMED:
		return !phys && (p->state == PIB_PORT_INIT || p->state == PIB_PORT_ARMED);
	case PIB_PORT_ACTIVE:
		return !phys && (p->state == PIB_PORT_ARMED || p->state == PIB_PORT_ACTIVE);
	}
	return false;
}

static bool subset_ok(u8 value, u8 all, u8 supported)
{
	return value == NO_CHANGE || value == all || !(value & ~supported);
}

static bool ext_speed_ok(const struct pib_port *p, const u8 *d)
{
	u8 en = d[PI_EXT_EN] & 0x1F;
	u8 en2 = d[PI_EXT_SPEED2] & 0x07;

	return (en == EXT_SPEED_OFF || subset_ok(en, EXT_SPEED_ALL, EXT_LOW(p->ext_speed_sup))) &&
	       (en2 == EXT_SPEED2_OFF || subset_ok(en2, EXT_SPEED2_ALL, EXT_XDR(p->ext_speed_sup)));
}

static bool link_ok(const struct pib_sma_req *r, const u8 *d)
{
	const struct pib_port *p = r->port;

	return state_ok(p, d[PI_SPEED_SUP_STATE] & 0xF, d[PI_PHYS_DOWN_DEFAULT] >> 4) &&
	       (d[PI_PHYS_DOWN_DEFAULT] & 0xF) <= PIB_PHYS_POLLING &&
	       subset_ok(d[PI_WIDTH_EN], WIDTH_ALL, p->width_sup) &&
	       subset_ok(d[PI_SPEED_ACT_EN] & 0xF, SPEED_ALL, p->speed_sup) &&
	       (!(r->am & AM_EXT_SPEEDS) || ext_speed_ok(p, d)) &&
	       d[PI_MTU_SM_SL] >> 4 <= p->mtu_cap && d[PI_VLS_ENFORCE] >> 4 <= p->vl_cap;
}

/*
 * No LID and no SM LID (0) are taken, though neither is a value to assign: tools read the PortInfo
 * of a port that no SM has seen, change a speed or a state in it and send it back. So does a subnet
 * manager whose Set of the LID was lost. A Set that fails changes nothing here, so it would keep
 * them from that.
 */
static bool mgmt_ok(const u8 *d)
{
	return pib_get16(d + PI_LID) < PIB_LID_MCAST_FIRST &&
	       pib_get16(d + PI_SM_LID) < PIB_LID_MCAST_FIRST;
}

/* ---- Set ---- */

static void set_width_speed(struct pib_port *p, const u8 *d)
{
	u8 speed = d[PI_SPEED_ACT_EN] & 0xF;

	if (d[PI_WIDTH_EN] != NO_CHANGE)
		p->width_en = d[PI_WIDTH_EN] == WIDTH_ALL ? p->width_sup : d[PI_WIDTH_EN];
	if (speed != NO_CHANGE)
		p->speed_en = speed == SPEED_ALL ? p->speed_sup : speed;
}

static void set_ext_speed(struct pib_port *p, const u8 *d)
{
	u8 en = d[PI_EXT_EN] & 0x1F;
	u8 en2 = d[PI_EXT_SPEED2] & 0x07;
	u8 low = EXT_LOW(p->ext_speed_en);
	u8 xdr = EXT_XDR(p->ext_speed_en);

	if (en == EXT_SPEED_ALL)
		low = EXT_LOW(p->ext_speed_sup);
	else if (en != NO_CHANGE)
		low = en == EXT_SPEED_OFF ? 0 : en;
	if (en2 == EXT_SPEED2_ALL)
		xdr = EXT_XDR(p->ext_speed_sup);
	else if (en2 != NO_CHANGE)
		xdr = en2 == EXT_SPEED2_OFF ? 0 : en2;
	p->ext_speed_en = xdr << 4 | low;
}

static void set_link_params(const struct pib_sma_req *r, const u8 *d)
{
	struct pib_port *p = r->port;

	set_width_speed(p, d);
	if (r->am & AM_EXT_SPEEDS)
		set_ext_speed(p, d);
	if (d[PI_PHYS_DOWN_DEFAULT] & 0xF)
		p->link_down_default = d[PI_PHYS_DOWN_DEFAULT] & 0xF;
	if (d[PI_MTU_SM_SL] >> 4)
		WRITE_ONCE(p->nbr_mtu, d[PI_MTU_SM_SL] >> 4);
	if (d[PI_VLS_ENFORCE] >> 4) {
		WRITE_ONCE(p->op_vls, d[PI_VLS_ENFORCE] >> 4);
		pib_events_add(&p->events, PIB_EV_SL2VL);
	}
	p->init_type = d[PI_VL_CAP_INIT] & 0xF;
	WRITE_ONCE(p->vl_high_limit, d[PI_VL_HIGH_LIMIT]);
	if (p->node->type == PIB_NODE_SWITCH) {
		WRITE_ONCE(p->vl_stall_count, d[PI_STALL_HOQ] >> 5);
		WRITE_ONCE(p->hoq_life, d[PI_STALL_HOQ] & 0x1F);
	}
	WRITE_ONCE(p->local_phy_err, d[PI_ERR_THRESHOLDS] >> 4);
	p->overrun_err = d[PI_ERR_THRESHOLDS] & 0xF;
	if (!pib_port_is_mgmt(p))
		WRITE_ONCE(p->part_enforce, d[PI_VLS_ENFORCE] & 0xF);
}

/* Have env pull the cable, and put it back unless the port is disabled. */
static void set_phys(struct pib_port *p, u8 phys)
{
	if (p->phys == PIB_PHYS_DISABLED && phys == PIB_PHYS_DISABLED)
		return;
	pib_port_set_down(p, phys);
	pib_events_add(&p->events, PIB_EV_PHYS_CHANGE);
}

static void port_set_state(struct pib_port *p, u8 state, u8 phys)
{
	if (state > PIB_PORT_DOWN) {
		if (state == PIB_PORT_ACTIVE && p->state != PIB_PORT_ACTIVE)
			pib_events_add(&p->events, PIB_EV_PORT_ACTIVE);
		WRITE_ONCE(p->state, state);
		return;
	}
	if (p->num == 0 && p->node->type == PIB_NODE_SWITCH) {
		if (state == PIB_PORT_DOWN)	/* no cable: it is back at once */
			WRITE_ONCE(p->state, PIB_PORT_INIT);
		return;
	}
	if (phys)
		set_phys(p, phys);
	else if (state == PIB_PORT_DOWN && p->phys != PIB_PHYS_DISABLED)
		set_phys(p, p->link_down_default);
}

static void set_addresses(struct pib_port *p, const u8 *d)
{
	bool base0 = pib_port_is_base0(p);
	u8 lmc = base0 ? 0 : d[PI_PROT_LMC] & 0x7;
	u8 sm_sl = d[PI_MTU_SM_SL] & 0xF;

	if (p->gid_prefix != pib_get64(d + PI_GID_PREFIX))
		pib_events_add(&p->events, PIB_EV_GID_CHANGE);
	if (p->lid != pib_get16(d + PI_LID) || p->lmc != lmc)
		pib_events_add(&p->events, PIB_EV_LID_CHANGE);
	if (p->sm_lid != pib_get16(d + PI_SM_LID) || p->sm_sl != sm_sl)
		pib_events_add(&p->events, PIB_EV_SM_CHANGE);
	WRITE_ONCE(p->gid_prefix, pib_get64(d + PI_GID_PREFIX));
	WRITE_ONCE(p->lid, pib_get16(d + PI_LID));
	WRITE_ONCE(p->lmc, lmc);
	WRITE_ONCE(p->sm_lid, pib_get16(d + PI_SM_LID));
	WRITE_ONCE(p->sm_sl, sm_sl);
}

static void set_mgmt(struct pib_port *p, const u8 *d)
{
	set_addresses(p, d);
	p->m_key = pib_get64(d + PI_M_KEY);
	p->m_key_lease = pib_get16(d + PI_M_KEY_LEASE);
	p->m_key_prot = d[PI_PROT_LMC] >> 6;
	p->subnet_timeout = d[PI_REREG_TIMEOUT] & 0x1F;
	if (!pib_get16(d + PI_M_KEY_VIOL))
		p->m_key_viol = 0;
	if (!pib_get16(d + PI_PKEY_VIOL))
		p->pkey_viol = 0;
	if (!pib_get16(d + PI_QKEY_VIOL))
		p->qkey_viol = 0;
	p->client_rereg = d[PI_REREG_TIMEOUT] >> 7;
	if (p->client_rereg)
		pib_events_add(&p->events, PIB_EV_CLIENT_REREGISTER);
}

u16 pib_sma_set_port_info(const struct pib_sma_req *r, const u8 *d)
{
	struct pib_port *p = r->port;
	bool base0 = pib_port_is_base0(p);

	if ((!base0 && !link_ok(r, d)) || (pib_port_is_mgmt(p) && !mgmt_ok(d)))
		return PIB_STATUS_INVALID;
	if (pib_port_is_mgmt(p))
		set_mgmt(p, d);
	if (p->node->type == PIB_NODE_SWITCH && p->num == 0)
		pib_node_sm_known(p->node);
	if (!base0) {
		set_link_params(r, d);
		port_set_state(p, d[PI_SPEED_SUP_STATE] & 0xF, d[PI_PHYS_DOWN_DEFAULT] >> 4);
	}
	return PIB_STATUS_OK;
}
