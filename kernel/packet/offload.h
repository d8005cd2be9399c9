/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Offloads of an HCA for IP packets in datagrams (proto/ipoib.h): it cuts TCP segments into
 * packets, and fills in and verifies checksums. All functions are called with softirqs off.
 */
#ifndef PIB_PACKET_OFFLOAD_H
#define PIB_PACKET_OFFLOAD_H

#include "packet/burst.h"
#include "proto/ipoib.h"

/**
 * struct pib_segment_head - the headers of a TCP segment that is cut into packets
 * @ip: their places in @head
 * @head: the headers
 * @mss: bytes of data of each packet but the last of the segment
 */
struct pib_segment_head {
	struct pib_ipoib ip;
	const u8 *head;
	u32 mss;
};

/**
 * pib_offload_segment() - put headers before each packet of a burst
 * @b: @b->npkts packets of data, @mss bytes in each but the last
 * @s: of the segment that the data are a part of
 * @first: packets of the segment before those of @b
 * @last: the last packet of @b is the segment's
 *
 * Length and path MTU of @b are then those of datagrams. The checksums are those of the data as
 * they are now. A sender that writes to the data while they are sent makes the checksums wrong, as
 * it would without an HCA's help.
 *
 * Context: softirqs off.
 * Return: 0; -ENOMEM; -EFAULT.
 */
int pib_offload_segment(struct pib_burst *b, const struct pib_segment_head *s, u32 first,
			bool last);

/*
 * Fill in the checksums of the packet that is the payload of @b, of which @b has a copy of its own.
 * A packet that is no TCP or UDP, or not as long as its header says, is left as it is. Context:
 * softirqs off.
 */
void pib_offload_checksum(struct pib_burst *b);

/**
 * pib_offload_verify() - verify the checksums of an IP packet
 * @b: burst with the packet
 * @off: its place in the payload
 * @len: its bytes
 *
 * Context: softirqs off.
 * Return: true if they are right; false also for a packet without them, or not of TCP or UDP.
 */
bool pib_offload_verify(struct pib_burst *b, u32 off, u32 len);

#endif
