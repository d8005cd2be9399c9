// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One end of a link over UDP. Each end has a session (a nonce), and numbers its
 * control datagrams. Each datagram echoes the peer's session and the last number
 * heard from the peer. So a datagram proves when it was made:
 *
 * - a datagram that echoes our nonce was sent after our session began;
 * - one that acknowledges our datagram n was sent after we sent n.
 *
 * A session that is greeted is believed once it acknowledges something that we
 * sent since the greeting began (@fresh_from); in an established link, another
 * session displaces the present one once it acknowledges something that we sent
 * since the link came up (@newer_from). Within a session numbers only rise. So old
 * datagrams, replayed or late, neither bring a link up nor take it down.
 *
 * Silence takes a link down, but only silence that was listened to. Neither the
 * time in which this end did not run nor that in which datagrams were dropped at
 * its own door says anything about the peer. Before an end gives its peer up it
 * asks the peer many times, since each question and answer may get lost.
 *
 * An end that was made because it heard the other one waits to be called again when
 * it has lost its peer. If it called back, a peer that has hung up would take that
 * for somebody new. But two that wait would wait for ever: the ends of a trunk call
 * slowly (@recalls), unless the peer has hung up. Nor does such an end say more than
 * it hears before it knows that the peer hears it: a sender that forges the address of
 * another host does not have that host flooded. Each session has its own allowance of
 * answers. There are PIB_SESSION_REPLIES of them, so some sessions share one, each time
 * others. So datagrams of old sessions, replayed at whatever rate, do not use up the
 * answers that the peer waits for. Nor do they keep this end from calling: answers put
 * no call off. Of the calls to a session that is not proved every second one names no
 * link, for the link that its datagram has told of may be no more.
 *
 * In a keyed fabric a session has one key from its beginning to its end, by which it
 * is known to the peer. So while keys are exchanged both ends know by which key the
 * other one seals what it sends (@key, @peer_key), and no pair of sessions ever has
 * two keys for one direction.
 *
 *	IDLE --- anything heard ---> GREETING --- fresh ---> UP
 *	  ^------- silence, BYE --------'------------ silence, BYE ---'
 *	                             GREETING <--- own new session ----'
 */
#include "session.h"
#include "node.h"

static u64 to_ms(u32 n)
{
	return n * PIB_NSEC_PER_MSEC;
}

/* Return: true if this end speaks without having been spoken to. */
static bool session_calls(const struct pib_session *s)
{
	if (!s->passive || s->state == PIB_SESSION_UP)
		return true;
	return s->state == PIB_SESSION_GREETING && !s->unproved;
}

/* Return: true if it calls slowly, for it has lost a peer that was there. */
static bool session_recalls(const struct pib_session *s)
{
	return s->recalls && s->met && !session_calls(s);
}

static u64 earlier_of(u64 a, u64 b)
{
	return a < b ? a : b;
}

static bool seq_at_least(u32 a, u32 b)
{
	return (s32)(a - b) >= 0;
}

/* ---- the link as ports see it ---- */

/* Note that the link is up for ports now, by the peer's key. */
static void session_note_use(struct pib_session *s, u64 now)
{
	s->used_key = s->peer_key;
	s->used_at = now;
}

/* The link is up for ports when both ends are there and neither is disabled. */
static u32 session_settle(struct pib_session *s, u64 now)
{
	bool plugged = s->state == PIB_SESSION_UP && !s->peer_down && !s->local_down;

	if (plugged)
		session_note_use(s, now);
	if (plugged == s->plugged)
		return 0;
	s->plugged = plugged;
	return plugged ? PIB_SESSION_DO_UP : PIB_SESSION_DO_DOWN;
}

static u32 session_unplug(struct pib_session *s)
{
	bool was = s->plugged;

	s->plugged = false;
	return was ? PIB_SESSION_DO_DOWN : 0;
}

/* ---- sessions ---- */

