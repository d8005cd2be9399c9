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
#include "link.h"
#include "node.h"

static u64 to_ms(u32 n)
{
	return n * PIB_NSEC_PER_MSEC;
}

/* Return: true if this end speaks without having been spoken to. */
static bool link_calls(const struct pib_session *f)
{
	if (!f->passive || f->state == PIB_SESSION_UP)
		return true;
	return f->state == PIB_SESSION_GREETING && !f->unproved;
}

/* Return: true if it calls slowly, for it has lost a peer that was there. */
static bool link_recalls(const struct pib_session *f)
{
	return f->recalls && f->met && !link_calls(f);
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
static void link_note_use(struct pib_session *f, u64 now)
{
	f->used_key = f->peer_key;
	f->used_at = now;
}

/* The link is up for ports when both ends are there and neither is disabled. */
static u32 link_settle(struct pib_session *f, u64 now)
{
	bool plugged = f->state == PIB_SESSION_UP && !f->peer_down && !f->local_down;

	if (plugged)
		link_note_use(f, now);
	if (plugged == f->plugged)
		return 0;
	f->plugged = plugged;
	return plugged ? PIB_SESSION_DO_UP : PIB_SESSION_DO_DOWN;
}

static u32 link_unplug(struct pib_session *f)
{
	bool was = f->plugged;

	f->plugged = false;
	return was ? PIB_SESSION_DO_DOWN : 0;
}

/* ---- sessions ---- */

/* The sessions of an end differ in their low 16 bits, too: pib_session_tag(). */
static void new_session(struct pib_session *f)
{
	f->nonce += 0x10001;
	if (!f->nonce)
		f->nonce = 1;
	f->fresh_from = f->tx_seq + 1;
	f->num_former = 0;
}

static u32 go_idle(struct pib_session *f)
{
	if (f->state == PIB_SESSION_UP) {
		f->restarts++;
		new_session(f);
	}
	f->state = PIB_SESSION_IDLE;
	f->peer_nonce = 0;
	f->peer_key = 0;
	f->remote_id = 0;
	f->rx_seq = 0;
	f->next_send = 0;
	return link_unplug(f);
}

/* Go idle: the peer has hung up, and is not called. */
static u32 take_leave(struct pib_session *f)
{
	f->met = false;
	return go_idle(f);
}

/* Take note of the session that @h names, without believing it yet. */
static void link_greet(struct pib_session *f, const struct pib_hello *h, u64 now)
{
	if (f->state != PIB_SESSION_GREETING)
		f->greeted_from = f->tx_seq;
	if (f->state != PIB_SESSION_GREETING || f->peer_nonce != h->nonce)
		f->unproved = true;
	f->state = PIB_SESSION_GREETING;
	f->peer_nonce = h->nonce;
	f->peer_key = h->key;
	f->remote_id = h->link_id;
	f->rx_seq = h->seq;
	f->last_heard = now;
	if (f->next_send > now + to_ms(PIB_GREETING_MS))
		f->next_send = now + to_ms(PIB_GREETING_MS);
}

static u32 link_learn(struct pib_session *f, const struct pib_hello *h, u64 now)
{
	f->remote_id = h->link_id;
	f->last_heard = now;
	f->peer_node_guid = h->node_guid;
	f->peer_port_guid = h->port_guid;
	f->peer_port_num = h->port_num;
	f->peer_role = h->role;
	f->peer_mtu_cap = h->mtu_cap;
	f->peer_width_en = h->width_en;
	f->peer_speed_en = h->speed_en;
	f->peer_ext_speed_en = h->ext_speed_en;
	f->peer_keepalive_ms = h->keepalive_ms;
	f->peer_caps = h->caps;
	f->peer_down = h->down;
	memcpy(f->peer_desc, h->desc, sizeof(f->peer_desc));
	return PIB_SESSION_DO_LEARN;
}

static u32 link_establish(struct pib_session *f, const struct pib_hello *h, u64 now)
{
	f->state = PIB_SESSION_UP;
	f->met = true;
	f->unproved = false;
	f->peer_nonce = h->nonce;
	f->peer_key = h->key;
	f->rx_seq = h->seq;
	f->newer_from = f->tx_seq + 1;
	f->peer_probe = 0;
	pib_pmtu_init(&f->pmtu);
	return link_learn(f, h, now);
}

/* ---- answers ---- */

static u32 hello_send(struct pib_session *f, u8 type)
{
	f->out_type = type;
	f->answer_nonce = 0;
	return PIB_SESSION_DO_SEND;
}

#define MIX_BITS 0x9E3779B97F4A7C15ULL

/*
 * The sessions that share an allowance change with the session of this end, and every 2^26 ns: the
 * peer's does not share for long with one that is replayed.
 */
static unsigned int reply_share(const struct pib_session *f, u64 to, u64 now)
{
	return ((to ^ f->nonce ^ (now >> 26) * MIX_BITS) * MIX_BITS >> 32) % PIB_SESSION_REPLIES;
}

bool pib_session_may_reply(struct pib_session *f, u64 to, u64 now)
{
	u64 *next = &f->next_reply[reply_share(f, to, now)];

	if (now < *next)
		return false;
	*next = now + to_ms(PIB_REPLY_MS);
	return true;
}

static u32 hello_reply(struct pib_session *f, u64 to, u8 type, u64 now)
{
	return pib_session_may_reply(f, to, now) ? hello_send(f, type) : 0;
}

/* As hello_reply(), to a session that is not (yet) the peer's. */
static u32 reply_stranger(struct pib_session *f, const struct pib_hello *h, u64 now)
{
	u32 todo = hello_reply(f, h->nonce, PIB_DG_HELLO_ACK, now);

	if (todo) {
		f->answer_nonce = h->nonce;
		f->answer_id = h->link_id;
		f->answer_seq = h->seq;
	}
	return todo;
}

/* The datagram that confirms a session to the peer: an answer to its hello, else a sign of life. */
static u8 hello_confirmation(u8 type)
{
	return type == PIB_DG_HELLO ? PIB_DG_HELLO_ACK : PIB_DG_KEEPALIVE;
}

/* ---- reception, by state ---- */

static u32 rx_idle(struct pib_session *f, const struct pib_hello *h, u8 type, u64 now)
{
	u32 todo;

	if (type == PIB_DG_BYE)
		return PIB_SESSION_DO_REJECT;
	link_greet(f, h, now);
	if (h->peer_nonce != f->nonce || !seq_at_least(h->ack, f->fresh_from))
		return hello_reply(f, h->nonce, PIB_DG_HELLO_ACK, now);
	todo = link_establish(f, h, now);
	return todo | hello_send(f, hello_confirmation(type)) | link_settle(f, now);
}

static u32 rx_greeting(struct pib_session *f, const struct pib_hello *h, u8 type, u64 now)
{
	if (h->nonce == f->peer_nonce && seq_at_least(f->rx_seq, h->seq))
		return PIB_SESSION_DO_REJECT;
	if (type == PIB_DG_BYE)
		return h->nonce == f->peer_nonce ? go_idle(f) : PIB_SESSION_DO_REJECT;
	return rx_idle(f, h, type, now);
}

/* Take in a datagram of the present peer, newer than the last. */
static u32 rx_peer(struct pib_session *f, const struct pib_hello *h, u8 type, u64 now)
{
	u32 todo = 0;

	f->rx_seq = h->seq;
	if (type == PIB_DG_HELLO)
		todo = hello_reply(f, h->nonce, PIB_DG_HELLO_ACK, now);
	if (h->peer_nonce != f->nonce)
		return todo;	/* not up yet there, or an answer to somebody who replays us */
	if (type == PIB_DG_BYE) {
		f->used_key = 0;
		return take_leave(f);
	}
	todo |= link_learn(f, h, now);
	if (pib_pmtu_heard(&f->pmtu, h->came, h->ack, now))
		todo |= PIB_SESSION_DO_SHRINK;
	return todo | link_settle(f, now);
}

/* Return: true if the link was up with @nonce before, in the present session of this end. */
static bool is_former(const struct pib_session *f, u64 nonce)
{
	unsigned int i;

	for (i = 0; i < f->num_former; i++)
		if (f->former[i] == nonce)
			return true;
	return false;
}

/*
 * Two sessions make a pair, of which keys are made and counters begin. A pair must never come back.
 * Two peers that both live may speak to this end by turns: then this end begins a new session.
 */
static bool may_displace(const struct pib_session *f, u64 nonce)
{
	return f->num_former < PIB_SESSION_FORMER && !is_former(f, nonce);
}

/* Take in a datagram of another session, the peer's next one if it proves to be newer. */
static u32 rx_stranger(struct pib_session *f, const struct pib_hello *h, u8 type, u64 now)
{
	u32 todo;

	if (type == PIB_DG_BYE)
		return PIB_SESSION_DO_REJECT;
	if (h->peer_nonce != f->nonce || !seq_at_least(h->ack, f->newer_from))
		return reply_stranger(f, h, now);
	if (!may_displace(f, h->nonce)) {
		todo = go_idle(f);
		return todo | rx_idle(f, h, type, now);
	}
	f->former[f->num_former++] = f->peer_nonce;
	f->restarts++;
	todo = link_unplug(f);
	todo |= link_establish(f, h, now);
	return todo | hello_send(f, hello_confirmation(type)) | link_settle(f, now);
}

static u32 rx_up(struct pib_session *f, const struct pib_hello *h, u8 type, u64 now)
{
	if (h->nonce != f->peer_nonce)
		return rx_stranger(f, h, type, now);
	if (seq_at_least(f->rx_seq, h->seq))
		return PIB_SESSION_DO_REJECT;
	return rx_peer(f, h, type, now);
}

static bool knows_key(const struct pib_session *f, u32 key)
{
	return key == f->key || (key && key == f->second_key);
}

/* Return: true if @h is by a key that holds, and if of the peer's session, by that session's. */
static bool session_key_fits(const struct pib_session *f, const struct pib_hello *h)
{
	return knows_key(f, h->key) && (h->nonce != f->peer_nonce || h->key == f->peer_key);
}

static bool hello_is_present(const struct pib_session *f, const struct pib_hello *h)
{
	return session_key_fits(f, h) && h->nonce == f->peer_nonce && h->peer_nonce == f->nonce;
}

bool pib_session_is_next(const struct pib_session *f, const struct pib_hello *h)
{
	return hello_is_present(f, h) && !seq_at_least(f->rx_seq, h->seq);
}

u32 pib_session_rx(struct pib_session *f, const struct pib_hello *h, u8 type, u64 now)
{
	if (!h->link_id)
		return 0;
	if (h->nonce == f->nonce)
		return PIB_SESSION_DO_REJECT;	/* our own, come back */
	if (!session_key_fits(f, h))
		return PIB_SESSION_DO_REJECT;
	switch (f->state) {
	case PIB_SESSION_IDLE:
		return rx_idle(f, h, type, now);
	case PIB_SESSION_GREETING:
		return rx_greeting(f, h, type, now);
	}
	return rx_up(f, h, type, now);
}

/* ---- flows ---- */

static bool hello_is_probe(const struct pib_session *f, const struct pib_hello *h, u8 type)
{
	return f->state == PIB_SESSION_UP && type == PIB_DG_KEEPALIVE && hello_is_present(f, h) &&
	       seq_at_least(h->seq + PIB_PROBE_LAG, f->rx_seq);
}

/* Return: true if flows of the session @peer_nonce get through to the present one of this end. */
static bool flows_come(const struct pib_session *f, u64 peer_nonce, u64 now)
{
	return f->flow_at && f->flow_nonce == f->nonce && f->flow_peer == peer_nonce &&
	       now < f->flow_at + to_ms(PIB_FLOW_PATIENCE_MS);
}

u32 pib_session_rx_probe(struct pib_session *f, const struct pib_hello *h, u8 type, u64 now)
{
	bool known = flows_come(f, f->peer_nonce, now);

	if (!hello_is_probe(f, h, type))
		return PIB_SESSION_DO_REJECT;
	f->flow_at = now;
	f->flow_nonce = f->nonce;
	f->flow_peer = f->peer_nonce;
	return known ? 0 : hello_reply(f, 0, PIB_DG_KEEPALIVE, now);
}

/* ---- sizes ---- */

bool pib_session_take_padded(struct pib_session *f, const struct pib_hello *h, u8 type)
{
	if (!hello_is_probe(f, h, type) || (f->peer_probe && seq_at_least(f->probe_seq, h->seq)))
		return false;
	f->peer_probe = h->probe;
	f->probe_seq = h->seq;
	return true;
}

void pib_session_moved(struct pib_session *f, bool in_use)
{
	f->flow_at = 0;
	if (in_use)
		pib_pmtu_init(&f->pmtu);
}

/* ---- time ---- */

static u64 link_patience(const struct pib_session *f)
{
	if (f->state == PIB_SESSION_UP && f->peer_keepalive_ms * 4 > PIB_DEAD_MS)
		return to_ms(f->peer_keepalive_ms * 4);
	return to_ms(PIB_DEAD_MS);
}

static u64 dead_at(const struct pib_session *f)
{
	u64 since = f->last_heard;

	if (f->deaf_at > since)
		since = earlier_of(f->deaf_at, since + to_ms(PIB_DEAF_MS));
	return since + link_patience(f);
}

/* UP: time at which to ask whether the peer is still there. */
static u64 missed_at(const struct pib_session *f)
{
	return f->last_heard + link_patience(f) / 2;
}

/* Excuse silence if the timer comes late: the peer's datagrams still wait, or were dropped. */
static void link_forgive(struct pib_session *f, u64 now)
{
	u64 due = pib_session_deadline(f);

	if (due && due != PIB_SESSION_NEVER && now > due + to_ms(PIB_LATE_MS))
		f->last_heard = earlier_of(f->last_heard + (now - due), now);
}

/* A peer that was heard lately needs only to hear that this end lives. */
static u8 next_hello(const struct pib_session *f, u64 now)
{
	return f->state == PIB_SESSION_UP && now < missed_at(f) ? PIB_DG_KEEPALIVE : PIB_DG_HELLO;
}

u32 pib_session_timer(struct pib_session *f, u64 now)
{
	u32 todo = 0;

	link_forgive(f, now);
	if (f->state != PIB_SESSION_IDLE && now >= dead_at(f))
		todo = go_idle(f);
	if (link_calls(f) && now >= f->next_send)
		todo |= hello_send(f, next_hello(f, now));
	if (link_recalls(f) && now >= f->next_recall) {
		f->next_recall = now + to_ms(PIB_RECALL_MS);
		todo |= hello_send(f, PIB_DG_HELLO);
	}
	return todo;
}

void pib_session_deaf(struct pib_session *f, u64 now)
{
	f->deaf_at = now;
}

u64 pib_session_deadline(const struct pib_session *f)
{
	u64 due = link_calls(f) ? f->next_send : PIB_SESSION_NEVER;

	if (link_recalls(f))
		due = f->next_recall;
	return f->state == PIB_SESSION_IDLE ? due : earlier_of(due, dead_at(f));
}

/* Time of the next datagram, if nothing happens before. */
static u64 send_at(const struct pib_session *f, u64 now)
{
	switch (f->state) {
	case PIB_SESSION_IDLE:
		return now + to_ms(PIB_HELLO_INTERVAL_MS);
	case PIB_SESSION_GREETING:
		return now + to_ms(PIB_GREETING_MS);
	}
	if (now >= missed_at(f))
		return now + to_ms(PIB_ASK_MS);
	if (pib_pmtu_hurries(&f->pmtu))
		return now + to_ms(PIB_PMTU_HURRY_MS);
	return earlier_of(now + to_ms(PIB_KEEPALIVE_MS), missed_at(f));
}

/* ---- sending ---- */

static u8 type_out(struct pib_session *f)
{
	u8 type = f->out_type;

	f->out_type = PIB_DG_DATA;
	if (type != PIB_DG_DATA)
		return type;
	return f->state == PIB_SESSION_UP ? PIB_DG_KEEPALIVE : PIB_DG_HELLO;
}

static bool is_unproved(const struct pib_session *f)
{
	return f->state == PIB_SESSION_GREETING && f->unproved;
}

/* The link id to which a datagram to the peer goes. Unproved, every second call names none. */
static u32 called_id(struct pib_session *f, u8 type)
{
	if (type == PIB_DG_HELLO && is_unproved(f)) {
		f->call_all = !f->call_all;
		if (f->call_all)
			return 0;
	}
	return f->remote_id;
}

/*
 * Return: true if a datagram of @type puts the next call off. An answer to an unproved peer, which
 * may not have heard it, does not, nor does one while the link is up: padded probes leave with what
 * this end says unasked.
 */
static bool puts_off(const struct pib_session *f, u8 type)
{
	if (f->state == PIB_SESSION_UP)
		return type != PIB_DG_HELLO_ACK;
	return type == PIB_DG_HELLO || !is_unproved(f);
}

/*
 * Put the fsm's fields of the datagram to send now into @h, and the link id for pib_hello_build()
 * into @f->out_id. Return: its type.
 */
static u8 fill_hello(struct pib_session *f, struct pib_hello *h, u64 now)
{
	bool stranger = f->answer_nonce != 0;
	u8 type = type_out(f);

	h->link_id = f->local_id;
	h->nonce = f->nonce;
	h->peer_nonce = stranger ? f->answer_nonce : f->peer_nonce;
	h->seq = ++f->tx_seq;
	h->ack = stranger ? f->answer_seq : f->rx_seq;
	h->came = !stranger && f->state == PIB_SESSION_UP ? f->peer_probe : 0;
	h->down |= f->local_down;
	h->keepalive_ms = PIB_KEEPALIVE_MS;
	if (h->caps & PIB_CAP_FLOWS && flows_come(f, h->peer_nonce, now))
		h->caps |= PIB_CAP_FLOWS_COME;
	f->out_id = stranger ? f->answer_id : called_id(f, type);
	f->answer_nonce = 0;
	if (type == PIB_DG_BYE)
		go_idle(f);
	if (!stranger && puts_off(f, type))
		f->next_send = send_at(f, now);
	return type;
}

size_t pib_session_build(struct pib_session *f, struct pib_hello *h, u64 now,
			 u8 out[PIB_HELLO_WIRE_LEN])
{
	u8 type = fill_hello(f, h, now);

	return pib_hello_build(h, type, f->out_id, out);
}

/* Write a KEEPALIVE that has no number of its own. Return: its length. */
static size_t build_unnumbered(const struct pib_session *f, struct pib_hello *h,
			       u8 out[PIB_HELLO_WIRE_LEN])
{
	h->link_id = f->local_id;
	h->nonce = f->nonce;
	h->peer_nonce = f->peer_nonce;
	h->seq = f->tx_seq;
	h->ack = f->rx_seq;
	h->came = f->peer_probe;
	h->down |= f->local_down;
	return pib_hello_build(h, PIB_DG_KEEPALIVE, f->remote_id, out);
}

size_t pib_session_build_probe(const struct pib_session *f, struct pib_hello *h,
			       u8 out[PIB_HELLO_WIRE_LEN])
{
	h->caps |= PIB_CAP_FLOW_PROBE;
	return build_unnumbered(f, h, out);
}

u32 pib_session_most(const struct pib_session *f, u8 mtu_cap)
{
	u8 least = f->peer_mtu_cap < mtu_cap ? f->peer_mtu_cap : mtu_cap;

	return pib_mtu_bytes(least) + PIB_PMTU_HEADERS;
}

/* A peer that does not know segments gets each packet whole, so its size is not to be chosen. */
static bool peer_tells_sizes(const struct pib_session *f)
{
	return f->peer_caps & PIB_CAP_PADDED && f->peer_caps & PIB_CAP_SEGMENTS;
}

u32 pib_session_probe_size(struct pib_session *f, const struct pib_pmtu_bounds *bounds, u64 now)
{
	u32 size;

	if (f->state != PIB_SESSION_UP || !bounds->mtu)
		return 0;
	if (!peer_tells_sizes(f)) {
		pib_pmtu_init(&f->pmtu);
		pib_pmtu_bound(&f->pmtu, bounds);
		return 0;
	}
	pib_pmtu_bound(&f->pmtu, bounds);
	size = pib_pmtu_next(&f->pmtu, f->tx_seq + 1, now);
	if (pib_pmtu_hurries(&f->pmtu))
		f->out_type = PIB_DG_HELLO;
	return size;
}

size_t pib_session_build_padded(const struct pib_session *f, struct pib_hello *h, u16 len,
				u8 out[PIB_HELLO_WIRE_LEN])
{
	h->padded = len;
	h->probe = f->pmtu.number;
	return build_unnumbered(f, h, out);
}

void pib_session_init(struct pib_session *f, u32 local_id, u64 nonce)
{
	memset(f, 0, sizeof(*f));
	f->local_id = local_id;
	f->nonce = nonce;
	f->fresh_from = 1;
	pib_pmtu_init(&f->pmtu);
}

void pib_session_init_answered(struct pib_session *f, u32 local_id, u64 nonce)
{
	pib_session_init(f, local_id, nonce);
	f->tx_seq = PIB_SESSION_ANSWERED_SEQ;
}

u32 pib_session_reset(struct pib_session *f, u64 nonce, bool down, u64 now)
{
	u32 todo;

	if (f->plugged)
		link_note_use(f, now);
	todo = link_unplug(f);
	f->nonce = nonce;
	f->num_former = 0;
	f->local_down = down;
	f->fresh_from = f->tx_seq + 1;
	f->greeted_from = f->tx_seq;
	if (down)
		f->used_key = 0;
	if (f->state == PIB_SESSION_UP) {
		f->state = PIB_SESSION_GREETING;
		f->last_heard = now;
	}
	return link_calls(f) ? todo | hello_send(f, PIB_DG_HELLO) : todo;
}

u32 pib_session_rekey(struct pib_session *f, u32 key, u32 second, u64 nonce, u64 now)
{
	bool same = f->key == key;
	u32 todo = 0;

	f->key = key;
	f->second_key = second;
	if (f->peer_nonce && !knows_key(f, f->peer_key)) {
		todo = go_idle(f);
		f->used_key = 0;
		same = false;
	}
	return same ? 0 : todo | pib_session_reset(f, nonce, f->local_down, now);
}

u32 pib_session_used_key(const struct pib_session *f, u64 now)
{
	if (f->plugged)
		return f->peer_key;
	return now < f->used_at + to_ms(PIB_DEAD_MS) ? f->used_key : 0;
}

/*
 * Number of greetings that cannot all have been lost by accident. One hello of the peer's, which
 * may be an old one, makes an end that calls send half of them, and an end that only answers one.
 */
static u32 unheard_greetings(const struct pib_session *f)
{
	return f->passive ? PIB_DEAD_MS / PIB_HELLO_INTERVAL_MS :
			    2 * PIB_DEAD_MS / PIB_GREETING_MS;
}

bool pib_session_key_unknown(const struct pib_session *f)
{
	return f->state == PIB_SESSION_GREETING && f->peer_key != f->key &&
	       f->tx_seq - f->greeted_from >= unheard_greetings(f);
}

u32 pib_session_bye(struct pib_session *f)
{
	return link_unplug(f) | hello_send(f, PIB_DG_BYE);
}
