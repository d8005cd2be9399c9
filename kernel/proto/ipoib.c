// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ipoib.h"

#define ETHERTYPE_IPV4	0x0800
#define ETHERTYPE_IPV6	0x86DD

#define IPV4_LEN	20
#define IPV6_LEN	40
#define UDP_LEN		8
#define TCP_LEN		20

/* Offsets in the IP header, from its first byte on. */
#define IPV4_TOTAL	2
#define IPV4_ID		4
#define IPV4_FRAGMENT	6
#define IPV4_PROTO	9
#define IPV4_CHECK	10
#define IPV4_ADDRS	12
#define IPV6_PAYLOAD	4
#define IPV6_NEXT	6
#define IPV6_ADDRS	8

#define FRAGMENT_MASK	0x3FFF	/* more fragments, offset */

#define UDP_LENGTH	4
#define UDP_CHECK	6
#define TCP_SEQ		4
#define TCP_DOFF	12
#define TCP_FLAGS	13
#define TCP_CHECK	16

#define TCP_FIN		0x01
#define TCP_PSH		0x08
#define TCP_CWR		0x80

static bool parse_ipv4(struct pib_ipoib *ip, const u8 *p, u32 avail)
{
	u32 len = (p[0] & 0xF) * 4;

	if (avail < IPV4_LEN || p[0] >> 4 != 4 || len < IPV4_LEN || len > avail)
		return false;
	ip->version = 4;
	ip->proto = p[IPV4_PROTO];
	ip->l4 = PIB_IPOIB_HDR_LEN + len;
	return !(pib_get16(p + IPV4_FRAGMENT) & FRAGMENT_MASK);
}

static bool parse_ipv6(struct pib_ipoib *ip, const u8 *p, u32 avail)
{
	if (avail < IPV6_LEN || p[0] >> 4 != 6)
		return false;
	ip->version = 6;
	ip->proto = p[IPV6_NEXT];
	ip->l4 = PIB_IPOIB_HDR_LEN + IPV6_LEN;
	return true;
}

static bool parse_ip(struct pib_ipoib *ip, const u8 *p, u32 avail)
{
	if (avail <= PIB_IPOIB_HDR_LEN)
		return false;
	avail -= PIB_IPOIB_HDR_LEN;
	switch (pib_get16(p)) {
	case ETHERTYPE_IPV4:
		return parse_ipv4(ip, p + PIB_IPOIB_HDR_LEN, avail);
	case ETHERTYPE_IPV6:
		return parse_ipv6(ip, p + PIB_IPOIB_HDR_LEN, avail);
	default:
		return false;
	}
}

/* Bytes of the TCP or UDP header. Return: 0: there is none, or not all of it. */
static u32 l4_len(const struct pib_ipoib *ip, const u8 *p, u32 avail)
{
	u32 len;

	if (ip->proto == PIB_IPPROTO_UDP)
		return avail < UDP_LEN ? 0 : UDP_LEN;
	if (ip->proto != PIB_IPPROTO_TCP || avail < TCP_LEN)
		return 0;
	len = (p[TCP_DOFF] >> 4) * 4;
	return len < TCP_LEN || len > avail ? 0 : len;
}

bool pib_ipoib_parse(struct pib_ipoib *ip, const u8 *p, u32 avail)
{
	u32 len;

	if (!parse_ip(ip, p, avail))
		return false;
	len = l4_len(ip, p + ip->l4, avail - ip->l4);
	ip->len = ip->l4 + len;
	return len;
}

bool pib_ipoib_fits(const struct pib_ipoib *ip, const u8 *head, u32 len)
{
	const u8 *p = head + PIB_IPOIB_HDR_LEN;
	u32 total = ip->version == 4 ? pib_get16(p + IPV4_TOTAL) :
				       IPV6_LEN + pib_get16(p + IPV6_PAYLOAD);

	if (len < ip->len || PIB_IPOIB_HDR_LEN + total != len)
		return false;
	return ip->proto != PIB_IPPROTO_UDP ||
	       pib_get16(head + ip->l4 + UDP_LENGTH) == len - ip->l4;
}

