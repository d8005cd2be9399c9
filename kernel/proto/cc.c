// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cc.h"
#include "mad.h"
#include "node.h"

#define CC_CLASS_VERSION	2
#define CC_DATA			64
#define CC_DATA_LEN		192
#define CC_LOG			32	/* CongestionLog needs more room than the others */
#define CC_LOG_LEN		224
#define CC_RESP_TIME		16
#define CC_PORTS_IN_BLOCK	32

enum cc_attr {
	CC_CLASS_PORT_INFO = 0x0001,
	CC_INFO = 0x0011,
	CC_KEY_INFO = 0x0012,
	CC_LOG_ATTR = 0x0013,
	CC_SWITCH = 0x0014,
	CC_SWITCH_PORT = 0x0015,
	CC_CA = 0x0016,
	CC_TABLE = 0x0017,
	CC_TIMESTAMP = 0x0018,
};

/**
 * struct cc_req - a request
 * @p: port that answers: port 0 of a switch, the arrival port of an HCA
 * @am: attribute modifier
 * @knows: the request carries the right CC_Key
 * @now: ns
 */
struct cc_req {
	struct pib_port *p;
	u32 am;
	bool knows;
	u64 now;
};

/* A time in units of 1.024 us. */
static u32 cc_stamp(u64 now)
{
	return (u32)(now >> 10);
}

/* ---- attributes of both ---- */

static u16 get_class_port_info(const struct cc_req *r, u8 *d)
{
	d[0] = 1;
	d[1] = CC_CLASS_VERSION;
	pib_put32(d + 4, CC_RESP_TIME);
	return PIB_STATUS_OK;
}

static u16 get_info(const struct cc_req *r, u8 *d)
{
	d[2] = r->p->cc_ca ? PIB_CC_BLOCKS : 0;
	return PIB_STATUS_OK;
}

static u16 get_key_info(const struct cc_req *r, u8 *d)
{
	const struct pib_cc_node *c = &r->p->node->cc;

	if (r->knows || !c->protect)
		pib_put64(d, c->key);
	d[8] = c->protect << 7;
	pib_put16(d + 10, c->lease);
	pib_put16(d + 12, c->violations);
	return PIB_STATUS_OK;
}

/* CC_KeyViolations can be set to zero only (A10.4.3.3). */
static u16 set_key_info(const struct cc_req *r, const u8 *d)
{
	struct pib_cc_node *c = &r->p->node->cc;

	c->key = pib_get64(d);
	c->protect = d[8] >> 7;
	c->lease = pib_get16(d + 10);
	c->lease_end = 0;
	if (!pib_get16(d + 12))
		c->violations = 0;
	return PIB_STATUS_OK;
}

static u16 get_timestamp(const struct cc_req *r, u8 *d)
{
	pib_put32(d, cc_stamp(r->now));
	return PIB_STATUS_OK;
}

/* ---- switches ---- */

static u16 get_switch(const struct cc_req *r, u8 *d)
{
	const struct pib_cc_node *c = &r->p->node->cc;

	pib_put32(d, c->control_map);
	memcpy(d + 4, c->victim_mask, sizeof(c->victim_mask));
	memcpy(d + 36, c->credit_mask, sizeof(c->credit_mask));
	d[68] = c->threshold << 4;
	d[69] = c->packet_size;
	d[70] = c->cs_threshold << 4;
	pib_put16(d + 72, c->cs_return_delay);
	pib_put16(d + 74, c->marking_rate);
	return PIB_STATUS_OK;
}

static u16 set_switch(const struct cc_req *r, const u8 *d)
{
	struct pib_cc_node *c = &r->p->node->cc;

	WRITE_ONCE(c->control_map, pib_get32(d));
	memcpy(c->victim_mask, d + 4, sizeof(c->victim_mask));
	memcpy(c->credit_mask, d + 36, sizeof(c->credit_mask));
	WRITE_ONCE(c->threshold, d[68] >> 4);
	WRITE_ONCE(c->packet_size, d[69]);
	c->cs_threshold = d[70] >> 4;
	c->cs_return_delay = pib_get16(d + 72);
	WRITE_ONCE(c->marking_rate, pib_get16(d + 74));
	return PIB_STATUS_OK;
}

/* The port that element @i of a block describes, or NULL. */
static struct pib_cc_sw_port *element_port(const struct cc_req *r, u32 i)
{
	struct pib_node *n = r->p->node;
	u32 num = r->am * CC_PORTS_IN_BLOCK + i;

