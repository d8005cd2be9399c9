// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The keys of a fabric, and how they are exchanged. Hosts change one after the other: all
 * accept the new key as the second one, then each makes it its first, then all drop the
 * old one. A user who leaves out a step is told, where it shows, and may force the last step.
 */
#include <linux/err.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include "udp/keys.h"

/* Return: the one of @keys that has the bytes of @key; NULL: none. */
static struct pib_auth *keys_same(const struct pib_keyring *keys, const struct pib_psk *key)
{
	if (pib_auth_same(keys->key, key))
		return keys->key;
	return keys->second && pib_auth_same(keys->second, key) ? keys->second : NULL;
}

/* Take @key into use. Return: as pib_auth_alloc(), with the reason in @extack but for -ENOMEM. */
static struct pib_auth *take_key(const struct pib_psk *key, struct netlink_ext_ack *extack)
{
	struct pib_auth *auth = pib_auth_alloc(key);

	if (auth == ERR_PTR(-EOPNOTSUPP))
		NL_SET_ERR_MSG(extack, "this kernel has no HMAC-SHA-256 for the key");
	return auth;
}

/* Put @key, taken into use, in @place. Return: 0; the error of take_key(), with NULL in @place. */
static int place_key(struct pib_auth **place, const struct pib_psk *key,
		     struct netlink_ext_ack *extack)
{
	struct pib_auth *auth = take_key(key, extack);

	*place = IS_ERR(auth) ? NULL : auth;
	return PTR_ERR_OR_ZERO(auth);
}

static int check_second(const struct pib_auth *key, const struct pib_psk *second,
			struct netlink_ext_ack *extack)
{
	if (!second->len || !pib_auth_same(key, second))
		return 0;
	NL_SET_ERR_MSG(extack, "the second key is the fabric's key already");
	return -EINVAL;
}

struct pib_keyring *pib_keyring_alloc(const struct pib_psk *key, const struct pib_psk *second,
				      struct netlink_ext_ack *extack)
{
	struct pib_keyring *keys = kzalloc(sizeof(*keys), GFP_KERNEL);
	int err;

	if (!keys)
		return ERR_PTR(-ENOMEM);
	err = place_key(&keys->key, key, extack) ?: check_second(keys->key, second, extack);
	if (!err && second->len)
		err = place_key(&keys->second, second, extack);
	if (!err)
		return keys;
	pib_keyring_free(keys);
	return ERR_PTR(err);
}

/* Put the first key that @req asks for into @keys, and the second one that follows from it. */
static int exchange_first(struct pib_keyring *keys, const struct pib_keyring *old,
			  const struct pib_keyring_req *req, struct netlink_ext_ack *extack)
{
	struct pib_auth *key = req->key.len ? keys_same(old, &req->key) : old->key;
	struct pib_auth *second = old->second;

	if (!key) {
		NL_SET_ERR_MSG(extack,
			       "the key is not yet the second one, which all hosts must have");
		return -EINVAL;
	}
	if (key == second)
		second = old->key;
	keys->key = pib_auth_get(key);
	keys->second = second && !req->no_second && !req->second.len ? pib_auth_get(second) : NULL;
	return 0;
}

static int exchange_second(struct pib_keyring *keys, const struct pib_keyring *old,
			   const struct pib_keyring_req *req, struct netlink_ext_ack *extack)
{
	struct pib_auth *second;
	int err = check_second(keys->key, &req->second, extack);

	if (err || !req->second.len)
		return err;
	second = keys_same(old, &req->second);
	if (!second)
		return place_key(&keys->second, &req->second, extack);
	keys->second = pib_auth_get(second);
	return 0;
}

struct pib_keyring *pib_keyring_exchange(const struct pib_keyring *old,
					 const struct pib_keyring_req *req,
					 struct netlink_ext_ack *extack)
{
	struct pib_keyring *keys = kzalloc(sizeof(*keys), GFP_KERNEL);
	int err;

	if (!keys)
		return ERR_PTR(-ENOMEM);
	err = exchange_first(keys, old, req, extack) ?: exchange_second(keys, old, req, extack);
	if (!err)
		return keys;
	pib_keyring_free(keys);
	return ERR_PTR(err);
}

void pib_keyring_free(struct pib_keyring *keys)
{
	if (!keys)
		return;
	pib_auth_put(keys->key);
	pib_auth_put(keys->second);
	kfree(keys);
}

u32 pib_keyring_second_id(const struct pib_keyring *keys)
{
	return keys->second ? pib_auth_id(keys->second) : 0;
}

const struct pib_auth *pib_keyring_find(const struct pib_keyring *keys, u32 id)
{
	if (pib_auth_id(keys->key) == id)
		return keys->key;
	return keys->second && pib_auth_id(keys->second) == id ? keys->second : NULL;
}

u32 pib_keyring_check(const struct pib_keyring *keys, const u8 *hello)
{
	if (pib_auth_check(keys->key, hello))
		return pib_auth_id(keys->key);
	return keys->second && pib_auth_check(keys->second, hello) ? pib_auth_id(keys->second) : 0;
}
