// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PortSamplesControl and PortSamplesResult (IBA 16.1.3.2, 16.1.3.4): the five
 * mandatory counters over an interval. The clock ticks once a microsecond. A sample
 * is taken when it is first asked for after its time, so it may cover more than
 * its interval.
 */
#include "mad.h"
#include "node.h"
#include "pma.h"
#include "pma_samples.h"

#define TICK_NS		1000ULL
#define TICK_CODE	0xF9		/* Tick: 1 us in units of 4 ns * (n + 1) */
#define COUNTER_WIDTH	4		/* 32 bits */
/* CounterMask0 .. 14, 3 bits each: every one may be any of the mandatory counters. */
#define COUNTER_MASKS_0_9	01111111111
#define COUNTER_MASKS_10_14	011111

/*
 * OptionMask: the optional counters that are there. They are not sampled (the masks above), but
 * have attributes of their own (pma.c). Of attributes that are always zero none has a bit.
 */
#define OPT(bit)		(1ULL << (bit))
#define OPT_RCV_ERR_DETAILS	(OPT(6) | OPT(8) | OPT(9) | OPT(10) | OPT(11))
#define OPT_XMIT_DISCARDS	(OPT(12) | OPT(13) | OPT(14) | OPT(15))
#define OPT_FLOW_CTL		(OPT(18) | OPT(19))
#define OPT_VL_OP		(OPT(20) | OPT(21))	/* packets, data */
#define OPT_VL_XMIT_WAIT	OPT(23)
#define OPT_RCV_CON_CTRL	(OPT(49) | OPT(50))	/* FECNs, BECNs */
#define OPT_SL_RCV_CON_CTRL	(OPT(51) | OPT(52))
#define OPT_SL_DATA		(OPT(55) | OPT(56))
#define OPTION_MASK		(OPT_RCV_ERR_DETAILS | OPT_XMIT_DISCARDS | OPT_FLOW_CTL | \
				 OPT_VL_OP | OPT_VL_XMIT_WAIT | OPT_RCV_CON_CTRL | \
				 OPT_SL_RCV_CON_CTRL | OPT_SL_DATA)

#define WIDTH_64		2	/* ExtendedWidth of PortSamplesResultExtended */

enum samples_status {
	SAMPLES_DONE = 0,
	SAMPLES_WAITING = 1,
	SAMPLES_RUNNING = 2,
};

#define COUNT(name) p->node->count(p, offsetof(struct pib_counts, name) / sizeof(u64))

/* CounterSelect values (table 233): PortXmitData, RcvData, XmitPkts, RcvPkts, XmitWait. */
static u64 sampled_counter(const struct pib_port *p, u16 select)
{
	switch (select) {
	case 1:
		return COUNT(xmit_bytes) / 4;
	case 2:
		return COUNT(rcv_bytes) / 4;
	case 3:
		return COUNT(xmit_pkts);
	case 4:
		return COUNT(rcv_pkts);
	case 5:
		return COUNT(xmit_wait);
	}
	return 0;
}

/* Takes the sample if its time is over. Returns its status. */
static u8 samples_advance(struct pib_port *p, u64 now)
{
	struct pib_samples *s = &p->samples;
	int i;

	if (!s->begun)
		return SAMPLES_DONE;
	if (now < s->begun + s->start * TICK_NS)
		return SAMPLES_WAITING;
	if (now < s->begun + ((u64)s->start + s->interval) * TICK_NS)
		return SAMPLES_RUNNING;
	for (i = 0; i < PIB_SAMPLES; i++)
		s->result[i] = sampled_counter(p, s->select[i]) - s->from[i];
	s->begun = 0;
	return SAMPLES_DONE;
}

static void samples_begin(struct pib_port *p, const u8 *attr, u64 now)
{
	struct pib_samples *s = &p->samples;
	int i;

	s->start = pib_get32(attr + 28);
	s->interval = pib_get32(attr + 32);
	s->tag = pib_get16(attr + 36);
	for (i = 0; i < PIB_SAMPLES; i++) {
		s->select[i] = pib_get16(attr + 38 + 2 * i);
		s->from[i] = sampled_counter(p, s->select[i]);
	}
	s->begun = now ? now : 1;
}

static void control_put(const struct pib_samples *s, u8 status, u8 *attr)
{
	u8 select = attr[1];
	int i;

	memset(attr, 0, PIB_PMA_DATA_LEN);
	attr[1] = select;
	attr[2] = TICK_CODE;
	attr[3] = COUNTER_WIDTH;
	pib_put32(attr + 4, COUNTER_MASKS_0_9);
	pib_put16(attr + 8, COUNTER_MASKS_10_14);
	attr[10] = 0;			/* one sampling mechanism */
	attr[11] = status;
	pib_put64(attr + 12, OPTION_MASK);
	pib_put32(attr + 28, s->start);
	pib_put32(attr + 32, s->interval);
	pib_put16(attr + 36, s->tag);
	for (i = 0; i < PIB_SAMPLES; i++)
		pib_put16(attr + 38 + 2 * i, s->select[i]);
}

/* One port, not all of them. */
static struct pib_port *samples_port(struct pib_port *p, u8 select)
{
	u8 first, last;

	if (!pib_pma_ports(p, select, &first, &last) || first != last)
		return NULL;
	return p->node->ports[first];
}

u16 pib_pma_samples_control(struct pib_port *p, const u8 *in, u8 *attr, u64 now)
{
	struct pib_port *at = samples_port(p, attr[1]);
	u8 status;

	if (!at)
		return PIB_STATUS_INVALID;
	status = samples_advance(at, now);
	/* 16.1.3.2: one that waits or runs is not disturbed. */
	if (in[PIB_MAD_METHOD] == PIB_METHOD_SET && status == SAMPLES_DONE) {
		samples_begin(at, in + PIB_MAD_DATA, now);
		status = samples_advance(at, now);
	}
	control_put(&at->samples, status, attr);
	return PIB_STATUS_OK;
}

/*
 * The attribute names no port: it is the modifier's, else the agent's. @wide: the one with 64-bit
 * counters.
 */
u16 pib_pma_samples_result(struct pib_port *p, const u8 *in, u8 *attr, bool wide, u64 now)
{
	u32 num = pib_get32(in + PIB_MAD_ATTR_MOD);
	struct pib_port *at = p;
	u8 status;
	int i;

	if (in[PIB_MAD_METHOD] != PIB_METHOD_GET)
		return PIB_STATUS_BAD_ATTR;
	if (num && num <= p->node->num_ports)
		at = p->node->ports[num];
	status = samples_advance(at, now);
	memset(attr, 0, PIB_PMA_DATA_LEN);
	pib_put16(attr, at->samples.tag);
	attr[3] = status;
	if (wide)
		attr[4] = WIDTH_64 << 6;
	for (i = 0; i < PIB_SAMPLES; i++) {
		if (wide)
			pib_put64(attr + 8 + 8 * i, at->samples.result[i]);
		else
			pib_put32(attr + 4 + 4 * i, (u32)at->samples.result[i]);
	}
	return PIB_STATUS_OK;
}
