// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Performance management (IBA 16.1): env's 64-bit counters, seen through the fields
 * of the attributes. A Set records a base. A counter reads as env's value less base,
 * saturated or wrapped as the attribute says. Tables say where each counter lies.
 */
#include "mad.h"
#include "node.h"
#include "pma.h"
#include "pma_samples.h"
#include "trap.h"

#define COUNTER(name) ((u8)(offsetof(struct pib_counts, name) / sizeof(u64)))

enum pma_half {		/* of a byte */
	HIGH_HALF = 1,
	LOW_HALF = 2,
};

/**
 * struct pma_field - a counter in an attribute
 * @off: byte offset in the attribute
 * @bits: width, or enum pma_half
 * @counter: index into struct pib_counts
 * @select: bit of the attribute's selection that a Set needs to write it
 */
struct pma_field {
	u8 off;
	u8 bits;
	u8 counter;
	u8 select;
};

static const struct pma_field counters[] = {
	{ 4, 16, COUNTER(symbol_err), 0 },
	{ 6, 8, COUNTER(link_recovery), 1 },
	{ 7, 8, COUNTER(link_downed), 2 },
	{ 8, 16, COUNTER(rcv_err), 3 },
	{ 10, 16, COUNTER(rcv_remphys_err), 4 },
	{ 12, 16, COUNTER(rcv_switch_relay_err), 5 },
	{ 14, 16, COUNTER(xmit_discard), 6 },
	{ 16, 8, COUNTER(xmit_constraint_err), 7 },
	{ 17, 8, COUNTER(rcv_constraint_err), 8 },
	{ 19, HIGH_HALF, COUNTER(local_integrity_err), 9 },
	{ 19, LOW_HALF, COUNTER(buffer_overrun), 10 },	/* ExcessiveBufferOverrunErrors */
	{ 20, 16, COUNTER(qp1_dropped), 17 },
	{ 22, 16, COUNTER(vl15_dropped), 11 },
	{ 24, 32, COUNTER(xmit_bytes), 12 },
	{ 28, 32, COUNTER(rcv_bytes), 13 },
	{ 32, 32, COUNTER(xmit_pkts), 14 },
	{ 36, 32, COUNTER(rcv_pkts), 15 },
	{ 40, 32, COUNTER(xmit_wait), 16 },
};

static const struct pma_field counters_ext[] = {
	{ 8, 64, COUNTER(xmit_bytes), 0 },
	{ 16, 64, COUNTER(rcv_bytes), 1 },
	{ 24, 64, COUNTER(xmit_pkts), 2 },
	{ 32, 64, COUNTER(rcv_pkts), 3 },
	{ 40, 64, COUNTER(ucast_xmit), 4 },
	{ 48, 64, COUNTER(ucast_rcv), 5 },
	{ 56, 64, COUNTER(mcast_xmit), 6 },
	{ 64, 64, COUNTER(mcast_rcv), 7 },
	{ 72, 64, COUNTER(symbol_err), 16 },
	{ 80, 64, COUNTER(link_recovery), 17 },
	{ 88, 64, COUNTER(link_downed), 18 },
	{ 96, 64, COUNTER(rcv_err), 19 },
	{ 104, 64, COUNTER(rcv_remphys_err), 20 },
	{ 112, 64, COUNTER(rcv_switch_relay_err), 21 },
	{ 120, 64, COUNTER(xmit_discard), 22 },
	{ 128, 64, COUNTER(xmit_constraint_err), 23 },
	{ 136, 64, COUNTER(rcv_constraint_err), 24 },
	{ 144, 64, COUNTER(local_integrity_err), 25 },
	{ 152, 64, COUNTER(buffer_overrun), 26 },	/* ExcessiveBufferOverrunErrors */
	{ 160, 64, COUNTER(vl15_dropped), 27 },
	{ 168, 64, COUNTER(xmit_wait), 28 },
	{ 176, 64, COUNTER(qp1_dropped), 29 },
};

