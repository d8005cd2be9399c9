/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A link over UDP: the state machine that finds, watches and loses the other end.
 */
#ifndef PIB_PROTO_SESSION_H
#define PIB_PROTO_SESSION_H

#include "hello.h"
#include "pmtu.h"

enum pib_session_state {
	PIB_SESSION_IDLE,	/* no peer heard: hello is sent slowly, or not at all (@passive) */
	PIB_SESSION_GREETING,	/* peer heard, not yet confirmed both ways */
	PIB_SESSION_UP,		/* both ends know the other's current session */
};

#define PIB_HELLO_INTERVAL_MS	500	/* IDLE */
#define PIB_GREETING_MS		100	/* GREETING */
#define PIB_RECALL_MS		3000	/* not UP, @passive, @recalls and @met */
#define PIB_KEEPALIVE_MS	500	/* UP */
#define PIB_DEAD_MS		2000	/* or four of the peer's keepalives, if that is longer */
#define PIB_ASK_MS		50	/* UP, and half of that time has passed in silence */
#define PIB_DEAF_MS		20000	/* for so long own losses are an excuse for silence */
#define PIB_LATE_MS		200	/* a timer that comes later than this has slept */
#define PIB_REPLY_MS		10	/* between two answers to a session that change nothing */
#define PIB_QUESTION_MS		100	/* between two questions to new addresses of the peer */

#define PIB_PROBE_LAG		4	/* datagrams of the peer that may overtake its probe */
#define PIB_FLOW_PATIENCE_MS	2500	/* for so long a probe shows that flows get through */

#define PIB_SESSION_FORMER	4	/* sessions displaced before this end begins a new one */
#define PIB_SESSION_REPLIES	16	/* sessions share so many allowances of answers */

/**
 * struct pib_session - one end of a link over UDP
 * @state: enum pib_session_state
 * @plugged: the link is up for ports: env was told UP and not DOWN since
 * @passive: this end was made when it heard the peer: it only answers, unless it knows that the
 *	peer hears it
 * @recalls: though @passive, this end calls slowly if it has lost a peer that it was up with
 * @met: it was up since the peer last said goodbye
 * @unproved: GREETING: nothing shows that the peer hears this end
 * @call_all: the last call to an unproved peer named no link; the next one names the peer's
 * @local_down: this end's port is disabled
 * @peer_down: the other end's port is disabled
 * @out_type: type that pib_session_build() sends next; PIB_DG_DATA: the one that suits the state
 * @local_id: link id that the peer puts into its datagrams
 * @remote_id: link id that the peer wants
 * @key: keyed fabrics: number that env has given to the key of the session @nonce, by which this
 *	end authenticates its datagrams; 0: the fabric has none
 * @second_key: number of another key by which the peer may speak, 0: none
 * @peer_key: number of the key of the session @peer_nonce
 * @nonce: own session; changes whenever this end takes the link down
 * @peer_nonce: the peer's session, 0: none; confirmed when UP
 * @tx_seq: last sequence number sent
 * @rx_seq: last one heard in @peer_nonce
 * @used_key: @peer_key when the peer was last heard while @plugged, or when this end was last reset
 *	while @plugged; 0: its link would not be missed
 * @used_at: ns; time of that
 * @fresh_from: GREETING: a datagram that acknowledges less is from before
 * @greeted_from: GREETING: last sequence number sent before that began
 * @newer_from: UP: a session that acknowledges this or more is newer than @peer_nonce
 * @answer_nonce: the next datagram answers this other session, 0: the peer
 * @answer_id: its link id
 * @answer_seq: its sequence number
 * @out_id: link id that the datagram just made by pib_session_build() goes to
 * @peer_node_guid: from the peer's last hello, as the following
 * @peer_port_guid: see struct pib_hello
 * @peer_port_num: see struct pib_hello
 * @peer_role: see struct pib_hello
 * @peer_mtu_cap: see struct pib_hello
 * @peer_width_en: see struct pib_hello
 * @peer_speed_en: see struct pib_hello
 * @peer_ext_speed_en: see struct pib_hello
 * @peer_keepalive_ms: see struct pib_hello
 * @peer_caps: see struct pib_hello
 * @peer_desc: see struct pib_hello
 * @peer_probe: UP: number of the peer's last padded probe that has come, 0: none
 * @probe_seq: of that probe, see struct pib_hello.seq
 * @stray_seq: UP: number of the peer's newest datagram that counted though it came from another
 *	address
 * @pmtu: UP: size of datagrams to the peer
 * @former: UP: sessions that were displaced since @nonce began
 * @num_former: entries in @former
 * @last_heard: ns; the peer's last datagram that was of the current session
 * @deaf_at: ns; see pib_session_deaf()
 * @next_send: ns; 0: at once
 * @next_recall: ns; see PIB_RECALL_MS
 * @next_reply: ns; see PIB_REPLY_MS; of which session by pib_session_may_reply()
 * @next_question: ns; see PIB_QUESTION_MS
 * @flow_at: ns; when a probe last showed that the peer's flows get through; 0: none has, or the
 *	peer has another address since
 * @flow_nonce: @nonce at that time: what a probe shows holds for its pair of sessions
 * @flow_peer: @peer_nonce at that time
 * @restarts: sessions lost
 */