/* The sessions of an end differ in their low 16 bits, too: pib_session_tag(). */
static void new_session(struct pib_session *s)
{
	s->nonce += 0x10001;
	if (!s->nonce)
		s->nonce = 1;
	s->fresh_from = s->tx_seq + 1;
	s->num_former = 0;
}

static u32 go_idle(struct pib_session *s)
{
	if (s->state == PIB_SESSION_UP) {
		s->restarts++;
		new_session(s);
	}
	s->state = PIB_SESSION_IDLE;
	s->peer_nonce = 0;
	s->peer_key = 0;
	s->remote_id = 0;
	s->rx_seq = 0;
	s->next_send = 0;
	return session_unplug(s);
}

/* Go idle: the peer has hung up, and is not called. */
static u32 take_leave(struct pib_session *s)
{
	s->met = false;
	return go_idle(s);
}

/* Take note of the session that @h names, without believing it yet. */
static void session_greet(struct pib_session *s, const struct pib_hello *h, u64 now)
{
	if (s->state != PIB_SESSION_GREETING)
		s->greeted_from = s->tx_seq;
	if (s->state != PIB_SESSION_GREETING || s->peer_nonce != h->nonce)
		s->unproved = true;
	s->state = PIB_SESSION_GREETING;
	s->peer_nonce = h->nonce;
	s->peer_key = h->key;
	s->remote_id = h->link_id;
	s->rx_seq = h->seq;
	s->last_heard = now;
	if (s->next_send > now + to_ms(PIB_GREETING_MS))
		s->next_send = now + to_ms(PIB_GREETING_MS);
}

static u32 session_learn(struct pib_session *s, const struct pib_hello *h, u64 now)
{
	s->remote_id = h->link_id;
	s->last_heard = now;
	s->peer_node_guid = h->node_guid;
	s->peer_port_guid = h->port_guid;
	s->peer_port_num = h->port_num;
	s->peer_role = h->role;
	s->peer_mtu_cap = h->mtu_cap;
	s->peer_width_en = h->width_en;
	s->peer_speed_en = h->speed_en;
	s->peer_ext_speed_en = h->ext_speed_en;
	s->peer_keepalive_ms = h->keepalive_ms;
	s->peer_caps = h->caps;
	s->peer_down = h->down;
	memcpy(s->peer_desc, h->desc, sizeof(s->peer_desc));
	return PIB_SESSION_DO_LEARN;
}

static u32 session_establish(struct pib_session *s, const struct pib_hello *h, u64 now)
{
	s->state = PIB_SESSION_UP;
	s->met = true;
	s->unproved = false;
	s->peer_nonce = h->nonce;
	s->peer_key = h->key;
	s->rx_seq = h->seq;
	s->newer_from = s->tx_seq + 1;
	s->peer_probe = 0;
	s->stray_seq = h->seq;
	pib_pmtu_init(&s->pmtu);
	return session_learn(s, h, now);
}

/* ---- answers ---- */

static u32 hello_send(struct pib_session *s, u8 type)
{
	s->out_type = type;
	s->answer_nonce = 0;
	return PIB_SESSION_DO_SEND;
}

#define MIX_BITS 0x9E3779B97F4A7C15ULL

/*
 * The sessions that share an allowance change with the session of this end, and every 2^26 ns: the
 * peer's does not share for long with one that is replayed.
 */
static unsigned int reply_share(const struct pib_session *s, u64 to, u64 now)
{
	return ((to ^ s->nonce ^ (now >> 26) * MIX_BITS) * MIX_BITS >> 32) % PIB_SESSION_REPLIES;
}

bool pib_session_may_reply(struct pib_session *s, u64 to, u64 now)
{
	u64 *next = &s->next_reply[reply_share(s, to, now)];

	if (now < *next)
		return false;
	*next = now + to_ms(PIB_REPLY_MS);
	return true;
}

static u32 hello_reply(struct pib_session *s, u64 to, u8 type, u64 now)
{
	return pib_session_may_reply(s, to, now) ? hello_send(s, type) : 0;
}