/* No port sees malformed packets. */
static const struct pma_field rcv_err_details[] = {
	{ 4, 16, COUNTER(rcv_physical), 0 },	/* PortLocalPhysicalErrors */
	{ 8, 16, COUNTER(rcv_overrun), 2 },	/* PortBufferOverrunErrors */
	{ 10, 16, COUNTER(relay_dlid), 3 },	/* PortDLIDMappingErrors */
	{ 12, 16, COUNTER(relay_vl), 4 },	/* PortVLMappingErrors */
	{ 14, 16, COUNTER(relay_loop), 5 },	/* PortLoopingErrors */
};

static const struct pma_field xmit_discard_details[] = {
	{ 4, 16, COUNTER(discard_inactive), 0 },	/* PortInactiveDiscards */
	{ 6, 16, COUNTER(discard_mtu), 1 },	/* PortNeighborMTUDiscards */
	{ 8, 16, COUNTER(discard_life), 2 },	/* PortSwLifetimeLimitDiscards */
	{ 10, 16, COUNTER(discard_hoq), 3 },	/* PortSwHOQLifetimeLimitDiscards */
};

static const struct pma_field flow_ctl[] = {
	{ 4, 32, COUNTER(xmit_flow_pkts), 0 },	/* PortXmitFlowPkts */
	{ 8, 32, COUNTER(rcv_flow_pkts), 1 },	/* PortRcvFlowPkts */
};

static const struct pma_field rcv_con_ctrl[] = {
	{ 4, 32, COUNTER(rcv_fecn), 0 },	/* PortPktRcvFECN */
	{ 8, 32, COUNTER(rcv_becn), 1 },	/* PortPktRcvBECN */
};

/* One counter for each of 16 VLs or SLs, of which the n-th is selected by bit n. */
#define EACH(n, bits, name) { 4 + (n) * (bits) / 8, bits, COUNTER(name) + (n), n }
#define EACH_4(n, bits, name)						\
	EACH(n, bits, name), EACH((n) + 1, bits, name),			\
	EACH((n) + 2, bits, name), EACH((n) + 3, bits, name)
#define EACH_16(bits, name)						\
	EACH_4(0, bits, name), EACH_4(4, bits, name),			\
	EACH_4(8, bits, name), EACH_4(12, bits, name)

static const struct pma_field vl_op_packets[] = { EACH_16(16, vl_xmit_pkts) };
static const struct pma_field vl_op_data[] = { EACH_16(32, vl_xmit_bytes) };
static const struct pma_field vl_xmit_wait[] = { EACH_16(16, vl_xmit_wait) };
static const struct pma_field sl_rcv_fecn[] = { EACH_16(32, sl_rcv_fecn) };
static const struct pma_field sl_rcv_becn[] = { EACH_16(32, sl_rcv_becn) };
static const struct pma_field xmit_data_sl[] = { EACH_16(32, sl_xmit_bytes) };
static const struct pma_field rcv_data_sl[] = { EACH_16(32, sl_rcv_bytes) };

/**
 * struct pma_attr - an attribute made of counters
 * @id: attribute id
 * @base: enum pib_pma_base
 * @fields: its counters; the rest of the attribute reads as zero
 * @num: entries in @fields
 */
struct pma_attr {
	u16 id;
	u8 base;
	u8 num;
	const struct pma_field *fields;
};

#define FIELDS(f) .num = sizeof(f) / sizeof((f)[0]), .fields = f

