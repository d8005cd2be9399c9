/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Keyed fabrics: control datagrams are authenticated, data is sealed. */
#ifndef PIB_UDP_AUTH_H
#define PIB_UDP_AUTH_H

#include <linux/types.h>

#define PIB_KEY_MIN	16
#define PIB_KEY_MAX	64

struct pib_auth;

/**
 * struct pib_psk - pre-shared key of a fabric, as it was given
 * @len: bytes; 0: none was given
 * @bytes: the key, and zeros behind it
 */
struct pib_psk {
	u32 len;
	u8 bytes[PIB_KEY_MAX];
};

/*
 * Take a key into use. Process context. Return: with a user; ERR_PTR(): -ENOMEM; -EOPNOTSUPP: no
 * HMAC-SHA-256.
 */
struct pib_auth *pib_auth_alloc(const struct pib_psk *key);
/* One user more. Any context. Return: @a. */
struct pib_auth *pib_auth_get(struct pib_auth *a);
/* A user less; the last one forgets the key. @a may be NULL. Process context. */
void pib_auth_put(struct pib_auth *a);
/* The number of a key in use, which no other one has and which is not 0. Any context. */
u32 pib_auth_id(const struct pib_auth *a);
/* Is that the key of @a, as HMAC sees it: zeros at its end are nothing to that. Any context. */
bool pib_auth_same(const struct pib_auth *a, const struct pib_psk *key);

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
