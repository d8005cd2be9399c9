// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Windows of VLs. proto/credit.c decides what may be sent, and when the peer is told or asked;
 * queue pairs whose VL is closed are pushed back, and look again (transport/qp_task.c) when it
 * opens, or for a question that is due. So there are no queues here, nor is there a timer but that
 * of the session.
 *
 * Time is that of the last tick, which costs nothing, but where something waits.
 */
#include <linux/ktime.h>
#include "core/net.h"
#include "core/parked.h"
#include "core/task.h"
#include "proto/flow.h"
#include "udp/bearer.h"
#include "udp/credit.h"
#include "udp/keys.h"
#include "udp/link.h"
#include "udp/path.h"
#include "udp/tx.h"

void pib_udp_credits_setup(struct pib_udp_link *link)
{
	u32 vl;

	spin_lock_init(&link->credit_lock);
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		pib_parking_init(&link->parking[vl]);
}

void pib_udp_credits_close(struct pib_udp_link *link)
{
	u32 vl;

	local_bh_disable();
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		pib_parking_close(&link->parking[vl]);
	local_bh_enable();
}

void pib_udp_credits_begin(struct pib_udp_link *link)
{
	struct pib_credits *c = &link->credits;

	lockdep_assert_held(&link->lock);
	spin_lock(&link->credit_lock);
	if (c->nonce != link->session.nonce || c->peer_nonce != link->session.peer_nonce)
		pib_credits_init(c, link->session.nonce, link->session.peer_nonce);
	/* The path is a new one, or the peer has moved. */
	memset(link->lane_tos, 0, sizeof(link->lane_tos));
	spin_unlock(&link->credit_lock);
}

/* Return: true if @path, which a reader may still have, is of the session that is counted. */
static bool path_counts(const struct pib_udp_link *link, const struct pib_udp_path *path)
{
	lockdep_assert_held(&link->credit_lock);
	return link->credits.nonce == path->nonce && link->credits.peer_nonce == path->peer_nonce;
}

/* Write the authentication bytes, if the fabric has keys. Return: false: do not send @bytes. */
static bool credit_authenticate(const struct pib_udp_link *link, const struct pib_udp_path *path,
				u8 *bytes)
{
	const struct pib_keyring *keys = rcu_dereference(link->bearer->keys);
	const struct pib_auth *own = keys ? pib_keyring_find(keys, path->key) : NULL;

	if (!path->key)
		return true;
	return own && !pib_auth_seal(own, bytes);
}

static bool credit_is_authentic(const struct pib_udp_link *link, const struct pib_udp_path *path,
				const u8 *bytes)
{
	const struct pib_keyring *keys = rcu_dereference(link->bearer->keys);
	const struct pib_auth *peer = keys ? pib_keyring_find(keys, path->peer_key) : NULL;

	if (!path->peer_key)
		return !keys;
	return peer && pib_auth_check(peer, bytes);
}

/* @vl: of a question: the VL that waits. A question goes the way of the VL's data. */
static void credit_send(struct pib_udp_link *link, const struct pib_udp_path *path,
			enum pib_credit_kind kind, u8 vl)
{
	const struct pib_addr *to = &path->peer[path->to];
	struct pib_udp_sock *sock = link->bearer->sock;
	u8 bytes[PIB_CREDIT_WIRE_LEN];
	struct pib_udp_lane lane = {};
	bool counts;

	spin_lock(&link->credit_lock);
	counts = path_counts(link, path);
	lane.tos = link->lane_tos[vl];
	if (counts)
		pib_credits_build(&link->credits, path->remote_id, kind, vl, ktime_get_ns(), bytes);
	spin_unlock(&link->credit_lock);
	if (!counts || !credit_authenticate(link, path, bytes))
		return;
	if (kind != PIB_CREDIT_ASKS) {
		pib_udp_sock_send_control(sock, bytes, sizeof(bytes), to);
		return;
	}
	pib_udp_lane_flow(link, path, pib_flow_of_vl(vl), &lane);
	pib_udp_sock_send_beside(sock, bytes, sizeof(bytes), to, &lane);
}

/* Note that something waits for @vl. Return: the VL for which the peer is to be asked, or -1. */
static int credit_wait(struct pib_udp_link *link, u8 vl)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&link->credit_lock);
	if (pib_credits_wait(&link->credits, vl, now))
		pib_udp_sock_count(link->bearer->sock, tx_waits, 1);
	return pib_credits_due(&link->credits, now);
}

bool pib_udp_credits_closed(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			    bool soon)
{
	struct pib_credits *c = &link->credits;
	bool waits = false;
	int asks = -1;

	spin_lock(&link->credit_lock);
	if (path_counts(link, path) && !pib_credits_open(c, vl, ktime_get_coarse_ns())) {
		asks = credit_wait(link, vl);
		waits = !soon || !pib_credits_stuck(c, vl, ktime_get_coarse_ns());
	}
	spin_unlock(&link->credit_lock);
	if (asks >= 0)
		credit_send(link, path, PIB_CREDIT_ASKS, asks);
	return waits;
}

bool pib_udp_credits_spare(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl)
{
	bool spare;

	spin_lock(&link->credit_lock);
	spare = path_counts(link, path) &&
		pib_credits_spare(&link->credits, vl, ktime_get_coarse_ns());
	spin_unlock(&link->credit_lock);
	return spare;
}

