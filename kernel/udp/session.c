// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sessions of links over UDP: control datagrams and timers go to the state machine
 * (proto/session.c), which says what is to be sent.
 */
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/random.h>
#include <net/ipv6.h>
#include "core/net.h"
#include "core/notify.h"
#include "fabric/port.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/credit.h"
#include "udp/hello.h"
#include "udp/keys.h"
#include "udp/link.h"
#include "udp/link_notify.h"
#include "udp/path.h"
#include "udp/pmtu.h"
#include "udp/seal.h"
#include "udp/session.h"

/* Each hello is refused by itself, so a refusal that is older than this does not count any more. */
#define PIB_UDP_LINK_REFUSED_NS	(10 * PIB_NSEC_PER_SEC)

static u64 new_nonce(void)
{
	u64 nonce;

	do
		nonce = get_random_u64();
	while (!nonce);
	return nonce;
}

/**
 * struct outgoing - a control datagram built under the lock, to be sent outside of it
 * @len: bytes; 0: there is none
 * @size: padded probe: bytes of the IP packet, see pib_udp_link_send_padded()
 * @number: padded probe: see struct pib_hello.probe
 * @to: where to
 * @bytes: the datagram
 */
struct outgoing {
	size_t len;
	u32 size;
	u16 number;
	struct pib_addr to;
	u8 bytes[PIB_HELLO_WIRE_LEN];
};

/* Write the authentication bytes, if the fabric has keys. Return: -errno: do not send @bytes. */
static int udp_link_authenticate(const struct pib_udp_link *link, u8 *bytes)
{
	const struct pib_auth *own;
	struct pib_keyring *keys;
	int err = 0;

	lockdep_assert_held(&link->lock);
	rcu_read_lock();
	keys = rcu_dereference(link->bearer->keys);
	if (keys) {
		own = pib_keyring_find(keys, link->session.key);
		err = own ? pib_auth_seal(own, bytes) : -ENOKEY;
	}
	rcu_read_unlock();
	return err;
}

static void udp_link_fill(struct pib_udp_link *link, struct pib_hello *h)
{
	lockdep_assert_held(&link->lock);
	pib_bearer_fill_hello(link->bearer, link->port, h);
	if (link->kind == PIB_UDP_LINK_TRUNK)
		h->caps |= PIB_CAP_AUTO;
}

static void udp_link_build(struct pib_udp_link *link, struct outgoing *o)
{
	struct pib_hello h = {};

	udp_link_fill(link, &h);
	o->to = link->peer[link->to];
	o->len = pib_session_build(&link->session, &h, ktime_get_ns(), o->bytes);
	if (udp_link_authenticate(link, o->bytes))
		o->len = 0;
}

/* With each keepalive a probe goes to a peer that takes flows: what is in its way may change. */
static void udp_link_build_probe(struct pib_udp_link *link, struct outgoing *probe)
{
	struct pib_hello h = {};

	lockdep_assert_held(&link->lock);
	if (link->session.state != PIB_SESSION_UP || !(link->session.peer_caps & PIB_CAP_FLOWS))
		return;
	udp_link_fill(link, &h);
	if (!(h.caps & PIB_CAP_FLOWS))
		return;
	probe->to = link->peer[link->to];
	probe->len = pib_session_build_probe(&link->session, &h, probe->bytes);
	if (udp_link_authenticate(link, probe->bytes))
		probe->len = 0;
}

/* A padded probe goes before a datagram that draws an answer, if one is due. */
static void udp_link_build_padded(struct pib_udp_link *link, struct pib_pmtu_bounds *bounds,
				  struct outgoing *padded)
{
	struct pib_hello h = {};

