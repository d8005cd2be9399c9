/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* SipHash-2-4, a short hash with a key. Its values cannot be guessed without the key. */
#ifndef PIB_PROTO_SIPHASH_H
#define PIB_PROTO_SIPHASH_H

#include "env.h"

/*
 * Return: the hash of @n words of 64 bits, each as eight bytes with the low one first. Context:
 * any.
 */
u64 pib_siphash(const u64 key[2], const u64 *words, unsigned int n);

#endif
