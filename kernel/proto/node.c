// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Nodes and ports: power-on state, and the changes when a link comes or goes. */
#include "mad.h"
#include "node.h"
#include "trap.h"

#define PIB_VENDOR_ID		0x025049	/* an OUI with the local bit: nobody's */
#define PIB_WIDTH_DEFAULT	0x13		/* 1X, 4X, 2X */
#define PIB_SPEED_DEFAULT	0x07		/* SDR, DDR, QDR */
#define PIB_EXT_SPEED_DEFAULT	0x03		/* FDR, EDR */
#define PIB_VL_CODE		4		/* VL0-7, which is PIB_VLS */
#define PIB_LIFE_TIME_DEFAULT	18		/* 4.096 us * 2^18, about 1 s */

/* Link widths of PortInfo, best first. */
static const u8 pib_widths[] = { 0x08, 0x04, 0x02, 0x10, 0x01 };

static void desc_set(char *to, const char *from)
{
	size_t i;

	memset(to, 0, 64);
	for (i = 0; i < 64 && from[i]; i++)
		to[i] = from[i];
}

static void switch_init(struct pib_node *n)
{
	n->lft_top = 0;
	n->default_port = 0xFF;
	n->default_mcast_primary = 0xFF;
	n->default_mcast_secondary = 0xFF;
	n->life_time = PIB_LIFE_TIME_DEFAULT;
	n->port_state_change = false;
	n->change_untold = false;
	n->mft_top = 0;
	memset(n->lft, PIB_LFT_DROP, PIB_LFT_SIZE);
	memset(n->mft, 0, sizeof(*n->mft) * PIB_MFT_SIZE);
}

void pib_node_init(struct pib_node *n)
{
	bool sw = n->type == PIB_NODE_SWITCH;

	if (!n->sys_guid)
		n->sys_guid = n->guid;
	if (!n->vendor_id)
		n->vendor_id = PIB_VENDOR_ID;
	if (!n->device_id)
		n->device_id = sw ? 2 : 1;
	if (!n->revision)
		n->revision = 1;
	if (!n->desc[0])
		desc_set(n->desc, sw ? "pib switch" : "pib HCA");
	n->events = 0;
	n->trap_tid = 0;
	memset(n->traps, 0, sizeof(n->traps));
	memset(&n->cc, 0, sizeof(n->cc));
	if (sw)
		switch_init(n);
}

static u32 power_on_caps(const struct pib_port *p)
{
	u32 caps = PIB_CAPM_NOTICE | PIB_CAPM_TRAP | PIB_CAPM_SL_MAP | PIB_CAPM_LED_INFO |
		   PIB_CAPM_SYS_GUID | PIB_CAPM_EXT_SPEEDS | PIB_CAPM_CAP_MASK2 |
		   PIB_CAPM_CAP_NOTICE | PIB_CAPM_CLIENT_REREG | PIB_CAPM_LOCAL_CHANGES;

	if (p->node->type == PIB_NODE_SWITCH)
		caps |= PIB_CAPM_MFT_TOP | PIB_CAPM_PKEY_SW_TRAP;
	else
		caps |= PIB_CAPM_AUTO_MIGRATION;
	return caps;
}

static void vl_init(struct pib_port *p)
{
	int in, sl, vl;
	int rows = p->node->type == PIB_NODE_SWITCH ? p->node->num_ports + 1 : 1;

	p->vl_cap = PIB_VL_CODE;
	p->op_vls = PIB_VL_CODE;
	p->vl_arb_high_cap = 64;
	p->vl_arb_low_cap = 64;
	for (vl = 0; vl < PIB_VLS; vl++) {
		p->vlarb[0][vl][0] = vl;
		p->vlarb[0][vl][1] = 32;
	}
	for (in = 0; p->sl2vl && in < rows; in++)
		for (sl = 0; sl < 16; sl++)
			p->sl2vl[in][sl] = sl % PIB_VLS;
}

/* Port 0 has no cable and is up from the start. An enhanced port 0 still awaits the SM. */
static void port0_init(struct pib_port *p)
{
	p->phys = PIB_PHYS_LINKUP;
	p->state = pib_port_is_base0(p) ? PIB_PORT_ACTIVE : PIB_PORT_INIT;
	p->nbr_mtu = p->mtu_cap;
	p->vl_arb_high_cap = 0;
	p->vl_arb_low_cap = 0;
}

static void cap_mask2_update(struct pib_port *p)
{
	p->cap_mask2 = PIB_CAPM2_PORT_INFO_EXT;
	if (p->width_sup & 0x10)
		p->cap_mask2 |= PIB_CAPM2_WIDTH_2X;
	if (p->ext_speed_sup & 0x04)
		p->cap_mask2 |= PIB_CAPM2_HDR;
	if (p->ext_speed_sup & 0x08)
		p->cap_mask2 |= PIB_CAPM2_NDR;
	if (p->ext_speed_sup & 0x10)
		p->cap_mask2 |= PIB_CAPM2_XDR;
}

