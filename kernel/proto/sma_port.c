// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PortInfo (IBA 14.2.5.6). A Set is checked whole before anything changes; what
 * fails leaves the port as it was and is answered with status 0x1C.
 */
#include "sma.h"

#define NO_CHANGE		0
#define WIDTH_ALL		0xFF
#define SPEED_ALL		0x0F
#define EXT_SPEED_OFF		30
#define EXT_SPEED_ALL		31
#define EXT_SPEED2_OFF		6
#define EXT_SPEED2_ALL		7
#define AM_EXT_SPEEDS		0x80000000u	/* the SM knows of extended speeds */

#define EXT_LOW(mask)		((mask) & 0x0F)	/* FDR .. NDR */
#define EXT_XDR(mask)		((mask) >> 4 & 1)

/* ---- Get ---- */

static void get_mgmt(const struct pib_sma_req *r, u8 *d)
{
	const struct pib_port *p = r->port;

	pib_put64(d, r->show_mkey ? p->m_key : 0);
	pib_put64(d + 8, p->gid_prefix);
	pib_put16(d + 16, p->lid);
	pib_put16(d + 18, p->sm_lid);
	pib_put32(d + 20, p->cap_mask);
	pib_put16(d + 24, p->diag_code);
	pib_put16(d + 26, p->m_key_lease);
	d[34] = p->m_key_prot << 6 | p->lmc;
	d[36] |= p->sm_sl;
	pib_put16(d + 44, p->m_key_viol);
	pib_put16(d + 46, p->pkey_viol);
	pib_put16(d + 48, p->qkey_viol);
	d[50] = PIB_GUIDS;
	d[51] = p->subnet_timeout;
	if (r->smp[PIB_MAD_METHOD] == PIB_METHOD_SET)	/* the answer to a Set echoes it */
		d[51] |= r->smp[PIB_MAD_DATA + 51] & 0x80;
	d[52] = p->resp_time;
	pib_put16(d + 60, p->cap_mask2);
}

static void get_speed(const struct pib_port *p, u8 *d)
{
	u8 en = EXT_LOW(p->ext_speed_en);

	d[29] = p->width_en;
	d[30] = p->width_sup;
	d[31] = p->width_act;
	d[32] |= p->speed_sup << 4;
	d[35] = p->speed_act << 4 | p->speed_en;
	d[56] = EXT_XDR(p->ext_speed_act) << 5 | EXT_XDR(p->ext_speed_sup) << 3 |
		EXT_XDR(p->ext_speed_en);
	d[62] = EXT_LOW(p->ext_speed_act) << 4 | EXT_LOW(p->ext_speed_sup);
	d[63] = !en && p->ext_speed_sup ? EXT_SPEED_OFF : en;
}

static void get_link(const struct pib_port *p, u8 *d)
{
	d[32] |= p->state;
	d[33] = p->phys << 4 | p->link_down_default;
	d[36] |= p->nbr_mtu << 4;
	d[37] = p->vl_cap << 4 | p->init_type;
	d[38] = p->vl_high_limit;
	d[39] = p->vl_arb_high_cap;
	d[40] = p->vl_arb_low_cap;
	d[41] = p->init_type_reply << 4 | p->mtu_cap;
	d[42] = p->vl_stall_count << 5 | p->hoq_life;
	d[43] = p->op_vls << 4 | p->part_enforce;
	d[53] = p->local_phy_err << 4 | p->overrun_err;
	pib_put16(d + 54, p->max_credit_hint);
	pib_put32(d + 56, p->link_rtt & 0xFFFFFF);
}

u16 pib_sma_get_port_info(const struct pib_sma_req *r, u8 *d)
{
	get_link(r->port, d);
	get_speed(r->port, d);
	if (pib_port_is_mgmt(r->port))
		get_mgmt(r, d);
	d[28] = r->arrival->num;
	return PIB_STATUS_OK;
}

/* ---- checks of a Set ---- */

/* Init -> Armed -> Active one by one; a physical state goes with Down or NoChange only (14.2.5.6). */
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
	u8 en = d[63] & 0x1F;
	u8 en2 = d[56] & 0x07;

	return (en == EXT_SPEED_OFF || subset_ok(en, EXT_SPEED_ALL, EXT_LOW(p->ext_speed_sup))) &&
	       (en2 == EXT_SPEED2_OFF || subset_ok(en2, EXT_SPEED2_ALL, EXT_XDR(p->ext_speed_sup)));
}