static const struct pma_attr pma_attrs[] = {
	{ .id = PIB_PERF_COUNTERS, .base = PIB_BASE_COUNTERS, FIELDS(counters) },
	{ .id = PIB_PERF_COUNTERS_EXT, .base = PIB_BASE_EXT, FIELDS(counters_ext) },
	{ .id = PIB_PERF_RCV_ERR_DETAILS, .base = PIB_BASE_DETAILS, FIELDS(rcv_err_details) },
	{ .id = PIB_PERF_XMIT_DISCARD_DETAILS, .base = PIB_BASE_DETAILS,
	  FIELDS(xmit_discard_details) },
	{ .id = PIB_PERF_FLOW_CTL, .base = PIB_BASE_DETAILS, FIELDS(flow_ctl) },
	{ .id = PIB_PERF_RCV_CON_CTRL, .base = PIB_BASE_DETAILS, FIELDS(rcv_con_ctrl) },
	{ .id = PIB_PERF_VL_OP_PACKETS, .base = PIB_BASE_DETAILS, FIELDS(vl_op_packets) },
	{ .id = PIB_PERF_VL_OP_DATA, .base = PIB_BASE_DETAILS, FIELDS(vl_op_data) },
	{ .id = PIB_PERF_VL_XMIT_WAIT, .base = PIB_BASE_DETAILS, FIELDS(vl_xmit_wait) },
	{ .id = PIB_PERF_SL_RCV_FECN, .base = PIB_BASE_DETAILS, FIELDS(sl_rcv_fecn) },
	{ .id = PIB_PERF_SL_RCV_BECN, .base = PIB_BASE_DETAILS, FIELDS(sl_rcv_becn) },
	{ .id = PIB_PERF_XMIT_DATA_SL, .base = PIB_BASE_DETAILS, FIELDS(xmit_data_sl) },
	{ .id = PIB_PERF_RCV_DATA_SL, .base = PIB_BASE_DETAILS, FIELDS(rcv_data_sl) },
	/*
	 * Nothing here counts these: valid, and zero. Among them are the errors of flow control
	 * by VL (0x1B), since what tells the credits is never lost.
	 */
	{ .id = PIB_PERF_OP_RCV },
	{ .id = PIB_PERF_VL_FLOW_CTL_ERRORS },
	{ .id = PIB_PERF_EXT_SPEEDS },
	{ .id = PIB_PERF_SW_VL_CONGESTION },
	{ .id = PIB_PERF_XMIT_CON_CTRL },
	{ .id = PIB_PERF_VL_XMIT_TIME_CONG },
};

static const struct pma_attr *pma_find_attr(u16 id)
{
	size_t i;

	for (i = 0; i < sizeof(pma_attrs) / sizeof(pma_attrs[0]); i++)
		if (pma_attrs[i].id == id)
			return &pma_attrs[i];
	return NULL;
}

/* ---- values ---- */

static u64 *counter_at(struct pib_counts *c, u8 index)
{
	return (u64 *)c + index;
}

/* Return: true if @index is one of the 16 that begin with @first. */
static bool is_among(u8 index, u8 first)
{
	return index >= first && index < first + 16;
}

static bool pma_is_data(u8 index)
{
	return index == COUNTER(xmit_bytes) || index == COUNTER(rcv_bytes) ||
	       is_among(index, COUNTER(sl_xmit_bytes)) || is_among(index, COUNTER(sl_rcv_bytes)) ||
	       is_among(index, COUNTER(vl_xmit_bytes));
}

/* Data is counted in words of 4 bytes (16.1.3.5). */
static u64 to_units(u8 index, u64 v)
{
	return pma_is_data(index) ? v / 4 : v;
}

static u64 from_units(u8 index, u64 v)
{
	return pma_is_data(index) ? v * 4 : v;
}

static void field_put(u8 *attr, const struct pma_field *f, u64 v)
{
	u8 *p = attr + f->off;
	u8 bits = f->bits < 8 ? 4 : f->bits;

	if (bits < 64 && v >> bits)
		v = (1ULL << bits) - 1;
	switch (f->bits) {
	case HIGH_HALF:
		*p = (*p & 0x0F) | (u8)(v << 4);
		break;
	case LOW_HALF:
		*p = (*p & 0xF0) | (u8)v;
		break;
	case 8:
		*p = (u8)v;
		break;
	case 16:
		pib_put16(p, (u16)v);
		break;
	case 32:
		pib_put32(p, (u32)v);
		break;
	default:
		pib_put64(p, v);
	}
}

static u64 field_get(const u8 *attr, const struct pma_field *f)
{
	const u8 *p = attr + f->off;

	switch (f->bits) {
	case HIGH_HALF:
		return *p >> 4;
	case LOW_HALF:
		return *p & 0x0F;
	case 8:
		return *p;
	case 16:
		return pib_get16(p);
	case 32:
		return pib_get32(p);
	}
	return pib_get64(p);
}

