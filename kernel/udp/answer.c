// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Answers to peers that have no link here: answers to probes, refusals, and answers that carry all
 * of their state (proto/cookie.h).
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include "fabric/switch.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/hello.h"
#include "udp/link.h"

/* Least time between two answers to peers of the version before, who use up no other's answers. */
#define PIB_FORMER_MS	100
/* Least time between two answers to what came to a group: all who hear that answer. */
#define PIB_GROUP_MS	10

/*
 * Authenticate @bytes, if the fabric has keys, by the one numbered @key, or by the first one if
 * @key is 0. Return: false: that key is gone, or there was an error of HMAC.
 */
static bool answer_authenticate(const struct pib_bearer *bearer, u32 key, u8 *bytes)
{
	const struct pib_keyring *keys = rcu_dereference(bearer->keys);
	const struct pib_auth *auth;

	if (!keys)
		return true;
	auth = key ? pib_keyring_find(keys, key) : keys->key;
	return auth && !pib_auth_seal(auth, bytes);
}

size_t pib_answer_build(const struct pib_bearer *bearer, const struct pib_hello *h, u8 type,
			u32 link_id, u32 key, u8 *bytes)
{
	size_t len = pib_hello_build(h, type, link_id, bytes);

	return answer_authenticate(bearer, key, bytes) ? len : 0;
}

struct pib_kport *pib_bearer_speaker(struct pib_bearer *bearer)
{
	struct pib_switch *sw = rcu_dereference(bearer->sw);
	struct pib_udp_link *link;

	if (sw)
		return sw->nd.ports[0];
	link = list_first_or_null_rcu(&bearer->udp_links, struct pib_udp_link, entry);
	return link ? link->port : NULL;
}

static void cookie_addr(const struct pib_addr *from, struct pib_cookie_addr *addr)
{
	if (from->family == AF_INET) {
		pib_cookie_addr_v4(addr, (const u8 *)&from->v4, ntohs(from->port));
		return;
	}
	memcpy(addr->host, &from->v6, sizeof(addr->host));
	addr->udp_port = ntohs(from->port);
}

/* Return: true if a peer that gets no link may be answered now. */
static bool answer_is_due(struct pib_bearer *bearer, const struct pib_addr *from,
			  const struct pib_hello *to, u8 refusal)
{
	struct pib_cookie_addr addr;
	bool may;

	if (refusal == PIB_REFUSED_VERSION)
		return pib_bearer_is_due(bearer, &bearer->next_former, PIB_FORMER_MS);
	if (!pib_addr_has_own(from))
		return pib_bearer_is_due(bearer, &bearer->next_group, PIB_GROUP_MS);
	cookie_addr(from, &addr);
	spin_lock_bh(&bearer->lock);
	may = pib_cookie_may_refuse(&bearer->cookies, &addr, to, ktime_get_ns());
	spin_unlock_bh(&bearer->lock);
	return may;
}

/*
 * Return: true if the sender of @to is not told who is here: it may not come in. A trunk's peer
 * knows, but one of the version before may say that it is one without a key.
 */
static bool answer_is_nameless(const struct pib_hello *to, u8 refusal)
{
	return refusal == PIB_REFUSED_VERSION ||
	       (refusal == PIB_REFUSED_CLOSED && !pib_hello_is_trunk(to));
}

bool pib_answer_send(struct pib_bearer *bearer, const struct pib_addr *from,
		     const struct pib_hello *to, u8 type, u8 refusal)
{
	struct pib_hello h = {
		.nonce = bearer->nonce,
		.peer_nonce = to->nonce,
		.seq = 1,
		.ack = to->seq,
		.refusal = refusal,
		.caps = type == PIB_DG_BYE ? 0 : PIB_CAP_PROBE,
	};
	struct pib_kport *port = pib_bearer_speaker(bearer);
	u8 bytes[PIB_HELLO_WIRE_LEN];
	size_t len;

	if (!port || !answer_is_due(bearer, from, to, refusal))
		return false;
	pib_bearer_fill_hello(bearer, port, &h);
	if (answer_is_nameless(to, refusal)) {
		h.node_guid = 0;
		h.port_guid = 0;
		h.num_lids = 0;
	}
	if (refusal)
		strscpy_pad(h.desc, pib_hello_refusal_text(refusal), sizeof(h.desc));
	len = pib_hello_build(&h, type, to->link_id, bytes);
	if (refusal == PIB_REFUSED_VERSION)
		pib_hello_make_former(bytes);
	if (answer_authenticate(bearer, 0, bytes))
		pib_udp_sock_send_control(bearer->sock, bytes, len, from);
	return true;
}

