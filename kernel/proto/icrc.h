/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Invariant CRC (7.8.1): CRC-32 of Ethernet over the packet from LRH to the
 * end of the pad, with the fields that a switch or router may change read as
 * ones: of a packet with a GRH the whole LRH. The CRC is computed in pieces: first
 * the headers, then the payload.
 */
#ifndef PIB_PROTO_ICRC_H
#define PIB_PROTO_ICRC_H

#include "env.h"

/*
 * Begin with the built headers, @len bytes from LRH on. Their variant fields are masked here, in a
 * copy. Context: any.
 *
 * Return: the CRC so far.
 */
u32 pib_icrc_headers(const u8 *hdrs, size_t len);
/* Go on over payload or pad. Context: any. Return: the CRC so far. */
u32 pib_icrc_update(u32 crc, const void *data, size_t len);
/*
 * Write the ICRC that @crc ends in as it stands in the packet's last four bytes: least significant
 * byte first (7.8.1). Context: any.
 */
void pib_icrc_store(u32 crc, u8 out[4]);
/* Return: true if the four bytes are the ICRC that @crc ends in. Context: any. */
bool pib_icrc_match(u32 crc, const u8 in[4]);

/*
 * Return: the variant CRC (7.8.2) of a packet, @len bytes from LRH to ICRC. It protects a packet on
 * one cable only; nothing computes it where a cable cannot damage bits. Context: any.
 */
u16 pib_vcrc(const u8 *packet, size_t len);

#endif
