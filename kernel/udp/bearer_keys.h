/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The keys of a bearer's fabric, and their exchange while links are up. */
#ifndef PIB_UDP_BEARER_KEYS_H
#define PIB_UDP_BEARER_KEYS_H

struct netlink_ext_ack;
struct pib_bearer;
struct pib_keyring_req;

/*
 * Change the keys of the fabric. A link begins a new session if it needs one. A link whose peer
 * uses a key that is dropped is lost, which only @req->force permits.
 *
 * Context: process; pn->lock held; sleeps.
 * Return: 0; -EINVAL: the bearer has no key, or see pib_keyring_exchange(); -EBUSY: a peer uses a
 * key that would be dropped; -ENOMEM; -EOPNOTSUPP. The reason is in @extack, but for -ENOMEM.
 */
int pib_bearer_set_keys(struct pib_bearer *bearer, const struct pib_keyring_req *req,
			struct netlink_ext_ack *extack);

#endif