	lockdep_assert_held(&link->lock);
	bounds->most = pib_session_most(&link->session, link->port->p.mtu_cap);
	padded->size = pib_session_probe_size(&link->session, bounds, ktime_get_ns());
	if (!padded->size)
		return;
	padded->number = link->session.pmtu.number;
	udp_link_fill(link, &h);
	padded->to = link->peer[link->to];
	padded->len = pib_session_build_padded(&link->session, &h,
					       pib_udp_padded_len(&padded->to, padded->size),
					       padded->bytes);
	if (udp_link_authenticate(link, padded->bytes))
		padded->len = 0;
}

static void udp_link_send(struct pib_udp_link *link, const struct outgoing *o)
{
	if (o->len && o->to.family && READ_ONCE(link->bearer->sock->running))
		pib_udp_sock_send_control(link->bearer->sock, o->bytes, o->len, &o->to);
}

static void udp_link_rearm(struct pib_udp_link *link)
{
	u64 now = ktime_get_ns(), deadline = pib_session_deadline(&link->session);

	lockdep_assert_held(&link->lock);
	if (link->dead || deadline == PIB_SESSION_NEVER)
		return;
	mod_timer(&link->timer,
		  jiffies + (deadline > now ? nsecs_to_jiffies(deadline - now) : 0) + 1);
}

static void udp_link_dbg_own(const struct pib_udp_link *link, const struct pib_addr *to,
			     const char *what)
{
	if (to->family == AF_INET)
		pib_udp_link_dbg(link, "own address %pI4 %s", &to->own_v4, what);
	else
		pib_udp_link_dbg(link, "own address %pI6c %s", &to->own_v6, what);
}

/* Tell the user, once in a session: the log must not grow with a network's moods. */
static void udp_link_note_shrink(struct pib_udp_link *link)
{
	lockdep_assert_held(&link->lock);
	pib_udp_sock_count(link->bearer->sock, tx_shrunk, 1);
	if (link->session.pmtu.falls == 1)
		net_warn_ratelimited("pib: %.64s, port %u: large datagrams get lost on the way to the peer: smaller ones are sent\n",
				     link->port->p.node->desc, link->port->p.num);
}

/* Carry out @todo, which the state machine has returned. */
static void udp_link_act(struct pib_udp_link *link, u32 todo, struct outgoing *o)
{
	lockdep_assert_held(&link->lock);
	if (todo & PIB_SESSION_DO_REJECT)
		pib_udp_sock_drop(link->bearer->sock, rx_bad_hello);
	if (todo & PIB_SESSION_DO_DOWN)
		WRITE_ONCE(link->losses, link->losses + 1);
	if (todo & PIB_SESSION_DO_SHRINK)
		udp_link_note_shrink(link);
	if (todo & PIB_SESSION_DO_SEND)
		udp_link_build(link, o);
	pib_udp_path_update(link);
	udp_link_rearm(link);
	/* A datagram without news, as a replay is, is not worth the lock that the work takes. */
	if (todo & (PIB_SESSION_DO_UP | PIB_SESSION_DO_DOWN | PIB_SESSION_DO_LEARN))
		queue_work(pib_link_wq, &link->work);
}

/*
 * Tell the state machine if our sockets have dropped datagrams since the last look: those of the
 * peer may be among them.
 */
static void udp_link_own_losses(struct pib_udp_link *link)
{
	u32 overruns = pib_udp_sock_overruns(link->bearer->sock);

	if (overruns != link->overruns)
		pib_session_deaf(&link->session, ktime_get_ns());
	link->overruns = overruns;
}

static void udp_link_send_probe(struct pib_udp_link *link, const struct outgoing *probe)
{
	if (probe->len && READ_ONCE(link->bearer->sock->running))
		pib_udp_sock_send_probe(link->bearer->sock, probe->bytes, probe->len, &probe->to);
}

/**
 * struct due - what a link sends when its timer has run out
 * @padded: shows if large datagrams get through
 * @o: what the session has to say
 * @flow: shows if flows' ports get through
 */
struct due {
	struct outgoing padded;
	struct outgoing o;
	struct outgoing flow;
};

/*
 * Forget by which addresses a session went that is no more: what was named is called, from an
 * address that the stack chooses.
 */
