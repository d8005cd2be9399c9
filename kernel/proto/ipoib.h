/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * IP packets in datagrams, as IPoIB puts them there (RFC 4391, 6): the work of an HCA that cuts TCP
 * segments into packets and fills in checksums. A packet begins with the four bytes of IPoIB's own
 * header; a sum is that of RFC 1071, over 16-bit words in host order, not inverted.
 */
#ifndef PIB_PROTO_IPOIB_H
#define PIB_PROTO_IPOIB_H

#include "mad.h"

#define PIB_IPOIB_HDR_LEN	4
/* The longest headers there are: IPoIB's, IPv4 and TCP, both with 40 bytes of options. */
#define PIB_IPOIB_HEAD_MAX	124

/**
 * struct pib_ipoib - the places of a packet's headers
 * @version: of IP: 4 or 6
 * @proto: PIB_IPPROTO_TCP or PIB_IPPROTO_UDP
 * @l4: offset of the TCP or UDP header
 * @len: bytes of all headers: offset of the data
 */
struct pib_ipoib {
	u8 version;
	u8 proto;
	u8 l4;
	u8 len;
};

#define PIB_IPPROTO_TCP	6
#define PIB_IPPROTO_UDP	17

/**
 * pib_ipoib_parse() - find the headers of a packet
 * @ip: result
 * @p: the packet, or its first bytes
 * @avail: bytes at @p
 *
 * Context: any.
 * Return: true: IPv4, or IPv6 without extension headers; no fragment; TCP or UDP; and all of its
 *	headers are among the @avail bytes. Lengths in the headers are not looked at.
 */
bool pib_ipoib_parse(struct pib_ipoib *ip, const u8 *p, u32 avail);

/*
 * Return: true if by its headers, at @head, the packet has @len bytes, IPoIB's own header included.
 * Context: any.
 */
bool pib_ipoib_fits(const struct pib_ipoib *ip, const u8 *head, u32 len);

/**
 * pib_ipoib_segment() - headers of one of the packets into which a TCP segment is cut
 * @ip: their places
 * @head: headers of the segment; become those of the packet, but for its checksums
 * @i: the packet: 0 is the first
 * @mss: bytes of data in each packet but the last
 * @len: bytes of data in this one
 * @last: the packet is the last of the segment
 *
 * CWR is the first packet's alone (RFC 3168, 6.1.2), FIN and PSH are the last one's.
 *
 * Context: any.
 */
void pib_ipoib_segment(const struct pib_ipoib *ip, u8 *head, u32 i, u32 mss, u32 len, bool last);

/*
 * Fill in the checksums at @head of a packet whose data are @len bytes with the sum @sum. A UDP
 * checksum that comes to 0 is written as 0xFFFF (RFC 768). Context: any.
 */
void pib_ipoib_checksum(const struct pib_ipoib *ip, u8 *head, u32 len, u16 sum);

/*
 * Return: true if the checksums of such a packet are right; false also for UDP without one.
 * Context: any.
 */
bool pib_ipoib_verify(const struct pib_ipoib *ip, const u8 *head, u32 len, u16 sum);

#endif