/* Counters that a Set writes: CounterSelect below, CounterSelect2 above (16.1.3.5, 16.1.4.11). */
static u32 selected_counters(u16 id, const u8 *attr)
{
	u32 low = pib_get16(attr + 2);

	if (id == PIB_PERF_COUNTERS)
		return low | (u32)attr[18] << 16;
	if (id == PIB_PERF_COUNTERS_EXT)
		return low | pib_get32(attr + 4) << 16;
	return low;
}

/* Add what @p has counted since its base, which a Set (@attr, else NULL) moves first. */
static void port_add(struct pib_port *p, const struct pma_attr *a, const u8 *attr,
		     struct pib_counts *sum)
{
	u32 sel = attr ? selected_counters(a->id, attr) : 0;
	u8 i;

	for (i = 0; i < a->num; i++) {
		const struct pma_field *f = &a->fields[i];
		u64 now = p->node->count(p, f->counter);
		u64 *base = counter_at(&p->base[a->base], f->counter);

		if (sel >> f->select & 1)
			*base = now - from_units(f->counter, field_get(attr, f));
		*counter_at(sum, f->counter) += now - *base;
	}
}

/* ---- ports ---- */

bool pib_pma_ports(const struct pib_port *p, u8 select, u8 *first, u8 *last)
{
	const struct pib_node *n = p->node;

	if (select == PIB_PMA_ALL_PORTS) {
		*first = 1;
		*last = n->num_ports;
		return true;
	}
	*first = select;
	*last = select;
	return select <= n->num_ports && (select || n->type == PIB_NODE_SWITCH);
}

static u16 get_set_counters(struct pib_port *p, const struct pma_attr *a, const u8 *in, u8 *attr)
{
	const u8 *set = in[PIB_MAD_METHOD] == PIB_METHOD_SET ? in + PIB_MAD_DATA : NULL;
	struct pib_counts sum = { 0 };
	u8 i, first, last;
	u16 port;

	if (!pib_pma_ports(p, attr[1], &first, &last))
		return PIB_STATUS_INVALID;
	for (port = first; port <= last; port++)
		port_add(p->node->ports[port], a, set, &sum);
	memset(attr + 4, 0, PIB_PMA_DATA_LEN - 4);
	for (i = 0; i < a->num; i++)
		field_put(attr, &a->fields[i],
			  to_units(a->fields[i].counter, *counter_at(&sum, a->fields[i].counter)));
	return PIB_STATUS_OK;
}

/* ---- ClassPortInfo (13.4.8.1, 16.1.3.1) ---- */

#define CPI_ALL_PORT_SELECT	0x0100
#define CPI_EXT_WIDTH		0x0200
#define CPI_XMIT_WAIT		0x1000
#define CPI_QP1_DROP		0x8000
#define CPI2_ADDL_EXT		0x0002
#define CPI_RESP_TIME		16	/* 4.096 us * 2^16, about 0.27 s */

static u16 class_port_info(const u8 *in, u8 *attr)
{
	if (in[PIB_MAD_METHOD] == PIB_METHOD_SET)
		return PIB_STATUS_BAD_ATTR;
	memset(attr, 0, PIB_PMA_DATA_LEN);
	attr[0] = 1;
	attr[1] = 1;
	pib_put16(attr + 2, CPI_ALL_PORT_SELECT | CPI_EXT_WIDTH | CPI_XMIT_WAIT | CPI_QP1_DROP);
	pib_put32(attr + 4, CPI2_ADDL_EXT << 5 | CPI_RESP_TIME);
	return PIB_STATUS_OK;
}

