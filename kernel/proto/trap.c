// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Notices (IBA 13.4.8 to 13.4.10, 14.2.5.1). Traps wait in the node and are sent to the
 * SM, again every SubnetTimeOut until TrapRepress names their TransactionID or they have
 * been sent PIB_TRAP_REPEATS times.
 */
#include "mad.h"
#include "node.h"
#include "trap.h"

enum notice_type {
	NOTICE_URGENT = 1,
	NOTICE_SECURITY = 2,
	NOTICE_INFO = 4,
};

static u8 notice_type(u16 num)
{
	if (num >= 256)
		return NOTICE_SECURITY;
	return num >= 144 ? NOTICE_INFO : NOTICE_URGENT;
}

/* The port that speaks to the SM about @port. */
static struct pib_port *trap_sender(const struct pib_node *n, u8 port)
{
	if (n->type == PIB_NODE_SWITCH)
		return n->ports[0];
	return n->ports[port ? port : 1];
}

static bool can_send(const struct pib_port *p)
{
	return p->lid && p->sm_lid && p->state >= PIB_PORT_INIT;
}

static bool same_notice(const struct pib_trap *t, u16 num, u8 port, const u8 *data)
{
	return t->num == num && t->port == port && !memcmp(t->data, data, PIB_NOTICE_DETAILS);
}

/* C13-18: at most one in SubnetTimeOut, 4.096 us * 2^n. */
static u64 trap_interval(const struct pib_port *p)
{
	return 4096ULL << p->subnet_timeout;
}

/*
 * The slot of the same notice, else a free one, else that of the notice sent most often. A sender
 * of packets can provoke as many security notices as it likes, so these take no other's place.
 */
static struct pib_trap *find_slot(struct pib_node *n, u16 num, u8 port,
				  const u8 data[PIB_NOTICE_DETAILS])
{
	bool security = notice_type(num) == NOTICE_SECURITY;
	struct pib_trap *t, *best = NULL;

	for (t = n->traps; t < n->traps + PIB_TRAPS; t++) {
		if (same_notice(t, num, port, data))
			return t;
		if (security && t->due && notice_type(t->num) != NOTICE_SECURITY)
			continue;
		if (!best || (best->due && (!t->due || t->repeats > best->repeats)))
			best = t;
	}
	return best;
}

/*
 * C13-18 limits one notice. There are as many different ones as keys to guess, so they share a
 * limit.
 */
static bool may_begin(struct pib_node *n, u16 num, const struct pib_port *from, u64 now)
{
	if (notice_type(num) != NOTICE_SECURITY)
		return true;
	if (now - n->security_since >= trap_interval(from)) {
		n->security_since = now;
		n->security_traps = 0;
	}
	return n->security_traps++ < PIB_TRAPS_SECURITY;
}

bool pib_trap_raise(struct pib_node *n, u16 num, u8 port, const u8 data[PIB_NOTICE_DETAILS],
		    u64 now)
{
	const struct pib_port *from = trap_sender(n, port);
	struct pib_trap *t;
	u64 first = now ? now : 1;
	u64 was;	/* when this notice was to be sent, if it waits */

	if (!can_send(from))
		return false;
	t = find_slot(n, num, port, data);
	if (!t)
		return false;
	if (!same_notice(t, num, port, data)) {
		if (!may_begin(n, num, from, first))
			return false;
		t->sent = 0;
		t->due = 0;
	}
	was = t->due;
	t->num = num;
	t->port = port;
	memcpy(t->data, data, PIB_NOTICE_DETAILS);
	t->repeats = 0;
	t->due = first;
	if (t->sent && t->sent + trap_interval(from) > first)
		t->due = t->sent + trap_interval(from);
	t->tid = ++n->trap_tid;	/* a late TrapRepress of the one before must not stop this one */
	if (!was || t->due < was)	/* else pib_node_deadline() has told already */
		pib_events_add(&n->events, PIB_EV_TRAP);
	return true;
}

void pib_trap_repress(struct pib_node *n, u64 tid)
{
	struct pib_trap *t;

	for (t = n->traps; t < n->traps + PIB_TRAPS; t++)
		if (t->due && t->tid == tid)
			t->due = 0;
}

