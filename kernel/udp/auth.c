// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keyed fabrics. A control datagram ends in the first 16 bytes of HMAC-SHA-256
 * over all of the datagram with these bytes zero. The state machine of the link
 * (proto/session.c) rejects datagrams that are old. DATA carries 16
 * bits of an HMAC over both sessions, by which a packet of an old session is known
 * at once, and is sealed (udp/seal.c) under keys that are HMACs over both sessions.
 */
#include <crypto/algapi.h>
#include <crypto/hash.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "udp/auth.h"
#include "proto/session.h"
#include "proto/seal.h"

#define MAC_LEN (PIB_HELLO_WIRE_LEN - PIB_HELLO_MAC_OFF)

/**
 * struct pib_auth - a key in use
 * @tfm: HMAC-SHA-256 with the key set; operations do not change it
 * @id: number of the key; never changes, as @key
 * @refs: users
 * @key: for comparison
 */
struct pib_auth {
	struct crypto_shash *tfm;
	u32 id;
	refcount_t refs;
	struct pib_psk key;
};

static u32 next_id(void)
{
	static atomic_t last = ATOMIC_INIT(0);
	u32 id;

	do
		id = atomic_inc_return(&last);
	while (!id);
	return id;
}

struct pib_auth *pib_auth_alloc(const struct pib_psk *key)
{
	struct pib_auth *a = kzalloc(sizeof(*a), GFP_KERNEL);
	int err;

	if (!a)
		return ERR_PTR(-ENOMEM);
	refcount_set(&a->refs, 1);
	a->id = next_id();
	a->key = *key;
	a->tfm = crypto_alloc_shash("hmac(sha256)", 0, 0);
	err = PTR_ERR_OR_ZERO(a->tfm);
	if (err)
		goto err_free;
	err = crypto_shash_setkey(a->tfm, key->bytes, key->len);
	if (err)
		goto err_tfm;
	return a;

err_tfm:
	crypto_free_shash(a->tfm);
err_free:
	kfree_sensitive(a);
	return ERR_PTR(err == -ENOMEM ? err : -EOPNOTSUPP);
}

struct pib_auth *pib_auth_get(struct pib_auth *a)
{
	refcount_inc(&a->refs);
	return a;
}

void pib_auth_put(struct pib_auth *a)
{
	if (!a || !refcount_dec_and_test(&a->refs))
		return;
	crypto_free_shash(a->tfm);
	kfree_sensitive(a);
}

u32 pib_auth_id(const struct pib_auth *a)
{
	return a->id;
}

bool pib_auth_same(const struct pib_auth *a, const struct pib_psk *key)
{
	return !crypto_memneq(a->key.bytes, key->bytes, PIB_KEY_MAX);
}

static int hmac_of(const struct pib_auth *a, const void *data, u32 len, u8 out[32])
{
	return crypto_shash_tfm_digest(a->tfm, data, len, out);
}

int pib_auth_seal(const struct pib_auth *a, u8 *hello)
{
	u8 mac[32];
	int err;

	memset(hello + PIB_HELLO_MAC_OFF, 0, MAC_LEN);
	err = hmac_of(a, hello, PIB_HELLO_WIRE_LEN, mac);
	if (!err)
		memcpy(hello + PIB_HELLO_MAC_OFF, mac, MAC_LEN);
	return err;
}

bool pib_auth_check(const struct pib_auth *a, const u8 *hello)
{
	u8 copy[PIB_HELLO_WIRE_LEN];

	memcpy(copy, hello, sizeof(copy));
	return !pib_auth_seal(a, copy) &&
	       !crypto_memneq(copy + PIB_HELLO_MAC_OFF, hello + PIB_HELLO_MAC_OFF, MAC_LEN);
}

u16 pib_auth_tag(const struct pib_auth *a, u64 to, u64 from)
{
	__be64 sessions[2] = { cpu_to_be64(to), cpu_to_be64(from) };
	u8 mac[32];

	/* On failure return a tag that the peer does not expect, not the one that all know. */
	if (hmac_of(a, sessions, sizeof(sessions), mac))
		return ~pib_session_tag(to);
	return mac[0] << 8 | mac[1];
}

int pib_auth_seal_key(const struct pib_auth *a, u64 to, u64 from, u8 *key)
{
	u8 label[PIB_SEAL_LABEL_LEN];

	pib_seal_label(to, from, label);
	return hmac_of(a, label, sizeof(label), key);
}