static u16 perf_attr(struct pib_port *p, const u8 *in, u8 *attr, u64 now)
{
	u16 id = pib_get16(in + PIB_MAD_ATTR);
	const struct pma_attr *a = pma_find_attr(id);

	if (a)
		return get_set_counters(p, a, in, attr);
	if (id == PIB_PERF_CLASS_PORT_INFO)
		return class_port_info(in, attr);
	if (id == PIB_PERF_SAMPLES_CONTROL)
		return pib_pma_samples_control(p, in, attr, now);
	if (id == PIB_PERF_SAMPLES_RESULT)
		return pib_pma_samples_result(p, in, attr, false, now);
	if (id == PIB_PERF_SAMPLES_RESULT_EXT)
		return pib_pma_samples_result(p, in, attr, true, now);
	return PIB_STATUS_BAD_ATTR;
}

static u16 perf_process(struct pib_port *p, const u8 *in, u8 *out, u64 now)
{
	if (in[PIB_MAD_BASE_VERSION] != 1 || in[PIB_MAD_CLASS_VERSION] != 1)
		return PIB_STATUS_BAD_VERSION;
	if (in[PIB_MAD_METHOD] != PIB_METHOD_GET && in[PIB_MAD_METHOD] != PIB_METHOD_SET)
		return PIB_STATUS_BAD_METHOD;
	return perf_attr(p, in, out + PIB_MAD_DATA, now);
}

/* Return: false: the method gets no answer: answers, Send, traps, TrapRepress, reports. */
static bool wants_answer(u8 method)
{
	return !(method & PIB_METHOD_RESPONSE) && method != PIB_METHOD_SEND &&
	       method != PIB_METHOD_TRAP && method != PIB_METHOD_REPORT &&
	       method != PIB_METHOD_TRAP_REPRESS;
}

/* Return: true if @in is an SMP, which belongs to QP0. */
static bool gsa_is_smp(const u8 *in)
{
	return in[PIB_MAD_CLASS] == PIB_CLASS_SM_LID || in[PIB_MAD_CLASS] == PIB_CLASS_SM_DR;
}

static bool is_ours(const u8 *in)
{
	return in[PIB_MAD_CLASS] == PIB_CLASS_PERF || in[PIB_MAD_CLASS] == PIB_CLASS_CC;
}

/* Make the answer of @out, which is a copy of @in; false: none is due. */
static bool gsa_answer(struct pib_port *p, const u8 *in, u8 *out, u64 now)
{
	if (in[PIB_MAD_CLASS] == PIB_CLASS_CC)
		return pib_cc_process(p, in, out, now);
	pib_put16(out + PIB_MAD_STATUS, in[PIB_MAD_CLASS] == PIB_CLASS_PERF ?
		  perf_process(p, in, out, now) : PIB_STATUS_BAD_ATTR);
	return true;
}

#define QP1_QKEY 0x80010000u

bool pib_node_gsi_ok(struct pib_node *sw, const struct pib_hdrs *h, u16 *pkey, u64 now)
{
	struct pib_port *p0 = sw->ports[0];
	int i = pib_port_pkey_match(p0, h->pkey);

	if (!pib_port_takes(p0, h->dqpn))
		return false;
	if (i < 0) {
		pib_trap_bad_key(p0, 257, 1, h, now);
		return false;
	}
	if (h->qkey != QP1_QKEY) {
		pib_trap_bad_key(p0, 258, 1, h, now);
		return false;
	}
	*pkey = p0->pkey[i];
	return true;
}

enum pib_mad_result pib_gsa_process(struct pib_port *p, const u8 *in, u8 *out, u64 now)
{
	if (p->node->type == PIB_NODE_CA && (!is_ours(in) || !wants_answer(in[PIB_MAD_METHOD])))
		return PIB_MAD_LOCAL;
	if (!wants_answer(in[PIB_MAD_METHOD]) || gsa_is_smp(in))
		return PIB_MAD_NONE;
	memcpy(out, in, PIB_MAD_SIZE);
	if (!gsa_answer(p, in, out, now))
		return PIB_MAD_NONE;
	out[PIB_MAD_METHOD] |= PIB_METHOD_RESPONSE;
	if (in[PIB_MAD_METHOD] == PIB_METHOD_SET)
		out[PIB_MAD_METHOD] = PIB_METHOD_GET_RESP;
	return PIB_MAD_REPLY;
}
