/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Keyed fabrics: control datagrams are authenticated, data is sealed. */
#ifndef PIB_UDP_AUTH_H
#define PIB_UDP_AUTH_H

#include <linux/types.h>

#define PIB_KEY_MIN	16
#define PIB_KEY_MAX	64

struct pib_auth;

/* Take a key into use. Process context. Return: NULL: no memory, or no HMAC-SHA-256. */
struct pib_auth *pib_auth_alloc(const u8 *key, u32 len);
/* Forget the key. @a may be NULL. Process context. */
void pib_auth_free(struct pib_auth *a);
/* Is that the key of @a? Any context. */
bool pib_auth_same(const struct pib_auth *a, const u8 *key, u32 len);

/* Write the authentication bytes of a control datagram. Any context. Return: 0 or -errno. */
int pib_auth_seal(const struct pib_auth *a, u8 *hello);
/* Are the authentication bytes of a control datagram right? Any context. */
bool pib_auth_check(const struct pib_auth *a, const u8 *hello);
/* The tag of DATA from session @from to session @to. Any context. */
u16 pib_auth_tag(const struct pib_auth *a, u64 to, u64 from);

/*
 * The key of DATA and SEGMENT from session @from to session @to, PIB_SEAL_KEY_LEN bytes. Any
 * context. Return: 0 or -errno.
 */
int pib_auth_seal_key(const struct pib_auth *a, u64 to, u64 from, u8 *key);

#endif
