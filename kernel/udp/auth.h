/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Keyed fabrics: control datagrams are authenticated, data is sealed. */
#ifndef PIB_UDP_AUTH_H
#define PIB_UDP_AUTH_H

#include <linux/types.h>

#define PIB_KEY_MIN	16
#define PIB_KEY_MAX	64

struct pib_auth;

/**
 * struct pib_psk - pre-shared key of a fabric, as the user gave it
 * @len: bytes; 0: none was given
 * @bytes: the key, and zeros behind it
 */
struct pib_psk {
	u32 len;
	u8 bytes[PIB_KEY_MAX];
};

/*
 * Take a key into use.
 *
 * Context: process.
 * Return: the key, with a reference; ERR_PTR(): -ENOMEM; -EOPNOTSUPP: no HMAC-SHA-256.
 */
struct pib_auth *pib_auth_alloc(const struct pib_psk *key);
/* Take a reference. Context: any. Return: @a. */
struct pib_auth *pib_auth_get(struct pib_auth *a);
/* Drop a reference; the last one frees the key. @a may be NULL. Context: process. */
void pib_auth_put(struct pib_auth *a);
/* Return: the number of a key in use, which no other key has and which is not 0. Context: any. */
u32 pib_auth_id(const struct pib_auth *a);
/*
 * Return: true if @key is the key of @a. Zeros at its end do not count, as in HMAC. The time that
 * this takes tells nothing of the keys. Context: any.
 */
bool pib_auth_same(const struct pib_auth *a, const struct pib_psk *key);

/*
 * Write the authentication bytes of @hello, a control datagram of PIB_HELLO_WIRE_LEN bytes: they
 * are its last 16.
 *
 * Context: any.
 * Return: 0; -errno of the hash, and @hello must not be sent.
 */
int pib_auth_seal(const struct pib_auth *a, u8 *hello);
/*
 * Return: true if the authentication bytes of @hello, a control datagram of PIB_HELLO_WIRE_LEN
 * bytes, are right. Context: any.
 */
bool pib_auth_check(const struct pib_auth *a, const u8 *hello);
/*
 * Return: the tag of DATA and SEGMENT from session @from to session @to. If the hash fails it is
 * one that the peer does not expect. Context: any.
 */
u16 pib_auth_tag(const struct pib_auth *a, u64 to, u64 from);

/**
 * pib_auth_seal_key() - derive the key that seals DATA and SEGMENT in one direction of a session
 * @a: fabric's key that the sender uses
 * @to: the receiver's session
 * @from: the sender's session
 * @key: result, PIB_SEAL_KEY_LEN bytes
 *
 * Context: any.
 * Return: 0; -errno of the hash.
 */
int pib_auth_seal_key(const struct pib_auth *a, u64 to, u64 from, u8 *key);

#endif