	return num <= n->num_ports ? &n->ports[num]->cc_sw : NULL;
}

static bool block_exists(const struct cc_req *r)
{
	return r->am <= r->p->node->num_ports / CC_PORTS_IN_BLOCK;
}

static u16 get_switch_port(const struct cc_req *r, u8 *d)
{
	const struct pib_cc_sw_port *e;
	u32 i;

	if (!block_exists(r))
		return PIB_STATUS_INVALID;
	for (i = 0; i < CC_PORTS_IN_BLOCK && (e = element_port(r, i)); i++, d += 4) {
		d[0] = e->valid << 7 | e->control_type << 6 | e->threshold;
		d[1] = e->packet_size;
		pib_put16(d + 2, e->marking_rate);
	}
	return PIB_STATUS_OK;
}

static u16 set_switch_port(const struct cc_req *r, const u8 *d)
{
	struct pib_cc_sw_port *e;
	u32 i;

	if (!block_exists(r))
		return PIB_STATUS_INVALID;
	for (i = 0; i < CC_PORTS_IN_BLOCK && (e = element_port(r, i)); i++, d += 4) {
		WRITE_ONCE(e->valid, d[0] >> 7);
		WRITE_ONCE(e->control_type, d[0] >> 6 & 1);
		WRITE_ONCE(e->threshold, d[0] & 0xF);
		WRITE_ONCE(e->packet_size, d[1]);
		WRITE_ONCE(e->marking_rate, pib_get16(d + 2));
	}
	return PIB_STATUS_OK;
}

static void put_sw_log(const struct cc_req *r, u8 *d)
{
	const struct pib_cc_node *c = &r->p->node->cc;
	u32 i, n = c->events < PIB_CC_SW_EVENTS ? c->events : PIB_CC_SW_EVENTS;

	d[0] = 1;
	d[1] = c->events != 0;
	pib_put16(d + 2, c->events);
	pib_put32(d + 4, cc_stamp(r->now));
	memcpy(d + 8, c->event_ports, sizeof(c->event_ports));
	for (i = 0; i < n; i++) {
		const struct pib_cc_sw_event *e = &c->sw_log[i];
		u8 *q = d + 40 + i * 12;

		pib_put16(q, e->slid);
		pib_put16(q + 2, e->dlid);
		q[4] = e->sl << 4;
		pib_put32(q + 8, e->at);
	}
}

/* ---- HCAs ---- */

static u16 get_ca(const struct cc_req *r, u8 *d)
{
	const struct pib_cc_ca *c = r->p->cc_ca;
	u32 sl;

	pib_put16(d, c->port_control);
	pib_put16(d + 2, c->control_map);
	for (sl = 0; sl < 16; sl++) {
		u8 *q = d + 4 + sl * 8;

		pib_put16(q, c->entry[sl].timer);
		q[2] = c->entry[sl].increase;
		q[3] = c->entry[sl].threshold;
		q[4] = c->entry[sl].min;
	}
	return PIB_STATUS_OK;
}

static u16 set_ca(const struct cc_req *r, const u8 *d)
{
	struct pib_cc_ca *c = r->p->cc_ca;
	u32 sl;

	WRITE_ONCE(c->port_control, pib_get16(d));
	for (sl = 0; sl < 16; sl++) {
		const u8 *q = d + 4 + sl * 8;

		WRITE_ONCE(c->entry[sl].timer, pib_get16(q));
		WRITE_ONCE(c->entry[sl].increase, q[2]);
		WRITE_ONCE(c->entry[sl].threshold, q[3]);
		WRITE_ONCE(c->entry[sl].min, q[4]);
	}
	WRITE_ONCE(c->control_map, pib_get16(d + 2));
	return PIB_STATUS_OK;
}

static u16 get_table(const struct cc_req *r, u8 *d)
{
	const struct pib_cc_ca *c = r->p->cc_ca;
	u32 i;

	if (r->am >= PIB_CC_BLOCKS)
		return PIB_STATUS_INVALID;
	pib_put16(d, c->limit);
	for (i = 0; i < PIB_CC_BLOCK_ENTRIES; i++)
		pib_put16(d + 4 + i * 2, c->table[r->am * PIB_CC_BLOCK_ENTRIES + i]);
	return PIB_STATUS_OK;
}

