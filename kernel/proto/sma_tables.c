// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The tables that an SM reads and writes in blocks (IBA 14.2.5.5, 14.2.5.7 to 14.2.5.12). */
#include "mad.h"
#include "node.h"
#include "sma.h"

#define PKEYS_PER_BLOCK		32
#define GUIDS_PER_BLOCK		8
#define LFT_PER_BLOCK		64
#define MLIDS_PER_BLOCK		32
#define PORTS_PER_POSITION	16

/* ---- P_KeyTable: AM = block, and port << 16 on switches ---- */

static u16 pkey_block(const struct pib_sma_req *r, u16 **first)
{
	u32 block = r->am & 0xFFFF;

	if (block >= pib_port_pkeys(r->port) / PKEYS_PER_BLOCK)
		return PIB_STATUS_INVALID;
	*first = r->port->pkey + block * PKEYS_PER_BLOCK;
	return PIB_STATUS_OK;
}

u16 pib_sma_get_pkeys(const struct pib_sma_req *r, u8 *data)
{
	u16 *key, status = pkey_block(r, &key);
	int i;

	for (i = 0; !status && i < PKEYS_PER_BLOCK; i++)
		pib_put16(data + 2 * i, key[i]);
	return status;
}

u16 pib_sma_set_pkeys(const struct pib_sma_req *r, const u8 *data)
{
	u16 *key, status = pkey_block(r, &key);
	int i;

	for (i = 0; !status && i < PKEYS_PER_BLOCK; i++) {
		u16 v = pib_get16(data + 2 * i);

		if (key[i] == v)
			continue;
		WRITE_ONCE(key[i], v);
		pib_events_add(&r->port->events, PIB_EV_PKEY_CHANGE);
	}
	return status;
}

/* ---- GUIDInfo: AM = block; entry 0 is the port's own and stays ---- */

static u16 guid_block(const struct pib_sma_req *r, u32 *first)
{
	if (r->am > (pib_port_guids(r->port) - 1) / GUIDS_PER_BLOCK)
		return PIB_STATUS_INVALID;
	*first = r->am * GUIDS_PER_BLOCK;
	return PIB_STATUS_OK;
}

u16 pib_sma_get_guids(const struct pib_sma_req *r, u8 *data)
{
	u32 i, first = 0;
	u16 status = guid_block(r, &first);

	for (i = 0; !status && i < GUIDS_PER_BLOCK; i++)
		pib_put64(data + 8 * i, r->port->guids[first + i]);
	return status;
}

u16 pib_sma_set_guids(const struct pib_sma_req *r, const u8 *data)
{
	u32 i, first = 0;
	u16 status = guid_block(r, &first);

	for (i = 0; !status && i < GUIDS_PER_BLOCK; i++) {
		u64 v = pib_get64(data + 8 * i);

		if (first + i == 0 || first + i >= pib_port_guids(r->port) ||
		    r->port->guids[first + i] == v)
			continue;
		WRITE_ONCE(r->port->guids[first + i], v);
		pib_events_add(&r->port->events, PIB_EV_GID_CHANGE);
	}
	return status;
}

/* ---- SLtoVLMappingTable: AM = in << 8 | out on switches, 0 on HCAs; two SLs to a byte ---- */

/*
 * Find the port that holds the row, and the row. The optimised forms (bits 16, 17) are not offered.
 */
static u16 sl2vl_row(const struct pib_sma_req *r, struct pib_port **p, u32 *row)
{
	u32 in = r->am >> 8, out = r->am & 0xFF;

	*p = r->arrival;
	*row = 0;
	if (r->node->type == PIB_NODE_CA)
		return r->am ? PIB_STATUS_INVALID : PIB_STATUS_OK;
	if (in > r->node->num_ports || out > r->node->num_ports)
		return PIB_STATUS_INVALID;
	*p = r->node->ports[out];
	*row = in;
	return PIB_STATUS_OK;
}

static u8 sl2vl_at(const struct pib_port *p, u32 row, u32 sl)
{
	return p->sl2vl ? p->sl2vl[row][sl] : sl % PIB_VLS;
}

u16 pib_sma_get_sl2vl(const struct pib_sma_req *r, u8 *data)
{
	struct pib_port *p;
	u32 row, sl;
	u16 status = sl2vl_row(r, &p, &row);

	for (sl = 0; !status && sl < 16; sl += 2)
		data[sl / 2] = sl2vl_at(p, row, sl) << 4 | sl2vl_at(p, row, sl + 1);
	return status;
}