static u8 best_width(u8 mask)
{
	size_t i;

	for (i = 0; i < sizeof(pib_widths); i++)
		if (mask & pib_widths[i])
			return pib_widths[i];
	return 0;
}

static u8 best_speed(u8 mask)
{
	u8 bit;

	for (bit = 0x80; bit; bit >>= 1)
		if (mask & bit)
			return bit;
	return 0;
}

void pib_port_set_link_caps(struct pib_port *p, u8 width_sup, u8 speed_sup, u8 ext_speed_sup)
{
	p->width_sup = width_sup & 0x1F;
	p->width_en = p->width_sup;
	p->speed_sup = speed_sup & 0x07;
	p->speed_en = p->speed_sup;
	p->ext_speed_sup = ext_speed_sup & 0x1F;
	p->ext_speed_en = p->ext_speed_sup;
	WRITE_ONCE(p->width_act, best_width(p->width_sup));
	WRITE_ONCE(p->speed_act, 1);
	WRITE_ONCE(p->ext_speed_act, 0);
	cap_mask2_update(p);
}

void pib_port_init(struct pib_port *p, struct pib_node *n, u8 num, u64 guid)
{
	struct pib_cc_ca *cc_ca = p->cc_ca;
	u8 (*sl2vl)[16] = p->sl2vl;

	memset(p, 0, sizeof(*p));
	p->sl2vl = sl2vl;
	p->cc_ca = cc_ca;
	p->node = n;
	p->num = num;
	p->guid = guid;
	p->guids[0] = guid;
	p->gid_prefix = PIB_GID_PREFIX_LOCAL;
	p->pkey[0] = 0xFFFF;
	p->state = PIB_PORT_DOWN;
	p->phys = PIB_PHYS_POLLING;
	p->link_down_default = PIB_PHYS_POLLING;
	p->mtu_cap = 5;
	p->nbr_mtu = 5;
	if (n->type == PIB_NODE_SWITCH) {	/* reserved at HCAs */
		p->hoq_life = 16;
		p->vl_stall_count = 7;
	}
	p->subnet_timeout = 18;
	p->resp_time = 16;
	p->local_phy_err = 8;
	p->overrun_err = 8;
	p->cap_mask = power_on_caps(p);
	pib_port_set_link_caps(p, PIB_WIDTH_DEFAULT, PIB_SPEED_DEFAULT, PIB_EXT_SPEED_DEFAULT);
	vl_init(p);
	if (n->type == PIB_NODE_SWITCH && num == 0)
		port0_init(p);
}

static void tell_change(struct pib_node *n)
{
	u8 data[PIB_NOTICE_DETAILS] = { 0 };

	pib_put16(data, n->ports[0]->lid);
	n->change_untold = !pib_trap_raise(n, 128, 0, data, 1);
}

/*
 * Trap 128 and PortStateChange: the link state machine has moved a switch port (14.2.5.4). The bit
 * alone is not enough: an SM that has read the bit, and the port before it moved, clears the bit.
 */
static void switch_changed(struct pib_port *p)
{
	struct pib_node *n = p->node;

	if (n->type != PIB_NODE_SWITCH)
		return;
	n->port_state_change = true;
	tell_change(n);
}

void pib_node_sm_known(struct pib_node *n)
{
	if (n->change_untold)
		tell_change(n);
}

/* Choose width and speed as both ends enable them. Return: false: they have nothing in common. */
static bool port_negotiate(struct pib_port *p)
{
	bool known = p->far_width_en != 0;
	u8 width = best_width(known ? p->width_en & p->far_width_en : p->width_en);
	u8 speed = best_speed(known ? p->speed_en & p->far_speed_en : p->speed_en);
	u8 ext = best_speed(known ? p->ext_speed_en & p->far_ext_speed_en : p->ext_speed_en);

	if (!width || !(speed || ext))
		return false;
	WRITE_ONCE(p->width_act, width);
	WRITE_ONCE(p->speed_act, speed);
	WRITE_ONCE(p->ext_speed_act, ext);
	return true;
}

void pib_port_link_up(struct pib_port *p, u8 far_mtu_cap)
{
	p->link_up = true;
	p->far_mtu_cap = far_mtu_cap ? far_mtu_cap : p->mtu_cap;
	if (p->phys == PIB_PHYS_DISABLED || p->phys == PIB_PHYS_LINKUP || !port_negotiate(p))
		return;
	WRITE_ONCE(p->phys, PIB_PHYS_LINKUP);
	WRITE_ONCE(p->nbr_mtu, p->far_mtu_cap < p->mtu_cap ? p->far_mtu_cap : p->mtu_cap);
	WRITE_ONCE(p->state, PIB_PORT_INIT);
	switch_changed(p);
}