static u16 set_table(const struct cc_req *r, const u8 *d)
{
	struct pib_cc_ca *c = r->p->cc_ca;
	u32 i;

	if (r->am >= PIB_CC_BLOCKS || pib_get16(d) >= PIB_CC_ENTRIES)
		return PIB_STATUS_INVALID;
	for (i = 0; i < PIB_CC_BLOCK_ENTRIES; i++)
		WRITE_ONCE(c->table[r->am * PIB_CC_BLOCK_ENTRIES + i], pib_get16(d + 4 + i * 2));
	WRITE_ONCE(c->limit, pib_get16(d));
	return PIB_STATUS_OK;
}

/*
 * Service_Type of an entry, the lower half of the byte with the SL, is 0 (RC) for every service:
 * the log keeps both QP numbers and not the service, which the QP has for life.
 */
static void put_ca_log(const struct cc_req *r, u8 *d)
{
	const struct pib_cc_ca *c = r->p->cc_ca;
	u32 i, n = c->events < PIB_CC_CA_EVENTS ? c->events : PIB_CC_CA_EVENTS;

	d[0] = 2;
	d[1] = c->events != 0;
	pib_put16(d + 2, c->events);
	pib_put16(d + 4, c->event_sls);
	pib_put32(d + 8, cc_stamp(r->now));
	for (i = 0; i < n; i++) {
		const struct pib_cc_ca_event *e = &c->log[i];
		u8 *q = d + 12 + i * 16;

		pib_put32(q, e->qpn << 8 | e->sl << 4);
		pib_put32(q + 4, e->remote_qpn << 8);
		pib_put16(q + 8, r->p->lid);
		pib_put16(q + 10, e->remote_lid);
		pib_put32(q + 12, e->at);
	}
}

/* The log tells of the events since it was read last. */
static u16 get_log(const struct cc_req *r, u8 *d)
{
	struct pib_cc_node *c = &r->p->node->cc;

	if (r->p->cc_ca) {
		put_ca_log(r, d);
		r->p->cc_ca->events = 0;
		r->p->cc_ca->event_sls = 0;
	} else {
		put_sw_log(r, d);
		c->events = 0;
		memset(c->event_ports, 0, sizeof(c->event_ports));
	}
	return PIB_STATUS_OK;
}

/* ---- the agent ---- */

#define CA	(1 << PIB_NODE_CA)
#define SW	(1 << PIB_NODE_SWITCH)

/**
 * struct cc_row - an attribute and the functions that answer it
 * @id: attribute id
 * @nodes: bit per enum pib_node_type
 * @off: of its data in the MAD
 * @len: bytes of them
 * @get: fills in the data, zero before
 * @set: NULL: cannot be set
 */
struct cc_row {
	u16 id;
	u8 nodes;
	u8 off;
	u8 len;
	u16 (*get)(const struct cc_req *r, u8 *d);
	u16 (*set)(const struct cc_req *r, const u8 *d);
};

#define ROW(id, nodes, get, set) { id, nodes, CC_DATA, CC_DATA_LEN, get, set }

static const struct cc_row rows[] = {
	ROW(CC_CLASS_PORT_INFO, CA | SW, get_class_port_info, NULL),
	ROW(CC_INFO, CA | SW, get_info, NULL),
	ROW(CC_KEY_INFO, CA | SW, get_key_info, set_key_info),
	{ CC_LOG_ATTR, CA | SW, CC_LOG, CC_LOG_LEN, get_log, NULL },
	ROW(CC_SWITCH, SW, get_switch, set_switch),
	ROW(CC_SWITCH_PORT, SW, get_switch_port, set_switch_port),
	ROW(CC_CA, CA, get_ca, set_ca),
	ROW(CC_TABLE, CA, get_table, set_table),
	ROW(CC_TIMESTAMP, CA | SW, get_timestamp, NULL),
};

static const struct cc_row *find_row(const struct pib_port *p, u16 id)
{
	size_t i;

	if (p->node->type == PIB_NODE_CA && !p->cc_ca)
		return NULL;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].id == id && (rows[i].nodes >> p->node->type & 1))
			return &rows[i];
	return NULL;
}

/*
 * A10.4.1: a sender without the key may read. It may not write, and gets no answer if it does. A
 * lease that runs out takes the protection bit away, not the key, as with M_Keys. A10 also has a
 * trap for violations, number 0. Public sources describe the layout of its DataDetails, but neither
 * its type nor when it is due, and no manager asks for it. So violations are only counted.
 */