void pib_trap_notice(const struct pib_node *n, const struct pib_trap *t, u8 *data)
{
	data[0] = 0x80 | notice_type(t->num);	/* generic */
	data[1] = 0;
	pib_put16(data + 2, n->type);		/* producer */
	pib_put16(data + 4, t->num);
	pib_put16(data + 6, trap_sender(n, t->port)->lid);
	pib_put16(data + 8, 0);			/* toggle and count: not a queue that is polled */
	memcpy(data + 10, t->data, PIB_NOTICE_DETAILS);
}

static void trap_build(const struct pib_node *n, const struct pib_trap *t, u8 *mad)
{
	memset(mad, 0, PIB_MAD_SIZE);
	mad[PIB_MAD_BASE_VERSION] = 1;
	mad[PIB_MAD_CLASS] = PIB_CLASS_SM_LID;
	mad[PIB_MAD_CLASS_VERSION] = 1;
	mad[PIB_MAD_METHOD] = PIB_METHOD_TRAP;
	pib_put64(mad + PIB_MAD_TID, t->tid);
	pib_put16(mad + PIB_MAD_ATTR, PIB_SM_NOTICE);
	pib_trap_notice(n, t, mad + PIB_MAD_DATA);
}

bool pib_trap_next(struct pib_node *n, u64 now, u8 *mad, struct pib_port **from)
{
	struct pib_trap *t;

	for (t = n->traps; t < n->traps + PIB_TRAPS; t++) {
		if (!t->due || t->due > now)
			continue;
		*from = trap_sender(n, t->port);
		if (!can_send(*from)) {	/* cut off since: the next sweep tells */
			t->due = 0;
			continue;
		}
		trap_build(n, t, mad);
		t->repeats++;
		t->sent = now;
		t->due = t->repeats < PIB_TRAP_REPEATS ? now + trap_interval(*from) : 0;
		return true;
	}
	return false;
}

static u64 trap_earlier(u64 a, u64 b)
{
	if (!a || !b)
		return a | b;
	return a < b ? a : b;
}

u64 pib_node_deadline(const struct pib_node *n)
{
	bool sw = n->type == PIB_NODE_SWITCH;
	u64 due = 0;
	int i;

	for (i = 0; i < PIB_TRAPS; i++)
		due = trap_earlier(due, n->traps[i].due);
	for (i = sw ? 0 : 1; i <= (sw ? 0 : n->num_ports); i++)
		due = trap_earlier(due, n->ports[i]->m_key_lease_end);
	return due;
}

/* ---- thresholds (7.12.2) ---- */

/* About 65536 symbol times of SDR, by which a flow control update is due (7.9.4). */
#define UPDATE_PERIOD_SHIFT 18

bool pib_port_integrity(struct pib_port *p, bool bad)
{
	/* A pipe that is being replaced counts beside the new one: a step may be lost. */
	u8 n = READ_ONCE(p->integrity);

	if (!bad) {
		if (n)
			WRITE_ONCE(p->integrity, n - 1);
		return false;
	}
	if (n < READ_ONCE(p->local_phy_err)) {
		WRITE_ONCE(p->integrity, n + 1);
		return false;
	}
	WRITE_ONCE(p->integrity, 0);
	return true;
}

static u32 update_period(u64 now)
{
	return (u32)(now >> UPDATE_PERIOD_SHIFT);
}

bool pib_port_overrun_noted(const struct pib_port *p, u64 now)
{
	return READ_ONCE(p->overrun_period) == update_period(now);
}

bool pib_port_overrun(struct pib_port *p, u64 now)
{
	u32 period = update_period(now);

	if (p->overrun_period == period)
		return false;
	p->overruns = p->overrun_period + 1 == period ? p->overruns + 1 : 1;
	WRITE_ONCE(p->overrun_period, period);
	if (p->overruns < p->overrun_err)
		return false;
	p->overruns = 0;
	return true;
}

/* ---- the notices that have more to tell than a LID ---- */

void pib_trap_threshold(struct pib_port *p, u16 num, u64 now)
{
	u8 data[PIB_NOTICE_DETAILS] = { 0 };

	pib_put16(data + 2, trap_sender(p->node, p->num)->lid);
	data[4] = p->num;
	pib_trap_raise(p->node, num, p->num, data, now);
}

