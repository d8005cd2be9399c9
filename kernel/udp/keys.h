/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The keys of a fabric: one, or two while all hosts exchange theirs. */
#ifndef PIB_UDP_KEYS_H
#define PIB_UDP_KEYS_H

#include "udp/auth.h"

struct netlink_ext_ack;

/**
 * struct pib_keys - the keys of a fabric; replaced as a whole, read under RCU
 * @key: by which this host speaks
 * @second: by which others may speak as well, or NULL
 */
struct pib_keys {
	struct pib_auth *key;
	struct pib_auth *second;
};

/**
 * struct pib_keys_req - what is to change of the keys of a fabric
 * @key: the key; none: it stays
 * @second: the second key; none: it stays, but if @key is it, the former key takes its place
 * @no_second: there is to be no second key
 * @force: a key goes though a link is up by it
 */
struct pib_keys_req {
	struct pib_psk key;
	struct pib_psk second;
	bool no_second;
	bool force;
};

/*
 * Take keys into use. Process context.
 *
 * Return: ERR_PTR(): -ENOMEM; -EOPNOTSUPP: no HMAC-SHA-256; -EINVAL; the reason in @extack.
 */
struct pib_keys *pib_keys_alloc(const struct pib_psk *key, const struct pib_psk *second,
				struct netlink_ext_ack *extack);
/* The keys that follow @old. As pib_keys_alloc(), but -EINVAL also if the order is a wrong one. */
struct pib_keys *pib_keys_exchange(const struct pib_keys *old, const struct pib_keys_req *req,
				   struct netlink_ext_ack *extack);
/*
 * Forget the keys that nobody else has; after a grace period. @keys may be NULL. Process context.
 */
void pib_keys_free(struct pib_keys *keys);

/* The number of the second key; 0: there is none. Any context. */
u32 pib_keys_second_id(const struct pib_keys *keys);
/* The key of this number; NULL: it is none of @keys. RCU. */
const struct pib_auth *pib_keys_find(const struct pib_keys *keys, u32 id);
/*
 * By which key is a control datagram authentic? It costs two HMACs at most. RCU. Return: the key's
 * number; 0: by none.
 */
u32 pib_keys_check(const struct pib_keys *keys, const u8 *hello);

#endif