static bool cc_key_check(struct pib_cc_node *c, bool knows, u8 method, u64 now)
{
	if (c->lease_end && now >= c->lease_end) {
		c->lease_end = 0;
		c->protect = false;
	}
	if (knows || !c->key) {
		c->lease_end = 0;
		return true;
	}
	if (method == PIB_METHOD_GET)
		return true;
	if (c->violations != 0xFFFF)
		c->violations++;
	if (!c->lease_end && c->lease)
		c->lease_end = now + c->lease * PIB_NSEC_PER_SEC;
	return false;
}

static u16 cc_answer(const struct cc_req *r, const u8 *in, u8 *out)
{
	const struct cc_row *row = find_row(r->p, pib_get16(in + PIB_MAD_ATTR));
	u8 method = in[PIB_MAD_METHOD];
	u16 status = PIB_STATUS_OK;

	if (in[PIB_MAD_BASE_VERSION] != 1 || in[PIB_MAD_CLASS_VERSION] != CC_CLASS_VERSION)
		return PIB_STATUS_BAD_VERSION;
	if (method != PIB_METHOD_GET && method != PIB_METHOD_SET)
		return PIB_STATUS_BAD_METHOD;
	if (!row || (method == PIB_METHOD_SET && !row->set))
		return PIB_STATUS_BAD_ATTR;
	if (method == PIB_METHOD_SET)
		status = row->set(r, in + row->off);
	memset(out + row->off, 0, row->len);
	return status | row->get(r, out + row->off);
}

bool pib_cc_process(struct pib_port *p, const u8 *in, u8 *out, u64 now)
{
	struct pib_cc_node *c = &p->node->cc;
	struct cc_req r = {
		.p = p, .am = pib_get32(in + PIB_MAD_ATTR_MOD), .now = now,
		.knows = pib_get64(in + PIB_MAD_M_KEY) == c->key,
	};

	if (!cc_key_check(c, r.knows, in[PIB_MAD_METHOD], now))
		return false;
	pib_put16(out + PIB_MAD_STATUS, cc_answer(&r, in, out));
	return true;
}

/* ---- switches: marking ---- */

/* Bits of SwitchCongestionSetting.Control_Map (A10.4.3.6): which components are used. */
#define MAP_THRESHOLD	0x04	/* and Packet_Size */
#define MAP_RATE	0x10

#define TYPE_CREDIT_STARVATION 1	/* Control_Type of a port: not done */

/**
 * struct marking - how a port marks
 * @threshold: 0: no marking
 * @packet_size: in 64 bytes
 * @rate: packets between two that are marked
 */
struct marking {
	u8 threshold;
	u8 packet_size;
	u16 rate;
};

static void port_marking(const struct pib_port *p, struct marking *m)
{
	const struct pib_cc_node *c = &p->node->cc;
	u32 map = READ_ONCE(c->control_map);

	if (READ_ONCE(p->cc_sw.valid)) {
		m->threshold = READ_ONCE(p->cc_sw.control_type) == TYPE_CREDIT_STARVATION ? 0 :
			       READ_ONCE(p->cc_sw.threshold);
		m->packet_size = READ_ONCE(p->cc_sw.packet_size);
		m->rate = READ_ONCE(p->cc_sw.marking_rate);
		return;
	}
	m->threshold = map & MAP_THRESHOLD ? READ_ONCE(c->threshold) : 0;
	m->packet_size = map & MAP_THRESHOLD ? READ_ONCE(c->packet_size) : 0;
	m->rate = map & MAP_RATE ? READ_ONCE(c->marking_rate) : 0;
}

bool pib_cc_picks(const struct pib_port *p)
{
	struct marking m;

	port_marking(p, &m);
	return m.threshold && m.rate;
}

u32 pib_cc_marks(struct pib_port *p, u32 queued, u32 bytes, u32 npkts)
{
	struct marking m;
	u32 eligible;

	port_marking(p, &m);
	/* Uniformly from a queue that is nearly full (1) to one that is nearly empty (15). */
	if (!m.threshold || queued < (16u - m.threshold) * 16 || bytes < m.packet_size * 64u)
		return 0;
	eligible = READ_ONCE(p->cc_sw.unmarked) + npkts;
	WRITE_ONCE(p->cc_sw.unmarked, eligible % (m.rate + 1u));
	return eligible / (m.rate + 1u);
}