static void udp_link_forget_way(struct pib_udp_link *link)
{
	unsigned int i;

	lockdep_assert_held(&link->lock);
	if (link->kind == PIB_UDP_LINK_EXPLICIT)
		link->peer[link->to] = link->named;
	for (i = 0; i < ARRAY_SIZE(link->peer); i++)
		link->peer[i].own_v6 = in6addr_any;
}

/*
 * If this end's address is gone the next datagram leaves from another one, and the peer follows.
 * Its datagrams to the old one are lost.
 */
static void udp_link_check_own(struct pib_udp_link *link)
{
	struct pib_addr *peer = &link->peer[link->to];

	lockdep_assert_held(&link->lock);
	if (!pib_addr_has_own(peer) || pib_udp_sock_has_own(link->bearer->sock, peer))
		return;
	udp_link_dbg_own(link, peer, "is gone: another one is used");
	peer->own_v6 = in6addr_any;
	if (link->session.state == PIB_SESSION_UP)
		link->moves++;
	pib_udp_path_update(link);
}

static void udp_link_tick(struct pib_udp_link *link, struct pib_pmtu_bounds *bounds,
			  struct due *due)
{
	bool was_up = link->session.state == PIB_SESSION_UP;
	u32 todo;

	lockdep_assert_held(&link->lock);
	udp_link_own_losses(link);
	todo = pib_session_timer(&link->session, ktime_get_ns());
	if (link->session.state == PIB_SESSION_IDLE)
		udp_link_forget_way(link);
	else
		udp_link_check_own(link);
	/* The session may end that a cable was out of: then its port is down already. */
	if (was_up && link->session.state != PIB_SESSION_UP) {
		pib_udp_link_dbg(link, "%.64s is silent", link->session.peer_desc);
		/* The peer is lost: it may be reachable by its other address. */
		if (link->peer[!link->to].family)
			link->to = !link->to;
		udp_link_act(link, todo, &due->o);
		return;
	}
	/* A peer with two addresses is called by each in turn. */
	if (todo & PIB_SESSION_DO_SEND && link->session.state == PIB_SESSION_IDLE &&
	    link->peer[!link->to].family)
		link->to = !link->to;
	if (todo & PIB_SESSION_DO_SEND) {
		udp_link_build_padded(link, bounds, &due->padded);
		udp_link_build(link, &due->o);
		udp_link_build_probe(link, &due->flow);
	}
	udp_link_rearm(link);
}

/* A probe that this host could not send says nothing of the path. */
static void udp_link_send_padded(struct pib_udp_link *link, const struct outgoing *padded)
{
	if (!padded->size)
		return;
	if (padded->len && pib_udp_link_send_padded(link, padded->bytes, padded->size, &padded->to))
		return;
	spin_lock(&link->lock);
	pib_pmtu_forget(&link->session.pmtu, padded->number);
	spin_unlock(&link->lock);
}

void pib_udp_link_timer(struct timer_list *t)
{
	struct pib_udp_link *link = container_of(t, struct pib_udp_link, timer);
	struct pib_pmtu_bounds bounds;
	struct due due = {};

	rcu_read_lock();
	pib_udp_link_bounds(link, &bounds);
	spin_lock(&link->lock);
	if (!link->dead)
		udp_link_tick(link, &bounds, &due);
	spin_unlock(&link->lock);
	udp_link_send_padded(link, &due.padded);
	udp_link_send(link, &due.o);
	udp_link_send_probe(link, &due.flow);
	if (due.o.len)
		pib_udp_credits_keep(link);
	rcu_read_unlock();
}

