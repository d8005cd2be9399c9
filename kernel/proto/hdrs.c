// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "opcode.h"
#include "vl.h"

#define LNH_LOCAL	2	/* IBA transport, no GRH (7.7.5) */
#define LNH_GLOBAL	3	/* GRH, then IBA transport */
#define GRH_IPVER	6
#define GRH_NXTHDR_IBA	0x1B

/* ---- bytes ---- */

static u32 hdr_get16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

static u32 hdr_get24(const u8 *p)
{
	return (u32)p[0] << 16 | p[1] << 8 | p[2];
}

static u32 hdr_get32(const u8 *p)
{
	return (u32)p[0] << 24 | hdr_get24(p + 1);
}

static u64 hdr_get64(const u8 *p)
{
	return (u64)hdr_get32(p) << 32 | hdr_get32(p + 4);
}

static void hdr_put16(u8 *p, u32 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static void hdr_put24(u8 *p, u32 v)
{
	p[0] = v >> 16;
	hdr_put16(p + 1, v);
}

static void hdr_put32(u8 *p, u32 v)
{
	p[0] = v >> 24;
	hdr_put24(p + 1, v);
}

static void hdr_put64(u8 *p, u64 v)
{
	hdr_put32(p, v >> 32);
	hdr_put32(p + 4, v);
}

/* ---- taking apart ---- */

/**
 * struct cursor - the rest of the bytes at hand
 * @p: next byte
 * @left: bytes from @p on
 * @packet: bytes of the packet from @p on, ICRC included
 */
struct cursor {
	const u8 *p;
	size_t left;
	size_t packet;
};

/* Take the next @len bytes. Return: NULL: there are fewer. */
static const u8 *take_bytes(struct cursor *c, size_t len)
{
	const u8 *p = c->p;

	if (c->left < len || c->packet < len)
		return NULL;
	c->p += len;
	c->left -= len;
	c->packet -= len;
	return p;
}

/* 7.7 */
static int parse_lrh(struct pib_hdrs *h, struct cursor *c)
{
	const u8 *p = c->p;
	size_t pkt_len;
	u8 lnh;

	if (c->left < PIB_LRH_LEN)
		return PIB_PARSE_SHORT;
	lnh = p[1] & 3;
	pkt_len = (hdr_get16(p + 4) & 0x7FF) * 4;
	if (p[0] & 0xF || (lnh != LNH_LOCAL && lnh != LNH_GLOBAL))
		return PIB_PARSE_LRH;
	if (pkt_len < PIB_LRH_LEN + PIB_BTH_LEN + PIB_ICRC_LEN)
		return PIB_PARSE_LRH;
	if (pkt_len > c->packet)
		return PIB_PARSE_SHORT;
	c->packet = pkt_len;
	h->vl = p[0] >> 4;
	h->sl = p[1] >> 4;
	h->dlid = hdr_get16(p + 2);
	h->slid = hdr_get16(p + 6);
	if (lnh == LNH_GLOBAL)
		h->flags |= PIB_H_GRH;
	take_bytes(c, PIB_LRH_LEN);
	return PIB_PARSE_OK;
}

/* 8.3 */
static int parse_grh(struct pib_hdrs *h, struct cursor *c)
{
	const u8 *p = take_bytes(c, PIB_GRH_LEN);

	if (!p)
		return PIB_PARSE_SHORT;
	if (p[0] >> 4 != GRH_IPVER || p[6] != GRH_NXTHDR_IBA)
		return PIB_PARSE_GRH;
	if (hdr_get16(p + 4) != c->packet)
		return PIB_PARSE_GRH;
	h->tclass = hdr_get16(p) >> 4;
	h->flow = hdr_get32(p) & 0xFFFFF;
	h->hop = p[7];
	memcpy(h->sgid, p + 8, 16);
	memcpy(h->dgid, p + 24, 16);
	return PIB_PARSE_OK;
}

static u16 bth_flags(const u8 *p)
{
	return (p[1] & 0x80 ? PIB_H_SE : 0) | (p[1] & 0x40 ? PIB_H_MIG : 0) |
	       (p[4] & 0x80 ? PIB_H_FECN : 0) | (p[4] & 0x40 ? PIB_H_BECN : 0) |
	       (p[8] & 0x80 ? PIB_H_ACKREQ : 0);
}

/* 9.2 */
static int parse_bth(struct pib_hdrs *h, struct cursor *c, const struct pib_opcode_info **info,
		     u8 *opcode)
{
	const u8 *p = take_bytes(c, PIB_BTH_LEN);

	if (!p)
		return PIB_PARSE_SHORT;
	*info = pib_opcode_info(p[0]);
	if (!*info || p[1] & 0xF)
		return PIB_PARSE_BTH;
	*opcode = p[0];
	h->tp = p[0] >> 5;
	h->op = (*info)->op;
	if (h->op == PIB_OP_RESERVED)
		h->ex = p[0] & 0x1F;
	h->flags |= (*info)->flags | bth_flags(p);
	h->pad = p[1] >> 4 & 3;
	h->pkey = hdr_get16(p + 2);
	h->dqpn = hdr_get24(p + 5);
	h->psn = hdr_get24(p + 9);
	return PIB_PARSE_OK;
}

static void get_reth(struct pib_hdrs *h, const u8 *p)
{
	h->va = hdr_get64(p);
	h->rkey = hdr_get32(p + 8);
	h->dmalen = hdr_get32(p + 12);
}

static void get_atomiceth(struct pib_hdrs *h, const u8 *p)
{
	h->va = hdr_get64(p);
	h->rkey = hdr_get32(p + 8);
	h->swap_add = hdr_get64(p + 12);
	h->compare = hdr_get64(p + 20);
}

/* Extension headers that requests have: 9.3; A14.2.2.1, A19.4.1. */
static const u8 *get_request_ext(struct pib_hdrs *h, u16 ext, const u8 *p)
{
	if (ext & PIB_EXT_XRCETH) {
		h->srqn = hdr_get24(p + 1);
		p += 4;
	}
	if (ext & PIB_EXT_DETH) {
		h->qkey = hdr_get32(p);
		h->sqpn = hdr_get24(p + 5);
		p += 8;
	}
	if (ext & PIB_EXT_FETH) {
		h->flush = p[3] & 0x3F;
		p += 4;
	}
	if (ext & PIB_EXT_RETH) {
		get_reth(h, p);
		p += 16;
	}
	if (ext & PIB_EXT_ATOMICETH) {
		get_atomiceth(h, p);
		p += 28;
	}
	return p;
}

static int parse_ext(struct pib_hdrs *h, struct cursor *c, u8 opcode)
{
	size_t len = pib_opcode_ext_len(opcode);
	u16 ext = pib_opcode_ext(opcode);
	const u8 *p = take_bytes(c, len);

	if (!p)
		return c->packet < len ? PIB_PARSE_LEN : PIB_PARSE_SHORT;
	p = get_request_ext(h, ext, p);
	if (ext & PIB_EXT_AETH) {
		h->syndrome = p[0];
		h->msn = hdr_get24(p + 1);
		p += 4;
	}
	if (ext & PIB_EXT_ATOMICACKETH) {
		h->compare = hdr_get64(p);
		p += 8;
	}
	if (ext & PIB_EXT_IMM)
		memcpy(&h->ex, p, 4);
	if (ext & PIB_EXT_IETH)
		h->ex = hdr_get32(p);
	if (ext & PIB_EXT_AWDATA)
		memcpy(&h->swap_add, p, 8);
	return PIB_PARSE_OK;
}

/* Check the payload against the opcode; the path MTU is the QP's matter (9.7.4.1.6). */
static int check_payload(const struct pib_hdrs *h, const struct pib_opcode_info *info, size_t rest,
			 size_t *payload_len)
{
	if (rest < (size_t)PIB_ICRC_LEN + h->pad)
		return PIB_PARSE_LEN;
	*payload_len = rest - PIB_ICRC_LEN - h->pad;
	if (*payload_len > PIB_MTU_MAX)
		return PIB_PARSE_LEN;
	if (!info->payload && (*payload_len || h->pad))
		return PIB_PARSE_LEN;
	if (!(h->flags & PIB_H_LAST) && (!*payload_len || h->pad))
		return PIB_PARSE_LEN;
	if (h->op == PIB_OP_CNP && (*payload_len > PIB_CNP_PAYLOAD || h->pad))
		return PIB_PARSE_LEN;
	return PIB_PARSE_OK;
}

/*
 * VL15 is QP0's and carries nothing else (3.5.7, 9.6.1). The lane knows neither credits nor
 * partitions, so nobody else may have it.
 */
static int check_qp0(const struct pib_hdrs *h)
{
	bool mgmt = h->vl == PIB_VL_MGMT;

	if (mgmt != !h->dqpn)
		return PIB_PARSE_QP0;
	return h->dqpn || pib_hdrs_from_qp0(h) ? PIB_PARSE_OK : PIB_PARSE_QP0;
}

int pib_hdrs_parse(struct pib_hdrs *h, const u8 *buf, size_t avail, size_t len, size_t *hdr_len,
		   size_t *payload_len)
{
	struct cursor c = { buf, avail, len };
	const struct pib_opcode_info *info;
	u8 opcode;
	int err;

	memset(h, 0, sizeof(*h));
	err = parse_lrh(h, &c);
	if (err)
		return err;
	if (h->flags & PIB_H_GRH) {
		err = parse_grh(h, &c);
		if (err)
			return err;
	}
	err = parse_bth(h, &c, &info, &opcode);
	if (err)
		return err;
	err = parse_ext(h, &c, opcode);
	if (err)
		return err;
	err = check_qp0(h);
	if (err)
		return err;
	*hdr_len = c.p - buf;
	return check_payload(h, info, c.packet, payload_len);
}

/* ---- putting together ---- */

static u8 *put_lrh(u8 *p, const struct pib_hdrs *h, size_t wire_len)
{
	p[0] = h->vl << 4;
	p[1] = h->sl << 4 | (h->flags & PIB_H_GRH ? LNH_GLOBAL : LNH_LOCAL);
	hdr_put16(p + 2, h->dlid);
	hdr_put16(p + 4, wire_len / 4 & 0x7FF);
	hdr_put16(p + 6, h->slid);
	return p + PIB_LRH_LEN;
}

static u8 *put_grh(u8 *p, const struct pib_hdrs *h, size_t wire_len)
{
	hdr_put32(p, (u32)GRH_IPVER << 28 | (u32)h->tclass << 20 | (h->flow & 0xFFFFF));
	hdr_put16(p + 4, wire_len - PIB_LRH_LEN - PIB_GRH_LEN);
	p[6] = GRH_NXTHDR_IBA;
	p[7] = h->hop;
	memcpy(p + 8, h->sgid, 16);
	memcpy(p + 24, h->dgid, 16);
	return p + PIB_GRH_LEN;
}

static u8 *put_bth(u8 *p, const struct pib_hdrs *h, u8 opcode, u32 pad)
{
	p[0] = opcode;
	p[1] = (h->flags & PIB_H_SE ? 0x80 : 0) | (h->flags & PIB_H_MIG ? 0x40 : 0) | pad << 4;
	hdr_put16(p + 2, h->pkey);
	p[4] = (h->flags & PIB_H_FECN ? 0x80 : 0) | (h->flags & PIB_H_BECN ? 0x40 : 0);
	hdr_put24(p + 5, h->dqpn);
	p[8] = h->flags & PIB_H_ACKREQ ? 0x80 : 0;
	hdr_put24(p + 9, h->psn);
	return p + PIB_BTH_LEN;
}

static u8 *put_request_ext(u8 *p, const struct pib_hdrs *h, u16 ext)
{
	if (ext & PIB_EXT_XRCETH) {
		hdr_put32(p, h->srqn & PIB_QPN_MASK);
		p += 4;
	}
	if (ext & PIB_EXT_DETH) {
		hdr_put32(p, h->qkey);
		hdr_put32(p + 4, h->sqpn & PIB_QPN_MASK);
		p += 8;
	}
	if (ext & PIB_EXT_FETH) {
		hdr_put32(p, h->flush & 0x3F);
		p += 4;
	}
	if (ext & (PIB_EXT_RETH | PIB_EXT_ATOMICETH)) {
		hdr_put64(p, h->va);
		hdr_put32(p + 8, h->rkey);
		p += 12;
	}
	if (ext & PIB_EXT_RETH) {
		hdr_put32(p, h->dmalen);
		p += 4;
	}
	if (ext & PIB_EXT_ATOMICETH) {
		hdr_put64(p, h->swap_add);
		hdr_put64(p + 8, h->compare);
		p += 16;
	}
	return p;
}

static u8 *put_ext(u8 *p, const struct pib_hdrs *h, u16 ext)
{
	p = put_request_ext(p, h, ext);
	if (ext & PIB_EXT_AETH) {
		p[0] = h->syndrome;
		hdr_put24(p + 1, h->msn);
		p += 4;
	}
	if (ext & PIB_EXT_ATOMICACKETH) {
		hdr_put64(p, h->compare);
		p += 8;
	}
	if (ext & PIB_EXT_IMM) {
		memcpy(p, &h->ex, 4);
		p += 4;
	}
	if (ext & PIB_EXT_IETH) {
		hdr_put32(p, h->ex);
		p += 4;
	}
	if (ext & PIB_EXT_AWDATA) {
		memcpy(p, &h->swap_add, 8);
		p += 8;
	}
	return p;
}

size_t pib_hdrs_build(const struct pib_hdrs *h, size_t payload_len, u8 *buf)
{
	int opcode = pib_opcode_of(h);
	size_t total;
	u8 *p = buf;

	if (opcode < 0)
		return 0;
	total = pib_hdrs_plain_len(h, payload_len) + pib_opcode_ext_len(opcode);
	p = put_lrh(p, h, total);
	if (h->flags & PIB_H_GRH)
		p = put_grh(p, h, total);
	p = put_bth(p, h, opcode, pib_hdrs_pad(payload_len));
	p = put_ext(p, h, pib_opcode_ext(opcode));
	return p - buf;
}

#define LAST_ONLY	(PIB_H_LAST | PIB_H_IMM | PIB_H_INV | PIB_H_SE | PIB_H_ACKREQ)

void pib_hdrs_part(const struct pib_hdrs *burst, u32 npkts, u32 i, u32 n, struct pib_hdrs *out)
{
	*out = *burst;
	out->psn = pib_psn_add(burst->psn, i);
	if (burst->tp == PIB_TP_UD)
		return;
	if (i > 0)
		out->flags &= ~PIB_H_FIRST;
	if (i + n < npkts) {
		out->flags &= ~LAST_ONLY;
		out->pad = 0;
	}
}

bool pib_gids_fit(const struct pib_hdrs *h, const u8 far[16], u64 own_guid)
{
	if (hdr_get64(h->dgid + 8) != own_guid || memcmp(h->sgid + 8, far + 8, 8))
		return false;
	return !memcmp(h->sgid, far, 8) || hdr_get64(h->sgid) == PIB_GID_PREFIX_LOCAL;
}