bool pib_udp_credits_overdrawn(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			       bool beside, bool soon)
{
	struct pib_credits *c = &link->credits;
	bool overdrawn = false;
	int asks = -1;

	spin_lock(&link->credit_lock);
	if (path_counts(link, path)) {
		overdrawn = beside ? pib_credits_overdrawn_beside(c, vl) :
				     pib_credits_overdrawn(c, vl);
		if (overdrawn)
			asks = credit_wait(link, vl);
		overdrawn |= soon && pib_credits_stuck(c, vl, ktime_get_coarse_ns());
	}
	spin_unlock(&link->credit_lock);
	if (asks >= 0)
		credit_send(link, path, PIB_CREDIT_ASKS, asks);
	return overdrawn;
}

u32 pib_udp_credits_view(struct pib_udp_link *link, struct pib_credit_view view[PIB_CREDIT_VLS])
{
	u64 now = ktime_get_ns();
	u32 vl, seen = 0;

	spin_lock_bh(&link->credit_lock);
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if (pib_credits_view(&link->credits, vl, now, &view[vl]))
			seen |= 1U << vl;
	spin_unlock_bh(&link->credit_lock);
	return seen;
}

void pib_udp_credits_sent(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			  u32 bytes, bool beside, u8 tos)
{
	if (vl >= PIB_CREDIT_VLS)
		return;
	spin_lock(&link->credit_lock);
	if (path_counts(link, path)) {
		if (beside)
			pib_credits_sent_beside(&link->credits, vl, bytes, ktime_get_coarse_ns());
		else
			pib_credits_sent(&link->credits, vl, bytes, ktime_get_coarse_ns());
		link->lane_tos[vl] = tos;
	}
	spin_unlock(&link->credit_lock);
}

void pib_udp_credits_take(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			  u32 bytes, u32 packets)
{
	bool tells;

	spin_lock(&link->credit_lock);
	tells = path_counts(link, path) &&
		pib_credits_take(&link->credits, vl, pib_credit_bytes(bytes, packets),
				 ktime_get_coarse_ns());
	spin_unlock(&link->credit_lock);
	if (tells)
		credit_send(link, path, PIB_CREDIT_TELLS, 0);
}

/*
 * Take in @m, which is of the present sessions.
 *
 * @opened: result: bit per VL that waits no longer
 * Return: enum pib_credit_do.
 */
static u32 credit_take_in(struct pib_udp_link *link, const struct pib_credit_msg *m, u32 *opened)
{
	u32 todo;

	spin_lock(&link->credit_lock);
	todo = pib_credits_rx(&link->credits, m, ktime_get_ns());
	*opened = todo & PIB_CREDIT_DO_OPEN ? link->credits.opened : 0;
	spin_unlock(&link->credit_lock);
	if (todo & PIB_CREDIT_DO_REJECT)
		pib_udp_sock_drop(link->bearer->sock, rx_bad_credits);
	return todo;
}

/* Return: the link, and its @path; NULL: the datagram is counted. */
static struct pib_udp_link *credit_link(struct pib_udp_sock *sock, const struct pib_addr *from,
					u32 id, struct pib_udp_path **path)
{
	struct pib_udp_link *link = xa_load(&sock->pn->links, id);

	*path = link && link->bearer->sock == sock ? rcu_dereference(link->path) : NULL;
	if (!*path) {
		pib_udp_sock_drop(sock, rx_unknown_link);
		return NULL;
	}
	/* Questions come from the ports of flows. */
	if (!pib_addr_same_host(&(*path)->peer[pib_addr_slot(from)], from)) {
		pib_udp_sock_drop(sock, rx_wrong_addr);
		return NULL;
	}
	return link;
}

void pib_udp_credits_rx(struct pib_udp_sock *sock, const struct pib_addr *from, const u8 *buf,
			u32 len)
{
	struct pib_udp_link *link;
	struct pib_udp_path *path;
	struct pib_credit_msg m;
	u32 id, todo, opened, vl;

	if (!pib_credit_parse(&m, &id, buf, len)) {
		pib_udp_sock_drop(sock, rx_bad_credits);
		return;
	}
	link = credit_link(sock, from, id, &path);
	if (!link)
		return;
	/* An HMAC is for those only who know the sessions. */
	if (!path->windows || m.nonce != path->peer_nonce || m.peer_nonce != path->nonce) {
		pib_udp_sock_drop(sock, rx_bad_credits);
		return;
	}
	pib_tasks_copied(PIB_UDP_CONTROL_COPIES);
	if (!credit_is_authentic(link, path, buf)) {
		pib_udp_sock_drop(sock, rx_bad_auth);
		return;
	}
	todo = credit_take_in(link, &m, &opened);
	if (todo & PIB_CREDIT_DO_ANSWER)
		credit_send(link, path, PIB_CREDIT_ANSWERS, 0);
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if (opened >> vl & 1)
			pib_parking_wake(&link->parking[vl]);
}

void pib_udp_credits_keep(struct pib_udp_link *link)
{
	struct pib_udp_path *path = rcu_dereference(link->path);
	bool owes = false;
	int asks = -1;

	if (!path || !path->windows)
		return;
	spin_lock(&link->credit_lock);
	if (path_counts(link, path)) {
		owes = pib_credits_owes(&link->credits);
		asks = pib_credits_due(&link->credits, ktime_get_ns());
	}
	spin_unlock(&link->credit_lock);
	if (asks >= 0)
		credit_send(link, path, PIB_CREDIT_ASKS, asks);
	else if (owes)
		credit_send(link, path, PIB_CREDIT_TELLS, 0);
}
