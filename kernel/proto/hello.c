// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bytes of control datagrams: docs/wire-format.md, "Control datagrams". */
#include "hello.h"
#include "mad.h"

enum hello_off {
	OFF_FABRIC = PIB_DG_HDR_LEN,
	OFF_LINK_ID = 12,
	OFF_NONCE = 16,
	OFF_PEER_NONCE = 24,
	OFF_NODE_GUID = 32,
	OFF_PORT_GUID = 40,
	OFF_PORT_NUM = 48,
	OFF_ROLE = 49,
	OFF_MTU_CAP = 50,
	OFF_DOWN = 51,
	OFF_CAPS = 52,
	OFF_KEEPALIVE = 56,
	OFF_NUM_LIDS = 58,
	OFF_WIDTH_EN = 59,
	OFF_SEQ = 60,
	OFF_ACK = 64,
	OFF_SPEED_EN = 68,
	OFF_EXT_SPEED_EN = 69,
	OFF_REFUSAL = 70,
	OFF_LIDS = 72,
	OFF_DESC = 88,
	OFF_PADDED = 152,
	OFF_PROBE = 154,
	OFF_CAME = 156,
};

#define KEEPALIVE_MAX_MS 15000
#define LID_UNICAST_MAX 0xBFFF

size_t pib_hello_build(const struct pib_hello *h, u8 type, u32 to_link_id,
		       u8 out[PIB_HELLO_WIRE_LEN])
{
	const struct pib_dg dg = {
		.version = PIB_DG_VERSION,
		.type = type,
		.link_id = to_link_id,
	};
	int i;

	memset(out, 0, PIB_HELLO_WIRE_LEN);
	pib_dg_build(&dg, out);
	pib_put32(out + OFF_FABRIC, h->fabric);
	pib_put32(out + OFF_LINK_ID, h->link_id);
	pib_put64(out + OFF_NONCE, h->nonce);
	pib_put64(out + OFF_PEER_NONCE, h->peer_nonce);
	pib_put64(out + OFF_NODE_GUID, h->node_guid);
	pib_put64(out + OFF_PORT_GUID, h->port_guid);
	out[OFF_PORT_NUM] = h->port_num;
	out[OFF_ROLE] = h->role;
	out[OFF_MTU_CAP] = h->mtu_cap;
	out[OFF_DOWN] = h->down;
	pib_put32(out + OFF_CAPS, h->caps);
	pib_put16(out + OFF_KEEPALIVE, h->keepalive_ms);
	out[OFF_NUM_LIDS] = h->num_lids;
	out[OFF_WIDTH_EN] = h->width_en;
	pib_put32(out + OFF_SEQ, h->seq);
	pib_put32(out + OFF_ACK, h->ack);
	out[OFF_SPEED_EN] = h->speed_en;
	out[OFF_EXT_SPEED_EN] = h->ext_speed_en;
	out[OFF_REFUSAL] = h->refusal;
	for (i = 0; i < h->num_lids && i < PIB_HELLO_LIDS; i++)
		pib_put16(out + OFF_LIDS + 2 * i, h->lids[i]);
	memcpy(out + OFF_DESC, h->desc, sizeof(h->desc));
	pib_put16(out + OFF_PADDED, h->padded);
	pib_put16(out + OFF_PROBE, h->probe);
	pib_put16(out + OFF_CAME, h->came);
	return PIB_HELLO_WIRE_LEN;
}

static void desc_get(char *to, const u8 *from)
{
	int i;

	memset(to, 0, 64);
	for (i = 0; i < 63 && from[i]; i++)
		to[i] = from[i] < 0x20 || from[i] == 0x7F ? '?' : (char)from[i];
}

static bool values_ok(const struct pib_hello *h)
{
	int i;

	if (!h->nonce || h->role < PIB_ROLE_SWITCH || h->role > PIB_ROLE_HCA ||
	    h->mtu_cap < 1 || h->mtu_cap > 5 || h->down > 1 || h->num_lids > PIB_HELLO_LIDS ||
	    h->port_num == 0xFF || h->keepalive_ms > KEEPALIVE_MAX_MS ||
	    (pib_hello_is_trunk(h) && h->role != PIB_ROLE_SWITCH))
		return false;
	for (i = 0; i < h->num_lids; i++)
		if (!h->lids[i] || h->lids[i] > LID_UNICAST_MAX)
			return false;
	return true;
}