/* As hello_reply(), to a session that is not (yet) the peer's. */
static u32 reply_stranger(struct pib_session *s, const struct pib_hello *h, u64 now)
{
	u32 todo = hello_reply(s, h->nonce, PIB_DG_HELLO_ACK, now);

	if (todo) {
		s->answer_nonce = h->nonce;
		s->answer_id = h->link_id;
		s->answer_seq = h->seq;
	}
	return todo;
}

/* The datagram that confirms a session to the peer: an answer to its hello, else a sign of life. */
static u8 hello_confirmation(u8 type)
{
	return type == PIB_DG_HELLO ? PIB_DG_HELLO_ACK : PIB_DG_KEEPALIVE;
}

/* ---- reception, by state ---- */

static u32 rx_idle(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now)
{
	u32 todo;

	if (type == PIB_DG_BYE)
		return PIB_SESSION_DO_REJECT;
	session_greet(s, h, now);
	if (h->peer_nonce != s->nonce || !seq_at_least(h->ack, s->fresh_from))
		return hello_reply(s, h->nonce, PIB_DG_HELLO_ACK, now);
	todo = session_establish(s, h, now);
	return todo | hello_send(s, hello_confirmation(type)) | session_settle(s, now);
}

static u32 rx_greeting(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now)
{
	if (h->nonce == s->peer_nonce && seq_at_least(s->rx_seq, h->seq))
		return PIB_SESSION_DO_REJECT;
	if (type == PIB_DG_BYE)
		return h->nonce == s->peer_nonce ? go_idle(s) : PIB_SESSION_DO_REJECT;
	return rx_idle(s, h, type, now);
}

/* Take in a datagram of the present peer, newer than the last. */
static u32 rx_peer(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now)
{
	u32 todo = 0;

	s->rx_seq = h->seq;
	if (seq_at_least(s->rx_seq, s->stray_seq))
		s->stray_seq = s->rx_seq;
	if (type == PIB_DG_HELLO)
		todo = hello_reply(s, h->nonce, PIB_DG_HELLO_ACK, now);
	if (h->peer_nonce != s->nonce)
		return todo;	/* not up yet there, or an answer to somebody who replays us */
	if (type == PIB_DG_BYE) {
		s->used_key = 0;
		return take_leave(s);
	}
	todo |= session_learn(s, h, now);
	if (pib_pmtu_heard(&s->pmtu, h->came, h->ack, now))
		todo |= PIB_SESSION_DO_SHRINK;
	return todo | session_settle(s, now);
}

/* Return: true if the link was up with @nonce before, in the present session of this end. */
static bool is_former(const struct pib_session *s, u64 nonce)
{
	unsigned int i;

	for (i = 0; i < s->num_former; i++)
		if (s->former[i] == nonce)
			return true;
	return false;
}

/*
 * Two sessions make a pair, of which keys are made and counters begin. A pair must never come back.
 * Two peers that both live may speak to this end by turns: then this end begins a new session.
 */
static bool may_displace(const struct pib_session *s, u64 nonce)
{
	return s->num_former < PIB_SESSION_FORMER && !is_former(s, nonce);
}

/* Take in a datagram of another session, the peer's next one if it proves to be newer. */
static u32 rx_stranger(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now)
{
	u32 todo;

	if (type == PIB_DG_BYE)
		return PIB_SESSION_DO_REJECT;
	if (h->peer_nonce != s->nonce || !seq_at_least(h->ack, s->newer_from))
		return reply_stranger(s, h, now);
	if (!may_displace(s, h->nonce)) {
		todo = go_idle(s);
		return todo | rx_idle(s, h, type, now);
	}
	s->former[s->num_former++] = s->peer_nonce;
	s->restarts++;
	todo = session_unplug(s);
	todo |= session_establish(s, h, now);
	return todo | hello_send(s, hello_confirmation(type)) | session_settle(s, now);
}