static bool link_ok(const struct pib_sma_req *r, const u8 *d)
{
	const struct pib_port *p = r->port;

	return state_ok(p, d[32] & 0xF, d[33] >> 4) &&
	       (d[33] & 0xF) <= PIB_PHYS_POLLING &&
	       subset_ok(d[29], WIDTH_ALL, p->width_sup) &&
	       subset_ok(d[35] & 0xF, SPEED_ALL, p->speed_sup) &&
	       (!(r->am & AM_EXT_SPEEDS) || ext_speed_ok(p, d)) &&
	       d[36] >> 4 <= p->mtu_cap && d[43] >> 4 <= p->vl_cap;
}

static bool mgmt_ok(const u8 *d)
{
	return pib_get16(d + 16) < PIB_LID_MCAST_FIRST && pib_get16(d + 18) < PIB_LID_MCAST_FIRST;
}

/* ---- Set ---- */

static void set_width_speed(struct pib_port *p, const u8 *d)
{
	u8 speed = d[35] & 0xF;

	if (d[29] != NO_CHANGE)
		p->width_en = d[29] == WIDTH_ALL ? p->width_sup : d[29];
	if (speed != NO_CHANGE)
		p->speed_en = speed == SPEED_ALL ? p->speed_sup : speed;
}

static void set_ext_speed(struct pib_port *p, const u8 *d)
{
	u8 en = d[63] & 0x1F;
	u8 en2 = d[56] & 0x07;
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
	if (d[33] & 0xF)
		p->link_down_default = d[33] & 0xF;
	if (d[36] >> 4)
		WRITE_ONCE(p->nbr_mtu, d[36] >> 4);
	if (d[43] >> 4) {
		WRITE_ONCE(p->op_vls, d[43] >> 4);
		p->events |= PIB_EV_SL2VL;
	}
	p->init_type = d[37] & 0xF;
	p->vl_high_limit = d[38];
	p->vl_stall_count = d[42] >> 5;
	p->hoq_life = d[42] & 0x1F;
	p->local_phy_err = d[53] >> 4;
	p->overrun_err = d[53] & 0xF;
	if (!pib_port_is_mgmt(p))
		WRITE_ONCE(p->part_enforce, d[43] & 0xF);
}

/* The cable is pulled, and put back unless the port is disabled: env does it. */
static void set_phys(struct pib_port *p, u8 phys)
{
	if (p->phys == PIB_PHYS_DISABLED && phys == PIB_PHYS_DISABLED)
		return;
	pib_port_set_down(p, phys);
	p->events |= PIB_EV_PHYS_CHANGE;
}

static void set_state(struct pib_port *p, u8 state, u8 phys)
{
	if (state > PIB_PORT_DOWN) {
		if (state == PIB_PORT_ACTIVE && p->state != PIB_PORT_ACTIVE)
			p->events |= PIB_EV_PORT_ACTIVE;
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
	u8 lmc = base0 ? 0 : d[34] & 0x7;
	u8 sm_sl = d[36] & 0xF;

	if (p->gid_prefix != pib_get64(d + 8))
		p->events |= PIB_EV_GID_CHANGE;
	if (p->lid != pib_get16(d + 16) || p->lmc != lmc)
		p->events |= PIB_EV_LID_CHANGE;
	if (p->sm_lid != pib_get16(d + 18) || p->sm_sl != sm_sl)
		p->events |= PIB_EV_SM_CHANGE;
	p->gid_prefix = pib_get64(d + 8);
	WRITE_ONCE(p->lid, pib_get16(d + 16));
	WRITE_ONCE(p->lmc, lmc);
	p->sm_lid = pib_get16(d + 18);
	p->sm_sl = sm_sl;
}

static void set_mgmt(struct pib_port *p, const u8 *d)
{
	set_addresses(p, d);
	p->m_key = pib_get64(d);
	p->m_key_lease = pib_get16(d + 26);
	p->m_key_prot = d[34] >> 6;
	p->subnet_timeout = d[51] & 0x1F;
	if (!pib_get16(d + 44))
		p->m_key_viol = 0;
	if (!pib_get16(d + 46))
		p->pkey_viol = 0;
	if (!pib_get16(d + 48))
		p->qkey_viol = 0;
	p->client_rereg = d[51] >> 7;
	if (p->client_rereg)
		p->events |= PIB_EV_CLIENT_REREGISTER;
}

u16 pib_sma_set_port_info(const struct pib_sma_req *r, const u8 *d)
{
	struct pib_port *p = r->port;
	bool base0 = pib_port_is_base0(p);

	if ((!base0 && !link_ok(r, d)) || (pib_port_is_mgmt(p) && !mgmt_ok(d)))
		return PIB_STATUS_INVALID;
	if (pib_port_is_mgmt(p))
		set_mgmt(p, d);
	if (!base0) {
		set_link_params(r, d);
		set_state(p, d[32] & 0xF, d[33] >> 4);
	}
	return PIB_STATUS_OK;
}
