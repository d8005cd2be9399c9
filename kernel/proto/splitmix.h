/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do, and a step is a few instructions. */
#ifndef PIB_PROTO_SPLITMIX_H
#define PIB_PROTO_SPLITMIX_H

#include "env.h"

/* The state of a sequence goes on by so much from one number to the next. */
#define PIB_SPLITMIX_STEP	0x9E3779B97F4A7C15ULL

/* Return: the number of a sequence whose state is @z. Context: any. */
static inline u64 pib_splitmix(u64 z)
{
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
	return z ^ z >> 31;
}

/* Return: @bits as a number from 0 to @n - 1. Context: any. */
static inline u32 pib_splitmix_below(u64 bits, u32 n)
{
	return (u32)((bits >> 32) * n >> 32);
}

#endif