static u32 rx_up(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now)
{
	if (h->nonce != s->peer_nonce)
		return rx_stranger(s, h, type, now);
	if (seq_at_least(s->rx_seq, h->seq))
		return PIB_SESSION_DO_REJECT;
	return rx_peer(s, h, type, now);
}

static bool knows_key(const struct pib_session *s, u32 key)
{
	return key == s->key || (key && key == s->second_key);
}

/* Return: true if @h is by a key that holds, and if of the peer's session, by that session's. */
static bool session_key_fits(const struct pib_session *s, const struct pib_hello *h)
{
	return knows_key(s, h->key) && (h->nonce != s->peer_nonce || h->key == s->peer_key);
}

/* Return: true if @h is of the peer's session, whatever it echoes. */
static bool hello_is_peers(const struct pib_session *s, const struct pib_hello *h)
{
	return session_key_fits(s, h) && h->nonce == s->peer_nonce;
}

static bool hello_is_present(const struct pib_session *s, const struct pib_hello *h)
{
	return hello_is_peers(s, h) && h->peer_nonce == s->nonce;
}

bool pib_session_is_next(const struct pib_session *s, const struct pib_hello *h)
{
	return hello_is_present(s, h) && !seq_at_least(s->rx_seq, h->seq);
}

/* Note the peer's datagram from another address. Return: false: it is old, or has come so. */
static bool stray_is_new(struct pib_session *s, const struct pib_hello *h)
{
	if (seq_at_least(s->rx_seq, h->seq) || seq_at_least(s->stray_seq, h->seq))
		return false;
	s->stray_seq = h->seq;
	return true;
}

u8 pib_session_stray(struct pib_session *s, const struct pib_hello *h, u8 type, bool answers,
		     u64 now)
{
	if (!hello_is_present(s, h) && !(answers && hello_is_peers(s, h)))
		return PIB_STRAY_DROP;
	if (!stray_is_new(s, h))
		return PIB_STRAY_DROP;
	if (answers)
		return PIB_STRAY_FOLLOW;
	if (type == PIB_DG_BYE)
		return PIB_STRAY_TAKE;
	if (now < s->next_question)
		return PIB_STRAY_DROP;
	s->next_question = now + to_ms(PIB_QUESTION_MS);
	return PIB_STRAY_ASK;
}

u32 pib_session_rx(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now)
{
	if (!h->link_id)
		return 0;
	if (h->nonce == s->nonce)
		return PIB_SESSION_DO_REJECT;	/* our own, come back */
	if (!session_key_fits(s, h))
		return PIB_SESSION_DO_REJECT;
	switch (s->state) {
	case PIB_SESSION_IDLE:
		return rx_idle(s, h, type, now);
	case PIB_SESSION_GREETING:
		return rx_greeting(s, h, type, now);
	}
	return rx_up(s, h, type, now);
}

/* ---- flows ---- */

static bool hello_is_probe(const struct pib_session *s, const struct pib_hello *h, u8 type)
{
	return s->state == PIB_SESSION_UP && type == PIB_DG_KEEPALIVE && hello_is_present(s, h) &&
	       seq_at_least(h->seq + PIB_PROBE_LAG, s->rx_seq);
}

/* Return: true if flows of the session @peer_nonce get through to the present one of this end. */
static bool flows_come(const struct pib_session *s, u64 peer_nonce, u64 now)
{
	return s->flow_at && s->flow_nonce == s->nonce && s->flow_peer == peer_nonce &&
	       now < s->flow_at + to_ms(PIB_FLOW_PATIENCE_MS);
}

u32 pib_session_rx_probe(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now)
{
	bool known = flows_come(s, s->peer_nonce, now);

	if (!hello_is_probe(s, h, type))
		return PIB_SESSION_DO_REJECT;
	s->flow_at = now;
	s->flow_nonce = s->nonce;
	s->flow_peer = s->peer_nonce;
	return known ? 0 : hello_reply(s, 0, PIB_DG_KEEPALIVE, now);
}

/* ---- sizes ---- */