void pib_cc_marked(struct pib_port *p, const struct pib_hdrs *h, u64 now)
{
	struct pib_cc_node *c = &p->node->cc;
	struct pib_cc_sw_event *e = &c->sw_log[c->events % PIB_CC_SW_EVENTS];

	e->slid = h->slid;
	e->dlid = h->dlid;
	e->sl = h->sl;
	e->at = cc_stamp(now);
	c->event_ports[31 - p->num / 8] |= 1 << p->num % 8;
	if (c->events != 0xFFFF)
		c->events++;
}

/* ---- HCAs: waiting ---- */

static bool sl_applies(const struct pib_cc_ca *c, u8 sl)
{
	return c && READ_ONCE(c->control_map) >> (sl & 0xF) & 1;
}

/* A10.4.3.8, Port_Control: bit 0 */
#define CONTROL_BY_SL 0x01

struct pib_cc_flow *pib_cc_sl_flow(const struct pib_port *p, u8 sl)
{
	struct pib_cc_ca *c = p->cc_ca;

	return c && READ_ONCE(c->port_control) & CONTROL_BY_SL ? &c->flow[sl & 0xF] : NULL;
}

/* Have other senders of the service level look at @f, if the flow is theirs, too. */
static void note_slow(struct pib_port *p, const struct pib_cc_flow *f, u8 sl)
{
	u16 bit = 1 << (sl & 0xF);

	if (f == &p->cc_ca->flow[sl & 0xF])
		WRITE_ONCE(p->cc_slow, f->index ? p->cc_slow | bit : p->cc_slow & ~bit);
}

/* The index goes down with time. */
static void flow_age(const struct pib_cc_ca *c, struct pib_cc_flow *f, u8 sl, u64 now)
{
	const struct pib_cc_entry *e = &c->entry[sl & 0xF];
	u8 min = READ_ONCE(e->min);
	u64 step = (u64)READ_ONCE(e->timer) << 10;

	if (!step)
		return;
	while (f->index > min && f->since + step <= now) {
		f->index--;
		f->since += step;
	}
	if (f->index <= min)
		f->since = now;
}

bool pib_cc_becn(struct pib_port *p, struct pib_cc_flow *f, u8 sl, u64 now)
{
	const struct pib_cc_ca *c = p->cc_ca;
	u32 limit, index, threshold;
	bool below;

	if (!sl_applies(c, sl))
		return false;
	flow_age(c, f, sl, now);
	limit = READ_ONCE(c->limit);
	threshold = READ_ONCE(c->entry[sl & 0xF].threshold);
	below = f->index < threshold;
	index = f->index + READ_ONCE(c->entry[sl & 0xF].increase);
	f->index = index < limit ? index : limit;
	note_slow(p, f, sl);
	return threshold && below && f->index >= threshold;
}

void pib_cc_triggered(struct pib_port *p, u8 sl, u32 qpn, u32 remote_qpn, u16 remote_lid, u64 now)
{
	struct pib_cc_ca *c = p->cc_ca;
	struct pib_cc_ca_event *e = &c->log[c->events % PIB_CC_CA_EVENTS];

	e->qpn = qpn;
	e->remote_qpn = remote_qpn;
	e->remote_lid = remote_lid;
	e->sl = sl & 0xF;
	e->at = cc_stamp(now);
	c->event_sls |= 1 << (sl & 0xF);
	if (c->events != 0xFFFF)
		c->events++;
}

/* A10.2.1: between packets the sender waits their own time, times multiplier, over 2^shift. */
void pib_cc_sent(struct pib_port *p, struct pib_cc_flow *f, u8 sl, u32 bytes, u32 mbps,
		 u64 now)
{
	const struct pib_cc_ca *c = p->cc_ca;
	u16 entry;
	u64 wait;

	if (!sl_applies(c, sl) || !mbps)
		return;
	flow_age(c, f, sl, now);
	note_slow(p, f, sl);
	entry = READ_ONCE(c->table[f->index % PIB_CC_ENTRIES]);
	if (!(entry & 0x3FFF))
		return;
	wait = (u64)(bytes * 8000 / mbps) * (entry & 0x3FFF) >> (entry >> 14);
	f->next = (f->next > now ? f->next : now) + wait;
}