static void fields_get(struct pib_hello *h, const u8 *buf)
{
	int i;

	h->fabric = pib_get32(buf + OFF_FABRIC);
	h->link_id = pib_get32(buf + OFF_LINK_ID);
	h->nonce = pib_get64(buf + OFF_NONCE);
	h->peer_nonce = pib_get64(buf + OFF_PEER_NONCE);
	h->node_guid = pib_get64(buf + OFF_NODE_GUID);
	h->port_guid = pib_get64(buf + OFF_PORT_GUID);
	h->port_num = buf[OFF_PORT_NUM];
	h->role = buf[OFF_ROLE];
	h->mtu_cap = buf[OFF_MTU_CAP];
	h->down = buf[OFF_DOWN];
	h->caps = pib_get32(buf + OFF_CAPS);
	h->keepalive_ms = pib_get16(buf + OFF_KEEPALIVE);
	h->num_lids = buf[OFF_NUM_LIDS];
	h->width_en = buf[OFF_WIDTH_EN];
	h->seq = pib_get32(buf + OFF_SEQ);
	h->ack = pib_get32(buf + OFF_ACK);
	h->speed_en = buf[OFF_SPEED_EN];
	h->ext_speed_en = buf[OFF_EXT_SPEED_EN];
	h->refusal = buf[OFF_REFUSAL];
	for (i = 0; i < PIB_HELLO_LIDS; i++)
		h->lids[i] = i < h->num_lids ? pib_get16(buf + OFF_LIDS + 2 * i) : 0;
	desc_get(h->desc, buf + OFF_DESC);
	h->padded = pib_get16(buf + OFF_PADDED);
	h->probe = pib_get16(buf + OFF_PROBE);
	h->came = pib_get16(buf + OFF_CAME);
	h->key = 0;
}

/* Return: true if a control datagram of @type may be @len bytes long: padded probes are longer. */
static bool hello_length_ok(const struct pib_hello *h, u8 type, size_t len)
{
	if (len == PIB_HELLO_WIRE_LEN)
		return !h->padded;
	return type == PIB_DG_KEEPALIVE && h->padded == len && h->probe;
}

int pib_hello_parse(struct pib_hello *h, u8 *type, u32 *to_link_id, const u8 *buf, size_t len)
{
	struct pib_dg dg;

	if (len < PIB_HELLO_WIRE_LEN)
		return -1;
	pib_dg_parse(&dg, buf);
	if (dg.version != PIB_DG_VERSION || dg.type < PIB_DG_HELLO || dg.type > PIB_DG_BYE)
		return -1;
	*type = dg.type;
	*to_link_id = dg.link_id;
	fields_get(h, buf);
	return values_ok(h) && hello_length_ok(h, *type, len) ? 0 : -1;
}

bool pib_hello_parse_former(struct pib_hello *h, const u8 *buf, size_t len)
{
	u8 copy[PIB_HELLO_WIRE_LEN], type;
	u32 to_link_id;

	if (len != sizeof(copy) || buf[0] != (PIB_DG_FORMER << 4 | PIB_DG_HELLO))
		return false;
	memcpy(copy, buf, sizeof(copy));
	copy[0] = PIB_DG_VERSION << 4 | PIB_DG_HELLO;
	return !pib_hello_parse(h, &type, &to_link_id, copy, sizeof(copy)) && h->link_id;
}

static bool is_on_link(const struct pib_hello_way *way)
{
	return way->hop_limit == PIB_HOP_LIMIT;
}

/* Return: true if @h belongs to discovery. A hello that names no link went to everybody. */
static bool is_discovery(const struct pib_hello *h)
{
	return !h->link_id || pib_hello_is_trunk(h);
}

bool pib_hello_admits(u8 accept, const struct pib_hello *h, const struct pib_hello_way *way)
{
	if (is_discovery(h) && !(is_on_link(way) && (h->link_id || way->to_group)))
		return false;
	switch (accept) {
	case PIB_HELLO_NOBODY:
		return false;
	case PIB_HELLO_PEERS:
		return way->named;
	case PIB_HELLO_LINK:
		return way->named || is_on_link(way);
	}
	return true;
}

bool pib_hello_follows(u8 accept, bool trunk, const struct pib_hello *h,
		       const struct pib_hello_way *way)
{
	struct pib_hello_way unnamed = *way;

	unnamed.named = false;
	return trunk ? pib_hello_admits(PIB_HELLO_LINK, h, &unnamed) :
		       pib_hello_admits(accept, h, way);
}

bool pib_hello_may_probe(const struct pib_hello_way *way)
{
	return is_on_link(way) || !way->to_group;
}

const char *pib_hello_refusal_text(u8 refusal)
{
	static const char *const texts[] = {
		[PIB_REFUSED_NOT] = "no reason given",
		[PIB_REFUSED_FULL] = "every port is taken",
		[PIB_REFUSED_FABRIC] = "no switch of this fabric there",
		[PIB_REFUSED_KEY] = "the fabric's key is another one",
		[PIB_REFUSED_CLOSED] = "strangers get no port",
		[PIB_REFUSED_VERSION] = "another version of pib is there",
	};

	return texts[refusal < sizeof(texts) / sizeof(texts[0]) ? refusal : PIB_REFUSED_NOT];
}