bool pib_session_take_padded(struct pib_session *s, const struct pib_hello *h, u8 type)
{
	if (!hello_is_probe(s, h, type) || (s->peer_probe && seq_at_least(s->probe_seq, h->seq)))
		return false;
	s->peer_probe = h->probe;
	s->probe_seq = h->seq;
	return true;
}

void pib_session_moved(struct pib_session *s, bool in_use)
{
	s->flow_at = 0;
	if (in_use)
		pib_pmtu_init(&s->pmtu);
}

/* ---- time ---- */

static u64 session_patience(const struct pib_session *s)
{
	if (s->state == PIB_SESSION_UP && s->peer_keepalive_ms * 4 > PIB_DEAD_MS)
		return to_ms(s->peer_keepalive_ms * 4);
	return to_ms(PIB_DEAD_MS);
}

static u64 dead_at(const struct pib_session *s)
{
	u64 since = s->last_heard;

	if (s->deaf_at > since)
		since = earlier_of(s->deaf_at, since + to_ms(PIB_DEAF_MS));
	return since + session_patience(s);
}

/* UP: time at which to ask whether the peer is still there. */
static u64 missed_at(const struct pib_session *s)
{
	return s->last_heard + session_patience(s) / 2;
}

/* Excuse silence if the timer comes late: the peer's datagrams still wait, or were dropped. */
static void session_forgive(struct pib_session *s, u64 now)
{
	u64 due = pib_session_deadline(s);

	if (due && due != PIB_SESSION_NEVER && now > due + to_ms(PIB_LATE_MS))
		s->last_heard = earlier_of(s->last_heard + (now - due), now);
}

/* A peer that was heard lately needs only to hear that this end lives. */
static u8 next_hello(const struct pib_session *s, u64 now)
{
	return s->state == PIB_SESSION_UP && now < missed_at(s) ? PIB_DG_KEEPALIVE : PIB_DG_HELLO;
}

u32 pib_session_timer(struct pib_session *s, u64 now)
{
	u32 todo = 0;

	session_forgive(s, now);
	if (s->state != PIB_SESSION_IDLE && now >= dead_at(s))
		todo = go_idle(s);
	if (session_calls(s) && now >= s->next_send)
		todo |= hello_send(s, next_hello(s, now));
	if (session_recalls(s) && now >= s->next_recall) {
		s->next_recall = now + to_ms(PIB_RECALL_MS);
		todo |= hello_send(s, PIB_DG_HELLO);
	}
	return todo;
}

void pib_session_deaf(struct pib_session *s, u64 now)
{
	s->deaf_at = now;
}

u64 pib_session_deadline(const struct pib_session *s)
{
	u64 due = session_calls(s) ? s->next_send : PIB_SESSION_NEVER;

	if (session_recalls(s))
		due = s->next_recall;
	return s->state == PIB_SESSION_IDLE ? due : earlier_of(due, dead_at(s));
}

/* Time of the next datagram, if nothing happens before. */
static u64 send_at(const struct pib_session *s, u64 now)
{
	switch (s->state) {
	case PIB_SESSION_IDLE:
		return now + to_ms(PIB_HELLO_INTERVAL_MS);
	case PIB_SESSION_GREETING:
		return now + to_ms(PIB_GREETING_MS);
	}
	if (now >= missed_at(s))
		return now + to_ms(PIB_ASK_MS);
	if (pib_pmtu_hurries(&s->pmtu))
		return now + to_ms(PIB_PMTU_HURRY_MS);
	return earlier_of(now + to_ms(PIB_KEEPALIVE_MS), missed_at(s));
}

/* ---- sending ---- */

static u8 type_out(struct pib_session *s)
{
	u8 type = s->out_type;

	s->out_type = PIB_DG_DATA;
	if (type != PIB_DG_DATA)
		return type;
	return s->state == PIB_SESSION_UP ? PIB_DG_KEEPALIVE : PIB_DG_HELLO;
}