u16 pib_sma_set_sl2vl(const struct pib_sma_req *r, const u8 *data)
{
	struct pib_port *p;
	u32 row, sl;
	u16 status = sl2vl_row(r, &p, &row);

	if (status)
		return status;
	if (!p->sl2vl)
		return PIB_STATUS_BAD_ATTR;
	for (sl = 0; sl < 16; sl += 2) {
		WRITE_ONCE(p->sl2vl[row][sl], data[sl / 2] >> 4);
		WRITE_ONCE(p->sl2vl[row][sl + 1], data[sl / 2] & 0xF);
	}
	pib_events_add(&p->events, PIB_EV_SL2VL);
	return PIB_STATUS_OK;
}

/* ---- VLArbitrationTable: AM = block 1..4 << 16 | port ---- */

u16 pib_sma_get_vlarb(const struct pib_sma_req *r, u8 *data)
{
	u32 block = r->am >> 16;

	if (block < 1 || block > 4)
		return PIB_STATUS_INVALID;
	memcpy(data, r->port->vlarb[block - 1], PIB_SMP_DATA_LEN);
	return PIB_STATUS_OK;
}

u16 pib_sma_set_vlarb(const struct pib_sma_req *r, const u8 *data)
{
	u32 block = r->am >> 16, i;

	if (block < 1 || block > 4)
		return PIB_STATUS_INVALID;
	for (i = 0; i < 32; i++) {
		WRITE_ONCE(r->port->vlarb[block - 1][i][0], data[2 * i] & 0xF);
		WRITE_ONCE(r->port->vlarb[block - 1][i][1], data[2 * i + 1]);
	}
	return PIB_STATUS_OK;
}

/* ---- LinearForwardingTable: AM = block ---- */

u16 pib_sma_get_lft(const struct pib_sma_req *r, u8 *data)
{
	if (r->am >= PIB_LFT_SIZE / LFT_PER_BLOCK)
		return PIB_STATUS_INVALID;
	memcpy(data, r->node->lft + r->am * LFT_PER_BLOCK, LFT_PER_BLOCK);
	return PIB_STATUS_OK;
}

u16 pib_sma_set_lft(const struct pib_sma_req *r, const u8 *data)
{
	u8 *to;
	int i;

	if (r->am >= PIB_LFT_SIZE / LFT_PER_BLOCK)
		return PIB_STATUS_INVALID;
	to = r->node->lft + r->am * LFT_PER_BLOCK;
	for (i = 0; i < LFT_PER_BLOCK; i++)
		WRITE_ONCE(to[i], data[i]);
	return PIB_STATUS_OK;
}

/* ---- MulticastForwardingTable: AM = block | position << 28 ---- */

struct mft_at {
	u32 mlid;	/* first index into the table */
	u32 word;	/* of the port mask */
	u32 shift;	/* in that word */
};

static u16 mft_block(const struct pib_sma_req *r, struct mft_at *at)
{
	u32 block = r->am & 0x0FFFFFFF;
	u32 position = r->am >> 28;

	if (block >= PIB_MFT_SIZE / MLIDS_PER_BLOCK ||
	    position > r->node->num_ports / PORTS_PER_POSITION)
		return PIB_STATUS_INVALID;
	at->mlid = block * MLIDS_PER_BLOCK;
	at->word = position / 2;
	at->shift = position % 2 * 16;
	return PIB_STATUS_OK;
}

u16 pib_sma_get_mft(const struct pib_sma_req *r, u8 *data)
{
	struct mft_at at = { 0 };
	u16 status = mft_block(r, &at);
	u32 i;

	for (i = 0; !status && i < MLIDS_PER_BLOCK; i++)
		pib_put16(data + 2 * i, r->node->mft[at.mlid + i][at.word] >> at.shift & 0xFFFF);
	return status;
}

u16 pib_sma_set_mft(const struct pib_sma_req *r, const u8 *data)
{
	struct mft_at at = { 0 };
	u16 status = mft_block(r, &at);
	u32 i;

	for (i = 0; !status && i < MLIDS_PER_BLOCK; i++) {
		u32 *word = &r->node->mft[at.mlid + i][at.word];
		u32 ports = pib_get16(data + 2 * i);

		WRITE_ONCE(*word, (*word & ~(0xFFFFu << at.shift)) | ports << at.shift);
	}
	return status;
}
