/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The keys of a fabric: one, or two while the hosts change from one to the other. */
#ifndef PIB_UDP_KEYS_H
#define PIB_UDP_KEYS_H

#include "udp/auth.h"

struct netlink_ext_ack;

/**
 * struct pib_keys - the keys of a fabric; replaced as a whole, read under RCU
 * @key: key by which this host authenticates
 * @second: key by which other hosts may authenticate as well, or NULL
 */
struct pib_keys {
	struct pib_auth *key;
	struct pib_auth *second;
};

/**
 * struct pib_keys_req - a change of the keys of a fabric
 * @key: the new key; none: the key stays
 * @second: the new second key; none: it stays, or if it becomes @key, the former key replaces it
 * @no_second: drop the second key
 * @force: drop a key even if a link is up by it
 */
struct pib_keys_req {
	struct pib_psk key;
	struct pib_psk second;
	bool no_second;
	bool force;
};

/*
 * Take keys into use.
 *
 * Context: process.
 * Return: the keys; ERR_PTR(): -ENOMEM; -EOPNOTSUPP: no HMAC-SHA-256; -EINVAL: both are the same;
 * the reason in @extack.
 */
struct pib_keys *pib_keys_alloc(const struct pib_psk *key, const struct pib_psk *second,
				struct netlink_ext_ack *extack);
/*
 * Make the keys that follow @old. @old stays the caller's.
 *
 * Context: process.
 * Return: as pib_keys_alloc(); -EINVAL also if the new key is not the second one yet.
 */
struct pib_keys *pib_keys_exchange(const struct pib_keys *old, const struct pib_keys_req *req,
				   struct netlink_ext_ack *extack);
/*
 * Free @keys, of which no reader is left, and drop the references to its keys. @keys may be NULL.
 * Context: process.
 */
void pib_keys_free(struct pib_keys *keys);

/* Return: the number of the second key; 0: there is none. Context: any. */
u32 pib_keys_second_id(const struct pib_keys *keys);
/* Return: the key with number @id; NULL: it is none of @keys. Context: RCU. */
const struct pib_auth *pib_keys_find(const struct pib_keys *keys, u32 id);
/*
 * Find the key by which a control datagram is authentic, which costs two HMACs at most.
 *
 * Context: RCU.
 * Return: the key's number; 0: none.
 */
u32 pib_keys_check(const struct pib_keys *keys, const u8 *hello);

#endif