static bool is_unproved(const struct pib_session *s)
{
	return s->state == PIB_SESSION_GREETING && s->unproved;
}

/* The link id to which a datagram to the peer goes. Unproved, every second call names none. */
static u32 called_id(struct pib_session *s, u8 type)
{
	if (type == PIB_DG_HELLO && is_unproved(s)) {
		s->call_all = !s->call_all;
		if (s->call_all)
			return 0;
	}
	return s->remote_id;
}

/*
 * Return: true if a datagram of @type puts the next call off. An answer to an unproved peer, which
 * may not have heard it, does not, nor does one while the link is up: padded probes leave with what
 * this end says unasked.
 */
static bool puts_off(const struct pib_session *s, u8 type)
{
	if (s->state == PIB_SESSION_UP)
		return type != PIB_DG_HELLO_ACK;
	return type == PIB_DG_HELLO || !is_unproved(s);
}

/*
 * Put the session's fields of the datagram to send now into @h, and the link id for
 * pib_hello_build() into @s->out_id. Return: its type.
 */
static u8 fill_hello(struct pib_session *s, struct pib_hello *h, u64 now)
{
	bool stranger = s->answer_nonce != 0;
	u8 type = type_out(s);

	h->link_id = s->local_id;
	h->nonce = s->nonce;
	h->peer_nonce = stranger ? s->answer_nonce : s->peer_nonce;
	h->seq = ++s->tx_seq;
	h->ack = stranger ? s->answer_seq : s->rx_seq;
	h->came = !stranger && s->state == PIB_SESSION_UP ? s->peer_probe : 0;
	h->down |= s->local_down;
	h->keepalive_ms = PIB_KEEPALIVE_MS;
	if (h->caps & PIB_CAP_FLOWS && flows_come(s, h->peer_nonce, now))
		h->caps |= PIB_CAP_FLOWS_COME;
	s->out_id = stranger ? s->answer_id : called_id(s, type);
	s->answer_nonce = 0;
	if (type == PIB_DG_BYE)
		go_idle(s);
	if (!stranger && puts_off(s, type))
		s->next_send = send_at(s, now);
	return type;
}

size_t pib_session_build(struct pib_session *s, struct pib_hello *h, u64 now,
			 u8 out[PIB_HELLO_WIRE_LEN])
{
	u8 type = fill_hello(s, h, now);

	return pib_hello_build(h, type, s->out_id, out);
}

/* Write a KEEPALIVE that has no number of its own. Return: its length. */
static size_t build_unnumbered(const struct pib_session *s, struct pib_hello *h,
			       u8 out[PIB_HELLO_WIRE_LEN])
{
	h->link_id = s->local_id;
	h->nonce = s->nonce;
	h->peer_nonce = s->peer_nonce;
	h->seq = s->tx_seq;
	h->ack = s->rx_seq;
	h->came = s->peer_probe;
	h->down |= s->local_down;
	return pib_hello_build(h, PIB_DG_KEEPALIVE, s->remote_id, out);
}

size_t pib_session_build_question(const struct pib_session *s, struct pib_hello *h, u64 nonce,
				  u8 out[PIB_HELLO_WIRE_LEN])
{
	h->link_id = s->local_id;
	h->nonce = nonce;
	h->seq = PIB_SESSION_ANSWERED_SEQ;
	h->down |= s->local_down;
	h->keepalive_ms = PIB_KEEPALIVE_MS;
	return pib_hello_build(h, PIB_DG_HELLO, s->remote_id, out);
}

size_t pib_session_build_probe(const struct pib_session *s, struct pib_hello *h,
			       u8 out[PIB_HELLO_WIRE_LEN])
{
	h->caps |= PIB_CAP_FLOW_PROBE;
	return build_unnumbered(s, h, out);
}

u32 pib_session_most(const struct pib_session *s, u8 mtu_cap)
{
	u8 least = s->peer_mtu_cap < mtu_cap ? s->peer_mtu_cap : mtu_cap;

	return pib_mtu_bytes(least) + PIB_PMTU_HEADERS;
}