void pib_udp_link_begin_session(struct pib_udp_link *link, u32 id,
				const struct pib_udp_session *said)
{
	const struct pib_keyring *keys = pib_bearer_keys(link->bearer);

	lockdep_assert_held(&pib_udp_link_net(link)->lock);
	spin_lock_bh(&link->lock);
	if (said)
		pib_session_init_answered(&link->session, id, said->nonce);
	else
		pib_session_init(&link->session, id, new_nonce());
	if (keys) {
		link->session.key = pib_auth_id(keys->key);
		link->session.second_key = pib_keyring_second_id(keys);
	}
	/* Do not call a peer that the user has not named: its hello may be a forgery. */
	link->session.passive = link->kind != PIB_UDP_LINK_EXPLICIT;
	/* Both ends of a trunk are passive, and discovery may be over when the session is lost. */
	link->session.recalls = link->kind == PIB_UDP_LINK_TRUNK;
	link->dead = false;
	pib_udp_link_notify(link, PIB_EVENT_KIND_LINK_NEW);
	mod_timer(&link->timer, jiffies + 1);
	spin_unlock_bh(&link->lock);
}

void pib_udp_link_end_session(struct pib_udp_link *link)
{
	struct outgoing o = {};

	lockdep_assert_held(&pib_udp_link_net(link)->lock);
	spin_lock_bh(&link->lock);
	if (link->session.state == PIB_SESSION_UP) {
		pib_session_bye(&link->session);
		udp_link_build(link, &o);
	}
	link->dead = true;
	pib_udp_path_update(link);
	pib_udp_link_notify(link, PIB_EVENT_KIND_LINK_DEL);
	spin_unlock_bh(&link->lock);
	local_bh_disable();
	rcu_read_lock();
	udp_link_send(link, &o);
	rcu_read_unlock();
	local_bh_enable();
}