/* Trap 256: the sender, its request and key, and as much of its ReturnPath as fits. */
void pib_trap_bad_mkey(struct pib_port *p, const u8 *smp, u64 now)
{
	u8 data[PIB_NOTICE_DETAILS] = { 0 };
	u8 hops = smp[PIB_MAD_HOP_CNT];

	pib_put16(data + 2, trap_sender(p->node, p->num)->lid);
	data[6] = smp[PIB_MAD_METHOD];
	memcpy(data + 8, smp + PIB_MAD_ATTR, 2);
	memcpy(data + 10, smp + PIB_MAD_ATTR_MOD, 4);
	memcpy(data + 14, smp + PIB_MAD_M_KEY, 8);
	if (smp[PIB_MAD_CLASS] == PIB_CLASS_SM_DR) {
		memcpy(data + 4, smp + PIB_MAD_DR_SLID, 2);
		data[23] = 0x80;
		if (hops > 30) {
			data[23] |= 0x40;	/* truncated */
			hops = 30;
		}
		data[23] |= hops;
		memcpy(data + 24, smp + PIB_MAD_RETURN_PATH, hops);
	}
	pib_trap_raise(p->node, 256, p->num, data, now);
}

static void saturating_add(u16 *counter, u32 n)
{
	u32 room = 0xFFFF - *counter;

	*counter += n < room ? n : room;
}

/* Both ends as the packet names them: LIDs, the key, SL and QPs, GIDs. */
void pib_trap_bad_key(struct pib_port *p, u16 num, u32 n, const struct pib_hdrs *h, u64 now)
{
	u8 data[PIB_NOTICE_DETAILS] = { 0 };

	saturating_add(num == 257 ? &p->pkey_viol : &p->qkey_viol, n);
	pib_put16(data + 2, h->slid);
	pib_put16(data + 4, h->dlid);
	pib_put32(data + 6, num == 257 ? h->pkey : h->qkey);
	pib_put32(data + 10, (u32)h->sl << 28 | (h->sqpn & PIB_QPN_MASK));
	pib_put32(data + 14, h->dqpn & PIB_QPN_MASK);
	if (h->flags & PIB_H_GRH) {
		memcpy(data + 18, h->sgid, 16);
		memcpy(data + 34, h->dgid, 16);
	}
	pib_trap_raise(p->node, num, p->num, data, now);
}

#define DATA_VALID_LIDS		0x0003	/* LIDADDR1, LIDADDR2 */
#define DATA_VALID_PKEY		0x0004
#define DATA_VALID_SL		0x0008
#define DATA_VALID_QP1		0x0010
#define DATA_VALID_QP2		0x0020
#define DATA_VALID_GIDS		0x00C0

/* Only a DETH says which QP has sent the packet. */
void pib_trap_switch_pkey(struct pib_port *p, u32 n, const struct pib_hdrs *h, u64 now)
{
	u8 data[PIB_NOTICE_DETAILS] = { 0 };
	bool grh = h->flags & PIB_H_GRH, deth = h->tp == PIB_TP_UD;
	struct pib_port *p0 = p->node->ports[0];

	saturating_add(&p0->pkey_viol, n);
	pib_put16(data, DATA_VALID_LIDS | DATA_VALID_PKEY | DATA_VALID_SL | DATA_VALID_QP2 |
		  (deth ? DATA_VALID_QP1 : 0) | (grh ? DATA_VALID_GIDS : 0));
	pib_put16(data + 2, h->slid);
	pib_put16(data + 4, h->dlid);
	pib_put16(data + 6, h->pkey);
	pib_put32(data + 8, (u32)h->sl << 28 | (deth ? h->sqpn & PIB_QPN_MASK : 0));
	pib_put32(data + 12, h->dqpn & PIB_QPN_MASK);
	if (grh) {
		memcpy(data + 16, h->sgid, 16);
		memcpy(data + 32, h->dgid, 16);
	}
	pib_put16(data + 48, p0->lid);
	data[50] = p->num;
	pib_trap_raise(p->node, 259, p->num, data, now);
}