/* A peer that does not know segments gets each packet whole, so its size is not to be chosen. */
static bool peer_tells_sizes(const struct pib_session *s)
{
	return s->peer_caps & PIB_CAP_PADDED && s->peer_caps & PIB_CAP_SEGMENTS;
}

u32 pib_session_probe_size(struct pib_session *s, const struct pib_pmtu_bounds *bounds, u64 now)
{
	u32 size;

	if (s->state != PIB_SESSION_UP || !bounds->mtu)
		return 0;
	if (!peer_tells_sizes(s)) {
		pib_pmtu_init(&s->pmtu);
		pib_pmtu_bound(&s->pmtu, bounds);
		return 0;
	}
	pib_pmtu_bound(&s->pmtu, bounds);
	size = pib_pmtu_next(&s->pmtu, s->tx_seq + 1, now);
	if (pib_pmtu_hurries(&s->pmtu))
		s->out_type = PIB_DG_HELLO;
	return size;
}

size_t pib_session_build_padded(const struct pib_session *s, struct pib_hello *h, u16 len,
				u8 out[PIB_HELLO_WIRE_LEN])
{
	h->padded = len;
	h->probe = s->pmtu.number;
	return build_unnumbered(s, h, out);
}

void pib_session_init(struct pib_session *s, u32 local_id, u64 nonce)
{
	memset(s, 0, sizeof(*s));
	s->local_id = local_id;
	s->nonce = nonce;
	s->fresh_from = 1;
	pib_pmtu_init(&s->pmtu);
}

void pib_session_init_answered(struct pib_session *s, u32 local_id, u64 nonce)
{
	pib_session_init(s, local_id, nonce);
	s->tx_seq = PIB_SESSION_ANSWERED_SEQ;
}

u32 pib_session_reset(struct pib_session *s, u64 nonce, bool down, u64 now)
{
	u32 todo;

	if (s->plugged)
		session_note_use(s, now);
	todo = session_unplug(s);
	s->nonce = nonce;
	s->num_former = 0;
	s->local_down = down;
	s->fresh_from = s->tx_seq + 1;
	s->greeted_from = s->tx_seq;
	if (down)
		s->used_key = 0;
	if (s->state == PIB_SESSION_UP) {
		s->state = PIB_SESSION_GREETING;
		s->last_heard = now;
	}
	return session_calls(s) ? todo | hello_send(s, PIB_DG_HELLO) : todo;
}

u32 pib_session_rekey(struct pib_session *s, u32 key, u32 second, u64 nonce, u64 now)
{
	bool same = s->key == key;
	u32 todo = 0;

	s->key = key;
	s->second_key = second;
	if (s->peer_nonce && !knows_key(s, s->peer_key)) {
		todo = go_idle(s);
		s->used_key = 0;
		same = false;
	}
	return same ? 0 : todo | pib_session_reset(s, nonce, s->local_down, now);
}

u32 pib_session_used_key(const struct pib_session *s, u64 now)
{
	if (s->plugged)
		return s->peer_key;
	return now < s->used_at + to_ms(PIB_DEAD_MS) ? s->used_key : 0;
}

/*
 * Number of greetings that cannot all have been lost by accident. One hello of the peer's, which
 * may be an old one, makes an end that calls send half of them, and an end that only answers one.
 */
static u32 unheard_greetings(const struct pib_session *s)
{
	return s->passive ? PIB_DEAD_MS / PIB_HELLO_INTERVAL_MS :
			    2 * PIB_DEAD_MS / PIB_GREETING_MS;
}

bool pib_session_key_unknown(const struct pib_session *s)
{
	return s->state == PIB_SESSION_GREETING && s->peer_key != s->key &&
	       s->tx_seq - s->greeted_from >= unheard_greetings(s);
}

u32 pib_session_bye(struct pib_session *s)
{
	return session_unplug(s) | hello_send(s, PIB_DG_BYE);
}