struct pib_session {
	u8 state;
	bool plugged;
	bool passive;
	bool recalls;
	bool met;
	bool unproved;
	bool call_all;
	u8 local_down;
	u8 peer_down;
	u8 out_type;
	u32 local_id;
	u32 remote_id;
	u32 key;
	u32 second_key;
	u32 peer_key;
	u64 nonce;
	u64 peer_nonce;
	u32 tx_seq;
	u32 rx_seq;
	u32 used_key;
	u64 used_at;
	u32 fresh_from;
	u32 greeted_from;
	u32 newer_from;
	u64 answer_nonce;
	u32 answer_id;
	u32 answer_seq;
	u32 out_id;
	u64 peer_node_guid;
	u64 peer_port_guid;
	u8 peer_port_num;
	u8 peer_role;
	u8 peer_mtu_cap;
	u8 peer_width_en;
	u8 peer_speed_en;
	u8 peer_ext_speed_en;
	u16 peer_keepalive_ms;
	u32 peer_caps;
	char peer_desc[64];
	u16 peer_probe;
	u32 probe_seq;
	u32 stray_seq;
	struct pib_pmtu pmtu;
	u64 former[PIB_SESSION_FORMER];
	u8 num_former;
	u64 last_heard;
	u64 deaf_at;
	u64 next_send;
	u64 next_recall;
	u64 next_reply[PIB_SESSION_REPLIES];
	u64 next_question;
	u64 flow_at;
	u64 flow_nonce;
	u64 flow_peer;
	u32 restarts;
};

/* Tasks of env after a call; bits. DOWN comes before UP if both are set. */
enum pib_session_do {
	PIB_SESSION_DO_SEND = 1 << 0,	/* send one control datagram, see pib_session_build() */
	PIB_SESSION_DO_UP = 1 << 1,	/* the link came up: pib_port_link_up() */
	PIB_SESSION_DO_DOWN = 1 << 2,	/* the link went down: pib_port_link_down() */
	PIB_SESSION_DO_REJECT = 1 << 3,	/* datagram does not fit: count it */
	PIB_SESSION_DO_LEARN = 1 << 4,	/* it is of the session that stands: its contents hold */
	PIB_SESSION_DO_SHRINK = 1 << 5,	/* large datagrams get lost: they are smaller now */
};

/*
 * Set up an end that is not passive, does not recall, and has no key. @local_id: not 0; @nonce:
 * random, not 0, never used before by this end. Context: under the lock of what holds @s.
 */
void pib_session_init(struct pib_session *s, u32 local_id, u64 nonce);

/* Number of the datagram that was sent in a session before it had a link: proto/cookie.h. */
#define PIB_SESSION_ANSWERED_SEQ	1
/* As pib_session_init(), for a session in which that datagram was sent. Context: as there. */
void pib_session_init_answered(struct pib_session *s, u32 local_id, u64 nonce);

/**
 * pib_session_rx() - take in a control datagram from the peer's address
 * @s: this end
 * @h: the datagram, which is authentic
 * @type: enum pib_dg_type
 * @now: ns
 *
 * A new nonce of a known peer gives DOWN, then UP again (a cable pulled and put back). Discovery
 * hellos (link id 0) are not for a link and have no effect.
 *
 * Context: under the lock of what holds @s.
 * Return: enum pib_session_do.
 */
u32 pib_session_rx(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now);

/*
 * Take an allowance for an answer to the session @to, see PIB_REPLY_MS; 0: to nobody in particular.
 * Context: under the lock of what holds @s.
 *
 * Return: true if it may be answered now.
 */
bool pib_session_may_reply(struct pib_session *s, u64 to, u64 now);

