/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The keys of a fabric: one, or two while the hosts change from one to the other. */
#ifndef PIB_UDP_KEYS_H
#define PIB_UDP_KEYS_H

#include "udp/auth.h"

struct netlink_ext_ack;

/**
 * struct pib_keyring - the keys of a fabric; replaced as a whole, read under RCU
 * @key: key by which this host authenticates
 * @second: key by which other hosts may authenticate as well, or NULL
 */
struct pib_keyring {
	struct pib_auth *key;
	struct pib_auth *second;
};

/**
 * struct pib_keyring_req - a change of the keys of a fabric
 * @key: the new key; none: the key stays
 * @second: the new second key; none: it stays, or if it becomes @key, the former key replaces it
 * @no_second: drop the second key
 * @force: drop a key even if a link is up by it
 */
struct pib_keyring_req {
	struct pib_psk key;
	struct pib_psk second;
	bool no_second;
	bool force;
};

/**
 * pib_keyring_alloc() - take keys into use
 * @key: key of the fabric
 * @second: second key; none: there is none
 * @extack: set to the reason of an error but -ENOMEM
 *
 * Context: process.
 * Return: the keys, for pib_keyring_free(); ERR_PTR(): -ENOMEM; -EOPNOTSUPP: no HMAC-SHA-256;
 *	-EINVAL: both are the same.
 */
struct pib_keyring *pib_keyring_alloc(const struct pib_psk *key, const struct pib_psk *second,
				      struct netlink_ext_ack *extack);
/**
 * pib_keyring_exchange() - make the keys that follow others
 * @old: keys so far; they stay the caller's
 * @req: change
 * @extack: set to the reason of an error but -ENOMEM
 *
 * Context: process.
 * Return: as pib_keyring_alloc(); -EINVAL also if the new key is neither of the present keys.
 */
struct pib_keyring *pib_keyring_exchange(const struct pib_keyring *old,
					 const struct pib_keyring_req *req,
					 struct netlink_ext_ack *extack);
/*
 * Free @keys, of which no reader is left, and drop the references to its keys. @keys may be NULL.
 * Context: process.
 */
void pib_keyring_free(struct pib_keyring *keys);

/*
 * Return: the number of the second key, see pib_auth_id(); 0: there is none. Context: @keys stay:
 * RCU or pn->lock.
 */
u32 pib_keyring_second_id(const struct pib_keyring *keys);
/*
 * Return: the key with number @id, as long as @keys stay; NULL: it is none of @keys. Context: @keys
 * stay: RCU or pn->lock.
 */
const struct pib_auth *pib_keyring_find(const struct pib_keyring *keys, u32 id);
/*
 * Find the key by which @hello, a control datagram of PIB_HELLO_WIRE_LEN bytes, is authentic. That
 * costs two HMACs at most.
 *
 * Context: RCU.
 * Return: the key's number; 0: none.
 */
u32 pib_keyring_check(const struct pib_keyring *keys, const u8 *hello);

#endif