static void segment_ip(const struct pib_ipoib *ip, u8 *p, u32 i, u32 len)
{
	if (ip->version == 6) {
		pib_put16(p + IPV6_PAYLOAD, ip->len - ip->l4 + len);
		return;
	}
	pib_put16(p + IPV4_TOTAL, ip->len - PIB_IPOIB_HDR_LEN + len);
	pib_put16(p + IPV4_ID, pib_get16(p + IPV4_ID) + i);
}

void pib_ipoib_segment(const struct pib_ipoib *ip, u8 *head, u32 i, u32 mss, u32 len, bool last)
{
	u8 *tcp = head + ip->l4;

	segment_ip(ip, head + PIB_IPOIB_HDR_LEN, i, len);
	pib_put32(tcp + TCP_SEQ, pib_get32(tcp + TCP_SEQ) + i * mss);
	if (i)
		tcp[TCP_FLAGS] &= ~TCP_CWR;
	if (!last)
		tcp[TCP_FLAGS] &= ~(TCP_FIN | TCP_PSH);
}

/* ---- sums ---- */

static u16 sum_fold(u64 sum)
{
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return sum;
}

/* Add @len bytes, which begin at an even offset of what is summed up. Return: the new sum. */
static u16 sum_bytes(u16 sum, const u8 *p, u32 len)
{
	u64 s = sum;

	for (; len > 1; len -= 2, p += 2)
		s += pib_get16(p);
	if (len)
		s += p[0] << 8;
	return sum_fold(s);
}

/* Sum of the addresses, and of the rest of the pseudo header, for @len bytes of TCP or UDP. */
static u16 pseudo_sum(const struct pib_ipoib *ip, const u8 *head, u32 len)
{
	const u8 *p = head + PIB_IPOIB_HDR_LEN;
	u16 sum = sum_fold((u64)ip->proto + len);

	if (ip->version == 4)
		return sum_bytes(sum, p + IPV4_ADDRS, 2 * 4);
	return sum_bytes(sum, p + IPV6_ADDRS, 2 * 16);
}

/* Sum of pseudo header, TCP or UDP header with its checksum, and data: 0xFFFF if that is right. */
static u16 l4_sum(const struct pib_ipoib *ip, const u8 *head, u32 len, u16 sum)
{
	u32 own = ip->len - ip->l4;

	return sum_bytes(sum_fold((u32)sum + pseudo_sum(ip, head, own + len)), head + ip->l4, own);
}

static u32 l4_check(const struct pib_ipoib *ip)
{
	return ip->l4 + (ip->proto == PIB_IPPROTO_TCP ? TCP_CHECK : UDP_CHECK);
}

static u16 ipv4_sum(const struct pib_ipoib *ip, const u8 *head)
{
	return sum_bytes(0, head + PIB_IPOIB_HDR_LEN, ip->l4 - PIB_IPOIB_HDR_LEN);
}

/* ---- packets ---- */

void pib_ipoib_checksum(const struct pib_ipoib *ip, u8 *head, u32 len, u16 sum)
{
	u8 *check = head + l4_check(ip), *ipv4 = head + PIB_IPOIB_HDR_LEN;
	u16 value;

	if (ip->version == 4) {
		pib_put16(ipv4 + IPV4_CHECK, 0);
		pib_put16(ipv4 + IPV4_CHECK, ~ipv4_sum(ip, head));
	}
	pib_put16(check, 0);
	value = ~l4_sum(ip, head, len, sum);
	if (!value && ip->proto == PIB_IPPROTO_UDP)
		value = 0xFFFF;
	pib_put16(check, value);
}

bool pib_ipoib_verify(const struct pib_ipoib *ip, const u8 *head, u32 len, u16 sum)
{
	if (ip->version == 4 && ipv4_sum(ip, head) != 0xFFFF)
		return false;
	if (ip->proto == PIB_IPPROTO_UDP && !pib_get16(head + l4_check(ip)))
		return false;
	return l4_sum(ip, head, len, sum) == 0xFFFF;
}