/**
 * pib_session_rx_probe() - take in a datagram with PIB_CAP_FLOW_PROBE from a flow's port of the
 * peer
 * @s: this end
 * @h: the datagram, which is authentic
 * @type: enum pib_dg_type
 * @now: ns
 *
 * If it is a probe of the present sessions the peer is told that its flows get through: for
 * PIB_FLOW_PATIENCE_MS, and at once if that is news. A probe was made lately: who has recorded it
 * must not show that for ever.
 *
 * Context: under the lock of what holds @s.
 * Return: enum pib_session_do: 0, DO_SEND, or DO_REJECT.
 */
u32 pib_session_rx_probe(struct pib_session *s, const struct pib_hello *h, u8 type, u64 now);

/*
 * Take in @h, a padded probe (proto/pmtu.h) from the peer's address. From now on the peer is told
 * that it came. Context: under the lock of what holds @s.
 *
 * Return: false: it does not fit: count it.
 */
bool pib_session_take_padded(struct pib_session *s, const struct pib_hello *h, u8 type);

/* The uses of a datagram from an address that is not the peer's, while the link is UP. */
enum pib_session_stray {
	PIB_STRAY_DROP,		/* nothing, but count it */
	PIB_STRAY_ASK,		/* drop it, and ask that address: pib_session_build_question() */
	PIB_STRAY_TAKE,		/* take it in, but send to the peer where it was */
	PIB_STRAY_FOLLOW,	/* the peer is there now: pib_session_moved(), and take it in */
};

/**
 * pib_session_stray() - find out if the peer has moved to where a datagram comes from
 * @s: this end, UP
 * @h: the datagram, which is authentic
 * @type: enum pib_dg_type
 * @answers: it echoes what a question to that address has named (pib_cookie_is_answer())
 * @now: ns
 *
 * The peer can say all that a session has in the name of somebody else, who would then be sent the
 * data. But it does not know the session that a question to him names. A BYE moves nothing, so it
 * needs no question. Each datagram counts once, and none that is older than one that came so: who
 * has recorded it has one question of it at most. An answer is newer than what has drawn it.
 *
 * Context: under the lock of what holds @s.
 * Return: enum pib_session_stray.
 */
u8 pib_session_stray(struct pib_session *s, const struct pib_hello *h, u8 type, bool answers,
		     u64 now);

/**
 * pib_session_build_question() - write a datagram that draws an answer from an address which may be
 * the peer's
 * @s: this end, UP
 * @h: as for pib_session_build()
 * @nonce: what the answer is to echo, see pib_cookie_question()
 * @out: result, not authenticated yet
 *
 * The datagram is a HELLO of another session, and echoes none. So it changes nothing, wherever it
 * comes to.
 *
 * Context: under the lock of what holds @s.
 * Return: the length.
 */
size_t pib_session_build_question(const struct pib_session *s, struct pib_hello *h, u64 nonce,
				  u8 out[PIB_HELLO_WIRE_LEN]);

/*
 * Return: true if @h, by a key that holds, is of the present sessions and newer than all datagrams
 * heard in them. The link is UP. Context: under the lock of what holds @s.
 */
bool pib_session_is_next(const struct pib_session *s, const struct pib_hello *h);

/*
 * Note that until @now datagrams to this end were dropped unseen, because this end takes them in
 * too slowly. Those of the peer may be among them. Context: under the lock of what holds @s.
 */
void pib_session_deaf(struct pib_session *s, u64 now);

/*
 * Do what is due at @now, in ns. It does no harm to call this early. Context: under the lock of
 * what holds @s.
 *
 * Return: enum pib_session_do.
 */
u32 pib_session_timer(struct pib_session *s, u64 now);
#define PIB_SESSION_NEVER	(~0ULL)
/*
 * Return: the time at which env calls pib_session_timer(), ns; 0: at once; PIB_SESSION_NEVER.
 * Context: under the lock of what holds @s.
 */
u64 pib_session_deadline(const struct pib_session *s);

/**
 * pib_session_build() - write the datagram to send now, after DO_SEND
 * @s: this end
 * @h: env has filled in its part; the session's own fields (link_id, nonces, seq, ack, down,
 *	keepalive_ms, beside PIB_CAP_FLOWS also PIB_CAP_FLOWS_COME) are put there
 * @now: ns
 * @out: result, not authenticated yet
 *
 * Context: under the lock of what holds @s.
 * Return: the length.
 */
size_t pib_session_build(struct pib_session *s, struct pib_hello *h, u64 now,
			 u8 out[PIB_HELLO_WIRE_LEN]);

