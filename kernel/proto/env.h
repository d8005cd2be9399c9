/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The one header through which the protocol core meets its surroundings:
 * pib.ko, pibnetd, the unit tests and the simulator all compile proto/ as it
 * is. Nothing in proto/ allocates, locks, sleeps or reads a clock.
 */
#ifndef PIB_PROTO_ENV_H
#define PIB_PROTO_ENV_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/math64.h>
#include <asm/byteorder.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <endian.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

#define cpu_to_be16(x) htobe16(x)
#define cpu_to_be32(x) htobe32(x)
#define cpu_to_be64(x) htobe64(x)
#define be16_to_cpu(x) be16toh(x)
#define be32_to_cpu(x) be32toh(x)
#define be64_to_cpu(x) be64toh(x)
#ifndef READ_ONCE
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#endif
#endif

#define PIB_NSEC_PER_USEC	1000ULL
#define PIB_NSEC_PER_MSEC	1000000ULL
#define PIB_NSEC_PER_SEC	1000000000ULL

#endif