void pib_port_set_down(struct pib_port *p, u8 phys)
{
	if (p->state == PIB_PORT_ACTIVE)
		pib_events_add(&p->events, PIB_EV_PORT_ERR);
	WRITE_ONCE(p->phys, phys);
	WRITE_ONCE(p->state, PIB_PORT_DOWN);
}

void pib_port_link_down(struct pib_port *p)
{
	bool was_up = p->state > PIB_PORT_DOWN;

	if (p->node->type == PIB_NODE_SWITCH && p->num == 0)
		return;
	p->link_up = false;
	if (p->phys == PIB_PHYS_DISABLED)
		return;
	pib_port_set_down(p, p->link_down_default);
	if (was_up)
		switch_changed(p);
}

/* 7.2.7, ActiveTrigger: no SM has commanded that, and yet none must hear of it (14.2.5.4). */
void pib_port_armed_data(struct pib_port *p)
{
	if (p->state != PIB_PORT_ARMED)
		return;
	WRITE_ONCE(p->state, PIB_PORT_ACTIVE);
	pib_events_add(&p->events, PIB_EV_PORT_ACTIVE);
}

void pib_port_set_standalone(struct pib_port *p, u16 lid)
{
	WRITE_ONCE(p->lid, lid);
	pib_events_add(&p->events, PIB_EV_LID_CHANGE);
	if (p->state != PIB_PORT_INIT && p->state != PIB_PORT_ARMED)
		return;
	WRITE_ONCE(p->state, PIB_PORT_ACTIVE);
	pib_events_add(&p->events, PIB_EV_PORT_ACTIVE);
}

/* Trap 144 (13.4.8.2): LID, OtherLocalChanges, CapabilityMask, change flags, CapabilityMask2. */
static void local_change(struct pib_port *p, u16 flags, u64 now)
{
	u8 data[PIB_NOTICE_DETAILS] = { 0 };

	pib_put16(data + 2, p->lid);
	data[5] = flags != 0;
	pib_put32(data + 6, p->cap_mask);
	pib_put16(data + 10, flags);
	pib_put16(data + 12, p->cap_mask2);
	pib_trap_raise(p->node, 144, p->num, data, now);
}

void pib_port_set_caps(struct pib_port *p, u32 caps, u64 now)
{
	if (caps == p->cap_mask)
		return;
	p->cap_mask = caps;
	local_change(p, 0, now);
}

/* Ports with a LID: 1 .. n of an HCA, 0 of a switch. */
static int first_mgmt(const struct pib_node *n)
{
	return n->type == PIB_NODE_SWITCH ? 0 : 1;
}

static int last_mgmt(const struct pib_node *n)
{
	return n->type == PIB_NODE_SWITCH ? 0 : n->num_ports;
}

void pib_node_set_desc(struct pib_node *n, const char *desc, u64 now)
{
	int i;

	desc_set(n->desc, desc);
	pib_events_add(&n->events, PIB_EV_NODE_DESC);
	for (i = first_mgmt(n); i <= last_mgmt(n); i++)
		local_change(n->ports[i], 0x0001, now);
}

void pib_node_set_sys_guid(struct pib_node *n, u64 sys_guid, u64 now)
{
	u8 data[PIB_NOTICE_DETAILS] = { 0 };
	int i;

	WRITE_ONCE(n->sys_guid, sys_guid);
	pib_put64(data + 6, sys_guid);
	for (i = first_mgmt(n); i <= last_mgmt(n); i++) {
		pib_put16(data + 2, n->ports[i]->lid);
		pib_trap_raise(n, 145, i, data, now);
	}
}

u32 pib_port_mbps(const struct pib_port *p)
{
	static const u8 lane_gbps[] = { 14, 25, 50, 100, 200 };	/* FDR ... XDR */
	u8 width = READ_ONCE(p->width_act);
	u16 speed = pib_port_speed(p);
	u32 lanes = width == 0x10 ? 2 : width & 0x8 ? 12 : width & 0x4 ? 8 : width & 0x2 ? 4 : 1;
	u8 rate = 0;

	if (speed < 0x10)
		return lanes * 2500 * speed;
	while (rate + 1U < sizeof(lane_gbps) && speed >= 0x20U << rate)
		rate++;
	return lanes * 1000 * lane_gbps[rate];
}

int pib_port_pkey_match(const struct pib_port *p, u16 pkey)
{
	u32 i;

	for (i = 0; i < pib_port_pkeys(p); i++)
		if (pib_pkeys_match(READ_ONCE(p->pkey[i]), pkey))
			return i;
	return -1;
}

static void lease_check(struct pib_port *p, u64 now)
{
	if (!p->m_key_lease_end || now < p->m_key_lease_end)
		return;
	p->m_key_lease_end = 0;
	p->m_key_prot = 0;
}

/* An M_Key lease that ran out takes the protection bits away, not the key (14.2.4.2). */
void pib_node_timer(struct pib_node *n, u64 now)
{
	int i;

	for (i = first_mgmt(n); i <= last_mgmt(n); i++)
		lease_check(n->ports[i], now);
}