/**
 * pib_session_build_probe() - write a datagram that shows the peer if flows' UDP ports get through
 * @s: this end, UP
 * @h: as for pib_session_build()
 * @out: result, not authenticated yet
 *
 * The probe is a KEEPALIVE with PIB_CAP_FLOW_PROBE, but has no number of its own: the session stays
 * as it is.
 *
 * Context: under the lock of what holds @s.
 * Return: the length.
 */
size_t pib_session_build_probe(const struct pib_session *s, struct pib_hello *h,
			       u8 out[PIB_HELLO_WIRE_LEN]);

/*
 * Return: bytes of the largest IP packet that a packet to the peer makes, by the IB MTU of both
 * ports. @mtu_cap: MTU code of this end's port. The link is UP. Context: under the lock of what
 * holds @s.
 */
u32 pib_session_most(const struct pib_session *s, u8 mtu_cap);

/**
 * pib_session_probe_size() - find the size of the padded probe to send before the present datagram
 * @s: this end
 * @bounds: what is known of sizes without probes; its MTU is 0 if there is no route
 * @now: ns
 *
 * To be called when pib_session_timer() has returned DO_SEND, before pib_session_build(), which
 * then makes a datagram that draws an answer.
 *
 * Context: under the lock of what holds @s.
 * Return: bytes of the IP packet; 0: no probe is due.
 */
u32 pib_session_probe_size(struct pib_session *s, const struct pib_pmtu_bounds *bounds, u64 now);

/*
 * The peer has another address from now on. This end forgets what the peer's probes have told of
 * flows, and if it sends to that address (@in_use), what its own have told of sizes. Context: under
 * the lock of what holds @s.
 */
void pib_session_moved(struct pib_session *s, bool in_use);

/**
 * pib_session_build_padded() - write the beginning of a padded probe
 * @s: this end, UP
 * @h: as for pib_session_build()
 * @len: bytes of the whole datagram; what follows the result is zero
 * @out: result, not authenticated yet
 *
 * As a probe of pib_session_build_probe() it has no number of its own among the control datagrams.
 *
 * Context: under the lock of what holds @s.
 * Return: the length of the result.
 */
size_t pib_session_build_padded(const struct pib_session *s, struct pib_hello *h, u16 len,
				u8 out[PIB_HELLO_WIRE_LEN]);

/**
 * pib_session_reset() - pull the cable of this end and begin a new session
 * @s: this end
 * @nonce: random, not 0, never used before by this end
 * @down: the cable stays out until this is called with false
 * @now: ns
 *
 * The SM has set the physical state, or the user has unplugged the cable. The session is new, so
 * that the peer sees that even if datagrams get lost.
 *
 * Context: under the lock of what holds @s.
 * Return: enum pib_session_do.
 */
u32 pib_session_reset(struct pib_session *s, u64 nonce, bool down, u64 now);

/**
 * pib_session_rekey() - set the keys by which this end and its peer speak from now on
 * @s: this end
 * @key: number of the key by which both ends may speak; 0: the fabric has none
 * @second: number of another key by which the peer may speak, 0: none
 * @nonce: as of pib_session_reset(), for a new session
 * @now: ns
 *
 * A session has one key from its beginning to its end. So if @key is another one than before this
 * end begins a new session, as pib_session_reset() does. A peer whose session has a key that is
 * neither is lost, and may come back with a new session.
 *
 * Context: under the lock of what holds @s.
 * Return: enum pib_session_do.
 */
u32 pib_session_rekey(struct pib_session *s, u32 key, u32 second, u64 nonce, u64 now);

/*
 * Find the peer's key by which the link is up for ports, or was so within the last PIB_DEAD_MS: a
 * peer that begins a new session is about to come back. @now: ns. Context: under the lock of what
 * holds @s.
 *
 * Return: the key's number; 0: there is none.
 */
u32 pib_session_used_key(const struct pib_session *s, u64 now);

/*
 * Return: true if the peer speaks by the second key, and has not understood this end for long. Then
 * it does not know the first key. Context: under the lock of what holds @s.
 */
bool pib_session_key_unknown(const struct pib_session *s);

/*
 * Let this end go away: it sends a BYE, by pib_session_build(), and is then IDLE, if it was UP, in
 * a new session. Context: under the lock of what holds @s.
 *
 * Return: enum pib_session_do.
 */
u32 pib_session_bye(struct pib_session *s);

/*
 * Return: the tag of DATA and SEGMENT that go to the session @nonce, where the fabric has no key.
 * Context: any.
 */
static inline u16 pib_session_tag(u64 nonce)
{
	return (u16)nonce;
}

#endif