void pib_answer_stranger(struct pib_bearer *bearer, const struct pib_addr *from,
			 const struct pib_hello *to)
{
	struct pib_kport *port = pib_bearer_speaker(bearer);
	u8 bytes[PIB_HELLO_WIRE_LEN];
	struct pib_cookie_addr addr;
	struct pib_hello h = {};
	u64 now = ktime_get_ns();
	size_t len;
	bool may;
	u8 type;

	cookie_addr(from, &addr);
	if (!port) {
		pib_udp_sock_drop(bearer->sock, rx_no_port);
		return;
	}
	pib_bearer_fill_hello(bearer, port, &h);
	spin_lock_bh(&bearer->lock);
	may = pib_cookie_may_reply(&bearer->cookies, &addr, to, now);
	type = pib_cookie_reply(&bearer->cookies, &addr, to, now, &h);
	spin_unlock_bh(&bearer->lock);
	if (!may) {
		pib_udp_sock_drop(bearer->sock, rx_stranger);
		return;
	}
	len = pib_answer_build(bearer, &h, type, to->link_id, to->key, bytes);
	if (len)
		pib_udp_sock_send_control(bearer->sock, bytes, len, from);
}

enum pib_answer_back pib_answer_is_back(struct pib_bearer *bearer, const struct pib_addr *from,
					const struct pib_hello *h, u32 link_id)
{
	const struct pib_keyring *keys = rcu_dereference(bearer->keys);
	u32 key = keys ? pib_auth_id(keys->key) : 0;
	u32 second = keys ? pib_keyring_second_id(keys) : 0;
	enum pib_answer_back back = PIB_ANSWER_NONE;
	struct pib_cookie_addr addr;
	u64 now = ktime_get_ns();

	cookie_addr(from, &addr);
	spin_lock_bh(&bearer->lock);
	if (pib_cookie_is_back(&bearer->cookies, &addr, h, link_id, key, now))
		back = PIB_ANSWER_GOES_ON;
	else if (second &&
		 pib_cookie_is_back(&bearer->cookies, &addr, h, link_id, second, now))
		back = PIB_ANSWER_BEGINS;
	spin_unlock_bh(&bearer->lock);
	return back;
}

u64 pib_answer_wanted(struct pib_bearer *bearer, const struct pib_addr *to, u64 own, u64 peer)
{
	struct pib_cookie_addr addr;
	u64 nonce;

	cookie_addr(to, &addr);
	spin_lock_bh(&bearer->lock);
	nonce = pib_cookie_question(&bearer->cookies, &addr, own, peer, ktime_get_ns());
	spin_unlock_bh(&bearer->lock);
	return nonce;
}

bool pib_answer_is_wanted(struct pib_bearer *bearer, const struct pib_addr *from, u64 own, u64 peer,
			  const struct pib_hello *h)
{
	struct pib_cookie_addr addr;
	bool wanted;

	cookie_addr(from, &addr);
	spin_lock_bh(&bearer->lock);
	wanted = pib_cookie_is_answer(&bearer->cookies, &addr, own, peer, h->peer_nonce,
				      ktime_get_ns());
	spin_unlock_bh(&bearer->lock);
	return wanted;
}

void pib_answer_forget(struct pib_bearer *bearer)
{
	u64 secret[2];

	get_random_bytes(secret, sizeof(secret));
	spin_lock_bh(&bearer->lock);
	memcpy(bearer->cookies.secret, secret, sizeof(secret));
	spin_unlock_bh(&bearer->lock);
}