void pib_udp_link_bye(struct pib_udp_link *link)
{
	struct outgoing o = {};

	spin_lock_bh(&link->lock);
	if (!link->dead && link->session.state == PIB_SESSION_UP)
		udp_link_act(link, pib_session_bye(&link->session), &o);
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

/* As pib_udp_link_plug(); @down is NULL if this end stays as it is. */
static void udp_link_begin(struct pib_udp_link *link, const bool *down)
{
	struct outgoing o = {};
	u32 todo;

	spin_lock_bh(&link->lock);
	if (!link->dead) {
		todo = pib_session_reset(&link->session, new_nonce(),
					 down ? *down : link->session.local_down, ktime_get_ns());
		udp_link_act(link, todo, &o);
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

void pib_udp_link_plug(struct pib_udp_link *link, bool down)
{
	udp_link_begin(link, &down);
}

void pib_udp_link_restart(struct pib_udp_link *link)
{
	udp_link_begin(link, NULL);
}

void pib_udp_link_rekey(struct pib_udp_link *link, const struct pib_keyring *keys)
{
	struct outgoing o = {};
	u32 todo;

	lockdep_assert_held(&pib_udp_link_net(link)->lock);
	spin_lock_bh(&link->lock);
	if (!link->dead) {
		todo = pib_session_rekey(&link->session, pib_auth_id(keys->key),
					 pib_keyring_second_id(keys), new_nonce(), ktime_get_ns());
		/* A pair of sessions never comes back, so its counters are not needed any more. */
		if (!pib_udp_link_has_seal(link)) {
			pib_seal_put(link->seal);
			link->seal = NULL;
		}
		udp_link_act(link, todo, &o);
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

bool pib_udp_link_is_peer(const struct pib_udp_link *link, const struct pib_hello *h)
{
	switch (link->kind) {
	case PIB_UDP_LINK_TRUNK:
		return link->peer_guid == h->node_guid;
	case PIB_UDP_LINK_ACCEPTED:
		return link->peer_guid == h->node_guid && link->peer_port_num == h->port_num;
	}
	return true;
}

/* Follow the peer to another address. */
static void udp_link_follow(struct pib_udp_link *link, const struct pib_addr *from)
{
	unsigned int slot = pib_addr_slot(from);
	bool in_use = slot == link->to;

	lockdep_assert_held(&link->lock);
	link->peer[slot] = *from;
	pib_session_moved(&link->session, in_use);
	if (link->session.state != PIB_SESSION_UP || !in_use)
		return;
	link->moves++;
	if (from->family == AF_INET)
		pib_udp_link_dbg(link, "the peer has moved to %pI4", &from->v4);
	else
		pib_udp_link_dbg(link, "the peer has moved to %pI6c", &from->v6);
}

static void udp_link_build_question(struct pib_udp_link *link, const struct pib_addr *to,
				    struct outgoing *o)
{
	const struct pib_session *session = &link->session;
	u64 nonce = pib_answer_wanted(link->bearer, to, session->nonce, session->peer_nonce);
	struct pib_hello h = {};

	udp_link_fill(link, &h);
	o->to = *to;
	o->len = pib_session_build_question(session, &h, nonce, o->bytes);
	if (udp_link_authenticate(link, o->bytes))
		o->len = 0;
}

/* Return: true if another link's peer has shown that @nonce is its session, too. Context: RCU. */
static bool udp_link_shares_session(const struct pib_udp_link *link, u64 nonce)
{
	const struct pib_udp_link *other;

	/* The others' locks are not taken under this link's. */
	list_for_each_entry_rcu(other, &link->bearer->udp_links, entry)
		if (other != link && READ_ONCE(other->session.peer_nonce) == nonce &&
		    !READ_ONCE(other->session.unproved))
			return true;
	return false;
}

/*
 * While the link is up @h comes from an address that is not the peer's. The peer, or who has seen
 * its datagrams, may have forged that, to have somebody else flooded. So the address is asked, and
 * followed to when it answers. Until then data goes to the old one.
 *
 * The peer may have taken the session and the link id of another one's as its own, to have that one
 * answer. So nobody is followed by a session that two links have.
 *
 * Return: true if the hello is the peer's; else @o is a question, or stays empty.
 */
static bool udp_link_meets(struct pib_udp_link *link, const struct pib_addr *from,
			   const struct pib_hello *h, u8 type, struct outgoing *o)
{
	bool answers = pib_answer_is_wanted(link->bearer, from, link->session.nonce,
					    link->session.peer_nonce, h);

	switch (pib_session_stray(&link->session, h, type, answers, ktime_get_ns())) {
	case PIB_STRAY_FOLLOW:
		if (udp_link_shares_session(link, h->nonce))
			return false;
		if (link->to != pib_addr_slot(from))
			link->peer[link->to] = (struct pib_addr) {};	/* it was left */
		link->to = pib_addr_slot(from);
		udp_link_follow(link, from);
		return true;
	case PIB_STRAY_TAKE:
		return true;
	case PIB_STRAY_ASK:
		udp_link_build_question(link, from, o);
		return false;
	}
	return false;
}

/*
 * Check the sender of a hello, and learn other addresses of the peer. If the user has named its
 * address the peer may only move within a session, and not to the other protocol.
 *
 * Return: true if the hello is the peer's; else @o is what follows from it.
 */
static bool udp_link_knows(struct pib_udp_link *link, const struct pib_addr *from, bool may_move,
			   const struct pib_hello *h, u8 type, struct outgoing *o)
{
	unsigned int slot = pib_addr_slot(from);

	lockdep_assert_held(&link->lock);
	if (!pib_udp_link_is_peer(link, h))
		return false;
	if (pib_addr_equal(&link->peer[slot], from))
		return true;
	if (link->kind == PIB_UDP_LINK_EXPLICIT && slot != link->to)
		return false;
	if (link->session.state == PIB_SESSION_UP)
		return udp_link_meets(link, from, h, type, o);
	if (!may_move)
		return false;
	udp_link_follow(link, from);
	return true;
}

/* Return: true if @h was taken in as the newest datagram of the session, or there is none yet. */
static bool hello_is_newest(const struct pib_session *s, const struct pib_hello *h, u32 todo)
{
	return !(todo & PIB_SESSION_DO_REJECT) &&
	       (s->state != PIB_SESSION_UP || (h->nonce == s->peer_nonce &&
					       h->peer_nonce == s->nonce && h->seq == s->rx_seq));
}

/*
 * Speak from the address to which the peer has sent its newest datagram: it may take nothing from
 * elsewhere, nor may what filters its traffic.
 */
static void udp_link_take_own(struct pib_udp_link *link, const struct pib_addr *from)
{
	struct pib_addr *peer = &link->peer[pib_addr_slot(from)];

	lockdep_assert_held(&link->lock);
	if (!pib_addr_has_own(from) || ipv6_addr_equal(&peer->own_v6, &from->own_v6) ||
	    !pib_udp_sock_has_own(link->bearer->sock, from))
		return;
	if (pib_addr_has_own(peer) && link->session.state == PIB_SESSION_UP) {
		link->moves++;
		udp_link_dbg_own(link, from, "is the one that the peer uses now");
	}
	peer->own_v6 = from->own_v6;
}

static void udp_link_take_lids(struct pib_udp_link *link, const struct pib_hello *h)
{
	lockdep_assert_held(&link->lock);
	link->num_lids = h->caps & PIB_CAP_STANDALONE ? min_t(u8, h->num_lids, PIB_HELLO_LIDS) : 0;
	memcpy(link->lids, h->lids, link->num_lids * sizeof(link->lids[0]));
}

/*
 * Note why the peer refuses the link, for the user. The peer is asked again and again, so the log
 * has only changes of the reason.
 */
static void udp_link_note_refusal(struct pib_udp_link *link, u8 refusal)
{
	if (link->refused != refusal)
		net_warn_ratelimited("pib: %.64s, port %u: the peer refuses the link: %s\n",
				     link->port->p.node->desc, link->port->p.num,
				     pib_hello_refusal_text(refusal));
	link->refused = refusal;
	link->refused_at = ktime_get_ns();
}

static bool udp_link_is_refused(struct pib_udp_link *link, const struct pib_hello *h, u8 type)
{
	lockdep_assert_held(&link->lock);
	if (link->session.state == PIB_SESSION_UP)
		link->refused = PIB_REFUSED_NOT;
	if (type != PIB_DG_BYE || !h->refusal || link->session.state == PIB_SESSION_UP ||
	    h->peer_nonce != link->session.nonce)
		return false;
	udp_link_note_refusal(link, h->refusal);
	return true;
}

const char *pib_udp_link_refusal(const struct pib_udp_link *link)
{
	lockdep_assert_held(&link->lock);
	if (pib_session_key_unknown(&link->session))
		return "the peer does not know this host's key, but the second one";
	if (!link->refused || link->session.state == PIB_SESSION_UP ||
	    ktime_get_ns() > link->refused_at + PIB_UDP_LINK_REFUSED_NS)
		return NULL;
	return pib_hello_refusal_text(link->refused);
}

void pib_udp_link_other_key(struct pib_udp_link *link, const struct pib_addr *from,
			    const struct pib_hello *h)
{
	spin_lock_bh(&link->lock);
	if (!link->dead && link->session.state != PIB_SESSION_UP &&
	    h->peer_nonce == link->session.nonce &&
	    pib_addr_equal(&link->peer[pib_addr_slot(from)], from))
		udp_link_note_refusal(link, PIB_REFUSED_KEY);
	spin_unlock_bh(&link->lock);
}

static u32 udp_link_probed(struct pib_udp_link *link, const struct pib_addr *from,
			   const struct pib_hello *h, u8 type)
{
	const struct pib_addr *peer = &link->peer[pib_addr_slot(from)];

	lockdep_assert_held(&link->lock);
	if (link->dead || !pib_addr_same_host(peer, from) || peer->port == from->port)
		return PIB_SESSION_DO_REJECT;
	return pib_session_rx_probe(&link->session, h, type, ktime_get_ns());
}

/* Note that what comes from flows' ports gets through. The peer is told now, if that is news. */
static void udp_link_take_probe(struct pib_udp_link *link, const struct pib_addr *from,
				const struct pib_hello *h, u8 type)
{
	struct outgoing o = {};
	u32 todo;

	spin_lock_bh(&link->lock);
	todo = udp_link_probed(link, from, h, type);
	if (todo & PIB_SESSION_DO_SEND)
		udp_link_build(link, &o);
	spin_unlock_bh(&link->lock);
	if (todo & PIB_SESSION_DO_REJECT)
		pib_udp_sock_drop(link->bearer->sock, rx_wrong_addr);
	udp_link_send(link, &o);
}

/* Note that a padded probe came: the next control datagram says so. */
static void udp_link_take_padded(struct pib_udp_link *link, const struct pib_addr *from,
				 const struct pib_hello *h, u8 type)
{
	bool known, fits;

	spin_lock_bh(&link->lock);
	known = pib_addr_equal(&link->peer[pib_addr_slot(from)], from);
	fits = known && !link->dead && pib_session_take_padded(&link->session, h, type);
	spin_unlock_bh(&link->lock);
	if (!known)
		pib_udp_sock_drop(link->bearer->sock, rx_wrong_addr);
	else if (!fits)
		pib_udp_sock_drop(link->bearer->sock, rx_bad_hello);
}

void pib_udp_link_control(struct pib_udp_link *link, const struct pib_addr *from, bool may_move,
			  const struct pib_hello *h, u8 type)
{
	struct outgoing o = {};
	u64 now = ktime_get_ns();
	u32 todo;

	if (h->caps & PIB_CAP_FLOW_PROBE) {
		udp_link_take_probe(link, from, h, type);
		return;
	}
	if (h->padded) {
		udp_link_take_padded(link, from, h, type);
		return;
	}
	spin_lock_bh(&link->lock);
	if (link->dead) {
		spin_unlock_bh(&link->lock);
		pib_udp_sock_drop(link->bearer->sock, rx_unknown_link);
		return;
	}
	if (!udp_link_knows(link, from, may_move, h, type, &o)) {
		spin_unlock_bh(&link->lock);
		pib_udp_sock_drop(link->bearer->sock, rx_wrong_addr);
		udp_link_send(link, &o);
		return;
	}
	if (link->session.state != PIB_SESSION_UP)
		link->to = pib_addr_slot(from);
	if (!udp_link_is_refused(link, h, type)) {
		todo = pib_session_rx(&link->session, h, type, now);
		if (hello_is_newest(&link->session, h, todo))
			udp_link_take_own(link, from);
		if (link->session.state == PIB_SESSION_UP)
			link->alive_at = now;
		if (todo & PIB_SESSION_DO_LEARN)
			udp_link_take_lids(link, h);
		udp_link_act(link, todo, &o);
		/* An answer leaves from where the question went, whatever the session says. */
		if (pib_addr_equal(&o.to, from))
			o.to.own_v6 = from->own_v6;
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

static bool udp_link_has(const struct pib_udp_link *link, const struct pib_addr *from)
{
	lockdep_assert_held(&link->lock);
	return pib_addr_equal(&link->peer[pib_addr_slot(from)], from);
}

bool pib_udp_link_is_away(struct pib_udp_link *link, const struct pib_addr *from)
{
	bool away;

	spin_lock_bh(&link->lock);
	away = link->session.state != PIB_SESSION_UP && !udp_link_has(link, from);
	spin_unlock_bh(&link->lock);
	return away;
}

bool pib_udp_link_heard(struct pib_udp_link *link, const struct pib_addr *from)
{
	unsigned int slot = pib_addr_slot(from);
	struct outgoing o = {};
	bool idle, known;

	spin_lock_bh(&link->lock);
	idle = !link->dead && link->session.state != PIB_SESSION_UP;
	known = !idle || udp_link_has(link, from);
	if (idle && known) {
		link->peer[slot] = *from;
		link->to = slot;
		if (pib_session_may_reply(&link->session, 0, ktime_get_ns()))
			udp_link_build(link, &o);
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
	return known;
}
